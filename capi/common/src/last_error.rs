//! The error of the last failing call of each thread.
//!
//! [`boundary!`](crate::boundary!) records the error of a failing call and clears it when a call
//! succeeds, which costs one test of a flag: that of the process until its first error, because the
//! address of a thread-local variable costs a function call in a shared library. The text is
//! formatted on request.

use crate::os::slot;
use ferroblosc::Error;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{NonNull, null};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether any thread ever recorded an error. Relaxed: a thread sees its own stores, and only its
/// own errors concern it.
static EVER_SET: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether the thread has a recorded error.
    static IS_SET: Cell<bool> = const { Cell::new(false) };
}

/// The slot of each thread's error; `None` if no slot is available.
///
/// A `thread_local!` with a destructor is unsuitable: its registration allocates and aborts the
/// process on failure. A slot reports the failure.
static KEY: OnceLock<Option<slot::Key>> = OnceLock::new();

/// An error, its text if it was requested, and its `errno`, 0 for none.
struct Last {
    error: Error,
    text: Option<CString>,
    errno: c_int,
}

/// The memory of a thread for its error.
type Slot = Option<Last>;

/// Frees the memory of an exiting thread.
unsafe extern "C" fn free(slot: *mut c_void) {
    IS_SET.set(false);
    // SAFETY: `keep_first` created it from a box, and the exiting thread no longer uses it.
    drop(unsafe { Box::from_raw(slot.cast::<Slot>()) });
}

fn key() -> Option<slot::Key> {
    // SAFETY: the library is never unloaded.
    *KEY.get_or_init(|| unsafe { slot::allocate(free) })
}

/// Runs `use_slot` with the memory of this thread, if it has any.
fn with_slot<T>(use_slot: impl FnOnce(&mut Slot) -> T) -> Option<T> {
    let key = key()?;
    // SAFETY: the pointer is that of a box of this thread, which nothing else borrows: `use_slot`
    // does not call into this module.
    let slot = unsafe { NonNull::new(slot::get(key).cast::<Slot>())?.as_mut() };
    Some(use_slot(slot))
}

/// Clears the error of the last call.
pub fn clear() {
    if EVER_SET.load(Ordering::Relaxed) && IS_SET.get() {
        drop(take());
    }
}

/// Records the error of the last call.
#[cold]
pub fn record(error: Error) {
    let errno = error.errno().unwrap_or(0);
    keep(Last { error, text: None, errno });
}

/// Records the error of the last call as the text and the `errno` of another library's error.
#[cold]
pub fn record_text(text: &CStr, errno: c_int) {
    keep(Last { error: Error::Failure, text: Some(text.to_owned()), errno });
}

fn keep(error: Last) {
    EVER_SET.store(true, Ordering::Relaxed);
    let mut error = Some(error);
    let old = with_slot(|slot| std::mem::replace(slot, error.take()));
    IS_SET.set(old.is_some() || error.is_some_and(keep_first));
}

/// Stores the first error of a thread. Returns false if no key or no memory for its value is
/// available.
fn keep_first(error: Last) -> bool {
    let Some(key) = key() else {
        return false;
    };
    let slot = Box::into_raw(Box::new(Some(error)));
    // SAFETY: `free` frees the box.
    let is_kept = unsafe { slot::set(key, slot.cast()) };
    if !is_kept {
        // SAFETY: the box was just allocated, and nothing else refers to it.
        drop(unsafe { Box::from_raw(slot) });
    }
    is_kept
}

/// Returns the error of the last call and clears it.
#[cold]
pub fn take() -> Option<Error> {
    IS_SET.set(false);
    let last = with_slot(Option::take).flatten();
    last.map(|last| last.error)
}

/// Returns the text of the last call's error, or NULL if it succeeded. It is valid until the next
/// call.
pub fn text() -> *const c_char {
    let text = with_slot(|slot| {
        let Some(last) = slot else {
            return null();
        };
        let text = last.text.get_or_insert_with(|| {
            // A path has no NUL, but the text of a callback's library may.
            let text = last.error.to_string().replace('\0', "");
            CString::new(text).unwrap_or_default()
        });
        text.as_ptr()
    });
    text.unwrap_or(null())
}

/// Returns the `errno` of the last call's error, or 0 if it has none.
pub fn errno() -> c_int {
    let errno = with_slot(|slot| slot.as_ref().map(|last| last.errno));
    errno.flatten().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Option<String> {
        let text = text();
        // SAFETY: the text is valid until the next call.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_failing_call_sets_the_last_error_and_a_successful_one_clears_it() {
        let cause = || std::io::Error::from_raw_os_error(libc::EACCES);
        let failing = || -> i32 {
            crate::boundary!(failing, { Err(Error::FileOpen.during("open").at("/x").os(cause())) })
        };
        assert_eq!(shown(), None);
        assert_eq!(failing(), -15);
        let text = "cannot open /x: Permission denied (os error 13)";
        assert_eq!(shown().as_deref(), Some(text));
        assert_eq!(shown().as_deref(), Some(text), "asking changes nothing");
        assert_eq!(errno(), libc::EACCES);
        std::thread::spawn(|| assert_eq!((shown(), errno()), (None, 0))).join().unwrap();
        assert_eq!(crate::boundary!(works, { Ok(1) }), 1);
        assert_eq!((shown(), errno()), (None, 0));
    }

    #[test]
    fn a_nested_error_is_cleared_when_the_outer_call_succeeds() {
        let outer: i32 = crate::boundary!(outer, {
            let inner: i32 = crate::boundary!(inner, { Err(Error::Data) });
            assert_eq!(inner, -3);
            Ok(0)
        });
        assert_eq!((outer, shown()), (0, None));
    }

    #[test]
    fn a_panic_sets_its_message_as_the_last_error() {
        let panicked = || -> i32 { crate::boundary!(panicked, { panic!("on purpose") }) };
        assert_eq!(panicked(), -1);
        assert_eq!(shown().as_deref(), Some("panic: on purpose"));
    }
}
