//! The parser as a program of its own, and as the children it starts.

use std::process::ExitCode;

use parser::Settings;

/// Exit code for a wrong call, as of sysexits.
const USAGE: u8 = 64;

#[expect(clippy::print_stderr, reason = "nothing has started that could log")]
fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("extract-child"), None) => parser::child_main(),
        (None, None) => shared::service::run("parser", |service| async move {
            let settings: Settings = shared::settings::load("parser")?;
            parser::run(service, settings).await
        }),
        _ => {
            eprintln!("usage: ibid-parser (settings come from `ibid.toml` and `IBID_*`)");
            ExitCode::from(USAGE)
        }
    }
}
