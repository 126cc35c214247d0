//! The working memory of threads, and its reuse between calls.

pub(super) mod buffers;
pub(super) mod cache;
pub(super) mod state;
