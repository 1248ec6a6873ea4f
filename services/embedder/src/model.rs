//! An imported model: its card, its files, its tokenizer.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shared::contract::{EncoderDescription, ModelId};
use shared::settings::{self, Precision};

use crate::error::ModelError;
use crate::tokens::Tokens;

/// The card's file name in a model folder.
pub const CARD_FILE: &str = "model.json";
/// The tokenizer's file name in a model folder.
pub const TOKENIZER_FILE: &str = "tokenizer.json";

/// All precisions a model is imported at.
pub const PRECISIONS: [Precision; 2] = [Precision::Fp32, Precision::Int8];

/// The file name of the graph at `precision` in a model folder.
pub fn graph_file(precision: Precision) -> &'static str {
    match precision {
        Precision::Fp32 => "model.onnx",
        Precision::Int8 => "model-int8.onnx",
    }
}

/// How the vectors of a text's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean, padding left out.
    Mean,
    /// The first token's.
    Cls,
}

/// What the model wants put before a text; empty for most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompts {
    /// Before a question.
    pub query: String,
    /// Before a piece of a document.
    pub document: String,
}

/// `model.json`: what the embedder must know of a model beside its graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    /// The model's name, that of its folder.
    pub name: String,
    /// Length of its vectors, which are always of unit length.
    pub dimension: usize,
    /// Most tokens of a chunk, special tokens included; room for the document prompt has been
    /// taken off.
    pub window: usize,
    /// How one vector is made of many.
    pub pooling: Pooling,
    /// What goes before a text.
    pub prompts: Prompts,
    /// SHA-256 (hex) of `tokenizer.json`.
    pub tokenizer_sha256: String,
    /// Every other file of the folder with its SHA-256 (hex).
    pub files: BTreeMap<String, String>,
}

impl ModelCard {
    /// Reads the card of the model in `folder`.
    ///
    /// # Errors
    /// When there is none or it does not decode.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(CARD_FILE);
        let bytes = fs::read(&path).map_err(read_error(&path))?;
        serde_json::from_slice(&bytes).map_err(|source| ModelError::Card { path, source })
    }

    /// Writes the card and syncs it to disk.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let mut file = File::create(path)?;
        file.write_all(&text)?;
        file.sync_all()
    }

    /// Whether the folder holds the model at `precision`.
    pub fn has(&self, precision: Precision) -> bool {
        self.files.contains_key(graph_file(precision))
    }

    /// Checks all files in `folder` against their hashes; some 0.2 s for a model of 90 MB.
    ///
    /// # Errors
    /// [`ModelError::Changed`] or [`ModelError::Read`] for the first file that is not right.
    pub fn verify(&self, folder: &Path) -> Result<(), ModelError> {
        self.files
            .keys()
            .try_for_each(|name| self.verify_file(folder, name))
    }

    fn verify_file(&self, folder: &Path, name: &str) -> Result<(), ModelError> {
        let path = folder.join(name);
        let mut hash = Sha256::new();
        let mut file = File::open(&path).map_err(read_error(&path))?;
        io::copy(&mut file, &mut hash).map_err(read_error(&path))?;
        if self.files.get(name) == Some(&hex::encode(hash.finalize())) {
            Ok(())
        } else {
            Err(ModelError::Changed { path })
        }
    }
}

/// A model ready to be run: checked files and a loaded tokenizer.
pub struct Model {
    /// Its id, the precision included: vectors of two precisions are not compared.
    pub id: ModelId,
    /// Where its files lie.
    pub folder: PathBuf,
    /// What it is.
    pub card: ModelCard,
    /// How its linear layers are computed.
    pub precision: Precision,
    /// Turns text into token ids.
    pub tokens: Tokens,
}

impl Model {
    /// Opens the model in `folder`, all of whose files must be as they were imported.
    ///
    /// # Errors
    /// When files are missing or changed, or the model is not there at `precision`.
    pub fn open(folder: &Path, precision: Precision) -> Result<Self, ModelError> {
        let card = ModelCard::read(folder)?;
        let id = settings::Model {
            name: card.name.clone(),
            precision,
            ..settings::Model::default()
        }
        .id()?;
        if !card.has(precision) {
            return Err(ModelError::Precision { model: id });
        }
        for name in card.files.keys() {
            // The other precision's graph and weights are not going to be read.
            let mut others = PRECISIONS.iter().filter(|other| **other != precision);
            if !others.any(|other| name.starts_with(graph_file(*other))) {
                card.verify_file(folder, name)?;
            }
        }
        let tokens = Tokens::open(&folder.join(TOKENIZER_FILE), &card)?;
        Ok(Self {
            id,
            folder: folder.to_owned(),
            card,
            precision,
            tokens,
        })
    }

    /// What it is, as told to other services.
    pub fn describe(&self) -> EncoderDescription {
        EncoderDescription {
            model: self.id.clone(),
            dimension: small(self.card.dimension),
            window: small(self.card.window),
            tokenizer_hash: self.card.tokenizer_sha256.clone(),
        }
    }

    /// The graph's file.
    pub fn graph(&self) -> PathBuf {
        self.folder.join(graph_file(self.precision))
    }
}

pub(crate) fn read_error(path: &Path) -> impl FnOnce(io::Error) -> ModelError {
    let path = path.to_owned();
    move |source| ModelError::Read { path, source }
}

/// Dimensions and windows are far below `u32`'s range.
fn small(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
