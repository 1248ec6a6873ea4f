//! An answer on the terminal: its text as it comes, then the sources it cites, then who spoke.

use std::io;

use futures::StreamExt as _;
use shared::contract::{
    AnswerEvent, Citation, GeneratorId, LeftOut, Question, Source, Timings, TokenUsage,
};

use super::search::{indented, labelled, searched_for};
use crate::client::Gateway;
use crate::error::Complaint;
use crate::output::{self, count, style};

/// An answer that came to its end.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// Its text, Markdown.
    pub(super) text: String,
    /// What it could rest on.
    pub(super) sources: Vec<Source>,
}

/// Asks, and prints the answer as it comes; with `json`, one event a line.
///
/// # Errors
/// When the answer does not come to its end.
pub(super) async fn show(
    gateway: &Gateway,
    question: &Question,
    json: bool,
) -> Result<Whole, Complaint> {
    let events = gateway.ask(question).await?;
    let mut events = std::pin::pin!(events);
    let mut whole = Whole::default();
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                end_line(&whole, json)?;
                return Err(error.into());
            }
        };
        if json {
            output::json_line(&event)?;
        }
        match event {
            AnswerEvent::Sources {
                sources,
                understood,
                ..
            } => {
                if !json {
                    searched_for(&understood)?;
                }
                whole.sources = sources;
            }
            AnswerEvent::Token { text } => {
                if !json {
                    output::piece(&output::text(&text))?;
                }
                whole.text.push_str(&text);
            }
            AnswerEvent::Error { error } => {
                end_line(&whole, json)?;
                return Err(error.into());
            }
            AnswerEvent::Done { .. } if json => return Ok(whole),
            AnswerEvent::Done {
                generator,
                timings,
                usage,
                left_out,
                answered,
                citations,
                notes,
            } => {
                end_line(&whole, json)?;
                if !whole.text.ends_with("\n\n") {
                    output::line("")?;
                }
                cited(&whole.sources, &citations, answered)?;
                for note in notes {
                    let note = format!("note: {}", output::text(&note));
                    output::line(style().yellow().apply_to(note))?;
                }
                let spoke = spoke(&generator, &timings, &usage, left_out);
                output::line(style().dim().apply_to(spoke))?;
                return Ok(whole);
            }
        }
    }
    end_line(&whole, json)?;
    Err(Complaint::new(
        "the answer broke off",
        "ask again; see the log of `ibid up`",
    ))
}

/// What comes next begins on a line of its own.
fn end_line(whole: &Whole, json: bool) -> io::Result<()> {
    if json || whole.text.is_empty() || whole.text.ends_with('\n') {
        return Ok(());
    }
    output::line("")
}

/// The cited sources; all of them when an answer names none, so that it can be checked.
fn cited(sources: &[Source], citations: &[Citation], answered: bool) -> io::Result<()> {
    if citations.is_empty() && answered && !sources.is_empty() {
        output::line("passages found:")?;
        return sources.iter().try_for_each(|source| tell(source, false));
    }
    for citation in citations {
        if let Some(source) = sources.iter().find(|one| one.number == citation.number) {
            tell(source, false)?;
        }
    }
    Ok(())
}

/// A source with its path, and with the beginning of its text if wanted.
///
/// # Errors
/// When standard output is closed.
pub(super) fn tell(source: &Source, preview: bool) -> io::Result<()> {
    output::line(labelled(source.number, &source.label, &source.path))?;
    if preview {
        output::line(indented(&source.preview))?;
    }
    Ok(())
}

/// `ollama/llama3.2, first token 420 ms, 3.1 s in all, 25.0 tokens/s; left out: 2 passages`.
fn spoke(
    generator: &GeneratorId,
    timings: &Timings,
    usage: &TokenUsage,
    left_out: LeftOut,
) -> String {
    let mut parts = vec![output::name(&generator.to_string())];
    if timings.first_token_ms > 0.0 {
        parts.push(format!("first token {}", time(timings.first_token_ms)));
    }
    parts.push(format!("{} in all", time(timings.total_ms)));
    if let Some(rate) = usage.tokens_per_second {
        parts.push(format!("{rate:.1} tokens/s"));
    }
    let mut left = Vec::new();
    if left_out.sources > 0 {
        left.push(count(left_out.sources.into(), "passage"));
    }
    if left_out.turns > 0 {
        left.push(count(left_out.turns.into(), "earlier turn"));
    }
    let mut said = vec![parts.join(", ")];
    if !left.is_empty() {
        said.push(format!("left out for room: {}", left.join(", ")));
    }
    if left_out.answer_cut {
        said.push("the answer was cut at its limit (`generation.answer_tokens`)".to_owned());
    }
    said.join("; ")
}

fn time(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.1} s", ms / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_who_spoke_how_fast_and_what_was_left_out() {
        let generator: GeneratorId = "ollama/llama3.2".parse().unwrap();
        let timings = Timings {
            first_token_ms: 420.4,
            total_ms: 3100.0,
            ..Timings::default()
        };
        let usage = TokenUsage {
            tokens_per_second: Some(24.96),
            ..TokenUsage::default()
        };
        let left_out = LeftOut {
            sources: 2,
            turns: 1,
            answer_cut: true,
        };
        assert_eq!(
            spoke(&generator, &timings, &usage, left_out),
            "ollama/llama3.2, first token 420 ms, 3.1 s in all, 25.0 tokens/s; left out for room: \
             2 passages, 1 earlier turn; the answer was cut at its limit \
             (`generation.answer_tokens`)"
        );
        let quick = Timings {
            total_ms: 12.0,
            ..Timings::default()
        };
        let extractive: GeneratorId = "extractive".parse().unwrap();
        assert_eq!(
            spoke(
                &extractive,
                &quick,
                &TokenUsage::default(),
                LeftOut::default()
            ),
            "extractive, 12 ms in all"
        );
    }
}
