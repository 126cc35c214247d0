//! Compression: invalid parameters, and destinations of every size.

use std::ffi::{c_int, c_void};

use ferroblosc_interop::calls::Expect::{Promised, Row, Same};
use ferroblosc_interop::calls::{INVALID_PARAM, NO_CONTEXT, case, check, lz4, ramp, random};
use ferroblosc_interop::data::digest;
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::Library;

const MAX_BUFFERSIZE: usize = i32::MAX as usize - 32;

#[test]
fn compression_parameters_have_the_same_results() {
    let mut cases = Vec::new();
    for (srcsize, destsize) in [
        (i32::MAX, 8192),
        (i32::MAX - 31, 8192),
        (4096, 0),
        (4096, 16),
        (4096, 31),
        (4096, -1),
        (0, 31),
        (-5, 27),
    ] {
        cases.push(case(
            format!("compress_ctx srcsize {srcsize} destsize {destsize}"),
            Same,
            move |lib| compress_raw(lib, lz4(), srcsize, destsize),
        ));
    }
    cases.push(case("compress_ctx srcsize -5", Row("C8", vec![INVALID_PARAM]), |lib| {
        compress_raw(lib, lz4(), -5, 8192)
    }));
    for typesize in [0, -1, i32::MIN] {
        cases.push(case(
            format!("typesize {typesize}"),
            Row("C7", vec![INVALID_PARAM]),
            move |lib| compress_raw(lib, Cparams { typesize, ..lz4() }, 4096, 8192),
        ));
    }
    for typesize in [536_866_816, 536_866_817, i32::MAX] {
        cases.push(case(format!("typesize {typesize}"), Same, move |lib| {
            let cparams = Cparams { typesize, filters: [0; 6], ..lz4() };
            compress_raw(lib, cparams, 4096, 8192)
                .iter()
                .map(|code| code.signum() * (code.abs() % 64))
                .collect()
        }));
    }
    cases.push(case("blocksize -1", Row("C6", vec![INVALID_PARAM]), |lib| {
        compress_raw(lib, Cparams { blocksize: -1, ..lz4() }, 4096, 8192)
    }));
    for clevel in [10, 255] {
        cases.push(case(format!("clevel {clevel}"), Same, move |lib| {
            compress_raw(lib, Cparams { clevel, ..lz4() }, 4096, 8192)
        }));
    }
    for compcode in [0, 4] {
        for clevel in [0, 5] {
            cases.push(case(
                format!("codec {compcode} clevel {clevel} with dictionary"),
                Same,
                move |lib| {
                    compress_raw(
                        lib,
                        Cparams { compcode, clevel, use_dict: 1, ..lz4() },
                        4096,
                        8192,
                    )
                },
            ));
        }
    }
    for splitmode in [-1, 0, 5, 99] {
        cases.push(case(format!("split mode {splitmode}"), Same, move |lib| {
            compress_raw(lib, Cparams { splitmode, ..lz4() }, 4096, 8192)
        }));
    }
    for compcode in [3u8, 6, 7, 31, 41, 159, 200, 255] {
        cases.push(case(format!("codec {compcode}"), Same, move |lib| {
            round_trip(lib, Cparams { compcode, ..lz4() }, &random(4000), 5000)
        }));
        // Row C62: an unknown codec is an error only if a stream needs it.
        cases.push(case(format!("codec {compcode}, zeros"), Same, move |lib| {
            round_trip(lib, Cparams { compcode, ..lz4() }, &[0; 4000], 5000)
        }));
        cases.push(case(format!("codec {compcode}, 20 bytes"), Same, move |lib| {
            round_trip(lib, Cparams { compcode, ..lz4() }, &random(20), 100)
        }));
    }
    for id in [5u8, 6, 31, 37, 100, 159, 160, 255] {
        let expect = if id < 160 { Promised(vec![NO_CONTEXT]) } else { Same };
        cases.push(case(format!("filter {id}"), expect, move |lib| {
            round_trip(lib, Cparams { filters: [0, id, 0, 0, 0, 1], ..lz4() }, &random(4000), 5000)
        }));
    }
    for (filter, typesize, meta) in [
        (4u8, 4, 0u8),
        (4, 4, 24),
        (4, 4, 233),
        (4, 4, 23),
        (4, 2, 10),
        (4, 8, 53),
        (35, 4, 0),
        (34, 4, 0),
        (32, 4, 4),
        (33, 4, 4),
        (36, 4, 0),
        (36, 3, 4),
        (36, 4, 33),
        (36, 4, 32),
    ] {
        cases.push(case(
            format!("filter {filter} meta {meta} typesize {typesize}"),
            Same,
            move |lib| {
                let mut cparams = Cparams { typesize, filters: [0, 0, 0, 0, 0, filter], ..lz4() };
                cparams.filters_meta[5] = meta;
                round_trip(lib, cparams, &ramp(4000), 5000)[..1].to_vec()
            },
        ));
    }
    for tuner_id in [-3, 0, 1, 31, 33, 200] {
        let expect = if tuner_id > 0 { Promised(vec![NO_CONTEXT]) } else { Same };
        cases.push(case(format!("tuner {tuner_id}"), expect, move |lib| {
            round_trip(lib, Cparams { tuner_id, ..lz4() }, &ramp(4000), 5000)
        }));
    }
    for nthreads in [0, -1, 64] {
        cases.push(case(format!("{nthreads} threads"), Same, move |lib| {
            round_trip(lib, Cparams { nthreads, blocksize: 1000, ..lz4() }, &ramp(64_000), 70_000)
        }));
    }
    check(cases);
}

#[test]
fn row_c17_each_size_of_the_destination_has_the_same_result() {
    let mut cases = Vec::new();
    for compcode in [0u8, 1, 2, 4, 5] {
        for (name, source) in
            [("random", random(100)), ("ramp", ramp(100)), ("zeros", vec![0; 100])]
        {
            cases.push(case(
                format!("codec {compcode}, 100 {name} bytes, every destsize"),
                Same,
                move |lib| {
                    (32..=140)
                        .map(|destsize| {
                            round_trip(lib, Cparams { compcode, ..lz4() }, &source, destsize)[0]
                                .signum()
                        })
                        .collect()
                },
            ));
        }
    }
    check(cases);
}

#[test]
fn calls_without_a_context_return_the_same_results() {
    let compress = |clevel: c_int, doshuffle: c_int, typesize: i32, srcsize: i32, destsize: i32| {
        move |lib: &Library| {
            let (source, mut dest) = (ramp(4096), vec![0u8; 8192]);
            // SAFETY: sizes beyond the buffers are refused before any access.
            let code = unsafe {
                (lib.blosc2_compress)(
                    clevel,
                    doshuffle,
                    typesize,
                    source.as_ptr().cast(),
                    srcsize,
                    dest.as_mut_ptr().cast(),
                    destsize,
                )
            };
            let header = if code > 0 { digest(&dest[..12]) as i32 } else { 0 };
            vec![code, header]
        }
    };
    let mut cases = Vec::new();
    for (clevel, doshuffle, typesize, srcsize, destsize) in [
        (-1, 1, 4, 4096, 8192),
        (10, 1, 4, 4096, 8192),
        (256, 1, 4, 4096, 8192),
        (5, -1, 4, 4096, 8192),
        (5, 3, 4, 4096, 8192),
        (5, 1, 1, 4096, 8192),
        (5, 2, 1, 4096, 8192),
        (5, 1, 256, 4096, 8192),
        (5, 1, 300, 4096, 8192),
        (5, 1, 536_866_817, 4096, 8192),
        (5, 1, 4, 4096, 31),
        (5, 1, 4, 4096, -1),
        (5, 1, 4, 0, 32),
        (5, 1, 4, i32::MAX, 8192),
        (0, 1, 4, 4096, 4127),
        (0, 1, 4, 4096, 4128),
    ] {
        let name = format!("compress({clevel}, {doshuffle}, {typesize}, {srcsize}, {destsize})");
        cases.push(case(name, Same, compress(clevel, doshuffle, typesize, srcsize, destsize)));
    }
    cases.push(case(
        "compress typesize 0",
        Row("C7", vec![INVALID_PARAM, 0]),
        compress(5, 1, 0, 4096, 8192),
    ));
    cases.push(case(
        "compress typesize -4",
        Row("C7", vec![INVALID_PARAM, 0]),
        compress(5, 1, -4, 4096, 8192),
    ));
    cases.push(case(
        "compress srcsize -5",
        Row("C8", vec![INVALID_PARAM, 0]),
        compress(5, 1, 4, -5, 8192),
    ));
    let blosc1 = |typesize: usize, nbytes: usize, destsize: usize| {
        move |lib: &Library| {
            let (source, mut dest) = (ramp(4096), vec![0u8; 8192]);
            vec![
                // SAFETY: sizes beyond the buffers are refused, or the data fit in fewer bytes.
                unsafe {
                    (lib.blosc1_compress)(
                        5,
                        1,
                        typesize,
                        nbytes,
                        source.as_ptr().cast(),
                        dest.as_mut_ptr().cast(),
                        destsize,
                    )
                }
                .signum(),
            ]
        }
    };
    cases.push(case("blosc1_compress", Same, blosc1(4, 4096, 8192)));
    cases.push(case("blosc1_compress beyond the limit", Same, blosc1(4, MAX_BUFFERSIZE + 1, 8192)));
    cases.push(case(
        "blosc1_compress 2^32 + 4000 bytes",
        Row("C10", vec![-1]),
        blosc1(4, (1 << 32) + 4000, 8192),
    ));
    cases.push(case(
        "blosc1_compress destsize 2^32",
        Row("C10", vec![1]),
        blosc1(4, 4096, 1 << 32),
    ));
    cases.push(case(
        "blosc1_compress typesize 2^31",
        Row("C10", vec![-1]),
        blosc1(1 << 31, 4096, 8192),
    ));
    check(cases);
}

#[test]
fn special_chunks_have_the_same_bytes_or_errors() {
    let mut cases = Vec::new();
    for (nbytes, destsize) in
        [(400, 31), (400, 32), (400, 35), (400, 36), (401, 100), (0, 32), (0, 100), (i32::MAX, 100)]
    {
        cases.push(case(
            format!("special chunks of {nbytes} bytes in {destsize}"),
            Same,
            move |lib| make_specials(lib, lz4(), nbytes, destsize),
        ));
    }
    for cparams in [
        Cparams { clevel: 10, ..lz4() },
        Cparams { clevel: 0, ..lz4() },
        Cparams { use_dict: 1, ..lz4() },
        Cparams { filters: [5, 0, 0, 0, 0, 0], ..lz4() },
        Cparams { compcode: 9, ..lz4() },
        Cparams { typesize: 300, ..lz4() },
        Cparams { typesize: 255, ..lz4() },
        Cparams { typesize: 3, ..lz4() },
        Cparams { typesize: 8, blocksize: 1000, ..lz4() },
    ] {
        let name = format!(
            "special chunks, clevel {} typesize {} codec {} filters {:?}",
            cparams.clevel, cparams.typesize, cparams.compcode, cparams.filters
        );
        cases.push(case(name, Same, move |lib| make_specials(lib, cparams, 30_600, 400)));
    }
    for (row, cparams, nbytes) in [
        ("C7", Cparams { typesize: 0, ..lz4() }, 400),
        ("C7", Cparams { typesize: -4, ..lz4() }, 400),
        ("C8", lz4(), -400),
    ] {
        cases.push(case(
            format!("special chunks by row {row}"),
            Row(row, vec![INVALID_PARAM; 4]),
            move |lib| make_specials(lib, cparams, nbytes, 400).into_iter().step_by(2).collect(),
        ));
    }
    check(cases);
}

/// Compresses `source`; returns the result code and that of decompression.
fn round_trip(library: &Library, cparams: Cparams, source: &[u8], destsize: usize) -> Vec<i32> {
    let Some(context) = library.compressor(cparams) else {
        return vec![NO_CONTEXT];
    };
    let mut chunk = vec![0; destsize];
    let size = context.compress(source, &mut chunk);
    if size <= 0 {
        return vec![size];
    }
    let mut decoded = vec![0; source.len()];
    let code = library.decompressor(1).decompress(&chunk[..size as usize], &mut decoded);
    vec![size.signum(), code, i32::from(decoded == source)]
}

/// Calls `blosc2_compress_ctx` with lengths that may differ from those of the buffers.
fn compress_raw(library: &Library, cparams: Cparams, srcsize: i32, destsize: i32) -> Vec<i32> {
    let source = ramp(4096);
    let mut dest = vec![0u8; 8192];
    let context = library.compressor(cparams).expect("a context");
    // SAFETY: the sizes are refused before any access or are within the buffers; misbehaviour of
    // the reference is limited to the child.
    let code = unsafe {
        (library.blosc2_compress_ctx)(
            context.as_ptr(),
            source.as_ptr().cast(),
            srcsize,
            dest.as_mut_ptr().cast(),
            destsize,
        )
    };
    vec![code]
}

/// Calls the four functions for special chunks; returns each code and a digest of the chunk.
fn make_specials(library: &Library, cparams: Cparams, nbytes: i32, destsize: i32) -> Vec<i32> {
    let value: Vec<u8> = (0..300).map(|i| i as u8).collect();
    let mut results = Vec::new();
    for maker in 0..4 {
        let mut dest = [0u8; 500];
        let start: *mut c_void = dest.as_mut_ptr().cast();
        // SAFETY: the destination is longer than `destsize`, and the value longer than any
        // typesize.
        let code = unsafe {
            match maker {
                0 => (library.blosc2_chunk_zeros)(cparams, nbytes, start, destsize),
                1 => (library.blosc2_chunk_nans)(cparams, nbytes, start, destsize),
                2 => (library.blosc2_chunk_uninit)(cparams, nbytes, start, destsize),
                _ => (library.blosc2_chunk_repeatval)(
                    cparams,
                    nbytes,
                    start,
                    destsize,
                    value.as_ptr().cast(),
                ),
            }
        };
        results.push(code);
        results.push(if code > 0 { digest(&dest) as i32 } else { 0 });
    }
    results
}
