//! Decoding: contexts of the wrong kind, slices, masks, damaged headers.

use std::ffi::c_void;

use ferroblosc_interop::calls::Expect::{Row, Same};
use ferroblosc_interop::calls::{Case, case, check, good_chunk, lz4, ramp, text};
use ferroblosc_interop::data::digest;
use ferroblosc_interop::library::Library;

#[test]
fn contexts_of_the_wrong_kind_return_the_same_errors() {
    check(vec![
        case("compress with a decompression context", Same, |lib| {
            let mut dest = [0u8; 200];
            vec![lib.decompressor(1).compress(&ramp(100), &mut dest)]
        }),
        case("decompress with a compression context", Same, |lib| {
            let context = lib.compressor(lz4()).expect("a context");
            vec![context.decompress(&good_chunk(), &mut [0; 4000])]
        }),
        case("getitem with a compression context", Same, |lib| {
            let context = lib.compressor(lz4()).expect("a context");
            vec![context.getitem(&good_chunk(), 3, 4, &mut [0; 16])]
        }),
    ]);
}

#[test]
fn slices_outside_the_chunk_return_the_same_errors() {
    let mut cases = Vec::new();
    for (start, items) in [
        (0, 0),
        (-1, 0),
        (5000, 0),
        (0, -1),
        (0, 1),
        (999, 1),
        (1000, 0),
        (1000, 1),
        (999, 2),
        (-1, 1),
        (i32::MIN, 1),
        (i32::MAX, 1),
        (0, 1000),
        (0, 1001),
        (1, i32::MAX),
        (0, 1 << 30),
        (1 << 30, 1),
    ] {
        for destsize in [4000, 4, 0] {
            cases.push(case(
                format!("getitem({start}, {items}) into {destsize} bytes"),
                Same,
                move |lib| {
                    let chunk = good_chunk();
                    let mut dest = vec![7u8; 4000];
                    let code =
                        lib.decompressor(1).getitem(&chunk, start, items, &mut dest[..destsize]);
                    vec![code, digest(&dest) as i32]
                },
            ));
        }
        cases.push(case(format!("getitem_bytes({start}, {items})"), Same, move |lib| {
            let chunk = good_chunk();
            let mut dest = vec![7u8; 4000];
            let code = lib.decompressor(1).getitem_bytes(&chunk, start, items, &mut dest);
            vec![code, digest(&dest) as i32]
        }));
    }
    for (start, bytes) in
        [(4, 8), (4, 7), (2, 8), (4000, 0), (2, 0), (3996, 4), (3996, 8), (-4, 8), (0, 4004)]
    {
        cases.push(case(format!("getitem_bytes({start}, {bytes})"), Same, move |lib| {
            let chunk = good_chunk();
            let mut dest = vec![7u8; 5000];
            let code = lib.decompressor(1).getitem_bytes(&chunk, start, bytes, &mut dest);
            vec![code, digest(&dest) as i32]
        }));
    }
    check(cases);
}

#[test]
fn maskouts_have_the_same_results() {
    check(vec![
        case("a mask of another count fails once", Same, |lib| {
            let (chunk, mut dest) = (good_chunk(), vec![0; 4000]);
            let context = lib.decompressor(1);
            let set = context.set_maskout(&mut [true; 3]);
            let refused = context.decompress(&chunk, &mut dest);
            vec![set, refused, context.decompress(&chunk, &mut dest)]
        }),
        case("a mask is dropped by a failing call", Same, |lib| {
            let (chunk, mut dest) = (good_chunk(), vec![9; 4000]);
            let context = lib.decompressor(1);
            let set = context.set_maskout(&mut [true; 4]);
            let refused = context.decompress(&chunk[..20], &mut dest);
            let whole = context.decompress(&chunk, &mut dest);
            vec![set, refused, whole, digest(&dest) as i32]
        }),
        case("a mask applies to one call", Same, |lib| {
            let (chunk, mut dest) = (good_chunk(), vec![9; 4000]);
            let context = lib.decompressor(1);
            let set = context.set_maskout(&mut [true, false, true, false]);
            let masked = context.decompress(&chunk, &mut dest);
            let first = digest(&dest) as i32;
            let whole = context.decompress(&chunk, &mut dest);
            vec![set, masked, first, whole, digest(&dest) as i32]
        }),
        case("row C46: getitem ignores the mask", Row("C46", vec![0, 4000, 1]), |lib| {
            let chunk = good_chunk();
            let (mut whole, mut items) = (vec![0; 4000], vec![0; 4000]);
            lib.decompressor(1).decompress(&chunk, &mut whole);
            let context = lib.decompressor(1);
            let set = context.set_maskout(&mut [true; 4]);
            let code = context.getitem(&chunk, 0, 1000, &mut items);
            vec![set, code, i32::from(whole == items)]
        }),
        case("a negative count", Same, |lib| {
            let mut mask = [true];
            // SAFETY: a negative count copies nothing.
            vec![unsafe {
                (lib.blosc2_set_maskout)(lib.decompressor(1).as_ptr(), mask.as_mut_ptr(), -1)
            }]
        }),
    ]);
}

/// Changes to the header and the first stream of the good chunk.
#[test]
fn damaged_headers_return_the_same_errors() {
    fn word(value: i32) -> Vec<u8> {
        value.to_le_bytes().to_vec()
    }
    let chunk = good_chunk();
    let cbytes = chunk.len() as i32;
    let stream = i32::from_le_bytes(chunk[32..36].try_into().expect("four bytes")) as usize;
    let mut edits: Vec<(String, usize, Vec<u8>)> = Vec::new();
    for version in 0..=255u8 {
        edits.push((format!("version {version}"), 0, vec![version]));
    }
    for flags in 0..=255u8 {
        edits.push((format!("flags {flags:#x}"), 2, vec![flags]));
    }
    // Without the dictionary bit, because the chunk has no dictionary (C19, C24 and C50 apply with
    // it).
    for flags in (0..=255u8).filter(|flags| flags & 0x01 == 0) {
        edits.push((format!("flags at 31 {flags:#x}"), 31, vec![flags]));
    }
    for typesize in [0, 1, 3, 8, 255] {
        edits.push((format!("typesize {typesize}"), 3, vec![typesize]));
    }
    for nbytes in [0, 1, 3996, 3999, i32::MAX] {
        edits.push((format!("nbytes {nbytes}"), 4, word(nbytes)));
    }
    for blocksize in [0, -1, 1, 4, 536_866_817, i32::MAX, i32::MIN] {
        edits.push((format!("blocksize {blocksize}"), 8, word(blocksize)));
    }
    for size in [0, -1, 15, 16, 31, 32, cbytes - 1, cbytes + 1, i32::MAX] {
        edits.push((format!("cbytes {size}"), 12, word(size)));
    }
    for slot in 0..6 {
        for filter in [5, 31, 37, 160, 255] {
            edits.push((format!("filter {filter} in slot {slot}"), 16 + slot, vec![filter]));
        }
    }
    for flag in [0x01, 0x02, 0x80, 0xff] {
        edits.push((format!("future flag {flag:#x}"), 30, vec![flag]));
    }
    for start in [-1, 0, cbytes, i32::MAX] {
        edits.push((format!("block start {start}"), 32, word(start)));
    }
    for csize in [-256, i32::MIN, 1, 100_000, i32::MAX] {
        edits.push((format!("stream size {csize}"), stream, word(csize)));
    }
    let mut cases: Vec<Case> = edits
        .into_iter()
        .map(|(name, at, bytes)| {
            case(name, Same, move |lib| {
                let mut chunk = good_chunk();
                chunk[at..at + bytes.len()].copy_from_slice(&bytes);
                decode_codes(lib, &chunk)
            })
        })
        .collect();
    cases.push(case("nbytes -1", Row("C9", vec![-11, -11, -11]), |lib| {
        let mut chunk = good_chunk();
        chunk[4..8].copy_from_slice(&word(-1));
        decode_codes(lib, &chunk)
    }));
    // One more block, so that the first one starts in the block table.
    cases.push(case("nbytes 4001", Row("C50", vec![-6, -3, 4]), |lib| {
        let mut chunk = good_chunk();
        chunk[4..8].copy_from_slice(&word(4001));
        decode_codes(lib, &chunk)
    }));
    for len in [0, 1, 15, 16, 31, 32, 33, 47, 48, 1000] {
        cases.push(case(format!("only {len} bytes"), Same, move |lib| {
            decode_codes(lib, &good_chunk()[..len])
        }));
    }
    for extra in [1, 1000] {
        cases.push(case(format!("{extra} bytes too many"), Same, move |lib| {
            let mut chunk = good_chunk();
            chunk.resize(chunk.len() + extra, 0);
            decode_codes(lib, &chunk)
        }));
    }
    check(cases);
}

#[test]
fn damaged_headers_are_inspected_alike() {
    let mut cases = Vec::new();
    let edits: [(usize, i32); 13] = [
        (0, 0x0301_0105),
        (4, 0),
        (4, i32::MAX),
        (8, 0),
        (8, -1),
        (8, 1 << 20),
        (8, 536_866_817),
        (12, 0),
        (12, 15),
        (12, 16),
        (12, i32::MAX),
        (0, 0x0425_0100),
        (0, 0x0425_01ff),
    ];
    for (at, value) in edits {
        cases.push(case(format!("{value:#x} at {at}"), Same, move |lib| {
            let mut chunk = good_chunk();
            chunk[at..at + 4].copy_from_slice(&value.to_le_bytes());
            inspect(lib, &chunk)
        }));
    }
    let negative = || {
        let mut chunk = good_chunk();
        chunk[4..8].copy_from_slice(&(-1i32).to_le_bytes());
        chunk
    };
    cases.push(case("sizes, nbytes -1", Row("C9", vec![-11, 0, 0, 0, 0, 0, 0]), move |lib| {
        inspect(lib, &negative())[..7].to_vec()
    }));
    cases.push(case("all but sizes, nbytes -1", Same, move |lib| {
        inspect(lib, &negative())[7..].to_vec()
    }));
    for flags in 0..=255u8 {
        cases.push(case(format!("flags {flags:#x}"), Same, move |lib| {
            let mut chunk = good_chunk();
            chunk[2] = flags;
            inspect(lib, &chunk)
        }));
    }
    for cbytes in [0, 15, 16, 31, 32, 5000] {
        cases.push(case(format!("validate {cbytes} bytes"), Same, move |lib| {
            let chunk = good_chunk();
            let mut nbytes = 99;
            // SAFETY: only the header is read, and the chunk has one.
            let code = unsafe {
                (lib.blosc1_cbuffer_validate)(chunk.as_ptr().cast(), cbytes, &mut nbytes)
            };
            vec![code, nbytes as i32]
        }));
    }
    check(cases);
}

fn decode_codes(library: &Library, chunk: &[u8]) -> Vec<i32> {
    let mut dest = vec![0; 4000];
    let context = library.decompressor(1);
    let mut item = [0; 4];
    vec![
        context.decompress(chunk, &mut dest),
        context.getitem(chunk, 2, 1, &mut item),
        context.getitem_bytes(chunk, 3000, 4, &mut item),
    ]
}

/// Returns the results of the two size functions (seven values), then those of the others.
fn inspect(library: &Library, chunk: &[u8]) -> Vec<i32> {
    let chunk_start: *const c_void = chunk.as_ptr().cast();
    let (mut nbytes, mut cbytes, mut blocksize) = (99, 99, 99);
    let mut sizes = [99; 3];
    let (mut typesize, mut flags, mut version, mut versionlz, mut valid) = (99, 99, 99, 99, 99);
    // SAFETY: the chunk has a header, and the outputs are valid.
    unsafe {
        let code =
            (library.blosc2_cbuffer_sizes)(chunk_start, &mut nbytes, &mut cbytes, &mut blocksize);
        let [first, second, third] = &mut sizes;
        (library.blosc1_cbuffer_sizes)(chunk_start, first, second, third);
        (library.blosc1_cbuffer_metainfo)(chunk_start, &mut typesize, &mut flags);
        (library.blosc2_cbuffer_versions)(chunk_start, &mut version, &mut versionlz);
        let validated = (library.blosc1_cbuffer_validate)(chunk_start, chunk.len(), &mut valid);
        let complib = text((library.blosc2_cbuffer_complib)(chunk_start));
        let mut results = vec![code, nbytes, cbytes, blocksize];
        results.extend(sizes.map(|size| size as i32));
        results.extend([typesize as i32, flags, version, versionlz]);
        results.extend([validated, valid as i32, complib]);
        results
    }
}
