use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use shared::blobs::original_key;
use shared::bus::BusError;
use shared::contract::subject::Stage;
use shared::contract::{
    DeadLetter, DocumentId, DocumentState, ErrorBody, ErrorCode, PageManifest, Pipeline, Retry,
    Sha256Hex,
};
use shared::service::Drain;

use super::{Janitor, Streams};
use crate::error::CatalogError;
use crate::test_support::{Kit, embedded};

#[derive(Default)]
struct Brook {
    purged: Mutex<Vec<DocumentId>>,
    down: AtomicBool,
}

#[derive(Clone, Default)]
struct Water(Arc<Brook>);

#[async_trait]
impl Streams for Water {
    async fn purge(&self, document: &DocumentId) -> Result<(), BusError> {
        if self.0.down.load(Ordering::Relaxed) {
            return Err(BusError::Url {
                url: "down".to_owned(),
            });
        }
        self.0.purged.lock().push(document.clone());
        Ok(())
    }
}

fn janitor(kit: &Kit, water: &Water) -> Arc<Janitor<Water>> {
    Arc::new(Janitor::new(
        (kit.bench.catalog.clone(), kit.bench.blobs.clone()),
        Arc::clone(&kit.indexes),
        Arc::clone(&kit.bench.follower),
        water.clone(),
        Arc::default(),
    ))
}

/// Files below `folder` that contain `needle`, in any letter case.
fn holding(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, needle));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap().to_ascii_lowercase();
        if bytes
            .windows(needle.len())
            .any(|window| window == needle.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

const SECRET: &str = "the word zyxquorvium is secret\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_leaves_no_trace_in_any_file() {
    let kit = Kit::new();
    let water = Water::default();
    kit.follow();
    let drain = Drain::new();
    let janitor = janitor(&kit, &water);
    tokio::spawn(Arc::clone(&janitor).run(drain.clone()));
    let ids = kit
        .ready(&[("/secret.txt", SECRET), ("/other.txt", "something else\n")])
        .await;
    assert!(
        holding(kit.folder.path(), "zyxquorvium").len() >= 2,
        "the test must be able to fail"
    );

    let receipt = janitor
        .delete(ids[0].clone(), Duration::from_secs(20))
        .await
        .unwrap();
    assert_eq!((receipt.path.as_str(), receipt.chunks), ("/secret.txt", 1));
    for store in &receipt.stores {
        assert!(store.purged_ms.unwrap() >= store.hidden_ms, "{store:?}");
    }
    assert_eq!(*water.0.purged.lock(), [ids[0].clone()]);
    assert_eq!(
        holding(kit.folder.path(), "zyxquorvium"),
        Vec::<String>::new()
    );
    assert_eq!(
        kit.indexes.keyword.keys().unwrap(),
        kit.catalog().chunk_keys().unwrap()
    );
    assert_eq!(
        kit.indexes.vector.keys(),
        kit.catalog().chunk_keys().unwrap()
    );
    let again = janitor.delete(ids[0].clone(), Duration::ZERO).await;
    assert!(matches!(again, Err(CatalogError::NotFound(_))));
    drain.begin();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_was_cut_short_is_completed_at_the_next_start() {
    let kit = Kit::new();
    let water = Water::default();
    water.0.down.store(true, Ordering::Relaxed);
    let id = kit.ready(&[("/secret.txt", SECRET)]).await.remove(0);
    kit.catalog().delete(&id, 1).unwrap();
    kit.follow();
    assert!(janitor(&kit, &water).pass().await.is_err());
    let receipt = kit.catalog().receipt(&id).unwrap();
    for store in &receipt.stores {
        assert_eq!(
            store.purged_ms.is_none(),
            store.store == "streams",
            "{store:?}"
        );
    }

    let kit = kit.reopen().await;
    kit.follow();
    water.0.down.store(false, Ordering::Relaxed);
    assert_eq!(janitor(&kit, &water).pass().await.unwrap(), 1);
    let receipt = kit.catalog().receipt(&id).unwrap();
    assert!(receipt.stores.iter().all(|store| store.purged_ms.is_some()));
    assert_eq!(
        holding(kit.folder.path(), "zyxquorvium"),
        Vec::<String>::new()
    );
    assert_eq!(
        janitor(&kit, &water).pass().await.unwrap(),
        0,
        "nothing is left to do"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn blobs_stay_as_long_as_any_document_has_the_content() {
    let kit = Kit::new();
    kit.follow();
    let ids = kit.ready(&[("/one", SECRET), ("/two", SECRET)]).await;
    let janitor = janitor(&kit, &Water::default());
    let original = original_key(&Sha256Hex::of(SECRET.as_bytes()));
    kit.catalog().delete(&ids[0], 1).unwrap();
    janitor.pass().await.unwrap();
    assert!(kit.bench.blobs.exists(&original).await.unwrap());
    assert_eq!(kit.bench.blobs.list("markdown").await.unwrap().len(), 2);
    // Changed bytes: the older ones go once the newer version shows.
    kit.ready(&[("/two", "something else\n")]).await;
    janitor.pass().await.unwrap();
    assert!(!kit.bench.blobs.exists(&original).await.unwrap());
    assert_eq!(kit.bench.blobs.list("markdown").await.unwrap().len(), 2);
    assert_eq!(
        holding(&kit.folder.path().join("blobs"), "zyxquorvium"),
        Vec::<String>::new()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forced_reading_that_fails_leaves_the_visible_version_whole() {
    let kit = Kit::new();
    kit.follow();
    let id = kit.ready(&[("/a", "a\n")]).await.remove(0);
    let hash = kit.catalog().get(&id).unwrap().file_hash;
    let folder = PageManifest::folder(&hash, &kit.catalog().pipeline().parser);
    let manifest = format!("{folder}/{}", PageManifest::FILE);
    let before = kit.bench.blobs.get(&manifest).await.unwrap();
    let forced = kit.add("/a", "a\n", true).await;
    kit.bench.blobs.delete(&manifest).await.unwrap();
    let letter = DeadLetter {
        stage: Stage::Parse,
        document_id: id.clone(),
        generation: Some(forced.generation),
        deliveries: 1,
        error: ErrorBody::new(ErrorCode::OverLimit, "took too long", "split it"),
    };
    kit.bench.bury(letter).await.unwrap();
    assert_eq!(kit.state(&id), DocumentState::Failed);
    janitor(&kit, &Water::default()).pass().await.unwrap();
    assert_eq!(kit.bench.blobs.get(&manifest).await.unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_written_after_the_deletion_are_found_by_the_message_they_lead_to() {
    let kit = Kit::new();
    kit.follow();
    let id = kit.add("/a", SECRET, false).await.document_id;
    let queued = kit.catalog().next_queued(1).unwrap().remove(0);
    let work = kit
        .catalog()
        .hand_out(&[(queued.id, queued.generation)])
        .unwrap()
        .remove(0);
    kit.catalog().delete(&id, 1).unwrap();
    let janitor = janitor(&kit, &Water::default());
    janitor.pass().await.unwrap();
    kit.parse(&work, SECRET).await;
    kit.bench
        .accept(embedded(&work, SECRET, 9).remove(0))
        .await
        .unwrap();
    janitor.pass().await.unwrap();
    assert_eq!(
        holding(kit.folder.path(), "zyxquorvium"),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn orphans_are_removed_and_young_uploads_are_not() {
    let kit = Kit::new();
    let id = kit.ready(&[("/a", "a\n")]).await.remove(0);
    let blobs = &kit.bench.blobs;
    let upload = original_key(&Sha256Hex::of(b"never admitted"));
    blobs.put(&upload, b"x".as_slice().into()).await.unwrap();
    let pages = "markdown/00112233445566778899aabbccddeeff-p1/page_0001.md";
    blobs.put(pages, b"x".as_slice().into()).await.unwrap();
    blobs
        .put("markdown/stranger", b"x".as_slice().into())
        .await
        .unwrap();
    let janitor = janitor(&kit, &Water::default());
    assert_eq!(
        janitor
            .remove_orphans(Duration::from_mins(1))
            .await
            .unwrap(),
        1
    );
    assert!(blobs.exists(&upload).await.unwrap() && !blobs.exists(pages).await.unwrap());
    assert_eq!(janitor.remove_orphans(Duration::ZERO).await.unwrap(), 1);
    assert!(!blobs.exists(&upload).await.unwrap());
    let view = kit.catalog().get(&id).unwrap();
    assert!(blobs.exists(&original_key(&view.content)).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_an_earlier_parser_stay_as_long_as_they_are_shown() {
    let kit = Kit::new();
    let id = kit.ready(&[("/a", "a\n")]).await.remove(0);
    let newer = Pipeline {
        parser: "p3".to_owned(),
        ..kit.catalog().pipeline().clone()
    };
    let kit = kit.reopen_as(newer).await;
    kit.follow();
    let hash = kit.catalog().get(&id).unwrap().file_hash;
    let manifest = |parser| format!("{}/pages.json", PageManifest::folder(&hash, parser));
    let (old, new) = (manifest(Pipeline::PARSER), manifest("p3"));
    let there = async || {
        let (old, new) = (kit.bench.blobs.exists(&old), kit.bench.blobs.exists(&new));
        (old.await.unwrap(), new.await.unwrap())
    };
    let tidy = async || {
        let janitor = janitor(&kit, &Water::default());
        janitor.pass().await.unwrap();
        janitor.remove_orphans(Duration::ZERO).await.unwrap();
    };
    tidy().await;
    assert_eq!(there().await, (true, false));
    kit.catalog().retry(&Retry::Outdated, 1).unwrap();
    tidy().await;
    assert_eq!(there().await, (true, false), "until the newer making shows");
    kit.work(|_| "a\n".to_owned()).await;
    tidy().await;
    assert_eq!(there().await, (false, true));
    assert!(!kit.catalog().get(&id).unwrap().outdated);
}
