//! `ibid rm`.

use std::process::ExitCode;

use shared::contract::{CollectionName, DeletionReceipt, DocumentId, DocumentView};

use super::{find_document, gateway, remove};
use crate::cli::RmArgs;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, count, name};
use crate::screen::Screen;

/// Removes documents; none when one of them is not found.
pub(super) async fn run(args: RmArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let all = find_document::all(&gateway, args.collection.as_ref()).await?;
    let wanted = wanted(&all, &args.documents, args.collection.as_ref())?;
    if let Some(asked) = &wanted.asked
        && !args.yes
    {
        remove::confirm(asked)?;
    }
    let screen = Screen::stderr();
    let receipts = remove::all(&gateway, wanted.ids, &screen).await?;
    screen.finish();
    if json {
        output::json(&receipts)?;
    } else if wanted.asked.is_some() {
        output::line(sum(&receipts))?;
    } else {
        for receipt in &receipts {
            output::line(tell(receipt))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is to be removed.
#[derive(Debug)]
struct Wanted {
    ids: Vec<DocumentId>,
    /// What is asked before, when more is removed than was named one by one.
    asked: Option<String>,
}

fn wanted(
    all: &[DocumentView],
    given: &[String],
    collection: Option<&CollectionName>,
) -> Result<Wanted, Complaint> {
    let mut documents: Vec<&DocumentView> = Vec::new();
    let mut whole = Vec::new();
    if given.is_empty()
        && let Some(collection) = collection
    {
        documents.extend(all);
        whole.push(format!("collection `{collection}`"));
    }
    for text in given {
        if let Some(document) = find_document::maybe_one(all, text)? {
            documents.push(document);
            continue;
        }
        let below = find_document::below(all, text);
        if below.is_empty() {
            return Err(find_document::none(text));
        }
        documents.extend(below);
        whole.push(format!("folder `{}`", name(text)));
    }
    if documents.is_empty() {
        return Err(Complaint::new(
            format!("no document is in {}", whole.join(", ")),
            "`ibid status` shows the collections",
        ));
    }
    let mut ids: Vec<DocumentId> = documents.iter().map(|one| one.id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    let number = count(ids.len() as u64, "document");
    let asked = (!whole.is_empty()).then(|| format!("Remove {number} of {}?", whole.join(", ")));
    Ok(Wanted { ids, asked })
}

fn tell(receipt: &DeletionReceipt) -> String {
    let chunks = count(receipt.chunks, "chunk");
    let path = name(&receipt.path);
    format!(
        "removed {path}: {chunks}, {}",
        left(std::slice::from_ref(receipt))
    )
}

fn sum(receipts: &[DeletionReceipt]) -> String {
    let documents = count(receipts.len() as u64, "document");
    let chunks = count(receipts.iter().map(|receipt| receipt.chunks).sum(), "chunk");
    format!("removed {documents}: {chunks}, {}", left(receipts))
}

/// Whether anything of them is still in a store.
fn left(receipts: &[DeletionReceipt]) -> String {
    let stores = receipts.iter().flat_map(|receipt| &receipt.stores);
    let mut pending: Vec<&str> = stores
        .filter(|store| store.purged_ms.is_none())
        .map(|store| store.store.as_str())
        .collect();
    pending.sort_unstable();
    pending.dedup();
    if pending.is_empty() {
        "gone from every store".to_owned()
    } else {
        format!(
            "hidden everywhere, still to be purged from {}",
            pending.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::find_document::tests::document;
    use super::*;

    #[track_caller]
    fn check(given: &[&str], collection: Option<&str>, expect: Result<(usize, bool), &str>) {
        let all = [
            document(1, "/papers/a.txt"),
            document(2, "/papers/deep/b.txt"),
            document(3, "/papers-old/c.txt"),
            document(4, "upload://default/notes/d.md"),
        ];
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        let collection: Option<CollectionName> = collection.map(|name| name.parse().unwrap());
        match (wanted(&all, &given, collection.as_ref()), expect) {
            (Ok(got), Ok(expect)) => assert_eq!((got.ids.len(), got.asked.is_some()), expect),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, expect) => panic!("{got:?}, not {expect:?}"),
        }
    }

    #[test]
    fn what_was_not_named_one_by_one_is_asked_about() {
        check(&["a.txt"], None, Ok((1, false)));
        check(&["a.txt", "/papers/a.txt"], None, Ok((1, false)));
        check(&["/papers"], None, Ok((2, true)));
        check(&["/papers/"], None, Ok((2, true)));
        check(&["/papers", "c.txt"], None, Ok((3, true)));
        check(&["upload://default/notes"], None, Ok((1, true)));
        check(&[], Some("default"), Ok((4, true)));
        check(&["/pap"], None, Err("no document is called `/pap`"));
        check(&["/papers", "no"], None, Err("ibid list"));
    }

    #[test]
    fn an_empty_collection_is_told() {
        let collection = "drafts".parse().unwrap();
        let error = wanted(&[], &[], Some(&collection)).unwrap_err().to_string();
        assert!(
            error.contains("no document is in collection `drafts`"),
            "{error}"
        );
    }
}
