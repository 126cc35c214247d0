//! The error of the last failing call of each thread.
//!
//! [`boundary!`](crate::boundary!) keeps the error of a call that fails and forgets it when a call
//! succeeds, which costs a look at a flag. The text is made when it is asked for.

use ferroblosc::Error;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::null;

thread_local! {
    /// Whether `LAST` holds an error.
    static IS_SET: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// An error, and its text once it was asked for.
struct Last {
    error: Error,
    text: Option<CString>,
    errno: c_int,
}

/// Forgets the error of the last call.
pub fn clear() {
    if IS_SET.get() {
        drop(take());
    }
}

/// Keeps an error as that of the last call.
#[cold]
pub fn record(error: Error) {
    let errno = error.errno().unwrap_or(0);
    keep(Last {
        error,
        text: None,
        errno,
    });
}

/// Keeps the text of another library's error, and its error number, as those of the last call.
#[cold]
pub fn record_text(text: &CStr, errno: c_int) {
    keep(Last {
        error: Error::Failure,
        text: Some(text.to_owned()),
        errno,
    });
}

fn keep(error: Last) {
    // A thread that ends keeps nothing.
    let kept = LAST.try_with(|last| last.replace(Some(error)));
    IS_SET.set(kept.is_ok());
}

/// Returns the error of the last call, and forgets it.
#[cold]
pub fn take() -> Option<Error> {
    IS_SET.set(false);
    let last = LAST.try_with(RefCell::take).ok().flatten();
    last.map(|last| last.error)
}

/// Returns the text of the last call's error, or NULL if it succeeded. It lasts until the next call.
pub fn text() -> *const c_char {
    let text = LAST.try_with(|last| {
        let mut last = last.borrow_mut();
        let Some(last) = &mut *last else {
            return null();
        };
        let text = last.text.get_or_insert_with(|| {
            // A path has no NUL; the text of a callback's library may.
            let text = last.error.to_string().replace('\0', "");
            CString::new(text).unwrap_or_default()
        });
        text.as_ptr()
    });
    text.unwrap_or(null())
}

/// Returns the error number of the system of the last call's error; 0 if it has none.
pub fn errno() -> c_int {
    let errno = LAST.try_with(|last| last.borrow().as_ref().map(|last| last.errno));
    errno.ok().flatten().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Option<String> {
        let text = text();
        // SAFETY: the text lasts until the next call.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_failing_call_leaves_its_text_and_a_successful_one_leaves_none() {
        let cause = || std::io::Error::from_raw_os_error(libc::EACCES);
        let failing = || -> i32 {
            crate::boundary!(failing, {
                Err(Error::FileOpen.during("open").at("/x").os(cause()))
            })
        };
        assert_eq!(shown(), None);
        assert_eq!(failing(), -15);
        let text = "cannot open /x: Permission denied (os error 13)";
        assert_eq!(shown().as_deref(), Some(text));
        assert_eq!(shown().as_deref(), Some(text), "asking changes nothing");
        assert_eq!(errno(), libc::EACCES);
        std::thread::spawn(|| assert_eq!((shown(), errno()), (None, 0)))
            .join()
            .unwrap();
        assert_eq!(crate::boundary!(works, { Ok(1) }), 1);
        assert_eq!((shown(), errno()), (None, 0));
    }

    #[test]
    fn a_call_within_a_call_leaves_nothing_when_the_outer_one_succeeds() {
        let outer: i32 = crate::boundary!(outer, {
            let inner: i32 = crate::boundary!(inner, { Err(Error::Data) });
            assert_eq!(inner, -3);
            Ok(0)
        });
        assert_eq!((outer, shown()), (0, None));
    }

    #[test]
    fn a_panic_leaves_its_message() {
        let panicked = || -> i32 { crate::boundary!(panicked, { panic!("on purpose") }) };
        assert_eq!(panicked(), -1);
        assert_eq!(shown().as_deref(), Some("panic: on purpose"));
    }
}
