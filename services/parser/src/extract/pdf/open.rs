//! Opening a PDF: its lock, and the copy that each reader can take.

use std::borrow::Cow;
use std::panic::catch_unwind;

use lopdf::{Document, Error, LoadOptions};

/// One stream may unpack to this many bytes; a page's text needs a thousandth of it.
pub(super) const MAX_STREAM_BYTES: usize = 256 << 20;

/// A PDF as far as lopdf can open it.
pub(super) struct Opened<'a> {
    /// What pdf-inspector reads, which takes no password: decrypted if need be.
    pub(super) bytes: Cow<'a, [u8]>,
    /// `None` when lopdf cannot read it, or not without a password.
    pub(super) document: Option<Document>,
    /// Whether it is lopdf that a password, or another one, would help.
    pub(super) is_locked: bool,
}

/// Never fails: what lopdf cannot open PDFium may.
pub(super) fn open<'a>(bytes: &'a [u8], password: Option<&str>) -> Opened<'a> {
    // lopdf decrypts with the empty password by itself.
    let (document, is_locked) = match load(bytes, None) {
        Some(Ok(document)) if document.is_encrypted() => (None, true),
        Some(Ok(document)) => (Some(document), false),
        Some(Err(error)) => (None, is_lock(&error)),
        None => (None, false),
    };
    if let (true, Some(password)) = (is_locked, password)
        && let Some(Ok(mut document)) = load(bytes, Some(password))
        && !document.is_encrypted()
        && let Some(copy) = saved(&mut document)
    {
        return Opened {
            bytes: Cow::Owned(copy),
            document: Some(document),
            is_locked: false,
        };
    }
    Opened {
        bytes: Cow::Borrowed(bytes),
        document,
        is_locked,
    }
}

/// `None` when lopdf panics.
pub(super) fn load(bytes: &[u8], password: Option<&str>) -> Option<Result<Document, Error>> {
    let options = LoadOptions {
        password: password.map(str::to_owned),
        ..LoadOptions::with_max_decompressed_size(MAX_STREAM_BYTES)
    };
    catch_unwind(|| Document::load_mem_with_options(bytes, options)).ok()
}

/// The file that lopdf writes of `document`: not encrypted, cross-references whole.
pub(super) fn saved(document: &mut Document) -> Option<Vec<u8>> {
    let mut copy = Vec::new();
    let document = std::panic::AssertUnwindSafe(document);
    let copied = catch_unwind(move || {
        let document = document;
        document.0.save_to(&mut copy).ok().map(|()| copy)
    });
    copied.ok().flatten()
}

fn is_lock(error: &Error) -> bool {
    matches!(
        error,
        Error::Decryption(_) | Error::InvalidPassword | Error::UnsupportedSecurityHandler(_)
    )
}
