//! `ibid setup`.

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde::Serialize;

use crate::cli::SetupArgs;
use crate::error::{CommandResult, Complaint};
use crate::output;
use crate::setup::fetch::Pip;
use crate::setup::pins::{Part, Pins};
use crate::setup::{PartState, Report, Setup, SetupError};

/// What the importer of this build makes; raise it when it makes something else.
const IMPORTER: &str = "embedder-1";

/// Fetches what is missing and says how each part stands.
pub(super) async fn run(args: &SetupArgs, json: bool) -> CommandResult {
    let extras: Vec<&str> = args.with.iter().map(|extra| extra.name()).collect();
    let setup = with(&extras)?;
    let told = Told::default();
    let quiet = Lines {
        all: !json,
        told: &told,
    };
    setup.run(&quiet).await?;
    if json {
        output::json(&told.parts())?;
    } else {
        let assets = output::name(&setup.assets.to_string_lossy());
        output::line(format!("all parts are in {assets}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes sure of all parts, with a word only on what has to be fetched.
///
/// # Errors
/// What is missing and could not be fetched.
pub(super) async fn ensure() -> Result<Setup, Complaint> {
    let setup = builtin()?;
    setup
        .run(&Lines {
            all: false,
            told: &Told::default(),
        })
        .await?;
    Ok(setup)
}

/// The setup of this build.
///
/// # Errors
/// When the lock of parts is wrong.
pub(super) fn builtin() -> Result<Setup, Complaint> {
    with(&[])
}

fn with(extras: &[&str]) -> Result<Setup, Complaint> {
    Ok(Setup {
        assets: shared::settings::assets_dir(),
        pins: Pins::builtin_with(extras).map_err(SetupError::from)?,
        pip: Pip::default(),
        importer: Arc::new(|from, into| {
            embedder::import::import_model(from, into)
                .map(drop)
                .map_err(|error| super::model::chain(&error))
        }),
        importer_version: IMPORTER,
    })
}

impl From<SetupError> for Complaint {
    fn from(error: SetupError) -> Self {
        let remedy = error.remedy();
        Self::new(error, remedy)
    }
}

#[derive(Serialize)]
struct PartLine {
    name: String,
    version: String,
    state: PartState,
}

#[derive(Default)]
struct Told(Mutex<Vec<PartLine>>);

impl Told {
    fn note(&self, part: &Part, state: PartState) {
        if let Ok(mut parts) = self.0.lock() {
            parts.retain(|line| line.name != part.name);
            let (name, version) = (part.name.clone(), part.version.clone());
            parts.push(PartLine {
                name,
                version,
                state,
            });
        }
    }

    fn parts(&self) -> Vec<PartLine> {
        self.0
            .lock()
            .map(|mut parts| std::mem::take(&mut *parts))
            .unwrap_or_default()
    }
}

/// One line on standard error per step, or only for steps that take time.
struct Lines<'a> {
    all: bool,
    told: &'a Told,
}

impl Report for Lines<'_> {
    fn part(&self, part: &Part, state: PartState) {
        self.told.note(part, state);
        let text = match state {
            PartState::Present if self.all => "is there".to_owned(),
            PartState::Present => return,
            PartState::Fetching => format!("fetching {} MB …", part.megabytes),
            PartState::Importing => "importing the model …".to_owned(),
            PartState::Ready => "ready".to_owned(),
            PartState::Failed => "failed".to_owned(),
        };
        tell(&format!("{} {}: {text}", part.name, part.version));
    }

    fn waiting(&self) {
        tell("another `ibid setup` is at work; waiting for it …");
    }
}

#[expect(clippy::print_stderr, reason = "progress of a command")]
fn tell(text: &str) {
    eprintln!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Extra;
    use clap::ValueEnum as _;

    #[test]
    fn every_extra_that_can_be_named_is_in_the_lock() {
        let usual = builtin().unwrap().pins.parts.len();
        for extra in Extra::value_variants() {
            let parts = with(&[extra.name()]).unwrap().pins.parts.len();
            assert_eq!(parts, usual + 1, "{}", extra.name());
        }
    }
}
