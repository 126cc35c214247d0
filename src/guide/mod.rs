//! A guide with a page for each task. Its modules consist of documentation only.
//!
//! | task | page |
//! |---|---|
//! | compress and decompress buffers | [`chunks`] |
//! | store data in files and directories | [`files`] |
//! | read and write slices of arrays | [`slices`] |
//! | append data, one item or many at a time | [`append`] |
//! | store metadata | [`metadata`] |
//! | use several threads | [`threads`] |
//! | add codecs, filters and storage of your own | [`extensions`] |
//! | read untrusted data | [`untrusted`] |
//! | replace other crates | [`other_crates`] |
//!
//! Most examples import these types:
//!
//! ```
//! use ferroblosc::b2nd::Array; // arrays with any number of dimensions
//! use ferroblosc::chunk::{CParams, DParams}; // parameters of compression and decompression
//! use ferroblosc::schunk::{SChunk, Storage}; // sequences of chunks, and where they are stored
//! ```
//!
//! A *chunk* is compressed data with a header. It consists of *blocks*, the smallest parts that are
//! decompressed. A *super-chunk* is a sequence of chunks with metadata, and an *array* is a
//! super-chunk with a shape. A *frame* is a super-chunk or array in one buffer, file or directory.

pub mod append;
pub mod chunks;
pub mod extensions;
pub mod files;
pub mod metadata;
pub mod other_crates;
pub mod slices;
pub mod threads;
pub mod untrusted;
