//! Runs the examples in Rust.

use std::process::Command;

#[test]
fn the_array_example_prints_a_stored_slice() {
    let file = std::env::temp_dir().join(format!("ferroblosc-example-{}.b2nd", std::process::id()));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["run", "--quiet", "--package", "ferroblosc", "--example", "array"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.arg("--").arg(&file).output().expect("cargo starts");
    let _ = std::fs::remove_file(&file);
    assert!(output.status.success(), "{output:?}");
    let expected = "[947, 948, 949]\n[997, 998, 999]\n[1047, 1048, 1049]\n[1097, 1098, 1099]\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
