//! What every C skin of Ferroblosc needs, and nothing that only one of them needs.
//!
//! | module | what it gives |
//! |---|---|
//! | [`boundary`](mod@boundary) | the wrapper around the body of every exported function: no panic gets out, an error becomes the value a C caller expects |
//! | [`pointers`] | pointers of C callers turned into slices, strings and references, with the checks |
//! | [`buffers`] | strings that the caller will `free` |
//! | [`last_error`] | the error of the last failing call of each thread |
//! | [`global`] | global state behind a lock that survives `fork` |
//! | [`reserve`] | the allocator of the libraries: small requests succeed when the system has no memory |
//!
//! A function of a skin checks and converts its arguments, calls one function of the core, and
//! converts the result back:
//!
//! ```
//! use ferroblosc_capi_common::{boundary, pointers};
//! use std::ffi::{c_int, c_void};
//!
//! /// The sum of the bytes of a buffer.
//! pub unsafe extern "C" fn sum(buffer: *const c_void, size: i32) -> c_int {
//!     boundary!(sum, {
//!         // SAFETY: the caller gives `size` readable bytes.
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
pub mod pointers;
pub mod reserve;
