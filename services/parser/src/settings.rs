//! Section `parser` of the settings.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::settings::assets_dir;

use crate::extract::SecondReader;
use crate::ocr::{self, Installed, OcrPlan, OcrReader, Tesseract};
use crate::pool::{Launcher, Limits, Plan};

/// Settings of the parser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Reading processes; 0 means one per core.
    pub children: usize,
    /// Documents in hand: those being read and those waiting for a process. 0 means twice the
    /// processes.
    pub in_flight: usize,
    /// Address space of a reading process, in MB (2²⁰ bytes), at least 128.
    pub memory_limit_mb: u64,
    /// Seconds a document may take.
    pub wall_clock_secs: u64,
    /// Seconds of processor time a document may take.
    pub cpu_secs: u64,
    /// Markdown a document may give, in MB (2²⁰ bytes).
    pub output_limit_mb: usize,
    /// Documents after which a reading process is replaced.
    pub files_per_child: u32,
    /// Whether scans and pictures are read.
    pub ocr: OcrMode,
    /// Languages of scans as tesseract names them (`eng`, `deu`, `chi_sim`); `auto` stands for
    /// those that are installed.
    pub ocr_languages: Vec<String>,
    /// Pixels per inch at which pages are drawn for OCR, 72 to 600.
    pub ocr_dpi: u32,
    /// Seconds that OCR of one page may take.
    pub ocr_secs_per_page: u64,
    /// Seconds that OCR of one document may take; further pages count as missing.
    pub ocr_secs_per_document: u64,
    /// Arguments that make this program a reading process; set by the program, not by the user.
    #[serde(skip)]
    pub child_arguments: Vec<String>,
}

/// Whether scans and pictures are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OcrMode {
    /// When tesseract is installed.
    #[default]
    Auto,
    /// Never; their pages count as missing.
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            children: 0,
            in_flight: 0,
            memory_limit_mb: 1024,
            wall_clock_secs: 120,
            cpu_secs: 90,
            output_limit_mb: 64,
            files_per_child: 200,
            ocr: OcrMode::Auto,
            ocr_languages: vec!["auto".to_owned()],
            ocr_dpi: 300,
            ocr_secs_per_page: 60,
            ocr_secs_per_document: 1800,
            child_arguments: vec!["extract-child".to_owned()],
        }
    }
}

impl Settings {
    /// Reading processes, at least one.
    pub fn children(&self) -> NonZeroUsize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        NonZeroUsize::new(self.children).unwrap_or_else(cores)
    }

    /// Documents in hand, at least one.
    pub fn in_flight(&self) -> usize {
        if self.in_flight == 0 {
            self.children().get().saturating_mul(2)
        } else {
            self.in_flight
        }
    }

    /// How children of this program are started.
    ///
    /// # Errors
    /// When the program does not know its own path.
    pub fn plan(&self) -> std::io::Result<Plan> {
        self.plan_with_notes().map(|(plan, _)| plan)
    }

    /// [`Settings::plan`], and what people should know about it.
    ///
    /// # Errors
    /// When the program does not know its own path.
    pub fn plan_with_notes(&self) -> std::io::Result<(Plan, Vec<String>)> {
        let launcher = Launcher {
            program: std::env::current_exe()?,
            arguments: self.child_arguments.clone(),
        };
        let (ocr, notes) = self.ocr_plan(&launcher);
        let plan = Plan {
            program: launcher.program,
            arguments: launcher.arguments,
            ocr,
            second_reader: second_reader(assets_dir().join("pdfium").join("libpdfium.so")),
            limits: Limits {
                memory_bytes: self.memory_limit_mb.max(128) << 20,
                wall_clock: Duration::from_secs(self.wall_clock_secs.max(1)),
                cpu_secs: self.cpu_secs.max(1),
                output_bytes: self.output_limit_mb.max(1) << 20,
                files_per_child: self.files_per_child.max(1),
            },
        };
        Ok((plan, notes))
    }

    /// How pictures are read on this machine, and what people should know about it.
    pub fn ocr_plan(&self, launcher: &Launcher) -> (OcrPlan, Vec<String>) {
        if self.ocr == OcrMode::Off {
            let off = "it is off; set `parser.ocr` to `auto`";
            return (OcrPlan::absent(off), Vec::new());
        }
        match ocr::find() {
            Ok(installed) => self.ocr_by(launcher, installed),
            Err(remedy) => {
                let note = format!("scanned pages cannot be read: {remedy}");
                (OcrPlan::absent(remedy), vec![note])
            }
        }
    }

    fn ocr_by(&self, launcher: &Launcher, installed: Installed) -> (OcrPlan, Vec<String>) {
        let wanted = installed.choose(&self.ocr_languages);
        let per_page = Duration::from_secs(self.ocr_secs_per_page.max(1));
        let tesseract = Tesseract::new(launcher.clone(), installed, &wanted.languages, per_page);
        let plan = OcrPlan {
            reader: OcrReader::Tesseract(tesseract),
            dpi: self.ocr_dpi.clamp(72, 600),
            per_document: Duration::from_secs(self.ocr_secs_per_document),
        };
        (plan, wanted.notes)
    }
}

/// PDFium at `path`, if it is there.
fn second_reader(path: PathBuf) -> SecondReader {
    if path.is_file() {
        SecondReader::Library(path)
    } else {
        SecondReader::Absent("its library is not there; run `ibid setup`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_means_by_the_machine() {
        let settings = Settings::default();
        assert_eq!(settings.in_flight(), settings.children().get() * 2);
        let settings = Settings {
            children: 3,
            in_flight: 4,
            ..Settings::default()
        };
        assert_eq!((settings.children().get(), settings.in_flight()), (3, 4));
    }

    #[test]
    fn limits_are_never_zero() {
        let none = Settings {
            memory_limit_mb: 0,
            wall_clock_secs: 0,
            cpu_secs: 0,
            output_limit_mb: 0,
            files_per_child: 0,
            ..Settings::default()
        };
        let limits = none.plan().unwrap().limits;
        assert_eq!(limits.memory_bytes, 128 << 20);
        assert_eq!((limits.wall_clock.as_secs(), limits.cpu_secs), (1, 1));
        assert_eq!((limits.output_bytes, limits.files_per_child), (1 << 20, 1));
    }
}
