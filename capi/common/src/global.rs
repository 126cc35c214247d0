//! Global state of a skin, behind a lock that survives `fork`.
//!
//! A child forked while another thread of the parent holds an ordinary lock finds it locked for
//! ever, by a thread it does not have. So `fork` itself takes the lock first, and lets it go on both
//! sides: it waits for the call under way in another thread, and the child inherits a state nobody
//! was working on. A thread that forks in a callback, while it holds the lock itself, simply keeps
//! it: it exists in the child too, and goes on there where it was.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Global state behind a lock; made by [`fork_safe_global!`](crate::fork_safe_global!).
pub struct Global<T: 'static> {
    state: Mutex<T>,
    /// The guard that `fork` holds, from before it to behind it on both sides.
    held_by_fork: UnsafeCell<Option<MutexGuard<'static, T>>>,
    /// The thread that holds it so; 0 for none. (The handlers may be registered more than once.)
    forker: AtomicUsize,
    watched: AtomicBool,
    handlers: Handlers,
}

// SAFETY: `held_by_fork` is used only by the thread that forks, while it holds the lock.
unsafe impl<T: Send> Sync for Global<T> {}

/// What `fork` calls: before, in the parent, in the child.
#[derive(Clone, Copy)]
pub struct Handlers {
    /// Before; takes the lock.
    pub before: unsafe extern "C" fn(),
    /// Behind, on both sides; lets it go.
    pub behind: unsafe extern "C" fn(),
}

thread_local! {
    /// Whether this thread is inside `with` of any global.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the thread is inside `with`, until it is dropped.
struct Inside;

impl Inside {
    fn enter() -> Inside {
        INSIDE.set(true);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

impl<T: Send> Global<T> {
    /// State whose lock `fork` takes through these handlers.
    pub const fn new(state: T, handlers: Handlers) -> Global<T> {
        Global {
            state: Mutex::new(state),
            held_by_fork: UnsafeCell::new(None),
            forker: AtomicUsize::new(0),
            watched: AtomicBool::new(false),
            handlers,
        }
    }

    /// Lets `work` use the state, alone.
    pub fn with<R>(&'static self, work: impl FnOnce(&mut T) -> R) -> R {
        self.watch();
        // A state is left right by whatever panicked under the lock: its changes are single
        // assignments.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let _inside = Inside::enter();
        work(&mut state)
    }

    /// Makes `fork` call the handlers, before anybody takes the lock for the first time: a fork that is
    /// under way then lets the registration wait, and so finds nobody inside.
    ///
    /// Threads that come here together register them more than once, which does no harm; a `Once` would, as
    /// a fork during it leaves it locked in the child.
    fn watch(&self) {
        // Relaxed: the flag guards no memory of ours.
        if self.watched.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: the handlers are functions without arguments that stay loaded, as the shared libraries
        // are linked so that they are never unloaded. Should there be no memory for them, forks are as
        // safe as with an ordinary lock.
        unsafe {
            libc::pthread_atfork(
                Some(self.handlers.before),
                Some(self.handlers.behind),
                Some(self.handlers.behind),
            );
        }
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Takes the lock, in the thread that is about to fork.
    pub fn before_fork(&'static self) {
        // Relaxed: only a thread's own value matters to it, here and below.
        if INSIDE.get() || self.forker.load(Ordering::Relaxed) == this_thread() {
            return;
        }
        let guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: this thread holds the lock, and so is the only one here.
        unsafe { *self.held_by_fork.get() = Some(guard) };
        self.forker.store(this_thread(), Ordering::Relaxed);
    }

    /// Lets the lock go, in the thread that forked or its copy in the child.
    pub fn behind_fork(&'static self) {
        if self.forker.load(Ordering::Relaxed) != this_thread() {
            return;
        }
        self.forker.store(0, Ordering::Relaxed);
        // SAFETY: this thread, or the one it is a copy of, took the lock in `before_fork`.
        drop(unsafe { (*self.held_by_fork.get()).take() });
    }
}

/// A number that no other thread has, and that a thread's copy in a forked child has too.
fn this_thread() -> usize {
    INSIDE.with(|inside| std::ptr::from_ref(inside).addr())
}

/// Defines a [`Global`] together with the handlers that `fork` needs.
#[macro_export]
macro_rules! fork_safe_global {
    ($(#[$doc:meta])* static $name:ident: $type:ty = $value:expr;) => {
        $(#[$doc])*
        static $name: $crate::global::Global<$type> = {
            unsafe extern "C" fn before() {
                $name.before_fork();
            }
            unsafe extern "C" fn behind() {
                $name.behind_fork();
            }
            $crate::global::Global::new($value, $crate::global::Handlers { before, behind })
        };
    };
}
pub use fork_safe_global;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    fork_safe_global! {
        /// A counter.
        static COUNTER: u32 = 0;
    }

    /// Forks; the child runs `work` and tells by its exit status whether that gave `true`, and is
    /// killed when it takes too long.
    fn forked(work: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child only runs `work` and leaves without running destructors of the parent.
        unsafe {
            match libc::fork() {
                0 => {
                    libc::alarm(20);
                    let status = i32::from(!work());
                    libc::_exit(status)
                }
                child => {
                    let mut status = 0;
                    libc::waitpid(child, &mut status, 0);
                    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
                }
            }
        }
    }

    #[test]
    fn row_d7_a_child_forked_while_others_hold_the_lock_can_take_it() {
        COUNTER.with(|counter| *counter = 1);
        let (locked, is_locked) = mpsc::channel();
        let holder = std::thread::spawn(move || {
            COUNTER.with(|counter| {
                locked.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
                *counter += 1;
            });
        });
        is_locked.recv().unwrap();
        assert!(forked(|| COUNTER.with(|counter| *counter == 2)));
        holder.join().unwrap();

        // And by a thread that holds it itself.
        assert!(COUNTER.with(|counter| {
            *counter = 3;
            forked(|| *counter == 3)
        }));
        assert!(forked(|| COUNTER.with(|counter| *counter == 3)));
    }
}
