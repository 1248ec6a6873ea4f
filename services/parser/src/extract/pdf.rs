//! PDF with two readers: pdf-inspector for structure, PDFium to check it and to fill what it left
//! out. Each may fail or be absent; the other then stands alone and the notes say so.

mod annotations;
mod attachments;
mod blocks;
mod draw;
mod facts;
mod first;
mod furniture;
mod garbled;
mod highlight;
mod labels;
mod letters;
mod merge;
mod objects;
mod open;
mod outline;
mod readings;
mod repair;
mod scan;
mod second;
mod squeeze;

use shared::contract::{Locator, PageRecord, ReadMethod};

use self::annotations::Spoken;
use self::facts::Facts;
use self::first::{FirstError, FirstPage, OcrReason};
use self::scan::Scans;
use self::second::{SecondError, SecondPage, Source};
use super::input::missing_entry;
use super::{
    ExtractError, ExtractedPage, Extraction, Extractor, Input, SecondReader, count_characters,
};

pub use draw::Drawing;
pub use highlight::{Highlighter, PageBox, PageBoxes, places};
pub use merge::Merging;
pub use readings::ReadingsReader;

/// Missing pages that a damaged file may add by what it says.
const MOST_LOST: usize = 2000;

/// XFA forms show this in place of their fields to other programs.
const DYNAMIC: &str = "the form is dynamic (XFA): what only its own program shows is not read; \
                       print it to PDF to read all";

/// Reads PDFs.
pub struct PdfExtractor {
    second: SecondReader,
    merging: Merging,
}

/// What the two readers made of a document.
struct Readings {
    first: Result<Vec<FirstPage>, FirstError>,
    second: Result<Vec<Option<SecondPage>>, SecondError>,
    facts: Facts,
    notes: Vec<String>,
    /// Pages that a damaged file has lost.
    lost: usize,
    /// Whether its letters are a guess.
    is_without_fonts: bool,
}

impl PdfExtractor {
    /// An extractor that checks against `second` and merges by `merging`.
    pub fn new(second: SecondReader, merging: Merging) -> Self {
        Self { second, merging }
    }

    /// The PDF to be drawn and to have its text boxed; `None` without PDFium.
    pub(super) fn highlighter<'a>(
        &self,
        bytes: &'a [u8],
        password: Option<&'a str>,
    ) -> Option<Highlighter<'a>> {
        Highlighter::open(&self.second, bytes, password)
    }

    fn read_second(&self, source: Source<'_>) -> Result<Vec<Option<SecondPage>>, SecondError> {
        match &self.second {
            SecondReader::Library(path) => {
                let pages = second::read(path, source)?;
                if pages.is_empty() {
                    return Err(SecondError::Structure);
                }
                Ok(pages)
            }
            SecondReader::Absent(why) => Err(SecondError::Absent(why.clone())),
        }
    }

    fn read(&self, bytes: &[u8], password: Option<&str>) -> Readings {
        let opened = open::open(bytes, password);
        let mut second = self.read_second(Source {
            bytes,
            password,
            annotations: opened.document.is_none(),
        });
        let first = if opened.is_locked {
            Err(FirstError::Locked)
        } else {
            first::read(&opened.bytes)
        };
        let mut document = opened.document;
        let mut notes = Vec::new();
        // What pdf-inspector can read lopdf can write whole, for PDFium.
        if let (Ok(_), Err(SecondError::Structure | SecondError::Locked), Some(document)) =
            (&first, &second, &mut document)
            && let Some(copy) = open::saved(document)
        {
            second = self.read_second(Source::of(&copy)).map(without_places);
            if second.is_ok() {
                notes.push("the file is damaged; it was repaired for reading".to_owned());
            }
        }
        let mut readings = Readings {
            first,
            second,
            facts: Facts::of(document),
            notes,
            lost: 0,
            is_without_fonts: false,
        };
        readings.lost = readings.facts.absent_pages(readings.count());
        readings
    }

    /// The pages of a file whose structure both readers gave up, when some are found.
    fn read_rebuilt(&self, bytes: &[u8]) -> Option<Readings> {
        let rebuilt = repair::rebuild(bytes)?;
        let mut readings = self.read(&rebuilt.bytes, None);
        let count = readings.count();
        let pages = if count == 1 { "page was" } else { "pages were" };
        readings.notes = vec![format!("the file is damaged; {count} {pages} recovered")];
        readings.second = readings.second.map(without_places);
        readings.lost = rebuilt.lost;
        readings.is_without_fonts = rebuilt.is_without_fonts;
        (count > 0).then_some(readings)
    }
}

/// Pages of a copy: nothing in the file itself is where it is in them.
fn without_places(mut pages: Vec<Option<SecondPage>>) -> Vec<Option<SecondPage>> {
    for page in pages.iter_mut().flatten() {
        page.characters = Vec::new();
    }
    pages
}

impl Readings {
    fn is_unread(&self) -> bool {
        self.first.is_err() && self.second.is_err()
    }

    fn is_locked(&self) -> bool {
        matches!(self.second, Err(SecondError::Locked))
            || (matches!(self.first, Err(FirstError::Locked)) && self.second.is_err())
    }

    fn count(&self) -> usize {
        let first = self.first.as_ref().map_or(0, Vec::len);
        first.max(self.second.as_ref().map_or(0, Vec::len))
    }
}

impl PdfExtractor {
    /// What at least one reader made of the document.
    fn readings(&self, input: &Input<'_>) -> Result<Readings, ExtractError> {
        let readings = self.read(input.bytes, input.password);
        if readings.is_unread() && readings.is_locked() {
            return Err(match input.password {
                Some(_) => ExtractError::WrongPassword,
                None => ExtractError::PasswordNeeded,
            });
        }
        let rebuilt = readings
            .is_unread()
            .then(|| self.read_rebuilt(input.bytes))
            .flatten();
        let mut readings = rebuilt.unwrap_or(readings);
        match (&readings.first, &readings.second) {
            (Err(error), Err(_)) => {
                return Err(ExtractError::Damaged {
                    what: error.to_string(),
                });
            }
            (Err(error), Ok(_)) => readings
                .notes
                .push(format!("read with PDFium alone: {error}")),
            (Ok(_), Err(error)) => readings.notes.push(format!("read without PDFium: {error}")),
            (Ok(_), Ok(_)) => {}
        }
        Ok(readings)
    }

    /// One page per page of the document, each as good as the two readers give it.
    fn merge(&self, readings: &Readings) -> Vec<Merged> {
        let first = readings.first.as_deref().unwrap_or_default();
        let second = readings.second.as_deref().unwrap_or_default();
        let mut pages: Vec<_> = (0..readings.count())
            .map(|index| {
                let second = second.get(index).and_then(Option::as_ref);
                match (first.get(index), second) {
                    (first, Some(second)) => self.merging.both(first, second),
                    (Some(first), None) => alone(first, index, &readings.facts),
                    (None, None) => Merged::missing("neither reader can load this page"),
                }
            })
            .collect();
        if readings.is_without_fonts {
            for page in &mut pages {
                page.doubts
                    .push("the fonts are lost; letters may be wrong".to_owned());
            }
        }
        let lost = 0..readings.lost.min(MOST_LOST);
        pages.extend(lost.map(|_| Merged::missing("the file is damaged: this page is lost")));
        pages
    }
}

impl Extractor for PdfExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let readings = self.readings(input)?;
        let mut scans = Scans::new(&self.second, input);
        let merged = self.merge(&readings).into_iter().enumerate();
        let mut merged: Vec<_> = merged
            .map(|(index, page)| scans.read(index, page))
            .collect();
        let Readings {
            facts,
            second,
            mut notes,
            ..
        } = readings;
        notes.extend(dress(&mut merged, &facts));
        let merged = merged.into_iter().enumerate();
        let mut pages: Vec<_> = merged
            .map(|(index, page)| record(index, page, &facts))
            .collect();
        pages.extend(attached(input, &facts));
        Ok(Extraction {
            title: facts.title,
            pages,
            notes,
            characters: characters(second.unwrap_or_default()),
        })
    }
}

fn characters(pages: Vec<Option<SecondPage>>) -> Vec<Vec<u32>> {
    let pages = pages.into_iter();
    pages
        .map(|page| page.unwrap_or_default().characters)
        .collect()
}

/// What the document as a whole knows of its pages: what repeats on them, and the outline's
/// headings. Returns what there is to note.
fn dress(pages: &mut [Merged], facts: &Facts) -> Option<String> {
    let mut texts: Vec<&mut String> = pages.iter_mut().map(|page| &mut page.markdown).collect();
    let dropped = furniture::strip(&mut texts);
    if let Some((document, ids)) = facts.document() {
        for (index, entries) in outline::of(document, ids) {
            let page = pages.get_mut(index);
            if let Some(page) = page.filter(|page| page.method != ReadMethod::Missing) {
                page.markdown = outline::apply(&page.markdown, &entries);
            }
        }
        for (page, id) in pages.iter_mut().zip(ids) {
            page.add(&annotations::of(document, *id));
        }
        if let Some(page) = pages.first_mut()
            && annotations::is_dynamic(document)
        {
            page.doubts.push(DYNAMIC.to_owned());
        }
    }
    (dropped > 0).then(|| {
        format!(
            "headers and footers are kept where they first stand; {dropped} repeats were left out"
        )
    })
}

/// The pages of the files embedded in the document.
fn attached(input: &Input<'_>, facts: &Facts) -> Vec<ExtractedPage> {
    let mut pages = Vec::new();
    if let Some((document, ids)) = facts.document() {
        attachments::each(
            document,
            ids,
            || input.room(),
            |file| {
                pages.extend(match file.bytes {
                    Some(bytes) => input.within(&file.name, &bytes),
                    None => vec![missing_entry(
                        &file.name,
                        &ExtractError::Damaged {
                            what: "it cannot be unpacked, or is too large".to_owned(),
                        },
                    )],
                });
            },
        );
    }
    pages
}

/// A page's text with how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Merged {
    markdown: String,
    method: ReadMethod,
    doubts: Vec<String>,
    error: Option<String>,
    /// Why its picture would tell more than its text.
    wants_ocr: Option<OcrReason>,
}

impl Merged {
    fn read(markdown: String, method: ReadMethod) -> Self {
        Self {
            markdown,
            method,
            doubts: Vec::new(),
            error: None,
            wants_ocr: None,
        }
    }

    fn missing(why: &str) -> Self {
        Self {
            markdown: String::new(),
            method: ReadMethod::Missing,
            doubts: Vec::new(),
            error: Some(why.to_owned()),
            wants_ocr: None,
        }
    }

    /// A page whose text only OCR can tell.
    fn picture(reason: OcrReason) -> Self {
        Self {
            wants_ocr: Some(reason),
            ..Self::missing(reason.error())
        }
    }

    fn blank() -> Self {
        Self::read(String::new(), ReadMethod::TextLayer).doubt("the page is blank".to_owned())
    }

    fn doubt(mut self, doubt: String) -> Self {
        self.doubts.push(doubt);
        self
    }

    /// A page that shows a picture alone may have text in its form.
    fn add(&mut self, spoken: &Spoken) {
        if spoken.is_empty() {
            return;
        }
        spoken.append(&mut self.markdown);
        if self.method == ReadMethod::Missing {
            self.method = ReadMethod::Fallback;
            self.doubts.extend(self.error.take());
        }
    }

    fn wanting_ocr(mut self, reason: Option<OcrReason>) -> Self {
        if let Some(reason) = reason {
            self.doubts.push(reason.doubt().to_owned());
            self.wants_ocr = Some(reason);
        }
        self
    }
}

/// A page that only pdf-inspector can give; lopdf's plain text stands in where it gives none.
fn alone(first: &FirstPage, index: usize, facts: &Facts) -> Merged {
    if !first.markdown.is_empty() {
        let markdown = letters::join_broken(&first.markdown, "");
        return garbled::judge(Merged::read(markdown.into_owned(), ReadMethod::TextLayer));
    }
    if let Some(text) = facts.plain_text(index) {
        return garbled::judge(Merged::read(text, ReadMethod::Fallback).wanting_ocr(first.reason));
    }
    match first.reason {
        Some(reason) => Merged::picture(reason),
        None if facts.is_blank(index) => Merged::blank(),
        None => Merged::picture(OcrReason::NoText),
    }
}

fn record(index: usize, merged: Merged, facts: &Facts) -> ExtractedPage {
    let number = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
    let label = facts.labels.get(&number).cloned();
    ExtractedPage {
        record: PageRecord {
            number,
            locator: Locator::PdfPage {
                physical: number,
                label,
            },
            method: merged.method,
            characters: count_characters(&merged.markdown),
            doubts: merged.doubts,
            error: merged.error,
        },
        markdown: merged.markdown,
    }
}
