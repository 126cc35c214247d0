//! Implementations of the core's traits over C callbacks and C structs.
//!
//! The core calls codecs, filters, prefilters, postfilters, tuners, thread backends and I/O
//! backends through traits. The modules here implement each trait over the function pointers of the
//! C interface. State that C callbacks expect and the core does not have (the parameter structs,
//! the pointer to the context) is in the [`origin`] of the context, which the core passes along as
//! user data. [`params`] converts parameters, and [`plugins`] loads libraries with callbacks.

pub mod active_callbacks;
pub mod arguments;
pub mod array;
pub mod backends;
pub mod codec;
pub mod context;
pub mod engines;
pub mod filter;
pub mod io;
pub mod loans;
mod metalayers;
pub mod origin;
pub mod params;
pub mod parent;
pub mod plugins;
pub mod prefilter;
pub mod read_only;
pub mod schunk;
pub mod threads;
pub mod tuner;
