//! `ibid model import`: a sentence-transformers folder becomes a model that the embedder runs.
//!
//! The folder's weights are laid out as an ONNX graph of ONNX Runtime's fused operators, once in
//! `f32` and once with dynamic `int8` matrices. Nothing of it is random or dated: the same folder
//! gives the same bytes.

mod bert;
mod folder;
mod graph;
mod onnx;
mod quantise;
mod weights;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use shared::settings::Precision;

use self::folder::Folder;
use self::graph::Written;
use self::weights::Weights;
use crate::error::ImportError;
use crate::model::{CARD_FILE, ModelCard, PRECISIONS, TOKENIZER_FILE, graph_file};

/// What an import has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// The model's description, as written to `model.json`.
    pub card: ModelCard,
    /// The folder that holds it now.
    pub folder: PathBuf,
}

/// Imports the BERT-family sentence-transformers folder `dir` as the model folder `out`, whose
/// last component names the model.
///
/// A folder with `onnx/model.onnx` is taken as it is; otherwise `model.safetensors` is converted.
/// `out` appears, or is replaced, only when all of it is on disk.
///
/// # Errors
/// When files are missing or damaged, when the architecture is not one that is known to be
/// computed right, or when writing fails; nothing is left behind then.
pub fn import_model(dir: &Path, out: &Path) -> Result<ImportReport, ImportError> {
    let name = out
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if !is_model_name(&name) {
        return Err(ImportError::Name { name });
    }
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(parent).map_err(ImportError::write(parent))?;
    let work = parent.join(format!(".{name}.{}.part", std::process::id()));
    remove_if_there(&work)?;

    let folder = Folder::read(dir)?;
    let made = write_model(&folder, &name, &work).and_then(|card| {
        replace(&work, out)?;
        sync_folder(parent)?;
        Ok(ImportReport {
            card,
            folder: out.to_owned(),
        })
    });
    if made.is_err() {
        // The error that stopped the import is the one to report.
        drop(remove_if_there(&work));
    }
    made
}

/// The model's name becomes part of a `ModelId`, which adds the precision.
fn is_model_name(name: &str) -> bool {
    (1..=90).contains(&name.len())
        && !name.starts_with('.')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn write_model(folder: &Folder, name: &str, work: &Path) -> Result<ModelCard, ImportError> {
    fs::create_dir_all(work).map_err(ImportError::write(work))?;
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let tokenizer = copy(&folder.path.join(TOKENIZER_FILE), work, TOKENIZER_FILE)?;
    let tokenizer_sha256 = tokenizer.1.clone();
    files.extend([tokenizer]);
    if folder.has_onnx() {
        files.extend(copy_onnx(folder, work)?);
    } else {
        let bytes = folder.weights()?;
        let weights = Weights::parse(&folder.weights_path(), &bytes)?;
        for precision in PRECISIONS {
            files.extend(bert::write(&folder.config, &weights, precision, work)?);
        }
    }
    let card = ModelCard {
        name: name.to_owned(),
        dimension: folder.config.hidden_size,
        window: folder.window,
        pooling: folder.pooling,
        prompts: folder.prompts.clone(),
        tokenizer_sha256,
        files,
    };
    let path = work.join(CARD_FILE);
    card.write(&path).map_err(ImportError::write(&path))?;
    sync_folder(work)?;
    Ok(card)
}

/// Copies the graphs that the folder brings, under the names the embedder looks for.
fn copy_onnx(folder: &Folder, work: &Path) -> Result<Vec<Written>, ImportError> {
    let onnx = folder.path.join("onnx");
    let mut written = vec![copy(
        &onnx.join("model.onnx"),
        work,
        graph_file(Precision::Fp32),
    )?];
    // Weights beside a graph are found by the name that the graph gives, so they keep it.
    for data in ["model.onnx_data", "model.onnx.data"] {
        if onnx.join(data).is_file() {
            written.push(copy(&onnx.join(data), work, data)?);
        }
    }
    for quantised in ["model_int8.onnx", "model_quantized.onnx"] {
        if onnx.join(quantised).is_file() {
            written.push(copy(
                &onnx.join(quantised),
                work,
                graph_file(Precision::Int8),
            )?);
            break;
        }
    }
    Ok(written)
}

fn copy(from: &Path, work: &Path, name: &str) -> Result<Written, ImportError> {
    let to = work.join(name);
    let bytes = fs::read(from).map_err(ImportError::read(from))?;
    fs::write(&to, &bytes).map_err(ImportError::write(&to))?;
    sync(&to)?;
    Ok((name.to_owned(), hex::encode(Sha256::digest(&bytes))))
}

fn sync(file: &Path) -> Result<(), ImportError> {
    File::open(file)
        .and_then(|file| file.sync_all())
        .map_err(ImportError::write(file))
}

/// Makes the names in `folder` durable; their files have been synced before.
fn sync_folder(folder: &Path) -> Result<(), ImportError> {
    sync(folder)
}

/// Puts `work` at `out`. A model that stood there is moved aside first, so that a reader finds
/// the old one, none, or the new one, never a mixture.
fn replace(work: &Path, out: &Path) -> Result<(), ImportError> {
    let aside = work.with_extension("old");
    remove_if_there(&aside)?;
    if out.exists() {
        fs::rename(out, &aside).map_err(ImportError::write(out))?;
    }
    fs::rename(work, out).map_err(ImportError::write(out))?;
    remove_if_there(&aside)
}

fn remove_if_there(folder: &Path) -> Result<(), ImportError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ImportError::write(folder)(error))
        }
        _ => Ok(()),
    }
}
