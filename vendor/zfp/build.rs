//! Compiles the C source in `zfp/`, serial and with 64-bit stream words, which are its defaults.
//!
//! ZFP takes its time to shift single bits in and out of words, and x86-64 needs three steps for a shift by a
//! variable number unless it has BMI2. So there the source is compiled a second time, for CPUs with it; in that
//! copy all functions have names with [`SUFFIX`]. `src/lib.rs` chooses.

use std::path::Path;
use std::{env, fs};

/// The stems of the source files for each number of dimensions and scalar type.
const DIMENSIONS: [char; 4] = ['1', '2', '3', '4'];
const FLOATS: [char; 2] = ['f', 'd'];
const INTEGERS: [char; 2] = ['i', 'l'];

const SUFFIX: &str = "_bmi2";
const BMI2: [&str; 3] = ["-mbmi", "-mbmi2", "-mlzcnt"];
/// Checks of the stack, and of branch targets where the CPU has them. `.cargo/config.toml` sets the first for all C codecs; here
/// they hold for users of the crate too.
const HARDENING: [&str; 2] = ["-fstack-protector-strong", "-fcf-protection"];
/// The loops over bits are short and unpredictable: unrolling them helps, and what the compiler computes ahead costs registers.
/// Aligned code does not depend on the code linked before it; `.cargo/config.toml` sets the same for other C codecs.
const TUNING: [&str; 4] = [
    "-funroll-loops",
    "-fno-tree-pre",
    "-falign-functions=64",
    "-falign-labels=32",
];

fn main() {
    let mut plain = build(&INTEGERS);
    plain.file(source("bitstream.c"));
    plain.compile("zfp");
    println!("cargo::rustc-check-cfg=cfg(zfp_bmi2)");
    let is_x86_64 = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64");
    let mut fast = build(&[]);
    if is_x86_64 && BMI2.iter().all(|flag| has_flag(&fast, flag)) {
        let renames = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("renames.h");
        let header = fs::read_to_string("zfp/include/zfp.h").expect("it is here");
        fs::write(&renames, renaming(&header)).expect("cargo made the directory");
        fast.flags(BMI2).flag("-include").flag(renames);
        fast.compile("zfp_bmi2");
        println!("cargo::rustc-cfg=zfp_bmi2");
    }
    if env::var("CARGO_CFG_UNIX").is_ok() {
        println!("cargo::rustc-link-lib=m");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=zfp");
}

fn source(file: &str) -> String {
    format!("zfp/src/{file}")
}

/// The library for floats and `more` scalar types, without the streams of bits.
fn build(more: &[char]) -> cc::Build {
    let mut build = cc::Build::new();
    build.include("zfp/include").warnings(false);
    build.file(source("zfp.c"));
    for dimension in DIMENSIONS {
        for scalar in FLOATS.iter().chain(more) {
            for direction in ["encode", "decode"] {
                build.file(source(&format!("{direction}{dimension}{scalar}.c")));
            }
        }
    }
    // A slow ZFP makes slow tests: it is optimised in every profile.
    build.opt_level(3);
    for flag in TUNING.iter().chain(&HARDENING) {
        build.flag_if_supported(flag);
    }
    build
}

fn has_flag(build: &cc::Build, flag: &str) -> bool {
    build.is_flag_supported(flag).unwrap_or(false)
}

/// The macros that give everything ZFP exports another name. What works on cells of integers is only needed to
/// link, and is not there twice.
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
