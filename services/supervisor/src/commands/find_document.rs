//! Which document a person means: by id, path or name.

use std::path::{Path, PathBuf};

use shared::contract::{CollectionName, DocumentId, DocumentView};

use crate::client::{Gateway, Listing};
use crate::error::Complaint;
use crate::output::name;

/// Documents named when several have the name that was given.
const NAMED: usize = 3;

/// The documents of `collection`, or of all, to look in.
///
/// # Errors
/// When the gateway does not list them.
pub(super) async fn all(
    gateway: &Gateway,
    collection: Option<&CollectionName>,
) -> Result<Vec<DocumentView>, Complaint> {
    let listing = Listing {
        collection: collection.cloned(),
        state: None,
    };
    Ok(gateway.documents(&listing).await?)
}

/// The one among `documents` that `wanted` names.
///
/// # Errors
/// When there is none, or more than one.
pub(super) fn one<'a>(
    documents: &'a [DocumentView],
    wanted: &str,
) -> Result<&'a DocumentView, Complaint> {
    maybe_one(documents, wanted)?.ok_or_else(|| none(wanted))
}

/// That nothing has this name.
pub(super) fn none(wanted: &str) -> Complaint {
    Complaint::new(
        format!("no document is called `{}`", name(wanted)),
        "see `ibid list` for paths, names and ids",
    )
}

/// All documents below the folder that `wanted` names.
pub(super) fn below<'a>(documents: &'a [DocumentView], wanted: &str) -> Vec<&'a DocumentView> {
    let (given, on_disk) = (Path::new(wanted), on_disk(wanted));
    let is_below = |document: &&DocumentView| {
        let path = Path::new(&document.path);
        path.starts_with(given) || path.starts_with(&on_disk)
    };
    // Every path begins with the empty one.
    let documents = documents.iter().filter(|_| !wanted.trim().is_empty());
    documents.filter(is_below).collect()
}

fn on_disk(wanted: &str) -> PathBuf {
    let path = Path::new(wanted)
        .canonicalize()
        .or_else(|_| std::path::absolute(wanted));
    path.unwrap_or_else(|_| PathBuf::from(wanted))
}

/// The one among `documents` that `wanted` names, if there is one.
///
/// # Errors
/// When there is more than one.
pub(super) fn maybe_one<'a>(
    documents: &'a [DocumentView],
    wanted: &str,
) -> Result<Option<&'a DocumentView>, Complaint> {
    if let Ok(id) = wanted.parse::<DocumentId>()
        && let Some(document) = documents.iter().find(|document| document.id == id)
    {
        return Ok(Some(document));
    }
    let on_disk = on_disk(wanted);
    let by_path = |d: &&DocumentView| d.path == wanted || Path::new(&d.path) == on_disk;
    let mut found: Vec<_> = documents.iter().filter(by_path).collect();
    if found.is_empty() {
        found = documents
            .iter()
            .filter(|document| document.name == wanted)
            .collect();
    }
    match found.as_slice() {
        [document] => Ok(Some(document)),
        [] => Ok(None),
        several => {
            let named = several
                .iter()
                .take(NAMED)
                .map(|d| format!("{} ({})", d.id, name(&d.path)));
            let named = named.collect::<Vec<_>>().join(", ");
            let more = if several.len() > NAMED { ", …" } else { "" };
            Err(Complaint::new(
                format!("{} documents are called `{}`", several.len(), name(wanted)),
                format!("give the id or path of one: {named}{more}"),
            ))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn document(id: u8, path: &str) -> DocumentView {
        serde_json::from_value(json!({
            "id": format!("{id:032x}"), "generation": 1, "collection": "default", "path": path,
            "name": path.rsplit('/').next(), "format": "text", "bytes": 1,
            "content": "0".repeat(64), "file_hash": "0".repeat(32), "state": "ready",
            "searchable": true, "pages": 1, "chunks": 1, "tokens": 1, "added_ms": 0
        }))
        .unwrap()
    }

    #[test]
    fn id_then_path_then_name() {
        let documents = [
            document(1, "/a/x.txt"),
            document(2, "/b/x.txt"),
            document(3, "upload://default/y.md"),
        ];
        let check =
            |wanted: &str, expect: Result<&str, &str>| match (one(&documents, wanted), expect) {
                (Ok(found), Ok(path)) => assert_eq!(found.path, path),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (found, expect) => panic!("{found:?}, not {expect:?}"),
            };
        check(&format!("{:032x}", 2), Ok("/b/x.txt"));
        check("/a/x.txt", Ok("/a/x.txt"));
        check("/a/../a/x.txt", Err("no document"));
        check("y.md", Ok("upload://default/y.md"));
        check("upload://default/y.md", Ok("upload://default/y.md"));
        check("x.txt", Err("2 documents are called `x.txt`"));
        check("z", Err("ibid list"));
        check(&format!("{:032x}", 9), Err("no document"));
    }
}
