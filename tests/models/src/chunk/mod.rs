//! The ordered writer and the cache of workers with the types of shuttle, and their models.

pub mod encode;
pub mod worker;

pub(crate) mod format {
    #[path = "../../../../../src/chunk/format/limits.rs"]
    pub(crate) mod limits;
}
