//! The catalog against a model of a page: any order of admissions, hand-outs, deliveries (late,
//! repeated, superseded), failures, deletions and restarts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use shared::contract::subject::Stage;
use shared::contract::{
    ChunksEmbedded, DeadLetter, DocumentAdmitted, DocumentId, DocumentState, ErrorBody, ErrorCode,
    Generation, Retry, Sha256Hex,
};
use tempfile::TempDir;

use super::{Catalog, Staged};
use crate::chunk_set::ChunkKey;
use crate::test_support::{admit, embedded, pages, pipeline};

const PATHS: [&str; 4] = ["/a.txt", "/b.txt", "/c.txt", "/d/a.txt"];
const TEXTS: [&str; 3] = [
    "one\n",
    "two\ntwo and a half\nmore\n",
    "three\n\u{c}third\n",
];

#[derive(Debug, Clone)]
enum Step {
    Admit {
        path: usize,
        text: usize,
        force: bool,
    },
    HandOut(usize),
    Again(usize),
    Deliver(usize),
    Fail(usize),
    Delete(usize),
    Retry(usize),
    Follow,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..PATHS.len(), 0..TEXTS.len(), prop::bool::weighted(0.2))
            .prop_map(|(path, text, force)| Step::Admit { path, text, force }),
        4 => (1..3_usize).prop_map(Step::HandOut),
        1 => (0..PATHS.len()).prop_map(Step::Again),
        10 => (0..64_usize).prop_map(Step::Deliver),
        1 => (0..PATHS.len()).prop_map(Step::Fail),
        1 => (0..PATHS.len()).prop_map(Step::Delete),
        1 => (0..PATHS.len()).prop_map(Step::Retry),
        3 => Just(Step::Follow),
        1 => Just(Step::Reopen),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Queued,
    Out,
    Done,
    Failed,
}

#[derive(Debug, Clone)]
struct Document {
    id: DocumentId,
    generation: u64,
    wanted: usize,
    fresh: bool,
    phase: Phase,
    shown: Option<usize>,
    staged: BTreeSet<u32>,
}

struct World {
    folder: TempDir,
    catalog: Catalog,
    model: BTreeMap<usize, Document>,
    /// Every message ever made: any may come at any time.
    post: Vec<(usize, ChunksEmbedded)>,
    /// A derived index: what it holds and what it has passed.
    index: BTreeMap<ChunkKey, String>,
    passed: u64,
    used_keys: BTreeSet<ChunkKey>,
}

fn open(folder: &TempDir) -> Catalog {
    Catalog::open(&folder.path().join("catalog.db"), pipeline())
        .unwrap()
        .0
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            catalog: open(&folder),
            folder,
            model: BTreeMap::new(),
            post: Vec::new(),
            index: BTreeMap::new(),
            passed: 0,
            used_keys: BTreeSet::new(),
        }
    }

    fn is_shown(&self, text: usize) -> bool {
        self.model
            .values()
            .any(|document| document.shown == Some(text))
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Admit { path, text, force } => self.admit(path, text, force),
            Step::HandOut(limit) => self.hand_out(limit),
            Step::Again(path) => {
                let Some(document) = self.model.get(&path) else {
                    return;
                };
                let wanted = [(document.id.clone(), Generation(document.generation))];
                let out = matches!(document.phase, Phase::Out | Phase::Queued);
                let messages = self.catalog.hand_out(&wanted).unwrap();
                assert_eq!(messages.len(), usize::from(out));
                // The feeder never hands out what waits for another; no more does this test.
                if let Some(document) = self.model.get_mut(&path)
                    && document.phase == Phase::Queued
                {
                    document.phase = Phase::Out;
                }
                self.send(messages);
            }
            Step::Deliver(number) => {
                if !self.post.is_empty() {
                    let (text, message) = self.post[number % self.post.len()].clone();
                    self.deliver(text, &message);
                }
            }
            Step::Fail(path) => self.fail(path),
            Step::Delete(path) => {
                if let Some(document) = self.model.remove(&path) {
                    self.catalog.delete(&document.id, 1).unwrap();
                }
            }
            Step::Retry(path) => {
                if let Some(document) = self.model.get_mut(&path) {
                    self.catalog
                        .retry(&Retry::Document(document.id.clone()), 1)
                        .unwrap();
                    document.generation += 1;
                    document.phase = Phase::Queued;
                    document.fresh = true;
                    document.staged.clear();
                }
            }
            Step::Follow => self.follow(),
            Step::Reopen => self.catalog = open(&self.folder),
        }
    }

    fn admit(&mut self, path: usize, text: usize, force: bool) {
        let request = admit(PATHS[path], TEXTS[text], force);
        let admitted = self.catalog.admit(&request, 1).unwrap();
        let shared = !force && self.is_shown(text);
        let document = self.model.entry(path).or_insert_with(|| Document {
            id: admitted.document_id.clone(),
            generation: 0,
            wanted: usize::MAX,
            fresh: force,
            phase: Phase::Queued,
            shown: None,
            staged: BTreeSet::new(),
        });
        let unchanged = !force && document.wanted == text && document.phase != Phase::Failed;
        if !unchanged {
            document.generation += 1;
            document.wanted = text;
            document.fresh = force;
            document.phase = if shared { Phase::Done } else { Phase::Queued };
            document.staged.clear();
            if shared {
                document.shown = Some(text);
            }
        }
        assert_eq!(admitted.document_id, document.id);
        assert_eq!(admitted.generation.0, document.generation);
    }

    fn hand_out(&mut self, limit: usize) {
        let next = self.catalog.next_queued(limit).unwrap();
        let wanted: Vec<_> = next
            .iter()
            .map(|one| (one.id.clone(), one.generation))
            .collect();
        for queued in &next {
            let document = self
                .model
                .values_mut()
                .find(|one| one.id == queued.id)
                .unwrap();
            assert_eq!(document.phase, Phase::Queued);
            document.phase = Phase::Out;
        }
        let messages = self.catalog.hand_out(&wanted).unwrap();
        assert_eq!(messages.len(), next.len());
        self.send(messages);
    }

    fn send(&mut self, messages: Vec<DocumentAdmitted>) {
        for message in messages {
            let text = TEXTS
                .iter()
                .position(|text| Sha256Hex::of(text.as_bytes()) == message.content)
                .unwrap();
            let batches = embedded(&message, TEXTS[text], 1);
            self.post
                .extend(batches.into_iter().map(|batch| (text, batch)));
        }
    }

    fn deliver(&mut self, text: usize, message: &ChunksEmbedded) {
        let staged = self.catalog.stage(message).unwrap();
        if staged == Staged::Complete {
            self.catalog
                .commit(&message.work, &pages(TEXTS[text]).0)
                .unwrap();
        }
        let id = &message.work.document_id;
        let Some(document) = self.model.values_mut().find(|one| one.id == *id) else {
            assert_eq!(staged, Staged::Superseded);
            return;
        };
        if document.generation != message.work.generation.0 {
            assert_eq!(staged, Staged::Superseded);
            return;
        }
        if document.phase != Phase::Out {
            assert_eq!(staged, Staged::AlreadyDone);
            return;
        }
        document.staged.insert(message.batch.index);
        let complete = document.staged.len() == message.batch.count as usize;
        assert_eq!(
            staged,
            if complete {
                Staged::Complete
            } else {
                Staged::Waiting
            }
        );
        if !complete {
            return;
        }
        let id = id.clone();
        for other in self.model.values_mut() {
            let waits = other.wanted == text && !other.fresh && other.phase != Phase::Failed;
            if other.id == id || waits {
                other.phase = Phase::Done;
                other.shown = Some(text);
                other.fresh = false;
                other.staged.clear();
            }
        }
    }

    fn fail(&mut self, path: usize) {
        let Some(document) = self.model.get_mut(&path) else {
            return;
        };
        let letter = DeadLetter {
            stage: Stage::Parse,
            document_id: document.id.clone(),
            generation: Some(Generation(document.generation)),
            deliveries: 1,
            error: ErrorBody::new(ErrorCode::Damaged, "damaged", "mend it"),
        };
        let failed = self.catalog.fail(&letter, 1).unwrap();
        assert_eq!(failed, matches!(document.phase, Phase::Queued | Phase::Out));
        if failed {
            document.phase = Phase::Failed;
            document.staged.clear();
        }
    }

    fn follow(&mut self) {
        while let Some(changes) = self.catalog.keyword_changes(self.passed).unwrap() {
            for document in changes.upserts {
                self.index.insert(document.key, document.name);
            }
            for key in changes.deletes {
                self.index.remove(&key);
            }
            self.passed = changes.sequence;
        }
        self.catalog.finish(self.passed, 1).unwrap();
    }

    /// What must hold after every step.
    fn check(&mut self) {
        assert_eq!(self.catalog.check().unwrap(), Vec::<String>::new());
        let dump = self.catalog.dump(None).unwrap().rows;
        for (path, document) in &self.model {
            let shown: String = dump
                .iter()
                .filter(|row| row.path == PATHS[*path])
                .map(|row| row.text.as_str())
                .collect();
            let expect = document.shown.map(|text| TEXTS[text].replace('\u{c}', ""));
            assert_eq!(shown, expect.unwrap_or_default(), "{document:?}");
            let view = self.catalog.get(&document.id).unwrap();
            assert_eq!(view.generation.0, document.generation);
            let phase = match view.state {
                DocumentState::Queued => Phase::Queued,
                DocumentState::Failed => Phase::Failed,
                DocumentState::Indexing | DocumentState::Ready | DocumentState::Partial => {
                    Phase::Done
                }
                _ => Phase::Out,
            };
            assert_eq!(phase, document.phase, "{document:?}");
        }
        assert!(
            dump.iter()
                .all(|row| { self.model.keys().any(|path| PATHS[*path] == row.path) })
        );
        let keys: BTreeSet<ChunkKey> = self.catalog.chunk_keys().unwrap().into_iter().collect();
        let lines: BTreeSet<(&str, u32)> = dump
            .iter()
            .map(|row| (row.chunk_id.file_hash.as_str(), row.chunk_id.index))
            .collect();
        assert_eq!(keys.len(), lines.len(), "the same content is stored once");
        // A key, once gone, never comes back.
        let highest = self.used_keys.last().copied().unwrap_or(0);
        assert!(
            keys.iter()
                .all(|key| self.used_keys.contains(key) || *key > highest)
        );
        self.used_keys.extend(keys);
    }

    /// Everything that is not given up reaches its end.
    fn finish(&mut self) {
        for _ in 0..20 {
            self.hand_out(100);
            for (text, message) in self.post.clone() {
                self.deliver(text, &message);
            }
            self.follow();
        }
        self.check();
        for document in self.model.values() {
            let state = self.catalog.get(&document.id).unwrap().state;
            assert!(state.is_final(), "{document:?} is {state:?}");
            if document.phase != Phase::Failed {
                assert_eq!(document.shown, Some(document.wanted));
            }
        }
        // An index that followed step by step holds what one filled from the beginning does, and
        // both hold what is visible.
        let followed = std::mem::take(&mut self.index);
        self.passed = 0;
        self.follow();
        assert_eq!(followed, self.index);
        let keys: Vec<ChunkKey> = self.index.keys().copied().collect();
        assert_eq!(keys, self.catalog.chunk_keys().unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_catalog_does_what_the_model_does(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = World::new();
        for step in &steps {
            world.apply(step);
            world.check();
        }
        world.finish();
    }
}
