use std::sync::Arc;

use shared::blobs::original_key;
use shared::contract::{FsckFinding, PageManifest, Sha256Hex};

use super::Fsck;
use crate::keyword::{KeywordChanges, KeywordDocument};
use crate::test_support::{DIMENSION, Kit};
use crate::vector::VectorChanges;

const TEXT: &str = "first line\nsecond line\n\u{c}next page\n";

async fn healthy() -> Kit {
    let kit = Kit::new();
    kit.follow();
    kit.ready(&[("/a", TEXT), ("/b", "other\n"), ("/c", TEXT)])
        .await;
    kit
}

async fn findings(kit: &Kit) -> Vec<FsckFinding> {
    let fsck = Fsck {
        catalog: kit.bench.catalog.clone(),
        blobs: kit.bench.blobs.clone(),
        indexes: Arc::clone(&kit.indexes),
        follower: Arc::clone(&kit.bench.follower),
    };
    let report = fsck.check().await.unwrap();
    assert_eq!((report.documents, report.chunks), (3, 4));
    report.findings
}

/// One finding of `store` with `part` in its text.
#[track_caller]
fn check(found: &[FsckFinding], store: &str, part: &str) {
    assert!(
        found
            .iter()
            .any(|one| one.store == store && one.problem.contains(part)),
        "`{part}` of `{store}` is not among {found:?}"
    );
    assert!(found.iter().all(|one| !one.remedy.is_empty()));
}

fn sql(kit: &Kit, statement: &str) {
    let file = rusqlite::Connection::open(kit.folder.path().join("catalog.db")).unwrap();
    file.execute_batch(statement).unwrap();
}

fn folder(kit: &Kit) -> String {
    let version = kit.catalog().versions().unwrap().remove(0);
    PageManifest::folder(&version.file_hash, &version.parser)
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_that_agree_give_no_finding_also_after_a_restart() {
    let kit = healthy().await;
    assert_eq!(findings(&kit).await, []);
    let kit = healthy().await.reopen().await;
    kit.follow();
    assert_eq!(findings(&kit).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_to_blobs_is_found() {
    let kit = healthy().await;
    let blobs = &kit.bench.blobs;
    let page = format!("{}/page_0001.md", folder(&kit));
    let good = blobs.get(&page).await.unwrap();
    blobs
        .put(&page, b"first lime\nsecond line\n".as_slice().into())
        .await
        .unwrap();
    check(
        &findings(&kit).await,
        "blobs",
        "is not the text of its page",
    );
    blobs.put(&page, b"first".as_slice().into()).await.unwrap();
    check(&findings(&kit).await, "blobs", "which are not there");
    blobs.delete(&page).await.unwrap();
    check(&findings(&kit).await, "blobs", "page 1: no blob");
    blobs.put(&page, good).await.unwrap();
    assert_eq!(findings(&kit).await, []);
    blobs
        .delete(&format!("{}/{}", folder(&kit), PageManifest::FILE))
        .await
        .unwrap();
    check(&findings(&kit).await, "blobs", "has no manifest");
    blobs
        .delete(&original_key(&Sha256Hex::of(TEXT.as_bytes())))
        .await
        .unwrap();
    check(&findings(&kit).await, "blobs", "has lost its original");
    let orphan = "markdown/00112233445566778899aabbccddeeff-p1/page_0001.md";
    blobs.put(orphan, b"x".as_slice().into()).await.unwrap();
    check(&findings(&kit).await, "blobs", "nothing uses");
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_to_the_indexes_is_found() {
    let kit = healthy().await;
    let sequence = kit.catalog().sequence().unwrap();
    let first = kit.catalog().chunk_keys().unwrap()[0];
    let stranger = KeywordDocument {
        key: 99,
        text: "stray".to_owned(),
        ..Default::default()
    };
    let words = KeywordChanges {
        upserts: vec![stranger],
        deletes: vec![first],
        sequence,
    };
    kit.indexes.keyword.apply(&words).unwrap();
    let found = findings(&kit).await;
    check(&found, "keyword", "1 visible chunks are not in the index");
    check(&found, "keyword", "not visible any more, the first is 99");
    let upserts = vec![(99, vec![1.0; DIMENSION])];
    let vectors = VectorChanges {
        upserts,
        deletes: vec![first],
        sequence,
    };
    kit.indexes.vector.apply(&vectors).unwrap();
    let found = findings(&kit).await;
    check(&found, "vector", "1 visible chunks are not in the index");
    check(&found, "vector", "not visible any more, the first is 99");
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_to_the_catalog_is_found() {
    let kit = healthy().await;
    sql(
        &kit,
        "UPDATE vectors SET vector = x'00000000' WHERE chunk = 2",
    );
    check(
        &findings(&kit).await,
        "catalog",
        "chunk 2 has a vector of 1 dimensions, not 8",
    );
    sql(
        &kit,
        "INSERT INTO staged SELECT id, 0, 2, 2, 1, 8, 1, 1, '[]', x'' FROM sources LIMIT 1",
    );
    check(&findings(&kit).await, "catalog", "batches are left over");
    sql(
        &kit,
        "DELETE FROM staged; DELETE FROM pages WHERE number = 2",
    );
    check(&findings(&kit).await, "catalog", "another number of pages");
    sql(
        &kit,
        "UPDATE sources SET visible_version = NULL WHERE path = '/b'",
    );
    let found = findings(&kit).await;
    check(&found, "catalog", "ready without a version");
    check(&found, "catalog", "shown by no document");
}
