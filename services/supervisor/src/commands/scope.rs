//! Where a question looks, from the arguments of `search`, `ask` and `chat`.

use std::path::Path;

use shared::contract::{CollectionName, Filter, Question};

use super::find_document;
use crate::cli::ScopeArgs;
use crate::client::{Gateway, Listing};
use crate::error::Complaint;

/// A question without its text.
///
/// # Errors
/// When a document is not found, or its name is that of several; when a collection is empty, as one
/// is whose name is mistyped.
pub(super) async fn question(gateway: &Gateway, args: &ScopeArgs) -> Result<Question, Complaint> {
    let mut documents = Vec::new();
    if !args.document.is_empty() {
        let all = find_document::all(gateway, None).await?;
        for wanted in &args.document {
            documents.push(find_document::one(&all, wanted)?.id.clone());
        }
    }
    for collection in &args.collection {
        documents_of(gateway, collection).await?;
    }
    Ok(Question {
        k: args.k.unwrap_or_default(),
        semantic_weight: args.ranking.semantic_weight,
        fusion: args.ranking.fusion,
        rerank: args.ranking.rerank(),
        diversity: args.ranking.diversity,
        filter: Filter {
            collections: args.collection.clone(),
            documents,
            path_prefix: args.path_prefix.as_deref().map(whole),
            formats: args.format.clone(),
            from: args.from.clone(),
            to: args.to.clone(),
            languages: args.language.clone(),
        },
        ..Question::default()
    })
}

/// A path as the catalog knows it, where it is one of this machine: absolute, without symbolic
/// links, and of a folder what lies below it alone.
fn whole(path: &str) -> String {
    let Ok(found) = Path::new(path).canonicalize() else {
        return path.to_owned();
    };
    match found.to_str() {
        Some(folder) if found.is_dir() => format!("{}/", folder.trim_end_matches('/')),
        Some(file) => file.to_owned(),
        None => path.to_owned(),
    }
}

/// How many documents `collection` has.
///
/// # Errors
/// When it has none.
pub(super) async fn documents_of(
    gateway: &Gateway,
    collection: &CollectionName,
) -> Result<u64, Complaint> {
    let listing = Listing {
        collection: Some(collection.clone()),
        state: None,
    };
    match gateway.number_of_documents(&listing).await? {
        0 => Err(Complaint::new(
            format!("no document is in collection `{collection}`"),
            "`ibid status` shows the collections",
        )),
        documents => Ok(documents),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_this_machine_is_taken_whole_and_any_other_as_it_is() {
        #[track_caller]
        fn check(path: &Path, expect: &str) {
            assert_eq!(whole(path.to_str().unwrap()), expect);
        }
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("contracts")).unwrap();
        std::fs::write(root.join("contracts/a.txt"), "a").unwrap();
        let contracts = format!("{}/contracts/", root.display());
        check(&root.join("contracts"), &contracts);
        check(&root.join("contracts/"), &contracts);
        check(&root.join("contracts/../contracts"), &contracts);
        check(&root.join("contracts/a.txt"), &format!("{contracts}a.txt"));
        check(Path::new("/"), "/");
        check(Path::new("upload://notes/"), "upload://notes/");
        check(Path::new("/no/such/fol"), "/no/such/fol");
    }
}
