//! The headers of the global plugin registries: ids, and the type of the `info` object that a
//! plugin library exports.

pub mod codecs;
pub mod filters;
pub mod tuners;
