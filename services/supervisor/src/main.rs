//! The `ibid` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    supervisor::run()
}
