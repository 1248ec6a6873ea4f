//! Where a question looks, from the arguments of `search`, `ask` and `chat`.

use shared::contract::{Filter, Question};

use super::find_document;
use crate::cli::ScopeArgs;
use crate::client::Gateway;
use crate::error::Complaint;

/// A question without its text.
///
/// # Errors
/// When a document is not found, or its name is that of several.
pub(super) async fn question(gateway: &Gateway, args: &ScopeArgs) -> Result<Question, Complaint> {
    let mut documents = Vec::new();
    if !args.document.is_empty() {
        let all = find_document::all(gateway, None).await?;
        for wanted in &args.document {
            documents.push(find_document::one(&all, wanted)?.id.clone());
        }
    }
    Ok(Question {
        k: args.k.unwrap_or_default(),
        semantic_weight: args.semantic_weight,
        filter: Filter {
            collections: args.collection.clone(),
            documents,
        },
        ..Question::default()
    })
}
