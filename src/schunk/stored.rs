//! The stored form of a chunk in a frame.
//!
//! A frame stores a chunk of zeros, NaNs or uninitialised items as a special offset in its index,
//! which has no length: the length follows from the chunk size. If the chunk size is variable, the
//! chunk is stored as a repeated-value chunk instead, which every reader supports. A chunk with a
//! short header is stored with a full header.

use super::new_chunk::ChunkInfo;
use crate::chunk::{
    CParams, ChunkHeader, Compressor, DParams, Decompressor, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD,
    Special, special,
};
use crate::frame::{Counters, Frame, Stored};
use crate::{Buffer, Error, Result, item};

/// The largest item size that a chunk header can represent, in bytes.
const MAX_TYPESIZE: usize = crate::chunk::MAX_TYPESIZE;

/// The stored form of a chunk.
pub enum StoredForm<'a> {
    /// A special offset in the index.
    Special(Special),
    /// The caller's chunk, verbatim.
    Verbatim(&'a [u8]),
    /// A new chunk of the same content.
    Converted(Buffer),
}

impl StoredForm<'_> {
    /// Converts to the frame's type. A chunk that is stored verbatim gets no checksum if it is
    /// `unverified`.
    pub fn stored(&self, unverified: bool) -> Stored<'_> {
        match self {
            StoredForm::Special(kind) => Stored::Special(*kind),
            StoredForm::Verbatim(bytes) if unverified => Stored::Unverified(bytes),
            StoredForm::Verbatim(bytes) => Stored::Bytes(bytes),
            StoredForm::Converted(buffer) => Stored::Bytes(buffer),
        }
    }
}

/// Returns the form in which a frame with the given item and chunk size stores a chunk. A special
/// offset has neither the length nor the item size of the chunk, so both must be those of the
/// frame.
///
/// # Errors
/// [`Error::Data`] for a chunk of NaNs whose item size is neither 4 nor 8 bytes; the errors of
/// decompression.
pub fn stored_form<'a>(
    chunk: &'a [u8],
    info: &ChunkInfo,
    typesize: i32,
    chunksize: i32,
) -> Result<StoredForm<'a>> {
    let nbytes = usize::try_from(info.nbytes).map_err(|_| Error::InvalidHeader)?;
    match info.special {
        Special::Zero | Special::Nan | Special::Uninit if nbytes > 0 => {
            let is_representable = match info.special {
                Special::Nan => i64::try_from(info.typesize) == Ok(i64::from(typesize)),
                _ => info.nbytes.checked_rem(typesize) == Some(0),
            };
            if chunksize > 0 && is_representable {
                return Ok(StoredForm::Special(info.special));
            }
            value_chunk(info.special, info.typesize, nbytes).map(StoredForm::Converted)
        }
        Special::Zero | Special::Nan | Special::Uninit => {
            raw_chunk(info.typesize, &[]).map(StoredForm::Converted)
        }
        _ if chunk.len() < EXTENDED_HEADER_LENGTH => {
            // Zeros that are not written need no memory if the size in the header is wrong.
            let mut data = item::zeroed(nbytes)?;
            Decompressor::new(DParams::default()).decompress(chunk, &mut data)?;
            raw_chunk(info.typesize, &data).map(StoredForm::Converted)
        }
        _ => Ok(StoredForm::Verbatim(chunk)),
    }
}

/// Converts the special offsets of `wanted` chunks of a frame to chunks with a length; returns them
/// with their indices.
///
/// # Errors
/// Returns the errors of reading the index; [`Error::Data`] as [`stored_form`].
pub fn store_specials(
    frame: &Frame,
    typesize: i32,
    wanted: impl Fn(usize) -> bool,
) -> Result<Vec<(usize, Buffer)>> {
    let offsets = frame.offsets()?;
    let mut made = Vec::new();
    for (nchunk, _) in offsets.iter().enumerate().filter(|&(_, stored)| stored < 0) {
        if wanted(nchunk) {
            let header = ChunkHeader::parse(&frame.chunk(nchunk)?)?;
            let typesize = usize::try_from(typesize).unwrap_or(1);
            let width = if typesize > MAX_TYPESIZE { 1 } else { typesize.max(1) };
            made.try_reserve(1)?;
            made.push((nchunk, value_chunk(header.special, width, header.nbytes)?));
        }
    }
    Ok(made)
}

/// Whether the change from `before` to `after` makes the chunk size variable.
pub fn turns_variable(before: &Counters, after: &Counters) -> bool {
    before.chunksize > 0 && after.chunksize <= 0
}

/// Returns a repeated-value chunk equivalent to a special chunk of `nbytes` bytes.
fn value_chunk(kind: Special, typesize: usize, nbytes: usize) -> Result<Buffer> {
    let size = i32::try_from(nbytes).map_err(|_| Error::InvalidHeader)?;
    let value = match kind {
        Special::Nan => match typesize {
            4 => f32::NAN.to_ne_bytes().to_vec(),
            8 => f64::NAN.to_ne_bytes().to_vec(),
            _ => return Err(Error::Data),
        },
        _ if nbytes.is_multiple_of(typesize) => vec![0; typesize],
        _ => return special::zero_bytes(typesize, size),
    };
    let params = CParams::default().typesize(typesize as i32);
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH + typesize)?;
    special::repeatval(&params, size, &value, &mut chunk)?;
    Ok(chunk)
}

/// Returns a chunk that stores data uncompressed.
fn raw_chunk(typesize: usize, data: &[u8]) -> Result<Buffer> {
    let params = CParams::default().level(0).typesize(typesize.max(1) as i32);
    let mut chunk = Buffer::unspecified(data.len() + MAX_OVERHEAD)?;
    let len = Compressor::new(params)?.compress(data, &mut chunk)?;
    chunk.resize(len)?;
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use crate::chunk::{CParams, DParams, special};
    use crate::schunk::{SChunk, Storage};

    #[test]
    fn row_s32_zeros_of_a_partial_item_can_be_read_again() {
        for typesize in [1, 4, 8, 57, 300] {
            let params = CParams::default().typesize(typesize);
            for storage in [Storage::memory(), Storage::frame()] {
                let mut schunk =
                    SChunk::create(storage, params.clone(), DParams::default()).unwrap();
                schunk.append(&[1; 1100]).unwrap();
                schunk.append(&[0; 143]).unwrap();
                assert!(schunk.chunk(1).unwrap().len() <= 32 + typesize as usize, "{typesize}");
                let bytes = schunk.to_bytes().unwrap();
                let again = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
                for schunk in [schunk, again] {
                    let mut data = [2; 1100];
                    assert_eq!(schunk.decompress(0, &mut data), Ok(1100), "{typesize}");
                    assert_eq!(data, [1; 1100]);
                    assert_eq!(schunk.decompress(1, &mut data), Ok(143), "{typesize}");
                    assert_eq!(data[..143], [0; 143]);
                }
            }
        }
    }

    #[test]
    fn row_s32_nans_of_another_item_size_stay_the_same() {
        let mut nans = [0; 32];
        special::nans(&CParams::default().typesize(4), 400, &mut nans).unwrap();
        let params = CParams::default().typesize(8);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        schunk.append_chunk(&nans).unwrap();
        let bytes = schunk.to_bytes().unwrap();
        let again = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
        for schunk in [schunk, again] {
            let mut data = [0; 400];
            assert_eq!(schunk.decompress(0, &mut data), Ok(400));
            assert_eq!(data[..], f32::NAN.to_ne_bytes().repeat(100));
        }
    }
}
