//! The catalog, a rule at a time.

mod admission;
mod filters;
mod neighbours;
mod passwords;
mod staging;
mod versions;
mod views;

use std::fmt::Write as _;

use shared::contract::subject::Stage;
use shared::contract::{
    Chunk, Coverage, DeadLetter, DocumentAdmitted, DocumentId, DocumentState, ErrorBody, ErrorCode,
    Filter, Generation, ListDocuments, ListPages, Outcome, PageManifest, PageView, Pipeline, Retry,
};
use tempfile::TempDir;

use super::{Catalog, Committed, Opened, Progress, Staged};
use crate::error::CatalogError;
use crate::test_support::{admit, chunks, embedded, pages, pipeline};

const A: &str = "alpha one\nalpha two\nalpha three\n";
const B: &str = "beta one\nbeta two\n";

struct Fixture {
    folder: TempDir,
    catalog: Catalog,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (catalog, opened) = open(&folder, pipeline());
        assert_eq!(opened, Opened::default());
        Self { folder, catalog }
    }

    fn reopen(self, pipeline: Pipeline) -> (Self, Opened) {
        let Self { folder, catalog } = self;
        drop(catalog);
        let (catalog, opened) = open(&folder, pipeline);
        (Self { folder, catalog }, opened)
    }

    fn add(&self, path: &str, text: &str) -> DocumentId {
        self.catalog
            .admit(&admit(path, text, false), 1)
            .unwrap()
            .document_id
    }

    fn hand_out(&self) -> Vec<DocumentAdmitted> {
        let next: Vec<(DocumentId, Generation)> = self
            .catalog
            .next_queued(100)
            .unwrap()
            .into_iter()
            .map(|queued| (queued.id, queued.generation))
            .collect();
        self.catalog.hand_out(&next).unwrap()
    }

    fn commit(&self, work: &DocumentAdmitted, text: &str) -> Committed {
        for batch in embedded(work, text, 2) {
            self.catalog.stage(&batch).unwrap();
        }
        self.catalog.commit(&work.work, &pages(text).0).unwrap()
    }

    /// Adds a document and makes it ready.
    fn ready(&self, path: &str, text: &str) -> DocumentId {
        let id = self.add(path, text);
        for work in self.hand_out() {
            self.commit(&work, text);
        }
        self.finish();
        assert!(self.state(&id).is_final());
        id
    }

    fn finish(&self) -> usize {
        self.catalog
            .finish(self.catalog.sequence().unwrap(), 7)
            .unwrap()
            .len()
    }

    fn state(&self, id: &DocumentId) -> DocumentState {
        self.catalog.get(id).unwrap().state
    }

    /// The visible text of a path.
    fn shown(&self, path: &str) -> String {
        let rows = self.catalog.dump(None).unwrap().rows;
        rows.into_iter()
            .filter(|row| row.path == path)
            .map(|row| row.text)
            .collect()
    }

    fn sound(&self) {
        assert_eq!(self.catalog.check().unwrap(), Vec::<String>::new());
    }
}

fn open(folder: &TempDir, pipeline: Pipeline) -> (Catalog, Opened) {
    Catalog::open(&folder.path().join("catalog.db"), pipeline).unwrap()
}

fn letter(id: &DocumentId, generation: Option<u64>) -> DeadLetter {
    DeadLetter {
        stage: Stage::Chunk,
        document_id: id.clone(),
        generation: generation.map(Generation),
        deliveries: 1,
        error: ErrorBody::new(ErrorCode::NoText, "no text", "add another file"),
    }
}
