//! `ibid service NAME`: one service in this process, as `ibid up` starts it.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::fmt::Display;
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::bus::BusSettings;
use shared::http::HttpServer;
use shared::service::Service;
use shared::settings::{self, SettingsError};
use shared::telemetry::TelemetrySettings;

use crate::cli::ServiceArgs;
use crate::error::{CommandResult, Complaint};
use crate::supervise::child::USAGE_EXIT;
use crate::supervise::{UpError, nats, parent};

const EXTRACT_CHILD: &str = "extract-child";
const READINGS_CHILD: &str = "readings-child";

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
        ("parser", Some(READINGS_CHILD)) => return readings_child(&args.arguments),
        ("parser", None) => start("parser", |service, mut settings: parser::Settings| {
            // The parser's reading processes are this program as well.
            settings.child_arguments = child_arguments();
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

/// What makes this program a process that reads documents.
pub(super) fn child_arguments() -> Vec<String> {
    ["service", "parser", EXTRACT_CHILD]
        .map(str::to_owned)
        .to_vec()
}

/// What makes this program a process that reads one page of PDFs by both readers.
pub(super) fn readings_arguments(page: u32) -> Vec<String> {
    let page = page.to_string();
    ["service", "parser", READINGS_CHILD, &page]
        .map(str::to_owned)
        .to_vec()
}

fn readings_child(arguments: &[OsString]) -> CommandResult {
    let page = arguments
        .get(1)
        .and_then(|page| page.to_str()?.parse().ok());
    let page = page.ok_or_else(|| {
        Complaint::new(
            "no page is named",
            "`ibid show DOCUMENT --page N --diff` names it",
        )
    })?;
    Ok(parser::readings::child_main(page))
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

fn wrong<E: Display>(section: &'static str) -> impl Fn(E) -> SettingsError {
    move |error| SettingsError::Value {
        section: section.to_owned(),
        reason: error.to_string(),
    }
}

fn question(settings: &query::Settings) -> Result<(), SettingsError> {
    let wrong = wrong("query");
    let (passages, weight) = (settings.passages, settings.semantic_share());
    if !(1..=100).contains(&passages) {
        return Err(wrong(format!(
            "`query.passages` is {passages}; use 1 to 100"
        )));
    }
    let shares = [
        ("semantic_weight", weight.unwrap_or_default()),
        ("diversity", settings.diversity),
    ];
    for (name, share) in shares {
        if !(0.0..=1.0).contains(&share) {
            let why = format!("`query.{name}` is {share}; use a number from 0 to 1");
            return Err(wrong(why));
        }
    }
    Ok(())
}

fn generation(
    settings: query::GenerationSettings,
    network: &settings::Network,
) -> Result<(), SettingsError> {
    let settings = settings.checked().map_err(wrong("generation"))?;
    for (setting, url) in [
        ("generation.ollama_url", &settings.ollama_url),
        ("generation.openai_url", &settings.openai_url),
    ] {
        if !url.is_empty() {
            HttpServer::new(setting, url, network).map_err(wrong("generation"))?;
        }
    }
    Ok(())
}

fn model(model: &settings::Model, network: &settings::Network) -> Result<(), SettingsError> {
    model.id()?;
    if model.on_server() {
        HttpServer::new("model.url", model.server_url(), network).map_err(wrong("model"))?;
    }
    Ok(())
}

/// Checks the settings of all services at once, so that what would end a service again and again
/// is told before any starts.
///
/// # Errors
/// The first that does not hold.
pub(super) fn check_settings() -> Result<(), SettingsError> {
    settings::load::<parser::Settings>("parser")?;
    settings::load::<chunker::Settings>("chunker")?;
    settings::load::<embedder::Settings>("embedder")?;
    settings::load::<indexer::Settings>("indexer")?;
    let network: settings::Network = settings::load("network")?;
    question(&settings::load("query")?)?;
    generation(settings::load("generation")?, &network)?;
    settings::load::<gateway::Settings>("gateway")?
        .check()
        .map_err(wrong("gateway"))?;
    model(&settings::load("model")?, &network)?;
    let telemetry: TelemetrySettings = settings::load("telemetry")?;
    shared::telemetry::check(&telemetry, &network).map_err(wrong("telemetry"))?;
    settings::load::<BusSettings>("bus")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::settings::{Model, ModelProvider, Network};

    #[track_caller]
    fn told(checked: Result<(), SettingsError>, part: &str) {
        let text = checked.unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn questions_have_passages_and_a_weight() {
        assert!(question(&query::Settings::default()).is_ok());
        for passages in [0, 101] {
            let settings = query::Settings {
                passages,
                ..query::Settings::default()
            };
            told(question(&settings), "use 1 to 100");
        }
        for semantic_weight in [-0.1, 1.1, f32::NAN] {
            let settings = query::Settings {
                semantic_weight,
                ..query::Settings::default()
            };
            told(question(&settings), "from 0 to 1");
        }
    }

    #[test]
    fn servers_elsewhere_are_refused_unless_the_network_allows_them() {
        let allowed = Network {
            allow: vec!["10.0.0.1".to_owned()],
        };
        let elsewhere = "http://10.0.0.1:1";
        let base = query::GenerationSettings::default();
        assert!(generation(base.clone(), &Network::default()).is_ok());
        for settings in [
            query::GenerationSettings {
                ollama_url: elsewhere.to_owned(),
                ..base.clone()
            },
            query::GenerationSettings {
                openai_url: elsewhere.to_owned(),
                ..base.clone()
            },
        ] {
            told(
                generation(settings.clone(), &Network::default()),
                "add `10.0.0.1` to `network.allow`",
            );
            assert!(generation(settings, &allowed).is_ok());
        }
        let named = Model {
            provider: ModelProvider::Ollama,
            name: "bge-m3".to_owned(),
            url: elsewhere.to_owned(),
            ..Model::default()
        };
        told(model(&named, &Network::default()), "`model.url` names");
        assert!(model(&named, &allowed).is_ok());
        assert!(model(&Model::default(), &Network::default()).is_ok());
    }
}
