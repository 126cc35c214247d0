//! The common foundation of Ferroblosc's C libraries.
//!
//! | module | contents |
//! |---|---|
//! | [`boundary`](mod@boundary) | the wrapper of exported functions: catches panics, converts errors |
//! | [`pointers`] | checked conversions of C pointers to slices, strings and references |
//! | [`buffers`] | strings that the caller releases with `free` |
//! | [`last_error`] | the error of the last failing call of each thread |
//! | [`global`] | global state in a lock that survives `fork` |
//! | [`os`] | functions of the system and its C library |
//! | [`reserve`] | the allocator of the libraries, with a reserve for small requests |
//!
//! An exported function checks and converts its arguments, calls one function of the core, and
//! converts the result:
//!
//! ```
//! use ferroblosc_capi_common::{boundary, pointers};
//! use std::ffi::{c_int, c_void};
//!
//! /// Returns the sum of the bytes of a buffer.
//! pub unsafe extern "C" fn sum(buffer: *const c_void, size: i32) -> c_int {
//!     boundary!(sum, {
//!         // SAFETY: the caller passes `size` readable bytes or NULL.
//!         let bytes = unsafe { pointers::bytes(buffer, size) }?;
//!         Ok(bytes.iter().map(|&b| c_int::from(b)).sum())
//!     })
//! }
//!
//! assert_eq!(unsafe { sum([1u8, 2, 3].as_ptr().cast(), 3) }, 6);
//! assert_eq!(unsafe { sum(std::ptr::null(), 3) }, -12);
//! ```

pub mod boundary;
pub mod buffers;
pub mod global;
pub mod last_error;
pub mod os;
pub mod pointers;
pub mod reserve;
