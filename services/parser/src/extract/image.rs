//! Pictures: PNG, JPEG, TIFF and their like, read by OCR. Each page of a TIFF is a page.

mod grey;
mod tiff_pages;

use shared::contract::{Locator, PageRecord};

use super::count_characters;
use super::ocr::Reading;
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input, OcrError, Picture};

use self::tiff_pages::TiffPages;

/// Pages of a fax or a scanned book; more are a mistake or meant to harm.
const MOST_PAGES: usize = 2000;
/// The two byte orders of TIFF, and its form for large files.
const TIFF: [&[u8]; 4] = [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"];

/// Reads pictures.
pub(super) struct ImageExtractor;

impl Extractor for ImageExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let is_tiff = TIFF.iter().any(|magic| input.bytes.starts_with(magic));
        if !is_tiff {
            let picture = grey::decode(input.bytes)?;
            return Ok(of_pages(vec![page(read(input, picture))], Vec::new()));
        }
        let mut notes = Vec::new();
        let mut pages = Vec::new();
        for picture in TiffPages::open(input.bytes)? {
            if pages.len() == MOST_PAGES {
                notes.push(format!("only the first {MOST_PAGES} pages are read"));
                break;
            }
            // A page that is damaged is one missing page; the others may be whole.
            let reading = match picture {
                Ok(picture) => read(input, picture),
                Err(error) => Reading::of(Err(OcrError::Failed(error.to_string()))),
            };
            pages.push(page(reading));
        }
        if pages.is_empty() {
            return Err(ExtractError::Damaged {
                what: "it has no picture".to_owned(),
            });
        }
        Ok(of_pages(pages, notes))
    }
}

fn of_pages(pages: Vec<ExtractedPage>, notes: Vec<String>) -> Extraction {
    Extraction {
        title: None,
        pages: (1..)
            .zip(pages)
            .map(|(number, mut page)| {
                page.record.locator = Locator::Block { number };
                page
            })
            .collect(),
        notes,
        ..Extraction::default()
    }
}

fn read(input: &Input<'_>, picture: Picture) -> Reading {
    if let Err(error) = input.ocr().ready() {
        return Reading::of(Err(error));
    }
    if picture.is_blank() {
        return Reading::blank();
    }
    Reading::of(input.ocr().read(&grey::enlarged(picture)))
}

fn page(reading: Reading) -> ExtractedPage {
    ExtractedPage {
        record: PageRecord {
            number: 1,
            locator: Locator::Block { number: 1 },
            method: reading.method,
            characters: count_characters(&reading.text),
            doubts: reading.doubts,
            error: reading.error,
        },
        markdown: reading.text,
    }
}
