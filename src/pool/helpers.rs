//! The helpers, and the board where open runs hang.
//!
//! A helper is in one of three states: *inside* a run, *looking* for one (it has been rung for, has
//! just started, or looks out for a moment after a run), or *asleep*. `searching` counts the second, the
//! set `parked` holds the third. Nobody hands a run to a certain helper: a run hangs on the board,
//! helpers that look find it, and ringing only makes more helpers look.
//!
//! Ringing is shared: the caller of a run, and each helper that begins a share, ring for up to
//! [`FAN_OUT`] more helpers if fewer are looking than shares are left. So the caller loses
//! little time before its own share, many helpers are awake after a few rounds, and a run that is
//! over soon wakes few. Where nobody is asleep, a new helper is started instead.
//!
//! No ring is lost: whoever opens a run first puts it on the board and then looks at `searching` and
//! `parked`; whoever goes to sleep first changes these two and then looks at the board. All four are
//! SeqCst, so at least one of them sees the other. (If one were lost all the same, the caller would
//! do the work alone.)

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::bits::Bits;
use super::slot::{Share, Slot};
use super::{fork, futex, thread, worker};

/// Runs that can have helpers at the same time: the board is one word.
const SLOTS: usize = 64;

/// Helpers per available core, at most. More than one, because helpers may sit in user callbacks
/// that wait for something else than the processor.
const HELPERS_PER_CORE: usize = 8;

/// Most helpers of all: their number has four digits in the thread's name.
const MAX_HELPERS: usize = 9999;

/// How many helpers one thread rings for when it begins its share.
const FAN_OUT: usize = 2;

/// How long a helper looks out for the next run before it sleeps. Longer than the time between two calls
/// of a program that compresses chunk after chunk, and short enough not to be felt by others.
const SPIN_TIME: Duration = Duration::from_micros(20);

/// Processor pauses between two looks at the board.
const PAUSES_PER_CHECK: usize = 8;

/// How long no thread is started after one could not be.
const START_BACKOFF_MS: u64 = 100;

/// Values of a helper's bell.
const NOTIFIED: u32 = 0;
const PARKED: u32 = 1;

/// All helper threads of the process, and the runs they can help with.
pub(super) struct Pool {
    /// Bit i: slot i may have shares left.
    open_runs: CachePadded<AtomicU64>,
    slots: Box<[CachePadded<Slot>]>,
    /// Slots that have an owner.
    owned: CachePadded<Bits>,
    /// Helpers that look for a run.
    searching: CachePadded<AtomicUsize>,
    parked: CachePadded<Bits>,
    /// What a helper that is asleep waits on.
    parkers: Box<[CachePadded<AtomicU32>]>,
    /// Helpers that exist (and have not said that they end).
    alive: Bits,
    /// How often the helpers have been told to end when idle.
    shutdowns: AtomicUsize,
    /// Until when no thread is started, in milliseconds since `created`.
    no_start_before: AtomicU64,
    created: Instant,
    spin_time: Duration,
    /// The value of [`fork::count`] in the process whose threads the helpers are.
    process: usize,
}

impl Pool {
    /// A crew without helpers yet, for a machine with `cores` cores to use.
    pub(super) fn new(cores: usize) -> Pool {
        let capacity = cores.saturating_mul(HELPERS_PER_CORE).min(MAX_HELPERS);
        Pool {
            open_runs: CachePadded::new(AtomicU64::new(0)),
            slots: (0..SLOTS).map(|_| CachePadded::new(Slot::new())).collect(),
            owned: CachePadded::new(Bits::new(SLOTS)),
            searching: CachePadded::new(AtomicUsize::new(0)),
            parked: CachePadded::new(Bits::new(capacity)),
            parkers: (0..capacity)
                .map(|_| CachePadded::new(AtomicU32::new(NOTIFIED)))
                .collect(),
            alive: Bits::new(capacity),
            shutdowns: AtomicUsize::new(0),
            no_start_before: AtomicU64::new(0),
            created: Instant::now(),
            spin_time: if cores > 1 { SPIN_TIME } else { Duration::ZERO },
            process: fork::count(),
        }
    }

    /// [`super::run`] on this crew, for two threads or more.
    pub(super) fn run(&'static self, nthreads: usize, job: &(dyn Fn(usize) + Sync)) {
        let Some(index) = self.owned.push() else {
            return job(0);
        };
        let slot = &self.slots[index];
        let shares = (nthreads - 1).min(self.parkers.len());
        // SAFETY: `owned` made the slot ours; its last owner left it closed and empty; and this
        // function does not return, nor unwind, before the slot is closed and empty again (in a
        // forked child it may, but there no helper exists).
        unsafe { slot.open(job, shares) };
        self.open_runs.fetch_or(1 << index, Ordering::SeqCst);
        self.notify(shares);
        slot.run_own(job);
        self.clear_open(index);
        if slot.close() {
            if self.is_inherited() {
                panic!("a job forked, and its helpers' shares are lost to the child");
            }
            slot.wait();
        }
        let panic = slot.take_panic();
        self.owned.remove(index);
        if let Some(payload) = panic {
            std::panic::resume_unwind(payload);
        }
    }

    /// Makes helpers end as soon as they find nothing to do.
    pub(super) fn shutdown_idle(&self) {
        // SeqCst: as with an opened run, first publish, then look who sleeps.
        self.shutdowns.fetch_add(1, Ordering::SeqCst);
        while self.wake() {}
    }

    /// How often `shutdown_idle` was called; a helper ends when this changes.
    pub(super) fn shutdowns(&self) -> usize {
        self.shutdowns.load(Ordering::SeqCst)
    }

    /// Whether this process is a child of the one whose threads the helpers are.
    pub(super) fn is_inherited(&self) -> bool {
        self.process != fork::count()
    }

    /// Makes sure that up to [`FAN_OUT`] of `wanted` helpers look for a run.
    fn notify(&'static self, wanted: usize) {
        let missing = wanted.saturating_sub(self.searching.load(Ordering::SeqCst));
        for _ in 0..missing.min(FAN_OUT) {
            if !self.wake() && !self.start() {
                return;
            }
        }
    }

    /// Wakes one helper, which counts as looking from now on; false when none is asleep.
    fn wake(&self) -> bool {
        let Some(helper) = self.parked.pop() else {
            return false;
        };
        self.searching.fetch_add(1, Ordering::SeqCst);
        // Release: the helper, which reads this with Acquire, then finds itself counted. It waits
        // for this store once its number has been taken from the set, so the bell can't ring late.
        self.parkers[helper].store(NOTIFIED, Ordering::Release);
        futex::wake_one(&self.parkers[helper]);
        true
    }

    /// Starts one more helper, which looks for a run from now on; false when that can't be.
    fn start(&'static self) -> bool {
        let Some(helper) = self.alive.push() else {
            return false;
        };
        // Relaxed: the moment stands for itself.
        let wait_until = self.no_start_before.load(Ordering::Relaxed);
        if wait_until == 0 || self.age_ms() >= wait_until {
            self.searching.fetch_add(1, Ordering::SeqCst);
            // Read here, lest a dismissal between now and the thread's first step pass it by.
            let epoch = self.shutdowns();
            if thread::start(
                helper + 1,
                Box::new(move || worker::run_helper(self, helper, epoch)),
            ) {
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
        // Only an owner or a thread inside does this, so the bit cannot be that of a later run.
        // Relaxed for the load: another thread that took it off is fine, and a bit that we have not
        // seen being set cannot be ours to clear. SeqCst for the change, with the rest of the board.
        if self.open_runs.load(Ordering::Relaxed) & (1 << slot) != 0 {
            self.open_runs.fetch_and(!(1 << slot), Ordering::SeqCst);
        }
    }
}

/// What helpers do with the crew.
impl Pool {
    /// Begins a share of an open run, if there is one. Different helpers begin their search at
    /// different slots, so that they spread over the runs.
    pub(super) fn enter(&'static self, helper: usize) -> Option<(usize, Share<'static>)> {
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
            // Another run may have counted on this helper: ring for one in its stead.
            self.notify(if open == 0 {
                share.left
            } else {
                share.left.max(1)
            });
            return Some((slot, share));
        }
        None
    }

    /// Ends a share that was begun with `enter`.
    pub(super) fn leave(&self, slot: usize, share: Share<'static>) {
        self.clear_open(slot);
        // Before the owner can see us gone, lest its next run ring for another helper.
        self.searching.fetch_add(1, Ordering::SeqCst);
        share.leave();
    }

    /// Whether a run on the board has a share left.
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

    /// Whether a helper that serves since the dismissal number `epoch` has a reason to be awake.
    fn has_work(&self, epoch: usize) -> bool {
        self.has_shares() || self.shutdowns() != epoch
    }

    /// Looks out for a moment; true as soon as there is something to do.
    ///
    /// Between looks it yields. On a core of its own that costs nothing. But the system often wakes a
    /// helper on the caller's core, when no other is free; then a helper that only spins keeps the
    /// caller from its own share for the whole moment, and uses up time that the core would
    /// otherwise give the caller before it turns to somebody else.
    pub(super) fn spin_wait(&self, epoch: usize) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < self.spin_time {
            if self.has_work(epoch) {
                return true;
            }
            for _ in 0..PAUSES_PER_CHECK {
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
        false
    }

    /// Sleeps until somebody rings, unless there is something to do.
    pub(super) fn sleep(&self, helper: usize, epoch: usize) {
        let parker = &self.parkers[helper];
        // Relaxed: the insertion below publishes it to whoever takes our number from the set.
        parker.store(PARKED, Ordering::Relaxed);
        self.searching.fetch_sub(1, Ordering::SeqCst);
        self.parked.insert(helper);
        if self.has_work(epoch) && self.parked.remove(helper) {
            self.searching.fetch_add(1, Ordering::SeqCst);
            return;
        }
        // If our number was taken between the two, the bell rings at any moment.
        while parker.load(Ordering::Acquire) == PARKED {
            futex::wait(parker, PARKED);
        }
    }

    /// Says that a helper which looks for work ends.
    pub(super) fn retire(&'static self, helper: usize) {
        self.searching.fetch_sub(1, Ordering::SeqCst);
        self.alive.remove(helper);
        // A run opened just before may have counted on this helper.
        if self.has_shares() {
            self.notify(1);
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
