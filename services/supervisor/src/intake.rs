//! Taking files and folders in: find them, send them, wait until they can be searched.

mod gaps;
mod meter;
mod patience;
pub mod report;
mod send;
mod wait;
pub mod walk;

use std::path::PathBuf;

use shared::contract::{Admitted, CollectionName, DocumentView, ErrorBody};
use shared::secret::Password;
use tokio::time::Instant;

use crate::client::Gateway;
use crate::error::Complaint;
use crate::ledger::Gap;
use crate::screen::Screen;

use patience::Patience;

pub use meter::clock;
pub use report::Report;
pub use walk::{Candidate, Found};

/// What to take in.
#[derive(Debug, Clone)]
pub struct Request {
    /// Where they go.
    pub collection: CollectionName,
    /// Do all work again.
    pub force: bool,
    /// Return only when all can be searched.
    pub wait: bool,
    /// What may open locked files.
    pub password: Option<Password>,
}

/// A file on its way.
#[derive(Debug)]
pub struct Taken {
    /// Its absolute path.
    pub path: PathBuf,
    /// How much there is to do, in bytes of plain text.
    pub work: u64,
    /// What the gateway said to it.
    pub admitted: Result<Admitted, ErrorBody>,
    /// Whether it had been handed over before and is not searchable yet.
    pub was_open: bool,
    /// How it ended; `None` when nobody waited.
    pub view: Option<DocumentView>,
    /// The pages that could not be read, by reason; those of very many files are not asked for.
    pub gaps: Vec<Gap>,
}

/// Looks for files under `paths`.
///
/// # Errors
/// When a path is not there.
pub async fn find(paths: Vec<PathBuf>) -> Result<Found, Complaint> {
    tokio::task::spawn_blocking(move || walk::find(&paths))
        .await
        .map_err(|error| {
            Complaint::new(format!("the search for files broke: {error}"), "try again")
        })?
}

/// Takes everything in that was found.
///
/// # Errors
/// When Ibid ends, or the gateway is gone for longer than a restart takes; what went wrong with single files
/// is in the report.
pub async fn run(
    gateway: &Gateway,
    request: Request,
    found: Found,
    screen: &Screen,
) -> Result<Report, Complaint> {
    let started = Instant::now();
    let mut meter = meter::Meter::new(screen, &found.files);
    let patience = Patience::new(gateway, screen);
    let taken = async {
        let mut taken = send::all(&patience, &request, &found.files, &mut meter).await?;
        let watch = wait::Watch::new(&patience, &request.collection);
        if request.wait {
            watch.until_final(&mut taken, &mut meter).await?;
            gaps::look(&patience, &mut taken).await?;
        } else {
            watch.look_once(&mut taken).await?;
        }
        Ok(taken)
    };
    let taken: Result<Vec<Taken>, Complaint> = taken.await;
    meter.finish();
    Ok(Report::new(taken?, found, started.elapsed(), request.wait))
}
