//! Threads for bulk index work (commits, merges, graph building), which a question outruns.

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Nice level of bulk work.
const NICE: i32 = 10;

/// A pool of `threads` workers at nice 10; threads they start inherit the level on Linux.
///
/// # Errors
/// When the system refuses a thread.
pub fn pool(threads: usize) -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
    ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(|index| format!("index-bulk-{index}"))
        .start_handler(|_| be_nice())
        .build()
        .map(Arc::new)
}

/// Lowers the calling thread's priority. On Linux "this process" means this thread.
pub(crate) fn be_nice() {
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "bulk index work runs at normal priority");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_and_their_threads_are_nice_and_the_caller_is_not() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let (worker, child) = pool(1)
            .unwrap()
            .install(|| (nice(), std::thread::spawn(nice).join().unwrap()));
        assert_eq!(nice(), before);
        assert_eq!((worker, child), (NICE.max(before), NICE.max(before)));
    }
}
