//! An e-mail as it was sent: its text is one page, and what is attached to it follows, each file
//! with its own place.

use super::mail::{self, Place};
use super::mbox::postmarks;
use super::{ExtractError, Extraction, Extractor, Input, mbox};

pub(super) struct EmlExtractor;

impl Extractor for EmlExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let bytes = body(input.bytes);
        if postmarks(bytes).len() > 1 {
            return mbox::MboxExtractor.extract(input);
        }
        let mail = mail::read(mbox::without_postmark(bytes))?;
        Ok(Extraction {
            title: mail.subject.clone(),
            pages: mail.pages(input, &Place::alone()),
            ..Extraction::default()
        })
    }
}

/// `bytes` without a mark of UTF-8 and empty lines before the first header.
fn body(bytes: &[u8]) -> &[u8] {
    bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start()
}
