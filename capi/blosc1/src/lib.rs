//! `libblosc.so.1`: the C interface of C-Blosc 1.21.
//!
//! A thin skin over [`ferroblosc::blosc1`], beside that of C-Blosc2 and with a state of its own. Each
//! exported function checks its pointers, converts, calls one function of the core and converts back; no
//! panic reaches the caller. There is one file per section of the header:
//!
//! | file | section |
//! |---|---|
//! | [`compress`] | compression and decompression |
//! | [`settings`] | what the calls without `_ctx` go by |
//! | [`names`] | codecs, libraries, the version |
//! | [`cbuffer`] | what a header tells |
//! | [`constants`] | the macros |
//! | `state.rs` | the state of the process |
//!
//! `include/blosc.h` is made from these files by `tools/headers`; the documentation of the items goes with
//! them. So the documentation here is written for C programmers.

#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of an exported function is its C documentation: pointers are NULL where that is allowed, and otherwise valid for what the function does with them"
)]

pub mod cbuffer;
pub mod compress;
pub mod constants;
pub mod names;
pub mod settings;
mod state;

use ferroblosc_capi_common::reserve::Reserve;

/// Small requests succeed when the system has no memory.
#[global_allocator]
static ALLOCATOR: Reserve = Reserve;

ferroblosc::version_note!();
