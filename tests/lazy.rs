//! Lazy chunks: the bytes of the proxy, decoding from a source, and errors of invalid ones.

use std::sync::Arc;

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, LazySource, make_lazy};
use ferroblosc::codec::id;
use ferroblosc::io::ReadAt;
use ferroblosc::{Error, Result};

/// A frame in memory.
struct Frame(Arc<Vec<u8>>);

impl LazySource for Frame {
    fn open(&self, nchunk: i32, offset: u64) -> Result<(Arc<dyn ReadAt>, u64)> {
        if nchunk < 0 {
            return Err(Error::FileOpen);
        }
        Ok((self.0.clone(), offset))
    }
}

/// Returns a reader of lazy chunks of a frame that contains `chunk` at `offset`.
fn reader(chunk: &[u8], offset: usize, nthreads: i16) -> Decompressor {
    let frame = [&vec![0xAA; offset][..], chunk].concat();
    Decompressor::new(DParams::default().threads(nthreads).lazy(Arc::new(Frame(Arc::new(frame)))))
}

fn ramp(items: u32) -> Vec<u8> {
    (0..items).flat_map(|i| (i * 3).to_le_bytes()).collect()
}

fn noise(bytes: u32) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn compress(params: CParams, data: &[u8]) -> Vec<u8> {
    Compressor::new(params).unwrap().compress_to_vec(data).unwrap()
}

fn lz4() -> CParams {
    CParams::default().codec(id::LZ4).typesize(4)
}

#[test]
fn a_proxy_has_the_published_layout() {
    let chunk = compress(lz4().blocksize(400), &ramp(250));
    let lazy = make_lazy(&chunk[..32 + 12], 5, 0x61).unwrap();
    assert_eq!(lazy.len(), 68);
    assert_eq!(lazy[..31], chunk[..31]);
    assert_eq!(lazy[31], 0x08);
    assert_eq!(lazy[32..44], chunk[32..44]);
    assert_eq!(lazy[44..56], [5, 0, 0, 0, 0x61, 0, 0, 0, 0, 0, 0, 0]);
    let word = |at: usize| i32::from_le_bytes(lazy[at..at + 4].try_into().unwrap());
    assert_eq!(word(32) + word(56), word(36), "the first block ends at the second");
    assert_eq!(word(40) + word(64), chunk.len() as i32, "the last block ends at the chunk's end");
}

#[test]
fn row_c73_the_block_starts_of_a_stored_proxy_are_zeros() {
    let chunk = compress(lz4().level(0).blocksize(400), &ramp(250));
    let lazy = make_lazy(&chunk, 2, 479).unwrap();
    assert_eq!(lazy[32..44], [0; 12]);
    assert_eq!(lazy[56..68], [0x90, 1, 0, 0, 0x90, 1, 0, 0, 0xC8, 0, 0, 0]);
}

#[test]
fn special_chunks_are_not_lazy() {
    let chunk = compress(lz4(), &[0; 1000]);
    assert_eq!(make_lazy(&chunk, 0, 0).unwrap(), chunk);
}

#[test]
fn lazy_chunks_decode_like_stored_ones() {
    let text = b"the quick brown fox jumps over the lazy chunk ".repeat(300);
    for nthreads in [1, 3] {
        for codec in [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::ZLIB, id::ZSTD] {
            for (data, level, dict) in [
                (ramp(5000), 5, false),
                (noise(20_001), 5, false),
                (ramp(5000), 0, false),
                (text.clone(), 5, !matches!(codec, id::BLOSCLZ | id::ZLIB)),
            ] {
                let params = lz4().codec(codec).level(level).blocksize(4096).use_dict(dict);
                let chunk = compress(params.threads(nthreads), &data);
                let lazy = make_lazy(&chunk, 0, 97).unwrap();
                let mut reader = reader(&chunk, 97, nthreads);
                let mut back = vec![0; data.len()];
                assert_eq!(reader.decompress(&lazy, &mut back), Ok(data.len()));
                assert!(back == data);
                let mut part = vec![0; 4000];
                assert_eq!(reader.getitem(&lazy, 900, 1000, &mut part), Ok(4000));
                assert!(part == data[3600..7600]);
                assert_eq!(reader.getitem(&lazy, 7, 3, &mut part), Ok(12));
                assert!(part[..12] == data[28..40]);
            }
        }
    }
}

#[test]
fn row_c51_lazy_chunks_with_variable_length_blocks_decode() {
    let blocks = [&b"red"[..], &b"green-".repeat(50), b"b", &noise(300)];
    let mut chunk = vec![0; 2000];
    let mut compressor = Compressor::new(lz4().typesize(1)).unwrap();
    let size = compressor.vl_compress(&blocks, &mut chunk).unwrap();
    chunk.truncate(size);
    let lazy = make_lazy(&chunk, 3, 11).unwrap();
    let mut reader = reader(&chunk, 11, 1);
    let whole = blocks.concat();
    let mut back = vec![0; whole.len()];
    assert_eq!(reader.decompress(&lazy, &mut back), Ok(whole.len()));
    assert_eq!(back, whole);
    assert_eq!(reader.vl_decompress(&lazy).unwrap(), blocks);
    for (i, block) in blocks.iter().enumerate() {
        assert_eq!(reader.vl_block_len(&lazy, i), Ok(block.len()));
        let mut one = vec![0; block.len()];
        assert_eq!(reader.vl_decompress_block(&lazy, i, &mut one), Ok(()));
        assert_eq!(one, *block);
    }
    assert_eq!(reader.vl_block_len(&lazy, 4), Err(Error::InvalidParam));
}

#[test]
fn a_block_can_be_read_alone() {
    // Only the second block's bytes are valid; reading any others would fail.
    let data = ramp(250);
    let chunk = compress(lz4().blocksize(400), &data);
    let lazy = make_lazy(&chunk, 0, 0).unwrap();
    let start =
        |i: usize| u32::from_le_bytes(chunk[32 + 4 * i..][..4].try_into().unwrap()) as usize;
    let mut file = vec![0xFE; chunk.len()];
    file[start(1)..start(2)].copy_from_slice(&chunk[start(1)..start(2)]);
    let mut reader = reader(&file, 0, 1);
    let mut part = vec![0; 40];
    assert_eq!(reader.getitem(&lazy, 150, 10, &mut part), Ok(40));
    assert_eq!(part, data[600..640]);
    assert!(reader.getitem(&lazy, 0, 10, &mut part).is_err());
}

#[test]
fn invalid_proxies_return_the_documented_errors() {
    let data = ramp(250);
    let chunk = compress(lz4().blocksize(400), &data);
    let lazy = make_lazy(&chunk, 0, 97).unwrap();
    let mut back = vec![0; data.len()];
    let mut plain = Decompressor::new(DParams::default());
    assert_eq!(plain.decompress(&lazy, &mut back), Err(Error::InvalidParam));
    let mut reader = reader(&chunk, 97, 1);
    assert_eq!(reader.decompress(&lazy[..67], &mut back), Err(Error::ReadBuffer));
    let mut broken = |at: usize, word: i32| {
        let mut lazy = lazy.clone();
        lazy[at..at + 4].copy_from_slice(&word.to_le_bytes());
        reader.decompress(&lazy, &mut back)
    };
    assert_eq!(broken(44, -1), Err(Error::FileOpen), "no such chunk");
    assert_eq!(broken(52, -1), Err(Error::InvalidHeader), "negative offset");
    assert_eq!(broken(56, 0), Err(Error::InvalidHeader), "empty block");
    assert_eq!(broken(56, 400 + 16 + 1), Err(Error::InvalidHeader), "block too long");
    assert_eq!(broken(48, 98 + chunk.len() as i32), Err(Error::ReadBuffer), "beyond the file");
    let mut longer = lazy.clone();
    longer.resize(chunk.len() + 100, 0);
    assert_eq!(reader.decompress(&longer, &mut back), Ok(data.len()));
}
