//! One run: its job, the number of shares left to begin, and the threads inside.
//!
//! A slot lives as long as its pool, and serves one run after another. Its state is one word:
//!
//! ```text
//! bit 31   30        29 ........ 15   14 ......... 0
//!     0    waiting   threads inside   shares left
//! ```
//!
//! The central idea: **a helper enters by claiming a share and counting itself inside in one atomic
//! step**. From then on the run cannot end before the helper leaves; until then the helper has not
//! accessed the run, and no thread needs to wait for it. A late helper finds no share, or a share
//! of the slot's next run, and both are correct.

use super::futex;
use super::panics::{FirstPanic, Payload};
use super::sync::{AtomicU32, Backoff, Cell, Ordering};

type Job<'a> = dyn Fn(usize) + Sync + 'a;

const SHARES: u32 = (1 << 15) - 1;
const INSIDE_ONE: u32 = 1 << 15;
const INSIDE: u32 = SHARES << 15;
const WAITING: u32 = 1 << 30;

/// One run at a time, owned by the caller of the run and entered by helpers.
pub(super) struct Slot {
    state: AtomicU32,
    /// The job and the initial number of shares. Written by the owner while no share is left and no
    /// thread is inside; read by threads inside.
    task: Cell<(*const Job<'static>, u32)>,
    panics: FirstPanic,
}

// SAFETY: `task` is written only in `open`, whose contract is that no thread is inside and no share
// is left, and read only by threads inside; `state` orders the two (see `open` and `enter`). The
// job that the pointer refers to is `Sync`. The other fields are atomic.
unsafe impl Sync for Slot {}

/// The share of a thread inside a run.
pub(super) struct Share<'slot> {
    slot: &'slot Slot,
    job: *const Job<'static>,
    tid: usize,
    /// The number of shares left after this one.
    pub(super) left: usize,
}

/// Does nothing: the job of a slot before its first run.
fn no_op(_tid: usize) {}

impl Slot {
    pub(super) fn new() -> Slot {
        Slot { state: AtomicU32::new(0), task: Cell::new((&no_op, 0)), panics: FirstPanic::new() }
    }

    /// Opens a run with `shares` shares in addition to the owner's.
    ///
    /// # Safety
    ///
    /// The caller owns the slot, which is closed with no thread inside, and keeps `job` alive until
    /// `close` has returned false or `wait` has returned.
    pub(super) unsafe fn open(&self, job: &Job<'_>, shares: usize) {
        debug_assert!(shares <= SHARES as usize);
        // SAFETY: only the lifetime is changed; the contract above replaces it.
        let job = unsafe { std::mem::transmute::<*const Job<'_>, *const Job<'static>>(job) };
        self.task.set((job, shares as u32));
        // Release: a helper whose `enter` loads this value (or one derived from it) sees the task.
        self.state.store(shares as u32, Ordering::Release);
    }

    /// Whether a helper could begin a share now.
    pub(super) fn has_shares(&self) -> bool {
        // Acquire, so that a helper which saw this slot in `open_runs` (with SeqCst) does not load
        // a state older than the opening that published it.
        self.state.load(Ordering::Acquire) & SHARES != 0
    }

    /// Begins a share, if one is left.
    pub(super) fn enter(&self) -> Option<Share<'_>> {
        // Relaxed: the exchange below verifies this value.
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let left = state & SHARES;
            if left == 0 {
                return None;
            }
            // Acquire: pairs with the Release in `open`, directly or through the exchanges of other
            // helpers, which continue its release sequence. The task can be read afterwards.
            match self.state.compare_exchange_weak(
                state,
                state - 1 + INSIDE_ONE,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    let (job, shares) = self.task.get();
                    let tid = (shares - left + 1) as usize;
                    return Some(Share { slot: self, job, tid, left: left as usize - 1 });
                }
                Err(now) => state = now,
            }
        }
    }

    /// Runs the owner's share.
    pub(super) fn run_own(&self, job: &Job<'_>) {
        self.panics.guard(|| job(0));
    }

    /// Closes the run to further helpers; returns whether any is inside.
    pub(super) fn close(&self) -> bool {
        // Acquire: if no helper is inside, the caller returns at once, and must see their writes
        // (their Release is in `leave`).
        self.state.fetch_and(!SHARES, Ordering::Acquire) & INSIDE != 0
    }

    /// Waits until no helper is inside. For the owner, after `close`.
    ///
    /// Helpers inside are at their last unit of work, so a short spin comes first; then a few
    /// yields, which allow a helper on the same core to finish; then sleep.
    pub(super) fn wait(&self) {
        let backoff = Backoff::new();
        loop {
            // Acquire: pairs with the Release of the last `leave`, and through the release sequence
            // with those before it.
            let state = self.state.load(Ordering::Acquire);
            if state & INSIDE == 0 {
                break;
            }
            if !backoff.is_completed() {
                backoff.snooze();
                continue;
            }
            // Relaxed: the flag guards no data; the futex compares the word again before it sleeps,
            // so a `leave` in between is not missed.
            let waiting = state | WAITING;
            let flagged = state == waiting
                || self
                    .state
                    .compare_exchange(state, waiting, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if flagged {
                futex::wait(&self.state, waiting);
            }
        }
    }

    /// Removes and returns the first panic of the run that has ended. For the owner.
    pub(super) fn take_panic(&self) -> Option<Payload> {
        self.panics.take()
    }
}

impl Share<'_> {
    /// Runs the job.
    pub(super) fn run(&self) {
        // SAFETY: this thread is inside, so the owner still keeps the job alive (see `open`).
        let job = unsafe { &*self.job };
        self.slot.panics.guard(|| job(self.tid));
    }

    /// Leaves the run, closes it to further helpers, and wakes the owner if no other helper is
    /// inside.
    pub(super) fn leave(self) {
        let mut state = self.slot.state.load(Ordering::Relaxed);
        loop {
            let left = (state & !SHARES) - INSIDE_ONE;
            let last = left & INSIDE == 0;
            let next = if last { 0 } else { left };
            // Release: the owner sees the job's writes once it sees this helper leave. The owner
            // may then open the next run here, so the code below uses only the address of the word;
            // a wake-up that reaches the owner of a later run is harmless, because it checks again.
            match self.slot.state.compare_exchange_weak(
                state,
                next,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) if last && state & WAITING != 0 => return futex::wake_one(&self.slot.state),
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn tids_count_up_from_one_and_end_with_the_shares() {
        let slot = Slot::new();
        let sum = AtomicUsize::new(0);
        let job = |tid| {
            sum.fetch_add(tid, Ordering::Relaxed);
        };
        assert!(slot.enter().is_none());
        // SAFETY: the slot is new, and the job outlives the run below.
        unsafe { slot.open(&job, 2) };
        let first = slot.enter().unwrap();
        let second = slot.enter().unwrap();
        assert_eq!((first.tid, first.left), (1, 1));
        assert_eq!((second.tid, second.left), (2, 0));
        assert!(slot.enter().is_none() && !slot.has_shares());
        first.run();
        second.run();
        first.leave();
        assert!(slot.close());
        second.leave();
        slot.wait();
        assert_eq!(sum.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_share_that_ends_closes_the_run_to_newcomers() {
        let slot = Slot::new();
        // SAFETY: the slot is new, and the job is a constant.
        unsafe { slot.open(&|_| (), SHARES as usize) };
        slot.enter().unwrap().leave();
        assert!(!slot.has_shares());
        assert!(!slot.close());
    }

    #[test]
    fn the_owner_wakes_when_the_last_helper_leaves() {
        let slot = Slot::new();
        for _ in 0..20 {
            // SAFETY: the slot is closed with no thread inside, and the job is a constant.
            unsafe { slot.open(&|_| (), 2) };
            std::thread::scope(|scope| {
                for pause in [0, 1] {
                    let slot = &slot;
                    scope.spawn(move || {
                        let share = slot.enter().unwrap();
                        while slot.has_shares() {
                            std::thread::yield_now();
                        }
                        std::thread::sleep(std::time::Duration::from_millis(pause));
                        share.leave();
                    });
                }
                while slot.has_shares() {
                    std::thread::yield_now();
                }
                slot.close();
                slot.wait();
                assert_eq!(slot.state.load(Ordering::Relaxed), 0);
            });
        }
    }
}
