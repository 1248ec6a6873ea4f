//! `ibid bench search`: how long questions take over many chunks, from the HTTP request to the
//! ranked passages. The chunks are generated and go into the catalog as the last stage would put
//! them there; all else is the real thing.

mod fill;
mod ingest;
mod report;
mod words;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use shared::contract::{CatalogStatus, CollectionName, Filter, Pipeline, Question};
use shared::settings::{self, Model};
use tokio::time::Instant;

use self::fill::{ONE_PERCENT, Place};
use self::report::{Phase, Report};
use self::words::{Lexicon, Writer};
use super::super::up::Signals;
use super::super::{eval, service, setup};
use crate::cli::BenchSearchArgs;
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::evaluation::instance::Instance;
use crate::evaluation::latency::{Latency, Sample};
use crate::evaluation::progress::Progress;
use crate::output::{self, thousands};
use crate::screen::Screen;
use crate::supervise::{Stop, UpError};

/// Questions asked before the time is taken.
const WARM_UP: usize = 50;
/// For both indexes to have all chunks.
const INDEXED_WITHIN: Duration = Duration::from_mins(15);
/// The vector engine has not changed its way for so long.
const STEADY: Duration = Duration::from_secs(5);

/// One document of an earlier measurement per so many chunks is too many: all is made anew.
const MOST_LEFT: u64 = 100;

/// What p95 may be, in milliseconds: at rest, and while all stages work.
const AT_REST_MS: f64 = 60.0;
const BUSY_MS: f64 = 180.0;

/// Measures.
pub(super) async fn run(args: BenchSearchArgs, json: bool) -> CommandResult {
    service::check_settings().map_err(UpError::from)?;
    setup::ensure().await?;
    let model: Model = settings::load("model").map_err(UpError::from)?;
    let (lexicon, dimension) = (Lexicon::of(&model)?, fill::dimension(&model)?);
    let pipeline = Pipeline::current(model.id().map_err(UpError::from)?);
    let cache = args.cache.clone();
    let cache = cache.unwrap_or_else(|| settings::assets_dir().join("bench"));
    let cache = std::path::absolute(&cache).unwrap_or(cache);
    let place = Place::of(&cache, args.chunks, &pipeline)?;
    let screen = Screen::stderr();
    let stop = Signals::listen()?.stop(&screen);
    let lexicon = Arc::new(lexicon);
    tokio::select! {
        filled = place.fill(&lexicon, dimension, &screen) => filled?,
        () = stop.drain.cancelled() => return Err(crate::evaluation::instance::stopped()),
    }
    let bench = Bench {
        args,
        lexicon,
        place,
        screen: screen.clone(),
    };
    let report = bench.measure(&stop).await;
    screen.finish();
    let report = report?;
    if json {
        output::json(&report)?;
    } else {
        report.tell()?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Bench {
    args: BenchSearchArgs,
    lexicon: Arc<Lexicon>,
    place: Place,
    screen: Screen,
}

impl Bench {
    async fn measure(&self, stop: &Stop) -> Result<Report, Complaint> {
        self.screen.line("starting, and filling both indexes …");
        let instance = Instance::start(&self.place.data(), &self.screen, stop).await?;
        instance
            .with(stop, async |gateway: &Gateway| self.all(gateway).await)
            .await
    }

    async fn all(&self, gateway: &Gateway) -> Result<Report, Complaint> {
        let status = indexed(gateway).await?;
        let questions = self.questions(&Filter::default());
        let warm = questions.get(..WARM_UP).unwrap_or(&questions);
        self.ask(gateway, warm, "warming up").await?;
        let asked = questions.get(WARM_UP..).unwrap_or_default();
        let at_rest = self.ask(gateway, asked, "at rest").await?;
        let few = Filter {
            collections: vec![one_percent()?],
            ..Filter::default()
        };
        let filtered = self.questions(&few);
        let filtered = filtered.get(WARM_UP..).unwrap_or_default();
        let filtered = self.ask(gateway, filtered, "1 % of the chunks").await?;
        let (busy, taken_in) = self.while_ingesting(gateway, asked).await?;
        Ok(Report {
            chunks: status.chunks,
            k: self.args.k,
            keyword_engine: status.keyword_engine,
            vector_engine: status.vector_engine,
            phases: vec![
                Phase::new("at rest", at_rest, AT_REST_MS),
                Phase::new("filter to 1 %", filtered, AT_REST_MS),
                Phase::new("while taking in", busy, BUSY_MS),
            ],
            chunks_taken_in: taken_in,
        })
    }

    /// The same questions every time, all different, the first ones to warm up with.
    fn questions(&self, filter: &Filter) -> Vec<Question> {
        let mut writer = Writer::new(&self.lexicon, words::QUESTIONS);
        let texts = writer.questions(WARM_UP + self.args.questions as usize);
        let of = |text| Question {
            text,
            k: self.args.k,
            filter: filter.clone(),
            ..Question::default()
        };
        texts.into_iter().map(of).collect()
    }

    async fn ask(
        &self,
        gateway: &Gateway,
        questions: &[Question],
        part: &str,
    ) -> Result<Latency, Complaint> {
        let progress = Progress::new(&self.screen, questions.len(), "question");
        let mut samples: Vec<Sample> = Vec::with_capacity(questions.len());
        for question in questions {
            samples.push(eval::sample(gateway, question).await?);
            progress.step(part);
        }
        progress.finish();
        Ok(Latency::of(&samples))
    }

    /// Asks while documents are being taken in, from the first chunk of them that can be found.
    /// Returns the chunks that came meanwhile as well.
    async fn while_ingesting(
        &self,
        gateway: &Gateway,
        questions: &[Question],
    ) -> Result<(Latency, u64), Complaint> {
        let folder = self.place.documents();
        let asking = async {
            let before = ingest::begun(gateway).await?;
            let latency = self.ask(gateway, questions, "while taking in").await?;
            let after = status(gateway).await?.chunks;
            Ok((latency, after.saturating_sub(before)))
        };
        let measured = tokio::select! {
            measured = asking => measured,
            ended = ingest::go_on(gateway, &self.lexicon, &folder) => match ended? {},
        };
        std::fs::remove_dir_all(&folder).ok();
        if ingest::documents(gateway).await? > u64::from(self.args.chunks) / MOST_LEFT {
            self.place.forget();
        }
        measured
    }
}

fn one_percent() -> Result<CollectionName, Complaint> {
    ONE_PERCENT
        .parse()
        .map_err(|error| Complaint::new(error, "tell the makers"))
}

/// The catalog's own account.
///
/// # Errors
/// When it does not answer.
async fn status(gateway: &Gateway) -> Result<CatalogStatus, Complaint> {
    let status = gateway.status().await?;
    match (status.catalog, status.error) {
        (Some(catalog), _) => Ok(catalog),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Err(Complaint::new("the catalog does not answer", "try again")),
    }
}

/// Waits until everything that is in the catalog is in both indexes and the vector engine has
/// settled.
async fn indexed(gateway: &Gateway) -> Result<CatalogStatus, Complaint> {
    let started = Instant::now();
    let mut steady: Option<(String, Instant)> = None;
    loop {
        let now = status(gateway).await?;
        let behind = now.keyword_sequence.min(now.vector_sequence) < now.sequence;
        let open = now.documents.working + now.documents.queued;
        match &steady {
            _ if behind || open > 0 => steady = None,
            Some((engine, since)) if *engine == now.vector_engine => {
                if since.elapsed() > STEADY {
                    return Ok(now);
                }
            }
            _ => steady = Some((now.vector_engine.clone(), Instant::now())),
        }
        if started.elapsed() > INDEXED_WITHIN {
            let chunks = thousands(now.chunks);
            return Err(Complaint::new(
                format!("the indexes did not take {chunks} chunks within 15 minutes"),
                "try fewer with `--chunks`",
            ));
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
