//! Complete chunks of the published format, written by the reference libraries. Each must decode to
//! its data, and our encoder must write the same bytes if the parameters determine them.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, SplitMode, special};
use ferroblosc::codec::id;
use ferroblosc::filter::{self, Slot};

#[path = "checks/vectors.rs"]
mod checks;

fn vector(name: &str) -> Vec<u8> {
    let found = checks::vectors().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no vector {name}")).1
}

fn decode(chunk: &[u8], nbytes: usize) -> Vec<u8> {
    let mut data = vec![0xEE; nbytes];
    let decoded = Decompressor::new(DParams::default()).decompress(chunk, &mut data);
    assert_eq!(decoded, Ok(nbytes));
    data
}

fn u32s(count: u32, step: u32) -> Vec<u8> {
    (0..count).flat_map(|i| (i * step).to_le_bytes()).collect()
}

fn lz4(typesize: i32) -> CParams {
    CParams::default().codec(id::LZ4).typesize(typesize)
}

/// Checks that our encoder writes the bytes of the vector.
fn assert_encodes(params: CParams, data: &[u8], name: &str) {
    let chunk = Compressor::new(params).unwrap().compress_to_vec(data).unwrap();
    assert_eq!(chunk, vector(name), "{name}");
    assert_eq!(decode(&vector(name), data.len()), data, "{name}");
}

#[test]
fn special_chunks_have_the_published_bytes() {
    let mut dest = [0; 64];
    let ts8 = CParams::default();
    let ts4 = CParams::default().typesize(4);
    assert_eq!(special::zeros(&ts8, 1000, &mut dest), Ok(32));
    assert_eq!(dest[..32], vector("V1"));
    assert_eq!(special::nans(&ts4, 8, &mut dest), Ok(32));
    assert_eq!(dest[..32], vector("V2"));
    assert_eq!(special::repeatval(&ts4, 1000, &[4, 3, 2, 1], &mut dest), Ok(36));
    assert_eq!(dest[..36], vector("V3"));
    let ts3 = CParams::default().typesize(3);
    assert_eq!(special::repeatval(&ts3, 9, b"abc", &mut dest), Ok(35));
    assert_eq!(dest[..35], vector("V4"));
}

#[test]
fn special_chunks_decode() {
    assert_eq!(decode(&vector("V1"), 1000), [0; 1000]);
    assert_eq!(decode(&vector("V2"), 8), [0, 0, 0xC0, 0x7F, 0, 0, 0xC0, 0x7F]);
    assert_eq!(decode(&vector("V3"), 1000), [4, 3, 2, 1].repeat(250));
    assert_eq!(decode(&vector("V4"), 9), b"abcabcabc");
    assert_eq!(decode(&vector("V20"), 256), [0; 256]);
}

#[test]
fn stored_chunks_have_the_published_bytes() {
    let data: Vec<u8> = (0..32).collect();
    assert_encodes(CParams::default().typesize(4), &data[..31], "V5");
    assert_encodes(CParams::default().typesize(4), &data, "V6");
    assert_encodes(CParams::default().typesize(4), &[], "V19");
}

#[test]
fn split_blocks_have_the_published_bytes() {
    assert_encodes(lz4(4), &u32s(64, 3), "V7");
    assert_encodes(lz4(4).blocksize(256), &u32s(75, 3), "V8");
    assert_encodes(lz4(4), &7u32.to_le_bytes().repeat(40), "V9");
}

fn three_blocks() -> Vec<u8> {
    [vec![0; 64], vec![1; 64], (0..64).collect()].concat()
}

#[test]
fn runs_have_the_published_bytes() {
    assert_encodes(lz4(1).filters(&[]).blocksize(64), &three_blocks(), "V10");
}

#[test]
fn blocks_may_be_stored_in_any_order() {
    assert_eq!(decode(&vector("V11"), 192), three_blocks());
}

#[test]
fn an_lz4_dictionary_is_decoded_as_history() {
    assert_eq!(decode(&vector("V12"), 21), b"0123456789abcdefXYZ_w");
}

#[test]
fn variable_length_blocks_decode() {
    let mut decompressor = Decompressor::new(DParams::default());
    let blocks = decompressor.vl_decompress(&vector("V13")).unwrap();
    assert_eq!(blocks, [&b"0123456789abcdefXYZ_w"[..], b"raw"]);
    let green = ["green"; 7].join("-").into_bytes();
    let blocks = decompressor.vl_decompress(&vector("V14")).unwrap();
    assert_eq!(blocks, [&b"red"[..], &green, b"b"]);
}

#[test]
fn variable_length_blocks_have_the_published_bytes() {
    let green = ["green"; 7].join("-").into_bytes();
    let mut dest = [0; 200];
    let mut compressor = Compressor::new(lz4(1)).unwrap();
    let size = compressor.vl_compress(&[b"red", &green, b"b"], &mut dest).unwrap();
    assert_eq!(dest[..size], vector("V14"));
}

#[test]
fn chunks_of_blosc_1_decode() {
    assert_eq!(decode(&vector("V15"), 256), u32s(64, 3));
    assert_eq!(decode(&vector("V16"), 16), u32s(4, 3));
    assert_eq!(decode(&vector("V17"), 64), [7; 64]);
}

#[test]
fn delta_has_the_published_bytes() {
    let data = [vec![5; 40], (0..24).collect()].concat();
    let delta = Slot { id: filter::id::DELTA, meta: 0 };
    assert_encodes(lz4(1).filters(&[delta]).blocksize(32), &data, "V18");
}

#[test]
fn never_splitting_has_the_published_bytes() {
    let chunk = Compressor::new(lz4(4).splitmode(SplitMode::NEVER))
        .unwrap()
        .compress_to_vec(&u32s(64, 3))
        .unwrap();
    assert_eq!(chunk.len(), 120);
    assert_eq!(chunk[2], 0x35);
    assert_eq!(chunk[32..42], [0x24, 0, 0, 0, 0x50, 0, 0, 0, 0xFF, 0x36]);
}

/// Returns the result of decompression as a return code.
fn code(chunk: &[u8], destsize: usize) -> Result<usize, i32> {
    let mut data = vec![0; destsize];
    let decoded = Decompressor::new(DParams::default()).decompress(chunk, &mut data);
    decoded.map_err(|error| error.code())
}

#[test]
fn filters_that_need_an_array_fail_without_one() {
    for (id, expected) in [(5, -1), (31, -1), (32, -1), (33, -1), (37, -18), (160, -18), (255, -18)]
    {
        let mut chunk = vector("V10");
        chunk[0x10] = id;
        assert_eq!(code(&chunk, 192), Err(expected), "filter {id}");
    }
}

#[test]
fn an_empty_chunk_of_nans_is_empty_for_any_item_size() {
    let mut dest = [0; 32];
    assert_eq!(special::nans(&CParams::default().typesize(1), 0, &mut dest), Ok(32));
    assert_eq!(code(&dest, 0), Ok(0));
}

#[test]
fn a_variable_length_block_shorter_than_its_size_is_invalid_data() {
    for cut in [0x48, 0x49, 0x4a] {
        let mut chunk = vector("V14");
        chunk[0x0c] = cut;
        assert_eq!(code(&chunk, 45), Err(-3), "{cut:#x}");
    }
    let mut chunk = vector("V14");
    chunk[0x0c] = 0x47;
    assert_eq!(code(&chunk, 45), Err(-11));
}

#[test]
fn blocks_longer_than_the_format_allows_are_refused_at_any_version() {
    for name in ["V7", "V15"] {
        let mut chunk = vector(name);
        chunk[8..12].copy_from_slice(&536_866_817i32.to_le_bytes());
        assert_eq!(code(&chunk, 256), Err(-11), "{name}");
        chunk[8..12].copy_from_slice(&536_866_816i32.to_le_bytes());
        assert_eq!(code(&chunk, 256), Ok(256), "{name}");
    }
}
