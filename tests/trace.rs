//! What the library writes to standard error, and when. Each case runs in a process of its own, because
//! the environment is the process's.

use std::process::Command;

use ferroblosc::chunk::{CParams, Compressor};
use ferroblosc::codec::id;

/// Set in the child process.
const CHILD: &str = "FERROBLOSC_TRACE_TEST_CHILD";

/// The standard error of a compression with this variable set.
fn stderr_with(variable: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "compress_in_the_child", "--nocapture"])
        .env_remove("BLOSC_INFO")
        .env_remove("BLOSC_TRACE")
        .env(CHILD, "1")
        .env(variable, "")
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn compress_in_the_child() {
    if std::env::var_os(CHILD).is_some() {
        let params = CParams::default().codec(id::LZ4).level(3);
        Compressor::new(params)
            .unwrap()
            .compress_to_vec(&[1; 800_000])
            .unwrap();
    }
}

#[test]
fn parameters_are_told_under_blosc_info_only() {
    let line = "[INFO] - compcode: 1, clevel: 3, blocksize: 262144, splitmode: 4, typesize: 8";
    assert_eq!(stderr_with("BLOSC_INFO").trim(), line);
    assert_eq!(stderr_with("BLOSC_TRACE").trim(), "");
}
