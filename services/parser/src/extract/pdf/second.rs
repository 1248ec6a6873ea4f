//! The second reader: PDFium, for every character of the text layer, plus what forms and
//! annotations say.

use std::path::Path;
use std::sync::OnceLock;

use pdfium_render::prelude::{
    PdfDocument, PdfPage, PdfPageAnnotation, PdfPageAnnotationCommon as _, PdfPageObjectType,
    PdfPageObjectsCommon as _, PdfRect, Pdfium, PdfiumError, PdfiumInternalError,
};

use super::letters;
use crate::extract::clean;

/// More path objects than a ruled form or a chart needs: text drawn as shapes.
const MANY_PATHS: usize = 200;
/// Points by which a character may begin outside of the page and still show.
const NEARLY: f32 = 6.0;
/// Pages in a row that cannot be loaded before the rest is given up.
const MOST_ABSENT: usize = 1000;
/// PDFium marks a hyphen at a line's end, which it takes for a soft one, by one of these.
const LINE_END_HYPHENS: [char; 2] = ['\u{2}', '\u{fffe}'];

/// A page as PDFium sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SecondPage {
    /// Text in content order, one line per line; form values and notes at the end, where they
    /// were asked for.
    pub(super) text: String,
    /// The units of all its characters in PDFium's order, shown or not.
    pub(super) characters: Vec<u32>,
    /// Whether a page without text shows something that may hold text all the same.
    pub(super) has_picture: bool,
}

/// Why the second reader has no pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SecondError {
    #[error("it needs a password")]
    Locked,
    #[error("PDFium cannot open the file")]
    Structure,
    #[error("the library cannot be loaded")]
    Library,
    #[error("{0}")]
    Absent(String),
}

/// The library, loaded once per process.
pub(super) fn library(path: &Path) -> Result<&'static Pdfium, SecondError> {
    static LIBRARY: OnceLock<Option<Pdfium>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| Pdfium::bind_to_library(path).ok().map(Pdfium::new))
        .as_ref()
        .ok_or(SecondError::Library)
}

/// What to open, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) password: Option<&'a str>,
    /// Whether form values and notes are wanted.
    pub(super) annotations: bool,
}

impl<'a> Source<'a> {
    /// A copy that lopdf wrote: it has no lock, and its annotations are known.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            password: None,
            annotations: false,
        }
    }
}

/// The pages that the document says it has; `None` where one cannot be loaded.
pub(super) fn read(
    path: &Path,
    source: Source<'_>,
) -> Result<Vec<Option<SecondPage>>, SecondError> {
    let library = library(path)?;
    let open = |password| library.load_pdf_from_byte_slice(source.bytes, password);
    // A C string ends at the first NUL.
    let password = source.password.filter(|password| !password.contains('\0'));
    let document = match (open(None), password) {
        (Err(error), Some(password)) if is_lock(&error) => open(Some(password)),
        (result, _) => result,
    };
    let document = document.map_err(|error| match error {
        error if is_lock(&error) => SecondError::Locked,
        _ => SecondError::Structure,
    })?;
    Ok(read_pages(&document, source.annotations))
}

fn is_lock(error: &PdfiumError) -> bool {
    matches!(
        error,
        PdfiumError::PdfiumLibraryInternalError(PdfiumInternalError::PasswordError)
    )
}

fn read_pages(document: &PdfDocument<'_>, annotations: bool) -> Vec<Option<SecondPage>> {
    let pages = document.pages();
    let mut read = Vec::new();
    let mut absent = 0;
    for index in 0..pages.len() {
        let page = pages.get(index).ok();
        absent = if page.is_some() { 0 } else { absent + 1 };
        // The count is what the file says, not what it has.
        if absent > MOST_ABSENT {
            break;
        }
        read.push(page.map(|page| read_page(&page, annotations)));
    }
    let end = read
        .iter()
        .rposition(Option::is_some)
        .map_or(0, |at| at + 1);
    read.truncate(end);
    read
}

fn read_page(page: &PdfPage<'_>, annotations: bool) -> SecondPage {
    let (text, characters) = page_text(page);
    let mut lines = vec![text];
    if annotations {
        let spoken = page.annotations().iter();
        lines.extend(spoken.filter_map(|annotation| annotation_text(&annotation)));
    }
    lines.retain(|line| !line.is_empty());
    let text = lines.join("\n");
    SecondPage {
        has_picture: text.is_empty() && has_picture(page),
        characters,
        text,
    }
}

/// The text that shows, and the units of all characters.
fn page_text(page: &PdfPage<'_>) -> (String, Vec<u32>) {
    let Ok(text) = page.text() else {
        return (String::new(), Vec::new());
    };
    let boundaries = page.boundaries();
    let shown = boundaries
        .crop()
        .or_else(|_| boundaries.media())
        .map(|shown| shown.bounds)
        .ok();
    // Character by character, because PDFium's own page-box query drops text on shifted boxes.
    // Line ends that PDFium makes up have no place of their own.
    let mut all = Vec::new();
    let characters = text.chars();
    let units = characters.iter().filter_map(|c| {
        let unit = c.unicode_value();
        all.push(unit);
        let is_space = char::from_u32(unit).is_some_and(char::is_whitespace);
        let place = shown.zip(c.origin().ok());
        let is_off = place.is_some_and(|(shown, (x, y))| is_outside(&shown, x.value, y.value));
        (is_space || !is_off).then_some(unit)
    });
    let shown = tidy(&from_units(&units.collect::<Vec<_>>()));
    (shown, all)
}

/// Whether a character's origin lies off the page by more than a letter's height.
fn is_outside(shown: &PdfRect, x: f32, y: f32) -> bool {
    x < shown.left().value - NEARLY
        || x > shown.right().value + NEARLY
        || y < shown.bottom().value - NEARLY
        || y > shown.top().value + NEARLY
}

/// Code points, where those beyond U+FFFF may come as two surrogates.
fn from_units(units: &[u32]) -> String {
    let mut out = String::with_capacity(units.len());
    let mut units = units.iter().copied().peekable();
    while let Some(unit) = units.next() {
        let low = |unit: &u32| (0xdc00..0xe000).contains(unit);
        let code = match (0xd800..0xdc00)
            .contains(&unit)
            .then(|| units.next_if(low))
            .flatten()
        {
            Some(low) => 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00),
            None => unit,
        };
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }
    out
}

/// Joins words broken at a line's end, then cleans and trims the lines.
fn tidy(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(LINE_END_HYPHENS) {
        joined.push_str(before);
        let next_line = after.trim_start_matches(['\r', '\n', ' ']);
        let (left, right) = letters::around(&joined, next_line);
        if next_line.starts_with(char::is_lowercase) {
            if letters::is_compound(left, right) {
                joined.push('-');
            }
            rest = next_line;
        } else {
            joined.push('-');
            rest = after;
        }
    }
    joined.push_str(rest);
    let joined = letters::tidy(clean(&joined));
    let lines: Vec<_> = joined
        .lines()
        .map(|line| letters::shorten_leaders(line.trim()))
        .collect();
    lines.join("\n").trim().to_owned()
}

/// What a form field holds or an annotation says; links and mark-up have nothing of their own.
fn annotation_text(annotation: &PdfPageAnnotation<'_>) -> Option<String> {
    let field = annotation.as_form_field();
    let value = if let Some(field) = field.and_then(|field| field.as_text_field()) {
        (!field.is_password()).then(|| field.value()).flatten()
    } else if let Some(field) = field.and_then(|field| field.as_combo_box_field()) {
        field.value()
    } else {
        let speaks = annotation.as_free_text_annotation().is_some()
            || annotation.as_text_annotation().is_some();
        speaks.then(|| annotation.contents()).flatten()
    };
    value.map(|value| clean(&value).trim().to_owned())
}

fn has_picture(page: &PdfPage<'_>) -> bool {
    let mut paths = 0;
    page.objects().iter().any(|object| {
        paths += usize::from(object.object_type() == PdfPageObjectType::Path);
        paths > MANY_PATHS
            || matches!(
                object.object_type(),
                PdfPageObjectType::Image
                    | PdfPageObjectType::Shading
                    | PdfPageObjectType::XObjectForm
                    | PdfPageObjectType::Unsupported
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_broken_at_a_line_end_are_joined() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(tidy(text), expect);
        }
        check("exam\u{2}\r\nple of it", "example of it");
        check("exam\u{fffe}\r\nple", "example");
        check("a risk\u{2}\r\nbased view", "a risk-based view");
        check("Jean\u{2}\r\nLuc", "Jean-\nLuc");
        check("every\u{2}where", "everywhere");
        check("a  \r\n  b\r\n", "a\nb");
        check("", "");
    }

    #[test]
    fn surrogates_become_one_character() {
        #[track_caller]
        fn check(units: &[u32], expect: &str) {
            assert_eq!(from_units(units), expect);
        }
        check(&[0x41, 0x1f600], "A😀");
        check(&[0xd83d, 0xde00], "😀");
        check(&[0xd83d, 0x41], "\u{fffd}A");
        check(&[0xde00], "\u{fffd}");
        check(&[0xffff_ffff], "\u{fffd}");
    }
}
