//! Link arguments of `libH5Zblosc2.so`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libH5Zblosc2.so");
    // HDF5 unloads its plugins when it ends, but worker threads may still run their code.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
