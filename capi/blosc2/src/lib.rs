//! `libblosc2.so.9`: the C interface of C-Blosc2 3.3.5.
//!
//! A thin layer over the `ferroblosc` core. Each exported function checks its pointers, converts
//! its arguments, calls one function of the core and converts the result. Its body is wrapped in
//! [`boundary!`](ferroblosc_capi_common::boundary!), so no panic reaches the caller. A file imports
//! only files of the same or an earlier row, and no two files import each other:
//!
//! | file | content |
//! |---|---|
//! | [`constants`], [`types`], [`registry`] | declarations of the headers other than functions |
//! | [`defaults`] | the default parameters |
//! | [`stdio`], [`mmap`] | the functions of the two built-in I/O backends |
//! | `bridge/` | the core's traits over C callbacks and C structs, and conversions of structs |
//! | `buffers.rs` | buffers of C calls as slices |
//! | `extensions.rs` | functions for `libferroblosc` |
//! | [`context`], [`vl`] | contexts, and chunks with variable-length blocks |
//! | [`chunk`] | chunk headers and chunks of special values |
//! | [`global`] | functions without context |
//! | [`schunk`], [`meta`], [`geometry`] | super-chunks, their metalayers, item numbers |
//! | [`b2nd`] | multidimensional arrays |
//! | [`codecs`], [`filters`], [`tuners`], [`threads`] | names and registration, callbacks |
//! | [`io`] | registration of I/O backends, frames by path |
//! | [`util`] | versions, error texts, timestamps |
//!
//! `tools/headers` generates the headers under `include/` from these files, including the
//! documentation of the items, which is therefore written for C programmers.

#![allow(non_camel_case_types, reason = "the names are those of the C interface")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of an exported function is its C documentation: pointers are NULL where that is allowed, and otherwise valid for what the function does with them"
)]

pub mod b2nd;
mod bridge;
mod buffers;
pub mod chunk;
pub mod codecs;
pub mod constants;
pub mod context;
pub mod defaults;
mod extensions;
pub mod filters;
pub mod geometry;
pub mod global;
pub mod io;
pub mod meta;
pub mod mmap;
pub mod registry;
pub mod schunk;
pub mod stdio;
pub mod threads;
pub mod tuners;
pub mod types;
pub mod util;
pub mod vl;

pub use bridge::plugins;

/// The allocator, with a reserve for small allocations when the system is out of memory.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: ferroblosc_capi_common::reserve::Reserve =
    ferroblosc_capi_common::reserve::Reserve;

ferroblosc::version_note!();
