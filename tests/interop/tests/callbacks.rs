//! Prefilters and postfilters: both libraries pass equal arguments, and use the output equally.

use std::ffi::{c_int, c_void};
use std::sync::Mutex;

use ferroblosc_interop::ffi::{Cparams, Dparams, PostfilterParams, PrefilterParams};
use ferroblosc_interop::library::{Library, c_len, ours, reference};

/// The arguments of a callback: size, typesize, offset, chunk, block, and whether the worker's
/// index was in range.
type Call = (i32, i32, i32, i64, i32, bool);

/// The record of one context's callbacks.
struct Notes {
    calls: Mutex<Vec<Call>>,
    nthreads: i32,
}

impl Notes {
    fn new(nthreads: i16) -> Notes {
        Notes { calls: Mutex::default(), nthreads: nthreads.into() }
    }

    /// Returns the calls ordered by block. A block may be requested again if its compression did
    /// not fit (row C55).
    fn sorted(self) -> Vec<Call> {
        let mut calls = self.calls.into_inner().expect("no callback panics");
        calls.sort_unstable();
        calls.dedup();
        calls
    }
}

unsafe extern "C" fn prefilter(params: *mut PrefilterParams) -> c_int {
    // SAFETY: the library passes parameters that are valid during the call; `user_data` is the
    // test's record, and the buffers have the passed sizes.
    unsafe {
        let params = &*params;
        let notes = &*params.user_data.cast::<Notes>();
        let size = params.output_size as usize;
        let input = std::slice::from_raw_parts(params.input, size);
        let output = std::slice::from_raw_parts_mut(params.output, size);
        for (to, from) in output.iter_mut().zip(input) {
            *to = from.wrapping_add(params.nblock as u8 + 1);
        }
        notes.calls.lock().expect("no callback panics").push((
            params.output_size,
            params.output_typesize,
            params.output_offset,
            params.nchunk,
            params.nblock,
            (0..notes.nthreads).contains(&params.tid),
        ));
    }
    0
}

unsafe extern "C" fn postfilter(params: *mut PostfilterParams) -> c_int {
    // SAFETY: as for `prefilter`.
    unsafe {
        let params = &*params;
        let notes = &*params.user_data.cast::<Notes>();
        let size = params.size as usize;
        let input = std::slice::from_raw_parts(params.input, size);
        let output = std::slice::from_raw_parts_mut(params.output, size);
        for (to, from) in output.iter_mut().zip(input) {
            *to = from ^ (params.offset >> 6) as u8;
        }
        notes.calls.lock().expect("no callback panics").push((
            params.size,
            params.typesize,
            params.offset,
            params.nchunk,
            params.nblock,
            (0..notes.nthreads).contains(&params.tid),
        ));
    }
    0
}

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 9 % 251) as u8).collect()
}

fn compress(library: &Library, cparams: Cparams, data: &[u8]) -> (Vec<u8>, Vec<Call>) {
    let mut notes = Notes::new(cparams.nthreads);
    // SAFETY: all zeros are valid parameters.
    let mut preparams: PrefilterParams = unsafe { std::mem::zeroed() };
    preparams.user_data = (&raw mut notes).cast();
    let context = library.compressor(Cparams {
        prefilter: prefilter as *mut c_void,
        preparams: (&raw mut preparams).cast(),
        ..cparams
    });
    let mut chunk = vec![0; data.len() + 32];
    let size = context.expect("a context").compress(data, &mut chunk);
    assert!(size > 0, "{}: {size}", library.name);
    chunk.truncate(size as usize);
    (chunk, notes.sorted())
}

fn decompress(library: &Library, nthreads: i16, chunk: &[u8], len: usize) -> (Vec<u8>, Vec<Call>) {
    let mut notes = Notes::new(nthreads);
    // SAFETY: all zeros are valid parameters.
    let mut postparams: PostfilterParams = unsafe { std::mem::zeroed() };
    postparams.user_data = (&raw mut notes).cast();
    let dparams = Dparams {
        nthreads,
        postfilter: postfilter as *mut c_void,
        postparams: (&raw mut postparams).cast(),
        ..Dparams::default()
    };
    let mut back = vec![0; len];
    // SAFETY: the parameters outlive the context, which is freed once; the buffers' lengths are
    // passed.
    let size = unsafe {
        let context = (library.blosc2_create_dctx)(dparams);
        let (src, dest) = (chunk.as_ptr().cast(), back.as_mut_ptr().cast());
        let size = (library.blosc2_decompress_ctx)(context, src, c_len(chunk), dest, c_len(&back));
        (library.blosc2_free_ctx)(context);
        size
    };
    assert_eq!(size, c_len(&back), "{}", library.name);
    (back, notes.sorted())
}

/// Returns parameters that the reference handles: at most two stages, no DELTA (rows C30, C32,
/// C33).
fn cparams() -> Vec<Cparams> {
    let mut all = Vec::new();
    for compcode in [0, 1, 5] {
        for (clevel, last) in [(5, 1), (5, 2), (1, 0), (0, 1)] {
            for (nthreads, blocksize) in [(1, 4000), (3, 4000), (1, 0)] {
                let mut filters = [0; 6];
                filters[5] = last;
                all.push(Cparams {
                    compcode,
                    clevel,
                    typesize: 4,
                    nthreads,
                    blocksize,
                    filters,
                    ..Cparams::default()
                });
            }
        }
    }
    all
}

#[test]
fn prefilters_receive_equal_arguments_and_produce_equal_chunks() {
    for cparams in cparams() {
        for len in [20, 4000, 50_000] {
            let data = data(len);
            let (own, own_calls) = compress(ours(), cparams, &data);
            let (other, other_calls) = compress(reference(), cparams, &data);
            let cell = format!("codec {} level {} {len}", cparams.compcode, cparams.clevel);
            assert_eq!(own_calls, other_calls, "{cell}");
            if cparams.nthreads == 1 {
                assert!(own == other, "{cell}: the chunks differ");
            }
            let mut expected = vec![0; len];
            let mut back = vec![0; len];
            assert_eq!(reference().decompressor(1).decompress(&own, &mut expected), c_len(&data));
            assert_eq!(ours().decompressor(1).decompress(&other, &mut back), c_len(&data));
            assert!(back == expected, "{cell}");
        }
    }
}

#[test]
fn postfilters_receive_equal_arguments_and_produce_equal_data() {
    for cparams in cparams() {
        for data in [data(20), data(50_000), vec![0; 50_000]] {
            let context = ours().compressor(cparams).expect("a context");
            let mut chunk = vec![0; data.len() + 32];
            let size = context.compress(&data, &mut chunk);
            chunk.truncate(usize::try_from(size).expect("a size"));
            let own = decompress(ours(), cparams.nthreads, &chunk, data.len());
            let other = decompress(reference(), cparams.nthreads, &chunk, data.len());
            let cell = format!("codec {} level {}", cparams.compcode, cparams.clevel);
            assert_eq!(own.1, other.1, "{cell}");
            assert!(own.0 == other.0, "{cell}");
        }
    }
}
