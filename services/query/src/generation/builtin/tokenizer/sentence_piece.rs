//! Vocabularies of `SentencePiece`'s kind: whole characters, `▁` for a space, bytes for what is
//! in no token. Such a file has scores and no merges; the merges follow from the scores.

use std::collections::HashMap;

use tokenizers::Tokenizer;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::{NormalizerWrapper, Prepend, Replace, Sequence};

use super::super::file::{FileError, ModelFile};

/// What stands for a space.
pub(super) const SPACE: &str = "▁";

/// Whether the file has such a vocabulary.
pub(super) fn is(file: &ModelFile) -> bool {
    file.optional_text("tokenizer.ggml.model") == Some("llama")
}

/// Builds the tokenizer of a file with these tokens.
pub(super) fn build(file: &ModelFile, tokens: &[String]) -> Result<Tokenizer, FileError> {
    let damaged = |error: tokenizers::Error| FileError::Damaged(error.to_string());
    let scores = file.floats("tokenizer.ggml.scores")?;
    if scores.len() != tokens.len() {
        return Err(FileError::Value("tokenizer.ggml.scores".to_owned()));
    }
    let merges = merges(tokens, &scores);
    let vocabulary: Vocab = (0_u32..)
        .zip(tokens)
        .map(|(id, text)| (text.clone(), id))
        .collect();
    let mut pairs = BPE::builder()
        .vocab_and_merges(vocabulary, merges)
        .byte_fallback(true)
        .fuse_unk(true);
    let unknown = file.optional_token("tokenizer.ggml.unknown_token_id");
    let unknown = unknown.and_then(|id| usize::try_from(id).ok());
    if let Some(text) = unknown.and_then(|index| tokens.get(index)) {
        pairs = pairs.unk_token(text.clone());
    }
    let mut tokenizer = Tokenizer::new(pairs.build().map_err(damaged)?);
    let mut steps: Vec<NormalizerWrapper> = Vec::new();
    if file
        .optional_flag("tokenizer.ggml.add_space_prefix")
        .unwrap_or(true)
    {
        steps.push(Prepend::new(SPACE.to_owned()).into());
    }
    steps.push(Replace::new(" ", SPACE).map_err(damaged)?.into());
    tokenizer
        .with_normalizer(Some(Sequence::new(steps)))
        .map_err(damaged)?;
    Ok(tokenizer)
}

/// All pairs of tokens that make a token, the highest score first: `SentencePiece` always joins
/// the neighbours whose union scores highest, and so does byte pair encoding in this order.
fn merges(tokens: &[String], scores: &[f32]) -> Vec<(String, String)> {
    let ids: HashMap<&str, usize> = tokens
        .iter()
        .enumerate()
        .map(|(id, text)| (text.as_str(), id))
        .collect();
    let mut found = Vec::new();
    for (token, score) in tokens.iter().zip(scores) {
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if let (Some(left_id), Some(right_id)) = (ids.get(left), ids.get(right)) {
                found.push((*score, (*left_id, *right_id), (left, right)));
            }
        }
    }
    found.sort_by(|(score, ids, _), (other, other_ids, _)| {
        other.total_cmp(score).then(ids.cmp(other_ids))
    });
    let pairs = found.into_iter();
    pairs
        .map(|(_, _, (left, right))| (left.to_owned(), right.to_owned()))
        .collect()
}

/// The bytes of a token: `<0x0A>` is the one byte, everything else its own text.
pub(super) fn bytes(token: &str) -> Vec<u8> {
    let byte = token
        .strip_prefix("<0x")
        .and_then(|rest| rest.strip_suffix('>'))
        .and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match byte {
        Some(byte) => vec![byte],
        None => token.replace(SPACE, " ").into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_follow_the_scores() {
        let tokens = ["a", "b", "c", "ab", "bc", "abc"].map(str::to_owned);
        let scores = [-9.0, -9.0, -9.0, -2.0, -1.0, -3.0];
        let pair = |left: &str, right: &str| (left.to_owned(), right.to_owned());
        assert_eq!(
            merges(&tokens, &scores),
            [
                pair("b", "c"),
                pair("a", "b"),
                pair("a", "bc"),
                pair("ab", "c")
            ]
        );
    }

    #[test]
    fn tokens_stand_for_bytes() {
        assert_eq!(bytes("▁the▁"), b" the ");
        assert_eq!(bytes("<0xE2>"), [0xe2]);
        assert_eq!(bytes("<0xZZ>"), b"<0xZZ>");
    }
}
