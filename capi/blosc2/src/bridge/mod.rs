//! Implementations of the core's traits over C callbacks and C structs.
//!
//! The core calls codecs, filters, prefilters, postfilters, tuners, thread backends and I/O
//! backends through traits. The modules here implement each trait over the function pointers of the
//! C interface. State that C callbacks expect and the core does not have (the parameter structs,
//! the pointer to the context) is in the [`origin`] of the context, which the core passes along as
//! user data.

pub mod array;
pub mod codec;
pub mod filter;
pub mod io;
pub mod lent;
pub mod origin;
pub mod parent;
pub mod prefilter;
pub mod schunk;
pub mod serving;
pub mod threads;
pub mod tuner;
