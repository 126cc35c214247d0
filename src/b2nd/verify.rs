//! Detection of chunks that are intact, but are not those of the array.

use super::create::{find, true_typesize};
use super::request::ChunkSizes;
use super::state::Chunks;
use crate::chunk::{ChunkHeader, MAX_TYPESIZE, Special};
use crate::schunk::chunks::{equal_run, lazy_chunk};
use crate::{Error, Result};
use std::ops::Range;

/// A chunk that differs from those of its array, or several equal ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignChunk {
    /// The indices.
    pub numbers: Range<i64>,
    /// The difference.
    pub text: String,
    /// Whether arrays read it nevertheless.
    pub is_readable: bool,
}

/// Returns the chunks that differ from those of the array in the sizes in their headers. Chunks
/// whose headers cannot be read are not among them.
///
/// # Errors
/// Errors of the metalayer of the array, and system errors; [`Error::MemoryAlloc`].
pub fn foreign_chunks(s: &Chunks<'_>) -> Result<Vec<ForeignChunk>> {
    let (meta, geometry) = find(s)?;
    let recorded = s.recorded().typesize;
    let typesize = true_typesize(s, &meta, &geometry).unwrap_or(recorded);
    let chunksize = geometry.chunksize(typesize)?;
    let blocksize = usize::try_from(i64::from(geometry.blocknitems) * i64::from(typesize));
    let sizes = ChunkSizes { chunksize, blocksize: blocksize.map_err(|_| Error::InvalidParam)? };
    // Larger item sizes do not fit into the header of a chunk.
    let in_header = usize::try_from(typesize).ok().filter(|&typesize| typesize <= MAX_TYPESIZE);
    let mut found = Vec::new();
    let (mut next, nchunks) = (0, s.counters().nchunks.min(geometry.nchunks()));
    while next < nchunks {
        let nchunk = next;
        next += equal_run(s, nchunk)?;
        let header = match lazy_chunk(s, nchunk).and_then(|chunk| ChunkHeader::parse(&chunk)) {
            Err(error) if error.is_system_error() => return Err(error),
            Err(_) => continue,
            Ok(header) => header,
        };
        let items = header.typesize();
        let has_items =
            header.special != Special::None || in_header.is_none_or(|typesize| typesize == items);
        let different = match sizes.check(&header) {
            Err(error) => Some((error.reason().to_string(), false)),
            // Programs that read a range of items as those of a super-chunk fail.
            Ok(()) if !has_items => {
                Some((format!("the items of the chunk have {items} bytes, not {typesize}"), true))
            }
            Ok(()) => None,
        };
        if let Some((text, is_readable)) = different {
            found.try_reserve(1)?;
            found.push(ForeignChunk { numbers: nchunk..next, text, is_readable });
        }
    }
    Ok(found)
}
