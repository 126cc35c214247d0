//! The headers of the global plugin registries: ids, and the types of the `info` object that a
//! plugin library exports.

pub mod codecs;
pub mod filters;
pub mod tuners;
