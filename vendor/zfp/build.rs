//! Compiles the C source in `zfp/`, serial and with 64-bit stream words, which are its defaults.

use std::path::Path;

/// The stems of the source files for each number of dimensions and scalar type.
const DIMENSIONS: [char; 4] = ['1', '2', '3', '4'];
const SCALARS: [char; 4] = ['f', 'd', 'i', 'l'];

fn main() {
    let source = Path::new("zfp/src");
    let mut build = cc::Build::new();
    build.include("zfp/include").warnings(false);
    for file in ["bitstream.c", "zfp.c"] {
        build.file(source.join(file));
    }
    for dimension in DIMENSIONS {
        for scalar in SCALARS {
            for direction in ["encode", "decode"] {
                build.file(source.join(format!("{direction}{dimension}{scalar}.c")));
            }
        }
    }
    // A slow ZFP makes slow tests: it is optimised in every profile.
    build.opt_level(3).compile("zfp");
    if std::env::var("CARGO_CFG_UNIX").is_ok() {
        println!("cargo::rustc-link-lib=m");
    }
    println!("cargo::rerun-if-changed=zfp");
}
