//! The panic boundary: the only way from Rust code back to a C caller.
//!
//! The body of an exported function is a closure that returns a [`Result`]. [`run`] calls it,
//! catches a panic, writes what went wrong under `BLOSC_TRACE`, and turns an error into the value
//! that the C prototype reserves for errors: the negative code for integers, NULL for pointers,
//! nothing for `void`.

use ferroblosc::{Error, Result, trace_error};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A type a C function returns, with the value that reports an error.
pub trait CReturn {
    /// What the caller gets when the call failed with `error`.
    fn from_error(error: Error) -> Self;
}

impl CReturn for i32 {
    fn from_error(error: Error) -> i32 {
        error.code()
    }
}

impl CReturn for i64 {
    fn from_error(error: Error) -> i64 {
        i64::from(error.code())
    }
}

impl CReturn for i16 {
    fn from_error(error: Error) -> i16 {
        // The library's own codes fit; a callback's may not, and then any negative value will do.
        i16::try_from(error.code()).unwrap_or(Error::Failure.code() as i16)
    }
}

impl CReturn for f64 {
    fn from_error(error: Error) -> f64 {
        f64::from(error.code())
    }
}

impl CReturn for () {
    fn from_error(_: Error) {}
}

impl<T> CReturn for *mut T {
    fn from_error(_: Error) -> *mut T {
        std::ptr::null_mut()
    }
}

impl<T> CReturn for *const T {
    fn from_error(_: Error) -> *const T {
        std::ptr::null()
    }
}

/// Runs the body of the exported function `name`; use the [`boundary!`](crate::boundary!) macro.
pub fn run<T: CReturn>(name: &str, body: impl FnOnce() -> Result<T>) -> T {
    // Unwind safety: the library's shared state is behind locks that tolerate a poisoned holder,
    // and a context whose call panicked is set up anew by its next call.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            trace_error!("{name}: {error}");
            T::from_error(error)
        }
        Err(panic) => {
            // Dropping the payload may itself panic, which would get out of here: leak it.
            let panic = std::mem::ManuallyDrop::new(panic);
            trace_error!("{name} panicked: {}", panic_text(&**panic));
            T::from_error(Error::Failure)
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
/// The body is a block of type [`ferroblosc::Result`]; `?` works in it.
#[macro_export]
macro_rules! boundary {
    ($name:ident, $body:block) => {
        $crate::boundary::run(stringify!($name), || $body)
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
        fn failing<T>() -> Result<T> {
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
        assert_eq!(run::<i32>("test", || panic!("on purpose")), -1);
        assert_eq!(
            run::<i32>("test", || panic!("{}", String::from("formatted"))),
            -1
        );
        assert!(run::<*mut u8>("test", || panic!("on purpose")).is_null());
    }

    #[test]
    fn row_d2_a_panic_whose_payload_panics_on_drop_becomes_an_error_value() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("payload dropped");
            }
        }
        assert_eq!(run::<i32>("test", || std::panic::panic_any(Bomb)), -1);
    }
}
