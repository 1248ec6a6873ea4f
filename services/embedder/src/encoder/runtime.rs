//! Loading ONNX Runtime's library.

use std::path::Path;

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::error::EncodeError;

/// ONNX Runtime, loaded. Cheap to clone; a process has one library, whichever was loaded first.
#[derive(Clone)]
pub struct Runtime(Environment);

impl Runtime {
    /// Loads the library `path` and reports nothing to anyone.
    ///
    /// # Errors
    /// [`EncodeError::Runtime`] when it is missing or too old.
    pub fn load(path: &Path) -> Result<Self, EncodeError> {
        let error =
            |reason: String| EncodeError::Runtime { path: path.to_owned(), reason };
        // A missing file would otherwise be looked for in the system's library folders.
        std::fs::metadata(path).map_err(|cause| error(cause.to_string()))?;
        let environment = ort::init_from(path)
            .map_err(|cause| error(cause.to_string()))?
            .with_name("ibid")
            .with_telemetry(false)
            .build()
            .map_err(|cause| error(cause.to_string()))?;
        environment.set_log_level(LogLevel::Error);
        Ok(Self(environment))
    }

    /// The environment, of which a process has one: for programs with sessions of their own.
    pub fn environment(&self) -> &Environment {
        &self.0
    }
}
