//! A document as an extractor gets it, and what lies within it.

use std::cell::Cell;

use shared::contract::{Locator, PageRecord, ReadMethod};
use shared::format::{Format, HEAD_BYTES, detect};

use super::{ExtractError, ExtractedPage, Extraction, Extractors, Ocr};

/// Containers within containers: an e-mail in a ZIP in an e-mail is three.
const MOST_NESTED: u32 = 8;
/// Files within one document, on all levels.
const MOST_FILES: u32 = 10_000;
/// Bytes of all files within one document, on all levels.
const MOST_BYTES: u64 = 512 << 20;

/// A document to be read.
pub struct Input<'a> {
    /// The file's own name, or its path within the container.
    pub name: &'a str,
    /// The whole file.
    pub bytes: &'a [u8],
    /// What may open it.
    pub password: Option<&'a str>,
    extractors: &'a Extractors,
    ocr: &'a dyn Ocr,
    depth: u32,
    /// Files and bytes within the outermost document so far.
    spent: &'a Spent,
}

/// What has been taken out of a document so far. One per document.
#[derive(Debug, Default)]
pub struct Spent {
    files: Cell<u32>,
    bytes: Cell<u64>,
}

impl<'a> Input<'a> {
    /// The outermost document.
    pub fn new(
        name: &'a str,
        bytes: &'a [u8],
        extractors: &'a Extractors,
        ocr: &'a dyn Ocr,
        spent: &'a Spent,
    ) -> Self {
        Self {
            name,
            bytes,
            password: None,
            extractors,
            ocr,
            depth: 0,
            spent,
        }
    }

    /// The same, to be opened with `password`.
    #[must_use]
    pub fn with_password(mut self, password: Option<&'a str>) -> Self {
        self.password = password;
        self
    }

    /// Reads pictures.
    pub fn ocr(&self) -> &'a dyn Ocr {
        self.ocr
    }

    /// How many containers the document lies in: 0 for a file of its own.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Room for files within the document, in bytes: unpack no more than this.
    pub fn room(&self) -> u64 {
        MOST_BYTES.saturating_sub(self.spent.bytes.get())
    }

    /// The pages of the file `path` that lies within this document, each with its place as
    /// [`Locator::Entry`]. A file that cannot be read is one missing page that says why.
    pub fn within(&self, path: &str, bytes: &[u8]) -> Vec<ExtractedPage> {
        match self.read_within(path, bytes) {
            Ok(extraction) => {
                let notes = extraction.notes;
                let mut pages: Vec<_> = extraction
                    .pages
                    .into_iter()
                    .map(|page| located(path, page))
                    .collect();
                if let Some(first) = pages.first_mut() {
                    first.record.doubts.extend(notes);
                }
                pages
            }
            Err(error) => vec![missing_entry(path, &error)],
        }
    }

    /// The file `path` within this document, as if it were a document of its own.
    ///
    /// # Errors
    /// When it cannot be read, or is one too many.
    pub fn read_within(&self, path: &str, bytes: &[u8]) -> Result<Extraction, ExtractError> {
        self.spend(bytes.len())?;
        let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
        let format = detect(path, head).map_err(|error| ExtractError::Unsupported {
            what: error.kind().to_owned(),
        })?;
        let inner = Input {
            bytes,
            ..self.at(self.depth + 1, path)
        };
        self.extractors.read(format, &inner)
    }

    /// This document, by the reader of `format` itself.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read_as(&self, format: Format) -> Result<Extraction, ExtractError> {
        self.extractors.of(format).extract(self)
    }

    /// The whole of this document without the encryption it lies under.
    ///
    /// # Errors
    /// When it cannot be read, or is one too many.
    pub(super) fn unlocked(
        &self,
        format: Format,
        bytes: &[u8],
    ) -> Result<Extraction, ExtractError> {
        let inner = Input {
            bytes,
            ..self.inside(self.name, bytes.len())?
        };
        self.extractors.read(format, &inner)
    }

    /// A part of this document that is written in `format`, such as the body of an e-mail or a
    /// chapter of a book: at the
    /// same depth, and no file of its own.
    ///
    /// # Errors
    /// When it cannot be read, or there is no more room for it.
    pub fn part(&self, format: Format, bytes: &[u8]) -> Result<Extraction, ExtractError> {
        self.spend_bytes(bytes.len())?;
        let part = Input {
            bytes,
            ..self.at(self.depth, self.name)
        };
        self.extractors.read(format, &part)
    }

    /// This document's reader one level deeper, for the file `path` of so many bytes whose format
    /// need not be found out, such as an e-mail in another. Counts as a file.
    ///
    /// # Errors
    /// When it is one too many.
    pub fn inside<'b>(&'b self, path: &'b str, bytes: usize) -> Result<Input<'b>, ExtractError> {
        self.spend(bytes)?;
        Ok(self.at(self.depth + 1, path))
    }

    /// Whether no further file within the document is read, for their number.
    pub fn is_full(&self) -> bool {
        self.spent.files.get() >= MOST_FILES
    }

    fn at<'b>(&'b self, depth: u32, name: &'b str) -> Input<'b> {
        Input {
            name,
            bytes: self.bytes,
            password: self.password,
            extractors: self.extractors,
            ocr: self.ocr,
            depth,
            spent: self.spent,
        }
    }

    fn spend(&self, bytes: usize) -> Result<(), ExtractError> {
        if self.depth >= MOST_NESTED {
            return too_large("files lie within files more than 8 deep");
        }
        if self.is_full() {
            return too_large("more than 10,000 files lie within it");
        }
        self.spend_bytes(bytes)?;
        self.spent.files.set(self.spent.files.get() + 1);
        Ok(())
    }

    fn spend_bytes(&self, bytes: usize) -> Result<(), ExtractError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if bytes > self.room() {
            return too_large("the files within it unpack to more than 512 MB");
        }
        self.spent.bytes.set(self.spent.bytes.get() + bytes);
        Ok(())
    }
}

fn too_large(what: &str) -> Result<(), ExtractError> {
    Err(ExtractError::TooLarge {
        what: what.to_owned(),
    })
}

/// `page` as a page of the file `path` within its document.
pub(super) fn located(path: &str, mut page: ExtractedPage) -> ExtractedPage {
    page.record.locator = Locator::Entry {
        path: path.to_owned(),
        inner: Box::new(page.record.locator),
    };
    page
}

/// A file within a document that could not be read.
pub(super) fn missing_entry(path: &str, error: &ExtractError) -> ExtractedPage {
    let record = PageRecord {
        number: 1,
        locator: Locator::Block { number: 1 },
        method: ReadMethod::Missing,
        characters: 0,
        doubts: Vec::new(),
        error: Some(error.to_string()),
    };
    located(
        path,
        ExtractedPage {
            record,
            markdown: String::new(),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::{NoOcr, SecondReader};
    use super::*;

    #[test]
    fn what_lies_within_has_its_place_and_its_bounds() {
        let extractors = Extractors::new(SecondReader::Absent("not needed".to_owned()));
        let spent = Spent::default();
        let outer = Input::new("a.zip", b"", &extractors, &NoOcr, &spent);
        let pages = outer.within("notes/plan.md", b"# Plan\n\nwords\n");
        let place = Locator::Entry {
            path: "notes/plan.md".to_owned(),
            inner: Box::new(Locator::Section {
                heading: "Plan".to_owned(),
            }),
        };
        assert_eq!(pages[0].record.locator, place);

        let pages = outer.within("program.bin", &[0x7f, b'E', b'L', b'F', 0, 0]);
        assert_eq!(pages[0].record.method, ReadMethod::Missing);
        let error = pages[0].record.error.as_deref().unwrap();
        assert!(error.contains("a program"), "{error}");

        let deep = Input {
            depth: MOST_NESTED,
            ..Input::new("deep.zip", b"", &extractors, &NoOcr, &spent)
        };
        let error = deep.read_within("a.md", b"words").unwrap_err();
        assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");

        // A part is no file; what lies inside is one, and goes deeper.
        let files = spent.files.get();
        let part = outer.part(Format::Markdown, b"# Part\n").unwrap();
        assert_eq!(part.title.as_deref(), Some("Part"));
        assert_eq!(spent.files.get(), files);
        let inner = outer.inside("mail.msg", 5).unwrap();
        assert_eq!((inner.depth(), inner.name), (1, "mail.msg"));
        assert_eq!(spent.files.get(), files + 1);
        assert!(deep.inside("mail.msg", 0).is_err());

        spent.bytes.set(MOST_BYTES - 3);
        let error = outer.read_within("a.md", b"words").unwrap_err();
        assert!(error.to_string().contains("512 MB"), "{error}");
        assert!(outer.part(Format::Text, b"words").is_err());
        spent.files.set(MOST_FILES);
        assert!(outer.is_full());
        assert!(outer.read_within("a.md", b"w").is_err());
    }
}
