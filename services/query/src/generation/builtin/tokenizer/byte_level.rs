//! Vocabularies of GPT-2's kind: byte pairs over bytes that are written as characters.

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::unicode::NFC;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::SplitDelimiterBehavior;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

use super::super::file::{FileError, ModelFile};

/// How text is split before pairs are merged, as in each model's own `tokenizer.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Splitting {
    Gpt2,
    /// GPT-2's, after each digit has been set apart.
    Digits,
    Qwen2,
    Llama3,
}

const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

impl Splitting {
    fn of(file: &ModelFile) -> Result<Self, FileError> {
        match file.optional_text("tokenizer.ggml.pre") {
            Some("gpt-2" | "gpt2") => Ok(Self::Gpt2),
            Some("smollm" | "starcoder" | "refact") => Ok(Self::Digits),
            Some("qwen2" | "deepseek-r1-qwen") => Ok(Self::Qwen2),
            Some("llama3" | "llama-v3" | "llama-bpe" | "smaug-bpe" | "falcon3") => Ok(Self::Llama3),
            other => {
                let name = other.unwrap_or("default").escape_debug();
                Err(FileError::Unsupported(format!("its splitting `{name}`")))
            }
        }
    }

    fn pre_tokenizer(self) -> Result<PreTokenizerWrapper, FileError> {
        let gpt2 = ByteLevel::new(false, true, true);
        let pattern = match self {
            Self::Gpt2 => return Ok(gpt2.into()),
            Self::Digits => {
                return Ok(Sequence::new(vec![Digits::new(true).into(), gpt2.into()]).into());
            }
            Self::Qwen2 => QWEN2,
            Self::Llama3 => LLAMA3,
        };
        let pattern = SplitPattern::Regex(pattern.to_owned());
        let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false);
        let split = split.map_err(|error| FileError::Unsupported(error.to_string()))?;
        let bytes = ByteLevel::new(false, true, false);
        Ok(Sequence::new(vec![split.into(), bytes.into()]).into())
    }
}

/// Whether such a file wants its beginning marked when it does not say.
pub(super) fn begins_by_default(file: &ModelFile) -> bool {
    file.optional_text("tokenizer.ggml.model") == Some("gpt2")
        && matches!(Splitting::of(file), Ok(Splitting::Llama3))
}

/// Builds the tokenizer of a file with these tokens.
pub(super) fn build(file: &ModelFile, tokens: &[String]) -> Result<Tokenizer, FileError> {
    let splitting = Splitting::of(file)?;
    let damaged = |error: tokenizers::Error| FileError::Damaged(error.to_string());
    let vocabulary: Vocab = (0_u32..)
        .zip(tokens)
        .map(|(id, text)| (text.clone(), id))
        .collect();
    let merges = file.texts("tokenizer.ggml.merges")?;
    let merges = merges.iter().map(|pair| {
        let (left, right) = pair.split_once(' ')?;
        Some((left.to_owned(), right.to_owned()))
    });
    let merges = merges.collect::<Option<_>>();
    let merges = merges.ok_or_else(|| FileError::Value("tokenizer.ggml.merges".to_owned()))?;
    let pairs = BPE::builder()
        .vocab_and_merges(vocabulary, merges)
        .ignore_merges(splitting == Splitting::Llama3)
        .build()
        .map_err(damaged)?;
    let mut tokenizer = Tokenizer::new(pairs);
    tokenizer.with_pre_tokenizer(Some(splitting.pre_tokenizer()?));
    if splitting == Splitting::Qwen2 {
        tokenizer.with_normalizer(Some(NFC)).map_err(damaged)?;
    }
    Ok(tokenizer)
}

/// The bytes that a token's characters stand for: printable Latin-1 for itself, all other bytes
/// in their order from U+0100 on (Radford et al. 2019, `bytes_to_unicode`).
pub(super) fn bytes(token: &str) -> Vec<u8> {
    let byte = |c: char| {
        if is_printable(u32::from(c)) {
            return u8::try_from(c).ok();
        }
        let place = u32::from(c).checked_sub(0x100)?;
        let mut others = (0..=u8::MAX).filter(|byte| !is_printable(u32::from(*byte)));
        others.nth(usize::try_from(place).ok()?)
    };
    let mut bytes = Vec::with_capacity(token.len());
    for c in token.chars() {
        match byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn is_printable(byte: u32) -> bool {
    matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_for_bytes() {
        assert_eq!(bytes("Ġthe"), b" the");
        assert_eq!(bytes("ĊĊ"), b"\n\n");
        assert_eq!(bytes("Ã©"), "é".as_bytes());
        assert_eq!(bytes("ðŁ"), [0xf0, 0x9f]);
        assert_eq!(bytes("Ń"), [0xad]);
    }
}
