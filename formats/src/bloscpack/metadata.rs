//! Conversion between values and metadata sections.

use super::args::MetadataArgs;
use super::error::{Error, Result};
use super::json::{JsonError, Value};
use crate::blpk::{self, MAX_METADATA, MetadataCodec, MetadataHeader, MetadataSection};
use ferroblosc::codec;

/// The format of sections with values.
const JSON: &str = "JSON";

/// The content of a metadata section.
#[derive(Clone, Debug)]
pub enum Metadata {
    /// A value.
    Value(Value),
    /// Bytes of another format, or invalid JSON.
    Opaque {
        /// The format.
        kind: Vec<u8>,
        /// The uncompressed bytes.
        bytes: Vec<u8>,
        /// The syntax error of invalid JSON.
        error: Option<JsonError>,
    },
}

impl Metadata {
    /// Decodes the content of a section.
    ///
    /// # Errors
    /// The errors of [`MetadataSection::plain`]. Invalid JSON is not an error.
    pub fn of(section: &MetadataSection) -> blpk::Result<Metadata> {
        let bytes = section.plain()?;
        let kind = section.header.kind();
        let error = if kind == JSON.as_bytes() {
            match Value::parse(&bytes) {
                Ok(value) => return Ok(Metadata::Value(value)),
                Err(error) => Some(error),
            }
        } else {
            None
        };
        Ok(Metadata::Opaque { kind: kind.to_vec(), bytes, error })
    }

    /// Returns the value, if the content is one.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Metadata::Value(value) => Some(value),
            Metadata::Opaque { .. } => None,
        }
    }
}

fn size(len: usize) -> Result<u32> {
    u32::try_from(len).ok().filter(|&len| len <= MAX_METADATA).ok_or(Error::MetadataTooLarge)
}

/// Returns the section for a value.
///
/// # Errors
/// [`Error::NoSuchSerializer`], [`Error::MetadataLevel`], [`Error::MetadataSectionTooSmall`],
/// [`Error::ReservedMetadata`] and [`Error::MetadataTooLarge`].
pub fn section_for(value: &Value, args: &MetadataArgs) -> Result<MetadataSection> {
    let plain = value.to_json().into_bytes();
    let reserved = args.max_meta_size.amount(plain.len() as u64)?;
    let reserved = u32::try_from(reserved).map_err(|_| Error::ReservedMetadata(reserved))?;
    build(plain, reserved, args)
}

/// Returns the section for a value that replaces another section with the same reserved size.
///
/// # Errors
/// [`Error::NoChangeInMetadata`], [`Error::ChecksumLengthMismatch`]; the errors of [`section_for`].
pub fn replacement(
    old: &MetadataSection,
    value: &Value,
    args: &MetadataArgs,
) -> Result<MetadataSection> {
    if args.checksum.size() != old.header.checksum.size() {
        return Err(Error::ChecksumLengthMismatch);
    }
    if Metadata::of(old)?.value() == Some(value) {
        return Err(Error::NoChangeInMetadata);
    }
    build(value.to_json().into_bytes(), old.header.reserved, args)
}

fn build(plain: Vec<u8>, reserved: u32, args: &MetadataArgs) -> Result<MetadataSection> {
    if args.magic_format != JSON {
        return Err(Error::NoSuchSerializer(args.magic_format.clone()));
    }
    let level = u8::try_from(args.level)
        .ok()
        .filter(|level| *level <= 9)
        .ok_or(Error::MetadataLevel(args.level))?;
    let mut magic_format = [0; 8];
    magic_format[..JSON.len()].copy_from_slice(JSON.as_bytes());
    let plain_size = size(plain.len())?;
    let compressed = match args.codec {
        MetadataCodec::Zlib => compress(level, &plain)?,
        MetadataCodec::None => None,
    };
    // The requested level is recorded even if nothing is compressed.
    let (codec, stored) = match compressed {
        Some(stored) => (MetadataCodec::Zlib, stored),
        None => (MetadataCodec::None, plain),
    };
    let stored_size = size(stored.len())?;
    if stored_size > reserved {
        return Err(Error::MetadataSectionTooSmall {
            required: stored_size.into(),
            allocated: reserved.into(),
        });
    }
    Ok(MetadataSection {
        header: MetadataHeader {
            magic_format,
            options: 0,
            checksum: args.checksum,
            codec,
            level,
            size: plain_size,
            reserved,
            stored: stored_size,
            user_codec: [0; 8],
        },
        stored,
    })
}

/// Returns the size in bytes of the zlib stream of `plain`, which may be longer than `plain`.
///
/// # Errors
/// [`Error::MetadataLevel`]; [`blpk::Error::Memory`].
pub fn zlib_size(level: i64, plain: &[u8]) -> Result<usize> {
    /// Upper bound on the size of the zlib stream of `len` bytes.
    fn upper_bound(len: usize) -> usize {
        len + len / 8 + 64
    }
    let checked = u8::try_from(level).ok().filter(|level| *level <= 9);
    let checked = checked.ok_or(Error::MetadataLevel(level))?;
    let mut stream = Vec::new();
    stream.try_reserve_exact(upper_bound(plain.len()))?;
    stream.resize(upper_bound(plain.len()), 0);
    Ok(codec::zlib_stream(checked, plain, &mut stream).map_err(blpk::Error::from)?)
}

/// Returns a zlib stream of the bytes, or `None` if it would be longer.
fn compress(level: u8, plain: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut stored = Vec::new();
    stored.try_reserve_exact(plain.len())?;
    stored.resize(plain.len(), 0);
    let len = codec::zlib_stream(level, plain, &mut stored).map_err(blpk::Error::from)?;
    stored.truncate(len);
    Ok(Some(stored).filter(|_| len > 0))
}
