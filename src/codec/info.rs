//! The properties of a codec, which form one row of the table in `codec/mod.rs`.
//!
//! The row is a constant in the codec's own file. Other code asks the row instead of comparing
//! compcodes. The name of the cargo feature of a codec is in `plugin.rs`, because builds without
//! the feature have no row.

use std::ffi::CStr;

use super::dictionary::Dictionaries;
use super::format;
use super::interface::{Codec, StreamCodec};

/// The modes in which the blocks of Blosc 1.x chunks are split into streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blosc1Splitting {
    /// Only [`SplitMode::ALWAYS`](crate::chunk::SplitMode::ALWAYS).
    OnRequest,
    /// Also [`SplitMode::FORWARD_COMPAT`](crate::chunk::SplitMode::FORWARD_COMPAT).
    Compatible,
    /// Also [`SplitMode::AUTO`](crate::chunk::SplitMode::AUTO).
    Automatic,
}

/// The properties of a codec.
#[non_exhaustive]
pub struct CodecInfo {
    /// The compcode.
    pub id: u8,
    /// The name.
    pub name: &'static CStr,
    /// The name in texts, such as `LZ4HC`.
    pub title: &'static str,
    /// The format of the streams. If two codecs share a format, the first one decodes it.
    pub format: u8,
    /// The name of the library that implements the codec.
    pub library: &'static CStr,
    /// The version of the library, as C-Blosc2 reports it.
    pub library_version: &'static CStr,
    /// The version of the library whose streams are written to Blosc 1.x chunks.
    pub blosc1_library_version: &'static CStr,
    /// Whether the streams occur in Blosc 1.x chunks only. Blosc2 does not know the name.
    pub is_blosc1_only: bool,
    /// Whether this build can compress with the codec.
    pub can_encode: bool,
    /// The highest level at which blocks are split by default, if they are.
    pub max_split_level: Option<u8>,
    /// The modes in which blocks of Blosc 1.x chunks are split.
    pub(crate) blosc1_splitting: Blosc1Splitting,
    /// Whether automatic blocks are larger, as for codecs that compress well and slowly.
    pub has_large_blocks: bool,
    /// The maximum number of bytes that one byte of a stream decodes to.
    pub max_expansion: usize,
    /// The warning about a shuffle before the codec, if it is harmful.
    pub shuffle_warning: Option<&'static str>,
    /// Whether the states of a worker may be large.
    pub(super) has_large_state: bool,
    pub(super) dictionaries: Option<Dictionaries>,
    pub(super) code: Code,
}

/// The implementation of a codec.
#[derive(Clone, Copy)]
pub(super) enum Code {
    /// A built-in codec, with a state for each worker.
    Stream(fn() -> Box<dyn StreamCodec>),
    /// A plugin built into this library.
    Plugin(&'static dyn Codec),
    /// A plugin in another library.
    External,
}

impl CodecInfo {
    /// The value of `max_split_level` of codecs that split blocks at all levels.
    pub(super) const ALL_LEVELS: Option<u8> = Some(u8::MAX);

    /// The largest `max_expansion`: a Zstandard block encodes 128 KiB in 4 bytes.
    pub const LARGEST_EXPANSION: usize = 32 << 10;

    /// Returns the row of a built-in codec: never split by default, small blocks, no dictionaries.
    pub(super) const fn built_in(
        id: u8,
        name: &'static CStr,
        format: u8,
        make: fn() -> Box<dyn StreamCodec>,
    ) -> CodecInfo {
        CodecInfo { format, ..CodecInfo::with_code(id, name, Code::Stream(make)) }
    }

    /// Returns the row of a plugin that is built into this library.
    pub(super) const fn plugin(
        id: u8,
        name: &'static CStr,
        codec: &'static dyn Codec,
    ) -> CodecInfo {
        CodecInfo::with_code(id, name, Code::Plugin(codec))
    }

    /// Returns the row of a plugin that another library implements.
    pub(super) const fn external(id: u8, name: &'static CStr) -> CodecInfo {
        CodecInfo::with_code(id, name, Code::External)
    }

    const fn with_code(id: u8, name: &'static CStr, code: Code) -> CodecInfo {
        CodecInfo {
            id,
            name,
            title: text(name),
            format: format::USER,
            library: name,
            library_version: c"unknown",
            blosc1_library_version: c"unknown",
            is_blosc1_only: false,
            can_encode: true,
            max_split_level: None,
            blosc1_splitting: Blosc1Splitting::Compatible,
            has_large_blocks: false,
            max_expansion: CodecInfo::LARGEST_EXPANSION,
            shuffle_warning: None,
            has_large_state: true,
            dictionaries: None,
            code,
        }
    }

    /// Whether the codec is one of Blosc itself, whose streams have a format of their own.
    pub const fn is_built_in(&self) -> bool {
        matches!(self.code, Code::Stream(_))
    }

    /// Whether chunks can have dictionaries.
    pub fn has_dictionaries(&self) -> bool {
        self.dictionaries.is_some()
    }

    /// Whether dictionaries are trained; otherwise they are the beginning of the data.
    pub fn trains_dictionaries(&self) -> bool {
        self.dictionaries.is_some_and(|functions| functions.train.is_some())
    }

    /// Returns the name of the codec as text.
    pub fn name_str(&self) -> &'static str {
        text(self.name)
    }
}

const fn text(name: &'static CStr) -> &'static str {
    match name.to_str() {
        Ok(name) => name,
        Err(_) => panic!("the name is not ASCII"),
    }
}
