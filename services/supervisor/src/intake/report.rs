//! What became of the files, for people and for programs.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};
use shared::contract::{DocumentId, DocumentState, ErrorBody, ErrorCode, Outcome};

use super::Taken;
use super::walk::Found;
use crate::ledger::{self, Gap};
use crate::output::{count, name, text, thousands};

/// Paths named per kind of file that is not read.
const NAMED: usize = 5;

/// The outcome of one `add`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What happened to all files, counted.
    pub counts: Counts,
    /// Pages of the documents that are searchable.
    pub pages: u64,
    /// Their chunks.
    pub chunks: u64,
    /// How long it took.
    pub seconds: f64,
    /// Every file that was handed over.
    pub documents: Vec<Line>,
    /// Files of each kind that is not read.
    pub unsupported: Vec<Unsupported>,
    /// Files that could not be read at all.
    pub unreadable: Vec<Trouble>,
    /// Whether it was waited for the end.
    pub waited: bool,
    #[serde(skip)]
    refused: usize,
}

/// Files by what happened to them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Seen for the first time.
    pub new: u64,
    /// Known, with other bytes or forced.
    pub changed: u64,
    /// Already indexed, skipped.
    pub unchanged: u64,
    /// Handed over before and not indexed yet then.
    pub queued: u64,
    /// Searchable, some pages missing.
    pub partial: u64,
    /// Not searchable.
    pub failed: u64,
}

/// One file that was handed over.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// The document it became.
    pub id: Option<DocumentId>,
    /// What the admission led to.
    pub outcome: Option<Outcome>,
    /// How it ended.
    pub state: Option<DocumentState>,
    /// All its pages.
    pub pages: u32,
    /// Pages that could not be read, the first 1,000.
    pub missing_pages: Vec<u32>,
    /// How many could not be read.
    pub missing_count: u32,
    /// They, by reason.
    pub gaps: Vec<Gap>,
    /// Why it failed, or is partial.
    pub error: Option<ErrorBody>,
}

/// Files of a kind that is not read.
#[derive(Debug, Serialize)]
pub struct Unsupported {
    /// Such as `HTML`.
    pub kind: String,
    /// The files.
    #[serde(serialize_with = "all_lossy")]
    pub paths: Vec<PathBuf>,
}

/// A file that could not be read.
#[derive(Debug, Serialize)]
pub struct Trouble {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl Report {
    /// Sums up.
    pub fn new(taken: Vec<Taken>, found: Found, took: Duration, waited: bool) -> Self {
        let mut report = Self {
            counts: Counts::default(),
            pages: 0,
            chunks: 0,
            seconds: took.as_secs_f64(),
            documents: Vec::new(),
            unsupported: Vec::new(),
            unreadable: Vec::new(),
            waited,
            refused: found.refused.len(),
        };
        for file in taken {
            report.take(file);
        }
        let kinds = found.unsupported.into_iter();
        report.unsupported = kinds
            .map(|(kind, paths)| Unsupported { kind, paths })
            .collect();
        let troubles = found.unreadable.into_iter();
        report.unreadable = troubles
            .map(|(path, reason)| Trouble { path, reason })
            .collect();
        report
    }

    fn take(&mut self, file: Taken) {
        let state = file.view.as_ref().map(|view| view.state);
        match (&file.admitted, state) {
            (Err(_), _) | (_, Some(DocumentState::Failed)) => self.counts.failed += 1,
            (_, Some(DocumentState::Partial)) => self.counts.partial += 1,
            (Ok(admitted), _) => match admitted.outcome {
                Outcome::New => self.counts.new += 1,
                Outcome::Changed => self.counts.changed += 1,
                Outcome::Unchanged if file.was_open => self.counts.queued += 1,
                Outcome::Unchanged => self.counts.unchanged += 1,
            },
        }
        if let Some(view) = file.view.as_ref().filter(|view| view.searchable) {
            self.pages += u64::from(view.pages);
            self.chunks += u64::from(view.chunks);
        }
        let (pages, missing_count) = file
            .view
            .as_ref()
            .map_or((0, 0), |view| (view.pages, view.missing_count));
        let (missing_pages, said) = file
            .view
            .map(|view| (view.missing_pages, view.error))
            .unwrap_or_default();
        let (admitted, refused) = match file.admitted {
            Ok(admitted) => (Some(admitted), None),
            Err(error) => (None, Some(error)),
        };
        self.documents.push(Line {
            path: file.path,
            id: admitted
                .as_ref()
                .map(|admitted| admitted.document_id.clone()),
            outcome: admitted.as_ref().map(|admitted| admitted.outcome),
            state,
            pages,
            missing_pages,
            missing_count,
            gaps: file.gaps,
            error: refused.or(said),
        });
    }

    /// Whether every file that was asked for is searchable, or on its way.
    pub fn is_good(&self) -> bool {
        self.counts.failed == 0 && self.unreadable.is_empty() && self.refused == 0
    }

    /// Tells it to people, line by line.
    ///
    /// # Errors
    /// When `line` fails.
    pub fn tell(&self, mut line: impl FnMut(String) -> io::Result<()>) -> io::Result<()> {
        line(self.headline())?;
        for document in &self.documents {
            tell_document(document, &mut line)?;
        }
        for trouble in &self.unreadable {
            line(format!(
                "not readable: {}: {}",
                shown(&trouble.path),
                text(&trouble.reason)
            ))?;
        }
        for kind in &self.unsupported {
            let names: Vec<_> = kind
                .paths
                .iter()
                .take(NAMED)
                .map(|path| file_name(path))
                .collect();
            let more = kind.paths.len().saturating_sub(NAMED);
            let more = if more > 0 {
                format!(" and {} more", thousands(more as u64))
            } else {
                String::new()
            };
            let files = count(kind.paths.len() as u64, "file");
            line(format!(
                "not read: {files}, {}: {}{more}",
                kind.kind,
                names.join(", ")
            ))?;
        }
        Ok(())
    }

    fn headline(&self) -> String {
        let c = self.counts;
        let mut parts = Vec::new();
        for (n, what) in [
            (c.new, "new"),
            (c.changed, "changed"),
            (c.partial, "partial"),
            (c.failed, "failed"),
            (c.queued, "already queued"),
            (c.unchanged, "already indexed, skipped"),
        ] {
            if n > 0 {
                parts.push(format!("{} {what}", thousands(n)));
            }
        }
        if parts.is_empty() {
            return "no documents to add".to_owned();
        }
        let parts = parts.join(", ");
        if !self.waited {
            return format!("handed over: {parts}; `ibid list` shows how far they are");
        }
        let searchable = c.new + c.changed + c.unchanged + c.queued + c.partial;
        format!(
            "{} searchable ({}, {}) in {:.1} s: {parts}",
            count(searchable, "document"),
            count(self.pages, "page"),
            count(self.chunks, "chunk"),
            self.seconds
        )
    }
}

/// JSON is UTF-8, and a path need not be.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn all_lossy<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// The path as it may be printed.
fn shown(path: &Path) -> String {
    name(&path.to_string_lossy())
}

fn file_name(path: &Path) -> String {
    shown(Path::new(path.file_name().unwrap_or(path.as_os_str())))
}

/// What is not as it should be: the reason, and below it what to do.
fn tell_document(
    document: &Line,
    mut line: impl FnMut(String) -> io::Result<()>,
) -> io::Result<()> {
    let path = shown(&document.path);
    if document.state == Some(DocumentState::Partial) {
        let coverage = ledger::coverage(document.pages, document.missing_count);
        line(format!(
            "partial: {path}: {}",
            coverage.as_deref().unwrap_or("some pages are missing")
        ))?;
        for gap in &document.gaps {
            line(format!(
                "  {}: {}",
                ledger::pages(&gap.pages),
                text(&gap.reason)
            ))?;
        }
        if document.gaps.is_empty() {
            line(format!(
                "  {} could not be read",
                ledger::pages(&document.missing_pages)
            ))?;
        }
        return match &document.error {
            Some(error) => line(format!("  → {}", text(&error.to_string()))),
            None => line(format!(
                "  → once the cause is gone, read it again: ibid retry {}",
                quoted(&path)
            )),
        };
    }
    if document.outcome.is_some() && document.state != Some(DocumentState::Failed) {
        return Ok(());
    }
    let Some(error) = &document.error else {
        return line(format!(
            "failed: {path}: no reason was given; try `ibid retry`"
        ));
    };
    line(format!("failed: {path}: {}", text(&error.message)))?;
    if error.code == ErrorCode::PasswordNeeded {
        return line(format!("  → ibid add --password {}", quoted(&path)));
    }
    line(format!("  → {}", text(&error.remedy)))
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::contract::{Admitted, CollectionName, FileHash, Generation, Sha256Hex};
    use shared::format::Format;

    fn taken(path: &str, outcome: Outcome, state: Option<DocumentState>) -> Taken {
        let id = DocumentId::generate();
        let content = Sha256Hex::of(path.as_bytes());
        let view = state.map(|state| shared::contract::DocumentView {
            id: id.clone(),
            generation: Generation(1),
            collection: CollectionName::default(),
            path: path.to_owned(),
            name: path.to_owned(),
            format: Format::Text,
            bytes: 1,
            file_hash: FileHash::of(&content, Format::Text),
            content,
            state,
            searchable: state != DocumentState::Failed,
            pages: 7,
            missing_pages: if state == DocumentState::Partial {
                vec![2, 5]
            } else {
                Vec::new()
            },
            missing_count: if state == DocumentState::Partial {
                2
            } else {
                0
            },
            chunks: 3,
            tokens: 30,
            error: (state == DocumentState::Failed)
                .then(|| ErrorBody::new(ErrorCode::Damaged, "it is damaged", "repair it")),
            added_ms: 0,
            indexed_ms: None,
            modified_ms: 0,
            language: None,
            outdated: false,
            notes: Vec::new(),
            page_ledger: Vec::new(),
        });
        let admitted = Ok(Admitted {
            document_id: id,
            generation: Generation(1),
            outcome,
        });
        Taken {
            path: path.into(),
            work: 1,
            admitted,
            was_open: false,
            view,
            gaps: Vec::new(),
        }
    }

    fn told(report: &Report) -> String {
        let mut text = String::new();
        report
            .tell(|line| {
                text += &line;
                text.push('\n');
                Ok(())
            })
            .unwrap();
        text
    }

    #[test]
    fn every_file_is_accounted_for() {
        let refused = ErrorBody::new(ErrorCode::TooLarge, "it is too large", "split it");
        let files = vec![
            taken("/a", Outcome::New, Some(DocumentState::Ready)),
            taken("/b", Outcome::Unchanged, Some(DocumentState::Ready)),
            Taken {
                gaps: ledger::gaps([(2, "needs OCR".to_owned()), (5, "needs OCR".to_owned())]),
                ..taken("/c", Outcome::Changed, Some(DocumentState::Partial))
            },
            taken("/c2", Outcome::New, Some(DocumentState::Partial)),
            taken("/d", Outcome::New, Some(DocumentState::Failed)),
            Taken {
                path: "/e".into(),
                work: 1,
                admitted: Err(refused),
                was_open: false,
                view: None,
                gaps: Vec::new(),
            },
            Taken {
                path: "/it's locked".into(),
                work: 1,
                admitted: Err(ErrorBody::new(
                    ErrorCode::PasswordNeeded,
                    "it is locked",
                    "give its password",
                )),
                was_open: false,
                view: None,
                gaps: Vec::new(),
            },
            Taken {
                was_open: true,
                ..taken("/f", Outcome::Unchanged, Some(DocumentState::Ready))
            },
        ];
        let mut found = Found::default();
        found.unsupported.insert(
            "HTML".to_owned(),
            (0..7).map(|n| format!("/x/{n}.html").into()).collect(),
        );
        found
            .unreadable
            .push(("/locked".into(), "permission denied".to_owned()));
        let report = Report::new(files, found, Duration::from_millis(1234), true);
        let counts = Counts {
            new: 1,
            changed: 0,
            unchanged: 1,
            queued: 1,
            partial: 2,
            failed: 3,
        };
        assert_eq!(report.counts, counts);
        assert!(!report.is_good());
        assert_eq!(
            told(&report),
            "5 documents searchable (35 pages, 15 chunks) in 1.2 s: 1 new, 2 partial, 3 failed, \
             1 already queued, 1 already indexed, skipped\n\
             partial: /c: 5 of 7 pages readable\n  pages 2, 5: needs OCR\n  \
             → once the cause is gone, read it again: ibid retry /c\n\
             partial: /c2: 5 of 7 pages readable\n  pages 2, 5 could not be read\n  \
             → once the cause is gone, read it again: ibid retry /c2\n\
             failed: /d: it is damaged\n  → repair it\n\
             failed: /e: it is too large\n  → split it\n\
             failed: /it's locked: it is locked\n  → ibid add --password '/it'\\''s locked'\n\
             not readable: /locked: permission denied\n\
             not read: 7 files, HTML: 0.html, 1.html, 2.html, 3.html, 4.html and 2 more\n"
        );
    }

    #[test]
    fn a_path_that_is_not_utf_8_is_told_in_json_as_well() {
        use std::os::unix::ffi::OsStrExt as _;
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/odd\xff.txt"));
        let mut found = Found::default();
        found
            .unreadable
            .push((odd.to_owned(), "rename it".to_owned()));
        found
            .unsupported
            .insert("an archive".to_owned(), vec![odd.to_owned()]);
        let report = Report::new(Vec::new(), found, Duration::ZERO, true);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["unreadable"][0]["path"], "/odd\u{fffd}.txt");
        assert_eq!(json["unsupported"][0]["paths"][0], "/odd\u{fffd}.txt");
    }

    #[test]
    fn kinds_that_are_not_read_are_no_failure_unless_they_were_named() {
        let mut found = Found::default();
        found
            .unsupported
            .insert("HTML".to_owned(), vec!["/x.html".into()]);
        assert!(Report::new(Vec::new(), found, Duration::ZERO, true).is_good());
        let found = Found {
            refused: vec!["/x.html".into()],
            ..Found::default()
        };
        assert!(!Report::new(Vec::new(), found, Duration::ZERO, true).is_good());
        let files = vec![taken("/a", Outcome::New, None)];
        let report = Report::new(files, Found::default(), Duration::ZERO, false);
        assert_eq!(
            told(&report),
            "handed over: 1 new; `ibid list` shows how far they are\n"
        );
    }
}
