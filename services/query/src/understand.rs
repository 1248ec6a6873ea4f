//! What a question means: what to search for, its phrases, identifiers and language.
//!
//! A follow-up, which says nothing without what was said before, gets its topic back: by a rule
//! here, or better by the language model (`rewrite`), which only an answer waits for.

mod carry;
mod follow_up;
mod grammar;
mod identifiers;
mod language;
mod phrases;
mod rewrite;
mod script;

use shared::contract::{Question, Rewriter, Understood};

pub(crate) use rewrite::rewrite;

/// What `question` means, by rules alone. A question that stands by itself is left as it is,
/// whatever was said before.
pub(crate) fn understand(question: &Question) -> Understood {
    let typed = question.text.trim();
    let language = language::language(typed, &question.history);
    let hangs = !question.history.is_empty() && follow_up::depends(typed, language);
    let carried = hangs
        .then(|| carry::carry(typed, &question.history, language))
        .flatten();
    let rewritten = carried.is_some().then_some(Rewriter::Rule);
    let text = carried.unwrap_or_else(|| typed.to_owned());
    Understood {
        rewritten,
        language,
        phrases: phrases::phrases(&text),
        identifiers: identifiers::identifiers(&text),
        text,
    }
}

/// `understood`, with `text` of the language model in place of the rule's.
fn reworded(mut understood: Understood, text: String) -> Understood {
    understood.rewritten = Some(Rewriter::Generator);
    understood.phrases = phrases::phrases(&text);
    understood.identifiers = identifiers::identifiers(&text);
    understood.text = text;
    understood
}
