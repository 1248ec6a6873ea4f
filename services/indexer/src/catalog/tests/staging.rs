//! From batches to a commit.

use super::*;

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
fn nothing_is_ready_without_a_chunk() {
    let it = Fixture::new();
    let id = it.add("/a", "!all missing");
    let work = it.hand_out().remove(0);
    let batch = embedded(&work, "!all missing", 2).remove(0);
    assert_eq!(
        (batch.total_chunks, it.catalog.stage(&batch).unwrap()),
        (0, Staged::Complete)
    );
    let committed = it
        .catalog
        .commit(&work.work, &pages("!all missing").0)
        .unwrap();
    assert_eq!(committed, Committed::Empty);
    assert!(!it.catalog.get(&id).unwrap().searchable);
    it.sound();
}
