//! Files embedded in a PDF (ISO 32000-2, 7.11.4): those of the document's name tree and those
//! that pages pin.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::objects::{array, dictionary, follow, name, resolve, text};
use super::outline::name_tree;

/// Attachments of one document that are read.
const MOST: usize = 1000;

/// A file within the document.
pub(super) struct Attachment {
    pub(super) name: String,
    /// Unpacked; `None` when it is broken or larger than there is room for.
    pub(super) bytes: Option<Vec<u8>>,
}

/// Calls `each` with every attachment, one at a time, so that only one is unpacked. `room` tells
/// how many bytes the next may have.
pub(super) fn each(
    document: &Document,
    pages: &[ObjectId],
    room: impl Fn() -> u64,
    mut each: impl FnMut(Attachment),
) {
    let mut seen = HashSet::new();
    for specification in specifications(document, pages).into_iter().take(MOST) {
        let Some(files) = dictionary(document, specification, b"EF") else {
            continue;
        };
        let file = [b"UF".as_slice(), b"F"]
            .into_iter()
            .find_map(|key| files.get(key).ok());
        let Some(file) = file else { continue };
        if file.as_reference().is_ok_and(|id| !seen.insert(id)) {
            continue;
        }
        let name = text(document, specification, b"UF")
            .or_else(|| text(document, specification, b"F"))
            .unwrap_or_else(|| "attachment".to_owned());
        let limit = usize::try_from(room()).unwrap_or(usize::MAX);
        let bytes = follow(document, file)
            .and_then(|file| file.as_stream().ok())
            .and_then(|file| unpack(file, limit));
        each(Attachment { name, bytes });
    }
}

/// lopdf's filters may panic on bytes of ill will.
fn unpack(file: &Stream, limit: usize) -> Option<Vec<u8>> {
    let unpacked = catch_unwind(AssertUnwindSafe(|| {
        file.get_plain_content_with_limit(limit)
    }));
    unpacked.ok()?.ok()
}

fn specifications<'a>(document: &'a Document, pages: &[ObjectId]) -> Vec<&'a Dictionary> {
    let mut found = Vec::new();
    if let Some(tree) = document
        .catalog()
        .ok()
        .and_then(|catalog| dictionary(document, catalog, b"Names"))
        .and_then(|names| dictionary(document, names, b"EmbeddedFiles"))
    {
        name_tree(document, tree, 0, &mut |_, file| {
            found.extend(file.as_dict().ok());
        });
    }
    let pinned = pages
        .iter()
        .filter_map(|page| document.get_dictionary(*page).ok())
        .flat_map(|page| array(document, page, b"Annots").unwrap_or_default())
        .filter_map(|annotation: &Object| follow(document, annotation)?.as_dict().ok())
        .filter(|node| name(document, node, b"Subtype") == Some(b"FileAttachment"))
        .filter_map(|node| resolve(document, node, b"FS")?.as_dict().ok());
    found.extend(pinned);
    found
}
