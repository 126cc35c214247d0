//! The header of the last chunk. Those of one array are the same but for their length, so it is read once.

use super::header::{ChunkHeader, EXTENDED_HEADER_LENGTH};
use super::view::{Blocking, ChunkView};
use crate::Result;
use crate::filter::Pipeline;

/// A header, and what follows from it.
pub(super) struct KnownHeader {
    /// What it was read from, if the next chunk may have the same.
    bytes: Option<[u8; EXTENDED_HEADER_LENGTH]>,
    header: ChunkHeader,
    blocking: Blocking,
    pipeline: Pipeline,
    /// Whether the pipeline is that of the header.
    is_prepared: bool,
}

impl Default for KnownHeader {
    fn default() -> KnownHeader {
        KnownHeader {
            bytes: None,
            header: ChunkHeader::UNREAD,
            blocking: Blocking::default(),
            pipeline: Pipeline::default(),
            is_prepared: false,
        }
    }
}

impl KnownHeader {
    /// Reads and checks the header of a chunk, of Blosc 1.x or of any, unless it is the known one.
    ///
    /// # Errors
    /// Those of [`ChunkHeader::parse`].
    #[inline(always)]
    pub fn read(&mut self, src: &[u8], blosc1: bool) -> Result<()> {
        match (&self.bytes, src.first_chunk()) {
            (Some(known), Some(front))
                if !blosc1 && ChunkHeader::is_same_but_cbytes(known, front) =>
            {
                self.header.read_cbytes(front)
            }
            _ => self.read_anew(src, blosc1),
        }
    }

    fn read_anew(&mut self, src: &[u8], blosc1: bool) -> Result<()> {
        self.bytes = None;
        self.is_prepared = false;
        self.header = ChunkHeader::UNREAD;
        match blosc1 {
            true => self.header.read_blosc1(src)?,
            false => self.header.read(src)?,
        }
        self.blocking = Blocking::of(&self.header);
        if self.header.basic.is_extended() && !blosc1 {
            self.bytes = src.first_chunk().copied();
        }
        Ok(())
    }

    /// Makes the pipeline that of the header.
    #[inline]
    pub fn prepare(&mut self) {
        if !self.is_prepared {
            let header = &self.header;
            self.pipeline
                .update(&header.filters, header.basic.version, header.typesize());
            self.is_prepared = self.pipeline.is_builtin_only();
        }
    }

    /// The header that was read.
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// The bytes it was read from, those of the length of the chunk perhaps from another one; none of Blosc 1.x.
    pub fn bytes(&self) -> Option<&[u8; EXTENDED_HEADER_LENGTH]> {
        self.bytes.as_ref()
    }

    /// How many blocks such a chunk has.
    pub fn nblocks(&self) -> usize {
        self.blocking.count
    }

    /// A chunk with this header, of which nothing else has been read.
    #[inline(always)]
    pub fn view<'a>(&'a self, src: &'a [u8]) -> ChunkView<'a> {
        ChunkView::unread(src, &self.header, self.blocking)
    }

    /// The pipeline, after [`KnownHeader::prepare`].
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }
}

#[cfg(test)]
mod tests {
    use crate::chunk::special::{nans, repeatval, uninit, zeros};
    use crate::chunk::{CParams, Compressor, DParams, Decompressor, EXTENDED_HEADER_LENGTH};
    use crate::{Result, filter};

    const NBYTES: usize = 4096;

    /// Ordinary chunks, of several filters and of one block and many, and those that are all said by their headers.
    fn chunks() -> Vec<Vec<u8>> {
        let params = CParams {
            typesize: 4,
            blocksize: 1024,
            ..CParams::default()
        };
        let data: Vec<u8> = (0..NBYTES as u32 / 4)
            .flat_map(|i| (i * i).to_le_bytes())
            .collect();
        let noise: Vec<u8> = (0..NBYTES as u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        let ids = [
            filter::id::SHUFFLE,
            filter::id::BITSHUFFLE,
            filter::id::DELTA,
        ];
        let mut chunks: Vec<Vec<u8>> = ids
            .into_iter()
            .flat_map(|id| [(id, 1024), (id, NBYTES as i32)])
            .map(|(id, blocksize)| {
                let mut params = CParams {
                    blocksize,
                    ..params.clone()
                };
                params.filters[5].id = id;
                let mut compressor = Compressor::new(params).unwrap();
                compressor.compress_to_vec(&data).unwrap()
            })
            .collect();
        let mut compressor = Compressor::new(params.clone()).unwrap();
        chunks.push(compressor.compress_to_vec(&noise).unwrap());
        let made = |make: fn(&CParams, i32, &mut [u8]) -> Result<usize>| {
            let mut chunk = vec![0; EXTENDED_HEADER_LENGTH + 4];
            let len = make(&params, NBYTES as i32, &mut chunk).unwrap();
            chunk.truncate(len);
            chunk
        };
        chunks.extend([made(zeros), made(nans), made(uninit)]);
        chunks.push(made(|params, nbytes, dest| {
            repeatval(params, nbytes, b"abcd", dest)
        }));
        chunks
    }

    /// All that a decompressor says of a chunk.
    fn read(decompressor: &mut Decompressor, chunk: &[u8]) -> (Vec<Result<usize>>, Vec<u8>) {
        let mut back = vec![0xA5; 3 * NBYTES];
        let (whole, parts) = back.split_at_mut(2 * NBYTES);
        let (item, bytes) = parts.split_at_mut(64);
        let said = vec![
            decompressor.decompress(chunk, whole),
            decompressor.getitem(chunk, 7, 3, item),
            decompressor.getitem_bytes(chunk, 1000, 100, bytes),
        ];
        // What is written before an error comes up is nobody's business.
        if said.iter().any(Result::is_err) {
            back.clear();
        }
        (said, back)
    }

    #[test]
    fn what_was_read_before_changes_nothing() {
        let chunks = chunks();
        let mut decompressors = [
            DParams::default(),
            DParams {
                blosc1: true,
                ..DParams::default()
            },
        ]
        .map(|params| (Decompressor::new(params.clone()), params));
        for (number, chunk) in chunks.iter().enumerate() {
            let other = &chunks[(number + 1) % chunks.len()];
            for at in 0..EXTENDED_HEADER_LENGTH {
                for bit in 0..8 {
                    let mut damaged = chunk.clone();
                    damaged[at] ^= 1 << bit;
                    for (decompressor, params) in &mut decompressors {
                        for chunk in [chunk, &damaged, &damaged, chunk, other] {
                            let alone = read(&mut Decompressor::new(params.clone()), chunk);
                            assert_eq!(read(decompressor, chunk), alone, "{number}, {at}, {bit}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_that_change_count_from_the_next_chunk_on() {
        let chunk = chunks().swap_remove(0);
        let mut decompressor = Decompressor::new(DParams::default());
        for blosc1 in [false, true, false] {
            let params = DParams {
                blosc1,
                ..DParams::default()
            };
            decompressor.set_params(params.clone());
            let alone = read(&mut Decompressor::new(params), &chunk);
            assert_eq!(read(&mut decompressor, &chunk), alone);
        }
    }

    #[test]
    fn chunks_that_differ_in_length_alone_have_one_header() {
        let chunks = chunks();
        let mut longer = chunks[0].clone();
        longer.push(0);
        longer[12] += 1;
        let mut decompressor = Decompressor::new(DParams::default());
        let whole = read(&mut decompressor, &chunks[0]);
        assert_eq!(read(&mut decompressor, &longer), whole);
        longer.pop();
        assert!(
            read(&mut decompressor, &longer)
                .0
                .iter()
                .all(Result::is_err)
        );
    }
}
