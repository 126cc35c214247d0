//! Link arguments of `libferroblosc.so`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libferroblosc.so.0");
    // Worker threads outlive every call: the code they run must stay mapped after dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
