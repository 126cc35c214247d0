//! Differential tests of `libblosc2.so` against the reference implementation.
//!
//! Two shared libraries with the same symbols live in one process: each is opened with
//! `RTLD_LOCAL`, so neither sees the other's functions. *Ours* is `libblosc2.so` beside the test
//! program (`target/<profile>/`); the *reference* is the one in the PyPI wheel of python-blosc2.
//!
//! | module | what lives there |
//! |---|---|
//! | [`ffi`] | the C interface as the tests see it |
//! | [`library`] | finding and opening the two libraries, contexts |
//! | [`isolate`] | running calls that may crash or hang in forked children |
//! | [`guard`] | buffers that end at a page nobody may touch |
//! | [`data`] | the generated contents |
//! | [`blocks`] | blocks of arrays, for plugins that need to know their shape |
//! | [`pairs`] | every pair of values at least once |
//! | [`calls`] | named calls and what they must come to |
//! | [`cell`] | one combination of parameters |
//! | [`sample`] | random ones for some time |
//! | [`schunk`] | super-chunks on each kind of storage |
//! | [`storage`] | where they lie |
//! | [`check`] | what must hold for a cell |
//! | [`rows`] | where the reference is known to be wrong, by decision row |
//! | [`blosc1`] | the same for `libblosc.so.1` |
//! | [`tally`] | counts, size ratios and failures of a run over many cells |

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
