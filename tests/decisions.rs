//! Decisions about the reference's behaviour: each has a test with its row id.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::{Error, codec};

/// Collects all Rust and C sources of tests in `dir`.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "c") {
            found.push(path);
        }
    }
}

#[test]
fn row_d13_every_implemented_row_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for dir in ["src", "formats", "tests", "capi", "c-tests", "tools"] {
        sources(&root.join(dir), &mut files);
    }
    let texts: Vec<String> =
        files.iter().map(|file| fs::read_to_string(file).unwrap().to_lowercase()).collect();
    let rows = (1..=75)
        .map(|n| format!("c{n}"))
        .chain((1..=15).map(|n| format!("d{n}")))
        .chain((1..=37).map(|n| format!("f{n}")))
        .chain((1..=31).map(|n| format!("s{n}")))
        .chain((1..=43).map(|n| format!("n{n}")))
        .chain((1..=17).map(|n| format!("p{n}")))
        .chain((1..=15).map(|n| format!("b{n}")));
    let missing: Vec<String> = rows
        .filter(|row| {
            let name = format!("row_{row}_");
            !texts.iter().any(|text| text.contains(&name))
        })
        .collect();
    assert!(missing.is_empty(), "rows without a test: {missing:?}");
}

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
    let witness = dir.join("started");
    for name in ["python", "python3"] {
        let script = dir.join(name);
        fs::write(&script, format!("#!/bin/sh\n: > {}\n", witness.display())).unwrap();
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
        assert!(!witness.exists(), "a program was started with {search:?}");
    }
    fs::remove_dir_all(&dir).unwrap();
}
