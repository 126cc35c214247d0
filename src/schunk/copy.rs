//! Copying between super-chunks.

use super::chunks;
use super::describe::refresh_from_file;
use super::meta;
use super::state::{Layers, State};
use super::transaction::atomically;
use crate::chunk::{BasicHeader, CParams, Source};
use crate::frame::{Counters, Frame, VL_BLOCKS};
use crate::{Buffer, Error, Result};

/// Copies chunks and metalayers into an empty super-chunk. Chunks are recompressed unless
/// `verbatim` is set or they have variable-length blocks. A chunk that is copied verbatim and
/// cannot be decompressed gets no checksum.
///
/// # Errors
/// Returns the errors of reading, decompression, compression and appending.
pub fn copy<S: State + ?Sized, T: State + ?Sized>(
    source: &S,
    target: &mut T,
    verbatim: bool,
) -> Result<()> {
    // The lock keeps the number of chunks, the chunks and the metalayers consistent during the
    // copy.
    let _held = source.frame().map(Frame::lock_shared).transpose()?;
    refresh_from_file(source)?;
    // Adding a metalayer rewrites a frame without chunks. Inside a transaction, chunks written
    // before the commit would have to move, so the metalayers are added before the transaction.
    copy_head(source, target)?;
    atomically(target, |target| {
        copy_chunks(source, target, verbatim)?;
        copy_vlmetalayers(source, target)
    })
}

/// Copies the chunk size and the fixed metalayers.
///
/// # Errors
/// Returns the errors of [`meta::add`].
pub fn copy_head<S: State + ?Sized, T: State + ?Sized>(source: &S, target: &mut T) -> Result<()> {
    // The chunk size is set first, because adding a metalayer to an empty super-chunk writes it to
    // the frame.
    let chunksize = source.counters().chunksize;
    let counters = target.counters();
    target.set_counters(Counters { chunksize, ..counters });
    let mut result = Ok(());
    source.with_layers(Layers::Fixed, &mut |layers| {
        result = layers
            .iter()
            .try_for_each(|&(name, content)| meta::add(target, name, content).map(|_| ()));
    });
    result
}

fn copy_chunks<S: State + ?Sized, T: State + ?Sized>(
    source: &S,
    target: &mut T,
    verbatim: bool,
) -> Result<()> {
    let from = source.counters();
    let verbatim = verbatim || from.flags2 & VL_BLOCKS != 0;
    let mut data = Vec::new();
    for nchunk in 0..from.nchunks {
        let chunk = chunks::chunk(source, nchunk)?;
        if verbatim {
            let chunk = chunks::copied(source, (nchunk, &chunk), target)?;
            chunks::append(target, chunk)?;
        } else {
            drop(chunk);
            chunks::decompress_to_vec(source, nchunk, &mut data)?;
            chunks::append_data(target, Source::Bytes(&data))?;
        }
    }
    Ok(())
}

/// Copies the variable-length metalayers, recompressed with the default parameters. A metalayer
/// that needs a missing plugin is copied verbatim.
///
/// # Errors
/// Returns the errors of [`meta::vl_add`] and of reading.
pub fn copy_vlmetalayers<S: State + ?Sized, T: State + ?Sized>(
    source: &S,
    target: &mut T,
) -> Result<()> {
    // Copies first: a user-defined codec may read the source's metalayers during decompression.
    let mut copied = Ok(Vec::new());
    source.with_layers(Layers::Variable, &mut |layers| {
        copied = layers
            .iter()
            .map(|&(name, chunk)| Ok((name.to_vec(), Buffer::copy_of(chunk)?)))
            .collect::<Result<Vec<_>>>();
    });
    copied?.into_iter().try_for_each(|(name, chunk)| copy_vlmetalayer(target, &name, &chunk))
}

/// Adds a variable-length metalayer from a chunk, by the rules of [`copy_vlmetalayers`].
///
/// # Errors
/// Returns the errors of [`copy_vlmetalayers`].
pub fn copy_vlmetalayer<T: State + ?Sized>(
    target: &mut T,
    name: &[u8],
    chunk: &[u8],
) -> Result<()> {
    match meta::decompress_content(chunk) {
        Err(error) if crate::plugin::may_be_missing(&error) => {
            meta::vl_add_chunk(target, name, chunk)
        }
        content => meta::vl_add(target, name, &content?, CParams::default()),
    }
    .map(|_| ())
}

/// Upper bound on the number of special chunks copied from a frame into memory. A frame of a few
/// bytes can describe hundreds of millions of them, and each becomes a separate chunk.
const MAX_SPECIALS: usize = 1 << 22;

/// Copies the chunks of a frame with these counters into an empty super-chunk in memory.
///
/// # Errors
/// Returns the errors of [`Frame::chunk`]; [`Error::InvalidHeader`] if the sizes of the chunks do
/// not add up to the size of the frame's data; [`Error::MemoryAlloc`], also for more than 4,194,304
/// special chunks. After an error the super-chunk holds the chunks that were read before the error.
pub fn take_chunks<S: State + ?Sized>(
    target: &mut S,
    frame: &Frame,
    counters: &Counters,
) -> Result<()> {
    let mut after = Counters { nchunks: 0, nbytes: 0, cbytes: 0, ..*counters };
    let offsets = frame.offsets()?;
    if offsets.len() > MAX_SPECIALS
        && offsets.iter().filter(|&stored| stored < 0).count() > MAX_SPECIALS
    {
        return Err(Error::MemoryAlloc);
    }
    let mut common = None;
    for nchunk in 0..usize::try_from(counters.nchunks).map_err(|_| Error::InvalidHeader)? {
        let chunk = frame.chunk(nchunk)?;
        let header = BasicHeader::parse(&chunk)?;
        common = match common {
            None => Some(header.blocksize),
            Some(blocksize) if blocksize == header.blocksize => Some(blocksize),
            Some(_) => Some(0),
        };
        target.reserve_chunk(nchunk)?;
        target.insert(nchunk, nchunk, Buffer::copy_of(&chunk)?);
        after.nchunks += 1;
        after.nbytes += i64::from(header.nbytes);
        after.cbytes += chunk.len() as i64;
        target.set_counters(after);
    }
    after.blocksize = common.unwrap_or(0);
    target.set_counters(after);
    if after.nbytes == counters.nbytes.max(0) { Ok(()) } else { Err(Error::InvalidHeader) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{DParams, Special};
    use crate::frame::Memory;
    use crate::schunk::{SChunk, Storage};

    #[test]
    fn a_copy_has_the_chunks_and_metalayers_in_any_storage() {
        let folder = tempfile::tempdir().unwrap();
        let params = CParams::default().typesize(4);
        let storage = |number: usize, name: String| match number {
            0 => Storage::memory(),
            1 => Storage::frame(),
            2 => Storage::file(folder.path().join(name)),
            _ => Storage::directory(folder.path().join(name)),
        };
        for (one, other) in (0..16).map(|number| (number / 4, number % 4)) {
            let from = storage(one, format!("from {one} {other}"));
            let to = || storage(other, format!("to {one} {other}"));
            let mut schunk = SChunk::create(from, params.clone(), DParams::default()).unwrap();
            schunk.add_metalayer("fixed", b"content").unwrap();
            schunk.append(&[7; 400]).unwrap();
            schunk.append(&[0; 400]).unwrap();
            schunk.append(&[9; 36]).unwrap();
            schunk.add_vlmetalayer("variable", b"longer content").unwrap();
            let best = CParams::default().typesize(4).level(9);
            let copy = schunk.copy_with(to(), best, DParams::default()).unwrap();
            assert_eq!((copy.nchunks(), copy.nbytes(), copy.chunksize()), (3, 836, 400));
            for nchunk in 0..3 {
                let chunk = schunk.decompress_to_vec(nchunk).unwrap();
                assert_eq!(copy.decompress_to_vec(nchunk).unwrap(), chunk);
            }
            assert_eq!(copy.metalayer("fixed").unwrap(), b"content");
            assert_eq!(copy.vlmetalayer("variable").unwrap(), b"longer content");
            // An existing file at the path is not replaced.
            if other > 1 {
                let again = schunk.copy_with(to(), params.clone(), DParams::default());
                assert_eq!(again.err().unwrap().kind(), crate::ErrorKind::FileOpen);
                assert_eq!(copy.decompress_to_vec(0).unwrap(), [7; 400]);
            }
        }
    }

    /// Returns a frame of zeros with one item per chunk.
    fn zeros(nchunks: usize) -> (Frame, Counters) {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        schunk.fill(nchunks as i64, Special::Zero, 4).unwrap();
        let bytes = schunk.to_bytes().unwrap();
        assert!(bytes.len() < 300);
        let memory = Memory::owned(Buffer::copy_of(&bytes).unwrap());
        let (frame, loaded) = Frame::from_memory(memory).unwrap();
        (frame, loaded.counters)
    }

    #[test]
    fn row_d11_a_small_frame_cannot_expand_to_any_number_of_chunks() {
        for (nchunks, expected) in [(1000, Ok(())), (MAX_SPECIALS + 1, Err(Error::MemoryAlloc))] {
            let (frame, counters) = zeros(nchunks);
            let target = Storage::memory();
            let mut target =
                SChunk::create(target, CParams::default(), DParams::default()).unwrap();
            let result = take_chunks(target.state_mut(), &frame, &counters);
            assert_eq!(result, expected);
        }
    }
}
