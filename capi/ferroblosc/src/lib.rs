//! `libferroblosc.so.0`: what Ferroblosc has beyond the C interfaces of C-Blosc and C-Blosc2.
//!
//! The two drop-ins export the functions of their originals and nothing else; whatever is our own goes here.
//! The library exports only names that begin with `ferroblosc_`, `bloscpack_` or `bcolz_`, is a thin skin like
//! the other two, and has a global state of its own. One file per section of a header:
//!
//! | file | header | section |
//! |---|---|---|
//! | [`util`] | `ferroblosc.h` | versions and error texts |
//! | [`bcolz`], [`bcolz_spec`] | `bcolz.h` | arrays and tables of bcolz: opening, reading; the struct |
//! | [`bcolz_changes`], [`bcolz_verify`] | `bcolz.h` | changing them; checks, mending and conversions |
//! | [`bloscpack`], [`types`] | `bloscpack.h` | Bloscpack, and its structs |
//! | [`constants`], [`report`], [`verify`] | `ferroblosc.h` | ids of I/O backends, checks of super-chunks |
//! | [`transaction`] | `ferroblosc.h` | transactions of super-chunks and arrays |
//! | `extensions.rs` | | functions of libblosc2 that it doesn't export |
//! | [`last_error`] | `ferroblosc.h` | the last error of a thread |
//! | `arguments.rs` | | what C callers of Bloscpack and bcolz give and get, in Rust's terms |
//!
//! **Where a new function goes**: a function that belongs to no format (checks of frames, ids of I/O back ends)
//! into `ferroblosc.h`, one of a format into the header of the format. Write it in a file here, body in
//! [`boundary!`](ferroblosc_capi_common::boundary!), marked `no_mangle`; name a new file in the recipe of its
//! header (`tools/headers/src/recipes.rs`), run `make headers`, add the name to
//! `tests/abi/symbols-libferroblosc.so.0.txt` and call the function from a program in `c-tests/ferroblosc`. Constants
//! stand in a file of their own (`Macros` of the recipe), structs where `Types` of the recipe finds them.
//!
//! The headers under `include/` are made from these files by `tools/headers`; the documentation of the items
//! goes with them. So the documentation here is written for C programmers.

#![allow(
    non_camel_case_types,
    reason = "the names are those of the C interface"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of an exported function is its C documentation: pointers are NULL where that is allowed, and otherwise valid for what the function does with them"
)]

/// [`ferroblosc_capi_common::boundary!`], after which libblosc2 knows how the call ended.
macro_rules! boundary {
    ($name:ident, unrecorded, $body:block) => {
        ferroblosc_capi_common::boundary!($name, unrecorded, $body)
    };
    ($($arguments:tt)*) => {{
        let returned = ferroblosc_capi_common::boundary!($($arguments)*);
        crate::last_error::forward();
        returned
    }};
}

mod arguments;
pub mod bcolz;
pub mod bcolz_changes;
pub mod bcolz_spec;
pub mod bcolz_verify;
pub mod bloscpack;
pub mod constants;
mod extensions;
pub mod last_error;
pub mod report;
pub mod transaction;
pub mod types;
pub mod util;
pub mod verify;

use ferroblosc_capi_common::reserve::Reserve;

/// Small requests succeed when the system has no memory.
#[global_allocator]
static ALLOCATOR: Reserve = Reserve;

ferroblosc::version_note!();
