//! Compiles the C source in `zfp/`, serial and with 64-bit stream words, which are its defaults.
//!
//! ZFP shifts single bits in and out of words, and x86-64 needs three instructions for a shift by a
//! variable number without BMI2. So on x86-64 the source is compiled twice: for CPUs with BMI2,
//! with the optimisations that make it fast, and a smaller copy for older CPUs. All functions of
//! the first copy have names with [`SUFFIX`]. `src/lib.rs` selects the copy.

use std::path::Path;
use std::{env, fs};

/// The stems of the source files for each number of dimensions and scalar type.
const DIMENSIONS: [char; 4] = ['1', '2', '3', '4'];
const SCALARS: [char; 2] = ['f', 'd'];

const SUFFIX: &str = "_bmi2";
const BMI2: [&str; 3] = ["-mbmi", "-mbmi2", "-mlzcnt"];
/// Checks of the stack, and of branch targets if the CPU has them. `.cargo/config.toml` sets the
/// first for all C codecs; here they hold for users of the crate too.
const HARDENING: [&str; 2] = ["-fstack-protector-strong", "-fcf-protection"];
/// Coefficients of damaged streams overflow in ZFP's signed arithmetic, which is undefined in C
/// without this option. Their values do not matter.
const OVERFLOW: &str = "-fwrapv";
/// The loops over bits are short and unpredictable: unrolling them helps, and values that the
/// compiler computes ahead cost registers.
const TUNING: [&str; 2] = ["-funroll-loops", "-fno-tree-pre"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(zfp_bmi2)");
    let is_x86_64 = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64");
    let has_bmi2 = is_x86_64 && BMI2.iter().all(|flag| has_flag(&arrays(), flag));
    if has_bmi2 {
        let renames = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("renames.h");
        let header = fs::read_to_string("zfp/include/zfp.h").expect("it is here");
        fs::write(&renames, renaming(&header)).expect("cargo made the directory");
        let for_bmi2 = |mut build: cc::Build| {
            build.flags(BMI2).flag("-include").flag(&renames);
            build
        };
        for_bmi2(arrays()).compile("zfp_bmi2");
        compile_cells(for_bmi2(fast_cells()), "zfp_cells_bmi2");
        compile_cells(smaller(cells()), "zfp_cells");
        println!("cargo::rustc-cfg=zfp_bmi2");
    } else {
        compile_cells(fast_cells(), "zfp_cells");
    }
    let mut plain = if has_bmi2 { smaller(arrays()) } else { arrays() };
    plain.file(source("bitstream.c")).file("integers.c");
    plain.compile("zfp");
    if env::var("CARGO_CFG_UNIX").is_ok() {
        println!("cargo::rustc-link-lib=m");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=integers.c");
    println!("cargo::rerun-if-changed=lossy.h");
    println!("cargo::rerun-if-changed=zfp");
}

fn source(file: &str) -> String {
    format!("zfp/src/{file}")
}

/// Returns a build for `-O2` without files.
fn build() -> cc::Build {
    let mut build = cc::Build::new();
    build.include("zfp/include").warnings(false).opt_level(2);
    for flag in HARDENING.into_iter().chain([OVERFLOW]) {
        build.flag_if_supported(flag);
    }
    build
}

/// Returns the build of the functions for arrays, which call those for cells. With `-O3` they are
/// five times as large and no faster.
fn arrays() -> cc::Build {
    let mut build = build();
    build.file(source("zfp.c"));
    build
}

/// Returns the build of the functions that encode and decode cells of floating-point numbers.
fn cells() -> cc::Build {
    let mut build = build();
    for dimension in DIMENSIONS {
        for scalar in SCALARS {
            for direction in ["encode", "decode"] {
                build.file(source(&format!("{direction}{dimension}{scalar}.c")));
            }
        }
    }
    build
}

/// Returns [`cells`] with all optimisations in every profile: a slow ZFP makes slow tests.
fn fast_cells() -> cc::Build {
    let mut build = cells();
    build.opt_level(3);
    for flag in TUNING {
        build.flag_if_supported(flag);
    }
    build
}

/// Returns a build for CPUs without BMI2, which are rare, optimised for size.
fn smaller(mut build: cc::Build) -> cc::Build {
    build.opt_level_str("s");
    build
}

/// Compiles a build of cells without the reversible mode. The header must be the last one included.
fn compile_cells(mut build: cc::Build, name: &str) {
    build.flag("-include").flag("lossy.h").compile(name);
}

fn has_flag(build: &cc::Build, flag: &str) -> bool {
    build.is_flag_supported(flag).unwrap_or(false)
}

/// Returns macros that rename all functions of ZFP, except those of `integers.c`.
fn renaming(header: &str) -> String {
    let mut macros = String::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, _) in header.match_indices("zfp_") {
        let (front, word) = header.split_at(at);
        let len = word.find(|c| !is_part(c)).unwrap_or(word.len());
        let (name, behind) = word.split_at(len);
        let is_export = !front.ends_with(is_part) && behind.starts_with(['(', ';']);
        let of_integers = name.contains("_block_") && name.contains("_int");
        if is_export && !of_integers && !macros.contains(&format!(" {name} ")) {
            macros += &format!("#define {name} {name}{SUFFIX}\n");
        }
    }
    macros
}
