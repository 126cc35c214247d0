//! Chunks of plugin codecs start no program.

use std::fs;
use std::process::Command;

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::{Error, codec};

/// Returns a chunk whose only stream needs the plugin codec `compcode`.
fn chunk_of_plugin(compcode: u8) -> Vec<u8> {
    let params = CParams::default().codec(codec::id::LZ4).typesize(1);
    let data = b"the same text again, the same text again, the same text again";
    let mut chunk = Compressor::new(params).unwrap().compress_to_vec(data).unwrap();
    assert_eq!(chunk[2] >> 5, codec::format::LZ4);
    chunk[2] = chunk[2] & 0x1F | codec::format::USER << 5;
    chunk[0x16] = compcode;
    chunk
}

/// The variable that marks the process in which the plugin chunks are read.
const CHILD: &str = "FERROBLOSC_DECISIONS_CHILD";

#[test]
fn child_that_reads_plugin_chunks() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for compcode in codec::id::OPENHTJ2K..=codec::id::HTJ2K {
        let mut dest = [0; 100];
        let result =
            Decompressor::new(DParams::default()).decompress(&chunk_of_plugin(compcode), &mut dest);
        assert_eq!(result, Err(Error::CodecSupport), "codec {compcode}");
    }
}

#[test]
fn row_d5_row_c64_reading_a_chunk_starts_no_program() {
    let dir = std::env::temp_dir().join(format!("ferroblosc-decisions-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let marker = dir.join("started");
    for name in ["python", "python3"] {
        let script = dir.join(name);
        fs::write(&script, format!("#!/bin/sh\n: > {}\n", marker.display())).unwrap();
        let mut permissions = fs::metadata(&script).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        fs::set_permissions(&script, permissions).unwrap();
    }
    for search in [None, Some(""), Some("0")] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "child_that_reads_plugin_chunks"]).env(CHILD, "1");
        child.env("PATH", &dir).env_remove("FERROBLOSC_PLUGIN_SEARCH");
        if let Some(value) = search {
            child.env("FERROBLOSC_PLUGIN_SEARCH", value);
        }
        assert!(child.output().unwrap().status.success());
        assert!(!marker.exists(), "a program was started with {search:?}");
    }
    fs::remove_dir_all(&dir).unwrap();
}
