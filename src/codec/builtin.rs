//! The table of the built-in codecs.

use std::ffi::CStr;

use super::blosclz::BloscLz;
use super::lz4::{Lz4, Lz4Hc};
use super::snappy::Snappy;
use super::zlib::Zlib;
use super::zstd::Zstd;
use super::{StreamCodec, format, id};

pub(super) struct Builtin {
    pub(super) compcode: u8,
    /// The name, or `None` for a codec that C-Blosc2 does not name.
    pub(super) name: Option<&'static CStr>,
    pub(super) format: u8,
    /// The underlying library and its version, as C-Blosc2 reports them.
    pub(super) library: &'static CStr,
    pub(super) library_version: &'static CStr,
    pub(super) make: fn() -> Box<dyn StreamCodec>,
}

/// The version byte of chunks written by any built-in codec.
pub(super) const BUILTIN_VERSION: u8 = 1;

pub(super) const COUNT: usize = 6;

/// All built-in codecs. If two share a format, the first one decodes it.
#[rustfmt::skip]
pub(super) static TABLE: [Builtin; COUNT] = [
    Builtin { compcode: id::BLOSCLZ, name: Some(c"blosclz"), format: format::BLOSCLZ, library: c"BloscLZ", library_version: c"2.5.3", make: || Box::new(BloscLz::default()) },
    Builtin { compcode: id::LZ4, name: Some(c"lz4"), format: format::LZ4, library: c"LZ4", library_version: c"1.10.0", make: || Box::new(Lz4::default()) },
    Builtin { compcode: id::LZ4HC, name: Some(c"lz4hc"), format: format::LZ4, library: c"LZ4", library_version: c"1.10.0", make: || Box::new(Lz4Hc::default()) },
    Builtin { compcode: id::SNAPPY, name: None, format: format::SNAPPY, library: c"Snappy", library_version: c"unknown", make: || Box::new(Snappy::default()) },
    Builtin { compcode: id::ZLIB, name: Some(c"zlib"), format: format::ZLIB, library: c"Zlib", library_version: c"2.3.3", make: || Box::new(Zlib::default()) },
    Builtin { compcode: id::ZSTD, name: Some(c"zstd"), format: format::ZSTD, library: c"Zstd", library_version: c"1.5.7", make: || Box::new(Zstd::default()) },
];

/// Returns the table index of the codec with this compcode.
pub(super) fn by_compcode(compcode: u8) -> Option<usize> {
    TABLE.iter().position(|row| row.compcode == compcode)
}

/// Returns the table index of the codec that decodes this format.
pub(super) fn by_format(format: u8) -> Option<usize> {
    TABLE.iter().position(|row| row.format == format)
}
