//! The layout of chunks: bytes to checked values, and values to bytes.

pub(super) mod blocks;
pub mod header;
pub(super) mod inspect;
pub(super) mod lazy;
pub(crate) mod limits;
pub mod rewrap;
pub(super) mod special;
pub(super) mod streams;
pub(super) mod view;
