//! Invalid chunks: no access outside the given buffers, whatever the bytes.
//!
//! Sources and destinations end at inaccessible memory, so an access one byte after the end ends
//! the test process.

use ferroblosc::chunk::{DParams, Decompressor, SplitMode};
use ferroblosc::codec::id;
use ferroblosc::filter;

use crate::common::*;
use crate::testing::GuardedBuf;
use crate::vectors::vectors;

/// Returns chunks of all kinds, small enough for exhaustive damage.
fn small_chunks() -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    let data = [ramp(200), text(100), vec![0; 64], noise(40)].concat();
    for codec in CODECS {
        for filters in [vec![], vec![SHUFFLE], vec![DELTA, BITSHUFFLE]] {
            let params = lz4(4, &filters).codec(codec).blocksize(160).splitmode(SplitMode::ALWAYS);
            chunks.push(compress_into(&params, &data, 1000).unwrap());
        }
    }
    let mut old = Made::old(2 << 5 | flags::NOT_SPLIT | 4, 4, 96, 96);
    old = old.block(&[coded_stream(id::SNAPPY, &[7; 96])]);
    chunks.push(old.chunk());
    let mut odd = Made::new(4, 96, 96).block(&[coded_stream(id::LZ4, &[7; 96])]);
    odd.filters = [
        slot(filter::id::BYTEDELTA, 9),
        slot(filter::id::INT_TRUNC, 3),
        slot(filter::id::BYTEDELTA_BUGGY, 200),
        slot(filter::id::SHUFFLE, 255),
        slot(filter::id::TRUNC_PREC, 3),
        DELTA,
    ];
    chunks.push(odd.chunk());
    chunks.extend(vectors().map(|(_, chunk)| chunk));
    chunks
}

/// Reads a chunk with every function; all accesses must stay within the buffers.
struct Reader {
    whole: GuardedBuf,
    part: GuardedBuf,
    serial: Decompressor,
}

impl Reader {
    fn new(nbytes: usize) -> Reader {
        Reader {
            whole: GuardedBuf::zeroed(nbytes),
            part: GuardedBuf::zeroed(7 * 4),
            serial: Decompressor::new(DParams::default()),
        }
    }

    /// Returns whether the whole chunk could be read.
    fn read(&mut self, chunk: &[u8]) -> bool {
        let whole = self.serial.decompress(chunk, &mut self.whole);
        if let Ok(size) = whole {
            assert!(size <= self.whole.len());
        }
        for start in [0, 3, 60] {
            if let Ok(size) = self.serial.getitem(chunk, start, 7, &mut self.part) {
                assert!(size <= self.part.len());
            }
        }
        if let Ok(len) = self.serial.vl_block_len(chunk, 1)
            && len <= self.whole.len()
        {
            let dest = &mut self.whole[..len];
            let _ = self.serial.vl_decompress_block(chunk, 1, dest);
        }
        whole.is_ok()
    }
}

fn nbytes_of(chunk: &[u8]) -> usize {
    get_i32(chunk, at::NBYTES) as usize
}

#[test]
fn every_prefix_of_a_chunk_is_an_error() {
    for chunk in small_chunks() {
        let mut reader = Reader::new(nbytes_of(&chunk));
        for len in 0..chunk.len() {
            let prefix = GuardedBuf::copy_of(&chunk[..len]);
            assert!(!reader.read(&prefix), "{len} of {}", chunk.len());
        }
        assert!(reader.read(&chunk));
    }
}

#[test]
fn every_prefix_with_an_adjusted_size_stays_in_bounds() {
    for chunk in small_chunks() {
        let mut reader = Reader::new(nbytes_of(&chunk));
        for len in 16..chunk.len() {
            let mut prefix = GuardedBuf::copy_of(&chunk[..len]);
            set_i32(&mut prefix, at::CBYTES, len as i32);
            reader.read(&prefix);
        }
    }
}

#[test]
fn every_change_of_one_byte_stays_in_bounds() {
    for chunk in small_chunks() {
        let mut reader = Reader::new(nbytes_of(&chunk));
        let mut changed = GuardedBuf::copy_of(&chunk);
        for i in 0..chunk.len() {
            // Each bit, and the extreme signed values.
            for value in (0..8).map(|bit| chunk[i] ^ 1 << bit).chain([0, 0x7F, 0x80, 0xFF]) {
                changed[i] = value;
                reader.read(&changed);
            }
            changed[i] = chunk[i];
        }
    }
}

#[test]
fn any_number_in_a_table_stays_in_bounds() {
    for chunk in small_chunks() {
        let mut reader = Reader::new(nbytes_of(&chunk));
        let mut changed = GuardedBuf::copy_of(&chunk);
        let len = chunk.len() as i32;
        for i in (4..chunk.len() - 3).step_by(4) {
            let before = get_i32(&chunk, i);
            for value in [0, -1, 1, len, len - 1, -len, i32::MAX, i32::MIN, 32, 36, 255, -255, -256]
            {
                set_i32(&mut changed, i, value);
                reader.read(&changed);
            }
            set_i32(&mut changed, i, before);
        }
    }
}

#[test]
fn noise_after_a_valid_header_stays_in_bounds() {
    let mut random = Random::new(5);
    for chunk in small_chunks() {
        let mut reader = Reader::new(nbytes_of(&chunk));
        let mut changed = GuardedBuf::copy_of(&chunk);
        for _ in 0..40 {
            changed.copy_from_slice(&chunk);
            let from = 16 + random.below(chunk.len() - 15);
            for byte in &mut changed[from..] {
                if random.below(3) == 0 {
                    *byte = random.next() as u8;
                }
            }
            reader.read(&changed);
        }
    }
}

#[test]
fn published_chunks_with_any_byte_changed_stay_in_bounds() {
    for (name, chunk) in vectors() {
        let nbytes = nbytes_of(&chunk);
        let mut reader = Reader::new(nbytes);
        assert!(reader.read(&chunk), "{name}");
        let mut changed = GuardedBuf::copy_of(&chunk);
        for i in 0..chunk.len() {
            for value in 0..=255 {
                changed[i] = value;
                reader.read(&changed);
            }
            changed[i] = chunk[i];
        }
    }
}

/// Returns the streams of each block of a chunk whose blocks are in order.
fn blocks_of(chunk: &[u8]) -> Vec<Vec<u8>> {
    let nblocks = nbytes_of(chunk).div_ceil(get_i32(chunk, at::BLOCKSIZE) as usize);
    let start = |i: usize| {
        if i < nblocks { get_i32(chunk, at::STARTS + 4 * i) as usize } else { chunk.len() }
    };
    (0..nblocks).map(|i| chunk[start(i)..start(i + 1)].to_vec()).collect()
}

#[test]
fn blocks_may_be_stored_in_any_order() {
    let mut random = Random::new(11);
    let data = mixed(4321);
    for filters in [vec![SHUFFLE], vec![DELTA], vec![]] {
        for use_dict in [false, true] {
            let params = lz4(4, &filters).blocksize(400).use_dict(use_dict);
            let data = if use_dict { text(9000) } else { data.clone() };
            let chunk = compress(&params, &data).unwrap();
            assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
            assert_eq!(chunk[at::BLOSC2_FLAGS] & flags::USE_DICT, u8::from(use_dict));
            let blocks = blocks_of(&chunk);
            let first = get_i32(&chunk, at::STARTS) as usize;
            for _ in 0..20 {
                let mut order: Vec<usize> = (0..blocks.len()).collect();
                for i in (1..order.len()).rev() {
                    order.swap(i, random.below(i + 1));
                }
                let mut permuted = chunk[..first].to_vec();
                for i in order {
                    let start = permuted.len() as i32;
                    set_i32(&mut permuted, at::STARTS + 4 * i, start);
                    permuted.extend(&blocks[i]);
                }
                assert!(decompress(&permuted, data.len()).as_ref() == Ok(&data));
                let threads = DParams::default().threads(3);
                assert!(decompress_with(threads, &permuted, data.len()).as_ref() == Ok(&data));
                assert!(getitem(&permuted, 300, 500, 2000).as_deref() == Ok(&data[1200..3200]));
            }
        }
    }
}

#[test]
fn blocks_may_share_their_bytes() {
    let block = [ramp(100), noise(60)].concat();
    let made = Made::new(4, 160 * 5, 160).block(&[raw_stream(&block)]);
    let mut made = made;
    for _ in 0..4 {
        made.blocks.push(Vec::new());
    }
    let mut chunk = made.chunk();
    let start = get_i32(&chunk, at::STARTS);
    for i in 1..5 {
        set_i32(&mut chunk, at::STARTS + 4 * i, start);
    }
    assert_eq!(decompress(&chunk, 800), Ok(block.repeat(5)));
}

#[test]
fn a_chunk_fits_its_destination_or_is_not_written() {
    for (data, use_dict) in [
        (mixed(900), false),
        (noise(300), false),
        ([text(200), vec![0; 400], noise(100)].concat(), false),
        (text(5200), true),
    ] {
        for codec in [id::BLOSCLZ, id::LZ4, id::ZSTD] {
            let use_dict = use_dict && codec != id::BLOSCLZ;
            let params = lz4(4, &[SHUFFLE]).codec(codec).blocksize(256).use_dict(use_dict);
            let step = if use_dict { 17 } else { 1 };
            for destsize in (32..=data.len() + 32).step_by(step).chain([data.len() + 32]) {
                let chunk = compress_into(&params, &data, destsize).unwrap();
                if chunk.is_empty() {
                    assert!(destsize < data.len() + 32, "it always fits");
                } else {
                    assert!(decompress(&chunk, data.len()).as_ref() == Ok(&data));
                }
            }
        }
    }
}
