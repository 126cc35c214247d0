//! `verify` and `repair` on damaged files of each format, and on huge ones.

mod common;

use common::Folder;
use std::fs::File;
use std::os::unix::fs::FileExt;

const CHUNK: usize = 8192;

/// A folder with a frame of nine chunks of numbers that count up.
fn frame(options: &str) -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    let data: Vec<u8> = (0..9000i64).flat_map(i64::to_le_bytes).collect();
    folder.write("in", &data);
    folder.out(&format!("compress in f.b2frame --chunk-size 8K {options}"));
    (folder, data)
}

/// Where a chunk of a frame lies.
fn position(folder: &Folder, name: &str, number: usize) -> usize {
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

    let said = folder.line("verify f.b2frame");
    assert_eq!(said.status, 3);
    assert_eq!(
        said.out(),
        format!(
            "f.b2frame: 1 fault (9 chunks, 9 with checksums)\n  chunk 3 at byte {at}: the chunk contradicts its checksum\n"
        )
    );
    let plan = folder.line("repair f.b2frame");
    assert_eq!(plan.status, 3);
    assert!(
        plan.out()
            .ends_with("nothing was changed; 'b2 repair --write f.b2frame' does it\n"),
        "{}",
        plan.out()
    );
    assert!(folder.read("f.b2frame") == bytes);

    let done = folder.line("repair --write f.b2frame");
    assert_eq!(
        (done.status, done.out()),
        (
            0,
            "f.b2frame: mended\n  lost: chunk 3: its 8192 bytes are zeros now\n  the old one is kept as f.b2frame.broken\n"
        )
    );
    assert!(folder.read("f.b2frame.broken") == bytes);
    let mut expected = data;
    expected[3 * CHUNK..4 * CHUNK].fill(0);
    assert!(folder.line("decompress f.b2frame -").stdout == expected);
    assert_eq!(folder.json("info --json f.b2frame")[0]["checksum"], "xxh3");
    assert_eq!(
        folder.out("repair f.b2frame"),
        "f.b2frame: nothing to mend\n"
    );
}

#[test]
fn the_chunks_of_a_frame_that_is_cut_off_are_found() {
    let (folder, data) = frame("");
    let bytes = folder.read("f.b2frame");
    let at = position(&folder, "f.b2frame", 6);
    folder.write("f.b2frame", &bytes[..at + 40]);
    assert_eq!(folder.line("info f.b2frame").status, 3);
    assert_eq!(folder.line("verify f.b2frame").status, 3);
    let done = folder.line("repair --write f.b2frame");
    assert_eq!(done.status, 0, "{}{}", done.out(), done.err());
    assert!(
        done.out().contains("mended: 6 chunks were found"),
        "{}",
        done.out()
    );
    let mut expected = data;
    expected[6 * CHUNK..].fill(0);
    assert!(folder.line("decompress f.b2frame -").stdout == expected);
}

#[test]
fn a_directory_without_one_of_its_chunks_is_mended() {
    let (folder, data) = frame("--directory");
    std::fs::remove_file(folder.path("f.b2frame/00000002.chunk")).unwrap();
    let said = folder.line("verify f.b2frame");
    assert_eq!(said.status, 3);
    assert!(said.out().contains("\n  chunk 2: "), "{}", said.out());
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
    let said = folder.line("verify c.blp");
    assert_eq!(said.status, 3);
    let place = format!("\n  chunk 4 at byte {at}: ");
    assert!(said.out().contains(&place), "{}", said.out());
    assert_eq!(folder.line("repair --write c.blp").status, 0);
    let mut expected = data;
    expected[4 * CHUNK..5 * CHUNK].fill(0);
    assert!(folder.line("decompress c.blp -").stdout == expected);
}

#[test]
fn a_carray_is_mended_in_its_place() {
    let folder = Folder::new();
    folder.fixture("bcolz/i8_multi");
    std::fs::remove_file(folder.path("i8_multi/data/__1.blp")).unwrap();
    let said = folder.line("verify i8_multi");
    assert_eq!(said.status, 3);
    assert!(
        said.out().contains("__1.blp: the chunk is not there\n"),
        "{}",
        said.out()
    );
    let done = folder.line("repair --write i8_multi");
    assert_eq!(done.status, 0, "{}", done.out());
    assert!(
        done.out().contains("  lost: i8_multi: rows "),
        "{}",
        done.out()
    );
    assert_eq!(folder.line("verify i8_multi").status, 0);
}

#[test]
fn chunks_and_npy_files_that_are_cut_off_are_told_of_and_not_mended() {
    let (folder, _) = frame("");
    for name in ["c.blosc1", "c.blosc2", "c.npy"] {
        folder.out(&format!("convert f.b2frame {name}"));
        let bytes = folder.read(name);
        folder.write(name, &bytes[..bytes.len() - 100]);
        let said = folder.line(&format!("verify {name}"));
        assert_eq!(said.status, 3, "{name}");
        let end = bytes.len() - 100;
        let words = format!(
            "the file ends at byte {end}, and its data need {} bytes",
            bytes.len()
        );
        assert!(said.out().contains(&words), "{}", said.out());
        let said = folder.line(&format!("repair --write {name}"));
        assert_eq!(said.status, 3, "{name}");
        assert!(said.out().contains("can't be restored"), "{}", said.out());
    }
}

#[test]
fn every_byte_of_a_frame_can_be_wrong() {
    let (folder, _) = frame("--checksums");
    let bytes = folder.read("f.b2frame");
    // The largest steps that touch each part.
    for at in (0..bytes.len()).step_by(37) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        folder.write("x.b2frame", &damaged);
        for line in [
            "info x.b2frame",
            "verify x.b2frame",
            "head x.b2frame",
            "repair x.b2frame",
        ] {
            let said = folder.line(line);
            assert!(
                (0..=3).contains(&said.status),
                "{line} {at}: {}",
                said.err()
            );
            assert!(
                !said.err().contains("panicked"),
                "{line} {at}: {}",
                said.err()
            );
        }
    }
}

#[test]
fn huge_sparse_files_are_read_in_little_memory() {
    let folder = Folder::new();
    // A .npy file of four terabytes, of which the disk holds some kilobytes.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (500000000000,), }";
    let mut front = b"\x93NUMPY\x01\x00".to_vec();
    front.extend(118u16.to_le_bytes());
    front.extend(header.bytes());
    front.resize(127, b' ');
    front.push(b'\n');
    let file = File::create(folder.path("huge.npy")).unwrap();
    file.write_all_at(&front, 0).unwrap();
    file.set_len(128 + 4_000_000_000_000).unwrap();
    file.write_all_at(&2.5f64.to_le_bytes(), 128 + 8 * 499_999_999_999)
        .unwrap();
    drop(file);
    assert!(
        folder
            .out("info huge.npy")
            .contains("  data         3.6 TiB (4000000000000 B)\n")
    );
    assert_eq!(folder.line("verify huge.npy").status, 0);
    assert_eq!(folder.out("cat huge.npy -s=-1:"), "499999999999:  2.5\n");
    assert_eq!(folder.out("head -l 1 huge.npy"), "0:  0.0\n");
    let figures = folder.json("bench huge.npy --sample 1M -l 1 -c lz4 -f shuffle --json");
    assert_eq!(figures["nbytes"], 1 << 20);
}
