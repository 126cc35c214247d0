//! `verify` and `repair` on damaged files of each format, and on huge ones.

use crate::common::TestDir;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::process::Stdio;

const CHUNK: usize = 8192;

/// Creates a directory with a frame of nine chunks of consecutive numbers.
fn frame(options: &str) -> (TestDir, Vec<u8>) {
    let folder = TestDir::new();
    let data: Vec<u8> = (0..9000i64).flat_map(i64::to_le_bytes).collect();
    folder.write("in", &data);
    folder.out(&format!("compress in f.b2frame --chunk-size 8K {options}"));
    (folder, data)
}

/// Returns the offset of a chunk of a frame.
fn position(folder: &TestDir, name: &str, number: usize) -> usize {
    let chunks = folder.json(&format!("ls --json --chunks {name}"));
    chunks[0]["chunks"][number]["position"].as_u64().unwrap() as usize
}

#[test]
fn a_lost_chunk_of_a_frame_becomes_zeros_and_the_old_frame_is_kept() {
    let (folder, data) = frame("--checksums");
    let mut bytes = folder.read("f.b2frame");
    let at = position(&folder, "f.b2frame", 3);
    bytes[at + 50] ^= 1;
    folder.write("f.b2frame", &bytes);

    let result = folder.line("verify f.b2frame");
    assert_eq!(result.status, 3);
    assert_eq!(
        result.out(),
        format!(
            "f.b2frame: 1 fault (9 chunks, 9 with checksums)\n  chunk 3 at byte {at}: the chunk does not match its checksum\n"
        )
    );
    let plan = folder.line("repair f.b2frame");
    assert_eq!(plan.status, 3);
    assert!(
        plan.out()
            .ends_with("nothing was changed; 'b2 repair --write f.b2frame' repairs the file\n"),
        "{}",
        plan.out()
    );
    assert!(folder.read("f.b2frame") == bytes);

    let done = folder.line("repair --write f.b2frame");
    assert_eq!(
        (done.status, done.out()),
        (
            0,
            "f.b2frame: repaired\n  lost: chunk 3: its 8192 bytes are zeros now\n  the old file is kept as f.b2frame.broken\n"
        )
    );
    assert!(folder.read("f.b2frame.broken") == bytes);
    let mut expected = data;
    expected[3 * CHUNK..4 * CHUNK].fill(0);
    assert!(folder.line("decompress f.b2frame -").stdout == expected);
    assert_eq!(folder.json("info --json f.b2frame")[0]["checksum"], "xxh3");
    assert_eq!(folder.out("repair f.b2frame"), "f.b2frame: nothing to repair\n");
}

#[test]
fn frames_that_another_program_changes_are_not_repaired() {
    for (options, index) in [("", ""), (" --directory", "/chunks.b2frame")] {
        let (folder, data) = frame(options);
        let path = folder.path(&format!("f.b2frame{index}"));
        let bytes = std::fs::read(&path).unwrap();
        // The program of this test is in the middle of a change.
        let file = File::options().read(true).write(true).open(&path).unwrap();
        file.lock().unwrap();
        file.set_len(bytes.len() as u64 / 2).unwrap();
        let mut children = ["repair --write f.b2frame", "verify f.b2frame"].map(|line| {
            let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in &mut children {
            let mut printed = String::new();
            BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut printed).unwrap();
            let waiting = "b2: warning: f.b2frame: waiting for another program that changes it\n";
            assert_eq!(printed, waiting);
        }
        file.write_all_at(&bytes, 0).unwrap();
        drop(file);
        for child in &mut children {
            assert_eq!(child.wait().unwrap().code(), Some(0));
        }
        assert!(folder.line("decompress f.b2frame -").stdout == data);
        assert!(!folder.path("f.b2frame.broken").exists());
    }
}

#[test]
fn chunks_of_a_truncated_frame_are_found() {
    let (folder, data) = frame("");
    let bytes = folder.read("f.b2frame");
    let at = position(&folder, "f.b2frame", 6);
    folder.write("f.b2frame", &bytes[..at + 40]);
    assert_eq!(folder.line("info f.b2frame").status, 3);
    assert_eq!(folder.line("verify f.b2frame").status, 3);
    let done = folder.line("repair --write f.b2frame");
    assert_eq!(done.status, 0, "{}{}", done.out(), done.err());
    assert!(done.out().contains("repaired: 6 chunks were found"), "{}", done.out());
    let mut expected = data;
    expected[6 * CHUNK..].fill(0);
    assert!(folder.line("decompress f.b2frame -").stdout == expected);
}

#[test]
fn a_directory_without_a_chunk_is_repaired() {
    let (folder, data) = frame("--directory");
    std::fs::remove_file(folder.path("f.b2frame/00000002.chunk")).unwrap();
    let result = folder.line("verify f.b2frame");
    assert_eq!(result.status, 3);
    assert!(result.out().contains("\n  chunk 2: "), "{}", result.out());
    assert_eq!(folder.line("repair --write f.b2frame").status, 0);
    let mut expected = data;
    expected[2 * CHUNK..3 * CHUNK].fill(0);
    assert!(folder.line("decompress f.b2frame -").stdout == expected);
    assert!(folder.path("f.b2frame.broken").is_dir());
}

#[test]
fn a_lost_chunk_of_a_container_becomes_zeros() {
    let (folder, data) = frame("");
    folder.out("convert f.b2frame c.blp --chunk-size 8K");
    let mut bytes = folder.read("c.blp");
    let at = position(&folder, "c.blp", 4);
    bytes[at + 30] ^= 1;
    folder.write("c.blp", &bytes);
    let result = folder.line("verify c.blp");
    assert_eq!(result.status, 3);
    let location = format!("\n  chunk 4 at byte {at}: ");
    assert!(result.out().contains(&location), "{}", result.out());
    assert_eq!(folder.line("repair --write c.blp").status, 0);
    let mut expected = data;
    expected[4 * CHUNK..5 * CHUNK].fill(0);
    assert!(folder.line("decompress c.blp -").stdout == expected);
}

#[test]
fn a_carray_is_repaired_in_place() {
    let folder = TestDir::new();
    folder.fixture("bcolz/i8_multi");
    std::fs::remove_file(folder.path("i8_multi/data/__1.blp")).unwrap();
    let result = folder.line("verify i8_multi");
    assert_eq!(result.status, 3);
    assert!(result.out().contains("__1.blp: the chunk is missing\n"), "{}", result.out());
    let done = folder.line("repair --write i8_multi");
    assert_eq!(done.status, 0, "{}", done.out());
    assert!(done.out().contains("  lost: i8_multi: rows "), "{}", done.out());
    assert_eq!(folder.line("verify i8_multi").status, 0);
}

#[test]
fn truncated_chunks_and_npy_files_are_reported_and_not_repaired() {
    let (folder, _) = frame("");
    for name in ["c.blosc1", "c.blosc2", "c.npy"] {
        folder.out(&format!("convert f.b2frame {name}"));
        let bytes = folder.read(name);
        folder.write(name, &bytes[..bytes.len() - 100]);
        let result = folder.line(&format!("verify {name}"));
        assert_eq!(result.status, 3, "{name}");
        let end = bytes.len() - 100;
        let expected =
            format!("the file ends at byte {end}, and its data need {} bytes", bytes.len());
        assert!(result.out().contains(&expected), "{}", result.out());
        let result = folder.line(&format!("repair --write {name}"));
        assert_eq!(result.status, 3, "{name}");
        assert!(result.out().contains("cannot be restored"), "{}", result.out());
    }
}

#[test]
fn every_changed_byte_of_a_frame_is_handled() {
    let (folder, _) = frame("--checksums");
    let bytes = folder.read("f.b2frame");
    // The largest step that changes every field.
    for at in (0..bytes.len()).step_by(37) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        folder.write("x.b2frame", &damaged);
        for line in ["info x.b2frame", "verify x.b2frame", "head x.b2frame", "repair x.b2frame"] {
            let result = folder.line(line);
            assert!((0..=3).contains(&result.status), "{line} {at}: {}", result.err());
            assert!(!result.err().contains("panicked"), "{line} {at}: {}", result.err());
        }
    }
}

#[test]
fn huge_sparse_files_are_read_in_little_memory() {
    let folder = TestDir::new();
    // A sparse .npy file of four terabytes.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (500000000000,), }";
    let mut prefix = b"\x93NUMPY\x01\x00".to_vec();
    prefix.extend(118u16.to_le_bytes());
    prefix.extend(header.bytes());
    prefix.resize(127, b' ');
    prefix.push(b'\n');
    let file = File::create(folder.path("huge.npy")).unwrap();
    file.write_all_at(&prefix, 0).unwrap();
    file.set_len(128 + 4_000_000_000_000).unwrap();
    file.write_all_at(&2.5f64.to_le_bytes(), 128 + 8 * 499_999_999_999).unwrap();
    drop(file);
    assert!(folder.out("info huge.npy").contains("  data         3.6 TiB (4000000000000 B)\n"));
    assert_eq!(folder.line("verify huge.npy").status, 0);
    assert_eq!(folder.out("cat huge.npy -s=-1:"), "499999999999:  2.5\n");
    assert_eq!(folder.out("head -l 1 huge.npy"), "0:  0.0\n");
    let figures = folder.json("bench huge.npy --sample 1M -l 1 -c lz4 -f shuffle --json");
    assert_eq!(figures["nbytes"], 1 << 20);
}

#[test]
fn a_lost_chunk_that_needs_too_much_memory_is_an_error() {
    let (folder, _) = frame("");
    folder.out("convert f.b2frame c.blp --chunk-size 8K");
    let mut bytes = folder.read("c.blp");
    // The size of the chunks in the header of the file.
    bytes[8..12].copy_from_slice(&(1_i32 << 30).to_le_bytes());
    folder.write("c.blp", &bytes);
    let result = folder.limited("-v 1000000", &["repair", "--write", "c.blp"]);
    assert_eq!(result.status, 1, "{}", result.err());
    assert!(result.err().contains("Memory alloc"), "{}", result.err());
    assert!(folder.read("c.blp") == bytes);
}
