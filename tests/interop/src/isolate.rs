//! Runs calls that may crash, hang or change global state in forked children.
//!
//! A child processes a list of items and writes each result to memory shared with the parent. If a
//! signal ends the child, the parent finds the current item in that memory, records the signal, and
//! forks another child for the remaining items. Hundreds of thousands of hostile inputs need only a
//! few forks, and a crash does not hide later results.

use crate::library::no_loading;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// The numbers that an item reports, at most [`MOST_VALUES`]; their meaning depends on the test.
pub type Values = Vec<i64>;

/// The maximum number of values of an item.
pub const MOST_VALUES: usize = 16;
const TEXT: usize = 600;
/// The time limit for an item, after which an alarm ends the child.
const SECONDS_PER_ITEM: u32 = 60;

const PENDING: u32 = 0;
const RUNNING: u32 = 1;
const DONE: u32 = 2;
const FAILED: u32 = 3;

#[repr(C)]
struct Slot {
    state: u32,
    text_len: u32,
    values_len: usize,
    values: [i64; MOST_VALUES],
    text: [u8; TEXT],
}

/// The outcome of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The numbers that the item reported.
    Values(Values),
    /// The item failed or panicked.
    Failed(String),
    /// This signal ended the child; `SIGALRM` means that the call hung.
    Killed(i32),
}

/// Returns an anonymous mapping shared with the children, which is zeroed.
fn map_shared(len: usize) -> *mut libc::c_void {
    // SAFETY: an anonymous mapping at an address chosen by the kernel.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len.max(1),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(address, libc::MAP_FAILED, "no shared memory");
    address
}

/// A value in memory that is shared with the children. It is not dropped.
pub struct SharedValue<T>(*mut T);

// SAFETY: the value is accessed by its address only.
unsafe impl<T> Sync for SharedValue<T> {}

impl<T> SharedValue<T> {
    /// Returns the address.
    pub fn as_ptr(&self) -> *mut T {
        self.0
    }
}

impl<T> Drop for SharedValue<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `share`.
        unsafe { libc::munmap(self.0.cast(), size_of::<T>().max(1)) };
    }
}

/// Moves a value to memory that is shared with the children.
pub fn share<T>(value: T) -> SharedValue<T> {
    let address = map_shared(size_of::<T>()).cast::<T>();
    // SAFETY: a new mapping of this size, aligned to a page.
    unsafe { address.write(value) };
    SharedValue(address)
}

/// An anonymous mapping shared with the children.
struct Shared {
    slots: *mut Slot,
    count: usize,
}

impl Shared {
    fn new(count: usize) -> Shared {
        let slots = map_shared(count * size_of::<Slot>());
        Shared { slots: slots.cast(), count }
    }

    /// Returns one slot, without copying it.
    #[allow(
        clippy::mut_from_ref,
        reason = "parent and child never access a slot at the same time; see the SAFETY line"
    )]
    fn slot(&self, index: usize) -> &mut Slot {
        assert!(index < self.count);
        // SAFETY: in bounds and zero-initialised, which is a valid Slot. The parent reads slots
        // only after the child has ended, and a child uses one slot at a time.
        unsafe { &mut *self.slots.add(index) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.slots.cast(), (self.count * size_of::<Slot>()).max(1)) };
    }
}

/// Runs `work` in children for each index below `count` and returns the outcomes.
pub fn each(count: usize, work: impl Fn(usize) -> Result<Values, String>) -> Vec<Outcome> {
    let shared = Shared::new(count);
    let mut outcomes = Vec::with_capacity(count);
    while outcomes.len() < count {
        let signal = run_child(&shared, outcomes.len(), &work);
        while outcomes.len() < count {
            let slot = shared.slot(outcomes.len());
            let text =
                || String::from_utf8_lossy(&slot.text[..slot.text_len as usize]).into_owned();
            outcomes.push(match slot.state {
                DONE => Outcome::Values(slot.values[..slot.values_len].to_vec()),
                FAILED => Outcome::Failed(text()),
                RUNNING => Outcome::Killed(signal),
                // Not reached: the next child starts at this item.
                _ => break,
            });
        }
    }
    outcomes
}

/// Runs `work` once in a child.
pub fn once(work: impl Fn() -> Result<Values, String>) -> Outcome {
    each(1, |_| work()).remove(0)
}

/// Forks a child for the items from `first` on; returns the signal that ended it, or 0.
fn run_child(
    shared: &Shared,
    first: usize,
    work: &impl Fn(usize) -> Result<Values, String>,
) -> i32 {
    quiet_panics_of_children();
    let held = no_loading();
    // SAFETY: the child runs only `work` and ends with `_exit`. Other threads may hold locks of the
    // standard library during the fork, so the child uses none that writers lock; glibc's allocator
    // remains usable after a fork.
    let pid = unsafe { libc::fork() };
    drop(held);
    assert!(pid >= 0, "fork failed");
    if pid == 0 {
        IN_CHILD.store(true, Ordering::Relaxed);
        no_core_dump();
        report_hangs();
        for index in first..shared.count {
            run_item(shared.slot(index), || work(index));
        }
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child forked above.
    let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(waited, pid, "waitpid failed");
    if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { 0 }
}

/// Lets an alarm print the stack of the thread that hangs, as offsets in libraries, before it ends
/// the child.
fn report_hangs() {
    extern "C" fn report(signal: libc::c_int) {
        const DEPTH: libc::c_int = 64;
        let mut frames = [std::ptr::null_mut(); DEPTH as usize];
        // SAFETY: the buffer has `DEPTH` entries. The child ends afterwards, so it does not matter
        // that the first call can allocate.
        unsafe {
            let count = libc::backtrace(frames.as_mut_ptr(), DEPTH);
            libc::backtrace_symbols_fd(frames.as_ptr(), count, libc::STDERR_FILENO);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    // SAFETY: the handler has the type that the call requires.
    unsafe { libc::signal(libc::SIGALRM, report as *const () as libc::sighandler_t) };
}

fn run_item(slot: &mut Slot, work: impl FnOnce() -> Result<Values, String>) {
    slot.state = RUNNING;
    // SAFETY: sets a timer; SIGALRM ends the child.
    unsafe { libc::alarm(SECONDS_PER_ITEM) };
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without text");
        Err(format!("panicked: {text}"))
    });
    match result {
        Ok(values) => {
            slot.values_len = values.len();
            slot.values[..values.len()].copy_from_slice(&values);
            slot.state = DONE;
        }
        Err(text) => {
            let len = text.len().min(TEXT);
            slot.text[..len].copy_from_slice(&text.as_bytes()[..len]);
            slot.text_len = len as u32;
            slot.state = FAILED;
        }
    }
}

/// Whether this process is a child. Relaxed suffices: a process reads only its own write.
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Suppresses the panic messages of children, whose panics are reported as results. The parent sets
/// the hook, because setting it needs a lock that another thread may hold during the fork.
fn quiet_panics_of_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IN_CHILD.load(Ordering::Relaxed) {
                usual(panic);
            }
        }));
    });
}

fn no_core_dump() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct is valid; on failure, a crash only writes a core file.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}

const _: () = assert!(PENDING == 0, "fresh shared memory must read as pending");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::loaded;
    use std::sync::{Barrier, OnceLock};
    use std::time::Duration;

    #[test]
    fn a_crash_is_reported_at_its_item_and_later_items_run() {
        let outcomes = each(4, |index| match index {
            1 => std::process::abort(),
            2 => Err("wrong".to_owned()),
            _ => Ok(vec![index as i64]),
        });
        assert_eq!(
            outcomes,
            [
                Outcome::Values(vec![0]),
                Outcome::Killed(libc::SIGABRT),
                Outcome::Failed("wrong".to_owned()),
                Outcome::Values(vec![3]),
            ]
        );
    }

    #[test]
    fn libraries_that_another_thread_loads_are_used_in_children() {
        static LOADED: OnceLock<i64> = OnceLock::new();
        let starts = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                loaded(&LOADED, || {
                    starts.wait();
                    std::thread::sleep(Duration::from_millis(300));
                    7
                })
            });
            starts.wait();
            let outcome = once(|| Ok(vec![*loaded(&LOADED, || 8)]));
            assert_eq!(outcome, Outcome::Values(vec![7]));
        });
    }

    #[test]
    fn a_panic_is_a_failure_with_its_message() {
        let outcome = once(|| panic!("{}", "no"));
        assert_eq!(outcome, Outcome::Failed("panicked: no".to_owned()));
    }
}
