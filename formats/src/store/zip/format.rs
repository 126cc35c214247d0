//! The numbers of the zip format.

use std::path::Path;

use super::super::error::Error;

/// The start of a zip file whose first member has no prefix.
pub(super) const LOCAL_MAGIC: &[u8; 4] = b"PK\x03\x04";
/// The start of an empty zip file.
pub(super) const END_MAGIC: &[u8; 4] = b"PK\x05\x06";
pub(super) const LOCAL_LEN: usize = 30;
/// The start of an entry of the directory.
pub(super) const ENTRY_MAGIC: &[u8; 4] = b"PK\x01\x02";
/// The start of the zip64 record, and its length.
pub(super) const RECORD_MAGIC: &[u8; 4] = b"PK\x06\x06";
pub(super) const RECORD_LEN: usize = 56;
/// The start of the record with the offset of the zip64 record.
pub(super) const LOCATOR_MAGIC: &[u8; 4] = b"PK\x06\x07";
/// The start of the sizes that follow the data of a member. It is optional.
pub(super) const DESCRIPTOR_MAGIC: &[u8; 4] = b"PK\x07\x08";
/// The id of the extra field with numbers of 64 bits.
pub(super) const ZIP64_EXTRA: u16 = 1;
pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;
/// The maximum length of the name of another member in a message, in characters.
pub(super) const MAX_SHOWN_NAME: usize = 100;
/// Flag bits of members.
pub(super) const ENCRYPTED: u16 = 1;
pub(super) const HAS_DESCRIPTOR: u16 = 1 << 3;
pub(super) const UTF8: u16 = 1 << 11;

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

pub(super) fn zip_error(path: &Path, why: impl Into<String>) -> Error {
    Error::Zip { path: path.to_owned(), why: why.into() }
}
