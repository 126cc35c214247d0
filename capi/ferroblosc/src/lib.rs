//! `libferroblosc.so.0`: Ferroblosc's functions beyond the C interfaces of C-Blosc and C-Blosc2.
//!
//! The two drop-in libraries export only the functions of C-Blosc and C-Blosc2; all further
//! functions belong here. The library is a thin layer over the core like the other two, with its
//! own global state. It exports only names that begin with `ferroblosc_`, `bloscpack_`, `bcolz_` or
//! `b2store_`.
//! There is one file per section of a header:
//!
//! | file | header | section |
//! |---|---|---|
//! | [`util`] | `ferroblosc.h` | versions and error texts |
//! | [`bcolz`], [`bcolz_spec`] | `bcolz.h` | bcolz arrays and tables: opening, reading; types |
//! | [`bcolz_changes`], [`bcolz_verify`] | `bcolz.h` | changes; verification, repair, conversion |
//! | [`b2store`], [`b2store_types`] | `b2store.h` | stores: opening, listing, attributes; types |
//! | [`b2store_data`] | `b2store.h` | leaves as objects of libblosc2 |
//! | [`b2store_table`], [`b2store_writer`] | `b2store.h` | tables; changes |
//! | [`bloscpack`], [`types`] | `bloscpack.h` | Bloscpack and its structs |
//! | [`constants`], [`report`], [`verify`] | `ferroblosc.h` | ids of I/O backends, verification |
//! | [`transaction`] | `ferroblosc.h` | transactions of super-chunks and arrays |
//! | `extensions.rs` | | functions of libblosc2 that it does not export |
//! | [`last_error`] | `ferroblosc.h` | the last error of a thread |
//! | `handles.rs` | | the open handles of stores and of bcolz objects |
//! | `arguments.rs` | | conversions of C arguments of Bloscpack and bcolz |
//!
//! **Adding a function**: functions for a file format are declared in the header of the format, all
//! other functions (verification of frames, ids of I/O backends) in `ferroblosc.h`. Write the
//! function in a file of this directory, marked `no_mangle`, with its body in
//! [`boundary!`](ferroblosc_capi_common::boundary!). List a new file in the section of its header
//! in `tools/headers/src/layout.rs`: `Functions` for functions, `Macros` for constants, `Types` for
//! structs. Run `make headers`, add the name to `tests/abi/symbols-libferroblosc.so.0.txt`, and
//! call the function from a program in `c-tests/ferroblosc`.
//!
//! `tools/headers` generates the headers under `include/` from these files, including the
//! documentation of the items, which is therefore written for C programmers.

#![allow(non_camel_case_types, reason = "the names are those of the C interface")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of an exported function is its C documentation: pointers are NULL where that is allowed, and otherwise valid for what the function does with them"
)]

/// [`ferroblosc_capi_common::boundary!`] that also passes the result of the call to libblosc2. With
/// `noted` it records the message of an error for `bloscpack_last_error` and `bcolz_last_error`.
macro_rules! boundary {
    ($name:ident, noted, $body:block) => {
        boundary!($name, { crate::arguments::noted(|| $body) })
    };
    ($name:ident, noted_always, $body:block) => {
        boundary!($name, always, { crate::arguments::noted(|| $body) })
    };
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
pub mod b2store;
pub mod b2store_data;
pub mod b2store_table;
pub mod b2store_types;
pub mod b2store_writer;
pub mod bcolz;
pub mod bcolz_changes;
pub mod bcolz_spec;
pub mod bcolz_verify;
pub mod bloscpack;
pub mod constants;
mod extensions;
mod handles;
pub mod last_error;
pub mod report;
pub mod transaction;
pub mod types;
pub mod util;
pub mod verify;

use ferroblosc_capi_common::reserve::Reserve;

/// The allocator, with a reserve for small allocations when the system is out of memory.
#[global_allocator]
static ALLOCATOR: Reserve = Reserve;

ferroblosc::version_note!();
