//! The ordered writer and the cache of workers with the types of shuttle, and their models.

pub mod encode;
pub(crate) mod format;
pub mod worker;
