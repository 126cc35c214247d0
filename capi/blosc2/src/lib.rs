//! `libblosc2.so.9`: the C interface of C-Blosc2 3.3.5.
//!
//! A thin skin. Each exported function checks its pointers, converts, calls one function of the
//! `ferroblosc` core and converts back; the body of each is wrapped by
//! [`boundary!`](ferroblosc_capi_common::boundary!), so that no panic reaches the caller. There is
//! one file per section of the header:
//!
//! | file | section |
//! |---|---|
//! | [`context`], [`vl`] | contexts, and what they do with chunks of variable-length blocks |
//! | [`chunk`] | what the header of a chunk tells, chunks that are only a header |
//! | [`global`] | the calls without context |
//! | [`schunk`], [`meta`], [`geometry`] | super-chunks, their metalayers, numbers of items |
//! | [`b2nd`] | arrays of several dimensions |
//! | [`codecs`], [`filters`], [`tuners`], [`threads`] | names and registration, callbacks |
//! | [`io`], [`stdio`], [`mmap`] | I/O backends and the two built-in ones, frames by path |
//! | [`util`] | versions, error texts, timestamps |
//! | [`defaults`] | the default parameters |
//! | [`constants`], [`types`], [`registry`] | what the headers declare besides functions |
//! | `bridge/` | the core's traits over C callbacks |
//! | `buffers.rs` | pointers and sizes of a call, as slices |
//!
//! The headers under `include/` are made from these files by `tools/headers`; the documentation of
//! the items goes with them. So the documentation here is written for C programmers.

#![allow(
    non_camel_case_types,
    reason = "the names are those of the C interface"
)]
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
pub mod plugins;
pub mod registry;
pub mod schunk;
pub mod stdio;
pub mod threads;
pub mod tuners;
pub mod types;
pub mod util;
pub mod vl;

use ferroblosc_capi_common::reserve::Reserve;

/// Small requests succeed when the system has no memory.
#[global_allocator]
static ALLOCATOR: Reserve = Reserve;

ferroblosc::version_note!();
