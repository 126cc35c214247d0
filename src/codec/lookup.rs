//! Lookups in the table of codecs.

use super::{CodecInfo, TABLE};

/// Returns all codecs that this build knows, in the order of their compcodes.
pub fn all() -> impl Iterator<Item = &'static CodecInfo> {
    TABLE.iter()
}

/// Returns the properties of the codec with this compcode. Codecs of users have none.
pub fn info(compcode: impl TryInto<u8>) -> Option<&'static CodecInfo> {
    let compcode = compcode.try_into().ok()?;
    TABLE.iter().find(|codec| codec.id == compcode)
}

/// Whether the codec with this compcode is one of Blosc itself.
pub fn is_built_in(compcode: u8) -> bool {
    info(compcode).is_some_and(CodecInfo::is_built_in)
}

/// Returns the codec that decodes this format, if it is built in.
pub fn info_of_format(format: u8) -> Option<&'static CodecInfo> {
    by_format(format).map(|row| &TABLE[row])
}

/// Returns the table index of the built-in codec with this compcode, if it can encode.
pub(super) fn encoder(compcode: u8) -> Option<usize> {
    let is_wanted =
        |codec: &CodecInfo| codec.id == compcode && codec.is_built_in() && codec.can_encode;
    TABLE.iter().position(is_wanted)
}

/// Returns the table index of the codec that decodes this format.
pub(super) fn by_format(format: u8) -> Option<usize> {
    let is_wanted = |codec: &CodecInfo| codec.format == format && codec.is_built_in();
    TABLE.iter().position(is_wanted)
}

/// Returns the properties of the built-in codec with this name.
pub(super) fn built_in_named(name: &[u8]) -> Option<&'static CodecInfo> {
    TABLE
        .iter()
        .find(|codec| codec.is_built_in() && codec.can_encode && codec.name.to_bytes() == name)
}
