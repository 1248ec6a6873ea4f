//! What the routes share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::blobs::Blobs;
use shared::bus::Bus;
use shared::contract::ErrorBody;
use shared::service::{Drain, HealthBoard, Service};
use tokio::sync::Semaphore;
use tracing::info;

use crate::door::Door;
use crate::error::StartError;
use crate::intake;
use crate::live::Live;
use crate::sealing::Sealing;
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
    /// Who has the token.
    pub door: Door,
    /// What happens to the documents.
    pub live: Live,
    /// How long to wait.
    pub deadlines: Deadlines,
    /// Bytes of the largest file that is taken in.
    pub max_upload_bytes: u64,
    /// Where uploads are written before they are stored.
    pub staging: PathBuf,
    /// Seals the passwords of documents.
    pub sealing: Sealing,
    /// Places for uploads in hand.
    pub uploads: Arc<Semaphore>,
}

impl App {
    /// From a started service, with its door and the data folder.
    ///
    /// # Errors
    /// When there is no folder for uploads.
    pub fn new(
        service: &Service,
        settings: &Settings,
        door: Door,
        data: &Path,
    ) -> Result<Self, StartError> {
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
            door,
            live: Live::new(service.bus.clone(), service.drain.clone()),
            deadlines: settings.deadlines(),
            max_upload_bytes: settings.max_upload_bytes(),
            staging,
            sealing: Sealing::new(data),
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
