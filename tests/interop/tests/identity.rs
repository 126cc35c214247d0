//! Equal bytes for any number of threads and at any SIMD level.
//!
//! (The differential tests check that serial chunks of BloscLZ, LZ4, LZ4HC and Zstd equal the
//! reference's.)

use ferroblosc_interop::cell::Cell;
use ferroblosc_interop::data::{Content, Random, digest};
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::isolate::{self, Outcome};
use ferroblosc_interop::library::{Library, c_len, ours};

/// Pipelines that use every kernel, alone and in sequence.
const PIPELINES: [[u8; 6]; 9] = [
    [0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 2],
    [0, 0, 0, 0, 0, 3],
    [0, 0, 0, 0, 3, 1],
    [0, 0, 0, 0, 3, 2],
    [0, 0, 0, 0, 4, 1],
    [0, 0, 0, 0, 1, 35],
    [0, 0, 0, 0, 2, 36],
];
const METAS: [u8; 6] = [0, 0, 0, 0, 7, 3];

/// Compresses with parameters and contents that together use every kernel; returns the digests.
fn chunks(library: &Library, nthreads: i16) -> Vec<u8> {
    let mut all = Vec::new();
    for filters in PIPELINES {
        for typesize in [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 32, 33, 64, 255] {
            for content in [Content::Walk, Content::Mixed] {
                let source = content.make(70_011, typesize as usize, 11);
                let cparams = Cparams {
                    compcode: 1,
                    clevel: 5,
                    typesize,
                    nthreads,
                    blocksize: 10_000,
                    filters,
                    filters_meta: if filters[4] == 4 { [0, 0, 0, 0, 7, 0] } else { METAS },
                    ..Cparams::default()
                };
                let context = library.compressor(cparams).expect("a context");
                let mut chunk = vec![0; source.len() + 32];
                let size = context.compress(&source, &mut chunk);
                all.extend_from_slice(&size.to_le_bytes());
                all.extend_from_slice(&chunk[..size.max(0) as usize]);
                if size > 0 {
                    let mut decoded = vec![0; source.len()];
                    let chunk = &chunk[..size as usize];
                    let code = library.decompressor(nthreads).decompress(chunk, &mut decoded);
                    assert_eq!(code, c_len(&source), "filters {filters:?}, typesize {typesize}");
                    all.extend_from_slice(&decoded);
                }
            }
        }
    }
    all
}

/// Returns the output of the exported shuffle functions for every typesize and many lengths.
fn raw_shuffles(library: &Library) -> Vec<u8> {
    let source = Content::Random.make(3000, 1, 1);
    let mut dest = vec![0u8; source.len()];
    let mut all = Vec::new();
    for function in [
        library.blosc2_shuffle,
        library.blosc2_unshuffle,
        library.blosc2_bitshuffle,
        library.blosc2_bitunshuffle,
    ] {
        for typesize in 1..=256 {
            for blocksize in [1, 8, 63, 64, 65, 127, 500, 1023, 2048, 3000] {
                // SAFETY: both buffers are at least as long as the longest block.
                let code = unsafe {
                    function(typesize, blocksize, source.as_ptr().cast(), dest.as_mut_ptr().cast())
                };
                assert_eq!(code, blocksize);
                all.extend_from_slice(&dest[..blocksize as usize]);
            }
        }
    }
    all
}

#[test]
fn row_d8_every_simd_level_returns_the_same_bytes() {
    ours();
    let run = |level: Option<&'static std::ffi::CStr>| {
        isolate::once(|| {
            if let Some(level) = level {
                // SAFETY: two NUL-terminated strings, in a child with one thread that has not yet
                // called the library.
                unsafe { libc::setenv(c"FERROBLOSC_SIMD".as_ptr(), level.as_ptr(), 1) };
            }
            Ok(vec![digest(&chunks(ours(), 1)), digest(&raw_shuffles(ours()))])
        })
    };
    let generic = run(Some(c"generic"));
    assert!(matches!(generic, Outcome::Values(_)), "{generic:?}");
    for level in [c"sse2", c"avx2", c"avx512", c"neon"] {
        assert_eq!(run(Some(level)), generic, "level {level:?}");
    }
    assert_eq!(run(None), generic, "the level of this machine");
}

#[test]
fn row_d8_row_c18_any_thread_count_returns_the_same_bytes() {
    ours();
    let run = |nthreads: i16| isolate::once(|| Ok(vec![digest(&chunks(ours(), nthreads))]));
    let serial = run(1);
    assert!(matches!(serial, Outcome::Values(_)), "{serial:?}");
    for nthreads in 2..=8 {
        assert_eq!(run(nthreads), serial, "{nthreads} threads");
    }
}

#[test]
fn row_d8_random_cells_have_the_same_bytes_for_one_to_eight_threads() {
    ours();
    let mut random = Random::new(8);
    let cells: Vec<Cell> = (0..60).map(|_| Cell::random(&mut random)).collect();
    let outcomes = isolate::each(cells.len(), |index| {
        let serial = cells[index].compress_with(ours(), 1);
        for nthreads in 2..=8 {
            if cells[index].compress_with(ours(), nthreads) != serial {
                return Err(format!("{nthreads} threads change the bytes"));
            }
        }
        Ok(Vec::new())
    });
    for (cell, outcome) in cells.iter().zip(outcomes) {
        assert_eq!(outcome, Outcome::Values(Vec::new()), "{cell}");
    }
}

/// Returns sources of several sizes and kinds.
fn sources(typesize: usize) -> Vec<Vec<u8>> {
    [
        (Content::Walk, 70_000),
        (Content::Random, 1000),
        (Content::Zeros, 5000),
        (Content::Text, 0),
        (Content::Mixed, 300_000),
        (Content::Sorted, 40),
        (Content::Walk, 70_000),
    ]
    .into_iter()
    .map(|(content, len)| content.make(len, typesize, 2))
    .collect()
}

#[test]
fn row_c1_row_c2_the_chunks_of_a_context_do_not_depend_on_earlier_ones() {
    ours();
    let mut random = Random::new(12);
    let cells: Vec<Cell> = (0..150).map(|_| Cell::random(&mut random)).collect();
    let outcomes = isolate::each(cells.len(), |index| {
        let cparams = cells[index].cparams();
        let used = ours().compressor(cparams).ok_or("no context")?;
        for (number, source) in sources(cells[index].typesize()).iter().enumerate() {
            let fresh = ours().compressor(cparams).ok_or("no context")?;
            let mut chunks = [vec![0; source.len() + 5000], vec![0; source.len() + 5000]];
            let sizes =
                [used.compress(source, &mut chunks[0]), fresh.compress(source, &mut chunks[1])];
            if sizes[0] != sizes[1] || chunks[0] != chunks[1] {
                return Err(format!("source {number}: {} instead of {}", sizes[0], sizes[1]));
            }
        }
        Ok(Vec::new())
    });
    for (cell, outcome) in cells.iter().zip(outcomes) {
        assert_eq!(outcome, Outcome::Values(Vec::new()), "{cell}");
    }
}

#[test]
fn a_context_decodes_chunks_of_every_kind_in_sequence() {
    ours();
    let outcome = isolate::once(|| {
        let mut random = Random::new(13);
        let context = ours().decompressor(2);
        for _ in 0..150 {
            let cell = Cell::random(&mut random);
            let Some(compressor) = ours().compressor(cell.cparams()) else {
                continue;
            };
            for source in sources(cell.typesize()) {
                let mut chunk = vec![0; source.len() + 32];
                let size = compressor.compress(&source, &mut chunk);
                if size < 0 {
                    continue;
                }
                let chunk = &chunk[..size as usize];
                let (mut decoded, mut expected) = (vec![0; source.len()], vec![1; source.len()]);
                let code = context.decompress(chunk, &mut decoded);
                let wanted = ours().decompressor(1).decompress(chunk, &mut expected);
                if (code, &decoded) != (wanted, &expected) {
                    return Err(format!("{cell}: {code} instead of {wanted}"));
                }
                // A failed call in between must not affect later ones.
                context.decompress(&chunk[..chunk.len() / 2], &mut decoded);
            }
        }
        Ok(Vec::new())
    });
    assert_eq!(outcome, Outcome::Values(Vec::new()));
}
