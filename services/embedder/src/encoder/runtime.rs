//! Loading ONNX Runtime's library.

use std::path::Path;

use ort::environment::Environment;
use ort::logging::LogLevel;
use parking_lot::Mutex;

use crate::error::EncodeError;

/// A process may make one environment, once; it lives as long as the process.
static LOADED: Mutex<Option<Environment>> = Mutex::new(None);

/// ONNX Runtime, loaded. Cheap to clone; a process has one library, whichever was loaded first.
#[derive(Clone)]
pub struct Runtime(Environment);

impl Runtime {
    /// Loads the library `path`, unless one is loaded already. Its telemetry is off.
    ///
    /// # Errors
    /// [`EncodeError::Runtime`] when it is missing or too old.
    pub fn load(path: &Path) -> Result<Self, EncodeError> {
        let error = |reason: String| EncodeError::Runtime {
            path: path.to_owned(),
            reason,
        };
        let mut loaded = LOADED.lock();
        if let Some(environment) = loaded.as_ref() {
            return Ok(Self(environment.clone()));
        }
        // A missing file would otherwise be looked for in the system's library folders.
        std::fs::metadata(path).map_err(|cause| error(cause.to_string()))?;
        let environment = ort::init_from(path)
            .map_err(|cause| error(cause.to_string()))?
            .with_name("ibid")
            .with_telemetry(false)
            .build()
            .map_err(|cause| error(cause.to_string()))?;
        environment.set_log_level(LogLevel::Error);
        Ok(Self(loaded.insert(environment).clone()))
    }

    /// The environment, of which a process has one: for programs with sessions of their own.
    pub fn environment(&self) -> &Environment {
        &self.0
    }
}
