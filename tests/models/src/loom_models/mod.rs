//! Models for loom. Each tries all interleavings with at most [`PREEMPTIONS`] preemptions.

#[path = "../../../../src/pool/bits.rs"]
mod bits;
#[path = "../../../../src/pool/boxes.rs"]
mod boxes;
mod futex;
#[path = "../../../../src/pool/panics.rs"]
mod panics;
#[path = "../../../../src/pool/slot.rs"]
mod slot;
mod sync;

use bits::Bits;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use slot::Slot;
use std::ptr::null_mut;
use sync::{AtomicPtr, AtomicUsize, Ordering};

/// The number of times that a thread is interrupted before it blocks or ends, in all threads.
const PREEMPTIONS: usize = 3;

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// Adds 1 without synchronisation; loom reports a race with any other access.
fn write(cell: &UnsafeCell<usize>) {
    // SAFETY: loom checks that no other thread accesses the cell at the same time.
    cell.with_mut(|value| unsafe { *value += 1 });
}

fn read(cell: &UnsafeCell<usize>) -> usize {
    // SAFETY: loom checks that no other thread writes to the cell at the same time.
    cell.with(|value| unsafe { *value })
}

/// Opens two runs on one slot, one after the other, with `helpers` threads that try to join each.
/// The cells of a run are written by the threads inside, without synchronisation, and read by the
/// owner at the end.
fn two_runs(helpers: usize, shares: usize) {
    let slot = Arc::new(Slot::new());
    let threads: Vec<_> = (0..helpers)
        .map(|_| {
            let slot = slot.clone();
            thread::spawn(move || {
                if let Some(share) = slot.enter() {
                    share.run();
                    share.leave();
                }
            })
        })
        .collect();
    for _ in 0..2 {
        let cells: Vec<_> = (0..=shares).map(|_| UnsafeCell::new(0)).collect();
        let cells = SharedCells(cells);
        let job = |tid: usize| write(cells.at(tid));
        // SAFETY: this thread owns the slot, and `job` lives until the run has ended below.
        unsafe { slot.open(&job, shares) };
        slot.run_own(&job);
        if slot.close() {
            slot.wait();
        }
        assert!(slot.take_panic().is_none());
        assert_eq!(read(cells.at(0)), 1);
        assert!((1..=shares).all(|tid| read(cells.at(tid)) <= 1), "a tid is used twice");
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(!slot.has_shares());
}

struct SharedCells(Vec<UnsafeCell<usize>>);

// SAFETY: loom checks all accesses to the cells.
unsafe impl Sync for SharedCells {}

impl SharedCells {
    fn at(&self, index: usize) -> &UnsafeCell<usize> {
        &self.0[index]
    }
}

/// A helper enters a run at most once for each share, the owner sees its writes, and neither
/// accesses the job of another run.
pub fn a_helper_joins_runs_of_a_slot() {
    check(|| two_runs(1, 1));
}

/// The same with two helpers and two shares.
pub fn two_helpers_join_runs_of_a_slot() {
    check(|| two_runs(2, 2));
}

/// The same with more helpers than shares.
pub fn two_helpers_compete_for_one_share() {
    check(|| two_runs(2, 1));
}

/// Of two panics one reaches the owner, with its payload; none is left for the next run.
pub fn one_panic_of_a_run_reaches_its_owner() {
    check(|| {
        let slot = Arc::new(Slot::new());
        let helper = {
            let slot = slot.clone();
            thread::spawn(move || {
                let share = slot.enter();
                let entered = share.is_some();
                if let Some(share) = share {
                    share.run();
                    share.leave();
                }
                entered
            })
        };
        let job = |tid: usize| std::panic::resume_unwind(Box::new(tid));
        // SAFETY: this thread owns the slot, and `job` lives until the run has ended below.
        unsafe { slot.open(&job, 1) };
        slot.run_own(&job);
        if slot.close() {
            slot.wait();
        }
        let tid = *slot.take_panic().unwrap().downcast::<usize>().unwrap();
        assert!(slot.take_panic().is_none());
        let entered = helper.join().unwrap();
        assert!(tid == 0 || entered);
    });
}

/// Three threads exchange a box: it has one owner at a time, who sees what the last one wrote.
pub fn a_box_has_one_owner() {
    check(|| {
        let pointer = Arc::new(AtomicPtr::new(null_mut()));
        assert!(boxes::fill(&pointer, Box::new(UnsafeCell::new(0))).is_ok());
        let visit = |pointer: &AtomicPtr<UnsafeCell<usize>>| {
            // SAFETY: the pointer was null, and only `take` and `fill` change it.
            let taken = unsafe { boxes::take(pointer) };
            let visits = usize::from(taken.is_some());
            if let Some(cell) = taken {
                write(&cell);
                assert!(boxes::fill(pointer, cell).is_ok());
            }
            visits
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let pointer = pointer.clone();
                thread::spawn(move || visit(&pointer))
            })
            .collect();
        let mut visits = visit(&pointer);
        visits += threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>();
        // SAFETY: as above, in both calls.
        let (cell, none) = unsafe { (boxes::take(&pointer).unwrap(), boxes::take(&pointer)) };
        assert_eq!(read(&cell), visits);
        assert!(none.is_none());
    });
}

/// Of two threads that fill an empty pointer, one succeeds, and the other keeps its box.
pub fn a_full_pointer_refuses_a_box() {
    check(|| {
        let pointer = Arc::new(AtomicPtr::new(null_mut()));
        let threads: Vec<_> = (1..3)
            .map(|number| {
                let pointer = pointer.clone();
                thread::spawn(move || boxes::fill(&pointer, Box::new(number)).err())
            })
            .collect();
        let refused = threads.into_iter().filter_map(|thread| thread.join().unwrap());
        let refused: Vec<usize> = refused.map(|number| *number).collect();
        // SAFETY: the pointer was null, and only `take` and `fill` change it.
        let kept = *unsafe { boxes::take(&pointer) }.unwrap();
        assert_eq!(refused, [3 - kept]);
    });
}

/// Threads that insert and remove the smallest number never have the same one.
pub fn a_number_of_a_set_has_one_owner() {
    check(|| {
        let set = Arc::new(Bits::new(2));
        let cells = Arc::new(SharedCells((0..2).map(|_| UnsafeCell::new(0)).collect()));
        let visit = |set: &Bits, cells: &SharedCells| {
            if let Some(number) = set.push() {
                write(cells.at(number));
                assert!(set.remove(number));
            }
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (set, cells) = (set.clone(), cells.clone());
                thread::spawn(move || visit(&set, &cells))
            })
            .collect();
        visit(&set, &cells);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((set.pop(), set.pop()), (None, None));
    });
}
