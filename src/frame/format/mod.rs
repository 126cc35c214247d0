//! The byte format of frames: bytes to checked values, and back. Nothing here reads or writes files.

pub mod checksum;
pub mod description;
pub mod footer;
pub mod header;
pub mod index;
pub mod legacy;
pub mod section;
#[cfg(test)]
mod tests;
pub mod trailer;
#[cfg(test)]
pub mod vectors;
