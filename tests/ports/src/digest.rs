//! Digests of chunks and frames, which are the same on all targets.
//!
//! Each line has a name and a digest. Lines that start with `numbers` are about filters and codecs
//! for numbers of the machine: their input is in native byte order, and the digest is that of the
//! decompressed numbers in little-endian order. All other lines are about bytes.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, HeaderForm};
use ferroblosc::codec::id as codec;
use ferroblosc::filter::{Slot, id as filter};
use ferroblosc::schunk::{SChunk, Storage};
use xxhash_rust::xxh3::Xxh3;

use crate::{Any, data};

const CODECS: [(&str, u8); 6] = [
    ("blosclz", codec::BLOSCLZ),
    ("lz4", codec::LZ4),
    ("lz4hc", codec::LZ4HC),
    ("zlib", codec::ZLIB),
    ("zstd", codec::ZSTD),
    ("snappy", codec::SNAPPY),
];
/// Pipelines of filters for bytes.
const PIPELINES: [&[u8]; 5] = [
    &[],
    &[filter::SHUFFLE],
    &[filter::BITSHUFFLE],
    &[filter::DELTA, filter::SHUFFLE],
    &[filter::SHUFFLE, filter::BYTEDELTA],
];
const TYPESIZES: [i32; 5] = [1, 2, 4, 7, 8];
/// The sizes of inputs in bytes, with the levels that compress them.
const SIZES: [(usize, &[u8]); 3] = [(1000, &[1, 9]), (20_001, &[1, 4, 9]), (150_003, &[5])];

/// Digests of one name.
struct Lines(Vec<(String, Xxh3)>);

impl Lines {
    fn add(&mut self, name: &str, bytes: &[u8]) {
        let at = self.0.iter().position(|(line, _)| line == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), Xxh3::new()));
            self.0.len() - 1
        });
        self.0[at].1.update(&(bytes.len() as u64).to_le_bytes());
        self.0[at].1.update(bytes);
    }
}

/// Adds chunks of each codec, pipeline, item size, size and level.
fn chunks(lines: &mut Lines) -> Any<()> {
    for (name, codec) in CODECS {
        for filters in PIPELINES {
            for typesize in TYPESIZES {
                // This filter processes whole items, of the size that its meta states.
                let is_of_items = |id| id == filter::BYTEDELTA;
                let meta = |id| if is_of_items(id) { typesize as u8 } else { 0 };
                let slots: Vec<Slot> =
                    filters.iter().map(|&id| Slot { id, meta: meta(id) }).collect();
                for (mut size, levels) in SIZES {
                    // With the other filters, a part of an item remains.
                    if filters.iter().any(|&id| is_of_items(id)) {
                        size -= size % typesize as usize;
                    }
                    for &level in levels {
                        let params = CParams::default().codec(codec).level(level);
                        let mut params = params.typesize(typesize).filters(&slots);
                        if codec == codec::SNAPPY {
                            params.header = HeaderForm::Blosc1;
                        }
                        for data in [data::numbers(size, u32::to_le_bytes), data::text(size)] {
                            chunk(lines, name, params.clone(), &data)?;
                        }
                    }
                }
            }
        }
        let params = CParams::default().codec(codec).typesize(4).use_dict(true);
        if matches!(codec, codec::LZ4 | codec::LZ4HC | codec::ZSTD) {
            let name = format!("{name} with dictionaries");
            for level in [1, 9] {
                let data = data::text(100_000);
                chunk(lines, &name, params.clone().level(level).blocksize(4096), &data)?;
            }
        }
    }
    Ok(())
}

/// Adds a chunk, and checks that it is decompressed.
fn chunk(lines: &mut Lines, name: &str, params: CParams, data: &[u8]) -> Any<()> {
    // Blosc 1.x has no other filters than the two shuffles.
    let is_blosc1 = params.header == HeaderForm::Blosc1;
    let chunk = match Compressor::new(params).and_then(|mut c| c.compress_to_vec(data)) {
        Err(_) if is_blosc1 => return Ok(()),
        chunk => chunk.map_err(|error| format!("{name}, {} bytes: {error}", data.len()))?,
    };
    if Decompressor::new(DParams::default()).decompress_to_vec(&chunk)? != data {
        return Err(format!("a chunk of {name} has other data").into());
    }
    lines.add(name, &chunk);
    Ok(())
}

/// Adds chunks of Blosc 1.x.
fn blosc1_chunks(lines: &mut Lines) -> Any<()> {
    for compcode in [codec::BLOSCLZ, codec::LZ4, codec::ZLIB, codec::ZSTD] {
        let mut params = CParams::default().codec(compcode).typesize(4);
        params.header = HeaderForm::Blosc1;
        chunk(lines, "blosc 1.x", params, &data::numbers(150_000, u32::to_le_bytes))?;
    }
    Ok(())
}

/// Adds frames and arrays, which are changed.
fn frames(lines: &mut Lines) -> Any<()> {
    let data = data::numbers(100_000, u32::to_le_bytes);
    for checksums in [false, true] {
        let storage = if checksums { Storage::frame().checksums() } else { Storage::frame() };
        let params = CParams::default().codec(codec::LZ4).typesize(4).threads(2);
        let mut schunk = SChunk::create(storage, params, DParams::default())?;
        schunk.add_metalayer("fixed", &[0xCD, 0x12, 0x34])?;
        for part in data.chunks(40_000) {
            schunk.append(part)?;
        }
        schunk.add_vlmetalayer("name", b"value")?;
        schunk.set_slice(9_990, 10_010, &data[..80])?;
        schunk.delete_chunk(0)?;
        lines.add("frames", &schunk.to_bytes()?);
    }
    let layout = Layout { shape: &[60, 70], chunkshape: &[30, 40], blockshape: &[8, 10] };
    for compcode in [codec::BLOSCLZ, codec::ZSTD, codec::NDLZ] {
        let typesize = if compcode == codec::NDLZ { 1 } else { 4 };
        let mut params = CParams::default().codec(compcode).typesize(typesize);
        if compcode == codec::NDLZ {
            params = params.filters(&[]);
            params.compcode_meta = 4;
        }
        let items = &data[..60 * 70 * typesize as usize];
        let dtype = if typesize == 1 { "|u1" } else { "<i4" };
        let mut array = Array::from_item_bytes(Storage::frame(), params, &layout, dtype, items)?;
        array.resize(&[70, 75], None)?;
        array.set_slice(&[3, 5], &[40, 50], &items[..37 * 45 * typesize as usize])?;
        lines.add("arrays", &array.to_bytes()?);
    }
    Ok(())
}

/// Returns native words of `word` bytes in little-endian order.
fn to_little_endian(bytes: &[u8], word: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    }
    bytes
}

/// Adds the numbers that filters and codecs for numbers return.
fn native_numbers(lines: &mut Lines) -> Any<()> {
    let doubles: Vec<u8> = data::curve(8000).iter().flat_map(|x| x.to_ne_bytes()).collect();
    let floats: Vec<u8> =
        data::curve(8000).iter().flat_map(|&x| (x as f32).to_ne_bytes()).collect();
    let integers = data::numbers(40_000, u32::to_ne_bytes);
    let words: Vec<u8> = (0..20_000_u16).flat_map(|i| (i / 3 * 7).to_ne_bytes()).collect();
    let cases: [(&str, &[u8], usize, u8, u8); 4] = [
        ("trunc_prec", &floats, 4, filter::TRUNC_PREC, 10),
        ("trunc_prec", &doubles, 8, filter::TRUNC_PREC, 20),
        ("int_trunc", &integers, 4, filter::INT_TRUNC, 12),
        ("int_trunc", &words, 2, filter::INT_TRUNC, 7),
    ];
    for (name, data, word, id, meta) in cases {
        let params = CParams::default().codec(codec::LZ4).typesize(word as i32);
        let params = params.filters(&[Slot { id, meta }, Slot { id: filter::SHUFFLE, meta: 0 }]);
        let chunk = Compressor::new(params)?.compress_to_vec(data)?;
        let back = Decompressor::new(DParams::default()).decompress_to_vec(&chunk)?;
        lines.add(&format!("numbers {name}"), &to_little_endian(&back, word));
    }
    let layout = Layout { shape: &[80, 100], chunkshape: &[40, 64], blockshape: &[16, 32] };
    for (word, data) in [(4, &floats), (8, &doubles)] {
        let order = if cfg!(target_endian = "big") { '>' } else { '<' };
        let dtype = format!("{order}f{word}");
        let plain = CParams::default().typesize(word);
        let mean = plain.clone().codec(codec::LZ4).filters(&[Slot { id: filter::NDMEAN, meta: 4 }]);
        let cell = plain.clone().codec(codec::LZ4).filters(&[Slot { id: filter::NDCELL, meta: 4 }]);
        let zfp = |id, meta| {
            let mut params = plain.clone().codec(id).filters(&[]);
            params.compcode_meta = meta;
            params
        };
        let cases = [
            ("ndmean", mean),
            ("ndcell", cell),
            ("zfp_acc", zfp(codec::ZFP_ACCURACY, -3_i8 as u8)),
            ("zfp_prec", zfp(codec::ZFP_PRECISION, 20)),
            ("zfp_rate", zfp(codec::ZFP_RATE, 40)),
        ];
        for (name, params) in cases {
            let array = Array::from_item_bytes(Storage::memory(), params, &layout, &dtype, data)?;
            let name = format!("numbers {name}");
            lines.add(&name, &to_little_endian(&array.items()?, word as usize));
            if name.contains("zfp") {
                // The streams are bytes.
                for nchunk in 0..array.schunk().nchunks() {
                    lines.add(&format!("{name} chunks"), &array.schunk().chunk(nchunk)?);
                }
            }
        }
    }
    Ok(())
}

/// Prints all digests, and one of all lines.
pub fn print() -> Any<()> {
    let mut lines = Lines(Vec::new());
    chunks(&mut lines)?;
    blosc1_chunks(&mut lines)?;
    frames(&mut lines)?;
    native_numbers(&mut lines)?;
    let mut total = Xxh3::new();
    for (name, digest) in &lines.0 {
        println!("{:016x} {name}", digest.digest());
        total.update(&digest.digest().to_le_bytes());
    }
    println!("{:016x} total", total.digest());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_d16_filters_for_numbers_use_words_of_the_machine_and_headers_are_little_endian() {
        let words: Vec<u8> = (0..1000_u32).flat_map(|i| (i * 0x0101).to_ne_bytes()).collect();
        let filters = [(filter::INT_TRUNC, 24), (filter::SHUFFLE, 0)];
        let filters = filters.map(|(id, meta)| Slot { id, meta });
        let params = CParams::default().typesize(4).filters(&filters);
        let chunk = Compressor::new(params).unwrap().compress_to_vec(&words).unwrap();
        assert_eq!(chunk[4..8], 4000_u32.to_le_bytes());
        assert_eq!(chunk[12..16], (chunk.len() as u32).to_le_bytes());
        let back = Decompressor::new(DParams::default()).decompress_to_vec(&chunk).unwrap();
        let numbers = back.as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes));
        assert!(numbers.eq((0..1000_u32).map(|i| (i * 0x0101) & !0xFF)));
    }
}
