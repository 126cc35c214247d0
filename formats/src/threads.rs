//! Threads that share work.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

/// Runs `work` in the calling thread and in `count - 1` other threads at the same time, or in fewer
/// if the system cannot create them. Each call of `work` must do all the work that is left.
pub fn run(name: &str, count: usize, work: impl Fn() + Sync) {
    scope(|scope| {
        for _ in 1..count {
            let thread = Builder::new().name(name.to_owned());
            if thread.spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

/// Runs `work` as [`run`] does in as many threads as the system has processors, but at most `most`.
/// Errors have the number of their part of the work; the threads must begin parts in the order of
/// the numbers. Returns the error with the least number, which does not depend on the threads;
/// `work` of the other threads continues after an error.
pub fn try_run<E: Send>(
    name: &str,
    most: u64,
    work: impl Fn() -> Result<(), (u64, E)> + Sync,
) -> Result<(), E> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let first: Mutex<Option<(u64, E)>> = Mutex::new(None);
    run(name, available.min(usize::try_from(most).unwrap_or(usize::MAX)), || {
        if let Err(error) = work() {
            keep_first(&mut first.lock().unwrap_or_else(PoisonError::into_inner), error);
        }
    });
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Keeps the error with the least number.
pub fn keep_first<E>(first: &mut Option<(u64, E)>, error: (u64, E)) {
    if first.as_ref().is_none_or(|(number, _)| error.0 < *number) {
        *first = Some(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn an_error_of_any_thread_is_returned() {
        let next = AtomicU64::new(0);
        let work = || loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                7 => return Err((7, "seven")),
                100.. => return Ok(()),
                _ => {}
            }
        };
        assert_eq!(try_run("test", 4, work), Err("seven"));
        assert!(next.load(Ordering::Relaxed) >= 8);
        assert_eq!(try_run("test", 0, || Ok::<(), (u64, ())>(())), Ok(()));
    }

    #[test]
    fn the_error_with_the_least_number_is_kept() {
        let mut first = None;
        for (number, kept) in [(5, 5), (7, 5), (2, 2), (3, 2)] {
            keep_first(&mut first, (number, number));
            assert_eq!(first, Some((kept, kept)));
        }
    }

    #[test]
    fn the_work_runs_in_all_threads_at_the_same_time() {
        let barrier = Barrier::new(3);
        run("test", 3, || {
            barrier.wait();
        });
    }

    #[test]
    fn one_thread_is_the_caller() {
        let caller = std::thread::current().id();
        for count in [0, 1] {
            run("test", count, || assert_eq!(std::thread::current().id(), caller));
        }
    }
}
