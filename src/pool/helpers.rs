//! The pool: helper threads and the runs they can join.
//!
//! A helper is in one of three states: *inside* a run, *searching* for one (it was notified, has
//! just started, or spins for a moment after a run), or *parked*. `searching` counts the second
//! state, the set `parked` holds the third. Runs are not assigned to helpers: a run is published in
//! `open_runs`, searching helpers find it there, and a notification only makes more helpers search.
//!
//! Notifying is shared: the caller of a run, and each helper that begins a share, notify up to
//! [`FAN_OUT`] more helpers if fewer are searching than shares are left. So the caller loses little
//! time before its own share, many helpers are awake after a few rounds, and a short run wakes few.
//! If no helper is parked, a new one is started instead.
//!
//! No notification is lost: a caller publishes its run and then checks `searching` and `parked`; a
//! helper changes these two and then checks `open_runs` before it sleeps. All accesses are SeqCst,
//! so at least one of them sees the other. (If one were lost, the caller would do the work alone.)

use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::bits::Bits;
use super::slot::{Share, Slot};
use super::sync::{AtomicU32, AtomicU64, AtomicUsize, Instant, Ordering, spin_loop, yield_now};
use super::{fork, futex, thread};

/// The number of runs that can have helpers at the same time: `open_runs` is one word.
const SLOTS: usize = 64;

/// The largest number of helpers per available core. It exceeds one because helpers may be in user
/// callbacks that wait for something other than the processor.
const HELPERS_PER_CORE: usize = 8;

/// The largest number of helpers: the thread's name has four digits for their number.
const MAX_HELPERS: usize = 9999;

/// The number of helpers that one thread notifies when it begins its share.
const FAN_OUT: usize = 2;

/// The time a helper spins for the next run before it parks. It exceeds the time between two calls
/// of a program that compresses chunk after chunk, and is too short to disturb other programs.
const SPIN_TIME: Duration = Duration::from_micros(20);

/// Spin-loop hints between two checks for work.
const PAUSES_PER_CHECK: usize = 8;

/// The time after a failed thread start in which no other start is tried, in milliseconds.
const START_BACKOFF_MS: u64 = 100;

/// Values of a parker.
const NOTIFIED: u32 = 0;
const PARKED: u32 = 1;

/// The helper threads of the process, and the runs they can join.
pub(super) struct Pool {
    /// Bit i: slot i may have shares left.
    open_runs: CachePadded<AtomicU64>,
    slots: Box<[CachePadded<Slot>]>,
    /// Slots that have an owner.
    owned: CachePadded<Bits>,
    /// The number of helpers that search for a run.
    searching: CachePadded<AtomicUsize>,
    parked: CachePadded<Bits>,
    /// The words that parked helpers wait on.
    parkers: Box<[CachePadded<AtomicU32>]>,
    /// Helpers that exist and have not retired.
    alive: Bits,
    /// The number of calls of `shutdown_idle`.
    shutdowns: AtomicUsize,
    /// The time before which no thread is started, in milliseconds since `created`.
    no_start_before: AtomicU64,
    created: Instant,
    spin_time: Duration,
    /// The value of [`fork::count`] in the process that owns the helper threads.
    process: usize,
}

impl Pool {
    /// Returns a pool without helpers, for a machine with `cores` available cores.
    pub(super) fn new(cores: usize) -> Pool {
        let capacity = cores.saturating_mul(HELPERS_PER_CORE).min(MAX_HELPERS);
        Pool {
            open_runs: CachePadded::new(AtomicU64::new(0)),
            slots: (0..SLOTS).map(|_| CachePadded::new(Slot::new())).collect(),
            owned: CachePadded::new(Bits::new(SLOTS)),
            searching: CachePadded::new(AtomicUsize::new(0)),
            parked: CachePadded::new(Bits::new(capacity)),
            parkers: (0..capacity).map(|_| CachePadded::new(AtomicU32::new(NOTIFIED))).collect(),
            alive: Bits::new(capacity),
            shutdowns: AtomicUsize::new(0),
            no_start_before: AtomicU64::new(0),
            created: Instant::now(),
            spin_time: if cores > 1 { SPIN_TIME } else { Duration::ZERO },
            process: fork::count(),
        }
    }

    /// Runs `job` on this pool like [`super::run`]. `nthreads` is at least 2.
    pub(super) fn run(&'static self, nthreads: usize, job: &(dyn Fn(usize) + Sync)) {
        let Some(index) = self.owned.push() else {
            return job(0);
        };
        let slot = &self.slots[index];
        let shares = (nthreads - 1).min(self.parkers.len());
        // SAFETY: `owned` made this call the slot's owner; its last owner left it closed and empty;
        // and this function does not return or unwind before the slot is closed and empty again (in
        // a forked child it may, but there no helper exists).
        unsafe { slot.open(job, shares) };
        self.open_runs.fetch_or(1 << index, Ordering::SeqCst);
        self.notify(shares, self.shutdowns());
        slot.run_own(job);
        self.clear_open(index);
        if slot.close() {
            assert!(
                !self.is_inherited(),
                "a job forked the process; its helper threads do not exist in the child"
            );
            slot.wait();
        }
        let panic = slot.take_panic();
        self.owned.remove(index);
        if let Some(payload) = panic {
            std::panic::resume_unwind(payload);
        }
    }

    /// Makes helpers end as soon as they are idle.
    pub(super) fn shutdown_idle(&self) {
        // SeqCst: as with an open run, first publish, then check for parked helpers.
        self.shutdowns.fetch_add(1, Ordering::SeqCst);
        while self.unpark_one() {}
    }

    /// Returns the number of calls of `shutdown_idle`; a helper ends when it changes.
    fn shutdowns(&self) -> usize {
        self.shutdowns.load(Ordering::SeqCst)
    }

    /// Whether this process is a forked child of the one that owns the helper threads.
    fn is_inherited(&self) -> bool {
        self.process != fork::count()
    }

    /// Makes up to [`FAN_OUT`] more helpers search, as long as fewer than `wanted` do. New ones end
    /// when they are idle and the number of shutdowns differs from `epoch`, which the caller loaded
    /// while it knew of the shares.
    fn notify(&'static self, wanted: usize, epoch: usize) {
        let missing = wanted.saturating_sub(self.searching.load(Ordering::SeqCst));
        for _ in 0..missing.min(FAN_OUT) {
            if self.unpark_one() {
                continue;
            }
            // A helper that was about to park may have seen the run since, and may have begun its
            // share: then no other is needed.
            let needed = self.searching.load(Ordering::SeqCst) < wanted && self.has_shares();
            if !needed || !self.start(epoch) {
                return;
            }
        }
    }

    /// Wakes one helper and counts it as searching; returns false if none is parked.
    fn unpark_one(&self) -> bool {
        let Some(helper) = self.parked.pop() else {
            return false;
        };
        self.searching.fetch_add(1, Ordering::SeqCst);
        // Release: the helper, which loads this with Acquire, then sees itself counted. It waits
        // for this store once its number is removed from the set, so the notification cannot come
        // too late.
        self.parkers[helper].store(NOTIFIED, Ordering::Release);
        futex::wake_one(&self.parkers[helper]);
        true
    }

    /// Starts one more helper, which is counted as searching, for [`Pool::notify`]; returns whether
    /// that succeeded.
    fn start(&'static self, epoch: usize) -> bool {
        let Some(helper) = self.alive.push() else {
            return false;
        };
        // Relaxed: the time guards no other data.
        let wait_until = self.no_start_before.load(Ordering::Relaxed);
        if wait_until == 0 || self.age_ms() >= wait_until {
            self.searching.fetch_add(1, Ordering::SeqCst);
            if thread::start(helper + 1, Box::new(move || self.run_helper(helper, epoch))) {
                return true;
            }
            self.searching.fetch_sub(1, Ordering::SeqCst);
            let wait_until = self.age_ms() + START_BACKOFF_MS;
            self.no_start_before.store(wait_until, Ordering::Relaxed);
        }
        self.alive.remove(helper);
        false
    }

    fn age_ms(&self) -> u64 {
        self.created.elapsed().as_millis() as u64
    }

    fn clear_open(&self, slot: usize) {
        // Only the owner or a thread inside calls this, so the bit cannot belong to a later run.
        // Relaxed for the load: if it does not see the bit, another thread has cleared it, or the
        // owner has yet to set it and clears it itself. SeqCst for the change, like all changes of
        // `open_runs`.
        if self.open_runs.load(Ordering::Relaxed) & (1 << slot) != 0 {
            self.open_runs.fetch_and(!(1 << slot), Ordering::SeqCst);
        }
    }
}

/// The operations of helpers.
impl Pool {
    /// Runs helper number `helper`, which is already counted as searching. Returns when the helper
    /// is idle and the number of shutdowns differs from `epoch`.
    fn run_helper(&'static self, helper: usize, epoch: usize) {
        loop {
            while let Some((slot, share)) = self.enter(helper) {
                share.run();
                if self.is_inherited() {
                    // The job forked on this thread, which is the pool's only thread in the child.
                    return;
                }
                self.leave(slot, share);
            }
            if self.shutdowns() != epoch {
                return self.retire(helper);
            }
            if !self.spin_wait(epoch) {
                self.park(helper, epoch);
            }
        }
    }

    /// Begins a share of an open run, if there is one. Helpers start their search at different
    /// slots, so that they spread over the runs.
    fn enter(&'static self, helper: usize) -> Option<(usize, Share<'static>)> {
        let first = (helper % SLOTS) as u32;
        let mut open = self.open_runs.load(Ordering::SeqCst).rotate_right(first);
        while open != 0 {
            let slot = (open.trailing_zeros() + first) as usize % SLOTS;
            open &= open - 1;
            let Some(share) = self.slots[slot].enter() else {
                continue;
            };
            if share.left == 0 {
                self.clear_open(slot);
            }
            self.searching.fetch_sub(1, Ordering::SeqCst);
            // Another run may have notified this helper: notify a replacement.
            let wanted = if open == 0 { share.left } else { share.left.max(1) };
            self.notify(wanted, self.shutdowns());
            return Some((slot, share));
        }
        None
    }

    /// Ends a share that was begun with `enter`.
    fn leave(&self, slot: usize, share: Share<'static>) {
        self.clear_open(slot);
        // Counts the helper before the owner can see the share end, so that the owner's next run
        // does not notify another helper.
        self.searching.fetch_add(1, Ordering::SeqCst);
        share.leave();
    }

    /// Whether any open run has a share left.
    fn has_shares(&self) -> bool {
        let mut open = self.open_runs.load(Ordering::SeqCst);
        while open != 0 {
            if self.slots[open.trailing_zeros() as usize].has_shares() {
                return true;
            }
            open &= open - 1;
        }
        false
    }

    /// Whether a helper that started at shutdown count `epoch` has a reason to stay awake.
    fn has_work(&self, epoch: usize) -> bool {
        self.has_shares() || self.shutdowns() != epoch
    }

    /// Spins for a moment; returns true as soon as there is work.
    ///
    /// The helper yields between checks, which costs nothing if no other thread needs its core. But
    /// the system often wakes a helper on the caller's core when no other is free. A helper that
    /// only spins would then delay the caller's own share, and use up the caller's time slice.
    fn spin_wait(&self, epoch: usize) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < self.spin_time {
            if self.has_work(epoch) {
                return true;
            }
            for _ in 0..PAUSES_PER_CHECK {
                spin_loop();
            }
            yield_now();
        }
        false
    }

    /// Sleeps until notified, unless there is work.
    fn park(&self, helper: usize, epoch: usize) {
        let parker = &self.parkers[helper];
        // Relaxed: the insertion below publishes it to the thread that removes the number.
        parker.store(PARKED, Ordering::Relaxed);
        // The helper is in one of the two counts at any time, or a caller would start another one.
        self.parked.insert(helper);
        self.searching.fetch_sub(1, Ordering::SeqCst);
        if self.has_work(epoch) {
            self.searching.fetch_add(1, Ordering::SeqCst);
            if self.parked.remove(helper) {
                return;
            }
            // Another thread removed the number: it counts this helper, and its notification
            // follows.
            self.searching.fetch_sub(1, Ordering::SeqCst);
        }
        while parker.load(Ordering::Acquire) == PARKED {
            futex::wait(parker, PARKED);
        }
    }

    /// Ends a helper that is searching.
    fn retire(&'static self, helper: usize) {
        self.searching.fetch_sub(1, Ordering::SeqCst);
        self.alive.remove(helper);
        // A run opened just before may have seen this helper searching and notified no other. If
        // the run ends and a shutdown follows before the new helper starts, that helper must end,
        // too: the epoch is loaded first.
        let epoch = self.shutdowns();
        if self.has_shares() {
            self.notify(1, epoch);
        }
    }
}

#[cfg(test)]
impl Pool {
    pub(super) fn helpers(&self) -> usize {
        self.alive.len()
    }

    pub(super) fn parked(&self) -> usize {
        self.parked.len()
    }

    pub(super) fn searching(&self) -> usize {
        self.searching.load(Ordering::SeqCst)
    }
}
