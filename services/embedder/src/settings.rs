//! Settings of the embedder, section `embedder`. The model is in section `model`, which other
//! services share.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::settings::assets_dir;

/// How the embedder runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Threads of one batch; 0 takes as many as the processor has cores.
    pub threads: usize,
    /// How long a batch of chunks should take.
    pub batch_time_ms: u64,
    /// Batches of chunks worked on at once; texts of like length are found among all of them.
    pub batches_in_flight: usize,
    /// Questions answered at once; more are refused as busy.
    pub questions_in_flight: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 0,
            batch_time_ms: 50,
            batches_in_flight: 8,
            questions_in_flight: 64,
        }
    }
}

impl Settings {
    /// Threads of one batch, at least 1.
    pub fn threads(&self) -> usize {
        if self.threads == 0 {
            physical_cores()
        } else {
            self.threads
        }
    }

    /// How long a batch should take, at least 1 ms.
    pub fn batch_time(&self) -> Duration {
        Duration::from_millis(self.batch_time_ms.max(1))
    }
}

/// ONNX Runtime's library among the parts that `ibid setup` fetches.
pub fn runtime_library() -> PathBuf {
    assets_dir().join("onnxruntime/libonnxruntime.so")
}

/// Cores this process may use. Matrix products fill a core's arithmetic units, so a second thread
/// on the same core gains nothing.
fn physical_cores() -> usize {
    let threads = available_parallelism().map_or(1, NonZero::get);
    let siblings: BTreeSet<String> = (0..threads)
        .filter_map(|thread| {
            let topology = format!("/sys/devices/system/cpu/cpu{thread}/topology");
            fs::read_to_string(format!("{topology}/thread_siblings_list")).ok()
        })
        .collect();
    if siblings.is_empty() {
        threads
    } else {
        siblings.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nought_threads_means_the_cores_there_are() {
        let found = Settings::default().threads();
        assert!((1..=available_parallelism().unwrap().get()).contains(&found));
        assert_eq!(
            Settings {
                threads: 3,
                ..Settings::default()
            }
            .threads(),
            3
        );
    }
}
