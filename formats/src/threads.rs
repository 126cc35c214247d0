//! Threads that share work.

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

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
