//! The panic boundary: the only way from Rust code back to a C caller.
//!
//! The body of an exported function is a closure that returns a [`Result`]. [`run`] calls it,
//! catches a panic, writes what went wrong under `BLOSC_TRACE`, and turns an error into the value
//! that the C prototype reserves for errors: the negative code for integers, NULL for pointers,
//! nothing for `void`. Each skin has its own codes: its errors are [`CError`]s.

use crate::{last_error, reserve};
pub use ferroblosc::Error as CoreError;
use ferroblosc::{Error, blosc1, cancellation, trace_error};
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An error with the code that C callers get.
pub trait CError: Display {
    /// What a panic is to callers.
    const PANIC: Self;
    /// The error of a call that there is no memory for.
    const NO_MEMORY: Self;
    /// The code, negative.
    fn code(&self) -> i32;
    /// Returns the error as one of the core.
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
    // C-Blosc has no code of its own for it.
    const NO_MEMORY: blosc1::Error = blosc1::Error::Failure;

    fn code(&self) -> i32 {
        blosc1::Error::code(*self)
    }

    fn into_core(self) -> Error {
        Error::Callback(self.code()).because(self.text())
    }
}

/// A type a C function returns, with the value that reports an error.
pub trait CReturn {
    /// What the caller gets when the call failed with an error of this code.
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
        // The library's own codes fit; a callback's may not, and then any negative value will do.
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

/// As [`run_in_memory`], but a cancellation of the thread waits until the call ends.
pub fn run_with_memory<T: CReturn, E: CError>(
    name: &str,
    body: impl FnOnce() -> Result<T, E>,
) -> T {
    let _deferred = cancellation::defer();
    run_in_memory(name, body)
}

/// As [`run`], but refuses the call while there is no memory and the reserve for small allocations is
/// low: it could not end in an orderly way. The body reaches no cancellation point.
pub fn run_in_memory<T: CReturn, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> T {
    run(name, || {
        if reserve::is_exhausted() {
            return Err(E::NO_MEMORY);
        }
        body()
    })
}

/// Runs the body of the exported function `name` that frees something or has no value for errors. A
/// cancellation of the thread waits until the call ends.
pub fn run_always<T: CReturn, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> T {
    let _deferred = cancellation::defer();
    run(name, body)
}

/// Runs the body of the exported function `name`, and keeps its error as the
/// [last one](last_error); use the [`boundary!`](crate::boundary!) macro.
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

/// Runs the body of a function that leaves the last error alone. A cancellation of the thread waits until
/// the call ends.
pub fn run_unrecorded<T: CReturn>(name: &str, body: impl FnOnce() -> Result<T, Error>) -> T {
    let _deferred = cancellation::defer();
    guarded(name, body).unwrap_or_else(|failure| T::from_code(failure.code))
}

/// The error of a call, and the code that its caller gets.
struct Failure {
    code: i32,
    error: Error,
}

/// Runs the body of the exported function `name`, and writes under `BLOSC_TRACE` why it failed.
fn guarded<T, E: CError>(name: &str, body: impl FnOnce() -> Result<T, E>) -> Result<T, Failure> {
    // Unwind safety: the library's shared state is behind locks that tolerate a poisoned holder,
    // and a context whose call panicked is set up anew by its next call.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            trace_error!("{name}: {error}");
            Err(Failure {
                code: error.code(),
                error: error.into_core(),
            })
        }
        Err(panic) => {
            // Dropping the payload may itself panic, which would get out of here: leak it.
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

/// The message of a panic, when it is a text.
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
/// The body is a block of type [`ferroblosc::Result`]; `?` works in it. With another type of error,
/// that comes before the block: `boundary!(name, blosc1::Error, { … })`. Functions that ask for the
/// last error leave it alone: `boundary!(name, unrecorded, { … })`.
///
/// A function that frees something, or has no value for errors, runs without memory too:
/// `boundary!(name, always, { … })`. The others are refused where [`reserve::is_exhausted`].
///
/// A cancellation of the thread (`pthread_cancel`) waits until the call ends (`ferroblosc::cancellation`). That
/// costs about 17 ns, so functions that are called often and only compute in memory leave it out:
/// `boundary!(name, in_memory, { … })`. They must not reach a cancellation point; the few places that
/// may (callbacks, traces, loading a plugin, starting the thread pool) defer cancellation themselves.
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
        assert_eq!(
            run::<i32, Error>("test", || panic!("{}", String::from("formatted"))),
            -1
        );
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
        assert_eq!(
            run::<i32, Error>("test", || std::panic::panic_any(Bomb)),
            -1
        );
    }
}
