//! What the routes share, and the routes themselves.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::blobs::Blobs;
use shared::bus::Bus;
use shared::contract::ErrorBody;
use shared::service::{Drain, HealthBoard, Service};
use tokio::sync::Semaphore;
use tracing::info;

use crate::error::StartError;
use crate::extract::JSON_BYTES;
use crate::guard::{Guard, guard};
use crate::intake;
use crate::limit::{Limit, limit};
use crate::report::report;
use crate::routes;
use crate::settings::{Deadlines, Settings};

/// What the routes share. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// The way to the other services.
    pub bus: Bus,
    /// Where originals go.
    pub blobs: Blobs,
    /// Begins when the process is asked to end.
    pub drain: Drain,
    /// What the gateway tells about itself.
    pub health: HealthBoard,
    /// How long to wait.
    pub deadlines: Deadlines,
    /// Bytes of the largest file that is taken in.
    pub max_upload_bytes: u64,
    /// Where uploads are written before they are stored.
    pub staging: PathBuf,
    /// Places for uploads in hand.
    pub uploads: Arc<Semaphore>,
}

impl App {
    /// From a started service.
    ///
    /// # Errors
    /// When there is no folder for uploads.
    pub fn new(service: &Service, settings: &Settings) -> Result<Self, StartError> {
        let staging = service.blobs.staging()?;
        let swept = intake::sweep(&staging).map_err(|source| StartError::Sweep {
            path: staging.clone(),
            source,
        })?;
        if swept > 0 {
            info!(files = swept, "removed what unfinished uploads had left");
        }
        Ok(Self {
            bus: service.bus.clone(),
            blobs: service.blobs.clone(),
            drain: service.drain.clone(),
            health: service.health.clone(),
            deadlines: settings.deadlines(),
            max_upload_bytes: settings.max_upload_bytes(),
            staging,
            uploads: Arc::new(Semaphore::new(settings.max_uploads.max(1))),
        })
    }

    /// Asks another service and waits the ordinary time.
    ///
    /// # Errors
    /// What the service answered, or why it did not.
    pub async fn call<Q: Serialize, A: DeserializeOwned>(
        &self,
        subject: &str,
        request: &Q,
    ) -> Result<A, ErrorBody> {
        self.bus.call(subject, request, self.deadlines.call).await
    }

    /// As [`App::call`], for what reads or purges whole stores.
    ///
    /// # Errors
    /// As [`App::call`].
    pub async fn slow_call<Q: Serialize, A: DeserializeOwned>(
        &self,
        subject: &str,
        request: &Q,
    ) -> Result<A, ErrorBody> {
        self.bus
            .call(subject, request, self.deadlines.slow_call)
            .await
    }
}

/// All routes with all layers, for a server on `port`.
pub fn router(app: App, settings: &Settings, port: u16) -> Router {
    let requests = Limit::new(settings.max_requests, app.health.clone());
    let documents = get(routes::list_documents::list)
        .post(routes::admit_documents::admit)
        .layer(DefaultBodyLimit::disable());
    let document = get(routes::get_document::get).delete(routes::delete_document::delete);
    let api = Router::new()
        .route("/documents", documents)
        .route("/documents/{id}", document)
        .route("/documents/{id}/retry", post(routes::retry_document::retry))
        .route("/retry", post(routes::retry::retry))
        .route("/search", post(routes::search::search))
        .route("/ask", post(routes::ask::ask))
        .route("/status", get(routes::status::status))
        .route("/fsck", get(routes::fsck::fsck))
        .route("/dump", get(routes::dump::dump))
        .layer(from_fn_with_state(requests, limit));
    Router::new()
        .nest("/api/v1", api)
        .route("/", get(routes::page::index))
        .route("/assets/{name}", get(routes::page::asset))
        .route("/healthz", get(routes::healthz::healthz))
        .route("/readyz", get(routes::readyz::readyz))
        .fallback(routes::fallback::no_such_route)
        .method_not_allowed_fallback(routes::fallback::wrong_method)
        .layer(DefaultBodyLimit::max(JSON_BYTES))
        .layer(from_fn_with_state(Guard::new(port), guard))
        .layer(from_fn(report))
        .with_state(app)
}
