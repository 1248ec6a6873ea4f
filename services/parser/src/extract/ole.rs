//! Compound files, in which Office before 2007 and Outlook keep documents, and every Office those
//! under a password. The streams within say what a file is, whatever its name says; the format's
//! own reader then reads it.

mod compound;
mod kind;
mod locked;

use shared::format::Format;

use super::sheets::xls_is_locked;
use super::{ExtractError, Extraction, Extractor, Input};

pub(super) use self::compound::Compound;
pub(super) use self::kind::{holds, is_sheet_xml, real_format};

use self::kind::is_compound;

/// Bits of a Word document's first block: it is encrypted ([MS-DOC] 2.5.2).
const WORD_FLAGS: usize = 10;
const WORD_ENCRYPTED: u8 = 1;
/// The mark of an encrypted presentation in the stream of the current user ([MS-PPT] 2.3.2).
const SLIDES_MARK: usize = 12;
const SLIDES_ENCRYPTED: [u8; 4] = 0xf3d1_c4df_u32.to_le_bytes();

/// Sends a compound file to the reader of what lies in it.
pub(super) struct OleExtractor;

impl Extractor for OleExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut file = Compound::open(input.bytes)?;
        let unsupported = |what: &str| {
            Err(ExtractError::Unsupported {
                what: what.to_owned(),
            })
        };
        if file.has("/EncryptedPackage") {
            let package = locked::package(&mut file, input.password)?;
            // What it is stands within; its name may be wrong.
            let format = kind::package_format(&package).unwrap_or(Format::Zip);
            return input.unlocked(format, &package);
        }
        if file.has("/Workbook") || file.has("/Book") {
            return match xls_is_locked(&file.first_stream(&["/Workbook", "/Book"])?) {
                true if input.password.is_some() => {
                    unsupported("a workbook under the encryption of Excel 97 to 2003")
                }
                true => Err(ExtractError::PasswordNeeded),
                false => input.read_as(Format::Xls),
            };
        }
        let format = if file.has("/WordDocument") {
            Format::Doc
        } else if file.has("/PowerPoint Document") {
            Format::Ppt
        } else if file.has("/__properties_version1.0") {
            return input.read_as(Format::Msg);
        } else {
            return unsupported(other(&file));
        };
        if is_locked(&mut file, format) {
            let document = locked::old_document(input.bytes, input.password)?;
            return input.unlocked(format, &document);
        }
        input.read_as(format)
    }
}

fn is_locked(file: &mut Compound<'_>, format: Format) -> bool {
    if format == Format::Doc {
        let stream = file.stream("/WordDocument").unwrap_or_default();
        return stream
            .get(WORD_FLAGS + 1)
            .is_some_and(|flags| flags & WORD_ENCRYPTED != 0);
    }
    let stream = file.stream("/Current User").unwrap_or_default();
    stream.get(SLIDES_MARK..SLIDES_MARK + 4) == Some(&SLIDES_ENCRYPTED)
}

/// What a compound file of another program is.
fn other(file: &Compound<'_>) -> &'static str {
    if file.has("/VisioDocument") {
        "a Visio drawing"
    } else if file.has("/Props") || file.has("/   114") {
        "a plan of Microsoft Project"
    } else if file.has("/Quill") || file.has("/Contents") {
        "a publication of Microsoft Publisher"
    } else {
        "a compound file without a document that is known"
    }
}

#[cfg(test)]
mod tests;
