//! The exported shuffle functions.

use std::ffi::c_void;

use ferroblosc_interop::calls::Expect::{Row, Same};
use ferroblosc_interop::calls::{INVALID_PARAM, case, check, random};
use ferroblosc_interop::data::digest;
use ferroblosc_interop::library::Library;

#[test]
fn row_c38_shuffle_functions_check_their_arguments() {
    type Function = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;
    type Pick = fn(&Library) -> Function;
    const FUNCTIONS: [(&str, Pick); 4] = [
        ("shuffle", |lib| lib.blosc2_shuffle),
        ("unshuffle", |lib| lib.blosc2_unshuffle),
        ("bitshuffle", |lib| lib.blosc2_bitshuffle),
        ("bitunshuffle", |lib| lib.blosc2_bitunshuffle),
    ];
    fn call(function: Function, typesize: i32, blocksize: i32) -> Vec<i32> {
        let source = random(10_000);
        let mut dest = vec![7u8; 10_000];
        // SAFETY: the buffers are longer than any accepted block size.
        let code = unsafe {
            function(typesize, blocksize, source.as_ptr().cast(), dest.as_mut_ptr().cast())
        };
        vec![code, digest(&dest) as i32]
    }
    let untouched = digest(&vec![7u8; 10_000]) as i32;
    let mut cases = Vec::new();
    for (name, function) in FUNCTIONS {
        for typesize in (1..=64).chain([100, 127, 128, 255, 256, 257, 300]) {
            for blocksize in [0, 1, 7, 8, 63, 64, 65, 500, 4096, 9999] {
                cases.push(case(format!("{name}({typesize}, {blocksize})"), Same, move |lib| {
                    call(function(lib), typesize, blocksize)
                }));
            }
        }
        for (typesize, blocksize) in [(0, 64), (-1, 64), (4, -1), (i32::MIN, 64), (4, i32::MIN)] {
            let expect = Row("C38", vec![INVALID_PARAM, untouched]);
            cases.push(case(format!("{name}({typesize}, {blocksize})"), expect, move |lib| {
                call(function(lib), typesize, blocksize)
            }));
        }
    }
    check(cases);
}
