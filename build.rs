//! Sets `cfg(unoptimized)` if the crate is compiled with `opt-level = 0`.
//!
//! Without optimisation the vector code needs several megabytes of stack, more than a thread has.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimized)");
    if std::env::var_os("OPT_LEVEL").is_some_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimized");
    }
}
