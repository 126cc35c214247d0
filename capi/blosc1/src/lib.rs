//! `libblosc.so.1`: the C interface of C-Blosc 1.21.
//!
//! A thin layer over [`ferroblosc::blosc1`], separate from that of C-Blosc2 and with its own state.
//! Each exported function checks its pointers, converts the arguments, calls one function of the
//! core and converts the result. No panic reaches the caller. There is one file per section of the
//! header:
//!
//! | file | section |
//! |---|---|
//! | [`compress`] | compression and decompression |
//! | [`settings`] | the settings of the calls without `_ctx` |
//! | [`names`] | codecs, libraries, the version |
//! | [`cbuffer`] | queries on a chunk's header |
//! | [`constants`] | the macros |
//! | `state.rs` | the state of the process |
//!
//! `tools/headers` generates `include/blosc.h` from these files, including the documentation, which
//! is therefore written for C programmers.

#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of an exported function is its C documentation: pointers are NULL where that is allowed, and otherwise valid for the documented accesses"
)]

pub mod cbuffer;
pub mod compress;
pub mod constants;
pub mod names;
pub mod settings;
mod state;

/// The allocator, with a reserve for small allocations when the system is out of memory.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: ferroblosc_capi_common::reserve::Reserve =
    ferroblosc_capi_common::reserve::Reserve;

ferroblosc::version_note!();
