//! The environment variables, which are read at every call: equal results from both libraries.
//!
//! Each setting runs in a child, because variables are process-wide and some change the globals
//! permanently.

use std::ffi::CString;

use ferroblosc_interop::calls::Expect::{self, Promised, Row, Same};
use ferroblosc_interop::calls::{Case, NO_CONTEXT, case, check, text};
use ferroblosc_interop::data::{Content, digest};
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, c_len};

type Settings = &'static [(&'static str, &'static str)];

/// Sets variables in the calling process, a child with one thread.
fn set(settings: Settings) {
    for (name, value) in settings {
        let name = CString::new(*name).expect("no NUL");
        let value = CString::new(*value).expect("no NUL");
        // SAFETY: two NUL-terminated strings, and no other thread reads the environment.
        unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
    }
}

/// Returns a digest of the header without its compressed size, which depends on the zlib version.
fn header(chunk: &[u8]) -> i32 {
    let len = if chunk[2] & 0x05 == 0x05 { 32 } else { 16 };
    let mut header = chunk[..len].to_vec();
    header[12..16].fill(0);
    digest(&header) as i32
}

/// Returns the sign of a chunk's size, which is equal in both libraries, or the error code.
fn sign(code: i32) -> i32 {
    code.min(1)
}

/// Calls `blosc2_compress` and `blosc2_decompress`, and reads the changed globals.
fn one_shot(library: &Library, settings: Settings, typesize: i32, doshuffle: i32) -> Vec<i32> {
    set(settings);
    let source = Content::Ramp.make(20_000, 4, 3);
    let (mut chunk, mut decoded) = (vec![0u8; 30_000], vec![0u8; 20_000]);
    // SAFETY: the length of every buffer is passed.
    unsafe {
        let size = (library.blosc2_compress)(
            5,
            doshuffle,
            typesize,
            source.as_ptr().cast(),
            c_len(&source),
            chunk.as_mut_ptr().cast(),
            c_len(&chunk),
        );
        let decompressed = if size > 0 {
            (library.blosc2_decompress)(
                chunk.as_ptr().cast(),
                size,
                decoded.as_mut_ptr().cast(),
                20_000,
            )
        } else {
            0
        };
        vec![
            sign(size),
            if size > 0 { header(&chunk) } else { 0 },
            decompressed,
            i32::from(decompressed != c_len(&source) || decoded == source),
            text((library.blosc1_get_compressor)()),
            i32::from((library.blosc2_get_nthreads)()),
            (library.blosc1_get_blocksize)(),
        ]
    }
}

/// Creates contexts, compresses and decompresses.
fn contexts(library: &Library, settings: Settings, typesize: i32) -> Vec<i32> {
    set(settings);
    let source = Content::Ramp.make(20_000, 4, 3);
    let cparams = Cparams { typesize, ..Cparams::default() };
    let Some(context) = library.compressor(cparams) else {
        return vec![NO_CONTEXT];
    };
    let mut chunk = vec![0u8; 30_000];
    let size = context.compress(&source, &mut chunk);
    let mut reported = Cparams::default();
    // SAFETY: a live context and a valid output.
    let code = unsafe { (library.blosc2_ctx_get_cparams)(context.as_ptr(), &mut reported) };
    let mut decoded = vec![0u8; 20_000];
    let decompressed = if size > 0 {
        library.decompressor(1).decompress(&chunk[..size as usize], &mut decoded)
    } else {
        0
    };
    vec![
        sign(size),
        if size > 0 { header(&chunk) } else { 0 },
        decompressed,
        i32::from(decompressed != c_len(&source) || decoded == source),
        code,
        i32::from(reported.nthreads),
        i32::from(reported.clevel),
        reported.splitmode,
    ]
}

const SETTINGS: &[Settings] = &[
    &[("BLOSC_CLEVEL", "0")],
    &[("BLOSC_CLEVEL", "9")],
    &[("BLOSC_CLEVEL", "12")],
    &[("BLOSC_CLEVEL", "-1")],
    &[("BLOSC_CLEVEL", "abc")],
    &[("BLOSC_CLEVEL", "")],
    &[("BLOSC_CLEVEL", "7x")],
    &[("BLOSC_CLEVEL", " 3")],
    &[("BLOSC_SHUFFLE", "NOSHUFFLE")],
    &[("BLOSC_SHUFFLE", "SHUFFLE")],
    &[("BLOSC_SHUFFLE", "BITSHUFFLE")],
    &[("BLOSC_SHUFFLE", "bitshuffle")],
    &[("BLOSC_SHUFFLE", "")],
    &[("BLOSC_DELTA", "1")],
    &[("BLOSC_DELTA", "0")],
    &[("BLOSC_DELTA", "2")],
    &[("BLOSC_DELTA", "yes")],
    &[("BLOSC_TYPESIZE", "1")],
    &[("BLOSC_TYPESIZE", "8")],
    &[("BLOSC_TYPESIZE", "255")],
    &[("BLOSC_TYPESIZE", "300")],
    &[("BLOSC_TYPESIZE", "0")],
    &[("BLOSC_TYPESIZE", "-8")],
    &[("BLOSC_TYPESIZE", "abc")],
    &[("BLOSC_COMPRESSOR", "blosclz")],
    &[("BLOSC_COMPRESSOR", "lz4")],
    &[("BLOSC_COMPRESSOR", "lz4hc")],
    &[("BLOSC_COMPRESSOR", "zlib")],
    &[("BLOSC_COMPRESSOR", "zstd")],
    &[("BLOSC_COMPRESSOR", "snappy")],
    &[("BLOSC_COMPRESSOR", "nothing")],
    &[("BLOSC_COMPRESSOR", "")],
    &[("BLOSC_BLOCKSIZE", "1000")],
    &[("BLOSC_BLOCKSIZE", "4096")],
    &[("BLOSC_BLOCKSIZE", "1000000")],
    &[("BLOSC_BLOCKSIZE", "0")],
    &[("BLOSC_BLOCKSIZE", "-1")],
    &[("BLOSC_BLOCKSIZE", "abc")],
    &[("BLOSC_NTHREADS", "1")],
    &[("BLOSC_NTHREADS", "4")],
    &[("BLOSC_NTHREADS", "0")],
    &[("BLOSC_NTHREADS", "-2")],
    &[("BLOSC_NTHREADS", "abc")],
    &[("BLOSC_SPLITMODE", "ALWAYS")],
    &[("BLOSC_SPLITMODE", "NEVER")],
    &[("BLOSC_SPLITMODE", "AUTO")],
    &[("BLOSC_SPLITMODE", "FORWARD_COMPAT")],
    &[("BLOSC_SPLITMODE", "always")],
    &[("BLOSC_SPLITMODE", "")],
    &[("BLOSC_NOLOCK", "1")],
    &[("BLOSC_NOLOCK", "")],
    &[("BLOSC_NOLOCK", "1"), ("BLOSC_COMPRESSOR", "lz4"), ("BLOSC_NTHREADS", "3")],
    &[("BLOSC_NOLOCK", "1"), ("BLOSC_BLOCKSIZE", "1000"), ("BLOSC_CLEVEL", "1")],
    &[("BLOSC_NOLOCK", "1"), ("BLOSC_DELTA", "1"), ("BLOSC_SHUFFLE", "NOSHUFFLE")],
    &[("BLOSC_NOLOCK", "1"), ("BLOSC_BLOSC1_COMPAT", "1")],
    &[("BLOSC_BLOSC1_COMPAT", "1")],
    &[("BLOSC_BLOSC1_COMPAT", "")],
    &[("BLOSC_BLOSC1_COMPAT", "1"), ("BLOSC_DELTA", "1"), ("BLOSC_SHUFFLE", "BITSHUFFLE")],
    &[("BLOSC_BLOSC1_COMPAT", "1"), ("BLOSC_CLEVEL", "0")],
    &[("BLOSC_COMPRESSOR", "zstd"), ("BLOSC_CLEVEL", "6"), ("BLOSC_SPLITMODE", "AUTO")],
];

#[test]
fn one_shot_calls_honour_the_environment() {
    let mut cases = Vec::new();
    for &settings in SETTINGS {
        for (typesize, doshuffle) in [(4, 1), (1, 1), (8, 2), (4, 0), (4, 7)] {
            let name =
                format!("compress with {settings:?}, typesize {typesize}, shuffle {doshuffle}");
            cases.push(case(name, Same, move |lib| one_shot(lib, settings, typesize, doshuffle)));
        }
    }
    check(cases);
}

#[test]
fn contexts_honour_the_environment() {
    let mut cases = Vec::new();
    for &settings in SETTINGS {
        for typesize in [4, 1] {
            let name = format!("contexts with {settings:?}, typesize {typesize}");
            cases.push(case(name, Same, move |lib| contexts(lib, settings, typesize)));
        }
    }
    const PLUGIN: Settings = &[("BLOSC_COMPRESSOR", "ndlz")];
    cases.push(case("contexts with a plugin codec", Promised(vec![NO_CONTEXT]), |lib| {
        contexts(lib, PLUGIN, 4)
    }));
    cases.push(case("compress with a plugin codec", Same, |lib| one_shot(lib, PLUGIN, 4, 1)));
    check(cases);
}

#[test]
fn row_c58_too_many_threads_are_ignored_by_compress() {
    let compress = |value: Settings| {
        move |library: &Library| {
            set(value);
            let (source, mut chunk) = ([7u8; 1000], [0u8; 2000]);
            // SAFETY: the lengths of both buffers are passed.
            unsafe {
                let size = (library.blosc2_compress)(
                    5,
                    1,
                    4,
                    source.as_ptr().cast(),
                    1000,
                    chunk.as_mut_ptr().cast(),
                    2000,
                );
                vec![sign(size), i32::from((library.blosc2_get_nthreads)())]
            }
        }
    };
    let ignored = || Row("C58", vec![1, 1]);
    check(vec![
        case("40000 threads", ignored(), compress(&[("BLOSC_NTHREADS", "40000")])),
        case("70000 threads", ignored(), compress(&[("BLOSC_NTHREADS", "70000")])),
    ]);
}

#[test]
fn decompression_refuses_an_invalid_thread_count() {
    let decompress = |settings: Settings| {
        move |library: &Library| {
            let (source, mut chunk, mut decoded) = ([7u8; 1000], [0u8; 2000], [0u8; 1000]);
            // SAFETY: the length of every buffer is passed.
            unsafe {
                let size = (library.blosc2_compress)(
                    5,
                    1,
                    4,
                    source.as_ptr().cast(),
                    1000,
                    chunk.as_mut_ptr().cast(),
                    2000,
                );
                set(settings);
                let dest = decoded.as_mut_ptr().cast();
                vec![
                    (library.blosc2_decompress)(chunk.as_ptr().cast(), size, dest, 1000),
                    (library.blosc1_decompress)(chunk.as_ptr().cast(), dest, 1000),
                    // This call does not read the environment.
                    (library.blosc2_getitem)(chunk.as_ptr().cast(), size, 0, 1, dest, 1000),
                    i32::from((library.blosc2_get_nthreads)()),
                ]
            }
        }
    };
    let settings: &[Settings] = &[
        &[("BLOSC_NTHREADS", "2")],
        &[("BLOSC_NTHREADS", "32768")],
        &[("BLOSC_NTHREADS", "-1")],
        &[("BLOSC_NTHREADS", "0")],
        &[("BLOSC_NTHREADS", "abc")],
        &[("BLOSC_NTHREADS", "")],
        &[("BLOSC_NTHREADS", "2"), ("BLOSC_NOLOCK", "1")],
        &[("BLOSC_NTHREADS", "-1"), ("BLOSC_NOLOCK", "1")],
    ];
    let cases =
        settings.iter().map(|&settings| case(format!("{settings:?}"), Same, decompress(settings)));
    check(cases.collect());
}

#[test]
fn row_c59_nolock_honours_typesize_and_block_size() {
    /// Compares typesize and block size of a chunk compressed without the lock.
    fn made(settings: Settings, typesize: i32, blocksize: usize, expect: Expect) -> Case {
        let name = format!("{settings:?}, typesize {typesize}, block size {blocksize}");
        case(name, expect, move |library| {
            set(settings);
            let source = Content::Ramp.make(20_000, 4, 3);
            let mut chunk = vec![0u8; 30_000];
            // SAFETY: the lengths of both buffers are passed.
            let size = unsafe {
                (library.blosc1_set_blocksize)(blocksize);
                (library.blosc2_compress)(
                    5,
                    1,
                    typesize,
                    source.as_ptr().cast(),
                    c_len(&source),
                    chunk.as_mut_ptr().cast(),
                    c_len(&chunk),
                )
            };
            let blocksize = i32::from_le_bytes(chunk[8..12].try_into().expect("four bytes"));
            vec![sign(size), i32::from(chunk[3]), blocksize]
        })
    }
    const NOLOCK: Settings = &[("BLOSC_NOLOCK", "1")];
    const REGISTERED: Settings = &[("BLOSC_NOLOCK", "1"), ("BLOSC_COMPRESSOR", "zfp_acc")];
    check(vec![
        made(NOLOCK, 4, 4096, Row("C59", vec![1, 4, 4096])),
        made(NOLOCK, 256, 4000, Row("C59", vec![1, 1, 3840])),
        made(NOLOCK, 300, 0, Row("C59", vec![1, 1, 19_800])),
        made(NOLOCK, 8, 0, Same),
        made(&[("BLOSC_COMPRESSOR", "zfp_acc")], 4, 0, Same),
        // The reference reports a NULL pointer.
        made(REGISTERED, 4, 0, Row("C59", vec![-7, 0, 0])),
    ]);
}
