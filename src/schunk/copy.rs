//! From one super-chunk to another.

use super::chunks::{self, Offer};
use super::describe::follow;
use super::meta;
use super::state::{Layers, State};
use super::transaction::atomically;
use crate::chunk::{BasicHeader, CParams, Source};
use crate::frame::{Counters, Frame, VL_BLOCKS};
use crate::{Buffer, Error, Result};

/// Copies chunks and metalayers into a super-chunk that has none. The chunks are compressed anew unless
/// `verbatim`; those with blocks of lengths of their own never are.
///
/// # Errors
/// Those of reading, of decompression and compression, and of adding.
pub fn copy<S: State + ?Sized, T: State + ?Sized>(
    source: &S,
    target: &mut T,
    verbatim: bool,
) -> Result<()> {
    // The copy is one state of the source: the number of chunks, the chunks and the metalayers.
    let _held = source.frame().map(Frame::lock_shared).transpose()?;
    follow(source)?;
    // With the metalayers a frame without chunks is written again. Chunks that a transaction had written
    // before its commit would have to move.
    copy_head(source, target)?;
    atomically(target, |target| {
        copy_chunks(source, target, verbatim)?;
        copy_vlmetalayers(source, target)
    })
}

/// Copies what comes before the chunks: their size and the fixed metalayers.
///
/// # Errors
/// Those of [`meta::add`].
pub fn copy_head<S: State + ?Sized, T: State + ?Sized>(source: &S, target: &mut T) -> Result<()> {
    // The chunk size comes first: of a super-chunk without chunks, the metalayers bring it into the frame.
    let chunksize = source.counters().chunksize;
    let counters = target.counters();
    target.set_counters(Counters {
        chunksize,
        ..counters
    });
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
    let mut data = Buffer::new();
    for nchunk in 0..from.nchunks {
        let chunk = chunks::chunk(source, nchunk)?;
        if verbatim {
            chunks::append(target, Offer::Copy(&chunk))?;
        } else {
            let nbytes = usize::try_from(BasicHeader::parse(&chunk)?.nbytes);
            data.resize(nbytes.map_err(|_| Error::InvalidHeader)?)?;
            chunks::decompress(source, nchunk, &mut data)?;
            chunks::append_data(target, Source::Bytes(&data))?;
        }
    }
    Ok(())
}

/// Copies the variable-length metalayers; each content is compressed with the default parameters. One that needs a
/// missing plugin is copied as it is stored.
///
/// # Errors
/// Those of [`meta::vl_add`], and of reading.
pub fn copy_vlmetalayers<S: State + ?Sized, T: State + ?Sized>(
    source: &S,
    target: &mut T,
) -> Result<()> {
    // Codecs of the program may ask the source for metalayers meanwhile.
    let mut copied = Ok(Vec::new());
    source.with_layers(Layers::Variable, &mut |layers| {
        copied = layers
            .iter()
            .map(|&(name, chunk)| Ok((name.to_vec(), Buffer::copy_of(chunk)?)))
            .collect::<Result<Vec<_>>>();
    });
    copied?
        .into_iter()
        .try_for_each(|(name, chunk)| copy_vlmetalayer(target, &name, &chunk))
}

/// Adds a variable-length metalayer whose content is in a chunk, as [`copy_vlmetalayers`] does.
///
/// # Errors
/// Those of [`copy_vlmetalayers`].
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

/// The most chunks without bytes of their own that a copy of a frame in memory gets: a few bytes can stand for
/// hundreds of millions of them, and each becomes a chunk apart.
const MOST_SPECIALS: usize = 1 << 22;

/// Copies the chunks of a frame, of which these are the sizes, into a super-chunk in memory that has none.
///
/// # Errors
/// Those of [`Frame::chunk`]; [`Error::InvalidHeader`] when the chunks don't add up to the bytes of the frame;
/// [`Error::MemoryAlloc`], also for more special chunks than a few bytes justify. The
/// super-chunk has those chunks then that were read before.
pub fn take_chunks<S: State + ?Sized>(
    target: &mut S,
    frame: &Frame,
    counters: &Counters,
) -> Result<()> {
    let mut after = Counters {
        nchunks: 0,
        nbytes: 0,
        cbytes: 0,
        ..*counters
    };
    let offsets = frame.offsets()?;
    if offsets.len() > MOST_SPECIALS
        && offsets.iter().filter(|&stored| stored < 0).count() > MOST_SPECIALS
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
        target.make_room(nchunk)?;
        target.hold(nchunk, nchunk, Buffer::copy_of(&chunk)?);
        after.nchunks += 1;
        after.nbytes += i64::from(header.nbytes);
        after.cbytes += chunk.len() as i64;
        target.set_counters(after);
    }
    after.blocksize = common.unwrap_or(0);
    target.set_counters(after);
    match after.nbytes == counters.nbytes.max(0) {
        true => Ok(()),
        false => Err(Error::InvalidHeader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{DParams, Special};
    use crate::frame::Memory;
    use crate::schunk::{SChunk, Storage};

    /// A frame of zeros, of one item a chunk.
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
    fn row_d11_a_few_bytes_are_not_copied_into_any_number_of_chunks() {
        for (nchunks, expected) in [(1000, Ok(())), (MOST_SPECIALS + 1, Err(Error::MemoryAlloc))] {
            let (frame, counters) = zeros(nchunks);
            let target = Storage::memory();
            let mut target =
                SChunk::create(target, CParams::default(), DParams::default()).unwrap();
            let result = take_chunks(target.state_mut(), &frame, &counters);
            assert_eq!(result, expected);
        }
    }
}
