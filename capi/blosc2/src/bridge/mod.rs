//! The core's traits over the C callbacks of users.
//!
//! The core calls codecs, filters, prefilters, postfilters, tuners, thread and I/O backends through
//! traits. Here each trait is implemented over the function pointers that came through the C
//! interface. What a C callback expects and the core does not know (the parameter structs, the
//! pointer of the context) is in the [`origin`] of the context, which rides along as the token.

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
