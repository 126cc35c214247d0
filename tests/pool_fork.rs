//! The pool in forked children, with real forks.
//!
//! A child does not return from its test: it reports by its exit status, without running exit
//! handlers. An alarm ends a child that hangs; its parent ends one that hangs with signals blocked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ferroblosc::pool::{release, run};

/// The time limit of a child in seconds.
const TIMEOUT_SECONDS: u32 = 20;

/// Serialises the tests, so that no helper thread is busy in another test.
static FORK_LOCK: Mutex<()> = Mutex::new(());

/// Runs `child` in a forked process; returns whether it returned true there.
fn in_child(child: impl FnOnce() -> bool) -> bool {
    // SAFETY: of the state of the parent's other threads the child uses only the pool, which is
    // under test, and the allocator, which glibc keeps usable; it ends with _exit, also after a
    // panic.
    unsafe {
        match libc::fork() {
            -1 => panic!("fork failed"),
            0 => {
                libc::alarm(TIMEOUT_SECONDS);
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
                libc::_exit(if let Ok(true) = result { 0 } else { 1 });
            }
            child => {
                let status = wait(child);
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }
}

/// Waits for the end of a child and returns its status; ends a child that its alarm does not end.
fn wait(child: libc::pid_t) -> libc::c_int {
    let begin = Instant::now();
    let limit = Duration::from_secs(2 * u64::from(TIMEOUT_SECONDS));
    let mut status = 0;
    loop {
        // SAFETY: waitpid writes to the integer.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 if begin.elapsed() > limit => {
                // SAFETY: sends a signal; the child exists, since its status was not read.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
            0 => {}
            ended => {
                assert_eq!(ended, child);
                return status;
            }
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Runs `body`, which belongs to the test `name`, in a new process in which the pool is unused.
fn in_fresh_process(name: &str, body: impl FnOnce()) {
    const FRESH: &str = "FERROBLOSC_TEST_FRESH";
    if std::env::var_os(FRESH).is_some() {
        return body();
    }
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(FRESH, "1")
        .status();
    assert!(status.unwrap().success());
}

/// Runs a job of many small tasks; returns whether each ran once.
fn counts_right(nthreads: usize, tasks: usize) -> bool {
    let next = AtomicUsize::new(0);
    let done: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    run(nthreads, &|_| {
        while let Some(task) = done.get(next.fetch_add(1, Ordering::Relaxed)) {
            task.fetch_add(1, Ordering::Relaxed);
        }
    });
    done.iter().all(|task| task.load(Ordering::Relaxed) == 1)
}

/// Runs a job in which all `nthreads` threads wait for each other; returns false after five
/// seconds.
fn threads_meet(nthreads: usize) -> bool {
    let inside = AtomicUsize::new(0);
    let met = AtomicBool::new(true);
    run(nthreads, &|_| {
        inside.fetch_add(1, Ordering::SeqCst);
        let begin = Instant::now();
        while inside.load(Ordering::SeqCst) < nthreads {
            if begin.elapsed() > Duration::from_secs(5) {
                return met.store(false, Ordering::SeqCst);
            }
            std::thread::yield_now();
        }
    });
    met.into_inner()
}

#[test]
fn row_c56_a_child_forked_after_runs_starts_its_own_helpers() {
    let _serial = FORK_LOCK.lock();
    for nthreads in [2, 3, 4] {
        assert!(threads_meet(nthreads));
        assert!(in_child(|| threads_meet(nthreads) && counts_right(nthreads, 1000)));
        assert!(in_child(|| threads_meet(5)), "another thread count than the parent's");
    }
    assert!(threads_meet(4), "the parent keeps its helpers");
}

#[test]
fn row_c56_a_grandchild_starts_its_own_helpers() {
    let _serial = FORK_LOCK.lock();
    assert!(threads_meet(2));
    assert!(in_child(|| {
        threads_meet(2) && in_child(|| threads_meet(3) && counts_right(3, 100)) && threads_meet(2)
    }));
}

#[test]
fn row_c56_a_child_forked_during_runs_can_run_jobs() {
    let _serial = FORK_LOCK.lock();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for worker in 0..3 {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    assert!(counts_right(2 + worker, 3));
                    if worker == 2 {
                        // Ending and starting helpers adds states that a fork can interrupt.
                        release();
                    }
                }
            });
        }
        let right = (0..200).all(|_| in_child(|| (2..6).all(|n| counts_right(n, 50))));
        let meet = (0..20).all(|_| in_child(|| threads_meet(3)));
        over.store(true, Ordering::Relaxed);
        assert!(right && meet);
    });
}

#[test]
fn row_c56_children_forked_from_several_threads_work() {
    let _serial = FORK_LOCK.lock();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..40 {
                    assert!(counts_right(3, 10));
                    assert!(in_child(|| counts_right(3, 10)));
                }
            });
        }
    });
}

#[test]
fn row_d7_a_child_can_be_the_first_user_of_the_pool() {
    in_fresh_process("row_d7_a_child_can_be_the_first_user_of_the_pool", || {
        assert!(in_child(|| threads_meet(2) && counts_right(4, 100)));
        assert!(in_child(|| threads_meet(2)));
    });
}

#[test]
fn a_job_that_forks_continues_in_the_parent_and_panics_in_the_child() {
    let _serial = FORK_LOCK.lock();
    let inside = AtomicUsize::new(0);
    let leave = AtomicBool::new(false);
    let parent = std::process::id();
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let status = AtomicUsize::new(usize::MAX);
        run(2, &|tid| {
            inside.fetch_add(1, Ordering::SeqCst);
            while inside.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            if tid == 1 {
                while !leave.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                return;
            }
            // SAFETY: as in `in_child`; the child returns from the job and from the run below.
            let child = unsafe { libc::fork() };
            if child > 0 {
                status.store(wait(child) as usize, Ordering::SeqCst);
                leave.store(true, Ordering::SeqCst);
            } else {
                // SAFETY: sets a timer; accesses no memory.
                unsafe { libc::alarm(TIMEOUT_SECONDS) };
            }
        });
        status.into_inner()
    }));
    if std::process::id() != parent {
        // SAFETY: ends the child without running the parent's handlers.
        unsafe { libc::_exit(if result.is_err() { 0 } else { 1 }) };
    }
    assert_eq!(result.unwrap(), 0, "the child did not see a panic");
}

#[test]
fn a_process_that_cannot_start_threads_runs_on_the_caller() {
    // A new process, as the C library reuses the stacks of ended threads.
    in_fresh_process("a_process_that_cannot_start_threads_runs_on_the_caller", || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: libc::rlim_t = pages.split(' ').next().unwrap().parse().unwrap();
        // Enough for small allocations, but not for another stack.
        let limit = pages * 4096 + (1 << 20);
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: setrlimit reads the structure.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        let most = AtomicUsize::new(0);
        // Long enough for helpers to join, and for another attempt to start some.
        for _ in 0..120 {
            run(4, &|tid| {
                most.fetch_max(tid, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            });
        }
        assert_eq!(most.into_inner(), 0);
        assert!(counts_right(4, 10));
    });
}
