//! What each command does.

mod add;
mod answer;
mod ask;
mod bench;
mod chat;
mod completions;
mod config;
mod doctor;
mod eval;
mod find_document;
mod fsck;
mod link;
mod list;
mod model;
mod models;
mod password;
mod probe;
mod remove;
mod retry;
mod rm;
mod scope;
mod search;
mod service;
mod setup;
mod show;
mod status;
mod up;

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::supervise::parent;

/// Carries the command out.
///
/// # Errors
/// What went wrong, and what to do about it.
pub fn run(cli: Cli) -> CommandResult {
    let json = cli.json;
    match cli.command {
        Command::Service(args) => service::run(&args),
        Command::Probe(args) => block_on(probe::run(args)),
        Command::Guard(args) => {
            let (program, arguments) = args
                .program
                .split_first()
                .ok_or_else(|| Complaint::new("no program to guard", "name one after `--`"))?;
            parent::guard(args.parent, program, arguments).map_err(|error| {
                let program = program.display();
                Complaint::new(
                    format!("cannot start `{program}`: {error}"),
                    "run `ibid doctor`",
                )
            })
        }
        Command::Up(args) => block_on(up::run(args, json)),
        Command::Add(args) => block_on(add::run(args, json)),
        Command::Ask(args) => block_on(ask::run(args, json)),
        Command::Chat(args) => block_on(chat::run(args, json)),
        Command::Search(args) => block_on(search::run(args, json)),
        Command::List(args) => block_on(list::run(args, json)),
        Command::Show(args) => block_on(show::run(args, json)),
        Command::Eval(command) => block_on(eval::run(command, json)),
        Command::Bench(command) => block_on(bench::run(command, json)),
        Command::Rm(args) => block_on(rm::run(args, json)),
        Command::Retry(args) => block_on(retry::run(args, json)),
        Command::Status => block_on(status::run(json)),
        Command::Models => block_on(models::run(json)),
        Command::Link => link::run(json),
        Command::Doctor(args) => block_on(doctor::run(&args, json)),
        Command::Fsck => block_on(fsck::run(json)),
        Command::Config(args) => config::run(&args, json),
        Command::Setup(args) => block_on(setup::run(&args, json)),
        Command::Model(command) => model::run(command, json),
        Command::Completions(args) => completions::run(&args),
    }
}

/// Everything runs on this thread: children that `up` starts end with the thread that started
/// them (see [`parent::die_with`]), and no command has work for more than one.
fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Complaint::new(format!("no runtime: {error}"), "free some memory"))?;
    let result = runtime.block_on(work);
    // A blocking read of a slow disk must not hold up the end.
    runtime.shutdown_background();
    result
}

fn gateway() -> Result<Gateway, Complaint> {
    Gateway::find(&shared::settings::data_dir())
}

fn success_if(good: bool) -> ExitCode {
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
