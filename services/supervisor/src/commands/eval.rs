//! `ibid eval`: how well questions find what they should.

mod ask;
mod configuration;
mod earlier;
mod outcome;
mod store;
mod table;
mod tune;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use shared::contract::Pipeline;
use shared::settings::{self, Model};

use self::ask::{Asker, PASSAGES};
use self::configuration::Configuration;
use self::earlier::Earlier;
use self::outcome::{Evaluation, FORM, How, SetOutcome};
use self::store::{Place, Shelf, TakenIn};
use super::up::Signals;
use super::{service, setup};
use crate::cli::{EvalCommand, EvalRetrievalArgs};
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::evaluation::beir::Set;
use crate::evaluation::instance::Instance;
use crate::evaluation::progress::Progress;
use crate::evaluation::reference;
use crate::evaluation::split::Half;
use crate::evaluation::statistics::SEED;
use crate::files::write_durably;
use crate::output::{self, count};
use crate::screen::Screen;
use crate::supervise::{Stop, UpError};

pub(crate) use self::ask::sample;

/// Evaluates.
pub(super) async fn run(command: EvalCommand, json: bool) -> CommandResult {
    match command {
        EvalCommand::Retrieval(args) => retrieval(args, json).await,
    }
}

async fn retrieval(args: EvalRetrievalArgs, json: bool) -> CommandResult {
    // All that can be wrong with the arguments is told before anything is done.
    let earlier = Earlier::read_all(&args.compare)?;
    let sets = args
        .folders
        .iter()
        .map(|folder| Set::read(folder))
        .collect::<Result<Vec<Set>, _>>()?;
    let run = Run::new(&args)?;
    let screen = Screen::stderr();
    let stop = Signals::listen()?.stop(&screen);
    let outcomes = run.all(&sets, &screen, &stop).await;
    screen.finish();
    let evaluation = run.sum_up(outcomes?);
    if let Some(file) = &args.save {
        save(file, &evaluation)?;
    }
    if json {
        output::json(&evaluation)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(table::markdown(&evaluation))?;
    for earlier in &earlier {
        output::line("")?;
        output::line(earlier.markdown(&evaluation))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is evaluated, and how.
struct Run {
    pipeline: Pipeline,
    cache: PathBuf,
    configurations: Vec<Configuration>,
    half: Half,
    tune: bool,
    timed: usize,
}

impl Run {
    fn new(args: &EvalRetrievalArgs) -> Result<Self, Complaint> {
        service::check_settings().map_err(UpError::from)?;
        let model: Model = settings::load("model").map_err(UpError::from)?;
        let default = || settings::assets_dir().join("evaluation");
        let cache = args.cache.clone().unwrap_or_else(default);
        Ok(Self {
            pipeline: Pipeline::current(model.id().map_err(UpError::from)?),
            cache: std::path::absolute(&cache).unwrap_or(cache),
            configurations: Configuration::standard(args.rerank),
            // What is tuned on one half is told of the other.
            half: if args.tune { Half::HeldOut } else { args.half },
            tune: args.tune,
            timed: args.timed as usize,
        })
    }

    /// Every set, each with an Ibid of its own.
    async fn all(
        &self,
        sets: &[Set],
        screen: &Screen,
        stop: &Stop,
    ) -> Result<Vec<SetOutcome>, Complaint> {
        setup::ensure().await?;
        let mut outcomes = Vec::with_capacity(sets.len());
        for set in sets {
            let place = Place::of(&self.cache, set, &self.pipeline)?;
            let instance = Instance::start(&place.data(), screen, stop).await?;
            let work = async |gateway: &Gateway| self.one(set, &place, (gateway, screen)).await;
            outcomes.push(instance.with(stop, work).await?);
        }
        Ok(outcomes)
    }

    async fn one(
        &self,
        set: &Set,
        place: &Place,
        (gateway, screen): (&Gateway, &Screen),
    ) -> Result<SetOutcome, Complaint> {
        let taken_in = place.fill(set, gateway, screen).await?;
        warn(set, taken_in, screen);
        let shelf = Shelf::of(set);
        // To tune, both halves are asked, and parted afterwards.
        let asked = if self.tune { Half::All } else { self.half };
        let mut queries: Vec<_> = set.queries.iter().collect();
        queries.retain(|query| asked.holds(&query.id));
        let mut configurations = self.configurations.clone();
        if self.tune {
            configurations.extend(Configuration::grid());
        }
        let all = ask::questions(configurations.len(), queries.len(), self.timed);
        screen.line(format!(
            "{}: asking {}",
            set.name,
            count(all as u64, "question")
        ));
        let asker = Asker {
            gateway,
            set,
            shelf: &shelf,
            queries,
            timed: self.timed,
            progress: Progress::new(screen, all, "question"),
        };
        let mut outcome = described(set, taken_in, asker.queries.len());
        for configuration in &configurations {
            outcome.configurations.push(asker.ask(configuration).await?);
        }
        asker.progress.finish();
        outcome.judge_default();
        Ok(outcome)
    }

    fn sum_up(&self, mut sets: Vec<SetOutcome>) -> Evaluation {
        let tuned = self
            .tune
            .then(|| tune::tune(&mut sets, self.half))
            .flatten();
        Evaluation {
            form: FORM,
            made_at: jiff::Timestamp::now()
                .strftime("%Y-%m-%dT%H:%M:%SZ")
                .to_string(),
            how: How {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                parser: self.pipeline.parser.clone(),
                chunker: self.pipeline.chunker.clone(),
                model: self.pipeline.model.to_string(),
                half: self.half,
                passages: PASSAGES,
                seed: SEED,
                settings: settings_of_search(),
            },
            sets,
            tuned,
        }
    }
}

fn described(set: &Set, taken_in: TakenIn, questions: usize) -> SetOutcome {
    SetOutcome {
        name: set.name.clone(),
        hash: set.hash.clone(),
        documents: set.documents.len(),
        questions,
        unjudged: set.unjudged,
        absent: set.absent,
        taken_in,
        references: reference::of(&set.name),
        configurations: Vec::new(),
        against: None,
    }
}

fn warn(set: &Set, taken_in: TakenIn, screen: &Screen) {
    let name = &set.name;
    if taken_in.failed > 0 {
        let documents = count(taken_in.failed, "document");
        screen.warn(format!(
            "{name}: {documents} cannot be found: they could not be read"
        ));
    }
    if set.absent > 0 {
        let judged = count(set.absent as u64, "judged document");
        screen.warn(format!(
            "{name}: the set does not hold {judged}; they count as not found"
        ));
    }
}

/// The settings that decide what is found, without secrets.
fn settings_of_search() -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let sections = [
        ("query", settings::explain::<query::Settings>("query")),
        ("indexer", settings::explain::<indexer::Settings>("indexer")),
        ("model", settings::explain::<Model>("model")),
    ];
    for (section, views) in sections {
        // They have been checked before.
        for view in views.unwrap_or_default() {
            if let Ok(value) = serde_json::to_value(&view.value) {
                all.insert(format!("{section}.{}", view.key), value);
            }
        }
    }
    all
}

fn save(file: &Path, evaluation: &Evaluation) -> Result<(), Complaint> {
    let written = serde_json::to_vec(evaluation)
        .map_err(std::io::Error::from)
        .and_then(|bytes| write_durably(file, 0o644, |out| std::io::Write::write_all(out, &bytes)));
    written.map_err(|error| {
        let file = file.display();
        Complaint::new(
            format!("cannot write `{file}`: {error}"),
            "name another file with `--save`",
        )
    })
}
