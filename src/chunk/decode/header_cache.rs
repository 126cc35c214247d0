//! A cache of the last chunk's header. The chunks of an array mostly have the same header except
//! for `cbytes`, so the header is parsed once.

use crate::Result;
use crate::chunk::format::blocks::Blocking;
use crate::chunk::format::header::ChunkHeader;
use crate::chunk::format::limits::EXTENDED_HEADER_LENGTH;
use crate::chunk::format::view::ChunkView;
use crate::filter::Pipeline;

/// A parsed header and the values derived from it.
pub(super) struct HeaderCache {
    /// The bytes that `header` was parsed from, if it may be reused for the next chunk.
    bytes: Option<[u8; EXTENDED_HEADER_LENGTH]>,
    header: ChunkHeader,
    blocking: Blocking,
    pipeline: Pipeline,
    /// Whether `pipeline` is that of `header`, and no registration of a filter can change it.
    pipeline_ready: bool,
}

impl Default for HeaderCache {
    fn default() -> HeaderCache {
        HeaderCache {
            bytes: None,
            header: ChunkHeader::EMPTY,
            blocking: Blocking::default(),
            pipeline: Pipeline::default(),
            pipeline_ready: false,
        }
    }
}

impl HeaderCache {
    /// Parses and checks the header of a chunk, unless it is the cached one. `blosc1` selects the
    /// rules of Blosc 1.x.
    ///
    /// # Errors
    /// Returns the errors of [`ChunkHeader::parse`].
    #[inline(always)]
    pub fn read(&mut self, src: &[u8], blosc1: bool) -> Result<()> {
        match (&self.bytes, src.first_chunk()) {
            (Some(cached), Some(front))
                if !blosc1 && ChunkHeader::eq_except_cbytes(cached, front) =>
            {
                self.header.read_cbytes(front)
            }
            _ => self.reparse(src, blosc1),
        }
    }

    fn reparse(&mut self, src: &[u8], blosc1: bool) -> Result<()> {
        self.bytes = None;
        self.pipeline_ready = false;
        self.header = ChunkHeader::EMPTY;
        if blosc1 {
            self.header.read_blosc1(src)?;
        } else {
            self.header.read(src)?;
        }
        self.blocking = Blocking::of(&self.header);
        if self.header.basic.is_extended() && !blosc1 {
            self.bytes = src.first_chunk().copied();
        }
        Ok(())
    }

    /// Builds the pipeline of the header.
    #[inline]
    pub fn prepare_pipeline(&mut self) {
        if !self.pipeline_ready {
            let header = &self.header;
            self.pipeline.update(&header.filters, header.basic.version, header.typesize());
            self.pipeline_ready = self.pipeline.is_builtin_only();
        }
    }

    /// Returns the parsed header.
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// Returns the bytes of the header, or `None` for a short header or under the rules of Blosc
    /// 1.x. Their `cbytes` may be that of an earlier chunk.
    pub fn bytes(&self) -> Option<&[u8; EXTENDED_HEADER_LENGTH]> {
        self.bytes.as_ref()
    }

    /// Returns the number of blocks of the chunk.
    pub fn nblocks(&self) -> usize {
        self.blocking.count
    }

    /// Returns a view of the chunk, with only its header checked.
    #[inline(always)]
    pub fn view<'a>(&'a self, src: &'a [u8]) -> ChunkView<'a> {
        ChunkView::from_header(src, &self.header, self.blocking)
    }

    /// Returns the pipeline built by [`HeaderCache::prepare_pipeline`].
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

    /// Regular chunks with several filters, of one block and of many, and special chunks.
    fn chunks() -> Vec<Vec<u8>> {
        let params = CParams { typesize: 4, blocksize: 1024, ..CParams::default() };
        let data: Vec<u8> = (0..NBYTES as u32 / 4).flat_map(|i| (i * i).to_le_bytes()).collect();
        let noise: Vec<u8> =
            (0..NBYTES as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let ids = [filter::id::SHUFFLE, filter::id::BITSHUFFLE, filter::id::DELTA];
        let mut chunks: Vec<Vec<u8>> = ids
            .into_iter()
            .flat_map(|id| [(id, 1024), (id, NBYTES as i32)])
            .map(|(id, blocksize)| {
                let mut params = CParams { blocksize, ..params.clone() };
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
        chunks.push(made(|params, nbytes, dest| repeatval(params, nbytes, b"abcd", dest)));
        chunks
    }

    /// Returns the results of all reads of a chunk.
    fn read(decompressor: &mut Decompressor, chunk: &[u8]) -> (Vec<Result<usize>>, Vec<u8>) {
        let mut back = vec![0xA5; 3 * NBYTES];
        let (whole, ranges) = back.split_at_mut(2 * NBYTES);
        let (item, bytes) = ranges.split_at_mut(64);
        let results = vec![
            decompressor.decompress(chunk, whole),
            decompressor.getitem(chunk, 7, 3, item),
            decompressor.getitem_bytes(chunk, 1000, 100, bytes),
        ];
        // The content of the destination is unspecified after an error.
        if results.iter().any(Result::is_err) {
            back.clear();
        }
        (results, back)
    }

    #[test]
    fn results_do_not_depend_on_chunks_read_before() {
        let chunks = chunks();
        let mut decompressors =
            [DParams::default(), DParams { blosc1: true, ..DParams::default() }]
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
    fn changed_parameters_apply_from_the_next_chunk_on() {
        let chunk = chunks().swap_remove(0);
        let mut decompressor = Decompressor::new(DParams::default());
        for blosc1 in [false, true, false] {
            let params = DParams { blosc1, ..DParams::default() };
            decompressor.set_params(params.clone());
            let alone = read(&mut Decompressor::new(params), &chunk);
            assert_eq!(read(&mut decompressor, &chunk), alone);
        }
    }

    #[test]
    fn chunks_that_differ_only_in_length_share_a_cached_header() {
        let chunks = chunks();
        let mut longer = chunks[0].clone();
        longer.push(0);
        longer[12] += 1;
        let mut decompressor = Decompressor::new(DParams::default());
        let whole = read(&mut decompressor, &chunks[0]);
        assert_eq!(read(&mut decompressor, &longer), whole);
        longer.pop();
        assert!(read(&mut decompressor, &longer).0.iter().all(Result::is_err));
    }
}
