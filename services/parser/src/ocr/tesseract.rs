//! Tesseract, run as a program within limits.

use std::io;
use std::time::Duration;

use crate::extract::{Ocr, OcrError, Picture, Recognized};
use crate::pool::Launcher;
use crate::wire::Recognition;

use super::install::Installed;
use super::{process, words};

/// Address space. Version 5 took 150 MB for a picture of 8 million pixels and 361 MB for one of 63
/// million; more languages take more.
const MEMORY_BYTES: u64 = 3 << 30;
/// Resolutions that a picture may truly have. Tesseract guesses others from the letters' height.
const LIKELY_DPI: std::ops::RangeInclusive<u32> = 70..=1200;

/// The program with what it reads by.
#[derive(Debug, Clone)]
pub struct Tesseract {
    launcher: Launcher,
    installed: Installed,
    languages: String,
    limit: Duration,
}

impl Tesseract {
    /// Reads `languages` with `installed`; a picture may take `limit`. `launcher` starts a child
    /// of this program.
    pub fn new(
        launcher: Launcher,
        installed: Installed,
        languages: &[String],
        limit: Duration,
    ) -> Self {
        Self {
            launcher,
            installed,
            languages: languages.join("+"),
            limit,
        }
    }

    fn recognition(&self, picture: &Picture) -> Recognition {
        let mut arguments: Vec<String> = ["stdin", "stdout", "-l", &self.languages, "--psm"]
            .map(str::to_owned)
            .to_vec();
        // 1: layout with orientation, 3: layout alone.
        let layout = if self.installed.sees_orientation {
            "1"
        } else {
            "3"
        };
        arguments.push(layout.to_owned());
        if LIKELY_DPI.contains(&picture.dpi) {
            arguments.extend(["--dpi".to_owned(), picture.dpi.to_string()]);
        }
        // Black and white by the surroundings: text on coloured cells would be taken for pictures.
        arguments.extend(["-c", "thresholding_method=1", "tsv"].map(str::to_owned));
        let mut environment = vec![("OMP_THREAD_LIMIT".to_owned(), "1".to_owned())];
        if let Some(data) = &self.installed.data {
            environment.push(("TESSDATA_PREFIX".to_owned(), data.clone()));
        }
        Recognition {
            parent: rustix::process::getpid().as_raw_pid(),
            program: self.installed.program.clone(),
            arguments,
            environment,
            memory_bytes: MEMORY_BYTES,
            cpu_secs: self.limit.as_secs(),
        }
    }
}

impl Ocr for Tesseract {
    fn read(&self, picture: &Picture) -> Result<Recognized, OcrError> {
        let count = Picture::pixels_of(picture.width, picture.height);
        if count != Some(picture.pixels.len()) {
            return Err(OcrError::Failed("the picture is too large".to_owned()));
        }
        let output = process::run(
            &self.launcher,
            self.recognition(picture),
            picture,
            self.limit,
        );
        match output {
            Ok(output) => Ok(words::assemble(&output)),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(OcrError::Failed(
                format!("OCR took longer than {} s", self.limit.as_secs()),
            )),
            Err(error) => {
                tracing::warn!(%error, "the OCR program failed on a picture");
                Err(OcrError::Failed("the OCR program failed on it".to_owned()))
            }
        }
    }
}
