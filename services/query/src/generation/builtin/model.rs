//! One model in memory, and how it answers.

use std::path::Path;
use std::time::Instant;

use shared::contract::TokenUsage;

use super::decoder::{Config, Decoder, PART, Processor};
use super::file::{FileError, ModelFile};
use super::sampler::Sampler;
use super::template::ChatTemplate;
use super::text::TextStream;
use super::tokenizer::Vocabulary;
use super::worker::{FreeMemory, Listener};
use crate::generation::{GenerateError, Message, Piece, Prompt, Stop};

const MIB: u64 = 1 << 20;
/// Room for what a step computes, and for everything else on the machine.
const HEADROOM: u64 = 256 * MIB;
/// Tokens whose keys and values must fit beside the weights.
const FIRST_TOKENS: usize = 4_096;
/// A prompt that leaves fewer tokens to the answer is refused.
const LEAST_ANSWER: usize = 16;

/// A loaded model.
pub(super) struct Model {
    name: String,
    config: Config,
    vocabulary: Vocabulary,
    template: ChatTemplate,
    decoder: Decoder,
}

impl Model {
    /// Loads the file at `path`, if memory allows.
    pub(super) fn load(
        name: &str,
        path: &Path,
        free: &FreeMemory,
        progress: &dyn Fn(),
    ) -> Result<Self, GenerateError> {
        let wrong = |error: FileError| file_error(name, &error);
        let mut file = ModelFile::open(path).map_err(wrong)?;
        let config = Config::read(&file).map_err(wrong)?;
        let beside = cache_bytes(&config, config.window.min(FIRST_TOKENS)) + HEADROOM;
        let needed = |processor| Decoder::weight_bytes(&file, processor) + beside;
        let fast = Processor::detect();
        let processor = match check_memory(name, needed(fast), free) {
            Ok(()) => fast,
            Err(_) => Processor::Sparing,
        };
        check_memory(name, needed(processor), free)?;
        progress();
        let vocabulary = Vocabulary::read(&file).map_err(wrong)?;
        if vocabulary.len() > config.vocabulary {
            return Err(wrong(FileError::Value("tokenizer.ggml.tokens".to_owned())));
        }
        progress();
        let source = file.optional_text("tokenizer.chat_template");
        let (begin, end) = (&vocabulary.begin_text, &vocabulary.end_text);
        let template = ChatTemplate::new(source, begin, end).map_err(wrong)?;
        let decoder =
            Decoder::load(&mut file, config.clone(), processor, progress).map_err(wrong)?;
        Ok(Self {
            name: name.to_owned(),
            config,
            vocabulary,
            template,
            decoder,
        })
    }

    /// Runs one token through all layers, so that the first question finds everything laid out.
    pub(super) fn warm(&mut self) -> Result<(), GenerateError> {
        self.decoder.begin(&[]);
        let warmed = self.decoder.read(&[0]);
        warmed.map(drop).map_err(|error| self.failed(error))
    }

    /// Answers, piece by piece.
    pub(super) fn answer(
        &mut self,
        prompt: &Prompt,
        free: &FreeMemory,
        listener: &Listener<'_>,
    ) -> Result<(), GenerateError> {
        let tokens = self.tokens(prompt)?;
        let wanted = usize::try_from(prompt.answer_tokens).unwrap_or(usize::MAX);
        let left = self.config.window.saturating_sub(tokens.len());
        if left < LEAST_ANSWER.min(wanted) {
            return Err(GenerateError::Window {
                model: self.name.clone(),
                needed: count(tokens.len().saturating_add(wanted)),
                window: count(self.config.window),
            });
        }
        let most = wanted.min(left);
        let all = tokens.len() + most;
        if all > FIRST_TOKENS {
            check_memory(&self.name, cache_bytes(&self.config, all) + HEADROOM, free)?;
        }
        listener.begun();

        let Some(logits) = self.read_prompt(&tokens, listener)? else {
            return Ok(());
        };
        let mut usage = TokenUsage {
            prompt_tokens: Some(count(tokens.len())),
            ..TokenUsage::default()
        };
        let Some(stop) = self.write(prompt, most, logits, (listener, &mut usage))? else {
            return Ok(());
        };
        let mut notes = Vec::new();
        if stop == Stop::AtLimit && most < wanted {
            notes.push(format!(
                "the answer ended after {most} tokens, at the end of the window of `{}`",
                self.name
            ));
        }
        listener.piece(Piece::End { usage, stop, notes });
        Ok(())
    }

    fn tokens(&self, prompt: &Prompt) -> Result<Vec<u32>, GenerateError> {
        let messages = prompt.messages.iter().map(|message| Message {
            role: message.role,
            content: self.vocabulary.harmless(&message.content),
        });
        let messages: Vec<Message> = messages.collect();
        self.template
            .render(&messages)
            .and_then(|chat| self.vocabulary.encode(&chat))
            .map_err(|error| file_error(&self.name, &error))
    }

    /// Reads a prompt in parts; gives nothing when nobody listens any more.
    fn read_prompt(
        &mut self,
        tokens: &[u32],
        listener: &Listener<'_>,
    ) -> Result<Option<Vec<f32>>, GenerateError> {
        let known = self.decoder.begin(tokens);
        let mut logits = Vec::new();
        for part in tokens.get(known..).unwrap_or_default().chunks(PART) {
            if listener.is_gone() {
                return Ok(None);
            }
            let read = self.decoder.read(part);
            logits = read.map_err(|error| self.failed(error))?;
            listener.beat();
        }
        Ok(Some(logits))
    }

    /// Writes the answer; gives nothing when nobody listens any more.
    fn write(
        &mut self,
        prompt: &Prompt,
        most: usize,
        mut logits: Vec<f32>,
        (listener, usage): (&Listener<'_>, &mut TokenUsage),
    ) -> Result<Option<Stop>, GenerateError> {
        let mut sampler = Sampler::new(prompt.temperature);
        let mut text = TextStream::default();
        let mut first = None;
        let mut stop = Stop::AtLimit;
        let mut written = 0;
        while written < most {
            // Some files have rows for tokens that do not exist.
            logits.truncate(self.vocabulary.len());
            let token = sampler.next(logits).map_err(|error| self.failed(error))?;
            if self.vocabulary.is_end(token) {
                stop = Stop::Finished;
                break;
            }
            written += 1;
            first.get_or_insert_with(Instant::now);
            let piece = text.push(self.vocabulary.bytes(token));
            if !piece.is_empty() {
                listener.piece(Piece::Text(piece));
            }
            if listener.is_gone() {
                return Ok(None);
            }
            let next = self.decoder.read(&[token]);
            logits = next.map_err(|error| self.failed(error))?;
            listener.beat();
        }
        let rest = text.finish();
        if !rest.is_empty() {
            listener.piece(Piece::Text(rest));
        }
        usage.answer_tokens = Some(count(written));
        let seconds = first.map_or(0.0, |first| first.elapsed().as_secs_f64());
        usage.tokens_per_second = (seconds > 0.0).then(|| written as f64 / seconds);
        Ok(Some(stop))
    }

    fn failed(&self, error: candle_core::Error) -> GenerateError {
        file_error(&self.name, &error.into())
    }
}

fn file_error(name: &str, error: &FileError) -> GenerateError {
    GenerateError::File {
        file: name.to_owned(),
        reason: error.to_string(),
    }
}

fn cache_bytes(config: &Config, tokens: usize) -> u64 {
    config.bytes_per_token().saturating_mul(tokens as u64)
}

fn check_memory(name: &str, needed: u64, free: &FreeMemory) -> Result<(), GenerateError> {
    match free() {
        Some(free) if free < needed => Err(GenerateError::Memory {
            model: name.to_owned(),
            needed_mib: needed.div_ceil(MIB),
            free_mib: free / MIB,
        }),
        Some(_) | None => Ok(()),
    }
}

fn count(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
