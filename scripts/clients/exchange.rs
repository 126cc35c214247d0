//! Writes chunks with the crate blosc-src, or reads those of another build of this program.
//!
//! usage: exchange write FILE | exchange read FILE | exchange codecs
//!
//! A chunk is written for each combination of codec, shuffle, typesize, level and data. `read`
//! computes the data again, and checks the header, the data and a range of items of each chunk.
//! `codecs` prints the library's answers for each codec.

use blosc_src::*;
use std::ffi::{CStr, c_char, c_int};
use std::io::{Read, Write};
use std::ptr::null;

const SHUFFLES: [u32; 3] = [BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE];
const TYPESIZES: [usize; 8] = [1, 2, 3, 4, 8, 12, 16, 255];
const LEVELS: [c_int; 4] = [0, 1, 5, 9];
const SIZES: [usize; 4] = [40, 1000, 30_000, 200_001];

fn names() -> [*const c_char; 6] {
    [
        BLOSC_BLOSCLZ_COMPNAME.as_ptr().cast(),
        BLOSC_LZ4_COMPNAME.as_ptr().cast(),
        BLOSC_LZ4HC_COMPNAME.as_ptr().cast(),
        BLOSC_SNAPPY_COMPNAME.as_ptr().cast(),
        BLOSC_ZLIB_COMPNAME.as_ptr().cast(),
        BLOSC_ZSTD_COMPNAME.as_ptr().cast(),
    ]
}

/// Returns data: counters with noise, or noise alone for odd seeds.
fn data(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e3779b97f4a7c15) | 1;
    (0..size.div_ceil(4))
        .flat_map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let noise = if seed % 2 == 1 { state as u32 } else { (state & 7) as u32 };
            (i as u32 * 3).wrapping_add(noise).to_le_bytes()
        })
        .take(size)
        .collect()
}

/// Calls `work` with each combination: codec, shuffle, typesize, level, data.
fn each(mut work: impl FnMut(usize, u32, usize, c_int, &[u8])) {
    let inputs: Vec<Vec<u8>> =
        SIZES.iter().flat_map(|&size| [data(size, 2), data(size, 3)]).collect();
    for codec in 0..names().len() {
        for shuffle in SHUFFLES {
            for typesize in TYPESIZES {
                for level in LEVELS {
                    inputs.iter().for_each(|input| work(codec, shuffle, typesize, level, input));
                }
            }
        }
    }
}

fn write(path: &str) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let mut count = 0;
    each(|codec, shuffle, typesize, level, input| {
        let mut chunk = vec![0u8; input.len() + BLOSC_MAX_OVERHEAD as usize];
        // SAFETY: the pointers are valid for the sizes that are passed.
        let size = unsafe {
            blosc_compress_ctx(
                level,
                shuffle as c_int,
                typesize,
                input.len(),
                input.as_ptr().cast(),
                chunk.as_mut_ptr().cast(),
                chunk.len(),
                names()[codec],
                0,
                1 + count % 3,
            )
        };
        assert!(size > 0, "codec {codec}: {size}");
        file.write_all(&(size as u32).to_le_bytes()).unwrap();
        file.write_all(&chunk[..size as usize]).unwrap();
        count += 1;
    });
    file.flush().unwrap();
    println!("{count} chunks");
}

fn read(path: &str) {
    let mut file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut count = 0;
    each(|codec, shuffle, typesize, level, input| {
        let cell = format!("{codec} {shuffle} {typesize} {level} {}", input.len());
        let mut size = [0; 4];
        file.read_exact(&mut size).unwrap();
        let mut chunk = vec![0u8; u32::from_le_bytes(size) as usize];
        file.read_exact(&mut chunk).unwrap();
        let start = chunk.as_ptr().cast();
        let (mut nbytes, mut cbytes, mut blocksize, mut items, mut flags) = (0, 0, 0, 0, 0);
        let mut back = vec![0u8; input.len()];
        // SAFETY: the pointers are valid for the sizes that are passed, and the chunk is validated.
        unsafe {
            assert_eq!(blosc_cbuffer_validate(start, chunk.len(), &mut nbytes), 0, "{cell}");
            blosc_cbuffer_sizes(start, &mut nbytes, &mut cbytes, &mut blocksize);
            assert_eq!((nbytes, cbytes), (input.len(), chunk.len()), "{cell}");
            blosc_cbuffer_metainfo(start, &mut items, &mut flags);
            assert_eq!(items, typesize, "{cell}");
            let len = back.len();
            let read = blosc_decompress_ctx(start, back.as_mut_ptr().cast(), len, 1 + count % 3);
            assert_eq!(read, input.len() as c_int, "{cell}");
            assert!(back == input, "{cell}");
            let items = input.len() / typesize;
            let (first, number) = (items / 3, items.div_ceil(5).min(items - items / 3));
            let wanted = &input[first * typesize..][..number * typesize];
            let mut part = vec![0u8; wanted.len()];
            if number > 0 {
                let read = blosc_getitem(
                    start,
                    first as c_int,
                    number as c_int,
                    part.as_mut_ptr().cast(),
                );
                assert_eq!(read, wanted.len() as c_int, "{cell}");
                assert!(part == wanted, "{cell}");
            }
        }
        count += 1;
    });
    assert_eq!(file.read(&mut [0]).unwrap(), 0);
    println!("{count} chunks");
}

fn codecs() {
    let input = [7u8; 1000];
    let mut chunk = [0u8; 1016];
    for (code, name) in names().into_iter().enumerate() {
        // SAFETY: the pointers are valid for the sizes that are passed; the names are C strings.
        unsafe {
            let mut back = null();
            let known = blosc_compcode_to_compname(code as c_int, &mut back);
            let size = blosc_compress_ctx(
                5,
                1,
                4,
                input.len(),
                input.as_ptr().cast(),
                chunk.as_mut_ptr().cast(),
                chunk.len(),
                name,
                0,
                1,
            );
            println!(
                "{:?}: number {}, name of {code} {known} {}, selected {}, compressed {}",
                CStr::from_ptr(name),
                blosc_compname_to_compcode(name),
                back.is_null(),
                blosc_set_compressor(name),
                size.min(1),
            );
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", path] => write(path),
        ["read", path] => read(path),
        ["codecs"] => codecs(),
        _ => panic!("usage: exchange write FILE | exchange read FILE | exchange codecs"),
    }
}
