//! The panic boundary between Rust code and C callers.
//!
//! The body of an exported function is a closure that returns a [`Result`]. [`run`] calls it,
//! catches a panic, traces errors under `BLOSC_TRACE`, and converts an error to the error value of
//! the C return type: the negative code for integers, NULL for pointers, nothing for `void`. Each C
//! library has its own error codes: its errors implement [`CError`].

use crate::{last_error, reserve};
pub use ferroblosc::Error as CoreError;
use ferroblosc::{Error, blosc1, cancellation, trace_error};
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error with the code that C callers receive.
pub trait CError: Display {
    /// The error of a panic.
    const PANIC: Self;
    /// The error of a call that is refused for lack of memory.
    const NO_MEMORY: Self;
    /// The negative error code.
    fn code(&self) -> i32;
    /// Converts the error to one of the core.
    fn into_core(self) -> Error;
}

impl CError for Error {
    const PANIC: Error = Error::Failure;
    const NO_MEMORY: Error = Error::MemoryAlloc;

    fn code(&self) -> i32 {
        self.kind().code()
    }

    fn into_core(self) -> Error {
        self
    }
}

impl CError for blosc1::Error {
    const PANIC: blosc1::Error = blosc1::Error::Failure;
    // C-Blosc has no specific code.
    const NO_MEMORY: blosc1::Error = blosc1::Error::Failure;

    fn code(&self) -> i32 {
        blosc1::Error::code(*self)
    }

    fn into_core(self) -> Error {
        Error::Callback(self.code()).because(self.text())
    }
}

/// A return type of C functions, with the value that reports an error.
pub trait CReturn {
    /// Returns the value that reports this error code.
    fn from_code(code: i32) -> Self;
}

impl CReturn for i32 {
    fn from_code(code: i32) -> i32 {
        code
    }
}

impl CReturn for i64 {
    fn from_code(code: i32) -> i64 {
        i64::from(code)
    }
}

impl CReturn for i16 {
    fn from_code(code: i32) -> i16 {
        // The library's codes fit in 16 bits; a callback's code that does not fit becomes -1.
        i16::try_from(code).unwrap_or(Error::Failure.code() as i16)
    }
}

impl CReturn for f64 {
    fn from_code(code: i32) -> f64 {
        f64::from(code)
    }
}

impl CReturn for () {
    fn from_code(_: i32) {}
}

impl<T> CReturn for *mut T {
    fn from_code(_: i32) -> *mut T {
        std::ptr::null_mut()
    }
}

impl<T> CReturn for *const T {
    fn from_code(_: i32) -> *const T {
        std::ptr::null()
    }
}

/// Calls [`run_in_memory`] and defers a cancellation of the thread until the call ends.
pub fn run_with_memory<T: CReturn, E: CError>(
    name: &str,
    body: impl FnOnce() -> Result<T, E>,
) -> T {
    let _deferred = cancellation::defer();
    run_in_memory(name, body)
}

/// Calls [`run`], or refuses the call while the system is out of memory and the reserve for small
/// allocations is low, since the call might abort the process. The body must not reach a
/// cancellation point.
pub fn run_in_memory<T: CReturn, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> T {
    run(name, || {
        if reserve::is_exhausted() {
            return Err(E::NO_MEMORY);
        }
        body()
    })
}

/// Runs the body of the exported function `name`, which frees something or has no error value.
/// Defers a cancellation of the thread until the call ends.
pub fn run_always<T: CReturn, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> T {
    let _deferred = cancellation::defer();
    run(name, body)
}

/// Runs the body of the exported function `name` and records its error as the [last
/// one](last_error). Use the [`boundary!`](crate::boundary!) macro instead.
pub fn run<T: CReturn, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> T {
    match guarded(name, body) {
        Ok(value) => {
            last_error::clear();
            value
        }
        Err(failure) => {
            let code = failure.code;
            last_error::record(failure.error);
            T::from_code(code)
        }
    }
}

/// Runs the body of a function without changing the last error. Defers a cancellation of the thread
/// until the call ends.
pub fn run_unrecorded<T: CReturn>(name: &str, body: impl FnOnce() -> Result<T, Error>) -> T {
    let _deferred = cancellation::defer();
    guarded(name, body).unwrap_or_else(|failure| T::from_code(failure.code))
}

/// The error of a call, and the code that its caller receives.
struct Failure {
    code: i32,
    error: Error,
}

/// Runs the body of the exported function `name` and traces its error under `BLOSC_TRACE`.
fn guarded<T, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> Result<T, Failure> {
    // Unwind safety: the locks of the library's shared state tolerate poisoning, and the next call
    // of a context reinitialises the buffers that a panicking call left.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            trace_error!("{name}: {error}");
            Err(Failure { code: error.code(), error: error.into_core() })
        }
        Err(panic) => {
            // Dropping the payload may panic, which would cross the boundary: leak it.
            let panic = std::mem::ManuallyDrop::new(panic);
            let text = panic_text(&**panic);
            trace_error!("{name} panicked: {text}");
            Err(Failure {
                code: E::PANIC.code(),
                error: Error::Failure.because(format!("panic: {text}")),
            })
        }
    }
}

/// Returns the message of a panic, or a placeholder if the payload is not a string.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "(no message)"
    }
}

/// Wraps the body of an exported function: `boundary!(name, { … Ok(value) })`.
///
/// The body is a block of type [`ferroblosc::Result`], in which `?` works. Another error type
/// precedes the block: `boundary!(name, blosc1::Error, { … })`. Functions that query the last error,
/// or the text of its code, do not change it: `boundary!(name, unrecorded, { … })`.
///
/// Functions that free something or have no error value also run without memory: `boundary!(name,
/// always, { … })`. Other calls are refused while [`reserve::is_exhausted`].
///
/// A cancellation of the thread (`pthread_cancel`) is deferred until the call ends
/// (`ferroblosc::cancellation`). Deferring costs about 17 ns, so frequently called functions that
/// only compute in memory omit it: `boundary!(name, in_memory, { … })`. Their bodies must not reach
/// a cancellation point; the operations that may (callbacks, traces, loading a plugin, starting the
/// thread pool) defer cancellation themselves.
#[macro_export]
macro_rules! boundary {
    ($name:ident, always, $body:block) => {
        $crate::boundary!($name, always, $crate::boundary::CoreError, $body)
    };
    ($name:ident, always, $error:ty, $body:block) => {
        $crate::boundary::run_always(stringify!($name), || -> ::std::result::Result<_, $error> {
            $body
        })
    };
    ($name:ident, $body:block) => {
        $crate::boundary!($name, $crate::boundary::CoreError, $body)
    };
    ($name:ident, unrecorded, $body:block) => {
        $crate::boundary::run_unrecorded(stringify!($name), || -> ::ferroblosc::Result<_> { $body })
    };
    ($name:ident, in_memory, $body:block) => {
        $crate::boundary!($name, in_memory, $crate::boundary::CoreError, $body)
    };
    ($name:ident, in_memory, $error:ty, $body:block) => {
        $crate::boundary::run_in_memory(
            stringify!($name),
            || -> ::std::result::Result<_, $error> { $body },
        )
    };
    ($name:ident, $error:ty, $body:block) => {
        $crate::boundary::run_with_memory(
            stringify!($name),
            || -> ::std::result::Result<_, $error> { $body },
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_passes_through() {
        assert_eq!(boundary!(test, { Ok(7) }), 7);
    }

    #[test]
    fn an_error_becomes_the_value_of_its_type() {
        fn failing<T>() -> ferroblosc::Result<T> {
            Err(Error::Data)
        }
        assert_eq!(run("test", failing::<i32>), -3);
        assert_eq!(run("test", failing::<i64>), -3);
        assert_eq!(run("test", failing::<i16>), -3);
        assert!(run("test", failing::<*mut u8>).is_null());
        assert!(run("test", failing::<*const u8>).is_null());
        run("test", failing::<()>);
    }

    #[test]
    fn row_d2_a_panic_becomes_an_error_value() {
        assert_eq!(run::<i32, Error>("test", || panic!("on purpose")), -1);
        assert_eq!(run::<i32, Error>("test", || panic!("{}", String::from("formatted"))), -1);
        assert!(run::<*mut u8, Error>("test", || panic!("on purpose")).is_null());
    }

    #[test]
    fn row_d2_a_panic_whose_payload_panics_on_drop_becomes_an_error_value() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("payload dropped");
            }
        }
        assert_eq!(run::<i32, Error>("test", || std::panic::panic_any(Bomb)), -1);
    }
}
