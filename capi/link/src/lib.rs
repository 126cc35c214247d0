//! Link arguments of the shared libraries, for their build scripts.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the cargo instructions that link a package's shared library with the name `soname`, which
/// is its name on Linux.
pub fn shared_library(soname: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        // DLLs have no such properties, and Rust's standard library contains their unwinder.
        Ok("windows") => {}
        // The dynamic linker unloads no library with thread-local variables. The unwinder is part
        // of the system.
        Ok("macos") => {
            let (name, version) = soname.split_once(".so").expect("a name for Linux");
            argument(&format!("-install_name,@rpath/{name}{version}.dylib"));
            if let Some(version) = version.strip_prefix('.') {
                argument(&format!("-compatibility_version,{version}.0.0"));
                argument(&format!("-current_version,{version}.0.0"));
            }
        }
        system => {
            argument(&format!("-soname,{soname}"));
            // Worker threads outlive calls: their code must stay mapped after `dlclose`.
            argument("-z,nodelete");
            if system == Ok("linux") {
                own_unwinder();
            }
        }
    }
}

fn argument(argument: &str) {
    println!("cargo::rustc-cdylib-link-arg=-Wl,{argument}");
}

/// Links the unwinder into the library if it exists as an archive. A shared unwinder would be one
/// more library for each program to load.
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
/// The `libgcc_eh.a` and `libgcc_s.so.1` of a system with glibc require functions that musl lacks.
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
    // A copy: the directory of the original also contains the archive of the C library, which would
    // be preferred to the shared one.
    std::fs::copy(unwinder, folder.join("libunwind.a")).expect("OUT_DIR can be written to");
    // Rust's standard library links the shared unwinder of GCC, which this linker script replaces.
    std::fs::write(folder.join("libgcc_s.so"), "INPUT(-lunwind)\n")
        .expect("OUT_DIR can be written to");
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static=unwind");
}

/// Returns the path of an archive of the C compiler, if the compiler has it.
fn archive(name: &str) -> Option<PathBuf> {
    let compiler = std::env::var_os("RUSTC_LINKER").unwrap_or("cc".into());
    let output = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    // The compiler prints the bare name of an unknown archive.
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    path.is_absolute().then_some(path)
}
