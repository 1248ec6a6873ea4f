//! A GGUF file: what its header says, checked before anything is built from it.
//!
//! Keys and layout: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use candle_core::quantized::gguf_file::{Content, TensorInfo, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Shape};

/// Why a file is no model that can be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    /// Not readable.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// Not GGUF, or damaged within.
    #[error("it is damaged, or no GGUF ({0})")]
    Damaged(String),
    /// Shorter than its header says.
    #[error("it is cut off: {bytes} of {expected} bytes are there; fetch it again")]
    Cut {
        /// What is there.
        bytes: u64,
        /// What should be.
        expected: u64,
    },
    /// Something else is in it.
    #[error("its architecture is `{0}`")]
    Architecture(String),
    /// A value that is missing or impossible.
    #[error("`{0}` is missing or wrong in it")]
    Value(String),
    /// A part that this engine does not know.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// What stands in its template.
    #[error("its chat template fails: {0}")]
    Template(String),
}

impl From<candle_core::Error> for FileError {
    fn from(error: candle_core::Error) -> Self {
        // With RUST_BACKTRACE set the text goes on for pages.
        let text = error.to_string();
        Self::Damaged(text.lines().next().unwrap_or_default().to_owned())
    }
}

/// The architectures that can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    Llama,
    Qwen2,
    Qwen3,
    Gemma3,
}

impl Architecture {
    const ALL: [Self; 4] = [Self::Llama, Self::Qwen2, Self::Qwen3, Self::Gemma3];

    /// As in `general.architecture`; all its keys begin with it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Gemma3 => "gemma3",
        }
    }
}

/// An open file and its header.
pub(super) struct ModelFile {
    /// What is in it.
    pub(super) architecture: Architecture,
    /// Its size.
    pub(super) bytes: u64,
    content: Content,
    reader: BufReader<File>,
}

impl ModelFile {
    /// Reads the header of the file at `path`, and checks that all tensors it names are there.
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let content = Content::read(&mut reader)?;
        let name = content.metadata.get("general.architecture");
        let name = name.and_then(|value| value.to_string().ok());
        let name = name.ok_or_else(|| FileError::Value("general.architecture".to_owned()))?;
        let architecture = Architecture::ALL
            .into_iter()
            .find(|known| known.name() == name)
            .ok_or_else(|| FileError::Architecture(name.escape_debug().take(40).collect()))?;
        let file = Self {
            architecture,
            bytes,
            content,
            reader,
        };
        file.check_tensors()?;
        Ok(file)
    }

    fn check_tensors(&self) -> Result<(), FileError> {
        let mut expected = 0;
        for (name, info) in &self.content.tensor_infos {
            let wrong = || FileError::Value(name.escape_debug().take(80).collect());
            let bytes = stored_bytes(info.ggml_dtype, &info.shape).ok_or_else(wrong)?;
            let end = self.content.tensor_data_offset.checked_add(info.offset);
            let end = end.and_then(|start| start.checked_add(bytes));
            expected = expected.max(end.ok_or_else(wrong)?);
        }
        if expected > self.bytes {
            return Err(FileError::Cut {
                bytes: self.bytes,
                expected,
            });
        }
        Ok(())
    }

    /// What the header says of a tensor.
    pub(super) fn info(&self, name: &str) -> Option<&TensorInfo> {
        self.content.tensor_infos.get(name)
    }

    /// All tensors: how they are stored, and their shapes.
    pub(super) fn infos(&self) -> impl Iterator<Item = (&str, &TensorInfo)> {
        let infos = self.content.tensor_infos.iter();
        infos.map(|(name, info)| (name.as_str(), info))
    }

    /// Reads a tensor, which must have this shape.
    pub(super) fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<QTensor, FileError> {
        let wrong = || FileError::Value(name.to_owned());
        if self.info(name).ok_or_else(wrong)?.shape.dims() != shape {
            return Err(wrong());
        }
        let content = &self.content;
        Ok(content.tensor(&mut self.reader, name, &Device::Cpu)?)
    }

    /// Reads a tensor if it is there.
    pub(super) fn optional_tensor(
        &mut self,
        name: &str,
        shape: &[usize],
    ) -> Result<Option<QTensor>, FileError> {
        self.info(name)
            .is_some()
            .then(|| self.tensor(name, shape))
            .transpose()
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.content.metadata.get(key)
    }

    fn own(&self, key: &str) -> String {
        format!("{}.{key}", self.architecture.name())
    }

    /// A whole number under a key of the architecture, if it is there.
    pub(super) fn optional_number(&self, key: &str) -> Option<usize> {
        let number = integer(self.value(&self.own(key))?)?;
        usize::try_from(number).ok()
    }

    /// A whole number from 1 to `most` under a key of the architecture.
    pub(super) fn number(&self, key: &str, most: usize) -> Result<usize, FileError> {
        self.optional_number(key)
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| FileError::Value(self.own(key)))
    }

    /// A number under a key of the architecture, if it is there.
    pub(super) fn optional_float(&self, key: &str) -> Option<f32> {
        match self.value(&self.own(key))? {
            Value::F32(float) => Some(*float),
            #[expect(clippy::cast_possible_truncation, reason = "a parameter near 1")]
            Value::F64(float) => Some(*float as f32),
            _ => None,
        }
    }

    /// A text under a key of the architecture, if it is there.
    pub(super) fn optional_own_text(&self, key: &str) -> Option<&str> {
        self.optional_text(&self.own(key))
    }

    /// A text under any key, if it is there.
    pub(super) fn optional_text(&self, key: &str) -> Option<&str> {
        match self.value(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A truth value under any key, if it is there.
    pub(super) fn optional_flag(&self, key: &str) -> Option<bool> {
        match self.value(key)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A token's id under any key, if it is there.
    pub(super) fn optional_token(&self, key: &str) -> Option<u32> {
        u32::try_from(integer(self.value(key)?)?).ok()
    }

    /// The texts of a list; empty when it is not there.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, FileError> {
        self.list(key, |value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// The whole numbers of a list; empty when it is not there.
    pub(super) fn integers(&self, key: &str) -> Result<Vec<i64>, FileError> {
        self.list(key, integer)
    }

    /// The numbers of a list; empty when it is not there.
    pub(super) fn floats(&self, key: &str) -> Result<Vec<f32>, FileError> {
        self.list(key, |value| match value {
            Value::F32(float) => Some(*float),
            _ => None,
        })
    }

    fn list<T>(&self, key: &str, each: fn(&Value) -> Option<T>) -> Result<Vec<T>, FileError> {
        let values = match self.value(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(values)) => values.iter().map(each).collect(),
            Some(_) => None,
        };
        values.ok_or_else(|| FileError::Value(key.to_owned()))
    }
}

/// Bytes that a tensor takes in the file; `None` for a shape that cannot be.
fn stored_bytes(stored: GgmlDType, shape: &Shape) -> Option<u64> {
    let dims = shape.dims().iter();
    let elements = dims
        .map(|dim| u64::try_from(*dim).ok())
        .try_fold(1_u64, |all, dim| all.checked_mul(dim?))?;
    let block = u64::try_from(stored.block_size()).ok()?;
    let size = u64::try_from(stored.type_size()).ok()?;
    if elements == 0 || elements % block != 0 {
        return None;
    }
    (elements / block).checked_mul(size)
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::U8(number) => Some(i64::from(*number)),
        Value::I8(number) => Some(i64::from(*number)),
        Value::U16(number) => Some(i64::from(*number)),
        Value::I16(number) => Some(i64::from(*number)),
        Value::U32(number) => Some(i64::from(*number)),
        Value::I32(number) => Some(i64::from(*number)),
        Value::U64(number) => i64::try_from(*number).ok(),
        Value::I64(number) => Some(*number),
        _ => None,
    }
}
