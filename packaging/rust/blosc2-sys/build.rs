//! Cargo requires a build script for packages with `links`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
