use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use shared::bus::BusError;
use shared::contract::{
    DocumentAdmitted, DocumentId, DocumentState, ErrorCode, Generation, PageManifest, Retry,
};

use super::{Feeder, Leases, MAX_LOSSES, Postman};
use crate::test_support::{Kit, embedded};

const LEASE: Duration = Duration::from_secs(20);

/// A bus in memory that can be down and that tells what it is set to hold.
#[derive(Default)]
struct Desk {
    sent: Mutex<Vec<DocumentAdmitted>>,
    down: AtomicBool,
    held: Mutex<HashSet<DocumentId>>,
    repairs: AtomicU32,
}

#[derive(Clone, Default)]
struct Mail(Arc<Desk>);

fn down() -> BusError {
    BusError::Url {
        url: "down".to_owned(),
    }
}

#[async_trait]
impl Postman for Mail {
    async fn publish(&self, message: &DocumentAdmitted) -> Result<(), BusError> {
        if self.0.down.load(Ordering::Relaxed) {
            return Err(down());
        }
        self.0.sent.lock().push(message.clone());
        Ok(())
    }

    async fn held(&self) -> Result<HashSet<DocumentId>, BusError> {
        if self.0.down.load(Ordering::Relaxed) {
            return Err(down());
        }
        Ok(self.0.held.lock().clone())
    }

    async fn repair(&self) -> Result<(), BusError> {
        self.0.repairs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

struct Fixture {
    kit: Kit,
    mail: Mail,
    feeder: Feeder<Mail>,
    start: Instant,
}

impl Fixture {
    fn new(window: usize) -> Self {
        Self::over(Kit::new(), window)
    }

    fn over(kit: Kit, window: usize) -> Self {
        let (mail, start) = (Mail::default(), Instant::now());
        *kit.bench.leases.lock() = Leases::new(LEASE);
        let feeder = Feeder::new(
            (kit.bench.catalog.clone(), kit.bench.blobs.clone()),
            mail.clone(),
            window,
            Arc::clone(&kit.bench.leases),
            Arc::clone(&kit.bench.feeder),
        );
        Self {
            kit,
            mail,
            feeder,
            start,
        }
    }

    fn at(&self, seconds: u64) -> Instant {
        self.start + Duration::from_secs(seconds)
    }

    /// A round at `seconds` with work of `held` in the streams; what it sent.
    async fn round(&self, seconds: u64, held: &[&DocumentId]) -> Vec<(DocumentId, u32)> {
        *self.mail.0.held.lock() = held.iter().copied().cloned().collect();
        self.feeder.feed(true, self.at(seconds)).await.unwrap();
        let sent = std::mem::take(&mut *self.mail.0.sent.lock());
        sent.into_iter()
            .map(|one| (one.work.document_id, one.work.attempt))
            .collect()
    }
}

#[tokio::test]
async fn the_window_is_kept_and_order_is_that_of_admission() {
    let it = Fixture::new(2);
    let mut ids = Vec::new();
    for number in 0..3 {
        let text = format!("text {number}\n");
        ids.push(
            it.kit
                .add(&format!("/{number}"), &text, false)
                .await
                .document_id,
        );
    }
    assert_eq!(
        it.round(0, &[]).await,
        [(ids[0].clone(), 1), (ids[1].clone(), 1)]
    );
    assert_eq!(it.round(1, &[&ids[0], &ids[1]]).await, []);
    // The first is committed: there is room for the third.
    let work = it.kit.catalog().in_flight().unwrap().remove(0);
    let message = it
        .kit
        .catalog()
        .hand_out(&[(work.id, work.generation)])
        .unwrap()
        .remove(0);
    it.kit.parse(&message, "text 0\n").await;
    it.kit
        .bench
        .accept(embedded(&message, "text 0\n", 9).remove(0))
        .await
        .unwrap();
    assert_eq!(it.round(2, &[&ids[1]]).await, [(ids[2].clone(), 1)]);
}

#[tokio::test]
async fn silence_is_waited_out_longer_each_time() {
    let it = Fixture::new(8);
    let id = it.kit.add("/a", "a\n", false).await.document_id;
    assert_eq!(it.round(0, &[]).await, [(id.clone(), 1)]);
    it.mail.0.down.store(true, Ordering::Relaxed);
    assert_eq!(it.round(20, &[]).await, [], "what is held is not known");
    it.mail.0.down.store(false, Ordering::Relaxed);
    assert_eq!(it.round(3_599, &[&id]).await, []);
    assert_eq!(
        it.round(3_600, &[&id]).await,
        [(id.clone(), 2)],
        "but not for ever"
    );
    assert_eq!(it.round(10_799, &[&id]).await, []);
    assert_eq!(it.round(10_800, &[&id]).await, [(id, 3)]);
}

#[tokio::test]
async fn a_document_that_waits_is_never_given_up() {
    let it = Fixture::new(8);
    let id = it.kit.add("/a", "a\n", false).await.document_id;
    let mut attempts = 0;
    // The model's server is away for a week.
    for minute in 0..7 * 24 * 60 {
        attempts += it.round(minute * 60, &[&id]).await.len();
    }
    assert!(
        (2..=12).contains(&attempts),
        "{attempts} times the same work"
    );
    let state = it.kit.catalog().get(&id).unwrap().state;
    assert_eq!(state, DocumentState::Parsing);
}

#[tokio::test]
async fn a_bus_that_is_away_for_long_is_no_reason_to_give_up() {
    let it = Fixture::new(8);
    let id = it.kit.add("/a", "a\n", false).await.document_id;
    it.mail.0.down.store(true, Ordering::Relaxed);
    for round in 0..u64::from(MAX_LOSSES) * 3 {
        assert_eq!(it.round(round * 2, &[]).await, []);
    }
    it.mail.0.down.store(false, Ordering::Relaxed);
    let sent = it.round(1_000, &[]).await;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].0, id);
}

#[tokio::test]
async fn one_lost_among_others_that_are_held_is_published_again() {
    let it = Fixture::new(8);
    let lost = it.kit.add("/lost", "lost\n", false).await.document_id;
    let busy = it.kit.add("/busy", "busy\n", false).await.document_id;
    assert_eq!(it.round(0, &[]).await.len(), 2);
    assert_eq!(it.round(2, &[&lost, &busy]).await, []);
    assert_eq!(it.round(4, &[&busy]).await, [], "once may be chance");
    assert_eq!(it.round(6, &[&lost, &busy]).await, [], "it was");
    assert_eq!(it.round(8, &[&busy]).await, []);
    assert_eq!(it.round(10, &[&busy]).await, [(lost.clone(), 2)]);
    assert_eq!(it.round(12, &[&lost, &busy]).await, []);
}

#[tokio::test]
async fn a_sign_of_life_renews_the_lease() {
    let it = Fixture::new(8);
    let admitted = it.kit.add("/a", "a\n", false).await;
    let id = admitted.document_id;
    it.round(0, &[]).await;
    let hear = |generation, seconds| {
        let leases = &it.kit.bench.leases;
        leases.lock().sign_of_life(&id, generation, it.at(seconds));
    };
    hear(admitted.generation, 200);
    hear(Generation(9), 3_000);
    assert_eq!(it.round(3_799, &[&id]).await, []);
    assert_eq!(it.round(3_800, &[&id]).await, [(id.clone(), 2)]);
}

#[tokio::test]
async fn what_could_not_be_published_is_not_forgotten() {
    let it = Fixture::new(8);
    let a = it.kit.add("/a", "a\n", false).await.document_id;
    let b = it.kit.add("/b", "b\n", false).await.document_id;
    it.mail.0.down.store(true, Ordering::Relaxed);
    assert_eq!(it.round(0, &[]).await, []);
    assert!(
        it.mail.0.repairs.load(Ordering::Relaxed) > 0,
        "the streams may be gone"
    );
    it.mail.0.down.store(false, Ordering::Relaxed);
    assert_eq!(
        it.round(2, &[]).await,
        [(a, 2), (b, 2)],
        "a new attempt, so that it is not deduped"
    );
}

#[tokio::test]
async fn after_a_restart_what_was_out_gets_one_lease_and_then_goes_out_again() {
    let it = Fixture::new(8);
    let id = it.kit.add("/a", "a\n", false).await.document_id;
    assert_eq!(it.round(0, &[]).await, [(id.clone(), 1)]);
    let it = Fixture::over(it.kit.reopen().await, 8);
    assert_eq!(it.round(0, &[&id]).await, []);
    assert_eq!(it.round(2, &[]).await, []);
    assert_eq!(
        it.round(4, &[]).await,
        [(id.clone(), 2)],
        "the streams are empty"
    );
    let it = Fixture::over(it.kit.reopen().await, 8);
    assert_eq!(it.round(0, &[]).await, []);
    assert_eq!(
        it.round(2, &[]).await,
        [(id, 3)],
        "and were so already at the start"
    );
}

#[tokio::test]
async fn superseded_and_deleted_documents_are_not_handed_out_again() {
    let it = Fixture::new(8);
    let id = it.kit.add("/a", "a\n", false).await.document_id;
    it.round(0, &[]).await;
    it.kit.catalog().delete(&id, 1).unwrap();
    assert_eq!(it.round(400, &[]).await, []);
    assert_eq!(it.round(402, &[]).await, []);
}

#[tokio::test]
async fn a_document_that_always_vanishes_is_given_up() {
    let it = Fixture::new(8);
    let id = it.kit.add("/a", "a\n", false).await.document_id;
    let mut attempts = 0;
    for round in 0..u64::from(MAX_LOSSES) * 2 + 5 {
        attempts += it.round(round * 2, &[]).await.len();
    }
    assert_eq!(attempts, MAX_LOSSES as usize);
    let view = it.kit.catalog().get(&id).unwrap();
    assert_eq!(view.state, DocumentState::Failed);
    assert_eq!(view.error.unwrap().code, ErrorCode::TooManyAttempts);
}

#[tokio::test]
async fn a_forced_document_is_parsed_again_once() {
    let it = Fixture::new(8);
    let id = it.kit.ready(&[("/a", "a\n")]).await.remove(0);
    let hash = it.kit.catalog().get(&id).unwrap().file_hash;
    let folder = PageManifest::folder(&hash, &it.kit.catalog().pipeline().parser);
    let manifest = format!("{folder}/{}", PageManifest::FILE);
    let blobs = it.kit.bench.blobs.clone();
    it.kit.add("/a", "a\n", true).await;
    assert!(
        blobs.exists(&manifest).await.unwrap(),
        "not before it is handed out"
    );
    assert_eq!(it.round(0, &[]).await, [(id.clone(), 1)]);
    assert!(!blobs.exists(&manifest).await.unwrap());
    // The parser writes it; the second attempt may use it.
    blobs.put(&manifest, b"{}".as_slice().into()).await.unwrap();
    assert_eq!(it.round(3_600, &[&id]).await, [(id, 2)]);
    assert!(blobs.exists(&manifest).await.unwrap());
}

/// A page that could not be read may be readable now, with a reader that was not there before.
#[tokio::test]
async fn a_partial_document_that_is_retried_is_parsed_again() {
    let it = Fixture::new(8);
    let id = it.kit.ready(&[("/a", "a\n\u{c}!scan\n")]).await.remove(0);
    let view = it.kit.catalog().get(&id).unwrap();
    assert_eq!(view.state, DocumentState::Partial);
    let folder = PageManifest::folder(&view.file_hash, &it.kit.catalog().pipeline().parser);
    let manifest = format!("{folder}/{}", PageManifest::FILE);
    let blobs = it.kit.bench.blobs.clone();
    let retry = Retry::Document(id.clone());
    it.kit.catalog().retry(&retry, 1).unwrap();
    assert_eq!(it.round(0, &[]).await, [(id.clone(), 1)]);
    assert!(
        !blobs.exists(&manifest).await.unwrap(),
        "the parser reads it"
    );
    assert!(it.kit.catalog().get(&id).unwrap().searchable);
}
