//! Names, global settings, registration.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use ferroblosc_interop::calls::Expect::{Row, Same};
use ferroblosc_interop::calls::{case, check, ramp, text};
use ferroblosc_interop::ffi::{Codec, Filter};

#[test]
fn names_and_global_settings_are_the_same() {
    let mut cases = Vec::new();
    for name in [
        c"blosclz",
        c"lz4",
        c"lz4hc",
        c"snappy",
        c"zlib",
        c"zstd",
        c"ndlz",
        c"zfp_acc",
        c"zfp_prec",
        c"zfp_rate",
        c"openhtj2k",
        c"grok",
        c"openzl",
        c"j2k",
        c"htj2k",
        c"LZ4",
        c"",
        c"lz4 ",
    ] {
        cases.push(case(format!("compname_to_compcode({name:?})"), Same, move |lib| {
            // SAFETY: a NUL-terminated name.
            vec![unsafe { (lib.blosc2_compname_to_compcode)(name.as_ptr()) }]
        }));
    }
    cases.push(case("compcode_to_compname", Same, |lib| {
        (-2..=256)
            .flat_map(|code| {
                let mut name = null();
                // SAFETY: a valid output, which the call sets to NULL or a name.
                unsafe { [(lib.blosc2_compcode_to_compname)(code, &mut name), text(name)] }
            })
            .collect()
    }));
    for name in [c"blosclz", c"lz4", c"lz4hc", c"zlib", c"zstd", c"ndlz"] {
        cases.push(case(format!("get_complib_info({name:?})"), Same, move |lib| {
            let (mut complib, mut version) = (null_mut(), null_mut());
            // SAFETY: a NUL-terminated name, valid outputs.
            let code =
                unsafe { (lib.blosc2_get_complib_info)(name.as_ptr(), &mut complib, &mut version) };
            // SAFETY: the outputs are NULL or strings that the caller frees with `free`.
            unsafe {
                let result = vec![code, text(complib), i32::from(version.is_null())];
                libc::free(complib.cast());
                libc::free(version.cast());
                result
            }
        }));
    }
    cases.push(case("get_complib_info of an unknown name", Row("C12", vec![-1, 0, 0]), |lib| {
        let mut kept = 0;
        let junk: *mut c_char = std::ptr::from_mut(&mut kept);
        let (mut complib, mut version) = (junk, junk);
        // SAFETY: a NUL-terminated name, valid outputs.
        let code = unsafe {
            (lib.blosc2_get_complib_info)(c"nothing".as_ptr(), &mut complib, &mut version)
        };
        vec![code, i32::from(!complib.is_null()), i32::from(!version.is_null())]
    }));
    cases.push(case(
        "row C13: an unknown compressor poisons the global until a valid one",
        Same,
        |lib| {
            let (source, mut dest) = (ramp(400), [0u8; 500]);
            let mut compress = || {
                // SAFETY: the lengths of both buffers are passed.
                unsafe {
                    (lib.blosc2_compress)(
                        5,
                        1,
                        4,
                        source.as_ptr().cast(),
                        400,
                        dest.as_mut_ptr().cast(),
                        500,
                    )
                }
                .signum()
            };
            // SAFETY: NUL-terminated names.
            unsafe {
                let initial = text((lib.blosc1_get_compressor)());
                let plugin = (lib.blosc1_set_compressor)(c"ndlz".as_ptr());
                let kept = text((lib.blosc1_get_compressor)());
                let unknown = (lib.blosc1_set_compressor)(c"nothing".as_ptr());
                let poisoned = text((lib.blosc1_get_compressor)());
                let failing = compress();
                let valid = (lib.blosc1_set_compressor)(c"zstd".as_ptr());
                vec![initial, plugin, kept, unknown, poisoned, failing, valid, compress()]
            }
        },
    ));
    cases.push(case("set_nthreads", Same, |lib| {
        // SAFETY: the calls have no preconditions.
        unsafe {
            let mut results = vec![i32::from((lib.blosc2_get_nthreads)())];
            for threads in [0, -1, i16::MIN, 3] {
                results.push(i32::from((lib.blosc2_set_nthreads)(threads)));
            }
            results.push(i32::from((lib.blosc2_get_nthreads)()));
            results.push(i32::from((lib.blosc2_set_nthreads)(1)));
            results
        }
    }));
    cases.push(case("block size: initially 0, kept by destroy", Same, |lib| {
        // SAFETY: the calls have no preconditions.
        unsafe {
            let first = (lib.blosc1_get_blocksize)();
            (lib.blosc1_set_blocksize)(1234);
            (lib.blosc2_init)();
            (lib.blosc2_destroy)();
            vec![first, (lib.blosc1_get_blocksize)()]
        }
    }));
    cases.push(case("free_resources after init, and after destroy", Same, |lib| {
        // SAFETY: the calls have no preconditions.
        unsafe {
            (lib.blosc2_init)();
            let alive = (lib.blosc2_free_resources)();
            (lib.blosc2_destroy)();
            vec![alive, (lib.blosc2_free_resources)()]
        }
    }));
    cases.push(case("free_resources before init", Row("D7", vec![-1]), |lib| {
        // SAFETY: the call has no preconditions.
        vec![unsafe { (lib.blosc2_free_resources)() }]
    }));
    cases.push(case("error texts", Same, |lib| {
        // SAFETY: the calls have no preconditions.
        (-60..=5).map(|code| unsafe { text((lib.blosc2_error_string)(code)) }).collect()
    }));
    cases.push(case("version and list of compressors", Same, |lib| {
        // SAFETY: the calls have no preconditions.
        unsafe {
            vec![text((lib.blosc2_get_version_string)()), text((lib.blosc2_list_compressors)())]
        }
    }));
    cases.push(case("defaults", Same, |lib| {
        // SAFETY: the calls have no preconditions.
        let (c, d) = unsafe {
            ((lib.blosc2_get_blosc2_cparams_defaults)(), (lib.blosc2_get_blosc2_dparams_defaults)())
        };
        let mut results = vec![
            i32::from(c.compcode),
            i32::from(c.clevel),
            c.use_dict,
            c.typesize,
            i32::from(c.nthreads),
        ];
        results.extend([c.blocksize, c.splitmode, c.tuner_id, i32::from(c.instr_codec)]);
        results.extend(c.filters.iter().chain(&c.filters_meta).map(|&byte| i32::from(byte)));
        results.extend([i32::from(d.nthreads), d.typesize]);
        results
    }));
    check(cases);
}

#[test]
fn registration_returns_the_same_results() {
    fn codec(compcode: u8, compname: &'static CStr) -> Codec {
        Codec {
            compcode,
            compname: compname.as_ptr(),
            complib: compcode,
            version: 1,
            encoder: refuse as *mut c_void,
            decoder: refuse as *mut c_void,
        }
    }
    fn filter(id: u8, name: &'static CStr) -> Filter {
        Filter {
            id,
            name: name.as_ptr(),
            version: 1,
            forward: refuse as *mut c_void,
            backward: refuse as *mut c_void,
        }
    }
    check(vec![
        case("codecs", Same, |lib| {
            [(0, c"a"), (32, c"a"), (159, c"a"), (160, c"a"), (160, c"a"), (160, c"b"), (255, c"a")]
                .into_iter()
                // SAFETY: a valid struct whose strings are static.
                .map(|(id, name)| unsafe { (lib.blosc2_register_codec)(&codec(id, name)) })
                .collect()
        }),
        case("filters", Same, |lib| {
            [(1, c"a"), (159, c"a"), (160, c"a"), (160, c"a"), (160, c"b"), (255, c"a")]
                .into_iter()
                // SAFETY: a valid struct whose strings are static.
                .map(|(id, name)| unsafe { (lib.blosc2_register_filter)(&filter(id, name)) })
                .collect()
        }),
        case("row C14: destroy and init discard user codecs", Same, |lib| {
            // SAFETY: a valid struct whose strings are static; a NUL-terminated name.
            unsafe {
                let registered = (lib.blosc2_register_codec)(&codec(200, c"mine"));
                let known = (lib.blosc2_compname_to_compcode)(c"mine".as_ptr());
                (lib.blosc2_init)();
                (lib.blosc2_destroy)();
                (lib.blosc2_init)();
                vec![registered, known, (lib.blosc2_compname_to_compcode)(c"mine".as_ptr())]
            }
        }),
    ]);
}

/// Serves as a placeholder for the functions of a codec or filter; no test calls it.
const unsafe extern "C" fn refuse() -> c_int {
    0
}
