use std::sync::Arc;

use shared::contract::{
    CollectionName, ErrorCode, Filter, Hits, KeywordSearch, Locator, Neighbours, Vector,
    VectorSearch,
};

use super::Searcher;
use crate::test_support::{Kit, pipeline, vector};

fn searcher(kit: &Kit) -> Searcher {
    Searcher::new(kit.bench.catalog.clone(), Arc::clone(&kit.indexes))
}

fn words(searcher: &Searcher, text: &str, k: u32, filter: Filter) -> Hits {
    searcher
        .keyword(&KeywordSearch {
            text: text.to_owned(),
            k,
            filter,
            ..KeywordSearch::default()
        })
        .unwrap()
}

fn nearest(text: &str, k: u32) -> VectorSearch {
    let vector = Vector(vector(text));
    VectorSearch {
        model: pipeline().model,
        vector,
        k,
        filter: Filter::default(),
    }
}

fn paths(hits: &Hits) -> Vec<&str> {
    hits.hits.iter().map(|hit| hit.path.as_str()).collect()
}

const GREEN: &str = "the green lamp is on\n\u{c}the blue door is shut\n";

#[tokio::test]
async fn both_engines_answer_with_where_the_text_stands() {
    let kit = Kit::new();
    kit.ready(&[("/lamp.txt", GREEN), ("/soup.txt", "soup needs salt\n")])
        .await;
    let searcher = searcher(&kit);
    let found = words(&searcher, "Which door is blue?", 5, Filter::default());
    let hit = &found.hits[0];
    assert_eq!(
        (hit.name.as_str(), hit.text.as_str()),
        ("lamp.txt", "the blue door is shut\n")
    );
    assert_eq!(
        hit.locator,
        Locator::PdfPage {
            physical: 2,
            label: None
        }
    );
    assert_eq!((hit.chunk_id.index, hit.spans[0].page), (1, 2));
    let near = searcher.vector(&nearest("soup needs salt", 1)).unwrap();
    assert_eq!(paths(&near), ["/soup.txt"]);
    assert!((near.hits[0].score - 1.0).abs() < 1e-5);
}

#[tokio::test]
async fn a_filter_decides_which_document_a_shared_chunk_is_told_for() {
    let kit = Kit::new();
    let ids = kit
        .ready(&[("/b", GREEN), ("/a", GREEN), ("/c", "a green sea\n")])
        .await;
    let searcher = searcher(&kit);
    let found = words(&searcher, "green", 5, Filter::default());
    let mut told = paths(&found);
    told.sort_unstable();
    assert_eq!(told, ["/a", "/c"], "once, for the first path");
    let only = |documents: &[usize]| Filter {
        documents: documents
            .iter()
            .map(|number| ids[*number].clone())
            .collect(),
        ..Filter::default()
    };
    for _remembered in 0..2 {
        assert_eq!(paths(&words(&searcher, "green", 5, only(&[0]))), ["/b"]);
        assert_eq!(paths(&words(&searcher, "green", 5, only(&[2]))), ["/c"]);
    }
    let elsewhere: CollectionName = "other".parse().unwrap();
    let other = Filter {
        collections: vec![elsewhere],
        ..Filter::default()
    };
    assert!(words(&searcher, "green", 5, other).hits.is_empty());
    // What a filter came to is not remembered beyond a change.
    kit.catalog().delete(&ids[0], 1).unwrap();
    assert!(words(&searcher, "green", 5, only(&[0])).hits.is_empty());
    assert_eq!(paths(&words(&searcher, "green", 5, only(&[1]))), ["/a"]);
}

#[tokio::test]
async fn what_was_deleted_is_not_told_and_k_is_filled_without_it() {
    let kit = Kit::new();
    let mut documents: Vec<(String, String)> = (0..60)
        .map(|number| (format!("/{number}"), format!("apple pie {number}\n")))
        .collect();
    documents.push((
        "/last".to_owned(),
        "a pie without the fruit that is longer\n".to_owned(),
    ));
    let borrowed: Vec<(&str, &str)> = documents
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let ids = kit.ready(&borrowed).await;
    // Deleted, and the indexes have not followed.
    for id in &ids[..58] {
        kit.catalog().delete(id, 1).unwrap();
    }
    let searcher = searcher(&kit);
    let found = words(&searcher, "apple pie", 3, Filter::default());
    let mut told = paths(&found);
    told.sort_unstable();
    assert_eq!(told, ["/58", "/59", "/last"]);
    assert_eq!(
        searcher
            .vector(&nearest("apple pie 3", 3))
            .unwrap()
            .hits
            .len(),
        3
    );
}

#[tokio::test]
async fn questions_that_cannot_be_asked_are_refused_with_the_remedy() {
    let kit = Kit::new();
    let searcher = searcher(&kit);
    let nothing = searcher.vector(&nearest("anything", 3)).unwrap();
    assert!(nothing.hits.is_empty(), "an empty catalog has no hits");
    kit.ready(&[("/a", "a\n")]).await;
    let check = |request: VectorSearch, code, part: &str| {
        let error = searcher.vector(&request).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let good = nearest("a", 3);
    let other = VectorSearch {
        model: "other-int8".parse().unwrap(),
        ..good.clone()
    };
    check(other, ErrorCode::PipelineMismatch, "`model` section");
    let short = VectorSearch {
        vector: Vector(vec![1.0; 3]),
        ..good.clone()
    };
    check(short, ErrorCode::BadRequest, "dimension is 3");
    check(
        VectorSearch {
            k: 0,
            ..good.clone()
        },
        ErrorCode::BadRequest,
        "`k` is 0",
    );
    check(
        VectorSearch { k: 1_001, ..good },
        ErrorCode::BadRequest,
        "1 to 1000",
    );
}

#[tokio::test]
async fn a_filter_that_permits_nothing_is_told_by_both_engines_and_one_that_does_is_not() {
    let kit = Kit::new();
    kit.ready(&[("/a", GREEN)]).await;
    let searcher = searcher(&kit);
    let nothing = Filter {
        path_prefix: Some("/b".to_owned()),
        ..Filter::default()
    };
    let told = "no document matches the filter: none is at a path that begins with `/b`";
    for _remembered in 0..2 {
        let words = words(&searcher, "green", 5, nothing.clone());
        let near = VectorSearch {
            filter: nothing.clone(),
            ..nearest("green", 5)
        };
        for hits in [words, searcher.vector(&near).unwrap()] {
            assert!(hits.hits.is_empty());
            assert!(hits.notes[0].starts_with(told), "{:?}", hits.notes);
            assert_eq!(hits.notes.len(), 1);
        }
    }
    let something = Filter {
        path_prefix: Some("/a".to_owned()),
        ..Filter::default()
    };
    let found = words(&searcher, "green", 5, something.clone());
    assert_eq!((paths(&found), found.notes.len()), (vec!["/a"], 0));
    let unknown = words(&searcher, "zebra", 5, something);
    assert!(unknown.hits.is_empty() && unknown.notes.is_empty());
}

#[tokio::test]
async fn more_neighbours_than_a_reply_may_have_are_refused() {
    let kit = Kit::new();
    kit.ready(&[("/a", GREEN)]).await;
    let searcher = searcher(&kit);
    let chunk = words(&searcher, "green", 1, Filter::default()).hits[0]
        .chunk_id
        .clone();
    let asked = |chunks: usize, before, after| {
        searcher.neighbours(&Neighbours {
            chunks: vec![chunk.clone(); chunks],
            before,
            after,
            filter: Filter::default(),
        })
    };
    let runs = asked(100, 8, 8).unwrap().runs;
    assert_eq!((runs.len(), runs[99].len()), (100, 2));
    assert!(asked(0, 8, 8).unwrap().runs.is_empty());
    for (chunks, before, after) in [(101, 1, 1), (1, 9, 0), (1, 0, 9)] {
        let error = asked(chunks, before, after).unwrap_err();
        assert_eq!(error.code, ErrorCode::BadRequest);
        assert!(error.remedy.contains("at most 8"), "{error}");
    }
}
