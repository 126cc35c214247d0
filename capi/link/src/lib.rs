//! How the shared libraries are linked: what their build scripts tell cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Tells cargo how to link a package's shared library, whose name for programs is `soname`.
pub fn shared_library(soname: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    argument(&format!("-soname,{soname}"));
    // Worker threads outlive every call: the code they run must stay mapped after dlclose.
    argument("-z,nodelete");
    // What common calls run lies together, so that programs map few pages of the rest.
    let often = Path::new(env!("CARGO_MANIFEST_DIR")).join("../often.ld");
    println!("cargo::rerun-if-changed={}", often.display());
    argument(&format!("-T,{}", often.display()));
    own_unwinder();
}

fn argument(argument: &str) {
    println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
}

/// Links the unwinder into the library where it is there as an archive: a shared one would be one more
/// library that each program loads.
fn own_unwinder() {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    if let Some(unwinder) = musl_unwinder() {
        return own_musl_unwinder(&unwinder);
    }
    let folder = archive("libgcc_eh.a").and_then(|archive| archive.parent().map(Path::to_owned));
    if let Some(folder) = folder {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Returns the unwinder that Rust ships for a target with musl.
///
/// The `libgcc_eh.a` and `libgcc_s.so.1` of a system with glibc need functions that musl lacks.
fn musl_unwinder() -> Option<PathBuf> {
    if std::env::var("CARGO_CFG_TARGET_ENV").ok()? != "musl" {
        return None;
    }
    let output = Command::new(std::env::var_os("RUSTC")?)
        .args(["--print", "target-libdir", "--target"])
        .arg(std::env::var_os("TARGET")?)
        .output()
        .ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    let unwinder = folder.join("self-contained/libunwind.a");
    unwinder.is_file().then_some(unwinder)
}

/// Links `unwinder` into the shared library and the static one.
fn own_musl_unwinder(unwinder: &Path) {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // A copy, as the archive of the C library is beside the original, and would be preferred to the shared one.
    std::fs::copy(unwinder, folder.join("libunwind.a")).expect("OUT_DIR can be written to");
    // Rust's standard library asks for the shared unwinder of GCC, for which this linker script stands in.
    std::fs::write(folder.join("libgcc_s.so"), "INPUT(-lunwind)\n")
        .expect("OUT_DIR can be written to");
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static=unwind");
}

/// Where the C compiler has an archive of its own, if it does.
fn archive(name: &str) -> Option<PathBuf> {
    let compiler = std::env::var_os("RUSTC_LINKER").unwrap_or("cc".into());
    let said = Command::new(compiler)
        .arg(format!("-print-file-name={name}"))
        .output()
        .ok()?;
    // A compiler that doesn't know the archive says its name.
    let path = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim_end());
    path.is_absolute().then_some(path)
}
