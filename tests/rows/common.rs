//! Test data, short forms of compression and decompression, and hand-made chunks.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::codec::{Workspace, id};
use ferroblosc::filter::{self, Slot};

use crate::testing::GuardedBuf;

/// The codecs that can be selected by name.
pub const CODECS: [u8; 5] = [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::ZLIB, id::ZSTD];

/// The initial content of destinations.
pub const UNTOUCHED: u8 = 0xEE;

pub const SHUFFLE: Slot = slot(filter::id::SHUFFLE, 0);
pub const BITSHUFFLE: Slot = slot(filter::id::BITSHUFFLE, 0);
pub const DELTA: Slot = slot(filter::id::DELTA, 0);

pub const fn slot(id: u8, meta: u8) -> Slot {
    Slot { id, meta }
}

/// A reproducible pseudo-random sequence.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Returns incompressible bytes.
pub fn noise(len: usize) -> Vec<u8> {
    let mut random = Random::new(len as u64 + 1);
    (0..len).map(|_| random.next() as u8).collect()
}

/// Returns lines of text, suitable for codecs and dictionaries.
pub fn text(len: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    let mut lines = Vec::with_capacity(len + 64);
    while lines.len() < len {
        let (key, value) = (random.below(50), random.below(10_000));
        lines.extend(format!("{{\"station\": {key}, \"reading\": {value}}}\n").bytes());
    }
    lines.truncate(len);
    lines
}

/// Returns slowly increasing 32-bit numbers.
pub fn ramp(len: usize) -> Vec<u8> {
    (0..len.div_ceil(4) as u32).flat_map(|i| (i * 3 + 100_000).to_le_bytes()).take(len).collect()
}

/// Returns ranges of zeros, of another constant, of slow change, and of noise.
pub fn mixed(len: usize) -> Vec<u8> {
    let mut random = Random::new(len as u64 + 99);
    let mut data = Vec::with_capacity(len + 512);
    while data.len() < len {
        let stretch = 1 + random.below(400);
        let (kind, value) = (random.below(4), random.next() as u8);
        data.extend((0..stretch).map(|i| match kind {
            0 => 0,
            1 => value,
            2 => value.wrapping_add((i / 7) as u8),
            _ => random.next() as u8,
        }));
    }
    data.truncate(len);
    data
}

/// Returns parameters for LZ4 with these filters only.
pub fn lz4(typesize: i32, filters: &[Slot]) -> CParams {
    CParams::default().codec(id::LZ4).typesize(typesize).filters(filters)
}

/// Compresses into a destination that is always large enough.
pub fn compress(params: &CParams, data: &[u8]) -> Result<Vec<u8>> {
    compress_into(params, data, data.len() + 32)
}

/// Compresses into a destination of `destsize` bytes; returns an empty chunk if it does not fit.
pub fn compress_into(params: &CParams, data: &[u8], destsize: usize) -> Result<Vec<u8>> {
    let data = GuardedBuf::copy_of(data);
    let mut dest = GuardedBuf::zeroed(destsize);
    let size = Compressor::new(params.clone())?.compress(&data, &mut dest)?;
    assert!(size <= destsize);
    Ok(dest[..size].to_vec())
}

/// Decompresses into a destination that ends at inaccessible memory.
pub fn decompress(chunk: &[u8], nbytes: usize) -> Result<Vec<u8>> {
    decompress_with(DParams::default(), chunk, nbytes)
}

pub fn decompress_with(params: DParams, chunk: &[u8], nbytes: usize) -> Result<Vec<u8>> {
    let chunk = GuardedBuf::copy_of(chunk);
    let mut dest = GuardedBuf::zeroed(nbytes);
    dest.fill(UNTOUCHED);
    let size = Decompressor::new(params).decompress(&chunk, &mut dest)?;
    assert!(size <= nbytes);
    Ok(dest[..size].to_vec())
}

/// Compresses and decompresses; returns the chunk.
pub fn round_trip(params: &CParams, data: &[u8]) -> Vec<u8> {
    let chunk = compress(params, data).expect("compression");
    assert!(!chunk.is_empty(), "n + 32 bytes are always enough");
    assert!(decompress(&chunk, data.len()).as_deref() == Ok(data), "the data changed");
    chunk
}

/// Reads items with a new decompressor.
pub fn getitem(chunk: &[u8], start: i32, nitems: i32, destsize: usize) -> Result<Vec<u8>> {
    let chunk = GuardedBuf::copy_of(chunk);
    let mut dest = GuardedBuf::zeroed(destsize);
    dest.fill(UNTOUCHED);
    let size = Decompressor::new(DParams::default()).getitem(&chunk, start, nitems, &mut dest)?;
    Ok(dest[..size].to_vec())
}

/// The offsets in a chunk's header.
pub mod at {
    pub const VERSION: usize = 0;
    pub const FLAGS: usize = 2;
    pub const TYPESIZE: usize = 3;
    pub const NBYTES: usize = 4;
    pub const BLOCKSIZE: usize = 8;
    pub const CBYTES: usize = 12;
    pub const FILTERS: usize = 16;
    pub const UDCODEC: usize = 22;
    pub const FLAGS2: usize = 30;
    pub const BLOSC2_FLAGS: usize = 31;
    pub const STARTS: usize = 32;
}

/// Bits of the flags byte, including the mark of an extended header.
pub mod flags {
    pub const MEMCPYED: u8 = 0x02;
    pub const EXTENDED: u8 = 0x05;
    pub const NOT_SPLIT: u8 = 0x10;
    pub const LZ4: u8 = 1 << 5;
    pub const USE_DICT: u8 = 0x01;
    pub const LAZY: u8 = 0x08;
}

pub fn get_i32(chunk: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(chunk[at..at + 4].try_into().expect("four bytes"))
}

pub fn set_i32(chunk: &mut [u8], at: usize, value: i32) {
    chunk[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Returns the chunk with one number of its header or tables replaced.
pub fn with_i32(chunk: &[u8], at: usize, value: i32) -> Vec<u8> {
    let mut chunk = chunk.to_vec();
    set_i32(&mut chunk, at, value);
    chunk
}

/// Returns the chunk with one byte replaced.
pub fn with_byte(chunk: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut chunk = chunk.to_vec();
    chunk[at] = value;
    chunk
}

/// Returns a stored stream.
pub fn raw_stream(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as i32).to_le_bytes(), bytes].concat()
}

/// Returns a stream encoded by a built-in codec.
pub fn coded_stream(compcode: u8, bytes: &[u8]) -> Vec<u8> {
    let mut coded = vec![0; bytes.len() * 2 + 100];
    let len = Workspace::new().encode(compcode, 5, None, bytes, &mut coded).expect("encoding");
    assert!(len != 0 && len != bytes.len(), "the codec did not compress");
    raw_stream(&coded[..len])
}

/// A hand-made chunk.
#[derive(Clone)]
pub struct Made {
    pub version: u8,
    /// The flags byte; the header has 16 bytes unless both bits of [`flags::EXTENDED`] are set.
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: usize,
    pub blocksize: usize,
    /// Slots 0 to 5.
    pub filters: [Slot; 6],
    pub udcodec: u8,
    pub flags2: u8,
    pub blosc2_flags: u8,
    pub dictionary: Option<Vec<u8>>,
    /// The streams of each block.
    pub blocks: Vec<Vec<u8>>,
}

impl Made {
    /// Creates a chunk of version 5 with LZ4, without filters or splitting.
    pub fn new(typesize: u8, nbytes: usize, blocksize: usize) -> Made {
        Made {
            version: 5,
            flags: flags::EXTENDED | flags::LZ4 | flags::NOT_SPLIT,
            typesize,
            nbytes,
            blocksize,
            filters: [slot(0, 0); 6],
            udcodec: 1,
            flags2: 0,
            blosc2_flags: 0,
            dictionary: None,
            blocks: Vec::new(),
        }
    }

    /// Creates a Blosc 1.x chunk: version 2 and a header of 16 bytes.
    pub fn old(flags: u8, typesize: u8, nbytes: usize, blocksize: usize) -> Made {
        Made { version: 2, flags, ..Made::new(typesize, nbytes, blocksize) }
    }

    pub fn block(mut self, streams: &[Vec<u8>]) -> Made {
        self.blocks.push(streams.concat());
        self
    }

    /// Returns the bytes of the chunk, with its blocks in order.
    pub fn chunk(&self) -> Vec<u8> {
        let mut chunk = vec![self.version, 1, self.flags, self.typesize];
        for size in [self.nbytes, self.blocksize, 0] {
            chunk.extend((size as i32).to_le_bytes());
        }
        if self.flags & flags::EXTENDED == flags::EXTENDED {
            chunk.extend(self.filters.map(|slot| slot.id));
            chunk.extend([self.udcodec, 0]);
            chunk.extend(self.filters.map(|slot| slot.meta));
            chunk.extend([self.flags2, self.blosc2_flags]);
        }
        let starts = chunk.len();
        chunk.resize(starts + 4 * self.blocks.len(), 0);
        if let Some(dictionary) = &self.dictionary {
            chunk.extend(raw_stream(dictionary));
        }
        for (i, block) in self.blocks.iter().enumerate() {
            let start = chunk.len() as i32;
            set_i32(&mut chunk, starts + 4 * i, start);
            chunk.extend(block);
        }
        let cbytes = chunk.len() as i32;
        set_i32(&mut chunk, at::CBYTES, cbytes);
        chunk
    }
}

/// Shuffles by the definition.
pub fn shuffled(element: usize, bytes: &[u8]) -> Vec<u8> {
    let count = bytes.len() / element;
    let mut out = Vec::with_capacity(bytes.len());
    for byte in 0..element {
        out.extend((0..count).map(|i| bytes[i * element + byte]));
    }
    out.extend(&bytes[count * element..]);
    out
}

/// Bitshuffles by the definition; items beyond the last multiple of 8 are copied.
pub fn bitshuffled(typesize: usize, bytes: &[u8]) -> Vec<u8> {
    let rows = bytes.len() / typesize / 8;
    let mut out = bytes.to_vec();
    let transposed = rows * 8 * typesize;
    out[..transposed].fill(0);
    for item in 0..rows * 8 {
        for bit in 0..8 * typesize {
            let value = bytes[item * typesize + bit / 8] >> (bit % 8) & 1;
            out[bit * rows + item / 8] |= value << (item % 8);
        }
    }
    out
}
