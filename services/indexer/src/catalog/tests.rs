use std::fmt::Write as _;

use shared::contract::subject::Stage;
use shared::contract::{
    DeadLetter, DocumentAdmitted, DocumentId, DocumentState, ErrorBody, ErrorCode, Filter,
    Generation, ListDocuments, Outcome, PageManifest, Pipeline, Retry,
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

#[test]
fn a_known_path_with_the_same_bytes_is_not_queued_again() {
    let it = Fixture::new();
    let first = it.catalog.admit(&admit("/a", A, false), 1).unwrap();
    assert_eq!((first.outcome, first.generation.0), (Outcome::New, 1));
    let check = |text, force, outcome, generation| {
        let again = it.catalog.admit(&admit("/a", text, force), 1).unwrap();
        assert_eq!((again.outcome, again.generation.0), (outcome, generation));
        assert_eq!(again.document_id, first.document_id);
    };
    check(A, false, Outcome::Unchanged, 1);
    it.hand_out();
    check(A, false, Outcome::Unchanged, 1);
    check(A, true, Outcome::Changed, 2);
    check(B, false, Outcome::Changed, 3);
    let work = it.hand_out();
    it.commit(&work[0], B);
    check(B, false, Outcome::Unchanged, 3);
    it.finish();
    check(B, false, Outcome::Unchanged, 3);
    it.sound();
}

#[test]
fn an_admission_is_there_after_a_kill() {
    let it = Fixture::new();
    let id = it.add("/a", A);
    let (it, opened) = it.reopen(pipeline());
    assert_eq!(opened, Opened::default());
    assert_eq!(it.state(&id), DocumentState::Queued);
    assert_eq!(it.hand_out().len(), 1);
}

#[test]
fn batches_may_come_in_any_order_and_again() {
    let it = Fixture::new();
    let id = it.add("/a", A);
    let work = it.hand_out().remove(0);
    let batches = embedded(&work, A, 1);
    assert_eq!(it.catalog.stage(&batches[2]).unwrap(), Staged::Waiting);
    assert_eq!(it.catalog.stage(&batches[2]).unwrap(), Staged::Waiting);
    assert_eq!(
        it.catalog.commit(&work.work, &pages(A).0).unwrap(),
        Committed::Incomplete
    );
    assert_eq!(it.catalog.stage(&batches[0]).unwrap(), Staged::Waiting);
    assert_eq!(
        it.catalog.get(&id).unwrap().chunks,
        2,
        "chunks of the batches that have come"
    );
    assert_eq!(it.catalog.stage(&batches[1]).unwrap(), Staged::Complete);
    // Killed between staging and commit: the last batch comes again.
    let (it, _) = it.reopen(pipeline());
    assert_eq!(it.catalog.stage(&batches[1]).unwrap(), Staged::Complete);
    let committed = it.catalog.commit(&work.work, &pages(A).0).unwrap();
    assert_eq!(
        committed,
        Committed::Visible {
            sequence: 1,
            documents: 1,
            chunks: 3
        }
    );
    assert_eq!(it.catalog.stage(&batches[0]).unwrap(), Staged::AlreadyDone);
    assert_eq!(
        it.catalog.commit(&work.work, &pages(A).0).unwrap(),
        Committed::AlreadyDone
    );
    assert_eq!(it.state(&id), DocumentState::Indexing);
    assert_eq!(
        it.catalog.finish(0, 1).unwrap(),
        [],
        "the indexes have not passed it"
    );
    let finished = it.catalog.finish(1, 9).unwrap();
    assert_eq!(
        finished
            .iter()
            .map(|one| (&one.id, one.state, one.took_ms))
            .collect::<Vec<_>>(),
        [(&id, DocumentState::Ready, 8)]
    );
    let view = it.catalog.get(&id).unwrap();
    assert_eq!(
        (view.state, view.pages, view.chunks, view.tokens),
        (DocumentState::Ready, 1, 3, 9)
    );
    assert_eq!((view.indexed_ms, view.page_ledger.len()), (Some(9), 1));
    assert_eq!(it.shown("/a"), A);
    it.sound();
}

#[test]
fn batches_cut_otherwise_do_not_mix() {
    let it = Fixture::new();
    let id = it.add("/a", A);
    let first = it.hand_out().remove(0);
    let again = it
        .catalog
        .hand_out(&[(id, Generation(1))])
        .unwrap()
        .remove(0);
    assert_eq!((first.work.attempt, again.work.attempt), (1, 2));
    let (fine, coarse) = (embedded(&first, A, 1), embedded(&again, A, 2));
    assert_eq!(it.catalog.stage(&fine[0]).unwrap(), Staged::Waiting);
    assert_eq!(it.catalog.stage(&coarse[0]).unwrap(), Staged::Waiting);
    assert_eq!(
        it.catalog.stage(&fine[1]).unwrap(),
        Staged::Superseded,
        "an earlier attempt"
    );
    assert_eq!(it.catalog.stage(&coarse[1]).unwrap(), Staged::Complete);
    it.catalog.commit(&again.work, &pages(A).0).unwrap();
    assert_eq!(it.shown("/a"), A);
    it.sound();
}

#[test]
fn work_that_nobody_wants_any_more_is_dropped() {
    let it = Fixture::new();
    let check = |message: &shared::contract::ChunksEmbedded, what: &str| {
        assert_eq!(
            it.catalog.stage(message).unwrap(),
            Staged::Superseded,
            "{what}"
        );
        let committed = it.catalog.commit(&message.work, &pages(A).0).unwrap();
        assert_eq!(committed, Committed::Superseded, "{what}");
    };
    let id = it.add("/a", A);
    let work = it.hand_out().remove(0);
    let batch = embedded(&work, A, 9).remove(0);
    let mut other = batch.clone();
    other.work.pipeline.chunker = "c0".to_owned();
    check(&other, "another pipeline");
    other = batch.clone();
    other.work.generation = Generation(9);
    check(&other, "another generation");
    it.catalog.admit(&admit("/a", A, true), 1).unwrap();
    check(&batch, "forced since");
    it.catalog.delete(&id, 1).unwrap();
    check(&batch, "deleted since");
    it.sound();
}

#[test]
fn the_same_bytes_at_two_paths_are_stored_once_and_shown_twice() {
    let it = Fixture::new();
    let (one, two) = (it.add("/one.txt", A), it.add("/two.txt", A));
    let work = it.hand_out();
    assert_eq!(work.len(), 1, "one working serves both");
    assert!(it.hand_out().is_empty());
    let committed = it.commit(&work[0], A);
    assert!(matches!(
        committed,
        Committed::Visible {
            documents: 2,
            chunks: 3,
            ..
        }
    ));
    it.finish();
    assert_eq!(
        (it.state(&one), it.state(&two)),
        (DocumentState::Ready, DocumentState::Ready)
    );
    // A third one needs no work at all.
    let three = it.add("/three.txt", A);
    assert_eq!(it.state(&three), DocumentState::Indexing);
    it.finish();
    assert_eq!(it.state(&three), DocumentState::Ready);
    assert_eq!(it.catalog.chunk_keys().unwrap().len(), 3);
    assert_eq!(it.catalog.status().unwrap().chunks, 3);
    for path in ["/one.txt", "/two.txt", "/three.txt"] {
        assert_eq!(it.shown(path), A);
    }
    assert_eq!(
        it.catalog.delete(&one, 1).unwrap().chunks,
        0,
        "others still show them"
    );
    assert_eq!(
        (it.shown("/one.txt").as_str(), it.shown("/two.txt").as_str()),
        ("", A)
    );
    it.catalog.delete(&two, 1).unwrap();
    assert_eq!(it.catalog.delete(&three, 1).unwrap().chunks, 3);
    assert!(it.catalog.chunk_keys().unwrap().is_empty());
    it.sound();
}

#[test]
fn every_document_s_name_finds_shared_content_and_a_deleted_one_s_does_not() {
    let it = Fixture::new();
    let one = it.ready("/one.txt", A);
    it.ready("/two.txt", A);
    let names = |after| {
        let changes = it.catalog.keyword_changes(after).unwrap().unwrap();
        changes
            .upserts
            .into_iter()
            .map(|document| document.name)
            .next()
            .unwrap()
    };
    assert_eq!(names(0), "one.txt two.txt");
    let before = it.catalog.sequence().unwrap();
    it.catalog.delete(&one, 1).unwrap();
    assert_eq!(names(before), "two.txt");
    assert!(
        it.catalog
            .vector_changes(before)
            .unwrap()
            .unwrap()
            .upserts
            .is_empty()
    );
    it.sound();
}

#[test]
fn changed_bytes_replace_the_older_version_only_when_the_newer_is_whole() {
    let it = Fixture::new();
    let id = it.ready("/a", A);
    let old_keys = it.catalog.chunk_keys().unwrap();
    it.catalog.admit(&admit("/a", B, false), 1).unwrap();
    let work = it.hand_out().remove(0);
    assert_eq!(it.shown("/a"), A);
    let view = it.catalog.get(&id).unwrap();
    assert!(view.searchable && view.state == DocumentState::Parsing);
    it.commit(&work, B);
    assert_eq!(it.shown("/a"), B);
    let new_keys = it.catalog.chunk_keys().unwrap();
    assert!(
        new_keys.iter().all(|key| !old_keys.contains(key)),
        "keys are never used again"
    );
    let changes = it.catalog.keyword_changes(1).unwrap().unwrap();
    assert_eq!(changes.deletes, old_keys);
    assert_eq!(
        changes
            .upserts
            .iter()
            .map(|one| one.key)
            .collect::<Vec<_>>(),
        new_keys
    );
    it.sound();
}

#[test]
fn a_newer_version_that_fails_leaves_the_older_one_visible() {
    let it = Fixture::new();
    let id = it.ready("/a", A);
    it.catalog.admit(&admit("/a", B, false), 1).unwrap();
    it.hand_out();
    assert!(
        !it.catalog.fail(&letter(&id, Some(1)), 1).unwrap(),
        "of an earlier generation"
    );
    assert!(it.catalog.fail(&letter(&id, Some(2)), 1).unwrap());
    assert!(
        !it.catalog.fail(&letter(&id, Some(2)), 1).unwrap(),
        "noted before"
    );
    let view = it.catalog.get(&id).unwrap();
    assert!(view.searchable && view.state == DocumentState::Failed);
    assert_eq!(view.error.unwrap().code, ErrorCode::NoText);
    assert_eq!(it.shown("/a"), A);
    assert_eq!(it.catalog.status().unwrap().dead_letters, 1);
    assert_eq!(
        it.catalog.retry(&Retry::AllFailed, 1).unwrap(),
        vec![id.clone()]
    );
    assert_eq!(
        it.catalog.status().unwrap().dead_letters,
        0,
        "a retry took it up"
    );
    let work = it.hand_out().remove(0);
    it.commit(&work, B);
    it.finish();
    assert_eq!(
        (it.state(&id), it.shown("/a").as_str()),
        (DocumentState::Ready, B)
    );
    it.sound();
}

#[test]
fn a_dead_letter_says_nothing_about_finished_work() {
    let it = Fixture::new();
    let id = it.ready("/a", A);
    assert!(!it.catalog.fail(&letter(&id, Some(1)), 1).unwrap());
    assert!(!it.catalog.fail(&letter(&id, None), 1).unwrap());
    let gone = it.add("/b", B);
    it.catalog.delete(&gone, 1).unwrap();
    assert!(!it.catalog.fail(&letter(&gone, Some(1)), 1).unwrap());
    assert_eq!(it.state(&id), DocumentState::Ready);
}

#[test]
fn one_that_waits_for_the_content_of_a_failed_one_gets_its_own_turn() {
    let it = Fixture::new();
    let (one, two) = (it.add("/one", A), it.add("/two", A));
    assert_eq!(it.hand_out().len(), 1);
    it.catalog.fail(&letter(&one, None), 1).unwrap();
    let turn = it.hand_out();
    assert_eq!(turn.len(), 1);
    assert_eq!(turn[0].work.document_id, two);
    // A failed document whose file is added again is tried again.
    let again = it.catalog.admit(&admit("/one", A, false), 1).unwrap();
    assert_eq!((again.outcome, again.generation.0), (Outcome::Changed, 2));
    it.commit(&turn[0], A);
    it.finish();
    assert_eq!(
        (it.state(&one), it.state(&two)),
        (DocumentState::Ready, DocumentState::Ready)
    );
    it.sound();
}

#[test]
fn forced_work_is_done_again_and_everyone_shows_the_new_making() {
    let it = Fixture::new();
    it.ready("/one", A);
    let two = it.ready("/two", A);
    let old_keys = it.catalog.chunk_keys().unwrap();
    it.catalog.admit(&admit("/one", A, true), 1).unwrap();
    let queued = it.catalog.next_queued(9).unwrap();
    assert!(queued[0].reparse, "the pages are made anew too");
    let first = it.hand_out().remove(0);
    // Forced twice: the first order is superseded.
    it.catalog.admit(&admit("/one", A, true), 1).unwrap();
    assert_eq!(it.commit(&first, A), Committed::Superseded);
    let second = it.hand_out().remove(0);
    let again = it
        .catalog
        .hand_out(&[(second.work.document_id.clone(), Generation(3))])
        .unwrap();
    assert_eq!(again[0].work.attempt, 2);
    assert!(matches!(
        it.commit(&second, A),
        Committed::Visible { documents: 2, .. }
    ));
    it.finish();
    assert_eq!(it.state(&two), DocumentState::Ready);
    assert_eq!(
        (it.shown("/one").as_str(), it.shown("/two").as_str()),
        (A, A)
    );
    let new_keys = it.catalog.chunk_keys().unwrap();
    assert_eq!(new_keys.len(), 3);
    assert!(new_keys.iter().all(|key| !old_keys.contains(key)));
    it.sound();
}

#[test]
fn a_document_added_again_after_its_deletion_is_another_one() {
    let it = Fixture::new();
    let before = it.ready("/a", A);
    let removed = it.catalog.delete(&before, 3).unwrap();
    assert_eq!((removed.chunks, removed.sequence), (3, 2));
    let receipt = it.catalog.receipt(&before).unwrap();
    assert!(
        receipt
            .stores
            .iter()
            .all(|store| store.hidden_ms == 3 && store.purged_ms.is_none())
    );
    assert!(matches!(
        it.catalog.get(&before),
        Err(CatalogError::NotFound(_))
    ));
    assert!(matches!(
        it.catalog.delete(&before, 4),
        Err(CatalogError::NotFound(_))
    ));
    let after = it.catalog.admit(&admit("/a", A, false), 1).unwrap();
    assert_eq!(after.outcome, Outcome::New);
    assert_ne!(after.document_id, before);
    let work = it.hand_out().remove(0);
    it.commit(&work, A);
    it.finish();
    assert_eq!(it.shown("/a"), A);
    it.sound();
}

#[test]
fn pages_that_could_not_be_read_make_a_document_partial() {
    let it = Fixture::new();
    let text = "first page\n\u{c}!unreadable\u{c}third page\n";
    let id = it.ready("/a", text);
    let view = it.catalog.get(&id).unwrap();
    assert_eq!(
        (view.state, view.missing_pages),
        (DocumentState::Partial, vec![2])
    );
    it.sound();
}

#[test]
fn parts_that_do_not_fit_together_never_become_visible() {
    let it = Fixture::new();
    it.add("/a", A);
    let work = it.hand_out().remove(0);
    let check = |change: &dyn Fn(&mut shared::contract::ChunksEmbedded), part: &str| {
        for mut batch in embedded(&work, A, 2) {
            change(&mut batch);
            it.catalog.stage(&batch).unwrap();
        }
        match it.catalog.commit(&work.work, &pages(A).0).unwrap() {
            Committed::Unfit(problem) => assert!(problem.contains(part), "{problem}"),
            other => panic!("{other:?}"),
        }
        it.catalog.unstage(&work.work).unwrap();
    };
    check(&|batch| batch.chunks[0].index = 7, "numbered");
    check(&|batch| batch.chunks[0].spans[0].page = 2, "no page");
    check(&|batch| batch.chunks[0].spans.clear(), "no page");
    check(&|batch| drop(batch.vectors.pop()), "vectors");
    assert_eq!(it.shown("/a"), "");
    assert!(matches!(it.commit(&work, A), Committed::Visible { .. }));
}

#[test]
fn another_parser_makes_documents_again_and_another_model_hides_them_meanwhile() {
    let it = Fixture::new();
    let id = it.ready("/a", A);
    let newer = Pipeline {
        parser: "p2".to_owned(),
        ..pipeline()
    };
    let (it, opened) = it.reopen(newer.clone());
    assert_eq!(
        opened,
        Opened {
            requeued: 1,
            retired: 0
        }
    );
    assert_eq!(
        (it.state(&id), it.shown("/a").as_str()),
        (DocumentState::Queued, A)
    );
    let work = it.hand_out().remove(0);
    assert_eq!(work.work.pipeline, newer);
    it.commit(&work, A);
    it.finish();
    assert_eq!(it.shown("/a"), A);
    assert_eq!(
        it.catalog.versions().unwrap().len(),
        1,
        "the older making is gone"
    );

    let model = Pipeline {
        model: "other-fp32".parse().unwrap(),
        ..newer
    };
    let (it, opened) = it.reopen(model.clone());
    assert_eq!(
        opened,
        Opened {
            requeued: 1,
            retired: 1
        }
    );
    assert_eq!(
        (it.state(&id), it.shown("/a").as_str()),
        (DocumentState::Queued, "")
    );
    assert_eq!(it.catalog.dimension().unwrap(), None);
    it.sound();
    let (it, opened) = it.reopen(model);
    assert_eq!(opened, Opened::default(), "only once");
    assert_eq!(it.hand_out().len(), 1);
}

#[test]
fn progress_is_noted_forwards_and_for_the_present_generation_only() {
    let it = Fixture::new();
    let id = it.add("/a", A);
    let note = |generation, state, pages| {
        let generation = Generation(generation);
        let heard = Progress {
            id: id.clone(),
            generation,
            state,
            pages,
        };
        it.catalog.note_progress(&[heard]).unwrap();
        it.state(&id)
    };
    assert_eq!(
        note(1, DocumentState::Embedding, 3),
        DocumentState::Queued,
        "not handed out"
    );
    it.hand_out();
    assert_eq!(note(1, DocumentState::Chunking, 3), DocumentState::Chunking);
    assert_eq!(it.catalog.get(&id).unwrap().pages, 3);
    assert_eq!(
        note(0, DocumentState::Embedding, 0),
        DocumentState::Chunking
    );
    assert_eq!(
        note(1, DocumentState::Embedding, 0),
        DocumentState::Embedding
    );
    assert_eq!(note(1, DocumentState::Parsing, 0), DocumentState::Embedding);
    assert_eq!(it.catalog.get(&id).unwrap().pages, 3);
}

#[test]
fn listings_are_paged_counted_and_filtered() {
    let it = Fixture::new();
    let mut ids: Vec<DocumentId> = Vec::new();
    for number in 0..7 {
        ids.push(it.add(&format!("/{number}"), &format!("text {number}\n")));
    }
    it.catalog.fail(&letter(&ids[3], None), 1).unwrap();
    let mut request = ListDocuments {
        limit: 3,
        ..ListDocuments::default()
    };
    let mut seen = Vec::new();
    loop {
        let page = it.catalog.list(&request).unwrap();
        assert_eq!(page.total, 7);
        seen.extend(page.documents.into_iter().map(|view| view.id));
        request.after = page.next;
        if request.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ids);
    let list = |request: ListDocuments| {
        let page = it.catalog.list(&request).unwrap();
        (
            page.documents
                .into_iter()
                .map(|view| view.id)
                .collect::<Vec<_>>(),
            page.total,
        )
    };
    let failed = ListDocuments {
        state: Some(DocumentState::Failed),
        ..Default::default()
    };
    assert_eq!(list(failed), (vec![ids[3].clone()], 1));
    let some = ListDocuments {
        ids: vec![ids[5].clone(), ids[1].clone()],
        ..Default::default()
    };
    assert_eq!(list(some), (vec![ids[1].clone(), ids[5].clone()], 2));
    let elsewhere = ListDocuments {
        collection: Some("other".parse().unwrap()),
        ..Default::default()
    };
    assert_eq!(list(elsewhere), (Vec::new(), 0));
    let bad = ListDocuments {
        after: Some("x".to_owned()),
        ..Default::default()
    };
    assert!(matches!(
        it.catalog.list(&bad),
        Err(CatalogError::Cursor(_))
    ));
}

#[test]
fn a_dump_in_pages_is_everything_in_order() {
    let it = Fixture::new();
    let mut long = String::new();
    for line in 0..400 {
        writeln!(long, "line {line} {}", "x".repeat(2_000)).unwrap();
    }
    it.ready("/long", &long);
    it.ready("/a", A);
    let (mut rows, mut after, mut pages) = (Vec::new(), None::<String>, 0);
    loop {
        let page = it.catalog.dump(after.as_deref()).unwrap();
        assert!(serde_json::to_vec(&page).unwrap().len() < 1 << 20);
        rows.extend(page.rows);
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert!(pages > 1);
    let expect: Vec<String> = chunks(A)
        .into_iter()
        .chain(chunks(&long))
        .map(|c| c.text)
        .collect();
    assert_eq!(
        rows.iter().map(|row| row.text.clone()).collect::<Vec<_>>(),
        expect
    );
    assert!(matches!(
        it.catalog.dump(Some("x")),
        Err(CatalogError::Cursor(_))
    ));
}

#[test]
fn a_newer_schema_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("catalog.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    let error = Catalog::open(&path, pipeline()).err().unwrap();
    assert!(
        matches!(error, CatalogError::Newer { found: 99, .. }),
        "{error}"
    );
}

#[test]
fn a_manifest_can_be_made_again_from_the_catalog() {
    let it = Fixture::new();
    it.ready("/a", "one\n\u{c}two\n");
    let version = it.catalog.versions().unwrap().remove(0);
    let usage = it
        .catalog
        .uses_pages(&version.file_hash, &version.parser)
        .unwrap();
    let expect: PageManifest = pages("one\n\u{c}two\n").0;
    assert_eq!(usage.manifest, Some(expect));
    assert!(usage.pages && !usage.working);
}

#[test]
fn filters_come_to_the_chunks_of_what_they_name() {
    let it = Fixture::new();
    let a = it.ready("/a", A);
    it.ready("/b", B);
    let filter = Filter {
        documents: vec![a],
        ..Filter::default()
    };
    assert_eq!(it.catalog.allowed(&filter).unwrap().keys(), [1, 2, 3]);
    let other = Filter {
        collections: vec!["other".parse().unwrap()],
        ..Filter::default()
    };
    assert!(it.catalog.allowed(&other).unwrap().is_empty());
    let hits = it
        .catalog
        .join(&[(5, 0.5), (99, 0.4), (1, 0.3)], &Filter::default(), 9)
        .unwrap();
    let told: Vec<_> = hits
        .iter()
        .map(|hit| (hit.path.as_str(), hit.text.as_str()))
        .collect();
    assert_eq!(told, [("/b", "beta two\n"), ("/a", "alpha one\n")]);
}
