//! Global state of a C library, in a lock that survives `fork`.
//!
//! If another thread of the parent holds an ordinary lock during `fork`, the child inherits it
//! locked, without the thread that could unlock it. Therefore `fork` locks the state itself and
//! unlocks it afterwards in parent and child: it waits for a running call in another thread, and
//! the child inherits a consistent state. A thread that holds the lock and forks in a callback
//! keeps the lock: its copy in the child continues the call. If another thread forks in a callback
//! of that call, `fork` cannot wait for the lock, which is then lost in the child.

use crate::os;
use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

thread_local! {
    /// The address of the state whose lock the current fork of this thread does not wait for, and
    /// the process that forks; zeros for none.
    static UNWAITED: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
}

/// Global state in a lock; created by [`fork_safe_global!`](crate::fork_safe_global!).
pub struct Global<T: 'static> {
    state: Mutex<T>,
    /// The number of the thread that holds the lock, except during a fork; 0 for none.
    owner: AtomicUsize,
    /// The guard that `fork` holds, until after the fork in parent and child.
    held_by_fork: UnsafeCell<Option<MutexGuard<'static, T>>>,
    /// The number of the thread whose fork holds the guard; 0 for none. It is checked since the
    /// handlers may be registered several times.
    forker: AtomicUsize,
    watched: AtomicBool,
    /// Whether a thread of a parent process holds the lock forever.
    is_lost: AtomicBool,
    handlers: Handlers,
    /// Whether the calling thread runs a callback, for which the thread that holds the lock may
    /// wait.
    is_callback: fn() -> bool,
}

// SAFETY: `held_by_fork` is used only by the thread that forks, while it holds the lock.
unsafe impl<T: Send> Sync for Global<T> {}

/// The functions that `fork` calls in the parent and the child.
#[derive(Clone, Copy)]
pub struct Handlers {
    /// Called before the fork; locks the state.
    pub before: unsafe extern "C" fn(),
    /// Called after the fork in parent and child; unlocks the state.
    pub after: unsafe extern "C" fn(),
}

/// The state, which is locked until this is dropped.
pub struct Locked<'a, T> {
    state: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.state
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        // The lock is released after this.
        self.owner.store(0, Ordering::Relaxed);
    }
}

impl<T: Send> Global<T> {
    /// Creates state that `fork` locks through these handlers, without waiting if `is_callback`.
    pub const fn new(state: T, handlers: Handlers, is_callback: fn() -> bool) -> Global<T> {
        Global {
            state: Mutex::new(state),
            owner: AtomicUsize::new(0),
            held_by_fork: UnsafeCell::new(None),
            forker: AtomicUsize::new(0),
            watched: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            handlers,
            is_callback,
        }
    }

    /// Whether the lock is never released, since a thread of a parent process held it during a fork
    /// in a callback. It must not be locked then.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Runs `work` with exclusive access to the state.
    pub fn with<R>(&'static self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.lock())
    }

    /// Locks the state until the result is dropped.
    pub fn lock(&'static self) -> Locked<'static, T> {
        self.watch();
        // A panic under the lock leaves a consistent state: its changes are single assignments.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed, here and below: a thread only compares the value with its own number.
        self.owner.store(this_thread(), Ordering::Relaxed);
        Locked { state, owner: &self.owner }
    }

    /// Registers the fork handlers before the lock is used for the first time. A concurrent fork
    /// delays the registration, so no thread holds the lock during an unobserved fork.
    ///
    /// Concurrent first calls register the handlers more than once, which is harmless. A `Once`
    /// would be harmful: a fork during its initialisation leaves it locked in the child.
    fn watch(&self) {
        // Relaxed: the flag guards no other memory.
        if self.watched.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: the handlers stay mapped, as the shared libraries are linked with `nodelete`. If
        // the registration fails for lack of memory, forks are as safe as with an ordinary lock.
        unsafe { os::fork::watch(self.handlers.before, self.handlers.after) };
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Locks the state in the thread that is about to fork.
    pub fn before_fork(&'static self) {
        let this = this_thread();
        let is_held =
            [&self.owner, &self.forker].iter().any(|holder| holder.load(Ordering::Relaxed) == this);
        if is_held || self.is_lost() {
            return;
        }
        let guard = if (self.is_callback)() {
            match self.state.try_lock() {
                Ok(guard) => guard,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    UNWAITED.set((self.address(), process::id()));
                    return;
                }
            }
        } else {
            self.state.lock().unwrap_or_else(PoisonError::into_inner)
        };
        // SAFETY: this thread holds the lock, so no other one accesses the guard.
        unsafe { *self.held_by_fork.get() = Some(guard) };
        self.forker.store(this_thread(), Ordering::Relaxed);
    }

    /// Unlocks the state in the thread that forked, or in its copy in the child.
    pub fn after_fork(&'static self) {
        let (unwaited, parent) = UNWAITED.get();
        if unwaited == self.address() {
            UNWAITED.set((0, 0));
            self.is_lost.store(parent != process::id(), Ordering::Relaxed);
        }
        if self.forker.load(Ordering::Relaxed) != this_thread() {
            return;
        }
        self.forker.store(0, Ordering::Relaxed);
        // SAFETY: this thread, or the one it is a copy of, locked the state in `before_fork`.
        drop(unsafe { (*self.held_by_fork.get()).take() });
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// Returns a number that is unique among the threads of the process. The copy of a thread in a
/// forked child has the same number.
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// Defines a [`Global`] with its fork handlers. If a thread may lock it while it holds another one,
/// `locked after` names the other one, and `fork` locks the two in this order. If callbacks of the
/// program may run in other threads while a thread holds it, `locked during` names a function that
/// returns whether the calling thread runs one.
#[macro_export]
macro_rules! fork_safe_global {
    (
        $(#[$doc:meta])* $vis:vis static $name:ident: $type:ty = $value:expr;
        $(locked after $other:ident;)?
        $(locked during $is_callback:path;)?
    ) => {
        $(#[$doc])*
        $vis static $name: $crate::global::Global<$type> = {
            unsafe extern "C" fn before() {
                $($other.before_fork();)?
                $name.before_fork();
            }
            unsafe extern "C" fn after() {
                $name.after_fork();
                $($other.after_fork();)?
            }
            let handlers = $crate::global::Handlers { before, after };
            let is_callbacks: &[fn() -> bool] = &[$($is_callback,)? || false];
            $crate::global::Global::new($value, handlers, is_callbacks[0])
        };
    };
}
pub use fork_safe_global;

#[cfg(all(test, unix))]
mod tests {
    use std::sync::{Mutex, PoisonError, mpsc};
    use std::time::Duration;

    /// Held by each test: C libraries that run fork handlers under a lock let a fork of another
    /// test wait for one in a callback, which waits for it.
    static ALONE: Mutex<()> = Mutex::new(());

    fork_safe_global! {
        /// A counter.
        static COUNTER: u32 = 0;
    }

    fork_safe_global! {
        /// A counter that may be locked while the other one is locked.
        static INNER: u32 = 0;
        locked after COUNTER;
    }

    /// Forks. The child runs `work`, returns its result in the exit status, and is killed after 20
    /// seconds.
    fn forked(work: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child only runs `work` and exits without running destructors of the parent.
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
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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

        // The forking thread may hold the lock itself.
        assert!(COUNTER.with(|counter| {
            *counter = 3;
            forked(|| *counter == 3)
        }));
        assert!(forked(|| COUNTER.with(|counter| *counter == 3)));
    }

    /// A callback that runs under one lock may use another one, and fork.
    #[test]
    fn row_d7_a_thread_that_holds_one_lock_forks_while_others_hold_another_one() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(COUNTER.with(|_| {
            INNER.with(|inner| *inner = 1);
            // The thread still holds the first lock.
            forked(|| INNER.with(|inner| *inner == 1))
        }));
        let (locked, is_locked) = mpsc::channel();
        let holder = std::thread::spawn(move || {
            INNER.with(|inner| {
                locked.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
                *inner = 2;
            });
        });
        assert!(COUNTER.with(|_| {
            is_locked.recv().unwrap();
            forked(|| INNER.with(|inner| *inner == 2))
        }));
        holder.join().unwrap();
    }

    #[test]
    fn row_d7_a_fork_waits_for_a_thread_that_locks_both() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (locked, is_locked) = mpsc::channel();
        INNER.with(|_| ());
        let holder = std::thread::spawn(move || {
            COUNTER.with(|_| {
                locked.send(()).unwrap();
                // The fork waits meanwhile.
                std::thread::sleep(Duration::from_millis(100));
                INNER.with(|_| ());
            });
        });
        is_locked.recv().unwrap();
        assert!(forked(|| COUNTER.with(|_| INNER.with(|_| true))));
        holder.join().unwrap();
    }
}
