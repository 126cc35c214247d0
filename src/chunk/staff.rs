//! The workers of a compressor or decompressor, and the one that is left when it is gone.
//!
//! Programs that make a context for each chunk (HDF5's filters do) would have each of them get and clear the
//! same memory. So the process keeps one worker whose context is gone for the next that needs one.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::worker::Worker;

/// The workers of whoever compresses or decompresses: that of the thread which calls, at hand without a lock,
/// and those that its helpers and twins share.
#[derive(Default)]
pub(super) struct Staff {
    own: Own,
    shared: OnceLock<Arc<Workers>>,
}

/// A worker that only its owner can use.
#[derive(Default)]
struct Own(Option<Box<Worker>>);

// SAFETY: a shared reference leads nowhere: nothing but functions that have it to themselves look inside.
unsafe impl Sync for Own {}

impl Staff {
    /// A staff that shares the workers which are not at hand.
    pub fn twin(&self) -> Staff {
        let shared = Arc::clone(self.shared.get_or_init(Arc::default));
        Staff {
            own: Own(None),
            shared: OnceLock::from(shared),
        }
    }

    /// The worker of the thread that calls.
    pub fn own(&mut self) -> &mut Worker {
        let shared = &self.shared;
        self.own.0.get_or_insert_with(|| match shared.get() {
            Some(shared) => shared.take(),
            None => spare(),
        })
    }

    /// The workers for several threads, that of the caller among them.
    pub fn of_all(&mut self) -> &Workers {
        let shared = self.shared.get_or_init(Arc::default);
        if let Some(own) = self.own.0.take() {
            shared.put(own);
        }
        shared
    }
}

impl Drop for Staff {
    /// Leaves the worker to the twins, or else to whoever comes.
    fn drop(&mut self) {
        let Some(own) = self.own.0.take() else {
            return;
        };
        match self.shared.get() {
            Some(shared) if Arc::strong_count(shared) > 1 => shared.put(own),
            _ => keep(own),
        }
    }
}

/// Workers of which each thread takes one: as many as have ever been busy at once.
#[derive(Default)]
pub(super) struct Workers {
    #[expect(clippy::vec_box, reason = "a worker changes hands at every call")]
    idle: Mutex<Vec<Box<Worker>>>,
}

impl Workers {
    /// Takes an idle worker, or makes one.
    pub fn take(&self) -> Box<Worker> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        idle.unwrap_or_else(spare)
    }

    /// Gives a worker back.
    pub fn put(&self, worker: Box<Worker>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(worker);
    }
}

/// A worker that nobody needs now, or NULL. A place that is swapped, never locked, is as good after a fork.
static SPARE: AtomicPtr<Worker> = AtomicPtr::new(null_mut());

/// The worker that was kept, or a new one.
fn spare() -> Box<Worker> {
    // Acquire: what its last user wrote comes with it.
    let kept = SPARE.swap(null_mut(), Ordering::Acquire);
    if kept.is_null() {
        return Box::default();
    }
    // SAFETY: it came from `Box::into_raw` in `keep`, and the swap gave it to this call alone.
    unsafe { Box::from_raw(kept) }
}

/// Keeps a worker for the next that needs one, unless one is kept already.
fn keep(mut worker: Box<Worker>) {
    if !worker.make_spare() {
        return;
    }
    let worker = Box::into_raw(worker);
    // Release: the next user sees what was written to it.
    let kept = SPARE.compare_exchange(null_mut(), worker, Ordering::Release, Ordering::Relaxed);
    if kept.is_err() {
        // SAFETY: it comes from `Box::into_raw` above, and was not stored.
        drop(unsafe { Box::from_raw(worker) });
    }
}

/// Frees the working memory that is kept for the next compression or decompression.
pub fn release() {
    drop(spare());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_goes_from_one_staff_to_its_twin() {
        let mut staff = Staff::default();
        let mut twin = staff.twin();
        staff.own().part = vec![1; 3];
        drop(staff);
        assert_eq!(twin.own().part, [1; 3]);
    }

    #[test]
    fn workers_for_all_include_the_caller_s() {
        let mut staff = Staff::default();
        staff.own().part = vec![2; 3];
        assert_eq!(staff.of_all().take().part, [2; 3]);
    }

    #[test]
    fn much_memory_is_not_kept() {
        let mut worker = Worker {
            part: vec![0; 2 << 20],
            ..Worker::default()
        };
        assert!(!worker.make_spare());
        worker.part = vec![0; 1 << 20];
        assert!(worker.make_spare());
    }
}
