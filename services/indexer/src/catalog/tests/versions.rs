//! Which version a document shows, and when it gives way to a newer one.

use super::*;

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

fn with(parser: &str, chunker: &str) -> Pipeline {
    Pipeline {
        parser: parser.to_owned(),
        chunker: chunker.to_owned(),
        ..pipeline()
    }
}

fn opened(requeued: u64, outdated: u64, retired: u64) -> Opened {
    Opened {
        requeued,
        outdated,
        retired,
    }
}

#[test]
fn what_an_earlier_parser_or_chunker_made_stays_until_it_is_asked_for_anew() {
    #[track_caller]
    fn check(newer: &Pipeline, pages_are_read_again: bool) {
        let it = Fixture::new();
        let (one, two) = (it.ready("/one", A), it.ready("/two", A));
        let other = it.ready("/other", B);
        let on_its_way = it.add("/new", "new\n");
        it.hand_out();
        let (it, what) = it.reopen(newer.clone());
        assert_eq!(what, opened(1, 3, 0));
        for id in [&one, &two, &other] {
            let view = it.catalog.get(id).unwrap();
            assert_eq!(view.state, DocumentState::Ready);
            assert!(view.outdated && view.searchable);
        }
        assert_eq!(it.state(&on_its_way), DocumentState::Queued);
        assert_eq!(it.catalog.status().unwrap().outdated, 3);
        assert_eq!(
            (it.shown("/one").as_str(), it.shown("/other").as_str()),
            (A, B)
        );
        let again = it.catalog.admit(&admit("/one", A, false), 1).unwrap();
        assert_eq!(again.outcome, Outcome::Unchanged);
        let work = it.hand_out().remove(0);
        assert_eq!(work.work.document_id, on_its_way);
        it.commit(&work, "new\n");
        it.finish();
        it.sound();

        let asked = it.catalog.retry(&Retry::Outdated, 2).unwrap();
        assert_eq!(asked, [one.clone(), two.clone(), other.clone()]);
        assert!(
            it.catalog.retry(&Retry::Outdated, 2).unwrap().is_empty(),
            "queued already"
        );
        assert!(
            it.catalog
                .next_queued(9)
                .unwrap()
                .iter()
                .all(|queued| !queued.reparse)
        );
        let old = it.catalog.versions().unwrap().remove(0);
        let work = it.hand_out();
        assert_eq!(work.len(), 2, "the same content once");
        assert_eq!(&work[0].work.pipeline, newer);
        assert_eq!(
            it.shown("/two"),
            A,
            "the old making until the new one is whole"
        );
        let view = it.catalog.get(&two).unwrap();
        assert!(view.searchable && view.outdated && view.state == DocumentState::Queued);
        it.commit(&work[0], A);
        assert_eq!(
            (it.shown("/one").as_str(), it.shown("/two").as_str()),
            (A, A)
        );
        it.commit(&work[1], B);
        it.finish();
        for id in [&one, &two, &other] {
            let view = it.catalog.get(id).unwrap();
            assert_eq!((view.state, view.outdated), (DocumentState::Ready, false));
        }
        let status = it.catalog.status().unwrap();
        assert_eq!((status.outdated, status.chunks), (0, 6));
        let used = it.catalog.uses_pages(&old.file_hash, &old.parser).unwrap();
        assert_eq!(used.pages, !pages_are_read_again, "its folder of pages");
        it.sound();
        let (_it, what) = it.reopen(newer.clone());
        assert_eq!(what, Opened::default(), "only once");
    }
    check(&with("p3", Pipeline::CHUNKER), true);
    check(&with(Pipeline::PARSER, "c3"), false);
    check(&with("p3", "c3"), true);
}

#[test]
fn the_folder_of_outdated_pages_is_used_as_long_as_they_are_shown() {
    let it = Fixture::new();
    let id = it.ready("/a", A);
    let (it, _) = it.reopen(with("p3", "c3"));
    let version = it.catalog.versions().unwrap().remove(0);
    assert_eq!(version.parser, Pipeline::PARSER);
    let list = |it: &Fixture| {
        let document = id.clone();
        let request = ListPages {
            document,
            after: 0,
            limit: 0,
            missing: false,
        };
        it.catalog.pages(&request).unwrap().folder
    };
    let hash = &version.file_hash;
    assert_eq!(list(&it), PageManifest::folder(hash, Pipeline::PARSER));
    let old = it.catalog.uses_pages(hash, Pipeline::PARSER).unwrap();
    assert!(old.pages && !old.working && old.manifest.is_some());
    // Read anew, and it fails: the old making stays, and can be asked for again.
    it.catalog.retry(&Retry::Outdated, 1).unwrap();
    it.hand_out();
    let working = it.catalog.uses_pages(hash, Pipeline::PARSER).unwrap();
    assert!(!working.working, "another folder is being written");
    assert!(it.catalog.uses_pages(hash, "p3").unwrap().working);
    it.catalog.fail(&letter(&id, None), 1).unwrap();
    let view = it.catalog.get(&id).unwrap();
    assert!(view.outdated && view.searchable && view.state == DocumentState::Failed);
    assert_eq!(it.shown("/a"), A);
    assert_eq!(
        it.catalog.retry(&Retry::Outdated, 1).unwrap(),
        std::slice::from_ref(&id)
    );
    let work = it.hand_out().remove(0);
    it.commit(&work, A);
    assert_eq!(list(&it), PageManifest::folder(hash, "p3"));
    assert!(!it.catalog.uses_pages(hash, Pipeline::PARSER).unwrap().pages);
    let garbage = it.catalog.garbage(9).unwrap();
    assert!(garbage.iter().any(|one| one.parser == Pipeline::PARSER));
    it.sound();
}

#[test]
fn new_bytes_force_and_a_new_path_are_read_by_the_newer_parser() {
    let it = Fixture::new();
    let (one, two) = (it.ready("/one", A), it.ready("/two", B));
    let three = it.ready("/three", "three\n");
    let (it, _) = it.reopen(with("p3", "c3"));
    it.catalog
        .admit(&admit("/one", "changed\n", false), 1)
        .unwrap();
    it.catalog.admit(&admit("/two", B, true), 1).unwrap();
    let four = it.add("/four", "three\n");
    for work in it.hand_out() {
        let text = match work.name.as_str() {
            "one" => "changed\n",
            "two" => B,
            _ => "three\n",
        };
        it.commit(&work, text);
    }
    it.finish();
    for id in [&one, &two, &three, &four] {
        let view = it.catalog.get(id).unwrap();
        assert_eq!((view.state, view.outdated), (DocumentState::Ready, false));
    }
    // The document of the same bytes shows the newer making: no content has two at once.
    assert_eq!(it.catalog.versions().unwrap().len(), 3);
    it.sound();
}

#[test]
fn another_model_hides_documents_until_they_are_made_again() {
    let it = Fixture::new();
    let id = it.ready("/a", A);
    let model = Pipeline {
        model: "other-fp32".parse().unwrap(),
        ..with("p3", "c3")
    };
    let (it, what) = it.reopen(model.clone());
    assert_eq!(what, opened(1, 0, 1));
    assert_eq!(
        (it.state(&id), it.shown("/a").as_str()),
        (DocumentState::Queued, "")
    );
    assert_eq!(it.catalog.dimension().unwrap(), None);
    it.sound();
    let (it, what) = it.reopen(model);
    assert_eq!(what, Opened::default(), "only once");
    let work = it.hand_out().remove(0);
    it.commit(&work, A);
    it.finish();
    assert_eq!(it.shown("/a"), A);
    it.sound();
}
