//! Missing plugins, expressions and references without data, and hostile names.

use crate::common::TestDir;
use ferroblosc::chunk::{CParams, DParams, SplitMode};
use ferroblosc::codec::{self, Codec, CodecCall};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_capi_testing::{compiler_of, run};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A codec for streams with two equal halves, like `c-tests/plugins/codec.c`.
struct Halves;

impl Codec for Halves {
    fn encode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> ferroblosc::Result<usize> {
        let half = src.len() / 2;
        for (made, byte) in dest[..half].iter_mut().zip(src) {
            *made = !byte;
        }
        Ok(half)
    }

    fn decode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> ferroblosc::Result<usize> {
        for (number, byte) in dest.iter_mut().enumerate() {
            *byte = !src[number % src.len()];
        }
        Ok(dest.len())
    }
}

const USER: u8 = 211;
const CHUNK: usize = 4000;
/// The offset of the codec id in a chunk header.
const UDCODEC: usize = 22;

/// Returns bytes with two equal halves.
fn data(seed: u8) -> Vec<u8> {
    let half = (0..CHUNK / 2).map(|number| (number * 7 / 3) as u8 ^ seed);
    half.clone().chain(half).collect()
}

fn params() -> CParams {
    let params = CParams::default().typesize(1).blocksize(CHUNK as i32);
    params.splitmode(SplitMode::NEVER).filters(&[])
}

/// Writes a frame of three chunks: the first and the last with codec `id`, the second with Zstd.
fn frame(folder: &TestDir, name: &str, id: u8) {
    codec::register_entry(USER, c"halves", USER, 1, Some(Arc::new(Halves))).unwrap();
    let user = params().codec(USER);
    let storage = Storage::file(folder.path(name));
    let mut schunk = SChunk::create(storage, user.clone(), DParams::default()).unwrap();
    for (number, params) in
        [user.clone(), params().codec(codec::id::ZSTD), user].into_iter().enumerate()
    {
        let mut compressor = ferroblosc::chunk::Compressor::new(params).unwrap();
        let mut chunk = compressor.compress_to_vec(&data(number as u8)).unwrap();
        if number != 1 {
            assert_eq!(chunk[UDCODEC], USER);
            chunk[UDCODEC] = id;
        }
        schunk.append_chunk(&chunk).unwrap();
    }
    schunk.add_vlmetalayer("unit", b"\xa6metres").unwrap();
    schunk.close().unwrap();
}

fn position(folder: &TestDir, name: &str, number: usize) -> usize {
    let chunks = folder.json(&format!("ls --json --chunks {name}"));
    chunks[0]["chunks"][number]["position"].as_u64().unwrap() as usize
}

/// The inode, the time of the last change in seconds and nanoseconds, and the content.
type State = (u64, i64, i64, Vec<u8>);

/// Returns the state of a file, which any change of the file modifies.
fn state(path: &Path) -> State {
    let found = std::fs::metadata(path).unwrap();
    let bytes = std::fs::read(path).unwrap();
    (found.ino(), found.mtime(), found.mtime_nsec(), bytes)
}

#[test]
fn row_u9_a_chunk_that_needs_a_missing_plugin_is_not_damaged() {
    let folder = TestDir::new();
    for (id, name, library) in [
        (codec::id::OPENZL, "codec plugin \"openzl\" (id 38)", "libblosc2_openzl.so"),
        (USER, "user-defined codec 211", "FERROBLOSC_PLUGIN_SEARCH"),
        (77, "codec plugin 77", "FERROBLOSC_PLUGIN_SEARCH"),
    ] {
        frame(&folder, "f.b2frame", id);
        let before = state(&folder.path("f.b2frame"));
        for line in ["verify f.b2frame", "repair f.b2frame", "repair --write f.b2frame"] {
            let result = folder.line(line);
            assert_eq!(result.status, 4, "{line}: {}{}", result.out(), result.err());
            for text in [name, library, "and so does one more chunk"] {
                assert!(result.out().contains(text), "{line}: {}", result.out());
            }
        }
        for line in ["cat f.b2frame", "decompress f.b2frame -", "convert f.b2frame f.bin"] {
            let result = folder.line(line);
            assert_eq!(result.status, 4, "{line}: {}", result.err());
            assert!(result.err().contains(name), "{line}: {}", result.err());
        }
        let health = folder.line("verify --json f.b2frame");
        let health: serde_json::Value = serde_json::from_str(health.out()).unwrap();
        assert_eq!(health[0]["damaged"], false);
        assert_eq!(health[0]["faults"][0]["needs"]["id"], u64::from(id));
        assert_eq!(state(&folder.path("f.b2frame")), before);
        assert!(!folder.exists("f.b2frame.broken"));
        std::fs::remove_file(folder.path("f.b2frame")).unwrap();
    }
}

#[test]
fn row_u9_repair_keeps_chunks_of_missing_plugins_and_repairs_others() {
    let folder = TestDir::new();
    frame(&folder, "f.b2frame", codec::id::OPENZL);
    let whole = folder.read("f.b2frame");
    let at: Vec<usize> = (0..3).map(|number| position(&folder, "f.b2frame", number)).collect();
    let mut bytes = whole.clone();
    // The magic number of the Zstd frame, after the header, a block offset and a stream size.
    bytes[at[1] + 40..at[1] + 44].fill(0x5a);
    folder.write("f.b2frame", &bytes);
    // Damage is more severe than a missing plugin.
    assert_eq!(folder.line("verify f.b2frame").status, 3);
    let done = folder.line("repair --write f.b2frame");
    assert_eq!(done.status, 4, "{}{}", done.out(), done.err());
    assert!(done.out().contains("lost: chunk 1: its 4000 bytes are zeros now"), "{}", done.out());
    let repaired = folder.read("f.b2frame");
    let chunk = |number: usize| &whole[at[number]..at[number] + 32 + CHUNK / 2];
    for number in [0, 2] {
        let kept = position(&folder, "f.b2frame", number);
        assert!(repaired[kept..].starts_with(chunk(number)), "chunk {number}");
    }
    assert!(folder.out("info f.b2frame").contains("unit"));

    // Without index and trailer.
    folder.write("cut.b2frame", &whole[..at[2] + 40 + CHUNK / 2 + 4]);
    let done = folder.line("repair --write cut.b2frame");
    assert_eq!(done.status, 4, "{}{}", done.out(), done.err());
    let repaired = folder.read("cut.b2frame");
    for number in [0, 2] {
        let kept = position(&folder, "cut.b2frame", number);
        assert!(repaired[kept..].starts_with(chunk(number)), "chunk {number}");
    }
}

/// Sets an unused format code in the Blosc 1 chunk at offset `at`.
fn make_codec_unknown(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let flags = &mut bytes[at + 2];
    *flags = *flags & 0x1f | 5 << 5;
    std::fs::write(path, bytes).unwrap();
}

/// Updates the Adler-32 checksum of the chunk at offset `at` of a Bloscpack file.
fn renew_checksum(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let len = u32::from_le_bytes(bytes[at + 12..at + 16].try_into().unwrap()) as usize;
    let (mut low, mut high) = (1, 0);
    for &byte in &bytes[at..at + len] {
        low = (low + u32::from(byte)) % 65521;
        high = (high + low) % 65521;
    }
    let sum = (high << 16 | low).to_le_bytes();
    bytes[at + len..at + len + 4].copy_from_slice(&sum);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn chunks_of_unknown_codecs_in_other_formats_are_not_damaged() {
    let folder = TestDir::new();
    let items: Vec<u8> = (0..50_000u32).flat_map(u32::to_le_bytes).collect();
    folder.write("raw", &items);
    folder.succeed("compress raw raw.b2frame --typesize 4");
    folder.succeed("convert raw.b2frame a.bcolz --to bcolz --dtype <i4");
    folder.succeed("convert raw.b2frame a.blp");
    let chunk_file = folder.path("a.bcolz/data/__0.blp");
    make_codec_unknown(&chunk_file, 16);
    let blp = folder.path("a.blp");
    let at = position(&folder, "a.blp", 0);
    make_codec_unknown(&blp, at);
    renew_checksum(&blp, at);
    let before = (state(&chunk_file), state(&blp));
    for line in ["verify", "repair", "repair --write"] {
        for name in ["a.bcolz", "a.blp"] {
            let result = folder.line(&format!("{line} {name}"));
            let output = format!("{}{}", result.out(), result.err());
            assert_eq!(result.status, 4, "{line} {name}: {output}");
            assert!(output.contains("the stream format 5"), "{line} {name}: {output}");
        }
    }
    assert_eq!((state(&chunk_file), state(&blp)), before);
}

#[test]
fn plugins_are_loaded_as_the_library_loads_them() {
    let folder = TestDir::new();
    frame(&folder, "f.b2frame", codec::id::J2K);
    let library = folder.path("libblosc2_j2k.so");
    run(compiler_of("plugins/codec.c", &library).args(["-shared", "-fPIC"]));
    assert_eq!(folder.line("verify f.b2frame").status, 4);
    let mut command = folder.command(&["decompress", "f.b2frame", "-"]);
    let output = command.env("LD_LIBRARY_PATH", folder.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.stdout == [data(0), data(1), data(2)].concat());
}

/// Returns a MessagePack map with one string.
fn map(key: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0x81];
    for text in [key, value] {
        bytes.push(0xa0 | text.len() as u8);
        bytes.extend(text.bytes());
    }
    bytes
}

#[test]
fn expressions_and_references_are_rejected_by_name() {
    let kinds: [(&str, Vec<u8>, &str); 6] = [
        ("b2o", map("kind", "lazyexpr"), "a lazy expression"),
        ("b2o", map("kind", "lazyudf"), "a lazy function"),
        ("b2o", map("kind", "remote_array"), "a reference to a remote array"),
        ("b2o", b"?".to_vec(), "an expression or reference of an unknown kind"),
        ("LazyArray", vec![0], "a lazy expression"),
        ("proxy-source", map("source_kind", "local"), "the cache of an array elsewhere"),
    ];
    for (layer, content, name) in kinds {
        let folder = TestDir::new();
        for array in [false, true] {
            let storage = Storage::file(folder.path("x"));
            let mut schunk =
                SChunk::create(storage, CParams::default().typesize(8), DParams::default())
                    .unwrap();
            if array {
                let meta = ferroblosc::b2nd::meta::serialize(&[10], &[10], &[10], Some(b"<f8"), 0);
                schunk.add_metalayer("b2nd", &meta.unwrap()).unwrap();
            }
            schunk.add_metalayer(layer, &content).unwrap();
            schunk.append(&[0; 80]).unwrap();
            schunk.close().unwrap();
            for line in [
                "cat x",
                "head x",
                "cat --raw x",
                "cat --dtype <i4 x",
                "decompress x -",
                "bench x",
                "convert x o.npy",
                "convert x o.b2nd",
                "convert x o.b2frame",
                "convert x o.blp",
                "convert x o.bcolz",
                "convert x o.bin",
                "convert --raw x o.blosc2",
                "convert x o.b2nd --level 9",
            ] {
                let result = folder.line(line);
                assert_eq!(result.status, 1, "{line}: {}", result.out());
                assert!(result.err().contains(name), "{line}: {}", result.err());
                assert_eq!(result.out(), "", "{line}");
            }
            for line in ["info x", "ls x", "verify x"] {
                let result = folder.line(line);
                assert_eq!(result.status, 0, "{line}");
                assert!(result.out().contains(name), "{line}: {}", result.out());
            }
            assert_eq!(folder.names(), ["x"]);
            std::fs::remove_file(folder.path("x")).unwrap();
        }
    }
}

/// Whether an output contains control characters other than newlines.
fn acts(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains(|c| c != '\n' && ferroblosc::escape::is_active(c))
}

#[test]
fn names_from_files_are_escaped() {
    let folder = TestDir::new();
    let name = "n\x1b]0;t\x07\n\u{202e}\u{9b}2J";
    let storage = Storage::file(folder.path("f"));
    let mut schunk =
        SChunk::create(storage, CParams::default().typesize(1), DParams::default()).unwrap();
    schunk.add_metalayer(name, b"\xa1\x1b").unwrap();
    schunk.append(b"hello\x1b[31mworld\n").unwrap();
    schunk.add_vlmetalayer(name, b"\xa2\x1b[").unwrap();
    schunk.close().unwrap();
    let mut bytes = folder.read("f");
    folder.out("compress f g --typesize 1 --no-checksums");
    let mut result = Vec::new();
    let lines = [
        "info f",
        "ls f",
        "cat f",
        "head f",
        "verify f",
        "repair f",
        "info --json f",
        "ls --json f",
        "convert --force f o.npy",
        "convert --force --strict f o.npy",
        "convert --force f o.blp",
        "info o.blp",
        "info --json o.blp",
        "convert --force f o.bcolz",
        "info o.bcolz",
        "cat -c \x1bx f",
        "convert --force --dtype <i3 f o.npy",
    ];
    for line in lines {
        result.push((line, folder.line(line)));
    }
    for at in (0..bytes.len()).step_by(23) {
        bytes[at] ^= 0x21;
        folder.write("f", &bytes);
        for line in ["info f", "verify f", "repair f", "cat f"] {
            result.push((line, folder.line(line)));
        }
        bytes[at] ^= 0x21;
    }
    let evil = folder.path("e\x1b[31m\u{202e}.b2frame");
    std::fs::copy(folder.path("g"), &evil).unwrap();
    folder.write("f", b"");
    let shown = evil.file_name().unwrap().to_str().unwrap().to_owned();
    for arguments in
        [vec!["ls"], vec!["info", &shown], vec!["verify", &shown], vec!["cat", "missing\x1b"]]
    {
        result.push(("of a file", folder.run(&arguments)));
    }
    for (line, result) in &result {
        assert!(!acts(&result.stdout), "{line}: {}", result.out().escape_debug());
        assert!(!acts(result.err().as_bytes()), "{line}: {}", result.err().escape_debug());
    }
    assert!(folder.out("ls").contains("e\\u{1b}[31m\\u{202e}.b2frame"));
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn no_command_blocks_on_a_fifo() {
    let folder = TestDir::new();
    folder.write("in", &[7; 40_000]);
    folder.out("compress in s --directory --chunk-size 8K");
    folder.out("convert s a.npy --dtype <i4");
    folder.out("convert a.npy c --to bcolz");
    make_fifo(&folder.path("fifo"));
    let chunk =
        names_in(&folder.path("s")).into_iter().find(|name| name.ends_with(".chunk")).unwrap();
    let inside = names_in(&folder.path("c/data")).remove(0);
    for path in [format!("s/{chunk}"), format!("c/data/{inside}"), "c/meta/sizes".to_owned()] {
        std::fs::remove_file(folder.path(&path)).unwrap();
        make_fifo(&folder.path(&path));
    }
    for line in [
        "ls",
        "ls fifo",
        "info fifo",
        "cat fifo",
        "verify fifo",
        "repair fifo",
        "decompress fifo -",
        "convert fifo o.npy",
        "cat s",
        "verify s",
        "repair s",
        "convert s o.npy",
        "cat c",
        "verify c",
        "convert c o.npy",
        "bench s",
    ] {
        let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > Duration::from_secs(20) {
                child.kill().unwrap();
                panic!("{line} waits");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.success(), line == "ls", "{line}");
    }
    // `compress` reads a FIFO.
    let fifo = folder.path("fifo");
    let writer = std::thread::spawn(move || std::fs::write(fifo, [3; 1000]).unwrap());
    folder.out("compress fifo piped.b2frame");
    writer.join().unwrap();
    assert!(folder.line("decompress piped.b2frame -").stdout == [3; 1000]);
}

#[test]
fn repair_does_not_change_undamaged_files() {
    let folder = TestDir::new();
    let shapes = healthy(&folder);
    let mut looked_at = 0;
    for name in &shapes {
        let before = tree(&folder.path(name));
        for line in ["repair", "repair --write"] {
            let result = folder.line(&format!("{line} {name}"));
            assert!(
                matches!(result.status, 0 | 4),
                "{line} {name}: {}{}",
                result.out(),
                result.err()
            );
        }
        assert!(tree(&folder.path(name)) == before, "{name}");
        looked_at += 1;
    }
    assert!(looked_at > 60, "{looked_at}");
}

/// Returns all files below a path, with their states.
fn tree(path: &Path) -> Vec<(PathBuf, State)> {
    let mut found = Vec::new();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push((path.clone(), state(&path)));
        }
    }
    found.sort();
    found
}

/// Creates undamaged files of all formats: the fixtures of the project, and others.
fn healthy(folder: &TestDir) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["bcolz", "bloscpack"] {
        for entry in std::fs::read_dir(ferroblosc_tools_testing::fixtures().join(kind)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{kind}-{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                ferroblosc_tools_testing::copy_tree(&entry.path(), &folder.path(&name));
            } else {
                std::fs::copy(entry.path(), folder.path(&name)).unwrap();
            }
            // Damaged fixtures are skipped.
            if folder.line(&format!("verify {name}")).status == 0 {
                names.push(name);
            }
        }
    }
    let numbers: Vec<u8> = (0..5000i64).flat_map(i64::to_le_bytes).collect();
    folder.write("in", &numbers);
    for (name, options) in [
        ("plain", "--no-checksums"),
        ("sums", ""),
        ("dir", "--directory"),
        ("dirplain", "--directory --no-checksums"),
        ("durable", "--durable"),
        ("small", "--chunk-size 4K"),
        ("stored", "--level 0"),
        ("delta", "--filters delta,shuffle"),
    ] {
        let name = format!("{name}.b2frame");
        folder.out(&format!("compress in {name} {options}"));
        names.push(name);
    }
    for (name, options) in [
        ("a.b2nd", "--dtype <i8"),
        ("a.npy", "--dtype <i8"),
        ("a.blp", "--dtype <i8"),
        ("b.blp", ""),
        ("a.bcolz", "--dtype <i8"),
        ("a.blosc1", ""),
        ("a.blosc2", ""),
        ("d.b2nd", "--dtype <f8 --directory"),
    ] {
        folder.succeed(&format!("convert plain.b2frame {name} {options}"));
        names.push(name.to_owned());
    }
    // Trailing bytes and unrelated files.
    for name in ["a.npy", "a.blosc2"] {
        let mut bytes = folder.read(name);
        bytes.extend([9; 10]);
        let trailing = format!("trailing-{name}");
        folder.write(&trailing, &bytes);
        names.push(trailing);
    }
    frame(folder, "plugin.b2frame", codec::id::GROK);
    names.push("plugin.b2frame".to_owned());
    for (name, storage) in [
        ("special", Storage::file(folder.path("special"))),
        ("spec-dir", Storage::directory(folder.path("spec-dir"))),
    ] {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
        schunk.fill(10, ferroblosc::chunk::Special::Nan, 16).unwrap();
        schunk.add_vlmetalayer("raw", b"\xff\xff").unwrap();
        schunk.close().unwrap();
        names.push(name.to_owned());
    }
    let mut uneven = SChunk::create(
        Storage::file(folder.path("uneven")),
        CParams::default().typesize(1),
        DParams::default(),
    )
    .unwrap();
    uneven.append(&[1; 100]).unwrap();
    uneven.append(&[2; 30]).unwrap();
    uneven.close().unwrap();
    names.push("uneven".to_owned());
    names
}

#[test]
fn frames_have_checksums_by_default() {
    let folder = TestDir::new();
    folder.write("in", &[5; 30_000]);
    for (options, checksum) in [
        ("", "xxh3"),
        ("--checksums", "xxh3"),
        ("--no-checksums --checksums", "xxh3"),
        ("--no-checksums", ""),
    ] {
        folder.out(&format!("compress in f.b2frame --force {options}"));
        folder.out(&format!("convert f.b2frame a.b2nd --dtype <i2 --force {options}"));
        folder.out("convert a.b2nd c.bcolz --force");
        folder.out(&format!("convert c.bcolz back.b2nd --force {options}"));
        folder.out(&format!("convert a.b2nd dir --to b2nd --directory --force {options}"));
        for name in ["f.b2frame", "a.b2nd", "back.b2nd", "dir"] {
            let found = folder.json(&format!("info --json {name}"))[0]["checksum"].clone();
            assert_eq!(found.as_str().unwrap_or(""), checksum, "{name} {options}");
            let result = folder.out(&format!("verify {name}"));
            let limit = "there are no checksums, so changed bytes in chunks cannot be detected";
            assert_eq!(result.contains(limit), checksum.is_empty(), "{result}");
        }
    }
}
