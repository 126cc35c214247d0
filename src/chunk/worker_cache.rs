//! The workers of compressors and decompressors, and the one that is left when they are gone.
//!
//! The thread that calls has a worker at hand, which stays with its compressor or decompressor. The workers of
//! several threads, and of twins, belong to all of the process: a program that writes and reads with two
//! threads each needs two, not four, as long as it does not do both at once. They are kept as long as somebody is
//! there who has used them.
//!
//! Programs that make a context for each chunk (HDF5's filters do) would have each of them get and clear the
//! same memory. So the process keeps one worker whose context is gone, and the buffers of one that wrote with
//! threads, for the next that needs them.

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::parallel_encode::Buffers;
use super::worker::Worker;

/// The workers of whoever compresses or decompresses: that of the thread which calls, at hand, and those that
/// its helpers and twins take.
pub(super) struct Staff {
    own: Own,
    /// Only where threads have written.
    buffers: Option<Box<Buffers>>,
    common: OnceLock<Share>,
    workers: &'static Workers,
}

/// A worker that only its owner can use.
#[derive(Default)]
struct Own(Option<Box<Worker>>);

// SAFETY: a shared reference leads nowhere: nothing but functions that have it to themselves look inside.
unsafe impl Sync for Own {}

impl Default for Staff {
    fn default() -> Staff {
        Staff::of(&COMMON)
    }
}

impl Staff {
    fn of(workers: &'static Workers) -> Staff {
        Staff {
            own: Own(None),
            buffers: None,
            common: OnceLock::new(),
            workers,
        }
    }

    /// A staff for work at the same time, which takes what this one leaves.
    pub fn twin(&self) -> Staff {
        self.share();
        let twin = Staff::of(self.workers);
        twin.share();
        twin
    }

    /// The worker of the thread that calls.
    pub fn own(&mut self) -> &mut Worker {
        let common = &self.common;
        self.own.0.get_or_insert_with(|| match common.get() {
            Some(share) => share.0.take(CALLER),
            None => spare(),
        })
    }

    /// The workers for several threads, that of the caller among them.
    pub fn of_all(&mut self) -> &'static Workers {
        self.share();
        if let Some(own) = self.own.0.take() {
            self.workers.put(CALLER, own);
        }
        self.workers
    }

    /// The workers for several threads, and the buffers in which their blocks wait for each other.
    pub fn of_all_with_buffers(&mut self) -> (&'static Workers, &mut Buffers) {
        let workers = self.of_all();
        let spare = || take_from(&SPARE_BUFFERS).unwrap_or_default();
        (workers, self.buffers.get_or_insert_with(spare))
    }

    fn share(&self) {
        self.common.get_or_init(|| Share::of(self.workers));
    }
}

impl Drop for Staff {
    /// Leaves the worker to others who share, or else to whoever comes, and the buffers to whoever comes.
    fn drop(&mut self) {
        if let Some(mut buffers) = self.buffers.take() {
            buffers.make_spare();
            drop(put_in(&SPARE_BUFFERS, buffers));
        }
        match (self.own.0.take(), self.common.get()) {
            (Some(own), Some(share)) => share.0.put(CALLER, own),
            (Some(own), None) => keep(own),
            (None, _) => {}
        }
    }
}

/// Threads that can leave their workers at the same time; those of more are freed.
const PLACES: usize = 256;

/// The thread that calls, among those of a run.
const CALLER: usize = 0;

/// Workers of which each thread takes one: as many as have ever been busy at once. A place is swapped, never
/// locked, so they are as good after a fork.
pub(super) struct Workers {
    places: [AtomicPtr<Worker>; PLACES],
    /// How many staffs share them.
    shares: AtomicUsize,
}

/// Those of the process.
static COMMON: Workers = Workers::new();

/// A staff's share in workers. When the last is gone, so are they.
struct Share(&'static Workers);

impl Share {
    fn of(workers: &'static Workers) -> Share {
        // Relaxed: only the end of a share says something about workers.
        workers.shares.fetch_add(1, Ordering::Relaxed);
        Share(workers)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // Release: whoever is last sees what this staff has put back; Acquire: if it is this one.
        let is_last = self.0.shares.fetch_sub(1, Ordering::AcqRel) == 1;
        for (place, worker) in self.0.idle(CALLER) {
            if is_last {
                keep(worker);
            } else if !worker.is_large() {
                self.0.put(place, worker);
            }
        }
    }
}

impl Workers {
    const fn new() -> Workers {
        Workers {
            places: [const { AtomicPtr::new(null_mut()) }; PLACES],
            shares: AtomicUsize::new(0),
        }
    }

    /// Takes an idle worker, or makes one. Thread `tid` of a run looks first where it leaves its worker, since its
    /// core has that memory in its caches.
    pub fn take(&self, tid: usize) -> Box<Worker> {
        let first = self.idle(tid).next();
        first.map_or_else(spare, |(_, worker)| worker)
    }

    /// Gives a worker back.
    pub fn put(&self, tid: usize, worker: Box<Worker>) {
        let mut worker = worker;
        for place in 0..PLACES {
            match put_in(&self.places[(tid + place) % PLACES], worker) {
                Ok(()) => return,
                Err(back) => worker = back,
            }
        }
    }

    /// Takes out the idle workers, each when it is asked for and no place twice, with their places.
    fn idle(&self, tid: usize) -> impl Iterator<Item = (usize, Box<Worker>)> {
        let places = (0..PLACES).map(move |place| (tid + place) % PLACES);
        places.filter_map(|place| Some((place, take_from(&self.places[place])?)))
    }
}

/// Takes what is in a place, if something is.
fn take_from<T>(place: &AtomicPtr<T>) -> Option<Box<T>> {
    // Relaxed: a glance that spares a write; whether something is there may change at any time.
    if place.load(Ordering::Relaxed).is_null() {
        return None;
    }
    // Acquire: what its last user wrote comes with it.
    let item = place.swap(null_mut(), Ordering::Acquire);
    // SAFETY: it came from `Box::into_raw` in `put_in`, and the swap gave it to this call alone.
    (!item.is_null()).then(|| unsafe { Box::from_raw(item) })
}

/// Puts something in a place, or gives it back when something is there.
fn put_in<T>(place: &AtomicPtr<T>, item: Box<T>) -> Result<(), Box<T>> {
    if !place.load(Ordering::Relaxed).is_null() {
        return Err(item);
    }
    let item = Box::into_raw(item);
    // Release: the next user sees what was written to it.
    match place.compare_exchange(null_mut(), item, Ordering::Release, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        // SAFETY: it comes from `Box::into_raw` above, and was not stored.
        Err(_) => Err(unsafe { Box::from_raw(item) }),
    }
}

/// A worker that nobody needs now, or NULL.
static SPARE: AtomicPtr<Worker> = AtomicPtr::new(null_mut());

/// Buffers that nobody needs now, or NULL.
static SPARE_BUFFERS: AtomicPtr<Buffers> = AtomicPtr::new(null_mut());

/// The worker that was kept, or a new one.
fn spare() -> Box<Worker> {
    take_from(&SPARE).unwrap_or_default()
}

/// Keeps a worker for the next that needs one, unless one is kept already.
fn keep(mut worker: Box<Worker>) {
    if worker.make_spare() {
        drop(put_in(&SPARE, worker));
    }
}

/// Frees the working memory that is kept for the next compression or decompression.
pub fn release() {
    drop(take_from(&SPARE));
    drop(take_from(&SPARE_BUFFERS));
    COMMON.idle(CALLER).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers that no other test takes.
    fn workers() -> &'static Workers {
        Box::leak(Box::new(Workers::new()))
    }

    fn holding(bytes: usize) -> Box<Worker> {
        Box::new(Worker {
            part: vec![bytes as u8; bytes],
            ..Worker::default()
        })
    }

    #[test]
    fn a_worker_goes_from_one_staff_to_its_twin() {
        let mut staff = Staff::of(workers());
        let mut twin = staff.twin();
        staff.own().part = vec![1; 3];
        drop(staff);
        assert_eq!(twin.own().part, [1; 3]);
    }

    #[test]
    fn workers_for_all_include_the_caller_s() {
        let mut staff = Staff::of(workers());
        staff.own().part = vec![2; 3];
        assert_eq!(staff.of_all().take(0).part, [2; 3]);
    }

    #[test]
    fn threads_of_one_staff_take_the_workers_of_another_s() {
        let workers = workers();
        let (mut one, mut other) = (Staff::of(workers), Staff::of(workers));
        one.of_all().put(0, holding(3));
        one.of_all().put(0, holding(4));
        assert_eq!(other.of_all().take(0).part, [3; 3]);
        drop(one);
        assert_eq!(other.own().part, [4; 4]);
    }

    #[test]
    fn large_workers_go_with_a_staff_and_all_with_the_last() {
        let workers = workers();
        let (mut one, mut other) = (Staff::of(workers), Staff::of(workers));
        one.of_all().put(0, holding(2 << 20));
        other.of_all().put(0, holding(5));
        drop(one);
        let left: Vec<_> = workers.idle(0).collect();
        assert_eq!(left.len(), 1);
        left.into_iter()
            .for_each(|(place, worker)| workers.put(place, worker));
        drop(other);
        assert_eq!(workers.idle(0).count(), 0);
    }

    #[test]
    fn a_thread_gets_the_worker_it_left() {
        let workers = workers();
        for tid in [1, 0, 2, PLACES - 1] {
            workers.put(tid, holding(tid));
        }
        for tid in [2, PLACES - 1, 0, 1] {
            assert_eq!(workers.take(tid).part.len(), tid);
        }
        workers.put(PLACES + 4, holding(4));
        assert_eq!(workers.take(1).part.len(), 4);
    }

    #[test]
    fn more_workers_than_places_are_freed() {
        let workers = workers();
        (0..PLACES + 3).for_each(|_| workers.put(7, Box::default()));
        assert_eq!(workers.idle(0).count(), PLACES);
        assert_eq!(workers.idle(0).count(), 0);
    }

    #[test]
    fn threads_never_take_the_same_worker() {
        let workers = workers();
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                scope.spawn(move || {
                    for round in 0..if cfg!(miri) { 20 } else { 2000 } {
                        let mut worker = workers.take(0);
                        worker.part.clear();
                        worker.part.resize(16, thread);
                        if round % 3 == 0 {
                            std::thread::yield_now();
                        }
                        assert_eq!(worker.part, [thread; 16]);
                        workers.put(round % 5, worker);
                    }
                });
            }
        });
        assert!(workers.idle(0).count() <= 4);
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
