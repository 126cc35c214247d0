//! NULL for required pointers (rows C11 and C39): an error code, not a crash.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use ferroblosc_interop::calls::Expect::{Row, Same};
use ferroblosc_interop::calls::{INVALID_PARAM, case, check, good_chunk, lz4, ramp, text};
use ferroblosc_interop::ffi::Context;

#[test]
fn row_c11_null_pointers_return_errors() {
    let null_param = || Row("C11", vec![INVALID_PARAM]);
    // SAFETY of all calls below: NULL must be detected and never dereferenced.
    let cases = vec![
        case("compress_ctx(NULL)", null_param(), |lib| {
            let (source, mut dest) = (ramp(100), [0u8; 200]);
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_compress_ctx)(
                    null_mut(),
                    source.as_ptr().cast(),
                    100,
                    dest.as_mut_ptr().cast(),
                    200,
                )
            }]
        }),
        case("compress_ctx from NULL", null_param(), |lib| {
            let (context, mut dest) = (lib.compressor(lz4()).expect("a context"), [0u8; 200]);
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_compress_ctx)(
                    context.as_ptr(),
                    null(),
                    100,
                    dest.as_mut_ptr().cast(),
                    200,
                )
            }]
        }),
        case("compress_ctx of 0 bytes from NULL", Same, |lib| {
            let (context, mut dest) = (lib.compressor(lz4()).expect("a context"), [0u8; 200]);
            // SAFETY: no byte is read.
            vec![unsafe {
                (lib.blosc2_compress_ctx)(
                    context.as_ptr(),
                    null(),
                    0,
                    dest.as_mut_ptr().cast(),
                    200,
                )
            }]
        }),
        case("compress_ctx to NULL", null_param(), |lib| {
            let (context, source) = (lib.compressor(lz4()).expect("a context"), ramp(100));
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_compress_ctx)(
                    context.as_ptr(),
                    source.as_ptr().cast(),
                    100,
                    null_mut(),
                    200,
                )
            }]
        }),
        case("decompress_ctx(NULL)", null_param(), |lib| {
            let (chunk, mut dest) = (good_chunk(), vec![0u8; 4000]);
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_decompress_ctx)(
                    null_mut(),
                    chunk.as_ptr().cast(),
                    chunk.len() as i32,
                    dest.as_mut_ptr().cast(),
                    4000,
                )
            }]
        }),
        case("decompress_ctx from NULL", null_param(), |lib| {
            let mut dest = vec![0u8; 4000];
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_decompress_ctx)(
                    lib.decompressor(1).as_ptr(),
                    null(),
                    100,
                    dest.as_mut_ptr().cast(),
                    4000,
                )
            }]
        }),
        case("decompress_ctx to NULL", null_param(), |lib| {
            let chunk = good_chunk();
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_decompress_ctx)(
                    lib.decompressor(1).as_ptr(),
                    chunk.as_ptr().cast(),
                    chunk.len() as i32,
                    null_mut(),
                    4000,
                )
            }]
        }),
        case("decompress of an empty chunk to NULL", Same, |lib| {
            let mut chunk = [0u8; 64];
            let context = lib.compressor(lz4()).expect("a context");
            let size = context.compress(&[], &mut chunk);
            // SAFETY: no byte is written.
            vec![size, unsafe {
                (lib.blosc2_decompress)(chunk.as_ptr().cast(), size, null_mut(), 0)
            }]
        }),
        case("getitem_ctx to NULL", null_param(), |lib| {
            let chunk = good_chunk();
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_getitem_ctx)(
                    lib.decompressor(1).as_ptr(),
                    chunk.as_ptr().cast(),
                    chunk.len() as i32,
                    0,
                    4,
                    null_mut(),
                    16,
                )
            }]
        }),
        case("one-shot calls with NULL", Row("C11", vec![INVALID_PARAM; 6]), |lib| {
            let mut buffer = [0u8; 200];
            let some: *mut c_void = buffer.as_mut_ptr().cast();
            // SAFETY: see above.
            unsafe {
                vec![
                    (lib.blosc2_compress)(5, 1, 4, null(), 100, some, 200),
                    (lib.blosc2_compress)(5, 1, 4, some, 100, null_mut(), 200),
                    (lib.blosc1_compress)(5, 1, 4, 100, null(), some, 200),
                    (lib.blosc2_decompress)(null(), 100, some, 200),
                    (lib.blosc1_decompress)(null(), some, 200),
                    (lib.blosc2_getitem)(null(), 100, 0, 1, some, 200),
                ]
            }
        }),
        case("maskout and parameters of NULL", Row("C11", vec![INVALID_PARAM; 3]), |lib| {
            let mut mask = [true];
            let mut cparams = lz4();
            // SAFETY: see above.
            unsafe {
                vec![
                    (lib.blosc2_set_maskout)(null_mut(), mask.as_mut_ptr(), 1),
                    (lib.blosc2_ctx_get_cparams)(null_mut(), &mut cparams),
                    (lib.blosc2_ctx_get_dparams)(null_mut(), null_mut()),
                ]
            }
        }),
        case("free_ctx(NULL)", Row("C11", vec![0]), |lib| {
            // SAFETY: see above.
            unsafe { (lib.blosc2_free_ctx)(null_mut::<Context>()) };
            vec![0]
        }),
        case("inspection of NULL", Row("C11", vec![INVALID_PARAM, INVALID_PARAM, 0]), |lib| {
            // SAFETY: see above.
            unsafe {
                (lib.blosc2_cbuffer_versions)(null(), null_mut(), null_mut());
                (lib.blosc1_cbuffer_metainfo)(null(), null_mut(), null_mut());
                (lib.blosc1_cbuffer_sizes)(null(), null_mut(), null_mut(), null_mut());
                vec![
                    (lib.blosc2_cbuffer_sizes)(null(), null_mut(), null_mut(), null_mut()),
                    (lib.blosc1_cbuffer_validate)(null(), 100, null_mut()),
                    text((lib.blosc2_cbuffer_complib)(null())),
                ]
            }
        }),
        case("cbuffer_sizes without outputs", Same, |lib| {
            let chunk = good_chunk();
            // SAFETY: NULL outputs are allowed here.
            vec![unsafe {
                (lib.blosc2_cbuffer_sizes)(
                    chunk.as_ptr().cast(),
                    null_mut(),
                    null_mut(),
                    null_mut(),
                )
            }]
        }),
        case("names that are NULL", Row("C11", vec![-1, -1]), |lib| {
            // SAFETY: see above.
            unsafe {
                vec![(lib.blosc2_compname_to_compcode)(null()), (lib.blosc1_set_compressor)(null())]
            }
        }),
        case("chunk makers to NULL", Row("C11", vec![INVALID_PARAM; 4]), |lib| {
            let value = [1u8; 4];
            // SAFETY: see above.
            unsafe {
                vec![
                    (lib.blosc2_chunk_zeros)(lz4(), 400, null_mut(), 100),
                    (lib.blosc2_chunk_nans)(lz4(), 400, null_mut(), 100),
                    (lib.blosc2_chunk_uninit)(lz4(), 400, null_mut(), 100),
                    (lib.blosc2_chunk_repeatval)(
                        lz4(),
                        400,
                        null_mut(),
                        100,
                        value.as_ptr().cast(),
                    ),
                ]
            }
        }),
        case("repeatval of NULL", null_param(), |lib| {
            let mut dest = [0u8; 100];
            // SAFETY: see above.
            vec![unsafe {
                (lib.blosc2_chunk_repeatval)(lz4(), 400, dest.as_mut_ptr().cast(), 100, null())
            }]
        }),
        case("row C39: registration of NULL", Row("C39", vec![INVALID_PARAM; 2]), |lib| {
            // SAFETY: see above.
            unsafe {
                vec![(lib.blosc2_register_codec)(null()), (lib.blosc2_register_filter)(null())]
            }
        }),
        case("raw shuffles of NULL", Row("C11", vec![INVALID_PARAM; 4]), |lib| {
            // SAFETY: see above.
            unsafe {
                vec![
                    (lib.blosc2_shuffle)(4, 64, null(), null_mut()),
                    (lib.blosc2_unshuffle)(4, 64, null(), null_mut()),
                    (lib.blosc2_bitshuffle)(4, 64, null(), null_mut()),
                    (lib.blosc2_bitunshuffle)(4, 64, null(), null_mut()),
                ]
            }
        }),
    ];
    check(cases);
}
