//! Counting tokens with the embedding model's own tokenizer.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use shared::contract::{ChunksMade, Sha256Hex};
use shared::settings::Model;
use tokenizers::Tokenizer;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::ChunkError;

/// Words longer than this, in bytes, are cut into pieces of at most this size. A tokenizer makes
/// at most about one token of a byte, so a piece always fits beside prefix and overlap.
const PIECE_BYTES: usize = 48;
/// White space after a word that still belongs to the word, in bytes.
const SPACE_BYTES: usize = 4 * 1024;
/// Words remembered with their counts. Real text repeats itself: 100,000 words hold nearly all of
/// a corpus, in some 10 MB.
const REMEMBERED_WORDS: usize = 100_000;

/// A tokenizer with the counts of the words it has seen.
///
/// [`TokenCounter::estimate`] sums the words' own counts, which is exact for a tokenizer that
/// splits at white space first (WordPiece) and close for others; [`TokenCounter::exact`] asks the
/// tokenizer for the whole text.
pub struct TokenCounter {
    tokenizer: Tokenizer,
    special: u32,
    hash: Sha256Hex,
    words: Mutex<HashMap<Box<str>, u32>>,
}

/// The part of `model.json` that concerns the chunker.
#[derive(Deserialize)]
struct ModelFile {
    window: u32,
}

/// What chunks and their messages must fit.
pub struct Budget {
    /// Tokens the model reads, special tokens included.
    pub window: u32,
    /// Most chunks in one message.
    pub batch_chunks: usize,
    /// Counts them.
    pub tokenizer: TokenCounter,
}

impl Budget {
    /// The least window, in tokens: special tokens, an overlap of an eighth, 64 tokens of text,
    /// and some heading.
    pub const LEAST_WINDOW: u32 = 96;
    /// Most chunks in one message for a model on a server. Its vectors may have 8,192 dimensions,
    /// of which 16 fit beside the text under the bus limit of 1 MiB.
    pub const SERVER_BATCH_CHUNKS: usize = 16;

    /// A budget of `window` tokens.
    ///
    /// # Errors
    /// When the window is under [`Self::LEAST_WINDOW`].
    pub fn new(window: u32, tokenizer: TokenCounter) -> Result<Self, ChunkError> {
        if window < Self::LEAST_WINDOW {
            return Err(ChunkError::WindowTooSmall {
                window,
                least: Self::LEAST_WINDOW,
            });
        }
        Ok(Self {
            window,
            batch_chunks: ChunksMade::MAX_CHUNKS,
            tokenizer,
        })
    }

    /// Tokens of a table's header at most, to be repeated where the table goes on: a third of the
    /// window.
    pub(crate) fn most_header(&self) -> u32 {
        self.window / 3
    }

    /// The budget of the model that the settings name.
    ///
    /// # Errors
    /// As [`Budget::open`].
    pub fn of(model: &Model) -> Result<Self, ChunkError> {
        let folder = model.folder();
        if !model.on_server() {
            return Self::open(&folder);
        }
        let tokenizer = TokenCounter::open(&folder)?;
        Ok(Self {
            batch_chunks: Self::SERVER_BATCH_CHUNKS,
            ..Self::new(model.window_tokens, tokenizer)?
        })
    }

    /// The budget of the imported model in `folder`: its `tokenizer.json`, and the window in its
    /// `model.json`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the window too small.
    pub fn open(folder: &Path) -> Result<Self, ChunkError> {
        let (path, bytes) = read(folder, "model.json")?;
        let model: ModelFile =
            serde_json::from_slice(&bytes).map_err(|e| ChunkError::ModelFile {
                path,
                source: e.into(),
            })?;
        Self::new(model.window, TokenCounter::open(folder)?)
    }
}

impl TokenCounter {
    /// The `tokenizer.json` in `folder`.
    ///
    /// # Errors
    /// When it is missing or no tokenizer.
    pub fn open(folder: &Path) -> Result<Self, ChunkError> {
        let (path, bytes) = read(folder, "tokenizer.json")?;
        Self::from_bytes(&bytes).map_err(|source| ChunkError::ModelFile {
            path,
            source: source.into(),
        })
    }

    /// The tokenizer in the bytes of a `tokenizer.json`. Its own truncation and padding, made for
    /// some other window, are switched off.
    ///
    /// # Errors
    /// When the bytes are no tokenizer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ChunkError> {
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(ChunkError::Tokenize)?;
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(ChunkError::Tokenize)?;
        let special = tokenizer
            .encode_fast("", true)
            .map_err(ChunkError::Tokenize)?
            .len();
        Ok(Self {
            tokenizer,
            special: as_u32(special),
            hash: Sha256Hex::of(bytes),
            words: Mutex::default(),
        })
    }

    /// SHA-256 of the tokenizer file.
    pub fn hash(&self) -> &Sha256Hex {
        &self.hash
    }

    /// Special tokens around every text.
    pub fn special(&self) -> u32 {
        self.special
    }

    /// Tokens of `text`, special tokens included.
    ///
    /// # Errors
    /// When the tokenizer refuses the text.
    pub fn exact(&self, text: &str) -> Result<u32, ChunkError> {
        let encoding = self
            .tokenizer
            .encode_fast(text, true)
            .map_err(ChunkError::Tokenize)?;
        Ok(as_u32(encoding.len()))
    }

    /// About how many tokens `text` has, special tokens not included.
    ///
    /// # Errors
    /// When the tokenizer refuses a word.
    pub fn estimate(&self, text: &str) -> Result<u32, ChunkError> {
        let mut total = 0;
        for atom in self.atoms(text) {
            total += atom?.tokens;
        }
        Ok(total)
    }

    /// The words of `text` with the white space after them, long words in pieces; together they
    /// cover the text.
    pub(crate) fn atoms<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = Result<Atom, ChunkError>> + 'a {
        Words { text, at: 0 }.map(|word| {
            let tokens = self.word(text.get(word.clone()).unwrap_or_default().trim())?;
            Ok(Atom {
                range: word,
                tokens,
            })
        })
    }

    fn word(&self, word: &str) -> Result<u32, ChunkError> {
        if word.is_empty() {
            return Ok(0);
        }
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = words.get(word) {
            return Ok(*tokens);
        }
        let encoding = self
            .tokenizer
            .encode_fast(word, false)
            .map_err(ChunkError::Tokenize)?;
        let tokens = as_u32(encoding.len());
        if words.len() < REMEMBERED_WORDS {
            words.insert(word.into(), tokens);
        }
        Ok(tokens)
    }
}

fn read(folder: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), ChunkError> {
    let path = folder.join(name);
    let bytes = std::fs::read(&path).map_err(|error| ChunkError::ModelFile {
        path: path.clone(),
        source: error.into(),
    })?;
    Ok((path, bytes))
}

/// A piece of text that is not cut further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Atom {
    /// Bytes within the text given.
    pub(crate) range: Range<usize>,
    /// Its tokens.
    pub(crate) tokens: u32,
}

/// Ranges of words, each with the white space after it.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let head = start_of(rest, 2 * PIECE_BYTES);
        let word = head.find(char::is_whitespace).unwrap_or(head.len());
        let length = if word > PIECE_BYTES {
            piece(start_of(head, word))
        } else {
            let after = start_of(rest.get(word..).unwrap_or_default(), SPACE_BYTES);
            word + after
                .find(|c: char| !c.is_whitespace())
                .unwrap_or(after.len())
        };
        let range = self.at..self.at + length;
        self.at = range.end;
        Some(range)
    }
}

/// Length of the first piece of a long word: one word by Unicode's rules (a Han character is one),
/// or [`PIECE_BYTES`] of it.
fn piece(word: &str) -> usize {
    let first = word.split_word_bounds().next().map_or(word.len(), str::len);
    if first <= PIECE_BYTES {
        first
    } else {
        word.floor_char_boundary(PIECE_BYTES)
    }
}

/// At most `bytes` of `text`. Looking no further keeps a megabyte without a space, or of nothing
/// else, from being looked at again for every piece of it.
fn start_of(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn as_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
