//! Iteration over the decompressed chunks and blocks of a super-chunk.

use super::chunks;
use super::schunk::SChunk;
use crate::Result;
use crate::chunk::ChunkHeader;
use std::iter::FusedIterator;

/// An iterator over the decompressed chunks, see [`SChunk::chunks`].
#[must_use = "iterators are lazy"]
pub struct Chunks<'a> {
    schunk: &'a SChunk,
    next: i64,
    end: i64,
}

impl Iterator for Chunks<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        (self.next < self.end).then(|| {
            self.next += 1;
            self.schunk.decompress_to_vec(self.next - 1)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next).unwrap_or(0);
        (left, Some(left))
    }

    fn nth(&mut self, n: usize) -> Option<Result<Vec<u8>>> {
        let skipped = i64::try_from(n).unwrap_or(i64::MAX);
        self.next = self.next.saturating_add(skipped).min(self.end);
        self.next()
    }
}

impl DoubleEndedIterator for Chunks<'_> {
    fn next_back(&mut self) -> Option<Result<Vec<u8>>> {
        (self.next < self.end).then(|| {
            self.end -= 1;
            self.schunk.decompress_to_vec(self.end)
        })
    }
}

impl ExactSizeIterator for Chunks<'_> {}
impl FusedIterator for Chunks<'_> {}

/// An iterator over the decompressed blocks, see [`SChunk::blocks`].
#[must_use = "iterators are lazy"]
pub struct Blocks<'a> {
    schunk: &'a SChunk,
    next_chunk: i64,
    end: i64,
    /// The chunk before `next_chunk`, if its blocks have a fixed length.
    chunk: Vec<u8>,
    /// The offset of the next block in `chunk`, and the length of its blocks.
    at: usize,
    blocksize: usize,
    /// The numbers of the next and the last variable-length block of the chunk before `next_chunk`.
    next_vl: i64,
    vl_end: i64,
}

impl Blocks<'_> {
    fn load(&mut self, nchunk: i64) -> Result<()> {
        self.chunk.clear();
        self.at = 0;
        (self.next_vl, self.vl_end) = (0, 0);
        let header = ChunkHeader::parse(&chunks::lazy_chunk(self.schunk.state(), nchunk)?)
            .map_err(|error| self.schunk.located(error.of_chunk(nchunk)))?;
        if header.vl_blocks {
            self.vl_end = header.basic.blocksize.into();
            return Ok(());
        }
        self.blocksize = usize::try_from(header.basic.blocksize).unwrap_or(0).max(1);
        chunks::decompress_to_vec(self.schunk.state(), nchunk, &mut self.chunk)
            .inspect_err(|_| self.chunk.clear())
    }
}

impl Iterator for Blocks<'_> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        loop {
            let rest = &self.chunk[self.at..];
            if !rest.is_empty() {
                let block = &rest[..rest.len().min(self.blocksize)];
                self.at += block.len();
                return Some(Ok(block.to_vec()));
            }
            if self.next_vl < self.vl_end {
                self.next_vl += 1;
                return Some(self.schunk.vl_block(self.next_chunk - 1, self.next_vl - 1));
            }
            if self.next_chunk == self.end {
                return None;
            }
            self.next_chunk += 1;
            if let Err(error) = self.load(self.next_chunk - 1) {
                return Some(Err(error));
            }
        }
    }
}

impl FusedIterator for Blocks<'_> {}

impl SChunk {
    /// Decompresses chunk `nchunk` into a new vector. Chunks of kind
    /// [`Special::Uninit`](crate::chunk::Special::Uninit) are decompressed to zeros.
    ///
    /// # Errors
    /// - the [read errors](SChunk#read-errors) and the [decompression
    ///   errors](crate::chunk::Decompressor#errors).
    pub fn decompress_to_vec(&self, nchunk: i64) -> Result<Vec<u8>> {
        let mut data = Vec::new();
        chunks::decompress_to_vec(self.state(), nchunk, &mut data)?;
        Ok(data)
    }

    /// Returns an iterator over the decompressed chunks. A chunk that cannot be read is an error
    /// item, and the iteration continues after it. The number of chunks is that at the last
    /// refresh.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    ///
    /// let mut schunk = SChunk::create(Storage::memory(), CParams::default(), DParams::default())?;
    /// schunk.append(&[1; 800])?;
    /// schunk.append(&[2; 400])?;
    /// for chunk in schunk.chunks() {
    ///     println!("{} bytes", chunk?.len());
    /// }
    /// assert_eq!(schunk.chunks().rev().next().unwrap()?, [2; 400]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// Each item has the errors of [`SChunk::decompress_to_vec`].
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks { schunk: self, next: 0, end: self.nchunks() }
    }

    /// Returns an iterator over the decompressed blocks of all chunks, the smallest parts that are
    /// compressed. It holds one chunk. If a chunk cannot be read, the error replaces its blocks,
    /// and the iteration continues after it. The number of chunks is that at the last refresh.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    ///
    /// let params = CParams::default().typesize(1).blocksize(4096);
    /// let mut schunk = SChunk::create(Storage::memory(), params, DParams::default())?;
    /// schunk.append(&[1; 10_000])?;
    /// let sizes: Vec<usize> = schunk.blocks().map(|block| block.unwrap().len()).collect();
    /// assert_eq!(sizes, [4096, 4096, 1808]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// Each item has the errors of [`SChunk::decompress_to_vec`] or [`SChunk::vl_block`].
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks {
            schunk: self,
            next_chunk: 0,
            end: self.nchunks(),
            chunk: Vec::new(),
            at: 0,
            blocksize: 1,
            next_vl: 0,
            vl_end: 0,
        }
    }

    /// Returns a parallel iterator over the decompressed chunks, like [`SChunk::chunks`], for the
    /// crate `rayon`. Its order is that of the chunks: `collect` always returns the same vector.
    ///
    /// The threads of `rayon` read one chunk each. It is decompressed by
    /// [`DParams::threads`](crate::chunk::DParams::threads) threads; 1 is best. The two kinds of
    /// threads do not wait for each other, so there are no deadlocks.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    /// use rayon::iter::ParallelIterator;
    ///
    /// let mut schunk = SChunk::create(Storage::memory(), CParams::default(), DParams::default())?;
    /// for value in 0..10 {
    ///     schunk.append(&[value; 8000])?;
    /// }
    /// let largest = schunk.par_chunks().map(|chunk| Ok(*chunk?.iter().max().unwrap()));
    /// let largest: Vec<u8> = largest.collect::<ferroblosc::Result<_>>()?;
    /// assert_eq!(largest, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// Each item has the errors of [`SChunk::decompress_to_vec`].
    #[cfg(feature = "rayon")]
    pub fn par_chunks(&self) -> impl rayon::iter::IndexedParallelIterator<Item = Result<Vec<u8>>> {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        let nchunks = usize::try_from(self.nchunks()).unwrap_or(0);
        (0..nchunks).into_par_iter().map(|nchunk| self.decompress_to_vec(nchunk as i64))
    }
}

#[cfg(test)]
mod tests {
    use crate::Result;
    use crate::chunk::{CParams, DParams};
    use crate::schunk::stream::tests::{bytes, create, of_chunks};
    use crate::schunk::{SChunk, Storage};

    #[test]
    fn chunks_are_iterated_from_both_ends() {
        let (schunk, data) = of_chunks(Storage::memory(), &[100, 100, 30]);
        let mut chunks = schunk.chunks();
        assert_eq!(chunks.len(), 3);
        assert_eq!(chunks.next_back().unwrap().unwrap(), data[200..]);
        assert_eq!(chunks.nth(1).unwrap().unwrap(), data[100..200]);
        assert!(chunks.next().is_none() && chunks.next_back().is_none());
        assert!(schunk.chunks().nth(usize::MAX).is_none());
    }

    #[test]
    fn blocks_are_iterated_in_order() {
        let data = bytes(250);
        for storage in [Storage::memory(), Storage::frame()] {
            let params = CParams::default().typesize(1).blocksize(32);
            let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
            schunk.append(&data[..100]).unwrap();
            schunk.append(&[]).unwrap();
            schunk.append(&data[100..]).unwrap();
            let blocks: Result<Vec<Vec<u8>>> = schunk.blocks().collect();
            let blocks = blocks.unwrap();
            assert!(blocks.len() > 5, "{}", blocks.len());
            assert!(blocks.iter().all(|block| (1..=32).contains(&block.len())));
            assert_eq!(blocks.concat(), data);
        }
    }

    #[test]
    fn variable_length_blocks_are_iterated_and_damage_replaces_the_blocks_of_a_chunk() {
        let params = CParams::default().typesize(1);
        let mut compressor = crate::chunk::Compressor::new(params).unwrap();
        let chunk = compressor.vl_compress_to_vec(&[b"one", b"three"]).unwrap();
        let mut schunk = create(Storage::memory());
        schunk.append_chunk(&chunk).unwrap();
        schunk.append_chunk(&chunk).unwrap();
        let blocks: Vec<Result<Vec<u8>>> = schunk.blocks().collect();
        let texts = [b"one".to_vec(), b"three".to_vec()];
        assert_eq!(blocks, texts.iter().chain(&texts).cloned().map(Ok).collect::<Vec<_>>());

        let (mut schunk, data) = of_chunks(Storage::memory(), &[1000, 1000]);
        let mut chunk = schunk.chunk(0).unwrap().to_vec();
        // The codec of the chunk is unknown.
        chunk[2] |= 0xe0;
        chunk[22] = 0xfe;
        schunk.update_chunk(0, &chunk).unwrap();
        let mut blocks = schunk.blocks();
        assert_eq!(blocks.next().unwrap().unwrap_err().chunk(), Some(0));
        let rest: Result<Vec<Vec<u8>>> = blocks.collect();
        assert_eq!(rest.unwrap().concat(), data[1000..]);
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn parallel_chunks_have_the_order_of_the_chunks() {
        use rayon::iter::{IndexedParallelIterator, ParallelIterator};
        let sizes: Vec<usize> = (1..60).collect();
        let (schunk, data) = of_chunks(Storage::frame(), &sizes);
        assert_eq!(schunk.par_chunks().len(), sizes.len());
        let read: Result<Vec<Vec<u8>>> = schunk.par_chunks().collect();
        assert_eq!(read.unwrap().concat(), data);
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn threads_of_rayon_and_of_the_pool_do_not_wait_for_each_other() {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        let params = CParams::default().typesize(1).blocksize(256).threads(4);
        let dparams = DParams::default().threads(4);
        let mut schunk = SChunk::create(Storage::memory(), params, dparams).unwrap();
        let data = bytes(20_000);
        for chunk in data.chunks(5000) {
            schunk.append(chunk).unwrap();
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        // Parallel iterators inside of parallel iterators, on a pool with few threads.
        let lens: Vec<usize> = pool.install(|| {
            let rounds = (0..50).into_par_iter();
            let read = |_| schunk.par_chunks().map(|chunk| chunk.unwrap()).collect::<Vec<_>>();
            rounds.map(read).map(|chunks| chunks.concat().len()).collect()
        });
        assert_eq!(lens, [data.len(); 50]);
    }
}
