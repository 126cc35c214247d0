//! `libblosc2.so.9`: the C interface of C-Blosc2 3.3.5.
//!
//! A thin skin. Each exported function checks its pointers, converts, calls one function of the
//! `ferroblosc` core and converts back; the body of each is wrapped by
//! [`boundary!`](ferroblosc_capi_common::boundary!), so that no panic reaches the caller. There is
//! one file per section of the header:
//!
//! | file | section |
//! |---|---|
//! | [`context`] | contexts |
//! | [`util`] | versions, error texts, timestamps |
//! | [`defaults`] | the default parameters |
//! | [`constants`], [`types`], [`registry`] | what the headers declare besides functions |
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

pub mod constants;
pub mod context;
pub mod defaults;
pub mod registry;
pub mod types;
pub mod util;
