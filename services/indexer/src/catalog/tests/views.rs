//! What is told of documents, pages and chunks.

use super::*;

#[test]
fn pages_that_could_not_be_read_make_a_document_partial() {
    let it = Fixture::new();
    let text = "first page\n\u{c}!unreadable\u{c}third page\n";
    let id = it.ready("/a", text);
    let view = it.catalog.get(&id).unwrap();
    assert_eq!(
        (view.state, view.missing_pages, view.missing_count),
        (DocumentState::Partial, vec![2], 1)
    );
    assert_eq!(view.notes, ["read in a test"]);
    assert_eq!(it.catalog.status().unwrap().missing_pages, 1);
    let hits = it.catalog.join(&[(1, 0.5)], &Filter::default(), 1).unwrap();
    assert_eq!(hits[0].coverage, Coverage::of(3, 1));
    it.sound();
}

#[test]
fn what_is_told_of_a_document_of_many_pages_is_bounded() {
    let it = Fixture::new();
    let pages: Vec<String> = (1..=3_000)
        .map(|page| format!("{}{page}\n", if page % 2 == 0 { "!" } else { "" }))
        .collect();
    let text = pages.join("\u{c}");
    let id = it.ready("/a", &text);
    let view = it.catalog.get(&id).unwrap();
    assert_eq!((view.pages, view.missing_count), (3_000, 1_500));
    assert_eq!(
        (view.missing_pages.len(), view.page_ledger.len()),
        (1_000, 100)
    );
    let listed = it
        .catalog
        .list(&ListDocuments::default())
        .unwrap()
        .documents
        .remove(0);
    assert_eq!(
        (listed.missing_pages.len(), listed.missing_count),
        (100, 1_500)
    );
    assert!(listed.notes.is_empty() && listed.page_ledger.is_empty());
}

/// Reads all parts of the ledger; the pages, and how many parts there were.
fn ledger(it: &Fixture, mut request: ListPages) -> (Vec<PageView>, usize, u32) {
    let (mut pages, mut parts) = (Vec::new(), 0);
    loop {
        let part = it.catalog.pages(&request).unwrap();
        assert!(serde_json::to_vec(&part).unwrap().len() < 1 << 20);
        assert!(!part.pages.is_empty() || part.next.is_none());
        pages.extend(part.pages);
        parts += 1;
        match part.next {
            Some(next) => request.after = next,
            None => return (pages, parts, part.total),
        }
    }
}

#[test]
fn the_ledger_comes_in_parts_with_the_chunks_of_each_page() {
    let it = Fixture::new();
    let document = it.ready(
        "/a",
        "one\ntwo\n\u{c}!unreadable\u{c}three\n\u{c}\u{c}four\n",
    );
    let all = ListPages {
        document: document.clone(),
        after: 0,
        limit: 2,
        missing: false,
    };
    let (pages, parts, total) = ledger(&it, all.clone());
    assert_eq!((parts, total), (3, 5));
    let told: Vec<_> = pages
        .iter()
        .map(|page| {
            let chunks = page.chunks.iter().map(|chunk| chunk.index);
            (page.record.number, chunks.collect::<Vec<_>>())
        })
        .collect();
    let expect = [
        (1, vec![0, 1]),
        (2, vec![]),
        (3, vec![2]),
        (4, vec![]),
        (5, vec![3]),
    ];
    assert_eq!(told, expect);
    let (missing, _, total) = ledger(
        &it,
        ListPages {
            missing: true,
            ..all.clone()
        },
    );
    assert_eq!((missing.len(), missing[0].record.number, total), (1, 2, 1));
    let queued = it.add("/b", B);
    let nothing = it
        .catalog
        .pages(&ListPages {
            document: queued,
            ..all.clone()
        })
        .unwrap();
    assert_eq!((nothing.total, nothing.folder.as_str()), (0, ""));
    let nobody = ListPages {
        document: DocumentId::generate(),
        ..all
    };
    assert!(matches!(
        it.catalog.pages(&nobody),
        Err(CatalogError::NotFound(_))
    ));
}

#[test]
fn a_page_of_very_many_chunks_fits_a_message() {
    let it = Fixture::new();
    let text = vec!["x\n".repeat(1_050); 13].join("\u{c}");
    let document = it.add("/a", &text);
    let work = it.hand_out().remove(0);
    for batch in embedded(&work, &text, 5_000) {
        it.catalog.stage(&batch).unwrap();
    }
    it.catalog.commit(&work.work, &pages(&text).0).unwrap();
    let all = ListPages {
        document,
        after: 0,
        limit: 500,
        missing: false,
    };
    let (pages, parts, total) = ledger(&it, all);
    assert!(parts > 1, "{parts}");
    assert_eq!((pages.len(), total), (13, 13));
    assert!(
        pages
            .iter()
            .all(|page| page.chunks.len() == PageView::MOST_CHUNKS)
    );
}

#[test]
fn a_hit_tells_the_header_of_the_table_it_goes_on_with() {
    #[track_caller]
    fn check(overlap: &str, expect: &str) {
        assert_eq!(Chunk::table_header(overlap), expect);
    }
    check("", "");
    check("the end of the chunk before.", "");
    check("| a | b |\n|---|---|", "| a | b |\n|---|---|");
    check(
        "| a | b |\n| c | d |\n| :-: | --- |",
        "| a | b |\n| c | d |\n| :-: | --- |",
    );
    check("| a | b |\n| 1 | 2 |", "");
    check("|---|---|", "");
    check("text\n| a | b |\n|---|---|", "");
    let it = Fixture::new();
    it.add("/a", A);
    let work = it.hand_out().remove(0);
    let mut batch = embedded(&work, A, 9).remove(0);
    batch.chunks[1].overlap = "| a | b |\n|---|---|".to_owned();
    batch.chunks[2].overlap = "alpha two".to_owned();
    it.catalog.stage(&batch).unwrap();
    it.catalog.commit(&work.work, &pages(A).0).unwrap();
    let hits = it
        .catalog
        .join(&[(1, 0.9), (2, 0.8), (3, 0.7)], &Filter::default(), 3)
        .unwrap();
    let headers: Vec<&str> = hits.iter().map(|hit| hit.table_header.as_str()).collect();
    assert_eq!(headers, ["", "| a | b |\n|---|---|", ""]);
    assert_eq!(hits[0].coverage, None, "it is whole");
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
