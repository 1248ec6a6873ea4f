use shared::contract::DocumentState;

use crate::test_support::{Kit, embedded};

const DOCUMENTS: [(&str, &str); 3] = [
    ("/a", "one\ntwo\nthree\n"),
    ("/b", "four\n"),
    ("/c", "five\nsix\n"),
];

/// Both indexes hold exactly what is visible.
#[track_caller]
fn agree(kit: &Kit) {
    let keys = kit.catalog().chunk_keys().unwrap();
    assert_eq!(kit.indexes.keyword.keys().unwrap(), keys);
    assert_eq!(kit.indexes.vector.keys(), keys);
    let sequence = kit.catalog().sequence().unwrap();
    assert_eq!(
        (
            kit.indexes.keyword.sequence(),
            kit.indexes.vector.sequence()
        ),
        (sequence, sequence)
    );
}

#[tokio::test]
async fn ready_means_that_both_indexes_have_it() {
    let kit = Kit::new();
    let id = kit.add("/a", "one\n", false).await.document_id;
    kit.work(|_| "one\n".to_owned()).await;
    assert_eq!(kit.state(&id), DocumentState::Indexing);
    let kit = kit.reopen().await;
    assert_eq!(kit.state(&id), DocumentState::Indexing);
    kit.bench.follower.catch_up().unwrap();
    assert_eq!(kit.state(&id), DocumentState::Ready);
    agree(&kit);
}

#[tokio::test]
async fn indexes_that_were_lost_are_filled_again() {
    let kit = Kit::new();
    let ids = kit.ready(&DOCUMENTS).await;
    kit.catalog().delete(&ids[1], 1).unwrap();
    // Nothing was saved of the vectors, and the keyword index is removed by hand.
    std::fs::remove_dir_all(kit.folder.path().join("keyword")).unwrap();
    let kit = kit.reopen().await;
    assert!(kit.indexes.keyword.keys().unwrap().is_empty());
    kit.bench.follower.catch_up().unwrap();
    agree(&kit);
    assert_eq!(kit.state(&ids[0]), DocumentState::Ready);
}

#[tokio::test]
async fn a_saved_vector_index_only_gets_what_is_new() {
    let kit = Kit::new();
    kit.ready(&DOCUMENTS[..2]).await;
    kit.indexes.vector.get().unwrap().snapshot().unwrap();
    let saved = kit.catalog().sequence().unwrap();
    kit.ready(&DOCUMENTS[2..]).await;
    let kit = kit.reopen().await;
    assert_eq!(kit.indexes.vector.sequence(), saved);
    kit.bench.follower.catch_up().unwrap();
    agree(&kit);
}

#[tokio::test]
async fn indexes_of_another_catalog_are_emptied() {
    let kit = Kit::new();
    kit.ready(&DOCUMENTS).await;
    kit.indexes.vector.get().unwrap().snapshot().unwrap();
    for end in ["", "-wal", "-shm"] {
        let path = kit.folder.path().join(format!("catalog.db{end}"));
        if path.exists() {
            std::fs::remove_file(path).unwrap();
        }
    }
    let kit = kit.reopen().await;
    kit.bench.follower.catch_up().unwrap();
    agree(&kit);
    kit.ready(&DOCUMENTS[..1]).await;
    agree(&kit);
}

#[tokio::test]
async fn the_last_document_may_go_and_the_first_may_come_again() {
    let kit = Kit::new();
    let id = kit.ready(&DOCUMENTS[..1]).await.remove(0);
    kit.indexes.vector.get().unwrap().snapshot().unwrap();
    kit.catalog().delete(&id, 1).unwrap();
    let kit = kit.reopen().await;
    assert!(
        kit.indexes.vector.get().is_none(),
        "no length is known without vectors"
    );
    kit.bench.follower.catch_up().unwrap();
    agree(&kit);
    kit.ready(&DOCUMENTS[1..]).await;
    agree(&kit);
}

#[tokio::test]
async fn a_batch_of_other_vectors_is_refused_before_it_is_kept() {
    let kit = Kit::new();
    kit.ready(&DOCUMENTS[..1]).await;
    let id = kit.add("/x", "x\n", false).await;
    let work = kit
        .catalog()
        .hand_out(&[(id.document_id, id.generation)])
        .unwrap()
        .remove(0);
    let check = |change: &dyn Fn(&mut shared::contract::ChunksEmbedded), part: &str| {
        let mut message = embedded(&work, "x\n", 9).remove(0);
        change(&mut message);
        let (bench, part) = (kit.bench.clone(), part.to_owned());
        async move {
            let failure = bench.accept(message).await.unwrap_err();
            assert!(format!("{failure:?}").contains(&part), "{failure:?}");
        }
    };
    check(&|m| m.vectors[0].0[0] = f32::NAN, "not a finite number").await;
    check(&|m| m.dimension = 9, "dimension 9").await;
    check(
        &|m| {
            m.dimension = 4;
            m.vectors[0].0.truncate(4);
        },
        "the index holds 8",
    )
    .await;
    check(&|m| drop(m.vectors.pop()), "0 vectors").await;
    check(&|m| m.batch.index = 5, "batch 5 of 1").await;
}
