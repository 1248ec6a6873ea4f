//! From a question to an answer: search, prompt, a generator, citations, events.

use std::time::Instant;

use futures::StreamExt as _;
use shared::contract::{
    AnswerEvent, Citation, ErrorBody, GeneratorId, LeftOut, Provider, Question, SearchReply,
    Timings, TokenUsage,
};
use shared::metrics::{SpeechClock, SpeechOutcome};
use tokio::sync::mpsc::Sender;
use tracing::{Instrument as _, Span, field, info, info_span, warn};

use crate::cite::Citations;
use crate::engines::Engines;
use crate::finish::{Found, Purpose};
use crate::generation::{
    Candidate, GenerateError, GenerationSettings, Generators, Limits, Piece, Pieces, Stop,
};
use crate::partly_read::PartlyRead;
use crate::prompt::{Asked, Given, NOT_IN_DOCUMENTS, prompt};
use crate::search::{Plan, find, note_search, search};
use crate::settings::Settings;
use crate::source::{citations, sources};
use crate::understand::{rewrite, understand};

const NOTHING_FOUND: &str = "Nothing in these documents matches the question.\n";

/// Answers questions.
pub struct Answerer {
    /// Find passages.
    pub engines: Box<dyn Engines>,
    /// Write answers.
    pub generators: Generators,
    /// How to search.
    pub settings: Settings,
    /// How to write.
    pub generation: GenerationSettings,
}

/// Whoever asked has gone.
struct Gone;

/// Where the events go.
struct Listener<'a>(&'a Sender<AnswerEvent>);

impl Listener<'_> {
    async fn tell(&self, event: AnswerEvent) -> Result<(), Gone> {
        self.0.send(event).await.map_err(|_closed| Gone)
    }
}

impl Answerer {
    /// Searches.
    ///
    /// # Errors
    /// [`ErrorBody`] for a wrong question, or when no engine answers.
    pub async fn search(&self, question: &Question) -> Result<SearchReply, ErrorBody> {
        let reply = search(self.engines.as_ref(), question, &self.settings)
            .instrument(info_span!("search"))
            .await;
        note_search(reply.as_ref());
        reply
    }

    /// Searches for what an answer rests on. A follow-up is first made a question of its own.
    async fn find(&self, question: &Question) -> Result<Found, ErrorBody> {
        let started = Instant::now();
        let limit = self.settings.rewrite_deadline();
        let understood = understand(question);
        // No model is asked for the sake of a question that is refused.
        if let Err(error) = Plan::of(question, &understood, &self.settings) {
            let error = ErrorBody::from(error);
            note_search(Err(&error));
            return Err(error);
        }
        let understood = rewrite(&self.generators, question, understood, limit)
            .instrument(info_span!("understand"))
            .await;
        let understand_ms = started.elapsed().as_secs_f64() * 1_000.0;
        let purpose = Purpose::Answer {
            tokens: self.generation.context_tokens,
        };
        let asked = (question, understood);
        let mut found = find(self.engines.as_ref(), asked, &self.settings, purpose)
            .instrument(info_span!("search"))
            .await;
        if let Ok(found) = &mut found {
            found.reply.timings.understand_ms = understand_ms;
        }
        note_search(found.as_ref().map(|found| &found.reply));
        found
    }

    /// Sends the events of an answer, in order: the sources, the tokens, the end; or an error.
    /// Returns early when the receiver is gone.
    pub async fn answer(&self, question: &Question, events: &Sender<AnswerEvent>) {
        let started = Instant::now();
        let listener = Listener(events);
        let last = match self.find(question).await {
            Ok(found) => self.write(question, found, started, &listener).await,
            Err(error) => Ok(AnswerEvent::Error { error }),
        };
        if let Ok(last) = last {
            // Who has gone need not be told the end.
            listener.tell(last).await.ok();
        }
    }

    /// The answer over what was found; returns its last event.
    async fn write(
        &self,
        question: &Question,
        found: Found,
        started: Instant,
        listener: &Listener<'_>,
    ) -> Result<AnswerEvent, Gone> {
        let (tight, no_room, found) = (found.tight, found.no_room, found.reply);
        let sources = sources(&found.passages);
        let said = AnswerEvent::Sources {
            sources,
            understood: found.understood.clone(),
            explanation: found.explanation.clone(),
        };
        listener.tell(said).await?;
        let mut writing = Writing::new(&found, started);
        if found.passages.is_empty() {
            writing.show(NOTHING_FOUND.to_owned(), listener).await?;
            return Ok(writing.done(GeneratorId::new(Provider::Extractive, "")));
        }
        let candidates = match self.generators.candidates(question.generator.as_ref()) {
            Ok(candidates) => candidates,
            Err(error) => return Ok(failed(error)),
        };
        let mut last_error = None;
        for candidate in candidates {
            if let Some(error) = last_error.take() {
                writing.note_passed_over(&error);
            }
            let provider = candidate.generator.provider();
            let span = info_span!("generate", generator = field::Empty);
            writing.wait_for(provider, &span);
            let given = Given {
                wide: &found.passages,
                tight: &tight,
            };
            let begun = self.begin(&candidate, question, &found.understood.text, given);
            match begun.instrument(span.clone()).await {
                Ok((model, pieces, left_out)) => {
                    let id = GeneratorId::new(provider, model);
                    span.record("generator", field::display(&id));
                    let given = found.passages.len() - left_out.sources as usize;
                    writing.citations.only(given);
                    writing.left_out = LeftOut {
                        sources: left_out.sources + no_room,
                        ..left_out
                    };
                    let outcome = writing.pass_on(pieces, listener).instrument(span).await?;
                    return Ok(match outcome {
                        Ok(()) => writing.done(id),
                        Err(error) => {
                            warn!(generator = %id, %error, "the answer broke off");
                            writing.give_up();
                            failed(error)
                        }
                    });
                }
                Err(error) => {
                    writing.give_up();
                    self.generators.note_failure(provider, &error);
                    last_error = Some(error);
                }
            }
        }
        Ok(failed(last_error.unwrap_or(GenerateError::NotSet {
            provider: "generation",
        })))
    }

    /// Has the candidate begin; nothing of a document is sent before its model has been checked.
    async fn begin(
        &self,
        candidate: &Candidate,
        question: &Question,
        standalone: &str,
        given: Given<'_>,
    ) -> Result<(String, Pieces, LeftOut), GenerateError> {
        let model = candidate.model().await?;
        let limits: Limits = candidate.generator.check(&model).await?;
        let asked = Asked {
            typed: question.text.trim(),
            standalone,
            history: &question.history,
        };
        let (prompt, left_out) = prompt(asked, given, (&self.generation, limits));
        let pieces = candidate.generator.generate(&model, prompt).await?;
        Ok((model, pieces, left_out))
    }
}

/// An answer being written.
struct Writing {
    started: Instant,
    /// From the generator's turn to its first token.
    waiting: Option<Span>,
    clock: Option<SpeechClock>,
    first_token: Option<Instant>,
    text: String,
    citations: Citations,
    usage: TokenUsage,
    left_out: LeftOut,
    timings: Timings,
    notes: Vec<String>,
    partly_read: PartlyRead,
}

impl Writing {
    fn new(found: &SearchReply, started: Instant) -> Self {
        Self {
            started,
            waiting: None,
            clock: None,
            first_token: None,
            text: String::new(),
            citations: Citations::new(citations(&found.passages)),
            usage: TokenUsage::default(),
            left_out: LeftOut::default(),
            timings: found.timings.clone(),
            notes: found.notes.clone(),
            partly_read: PartlyRead::of(&found.passages),
        }
    }

    /// `provider` has its turn, within `span`.
    fn wait_for(&mut self, provider: Provider, span: &Span) {
        self.waiting = Some(info_span!(parent: span, "first_token"));
        self.clock = Some(SpeechClock::start(provider, self.started));
    }

    /// The generator has failed.
    fn give_up(&mut self) {
        self.waiting = None;
        if let Some(clock) = self.clock.take() {
            clock.end(SpeechOutcome::Error, None);
        }
    }

    /// A generator that would have been asked first could not answer. One that is not there at
    /// all is the ordinary case and not worth a word.
    fn note_passed_over(&mut self, error: &GenerateError) {
        if !matches!(error, GenerateError::Unreachable { .. }) {
            let body = ErrorBody::from(error.clone());
            self.notes.push(format!("{body}"));
        }
    }

    async fn show(&mut self, text: String, listener: &Listener<'_>) -> Result<(), Gone> {
        if text.is_empty() {
            return Ok(());
        }
        self.first_token.get_or_insert_with(Instant::now);
        drop(self.waiting.take());
        if let Some(clock) = &mut self.clock {
            clock.token();
        }
        self.text.push_str(&text);
        listener.tell(AnswerEvent::Token { text }).await
    }

    /// Shows the pieces as they come.
    async fn pass_on(
        &mut self,
        mut pieces: Pieces,
        listener: &Listener<'_>,
    ) -> Result<Result<(), GenerateError>, Gone> {
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(Piece::Text(text)) => {
                    let text = self.citations.push(&text);
                    self.show(text, listener).await?;
                }
                Ok(Piece::Quote { number, text }) => {
                    let label = self.citations.cite(number);
                    self.show(blockquote(&text, &label), listener).await?;
                }
                Ok(Piece::End { usage, stop, notes }) => {
                    self.usage = usage;
                    self.left_out.answer_cut = stop == Stop::AtLimit;
                    self.notes.extend(notes);
                }
                Err(error) => return Ok(Err(error)),
            }
        }
        let rest = self.citations.finish();
        self.show(rest, listener).await?;
        Ok(Ok(()))
    }

    /// The last event.
    fn done(mut self, generator: GeneratorId) -> AnswerEvent {
        if let Some(clock) = self.clock.take() {
            clock.end(SpeechOutcome::Done, self.usage.answer_tokens);
        }
        let now = Instant::now();
        let millis = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1_000.0;
        let first = self.first_token.unwrap_or(now);
        self.timings.first_token_ms = millis(self.started, first);
        self.timings.generate_ms = millis(first, now);
        self.timings.total_ms = millis(self.started, now);
        if self.usage.tokens_per_second.is_none() && self.timings.generate_ms > 0.0 {
            let tokens = self.usage.answer_tokens.filter(|&tokens| tokens > 1);
            self.usage.tokens_per_second =
                tokens.map(|tokens| f64::from(tokens - 1) * 1_000.0 / self.timings.generate_ms);
        }
        let citations = self.citations.cited();
        let answered = self.answered(&citations);
        self.add_notes(answered, &citations);
        info!(
            %generator,
            answered,
            citations = citations.len(),
            first_token_ms = self.timings.first_token_ms,
            duration_ms = self.timings.total_ms,
            "answered"
        );
        AnswerEvent::Done {
            generator,
            timings: self.timings,
            usage: self.usage,
            left_out: self.left_out,
            answered,
            citations,
            notes: self.notes,
        }
    }

    /// Whether the text is an answer, and not the sentence that stands for none.
    fn answered(&self, citations: &[Citation]) -> bool {
        let plain = |text: &str| {
            text.trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase()
        };
        let text = plain(&self.text);
        let refusal = plain(NOT_IN_DOCUMENTS);
        let says_nothing =
            text.is_empty() || text == plain(NOTHING_FOUND) || text.starts_with(&refusal);
        !says_nothing || !citations.is_empty()
    }

    fn add_notes(&mut self, answered: bool, citations: &[Citation]) {
        if self.text.trim().is_empty() {
            self.notes
                .push("the model wrote nothing; ask again, or choose another".to_owned());
        } else if answered && citations.is_empty() {
            self.notes.push(
                "the answer cites no passage; compare it with the sources before relying on it"
                    .to_owned(),
            );
        }
        self.notes.extend(self.partly_read.notes(citations));
        let unknown = self.citations.unknown();
        if unknown > 0 {
            self.notes.push(format!(
                "{unknown} citations that name no passage were taken out of the answer"
            ));
        }
        if self.left_out.answer_cut {
            self.notes.push(
                "the answer ended at its limit; raise `generation.answer_tokens` for longer ones"
                    .to_owned(),
            );
        }
    }
}

fn failed(error: GenerateError) -> AnswerEvent {
    AnswerEvent::Error {
        error: error.into(),
    }
}

/// `text` as a blockquote, and below it whence it comes.
fn blockquote(text: &str, label: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + label.len() + 32);
    for line in text.lines() {
        quoted.push_str("> ");
        quoted.push_str(line);
        quoted.push('\n');
    }
    quoted + &format!("\n{label}\n\n")
}
