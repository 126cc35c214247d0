//! Tests of the whole pool, most of them on separate pools, so that they do not affect each other.
//!
//! They also run under Miri (`make test-miri`).

use std::cell::Cell;
use std::collections::HashSet;
#[cfg(unix)]
use std::ffi::CStr;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::helpers::Pool;
use super::{Backend, MAX_THREADS, release, run, set_backend};

/// Rounds of the stress tests: fewer under Miri.
const ROUNDS: usize = if cfg!(miri) { 20 } else { 2000 };

fn pool(cores: usize) -> &'static Pool {
    Box::leak(Box::new(Pool::new(cores)))
}

/// Waits until `condition` holds, and fails after ten seconds.
fn wait_until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(10), "timed out");
        std::thread::yield_now();
    }
}

/// Counts to `tasks` in a run on `pool`, each thread claiming one task after another.
fn count_to(pool: &'static Pool, nthreads: usize, tasks: usize) {
    let next = AtomicUsize::new(0);
    let done: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    pool.run(nthreads, &|_| {
        while let Some(task) = done.get(next.fetch_add(1, Ordering::Relaxed)) {
            task.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert!(done.iter().all(|task| task.load(Ordering::Relaxed) == 1));
}

/// Returns the number of threads of this process that have the pool's name, including those of
/// other tests.
#[cfg(unix)]
fn named_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.starts_with(b"ferroblosc-")).count()
}

#[test]
fn every_task_runs_once_at_any_thread_count() {
    let pool = pool(2);
    for nthreads in [2, 3, 4, 8, 17, 64] {
        for tasks in [0, 1, 2, 100] {
            count_to(pool, nthreads, tasks);
        }
    }
}

#[test]
fn zero_or_one_threads_run_in_the_caller() {
    for nthreads in [0, 1] {
        let tids = Mutex::new(Vec::new());
        run(nthreads, &|tid| tids.lock().unwrap().push((tid, std::thread::current().id())));
        assert_eq!(tids.into_inner().unwrap(), [(0, std::thread::current().id())]);
    }
}

#[test]
fn tids_are_distinct_and_below_the_thread_count() {
    let pool = pool(2);
    for _ in 0..ROUNDS / 10 {
        let tids = Mutex::new(Vec::new());
        pool.run(6, &|tid| {
            tids.lock().unwrap().push(tid);
            std::thread::yield_now();
        });
        let tids = tids.into_inner().unwrap();
        let distinct: HashSet<_> = tids.iter().collect();
        assert_eq!(distinct.len(), tids.len());
        assert!(tids.contains(&0) && tids.iter().all(|&tid| tid < 6));
    }
}

#[test]
fn all_requested_threads_join_while_work_is_left() {
    let pool = pool(1);
    for _ in 0..3 {
        let inside = AtomicUsize::new(0);
        pool.run(8, &|_| {
            inside.fetch_add(1, Ordering::SeqCst);
            wait_until(|| inside.load(Ordering::SeqCst) == 8);
        });
    }
}

#[test]
fn helpers_are_capped_per_core() {
    let pool = pool(1);
    let inside = AtomicUsize::new(0);
    pool.run(MAX_THREADS, &|_| {
        inside.fetch_add(1, Ordering::SeqCst);
        wait_until(|| inside.load(Ordering::SeqCst) == 9);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(inside.load(Ordering::SeqCst), 9);
    });
}

#[test]
fn a_single_caller_of_two_threads_has_one_helper() {
    let pool = pool(2);
    let helpers = Mutex::new(HashSet::new());
    for round in 0..ROUNDS {
        pool.run(2, &|tid| {
            if tid != 0 {
                helpers.lock().unwrap().insert(std::thread::current().id());
            }
        });
        if round % 100 == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    assert!(helpers.lock().unwrap().len() <= 1);
}

#[test]
fn a_run_does_not_wait_for_helpers_that_have_not_begun() {
    let pool = pool(1);
    let (busy, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // All eight helpers are busy in another run …
        scope.spawn(|| {
            pool.run(9, &|_| {
                busy.fetch_add(1, Ordering::SeqCst);
                wait_until(|| over.load(Ordering::SeqCst));
            });
        });
        wait_until(|| busy.load(Ordering::SeqCst) == 9);
        // … and this run ends without them.
        let tids = Mutex::new(Vec::new());
        pool.run(4, &|tid| tids.lock().unwrap().push(tid));
        assert_eq!(tids.into_inner().unwrap(), [0]);
        over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn many_callers_share_the_helpers() {
    let pool = pool(2);
    std::thread::scope(|scope| {
        for caller in 0..6 {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    count_to(pool, 2 + (caller + round) % 5, round % 20);
                }
            });
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "seventy spinning threads take Miri minutes")]
fn runs_beyond_the_slots_use_the_caller_alone() {
    let pool = pool(1);
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..70 {
            scope.spawn(|| {
                pool.run(2, &|tid| {
                    if tid == 0 {
                        inside.fetch_add(1, Ordering::SeqCst);
                        wait_until(|| inside.load(Ordering::SeqCst) == 70);
                    }
                });
            });
        }
    });
    count_to(pool, 4, 100);
}

#[test]
fn nested_runs_do_not_deadlock() {
    let pool = pool(1);
    let leaves = AtomicUsize::new(0);
    for _ in 0..ROUNDS / 100 {
        let begun = AtomicUsize::new(0);
        pool.run(6, &|_| {
            begun.fetch_add(1, Ordering::SeqCst);
            pool.run(6, &|_| count_to(pool, 6, 10));
            leaves.fetch_add(1, Ordering::SeqCst);
        });
        assert!(begun.load(Ordering::SeqCst) >= 1);
    }
    assert!(leaves.load(Ordering::SeqCst) >= ROUNDS / 100);
}

#[test]
fn a_panic_in_the_callers_share_is_resumed_after_the_helpers_have_ended() {
    let pool = pool(2);
    let (inside, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        pool.run(3, &|tid| {
            inside.fetch_add(1, Ordering::SeqCst);
            wait_until(|| inside.load(Ordering::SeqCst) == 3);
            if tid == 0 {
                panic::resume_unwind(Box::new("mine"));
            }
            std::thread::sleep(Duration::from_millis(5));
            ended.fetch_add(1, Ordering::SeqCst);
        });
    }));
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&"mine"));
    assert_eq!(ended.load(Ordering::SeqCst), 2);
    count_to(pool, 3, 100);
}

#[test]
fn a_panic_in_a_helpers_share_is_resumed_in_the_caller() {
    let pool = pool(2);
    for _ in 0..10 {
        let helped = AtomicBool::new(false);
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            pool.run(2, &|tid| {
                if tid == 1 {
                    helped.store(true, Ordering::SeqCst);
                    panic::resume_unwind(Box::new("theirs"));
                }
                wait_until(|| helped.load(Ordering::SeqCst));
            });
        }));
        assert_eq!(result.unwrap_err().downcast_ref(), Some(&"theirs"));
        count_to(pool, 2, 10);
    }
}

#[test]
fn shut_down_helpers_end_and_later_runs_start_new_ones() {
    thread_local!(static KNOWN: Cell<bool> = const { Cell::new(false) });
    let pool = pool(1);
    let fresh = AtomicUsize::new(0);
    let meet = |met: &AtomicUsize| {
        let inside = AtomicUsize::new(0);
        pool.run(4, &|_| {
            inside.fetch_add(1, Ordering::SeqCst);
            wait_until(|| inside.load(Ordering::SeqCst) == 4);
            if !KNOWN.replace(true) {
                met.fetch_add(1, Ordering::SeqCst);
            }
        });
    };
    meet(&fresh);
    assert_eq!(fresh.swap(0, Ordering::SeqCst), 4);
    // Two threads that notify at the same time may start one helper too many, which first joins a
    // later run; there are at most eight.
    let met_again = (0..=8).any(|_| {
        meet(&fresh);
        fresh.swap(0, Ordering::SeqCst) == 0
    });
    assert!(met_again);
    pool.shutdown_idle();
    wait_until(|| pool.helpers() == 0);
    meet(&fresh);
    assert_eq!(fresh.load(Ordering::SeqCst), 3);
}

#[test]
fn shutdown_during_runs_loses_no_work() {
    let pool = pool(2);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    count_to(pool, 4, 8);
                }
                over.store(true, Ordering::SeqCst);
            });
        }
        while !over.load(Ordering::SeqCst) {
            pool.shutdown_idle();
            std::thread::sleep(Duration::from_micros(50));
        }
    });
    pool.shutdown_idle();
    wait_until(|| pool.helpers() == 0 && pool.searching() == 0);
}

#[test]
fn counters_return_to_idle_values() {
    let pool = pool(2);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..ROUNDS / 4 {
                    count_to(pool, 3, 4);
                }
            });
        }
    });
    wait_until(|| pool.searching() == 0 && pool.parked() == pool.helpers());
}

#[cfg(unix)]
#[test]
#[cfg_attr(miri, ignore = "reads /proc")]
fn helpers_have_the_library_name_and_block_signals() {
    let pool = pool(1);
    let helped = AtomicBool::new(false);
    pool.run(2, &|tid| {
        if tid == 0 {
            return wait_until(|| helped.load(Ordering::SeqCst));
        }
        let mut name = [0; 16];
        let mut mask = std::mem::MaybeUninit::uninit();
        // SAFETY: the name buffer has the given length, and pthread_sigmask initialises the mask.
        let blocked = unsafe {
            libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr(), name.len());
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
            let mask = mask.assume_init();
            move |signal| libc::sigismember(&mask, signal) == 1
        };
        // SAFETY: pthread_getname_np ended the name with a NUL byte.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        assert!(name.to_bytes().starts_with(b"ferroblosc-"));
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGALRM, libc::SIGUSR1] {
            assert!(blocked(signal));
        }
        for fault in [libc::SIGSEGV, libc::SIGBUS] {
            assert!(!blocked(fault));
        }
        helped.store(true, Ordering::SeqCst);
    });
}

#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(miri, ignore = "reads the stack's size")]
fn helpers_have_the_system_stack_size() {
    let pool = pool(1);
    let size = AtomicUsize::new(0);
    pool.run(2, &|tid| {
        if tid == 0 {
            return wait_until(|| size.load(Ordering::SeqCst) != 0);
        }
        let mut attributes = std::mem::MaybeUninit::uninit();
        let mut stack = 0;
        // SAFETY: pthread_getattr_np initialises the attributes before the others read them.
        unsafe {
            libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr());
            libc::pthread_attr_getstacksize(attributes.as_ptr(), &mut stack);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
        }
        size.store(stack, Ordering::SeqCst);
    });
    assert!(size.load(Ordering::SeqCst) >= 2 << 20);
}

#[test]
#[cfg_attr(miri, ignore = "reads /proc")]
fn row_d7_the_pool_needs_no_init_or_shutdown() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let helped = AtomicBool::new(false);
                run(2, &|tid| {
                    if tid == 1 {
                        helped.store(true, Ordering::SeqCst);
                    } else {
                        wait_until(|| helped.load(Ordering::SeqCst));
                    }
                });
            });
        }
    });
    #[cfg(unix)]
    assert!(named_threads() >= 1);
    release();
}

/// Serialises the tests that set the process-wide backend or need it unset.
static BACKEND_LOCK: Mutex<()> = Mutex::new(());

/// Runs jobs one after another, the last one first, in the calling thread.
struct Sequential {
    runs: AtomicUsize,
}

impl Backend for Sequential {
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
        self.runs.fetch_add(1, Ordering::SeqCst);
        for index in (0..njobs).rev() {
            job(index);
        }
    }
}

#[test]
fn row_c57_removing_a_backend_restores_the_internal_threads() {
    let _serial = BACKEND_LOCK.lock();
    let backend = Arc::new(Sequential { runs: AtomicUsize::new(0) });
    set_backend(Some(backend.clone()));
    let tids = Mutex::new(Vec::new());
    run(4, &|tid| tids.lock().unwrap().push(tid));
    assert_eq!(*tids.lock().unwrap(), [3, 2, 1, 0]);
    set_backend(None);
    assert_eq!(Arc::strong_count(&backend), 1);
    run(4, &|_| assert_eq!(backend.runs.load(Ordering::SeqCst), 1));
}

#[test]
fn row_c57_a_backend_can_change_during_runs() {
    let _serial = BACKEND_LOCK.lock();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                set_backend(Some(Arc::new(Sequential { runs: AtomicUsize::new(0) })));
                set_backend(None);
            }
        });
        for _ in 0..ROUNDS {
            let next = AtomicUsize::new(0);
            let done = AtomicUsize::new(0);
            run(3, &|_| {
                while next.fetch_add(1, Ordering::Relaxed) < 5 {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert_eq!(done.into_inner(), 5);
        }
        over.store(true, Ordering::SeqCst);
    });
}

/// A backend whose threads have ended.
struct Ended;

impl Backend for Ended {
    fn run(&self, _njobs: usize, _job: &(dyn Fn(usize) + Sync)) {}
}

#[test]
fn the_caller_does_the_work_if_the_backend_makes_no_call() {
    let tids = Mutex::new(Vec::new());
    super::backend::run_on(&Ended, 3, &|tid| tids.lock().unwrap().push(tid));
    assert_eq!(*tids.lock().unwrap(), [0]);
}

#[test]
fn a_panic_does_not_pass_through_the_backend() {
    struct Fragile(AtomicUsize);
    impl Backend for Fragile {
        fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
            (0..njobs).for_each(job);
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let backend = Fragile(AtomicUsize::new(0));
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        super::backend::run_on(&backend, 3, &|_| panic::resume_unwind(Box::new("inside")));
    }));
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&"inside"));
    assert_eq!(backend.0.load(Ordering::SeqCst), 1);
}
