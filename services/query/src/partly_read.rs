//! Cited documents of which pages are missing: what was not read may say otherwise.

use std::collections::HashSet;

use shared::contract::{Citation, Coverage, DocumentId, Passage};

/// Of each passage: its document, the document's name, and how much of it was read.
pub(crate) struct PartlyRead(Vec<(DocumentId, String, Option<Coverage>)>);

impl PartlyRead {
    pub(crate) fn of(passages: &[Passage]) -> Self {
        let hits = passages.iter().map(|passage| &passage.hit);
        Self(
            hits.map(|hit| (hit.document_id.clone(), hit.name.clone(), hit.coverage))
                .collect(),
        )
    }

    /// A line for each partly read document among those cited.
    pub(crate) fn notes(&self, citations: &[Citation]) -> Vec<String> {
        let mut told = HashSet::new();
        let mut notes = Vec::new();
        for citation in citations {
            let index = (citation.number as usize).checked_sub(1);
            if let Some((id, name, Some(coverage))) = index.and_then(|index| self.0.get(index))
                && told.insert(id)
            {
                notes.push(format!("`{name}` is only partly readable: {coverage}"));
            }
        }
        notes
    }
}
