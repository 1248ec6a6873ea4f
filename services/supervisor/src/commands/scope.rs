//! Where a question looks, from the arguments of `search`, `ask` and `chat`.

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
        semantic_weight: args.semantic_weight,
        filter: Filter {
            collections: args.collection.clone(),
            documents,
            ..Filter::default()
        },
        ..Question::default()
    })
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
