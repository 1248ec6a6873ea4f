//! Which services run, and how they are told to end.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::settings;
use tokio_util::sync::CancellationToken;

use super::child::{ChildSpec, ChildState, Ended, Keeper};
use super::nats::Nats;
use crate::screen::Screen;

/// A little longer than a service gives its own drain.
const GRACE: Duration = Duration::from_secs(30);

/// How many instances of the stages that may have several. Section `supervisor`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Parsers.
    pub parsers: u8,
    /// Chunkers.
    pub chunkers: u8,
    /// Embedders; each holds the model in memory.
    pub embedders: u8,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parsers: 1,
            chunkers: 1,
            embedders: 1,
        }
    }
}

/// Threads of the built-in model. They wait for each other at every layer, so that one that has
/// lost its core to another program holds up all: measured under load, two threads on two cores
/// wrote 5 tokens a second and one wrote 29. One core is left to the others.
const MODEL_THREADS: &str = "RAYON_NUM_THREADS";

/// The services in the order they end: first who takes new requests, last who answers them.
pub const ORDER: [&str; 6] = [
    "gateway", "query", "parser", "chunker", "embedder", "indexer",
];

/// What every service is told.
pub struct Surroundings<'a> {
    /// This program.
    pub ibid: &'a Path,
    /// The bus.
    pub nats: &'a Nats,
    /// The gateway's port.
    pub port: u16,
    /// Which of their events are logged.
    pub log_filter: &'a str,
    /// Whether their log lines are shown as they are.
    pub raw_logs: bool,
    /// What else stands in their environment; it goes before our own.
    pub environment: &'a [(String, OsString)],
}

/// All running services.
pub struct Fleet {
    keepers: Vec<Keeper>,
}

impl Fleet {
    /// Starts them.
    pub fn start(
        settings: &Settings,
        around: &Surroundings<'_>,
        screen: &Screen,
        kill: &CancellationToken,
    ) -> Self {
        let keepers = specs(settings, around)
            .into_iter()
            .map(|spec| Keeper::start(spec, screen.clone(), kill.clone()))
            .collect();
        Self { keepers }
    }

    /// Returns the name of a service whose settings are wrong, once there is one.
    pub async fn unusable(&self) -> String {
        let watches = self.keepers.iter().map(|keeper| {
            let (name, mut state) = (keeper.name.clone(), keeper.state.clone());
            Box::pin(async move {
                if state
                    .wait_for(|state| *state == ChildState::Unusable)
                    .await
                    .is_err()
                {
                    std::future::pending::<()>().await;
                }
                name
            })
        });
        futures::future::select_all(watches).await.0
    }

    /// Tells the gateway to end, and when it has, all others; returns those that had to be
    /// killed.
    pub async fn drain(self) -> Vec<String> {
        let (gateways, others): (Vec<_>, Vec<_>) = self
            .keepers
            .into_iter()
            .partition(|keeper| keeper.name == "gateway");
        let mut gave_up = drain_all(gateways).await;
        gave_up.extend(drain_all(others).await);
        gave_up
    }
}

async fn drain_all(keepers: Vec<Keeper>) -> Vec<String> {
    keepers.iter().for_each(Keeper::stop);
    let mut gave_up = Vec::new();
    for keeper in keepers {
        let name = keeper.name.clone();
        if keeper.ended().await == Ended::GaveUp {
            gave_up.push(name);
        }
    }
    gave_up
}

fn specs(settings: &Settings, around: &Surroundings<'_>) -> Vec<ChildSpec> {
    let mut specs = Vec::new();
    for service in ORDER {
        let count = match service {
            "parser" => settings.parsers,
            "chunker" => settings.chunkers,
            "embedder" => settings.embedders,
            _ => 1,
        };
        for instance in 1..=count.max(1) {
            let name = if count > 1 {
                format!("{service}-{instance}")
            } else {
                service.to_owned()
            };
            specs.push(spec(service, name, around));
        }
    }
    specs
}

fn spec(service: &str, name: String, around: &Surroundings<'_>) -> ChildSpec {
    let parent = std::process::id().to_string();
    let filter = format!("async_nats=warn,{}", around.log_filter);
    let mut environment: Vec<(String, OsString)> = vec![
        ("IBID_BUS__URL".to_owned(), around.nats.url.clone().into()),
        (
            "IBID_BUS__TOKEN".to_owned(),
            around.nats.token.clone().into(),
        ),
        ("IBID_TELEMETRY__JSON".to_owned(), "true".into()),
        // The services tell themselves what becomes of their connection; the user's own words
        // come later and win.
        ("IBID_TELEMETRY__FILTER".to_owned(), filter.into()),
    ];
    if service == "gateway" {
        environment.push((
            "IBID_GATEWAY__PORT".to_owned(),
            around.port.to_string().into(),
        ));
    }
    if service == "query" && settings::variable(MODEL_THREADS).is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.saturating_sub(1).max(1).to_string();
        environment.push((MODEL_THREADS.to_owned(), threads.into()));
    }
    environment.extend(around.environment.iter().cloned());
    ChildSpec {
        name,
        program: around.ibid.to_owned(),
        arguments: vec![
            "service".into(),
            "--parent".into(),
            parent.into(),
            service.into(),
        ],
        environment,
        grace: GRACE,
        raw_logs: around.raw_logs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_have_names_of_their_own_and_only_the_gateway_has_a_port() {
        let run = tempfile::tempdir().unwrap();
        let nats = Nats::prepare(run.path(), run.path()).unwrap();
        let around = Surroundings {
            ibid: Path::new("ibid"),
            nats: &nats,
            port: 4277,
            log_filter: "info",
            raw_logs: false,
            environment: &[],
        };
        let settings = Settings {
            parsers: 2,
            chunkers: 1,
            embedders: 0,
        };
        let specs = specs(&settings, &around);
        let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "gateway", "query", "parser-1", "parser-2", "chunker", "embedder", "indexer"
            ]
        );
        for spec in &specs {
            let port = spec
                .environment
                .iter()
                .any(|(name, _)| name == "IBID_GATEWAY__PORT");
            assert_eq!(port, spec.name == "gateway");
            assert!(
                spec.environment
                    .contains(&("IBID_BUS__TOKEN".into(), (&nats.token).into()))
            );
        }
    }
}
