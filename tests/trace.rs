//! The library's output to standard error. Each case runs in a separate process, since the
//! environment is process-wide.

use std::process::Command;
use std::sync::Arc;

use ferroblosc::Parent;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::codec::id;

/// The variable set in the child process.
const CHILD: &str = "FERROBLOSC_TRACE_TEST_CHILD";

/// Returns the standard error of a compression with this variable set.
fn stderr_with(variable: &str) -> String {
    stderr_of("child_that_compresses", variable)
}

/// Returns the standard error of a test with this variable set.
fn stderr_of(test: &str, variable: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
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
fn child_that_compresses() {
    if std::env::var_os(CHILD).is_some() {
        let params = CParams::default().codec(id::LZ4).level(3);
        Compressor::new(params).unwrap().compress_to_vec(&[1; 800_000]).unwrap();
    }
}

#[test]
fn parameters_are_logged_only_under_blosc_info() {
    let line = "[INFO] - compcode: 1, clevel: 3, blocksize: 262144, splitmode: 1, typesize: 8";
    assert_eq!(stderr_with("BLOSC_INFO").trim(), line);
    assert_eq!(stderr_with("BLOSC_TRACE").trim(), "");
}

#[test]
fn row_c68_zfp_after_a_shuffle_works_with_a_warning() {
    let warning = "[warning] - ZFP follows a shuffle filter, which makes its errors large";
    assert!(stderr_of("child_that_shuffles_floats", "BLOSC_TRACE").contains(warning));
    assert_eq!(stderr_of("child_that_shuffles_floats", "BLOSC_INFO").lines().count(), 1);
}

/// The super-chunk of an array of 64 floats in one block.
struct Floats;

impl Parent for Floats {
    fn typesize(&self) -> i32 {
        4
    }

    fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool {
        let mut content = vec![0x97, 0, 1, 0x91, 0xD3, 0, 0, 0, 0, 0, 0, 0, 64];
        for _ in 0..2 {
            content.extend([0x91, 0xD2, 0, 0, 0, 64]);
        }
        (name == "b2nd").then(|| read(&content)).is_some()
    }

    fn current_chunk(&self) -> i64 {
        0
    }
}

#[test]
fn child_that_shuffles_floats() {
    if std::env::var_os(CHILD).is_some() {
        let parent = Arc::new(Floats);
        let mut params = CParams::default().codec(id::ZFP_RATE).typesize(4);
        params.compcode_meta = 50;
        params.parent = Some(Arc::clone(&parent) as _);
        let data: Vec<u8> = (0..64).flat_map(|i| (i as f32 / 7.0).to_le_bytes()).collect();
        let chunk = Compressor::new(params).unwrap().compress_to_vec(&data).unwrap();
        let mut dparams = DParams::default();
        dparams.parent = Some(parent);
        let mut back = vec![0; data.len()];
        let size = Decompressor::new(dparams).decompress(&chunk, &mut back);
        assert_eq!(size, Ok(data.len()));
    }
}
