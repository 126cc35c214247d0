//! Workers of compressors and decompressors, cached between calls and shared between contexts.
//!
//! The worker of the calling thread stays with its compressor or decompressor. The workers of
//! helper threads, and of clones, are shared process-wide: a program that writes and reads with two
//! threads each needs two workers, not four, unless it does both at once. These workers are kept as
//! long as a context that has used them exists.
//!
//! Programs that create a context for each chunk (as HDF5 filters do) would allocate and clear the
//! same memory every time. For them the process caches one worker whose context was dropped, and
//! one set of buffers for parallel encoding.

use std::ptr::null_mut;
use std::sync::OnceLock;

use super::buffers::Buffers;
use super::state::Worker;
use crate::pool::boxes;
use crate::pool::sync::{AtomicPtr, AtomicUsize, Ordering, thread_number};

/// A slot through which threads pass one boxed value. Only its methods change the pointer.
struct Slot<T>(AtomicPtr<T>);

impl<T: Send> Slot<T> {
    const fn new() -> Slot<T> {
        Slot(AtomicPtr::new(null_mut()))
    }

    /// Takes the content, if any.
    fn take(&self) -> Option<Box<T>> {
        // SAFETY: the field is private to this file, where only `take` and `fill` use it; it was
        // null at first.
        unsafe { boxes::take(&self.0) }
    }

    /// Fills the slot; returns the item if the slot is full.
    fn fill(&self, item: Box<T>) -> Result<(), Box<T>> {
        boxes::fill(&self.0, item)
    }
}

/// The calling thread's worker, plus access to the process-wide worker cache.
pub(crate) struct WorkerCache {
    own: OwnWorker,
    /// The buffers of parallel encoding, once it has been used.
    buffers: Option<Box<Buffers>>,
    registration: OnceLock<Registration>,
    shared: &'static SharedWorkers,
}

/// A worker that only its owner can access.
#[derive(Default)]
struct OwnWorker(Option<Box<Worker>>);

// SAFETY: a shared reference provides no access to the worker; every access goes through
// `&mut OwnWorker`.
unsafe impl Sync for OwnWorker {}

impl Default for WorkerCache {
    fn default() -> WorkerCache {
        WorkerCache::with_shared(&SHARED)
    }
}

impl WorkerCache {
    fn with_shared(shared: &'static SharedWorkers) -> WorkerCache {
        WorkerCache { own: OwnWorker(None), buffers: None, registration: OnceLock::new(), shared }
    }

    /// Returns a cache for concurrent work. Both use the shared workers from now on, so each can
    /// reuse the worker of the other after the other is dropped.
    pub fn clone_shared(&self) -> WorkerCache {
        self.register();
        let sibling = WorkerCache::with_shared(self.shared);
        sibling.register();
        sibling
    }

    /// Returns the worker of the calling thread.
    pub fn own(&mut self) -> &mut Worker {
        let registration = &self.registration;
        self.own.0.get_or_insert_with(|| match registration.get() {
            Some(registration) => registration.0.take(home_slot()),
            None => spare_worker(),
        })
    }

    /// Returns the shared workers, with the caller's own worker among them.
    pub fn shared(&mut self) -> &'static SharedWorkers {
        self.register();
        if let Some(own) = self.own.0.take() {
            self.shared.put(home_slot(), own);
        }
        self.shared
    }

    /// Returns the shared workers and the buffers of parallel encoding.
    pub fn shared_with_buffers(&mut self) -> (&'static SharedWorkers, &mut Buffers) {
        let workers = self.shared();
        let spare_buffers = || SPARE_BUFFERS.take().unwrap_or_default();
        (workers, self.buffers.get_or_insert_with(spare_buffers))
    }

    fn register(&self) {
        self.registration.get_or_init(|| Registration::new(self.shared));
    }
}

impl Drop for WorkerCache {
    /// Returns the worker to the shared workers if this cache uses them, and otherwise to the spare
    /// slot. Returns the buffers to their spare slot.
    fn drop(&mut self) {
        if let Some(mut buffers) = self.buffers.take() {
            buffers.trim();
            drop(SPARE_BUFFERS.fill(buffers));
        }
        match (self.own.0.take(), self.registration.get()) {
            (Some(own), Some(registration)) => registration.0.put(home_slot(), own),
            (Some(own), None) => keep_spare(own),
            (None, _) => {}
        }
    }
}

/// The maximum number of idle shared workers; further ones are freed.
const MAX_IDLE_WORKERS: usize = 256;

/// The number of slots in a cache line.
const SLOTS_PER_LINE: usize = 8;

/// Returns the slot in which the calling thread leaves its worker and looks for one first, since
/// that memory is likely in its core's caches. Threads have different slots, in different cache
/// lines as long as there are enough, so that many of them do not contend.
pub(crate) fn home_slot() -> usize {
    let number = thread_number();
    let lines = MAX_IDLE_WORKERS / SLOTS_PER_LINE;
    number % lines * SLOTS_PER_LINE + number / lines % SLOTS_PER_LINE
}

/// Idle workers for any thread, at most as many as were ever busy at once. Slots are swapped, never
/// locked, so they stay usable after a fork.
pub(crate) struct SharedWorkers {
    slots: [Slot<Worker>; MAX_IDLE_WORKERS],
    /// The number of registered caches.
    users: AtomicUsize,
}

/// The workers of the process.
static SHARED: SharedWorkers = SharedWorkers::new();

/// The registration of one cache. The last one to be dropped frees the workers.
struct Registration(&'static SharedWorkers);

impl Registration {
    fn new(shared: &'static SharedWorkers) -> Registration {
        // Relaxed: only the decrement orders accesses to workers.
        shared.users.fetch_add(1, Ordering::Relaxed);
        Registration(shared)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Release: the last cache sees every worker this one has returned. Acquire: this may be the
        // last.
        let is_last = self.0.users.fetch_sub(1, Ordering::AcqRel) == 1;
        for (slot, worker) in self.0.idle(0) {
            if is_last {
                keep_spare(worker);
            } else if !worker.is_large() {
                self.0.put(slot, worker);
            }
        }
    }
}

impl SharedWorkers {
    const fn new() -> SharedWorkers {
        SharedWorkers {
            slots: [const { Slot::new() }; MAX_IDLE_WORKERS],
            users: AtomicUsize::new(0),
        }
    }

    /// Takes an idle worker, from the first full slot from `home` on, or creates one.
    pub fn take(&self, home: usize) -> Box<Worker> {
        let first = self.idle(home).next();
        first.map_or_else(spare_worker, |(_, worker)| worker)
    }

    /// Stores an idle worker in the first empty slot from `home` on, or frees it if all are full.
    pub fn put(&self, home: usize, worker: Box<Worker>) {
        let mut worker = worker;
        for slot in 0..MAX_IDLE_WORKERS {
            match self.slots[(home + slot) % MAX_IDLE_WORKERS].fill(worker) {
                Ok(()) => return,
                Err(back) => worker = back,
            }
        }
    }

    /// Takes the idle workers one by one as the iterator advances, each slot once, with their
    /// slots.
    fn idle(&self, home: usize) -> impl Iterator<Item = (usize, Box<Worker>)> {
        let slots = (0..MAX_IDLE_WORKERS).map(move |slot| (home + slot) % MAX_IDLE_WORKERS);
        slots.filter_map(|slot| Some((slot, self.slots[slot].take()?)))
    }
}

/// An idle worker of a dropped context.
static SPARE_WORKER: Slot<Worker> = Slot::new();

/// Idle buffers of a dropped context.
static SPARE_BUFFERS: Slot<Buffers> = Slot::new();

/// Returns the cached worker, or a new one.
fn spare_worker() -> Box<Worker> {
    SPARE_WORKER.take().unwrap_or_default()
}

/// Caches a worker for the next context, unless one is cached already or it is too large.
fn keep_spare(mut worker: Box<Worker>) {
    if worker.trim() {
        drop(SPARE_WORKER.fill(worker));
    }
}

/// Frees the working memory cached for the next compression or decompression.
pub fn release() {
    drop(SPARE_WORKER.take());
    drop(SPARE_BUFFERS.take());
    SHARED.idle(0).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shared workers that no other test uses.
    fn workers() -> &'static SharedWorkers {
        Box::leak(Box::new(SharedWorkers::new()))
    }

    fn worker_with(bytes: usize) -> Box<Worker> {
        Box::new(Worker { partial_block: vec![bytes as u8; bytes], ..Worker::default() })
    }

    #[test]
    fn a_dropped_cache_leaves_its_worker_to_its_sibling() {
        let mut cache = WorkerCache::with_shared(workers());
        let mut sibling = cache.clone_shared();
        cache.own().partial_block = vec![1; 3];
        drop(cache);
        assert_eq!(sibling.own().partial_block, [1; 3]);
    }

    #[test]
    fn shared_workers_include_the_callers_own() {
        let mut cache = WorkerCache::with_shared(workers());
        cache.own().partial_block = vec![2; 3];
        assert_eq!(cache.shared().take(0).partial_block, [2; 3]);
    }

    #[test]
    fn threads_reuse_workers_of_another_cache() {
        let workers = workers();
        let (mut one, mut other) =
            (WorkerCache::with_shared(workers), WorkerCache::with_shared(workers));
        one.shared().put(0, worker_with(3));
        one.shared().put(0, worker_with(4));
        assert_eq!(other.shared().take(0).partial_block, [3; 3]);
        drop(one);
        assert_eq!(other.own().partial_block, [4; 4]);
    }

    #[test]
    fn dropping_a_cache_frees_large_workers_and_the_last_frees_all() {
        let workers = workers();
        let (mut one, mut other) =
            (WorkerCache::with_shared(workers), WorkerCache::with_shared(workers));
        one.shared().put(0, worker_with(2 << 20));
        other.shared().put(0, worker_with(5));
        drop(one);
        let left: Vec<_> = workers.idle(0).collect();
        assert_eq!(left.len(), 1);
        left.into_iter().for_each(|(slot, worker)| workers.put(slot, worker));
        drop(other);
        assert_eq!(workers.idle(0).count(), 0);
    }

    #[test]
    fn a_thread_reuses_the_worker_it_returned() {
        let workers = workers();
        for tid in [1, 0, 2, MAX_IDLE_WORKERS - 1] {
            workers.put(tid, worker_with(tid));
        }
        for tid in [2, MAX_IDLE_WORKERS - 1, 0, 1] {
            assert_eq!(workers.take(tid).partial_block.len(), tid);
        }
        workers.put(MAX_IDLE_WORKERS + 4, worker_with(4));
        assert_eq!(workers.take(1).partial_block.len(), 4);
    }

    #[test]
    fn threads_have_different_slots_in_different_cache_lines() {
        let slots: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(home_slot)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let lines: std::collections::HashSet<_> =
            slots.iter().map(|slot| slot / SLOTS_PER_LINE).collect();
        // Other tests may start threads meanwhile, and the numbers of lines repeat.
        assert!(lines.len() >= 2, "{slots:?}");
        assert!(slots.iter().all(|&slot| slot < MAX_IDLE_WORKERS), "{slots:?}");
        assert_eq!(home_slot(), home_slot());
    }

    #[test]
    fn idle_workers_beyond_the_maximum_number_are_freed() {
        let workers = workers();
        (0..MAX_IDLE_WORKERS + 3).for_each(|_| workers.put(7, Box::default()));
        assert_eq!(workers.idle(0).count(), MAX_IDLE_WORKERS);
        assert_eq!(workers.idle(0).count(), 0);
    }

    #[test]
    fn two_threads_never_hold_the_same_worker() {
        let workers = workers();
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                scope.spawn(move || {
                    for round in 0..if cfg!(miri) { 20 } else { 2000 } {
                        let mut worker = workers.take(0);
                        worker.partial_block.clear();
                        worker.partial_block.resize(16, thread);
                        if round % 3 == 0 {
                            std::thread::yield_now();
                        }
                        assert_eq!(worker.partial_block, [thread; 16]);
                        workers.put(round % 5, worker);
                    }
                });
            }
        });
        // In Miri loads may be stale, and a thread that misses an idle worker makes another one.
        assert!(workers.idle(0).count() <= 4 || cfg!(miri));
    }

    #[test]
    fn workers_above_the_maximum_size_are_not_cached() {
        let mut worker = Worker { partial_block: vec![0; 2 << 20], ..Worker::default() };
        assert!(!worker.trim());
        worker.partial_block = vec![0; 1 << 20];
        assert!(worker.trim());
    }
}
