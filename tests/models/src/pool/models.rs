//! Models of the pool, the backend and the fork handler, for shuttle.

use super::helpers::Pool;
use super::shared_list::SharedList;
use super::thread::{check, fork, join_helpers, refuse_threads, spawn, started};
use super::{Backend, release, run, set_backend};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize};
use shuttle::sync::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// Returns a pool with at most eight helpers, which spin before they sleep.
fn pool() -> &'static Pool {
    // One core would be enough, but with one helpers do not spin.
    Box::leak(Box::new(Pool::new(2)))
}

/// Runs `units` units of work on up to `nthreads` threads. Each must run once, and none after the
/// run has returned.
fn count(run: impl FnOnce(usize, &(dyn Fn(usize) + Sync)), nthreads: usize, units: usize) {
    let next = AtomicUsize::new(0);
    let done: Vec<_> = (0..units).map(|_| AtomicUsize::new(0)).collect();
    let tids: Vec<_> = (0..nthreads).map(|_| AtomicBool::new(false)).collect();
    let inside = AtomicUsize::new(0);
    run(nthreads, &|tid| {
        assert!(!tids[tid].swap(true, SeqCst), "a tid is used twice");
        inside.fetch_add(1, SeqCst);
        while let Some(unit) = done.get(next.fetch_add(1, SeqCst)) {
            unit.fetch_add(1, SeqCst);
        }
        inside.fetch_sub(1, SeqCst);
    });
    assert_eq!(inside.load(SeqCst), 0, "a thread is inside after the run");
    assert!(done.iter().all(|unit| unit.load(SeqCst) == 1));
}

/// A meeting of threads: all wait until the last one arrives.
struct Meeting {
    missing: Mutex<usize>,
    complete: Condvar,
}

impl Meeting {
    fn of(threads: usize) -> Meeting {
        Meeting { missing: Mutex::new(threads), complete: Condvar::new() }
    }

    fn join(&self) {
        let mut missing = self.missing.lock().unwrap();
        *missing = missing.saturating_sub(1);
        self.complete.notify_all();
        while *missing > 0 {
            missing = self.complete.wait(missing).unwrap();
        }
    }
}

/// Two callers run jobs on one pool, and starting a thread may fail. Every unit of work is done
/// once.
pub fn two_callers_share_a_pool() {
    check(|| {
        let pool = pool();
        refuse_threads(true);
        let other = spawn(move || {
            for _ in 0..2 {
                count(|nthreads, job| pool.run(nthreads, job), 3, 3);
            }
        });
        for _ in 0..2 {
            count(|nthreads, job| pool.run(nthreads, job), 2, 2);
        }
        other.join().unwrap();
    });
}

/// All helpers join a job whose threads wait for each other, whether they are new, search, go to
/// sleep or sleep. A lost notification would be a deadlock.
pub fn no_notification_is_lost() {
    check(|| {
        let pool = pool();
        for threads in [2, 3, 2] {
            let meeting = Meeting::of(threads);
            pool.run(threads, &|_| meeting.join());
        }
    });
}

/// The same while another caller uses the helpers.
pub fn no_notification_is_lost_to_another_caller() {
    check(|| {
        let pool = pool();
        let other = spawn(move || {
            for _ in 0..2 {
                count(|nthreads, job| pool.run(nthreads, job), 2, 1);
            }
        });
        for _ in 0..2 {
            let meeting = Meeting::of(2);
            pool.run(2, &|_| meeting.join());
        }
        other.join().unwrap();
    });
}

/// A helper that goes to sleep is counted at any time, so a single caller starts no second one.
pub fn a_single_caller_of_two_threads_has_one_helper() {
    check(|| {
        let pool = pool();
        for _ in 0..4 {
            count(|nthreads, job| pool.run(nthreads, job), 2, 2);
        }
        assert!(started() <= 1, "{} helpers", started());
    });
}

/// After a shutdown all idle helpers end; a run at the same time loses neither work nor helpers.
pub fn a_shutdown_ends_helpers_and_no_run() {
    check(|| {
        let pool = pool();
        count(|nthreads, job| pool.run(nthreads, job), 3, 3);
        let other = spawn(move || pool.shutdown_idle());
        let meeting = Meeting::of(2);
        pool.run(2, &|_| meeting.join());
        other.join().unwrap();
        pool.shutdown_idle();
        join_helpers();
    });
}

/// Jobs may run jobs.
pub fn runs_may_be_nested() {
    check(|| {
        let pool = pool();
        let units = AtomicUsize::new(2);
        pool.run(2, &|_| {
            while units.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
                count(|nthreads, job| pool.run(nthreads, job), 2, 2);
            }
        });
    });
}

/// The first panic of a run reaches its caller after all threads have left; the next run has none.
pub fn a_panic_reaches_the_caller() {
    check(|| {
        let pool = pool();
        let inside = AtomicUsize::new(0);
        let meeting = Meeting::of(2);
        let run = || {
            pool.run(2, &|tid| {
                inside.fetch_add(1, SeqCst);
                meeting.join();
                if tid == 1 {
                    inside.fetch_sub(1, SeqCst);
                    std::panic::resume_unwind(Box::new("helper"));
                }
                inside.fetch_sub(1, SeqCst);
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"helper"));
        assert_eq!(inside.load(SeqCst), 0);
        count(|nthreads, job| pool.run(nthreads, job), 2, 2);
    });
}

/// The pool of the process is created once, though two threads need it at the same time.
pub fn the_pool_of_the_process_is_created_once() {
    check(|| {
        let other = spawn(|| count(run, 2, 2));
        count(run, 2, 2);
        other.join().unwrap();
        release();
        join_helpers();
        // Discards the pool, as its helpers belong to this execution.
        fork();
    });
}

/// A fork while another thread is anywhere in a run: the child has a pool of its own.
pub fn a_forked_child_makes_a_pool() {
    check(|| {
        // Its handle is dropped: in the child the thread does not exist.
        drop(spawn(|| {
            for _ in 0..2 {
                count(run, 2, 2);
            }
        }));
        count(run, 2, 2);
        fork();
        let meeting = Meeting::of(2);
        run(2, &|_| meeting.join());
        release();
        join_helpers();
        fork();
    });
}

/// A job that forks: in the child the run ends, with a panic if a helper was inside.
pub fn a_job_may_fork() {
    check(|| {
        let units = AtomicUsize::new(2);
        let forked = || {
            run(2, &|tid| {
                while units.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
                    shuttle::thread::yield_now();
                }
                if tid == 0 {
                    fork();
                }
            });
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(forked)) {
            let text = panic.downcast_ref::<&str>().copied().unwrap_or_default();
            assert!(text.contains("forked the process"), "{text}");
        }
        count(run, 2, 2);
        release();
        join_helpers();
        fork();
    });
}

/// A backend that reports calls after its end.
struct Counted {
    is_dropped: Arc<AtomicBool>,
}

impl Backend for Counted {
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
        for index in 0..njobs {
            assert!(!self.is_dropped.load(SeqCst), "a dropped backend runs a job");
            job(index);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(!self.is_dropped.swap(true, SeqCst), "a backend is dropped twice");
    }
}

/// A backend that is replaced during runs lives as long as they need it.
pub fn a_backend_outlives_its_runs() {
    check(|| {
        let flags: Vec<_> = (0..2).map(|_| Arc::new(AtomicBool::new(false))).collect();
        let backend = |index: usize| -> Arc<dyn Backend> {
            Arc::new(Counted { is_dropped: flags[index].clone() })
        };
        set_backend(Some(backend(0)));
        let runners: Vec<_> = (0..2).map(|_| spawn(|| count(run, 2, 2))).collect();
        set_backend(Some(backend(1)));
        set_backend(None);
        runners.into_iter().for_each(|runner| runner.join().unwrap());
        release();
        join_helpers();
        fork();
    });
}

/// An item of a shared list that reports uses after its end.
struct Item {
    number: usize,
    is_dropped: AtomicBool,
}

impl Drop for Item {
    fn drop(&mut self) {
        assert!(!self.is_dropped.swap(true, SeqCst), "an item is dropped twice");
    }
}

/// Threads change and read a shared list: no change is lost, and no list is used after its end.
pub fn changes_of_a_shared_list_are_all_kept() {
    check(|| {
        let list = Arc::new(SharedList::<Arc<Item>>::new());
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let list = list.clone();
                spawn(move || {
                    let item = Arc::new(Item { number, is_dropped: AtomicBool::new(false) });
                    list.update(|list| list.push(item.clone()));
                    let found = list.find(|item| item.number == number).unwrap();
                    assert!(!found.is_dropped.load(SeqCst), "a dropped item is found");
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut numbers: Vec<_> =
            list.update(|list| list.drain(..).map(|item| item.number).collect());
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
        assert!(list.find(|_| true).is_none());
    });
}
