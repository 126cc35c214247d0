//! Differential tests of `libblosc2.so` against the reference implementation.
//!
//! The test process loads two shared libraries with the same symbols: each is opened with
//! `RTLD_LOCAL`, so that they do not share functions. *Ours* is the `libblosc2.so` in the directory
//! of the build profile (`target/<profile>/`); the *reference* is the library in the PyPI wheel of
//! python-blosc2.
//!
//! | module | contents |
//! |---|---|
//! | [`ffi`] | the C interface, declared independently |
//! | [`library`] | opening the two libraries; contexts |
//! | [`isolate`] | running calls that may crash or hang in forked children |
//! | [`guard`] | buffers that end at an inaccessible page |
//! | [`data`] | generated contents |
//! | [`blocks`] | blocks of arrays, for plugins that need their shape |
//! | [`pairs`] | pairwise combinations of values |
//! | [`calls`] | named calls and their expected results |
//! | [`cell`] | one combination of parameters |
//! | [`sample`] | random combinations for a limited time |
//! | [`schunk`] | super-chunks on each kind of storage |
//! | [`storage`] | the kinds of storage of super-chunks |
//! | [`check`] | the checks of a cell |
//! | [`rows`] | known defects of the reference, by decision row |
//! | [`blosc1`] | the same for `libblosc.so.1` |
//! | [`tally`] | counts, size ratios and failures of many cells |

pub mod blocks;
pub mod blosc1;
pub mod calls;
pub mod cell;
pub mod check;
pub mod data;
pub mod ffi;
pub mod guard;
pub mod isolate;
pub mod library;
pub mod pairs;
pub mod rows;
pub mod sample;
pub mod schunk;
pub mod storage;
pub mod tally;
