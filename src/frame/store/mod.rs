//! The storage of frames: buffers, files and directories, and the state of one frame.

pub mod cached;
pub mod chunk_files;
pub mod files;
pub mod frame;
pub mod journal;
pub mod memory;
pub mod shadow;
pub mod space;
pub mod transaction;
pub mod writer;
