//! The cache of workers with workers that count themselves, and its models.

#[path = "../../../../../src/chunk/worker/buffers.rs"]
pub(crate) mod buffers;
#[path = "../../../../../src/chunk/worker/cache.rs"]
pub(crate) mod cache;
pub(crate) mod state;

use crate::pool::thread::{check, fork, spawn};
use cache::WorkerCache;

/// Two contexts with clones use the shared workers; none is used by two, and all are freed.
pub fn a_worker_has_one_user_and_is_freed() {
    check(|| {
        let visit = || {
            let mut first = WorkerCache::default();
            first.own().use_alone();
            let mut sibling = first.clone_shared();
            drop(first);
            sibling.own().use_alone();
            let shared = sibling.shared();
            let mut worker = shared.take(1);
            worker.use_alone();
            shared.put(1, worker);
        };
        let other = spawn(visit);
        visit();
        other.join().unwrap();
        cache::release();
        assert_eq!(state::count(), 0, "workers are left");
    });
}

/// Freeing the cached memory during use frees nothing that is used.
pub fn a_release_frees_no_worker_in_use() {
    check(|| {
        let other = spawn(|| {
            let mut cache = WorkerCache::default();
            let shared = cache.shared();
            for tid in 0..2 {
                let mut worker = shared.take(tid);
                worker.use_alone();
                shared.put(tid, worker);
            }
        });
        cache::release();
        other.join().unwrap();
        cache::release();
        assert_eq!(state::count(), 0, "workers are left");
    });
}

/// A child of a process whose threads use workers takes and returns workers.
pub fn a_forked_child_uses_the_cache() {
    check(|| {
        let visit = || {
            let mut cache = WorkerCache::default();
            cache.own().use_alone();
            let shared = cache.shared();
            let mut worker = shared.take(0);
            worker.use_alone();
            shared.put(0, worker);
        };
        drop(spawn(visit));
        visit();
        fork();
        visit();
        cache::release();
        // Those of the parent's threads are lost.
        state::forget();
    });
}
