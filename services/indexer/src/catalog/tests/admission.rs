//! Taking documents in, giving them up, and removing them.

use super::*;

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
