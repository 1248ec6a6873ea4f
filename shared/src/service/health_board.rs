//! What a service tells about itself.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::contract::Health;

/// Written by the service's loops, read when someone asks. Cheap to clone.
#[derive(Clone)]
pub struct HealthBoard(Arc<Board>);

struct Board {
    service: &'static str,
    started: Instant,
    ready: AtomicBool,
    in_hand: AtomicU32,
    notes: Mutex<Vec<String>>,
}

/// A message or request in hand, until dropped.
pub struct InHand(HealthBoard);

impl Drop for InHand {
    fn drop(&mut self) {
        self.0.0.in_hand.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HealthBoard {
    /// The board of `service`.
    pub fn new(service: &'static str) -> Self {
        Self(Arc::new(Board {
            service,
            started: Instant::now(),
            ready: AtomicBool::new(false),
            in_hand: AtomicU32::new(0),
            notes: Mutex::new(Vec::new()),
        }))
    }

    /// The service takes work now.
    pub fn set_ready(&self) {
        self.0.ready.store(true, Ordering::Relaxed);
    }

    /// Counts a message or request until the guard is dropped.
    pub fn in_hand(&self) -> InHand {
        self.0.in_hand.fetch_add(1, Ordering::Relaxed);
        InHand(self.clone())
    }

    /// Adds something people may want to know; said once.
    pub fn note(&self, text: impl Into<String>) {
        let text = text.into();
        let mut notes = self.0.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// Takes back what [`HealthBoard::note`] has said.
    pub fn withdraw(&self, text: &str) {
        let mut notes = self.0.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.retain(|note| note != text);
    }

    /// What it says now.
    pub fn read(&self) -> Health {
        let board = &self.0;
        Health {
            service: board.service.to_owned(),
            pid: std::process::id(),
            host: own_host(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ready: board.ready.load(Ordering::Relaxed),
            in_flight: board.in_hand.load(Ordering::Relaxed),
            uptime_ms: Self::millis(board.started.elapsed()),
            notes: board
                .notes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }

    fn millis(duration: Duration) -> u64 {
        u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The name of this machine or container, as [`Health`] tells it; empty where it is not known.
pub fn own_host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}
