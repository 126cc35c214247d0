//! Versions, error texts and timestamps.

use ferroblosc::Error;
use ferroblosc_capi_common::os::clock::{self, nanoseconds_between};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int};

/// The implemented version of C-Blosc2.
pub const VERSION: &CStr = c"3.3.5";

/// A point in time of a monotonic clock.
pub type blosc_timestamp_t = clock::Timestamp;

/// Returns the implemented version of C-Blosc2, BLOSC2_VERSION_STRING. The library owns the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_version_string() -> *const c_char {
    boundary!(blosc2_get_version_string, always, { Ok(VERSION.as_ptr()) })
}

/// Returns the text of an error code, or "Unknown error" for other values. The library owns the
/// text.
///
/// - `error_code`: the code, a BLOSC2_ERROR_ constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_error_string(error_code: c_int) -> *const c_char {
    boundary!(blosc2_error_string, unrecorded, {
        Ok(Error::from_code(error_code).c_message().as_ptr())
    })
}

/// Stores the time of a monotonic clock.
///
/// - `timestamp`: the destination.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_timestamp(timestamp: *mut blosc_timestamp_t) {
    boundary!(blosc_set_timestamp, always, {
        // SAFETY: the caller passes a writable timestamp or NULL.
        let timestamp = unsafe { pointers::reference_mut(timestamp) }?;
        if clock::store_now(timestamp) { Ok(()) } else { Err(Error::Failure) }
    });
}

/// Returns the time between two timestamps in nanoseconds.
///
/// - `start_time`: the first timestamp.
/// - `end_time`: the second timestamp.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_elapsed_nsecs(
    start_time: blosc_timestamp_t,
    end_time: blosc_timestamp_t,
) -> f64 {
    boundary!(blosc_elapsed_nsecs, always, { Ok(nanoseconds_between(start_time, end_time)) })
}

/// Returns the time between two timestamps in seconds.
///
/// - `start_time`: the first timestamp.
/// - `end_time`: the second timestamp.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_elapsed_secs(
    start_time: blosc_timestamp_t,
    end_time: blosc_timestamp_t,
) -> f64 {
    boundary!(blosc_elapsed_secs, always, { Ok(1e-9 * nanoseconds_between(start_time, end_time)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: *const c_char) -> &'static str {
        // SAFETY: the functions under test return static NUL-terminated strings.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap()
    }

    #[test]
    fn row_d10_the_version_is_that_of_the_reference() {
        // SAFETY: the function has no arguments.
        assert_eq!(text(unsafe { blosc2_get_version_string() }), "3.3.5");
    }

    #[test]
    fn error_texts_are_those_of_the_table() {
        // SAFETY: all codes are valid arguments.
        let of = |code| text(unsafe { blosc2_error_string(code) });
        assert_eq!(of(-1), "Generic failure");
        assert_eq!(of(-22), "Sizes larger than 2gb not supported");
        assert_eq!(of(-37), "Frame lock failure");
        for code in [0, 1, -38, i32::MIN, i32::MAX] {
            assert_eq!(of(code), "Unknown error");
        }
    }

    #[test]
    fn time_never_goes_backwards() {
        let mut start = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let mut end = start;
        // SAFETY: both are valid outputs; NULL is allowed.
        unsafe {
            blosc_set_timestamp(&mut start);
            blosc_set_timestamp(&mut end);
            blosc_set_timestamp(std::ptr::null_mut());
            assert!(blosc_elapsed_nsecs(start, end) >= 0.0);
        }
    }

    #[test]
    fn elapsed_time_borrows_from_the_seconds() {
        let start = libc::timespec { tv_sec: 1, tv_nsec: 999_999_999 };
        let end = libc::timespec { tv_sec: 3, tv_nsec: 1 };
        // SAFETY: plain values.
        unsafe {
            assert_eq!(blosc_elapsed_nsecs(start, end), 1_000_000_002.0);
            assert!((blosc_elapsed_secs(start, end) - 1.000000002).abs() < 1e-12);
        }
    }
}
