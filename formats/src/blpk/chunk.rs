//! Validation of chunks before decompression.

use super::checksum::Checksum;
use super::error::{Checked, Error, Result};
use super::header::Header;
use super::limits::MAX_NBYTES;
use ferroblosc::blosc1;
use ferroblosc::chunk::{BasicHeader, MIN_HEADER_LENGTH};

/// The last chunk format version of Blosc 1.x.
const NEWEST_VERSION: u8 = 2;

/// A chunk whose header agrees with that of the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// The index of the chunk.
    pub index: u64,
    /// The uncompressed size in bytes.
    pub nbytes: u32,
    /// The size of the chunk without its digest, in bytes.
    pub cbytes: u32,
    /// The checksum of the digest that follows the chunk.
    pub checksum: Checksum,
    /// The chunk header.
    pub header: BasicHeader,
}

impl Chunk {
    /// Validates the header of chunk `index` of a container.
    ///
    /// # Errors
    /// [`Error::ChunkHeader`], and [`Error::ChunkSize`] if it contradicts the container's header.
    pub(super) fn check(
        bytes: &[u8; MIN_HEADER_LENGTH],
        index: u64,
        container: &Header,
    ) -> Result<Chunk> {
        let header = BasicHeader::read(bytes);
        let fault = |why| Error::ChunkHeader { index, why };
        if header.version > NEWEST_VERSION {
            return Err(fault("it is not of Blosc 1"));
        }
        let cbytes = u32::try_from(header.cbytes)
            .ok()
            .filter(|&cbytes| cbytes as usize >= MIN_HEADER_LENGTH)
            .ok_or(fault("it is shorter than its header"))?;
        let nbytes = u32::try_from(header.nbytes)
            .ok()
            .filter(|&nbytes| nbytes <= MAX_NBYTES)
            .ok_or(fault("it holds more than a chunk can"))?;
        let expected = match (container.nbytes_of(index), container.chunk_size) {
            (Some(expected), _) => Some(expected),
            // The number of chunks is unknown, so any chunk may be the last: only the upper bound
            // is checked.
            (None, Some(most)) if container.nchunks.is_none() && nbytes > most => Some(most),
            _ => None,
        };
        match expected {
            Some(expected) if expected != nbytes => {
                Err(Error::ChunkSize { index, expected, actual: nbytes })
            }
            _ => Ok(Chunk { index, nbytes, cbytes, checksum: container.checksum, header }),
        }
    }

    /// Returns the size of the chunk with its digest, in bytes.
    pub fn stored_len(&self) -> u64 {
        u64::from(self.cbytes) + self.checksum.size() as u64
    }

    /// Splits the stored bytes into the chunk and its digest.
    fn split<'b>(&self, stored: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        stored.split_at(self.cbytes as usize)
    }

    /// Compares the chunk in its stored bytes with the digest that follows it.
    ///
    /// # Errors
    /// [`Error::Checksum`]
    ///
    /// # Panics
    /// Panics if `stored` is shorter than [`Chunk::stored_len`].
    pub fn verify(&self, stored: &[u8]) -> Result<()> {
        let (chunk, digest) = self.split(stored);
        self.checksum.verify(chunk, digest, Checked::Chunk(self.index))
    }

    /// Verifies the digest and decompresses the chunk on `nthreads` threads into `plain`, whose
    /// content is replaced.
    ///
    /// # Errors
    /// [`Error::Checksum`], [`Error::ChunkData`], [`Error::Memory`].
    ///
    /// # Panics
    /// Panics if `stored` is shorter than [`Chunk::stored_len`].
    pub fn decode(
        &self,
        stored: &[u8],
        engine: &mut blosc1::Engine,
        nthreads: i32,
        plain: &mut Vec<u8>,
    ) -> Result<()> {
        self.verify(stored)?;
        let fault = |_| Error::ChunkData { index: self.index };
        let (chunk, _) = self.split(stored);
        // Reject invalid sizes before the allocation.
        let header = chunk.first_chunk().ok_or(Error::Truncated("a chunk"))?;
        let lengths = blosc1::lengths(header, self.nbytes as usize).map_err(fault)?;
        if lengths.src > chunk.len() {
            return Err(fault(blosc1::Error::Failure));
        }
        resize(plain, self.nbytes as usize)?;
        let decoded = engine.decompress(chunk, nthreads, plain).map_err(fault)?;
        if decoded == plain.len() { Ok(()) } else { Err(fault(blosc1::Error::Failure)) }
    }
}

/// Sets the length of a buffer; its content is unspecified.
///
/// # Errors
/// [`Error::Memory`]
pub(crate) fn resize(buffer: &mut Vec<u8>, len: usize) -> Result<()> {
    buffer.try_reserve_exact(len.saturating_sub(buffer.len()))?;
    buffer.resize(len, 0);
    Ok(())
}
