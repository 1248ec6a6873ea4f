//! What no process counts by itself: how much waits, and what the catalog holds.

use shared::bus::QueueDepth;
use shared::contract::CatalogStatus;
use shared::metrics::Description;

use super::exposition::Page;

const QUEUE: Description = Description {
    name: "stage_queue_messages",
    kind: "gauge",
    labels: &["stage", "state"],
    help: "Messages of a stage: waiting, in hand, and handed out more than once.",
};
const DOCUMENTS: Description = Description {
    name: "catalog_documents",
    kind: "gauge",
    labels: &["state"],
    help: "Documents by state.",
};
const PAGES: Description = single("catalog_pages", "Visible pages.");
const CHUNKS: Description = single("catalog_chunks", "Visible chunks.");
const TOKENS: Description = single("catalog_tokens", "Tokens of the visible chunks.");
const DEAD_LETTERS: Description = single(
    "catalog_dead_letters",
    "Dead letters that no retry has taken up.",
);
const LAG: Description = Description {
    name: "index_lag_changes",
    kind: "gauge",
    labels: &["index"],
    help: "Changes of the catalog that an index has not applied yet.",
};

/// All families of this file.
#[cfg(test)]
pub(super) const FAMILIES: [Description; 7] =
    [QUEUE, DOCUMENTS, PAGES, CHUNKS, TOKENS, DEAD_LETTERS, LAG];

const fn single(name: &'static str, help: &'static str) -> Description {
    Description {
        name,
        kind: "gauge",
        labels: &[],
        help,
    }
}

/// Adds how much of each stage's work waits.
pub(super) fn add_queues(page: &mut Page, queues: &[QueueDepth]) {
    for queue in queues {
        let stage = queue.stage.name();
        page.add_values(
            &QUEUE,
            &[
                (&[stage, "waiting"], queue.waiting),
                (&[stage, "in_hand"], queue.in_hand),
                (&[stage, "repeated"], queue.repeated),
            ],
        );
    }
}

/// Adds what the catalog holds and how far the indexes are behind it.
pub(super) fn add_catalog(page: &mut Page, catalog: &CatalogStatus) {
    let documents = &catalog.documents;
    page.add_values(
        &DOCUMENTS,
        &[
            (&["queued"], documents.queued),
            (&["working"], documents.working),
            (&["ready"], documents.ready),
            (&["partial"], documents.partial),
            (&["failed"], documents.failed),
        ],
    );
    page.add_values(&PAGES, &[(&[], catalog.pages)]);
    page.add_values(&CHUNKS, &[(&[], catalog.chunks)]);
    page.add_values(&TOKENS, &[(&[], catalog.tokens)]);
    page.add_values(&DEAD_LETTERS, &[(&[], catalog.dead_letters)]);
    let behind = |index: u64| catalog.sequence.saturating_sub(index);
    page.add_values(
        &LAG,
        &[
            (&["keyword"], behind(catalog.keyword_sequence)),
            (&["vector"], behind(catalog.vector_sequence)),
        ],
    );
}
