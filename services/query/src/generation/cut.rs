//! Whether a server has silently cut the prompt.

use super::Prompt;

/// Tokens that `prompt` has at the least: no vocabulary in use joins words across a space.
pub(super) fn least_tokens(prompt: &Prompt) -> u32 {
    let messages = prompt.messages.iter();
    let words: usize = messages
        .map(|message| message.content.split_whitespace().count())
        .sum();
    u32::try_from(words).unwrap_or(u32::MAX)
}

/// What people should know of a prompt of which the model has read `tokens`.
pub(super) fn note(tokens: u32) -> String {
    format!(
        "the model read only {tokens} tokens of the prompt, so some sources may be missing from \
         the answer; lower `generation.context_tokens`"
    )
}
