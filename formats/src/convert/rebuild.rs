//! What the repairs of frames have in common.

use std::io::Read;
use std::path::Path;

use super::error::Result;
use super::one_change::OneChange;
use super::sink::{Writing, storage};
use ferroblosc::chunk::{BasicHeader, CParams, DParams, EXTENDED_HEADER_LENGTH, special};
use ferroblosc::frame::FrameHeader;
use ferroblosc::io::named::NamedFile;
use ferroblosc::schunk::SChunk;
use ferroblosc::schunk::chunks::{self, NewChunk};

/// The maximum number of lost chunks of a container, and of missing chunks that a scan of a frame
/// replaces by zeros. The number of chunks is that of the header, which may be damaged: a few bytes
/// can declare more chunks than any disk holds.
pub const MAX_MISSING: i64 = 1 << 17;

/// The result of [`repair`](super::repair()).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Descriptions of the repaired items.
    pub repaired: Vec<String>,
    /// Descriptions of the lost items.
    pub lost: Vec<String>,
}

/// Creates the super-chunk that receives the intact chunks.
pub fn create(
    output: &Path,
    directory: bool,
    params: CParams,
    (checksums, change): (bool, OneChange),
) -> Result<SChunk> {
    let writing = Writing { checksums, ..Writing::default() };
    let storage = change.storage(storage(output, directory, &writing));
    Ok(SChunk::create(storage, params, DParams::default())?)
}

/// Appends a chunk, without a checksum if it was not verified.
pub fn append(copy: &mut SChunk, chunk: &[u8], is_unverified: bool) -> Result<()> {
    let new = if is_unverified { NewChunk::Unverified(chunk) } else { NewChunk::Copy(chunk) };
    chunks::append(copy.state_mut(), new)?;
    Ok(())
}

/// Returns a chunk of zeros.
pub fn zeros(params: &CParams, nbytes: i32) -> Result<Vec<u8>> {
    let mut chunk = vec![0; EXTENDED_HEADER_LENGTH];
    let len = special::zeros(params, nbytes, &mut chunk)?;
    chunk.truncate(len);
    Ok(chunk)
}

/// Returns the offset of the index of a frame with data, as its header records it.
pub fn index_position(header: &FrameHeader) -> Option<u64> {
    let cbytes = u64::try_from(header.counters.cbytes).ok()?;
    u64::from(header.header_len).checked_add(cbytes).filter(|_| header.counters.nbytes > 0)
}

/// Reads the chunk at the current file position, or returns `None` if it is invalid or longer than
/// `available` bytes.
pub fn next_chunk(file: &mut NamedFile, available: u64) -> Result<Option<Vec<u8>>> {
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    if available < head.len() as u64 {
        return Ok(None);
    }
    file.read_exact(&mut head)?;
    let Ok(header) = BasicHeader::parse(&head) else {
        return Ok(None);
    };
    let cbytes = u64::try_from(header.cbytes).unwrap_or(0);
    if cbytes < head.len() as u64 || cbytes > available {
        return Ok(None);
    }
    let mut chunk = head.to_vec();
    file.take(cbytes - head.len() as u64).read_to_end(&mut chunk)?;
    Ok(Some(chunk))
}
