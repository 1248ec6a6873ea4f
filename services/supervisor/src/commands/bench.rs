//! `ibid bench`: how fast this machine reads documents and searches. It needs no running Ibid.

mod children;
mod measure;
mod report;
mod search;

use std::path::PathBuf;
use std::process::ExitCode;

use shared::settings;

use self::measure::Bench;
use self::report::{Refused, Report};
use super::service;
use crate::cli::{BenchCommand, BenchParseArgs};
use crate::error::{CommandResult, Complaint};
use crate::intake::{self, Found};
use crate::output;
use crate::screen::Screen;

/// Measures.
pub(super) async fn run(command: BenchCommand, json: bool) -> CommandResult {
    match command {
        BenchCommand::Parse(args) => parse(args, json).await,
        BenchCommand::Search(args) => search::run(args, json).await,
    }
}

/// Reads every file of a folder through the parser's limited children, as the service does.
async fn parse(args: BenchParseArgs, json: bool) -> CommandResult {
    let found = intake::find(args.paths).await?;
    if found.files.is_empty() {
        return Err(Complaint::new(
            "there is no file that Ibid reads",
            "name a folder with documents",
        ));
    }
    let mut settings: parser::Settings = settings::load("parser")?;
    settings.child_arguments = service::child_arguments();
    let plan = settings.plan().map_err(|error| {
        Complaint::new(
            format!("this program does not know its own path: {error}"),
            "start it by its full path",
        )
    })?;
    let bench = Bench {
        plan,
        children: settings.children(),
    };
    let (refused, files) = split(found);
    let screen = Screen::stderr();
    let sandboxed = bench.is_sandboxed().await?;
    let formats = bench.all(files, &screen).await?;
    screen.finish();
    let report = Report::new(&bench, sandboxed, formats, refused);
    if json {
        output::json(&report)?;
    } else {
        report.tell()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The files to read, and those that are refused before they are read.
fn split(found: Found) -> (Vec<Refused>, Vec<intake::Candidate>) {
    let refuse = |path: PathBuf, reason: String| Refused {
        path: path.to_string_lossy().into_owned(),
        reason,
    };
    let mut refused: Vec<Refused> = found
        .unsupported
        .into_iter()
        .flat_map(|(kind, paths)| paths.into_iter().map(move |path| (path, kind.clone())))
        .map(|(path, kind)| refuse(path, kind))
        .collect();
    refused.extend(
        found
            .unreadable
            .into_iter()
            .map(|(path, reason)| refuse(path, reason)),
    );
    (refused, found.files)
}
