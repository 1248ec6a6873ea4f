//! A gateway on port 0 over a real nats-server, with the services behind it played by the tests.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gateway::Settings;
use gateway::server::Server;
use ibid_tests::bus::BusServer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::blobs::Blobs;
use shared::bus::{Bus, BusSettings, Drained, EventSink};
use shared::contract::ErrorBody;
use shared::service::{Drain, Service};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Polls until `condition` gives something, and says what was waited for when the time is up.
pub(crate) async fn wait_for<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let limit = Duration::from_secs(20);
    let started = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(started.elapsed() < limit, "waited {limit:?} for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A running gateway with its data folder.
pub(crate) struct Gateway {
    pub(crate) base: String,
    pub(crate) port: u16,
    pub(crate) client: reqwest::Client,
    pub(crate) blobs: Blobs,
    pub(crate) drain: Drain,
    pub(crate) task: JoinHandle<Drained>,
    pub(crate) bus: Bus,
    data: TempDir,
    _server: BusServer,
}

impl Gateway {
    pub(crate) async fn start(settings: Settings) -> Self {
        let data = tempfile::tempdir().unwrap();
        let nats = BusServer::start().await.unwrap();
        let bus = nats.connect(BusSettings::default()).await.unwrap();
        let blobs = Blobs::open(&data.path().join("blobs")).unwrap();
        let drain = Drain::new();
        let service = Service::assemble("gateway", bus.clone(), blobs.clone(), drain.clone(), None)
            .await
            .unwrap();
        let settings = Settings {
            port: 0,
            ..settings
        };
        let server = Server::bind(&service, &settings, data.path())
            .await
            .unwrap();
        let port = server.address().port();
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(30))
            .build()
            .unwrap();
        Self {
            base: format!("http://127.0.0.1:{port}"),
            port,
            client,
            blobs,
            drain,
            task: server.start(),
            bus,
            data,
            _server: nats,
        }
    }

    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Files left in the folder of unfinished uploads.
    pub(crate) fn staged(&self) -> Vec<PathBuf> {
        let folder = self.blobs.staging().unwrap();
        std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Plays a service that answers `subject`.
    pub(crate) async fn play<Q, A, F, Fut>(&self, subject: &'static str, answer: F)
    where
        Q: DeserializeOwned + Send + 'static,
        A: Serialize + Send + 'static,
        F: Fn(Q) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, ErrorBody>> + Send + 'static,
    {
        self.bus
            .respond((subject, "test"), 16, &self.drain, answer)
            .await
            .unwrap();
        self.bus.flush().await;
    }

    /// Plays a service that answers `subject` with a stream.
    pub(crate) async fn play_stream<Q, E, F, Fut>(&self, subject: &'static str, answer: F)
    where
        Q: DeserializeOwned + Send + 'static,
        E: Serialize + Send + 'static,
        F: Fn(Q, EventSink<E>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.bus
            .respond_stream((subject, "test"), 16, &self.drain, answer)
            .await
            .unwrap();
        self.bus.flush().await;
    }
}

/// Asserts status and code of an error body, and gives it back.
pub(crate) async fn expect_error(
    response: reqwest::Response,
    status: u16,
    code: &str,
) -> serde_json::Value {
    assert_eq!(response.status().as_u16(), status);
    let body: serde_json::Value = response.json().await.unwrap();
    assert_eq!(body["code"], code, "{body}");
    for field in ["message", "remedy"] {
        assert!(
            !body[field].as_str().unwrap().is_empty(),
            "{field} is empty in {body}"
        );
    }
    assert_eq!(body["trace_id"].as_str().unwrap().len(), 32, "{body}");
    body
}
