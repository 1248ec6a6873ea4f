//! What a question means: what to search for, its phrases, identifiers and language.

use shared::contract::{Question, Understood};
use shared::language::Language;

/// What `question` means by itself.
pub(crate) fn understand(question: &Question) -> Understood {
    let text = question.text.trim().to_owned();
    Understood {
        language: Language::of(&text),
        text,
        ..Understood::default()
    }
}
