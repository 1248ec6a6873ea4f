//! The project's chores: `cargo xtask test | lint | tidy | samples | corpus`.

mod corpus;
mod lint;
mod machine;
mod run;
mod samples;
mod test;
mod tidy;

use std::process::ExitCode;

use run::say;

const USAGE: &str = "\
usage: cargo xtask COMMAND
  test [ARGS…]  build everything, fetch the runtime parts, run all tests (ARGS go to the runner)
  lint          formatting, clippy, tidiness, licences
  tidy          the rules of the house that no other tool checks
  samples       write the PDF files under samples/ again
  corpus DIR    read a judged folder of documents; fails under 98 % of its facts";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match (command.as_str(), rest.as_slice()) {
        ("test", rest) => test::run(rest),
        ("lint", []) => lint::run(),
        ("tidy", []) => tidy::run(),
        ("samples", []) => samples::run(),
        ("corpus", [folder]) => corpus::run(folder),
        _ => {
            say(USAGE);
            return ExitCode::from(64);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
