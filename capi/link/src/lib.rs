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

/// Takes the unwinder into the library, where the C compiler has it as an archive: a shared one would be a library
/// more that each program loads.
fn own_unwinder() {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let folder = archive("libgcc_eh.a").and_then(|archive| archive.parent().map(Path::to_owned));
    if let Some(folder) = folder {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
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
