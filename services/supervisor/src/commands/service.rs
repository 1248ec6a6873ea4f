//! `ibid service NAME`: one service in this process, as `ibid up` starts it.

use std::convert::Infallible;
use std::ffi::CString;
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::bus::BusSettings;
use shared::service::Service;
use shared::settings::{self, SettingsError};
use shared::telemetry::TelemetrySettings;

use crate::cli::ServiceArgs;
use crate::error::{CommandResult, Complaint};
use crate::supervise::child::USAGE_EXIT;
use crate::supervise::{UpError, nats, parent};

const EXTRACT_CHILD: &str = "extract-child";

/// Runs it until it is drained.
pub(super) fn run(args: &ServiceArgs) -> CommandResult {
    if let Some(parent) = args.parent {
        parent::die_with(parent).map_err(|error| {
            Complaint::new(
                format!("cannot run for `ibid up`: {error}"),
                "start `ibid up` again",
            )
        })?;
    }
    let first = args
        .arguments
        .first()
        .and_then(|argument| argument.to_str());
    Ok(match (args.name.as_str(), first) {
        ("parser", Some(EXTRACT_CHILD)) => parser::child_main(),
        ("parser", None) => start("parser", |service, mut settings: parser::Settings| {
            // The parser's reading processes are this program as well.
            settings.child_arguments = ["service", "parser", EXTRACT_CHILD]
                .map(str::to_owned)
                .to_vec();
            parser::run(service, settings)
        }),
        ("chunker", None) => start("chunker", chunker::run),
        ("embedder", None) => start("embedder", embedder::run),
        ("indexer", None) => start("indexer", indexer::run),
        ("query", None) => start("query", query::run),
        ("gateway", None) => start("gateway", gateway::run),
        ("nats", None) => match bus()? {},
        _ => {
            return Err(Complaint::new(
                format!("there is no service `{}` with these arguments", args.name),
                "use parser, chunker, embedder, indexer, query or gateway",
            ));
        }
    })
}

/// Becomes the bus of several containers.
fn bus() -> Result<Infallible, Complaint> {
    let (assets, data) = (settings::assets_dir(), settings::data_dir());
    let bus: BusSettings = settings::load("bus").map_err(UpError::from)?;
    shared::service::ensure_writable(&data)
        .map_err(|error| Complaint::new(error, "then start it again"))?;
    shared::service::keep_private();
    let server = assets.join("nats-server").join("nats-server");
    nats::become_shared(&server, &data, &bus).map_err(|error| {
        Complaint::new(
            format!("cannot start `{}`: {error}", server.display()),
            "run `ibid setup`, and set `bus.token_file` (IBID_BUS__TOKEN_FILE) to a file in the \
             data folder, the same for all services",
        )
    })
}

fn start<S, F, Fut>(name: &'static str, work: F) -> ExitCode
where
    S: DeserializeOwned + Serialize + Default,
    F: FnOnce(Service, S) -> Fut,
    Fut: Future<Output = anyhow::Result<()>>,
{
    name_process(name);
    // Before anything starts, so that wrong settings are told apart from a start that failed.
    match settings::load::<S>(name) {
        Ok(settings) => shared::service::run(name, |service| work(service, settings)),
        Err(error) => {
            tell(name, &error);
            ExitCode::from(u8::try_from(USAGE_EXIT).unwrap_or(1))
        }
    }
}

/// `ibid-parser` in `top` and the like; without a name of its own it is only less clear there.
fn name_process(service: &str) {
    if let Ok(name) = CString::new(format!("ibid-{service}")) {
        rustix::thread::set_name(&name).ok();
    }
}

#[expect(clippy::print_stderr, reason = "telemetry has not started")]
fn tell(name: &str, error: &SettingsError) {
    eprintln!("{name}: {error}");
}

/// Checks the settings of all services at once.
///
/// # Errors
/// The first that does not hold.
pub(super) fn check_settings() -> Result<(), SettingsError> {
    settings::load::<parser::Settings>("parser")?;
    settings::load::<chunker::Settings>("chunker")?;
    settings::load::<embedder::Settings>("embedder")?;
    settings::load::<indexer::Settings>("indexer")?;
    settings::load::<query::Settings>("query")?;
    let generation: query::GenerationSettings = settings::load("generation")?;
    generation.checked().map_err(|error| SettingsError::Value {
        section: "generation".to_owned(),
        reason: error.to_string(),
    })?;
    settings::load::<gateway::Settings>("gateway")?;
    settings::load::<settings::Model>("model")?.id()?;
    let network: settings::Network = settings::load("network")?;
    let telemetry: TelemetrySettings = settings::load("telemetry")?;
    shared::telemetry::check(&telemetry, &network).map_err(|error| SettingsError::Value {
        section: "telemetry".to_owned(),
        reason: error.to_string(),
    })?;
    settings::load::<BusSettings>("bus")?;
    Ok(())
}
