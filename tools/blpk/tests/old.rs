//! The words of old: what Bloscpack 0.16.0 said to them was recorded, and is said again.

mod common;

use common::Folder;

/// A command line and the output of Bloscpack.
#[derive(Default)]
struct Record {
    line: String,
    status: i32,
    stdout: String,
    stderr: String,
    /// Whether Bloscpack ended with a traceback.
    is_uncaught: bool,
}

fn records(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for line in text.lines() {
        let Some((mark, text)) = line.split_at_checked(1) else {
            continue;
        };
        let text = text.strip_prefix(' ').unwrap_or(text);
        if mark == "$" {
            records.push(Record {
                line: text.to_owned(),
                ..Record::default()
            });
        }
        let Some(record) = records.last_mut() else {
            continue;
        };
        match mark {
            "?" => record.status = text.parse().unwrap(),
            ">" => record.stdout += &format!("{text}\n"),
            "!" => record.stderr += &format!("{text}\n"),
            "^" => record.is_uncaught = true,
            _ => {}
        }
    }
    records
}

#[test]
fn what_was_said_is_said_again() {
    let records = records(include_str!("recorded.txt"));
    assert!(records.len() > 60);
    compare(&Folder::new(), &records);
}

#[test]
fn verbose_and_debug_output_is_that_of_bloscpack() {
    let records = records(include_str!("recorded_verbose.txt"));
    assert!(records.len() > 80);
    let folder = Folder::new();
    folder.write("tiny.json", br#"{"dtype": "float32"}"#);
    for name in ["iota_maxapp0.blp", "meta_nochecksum_nooffsets.blp"] {
        folder.write(name, &common::recorded(name));
    }
    compare(&folder, &records);
}

/// Runs the command lines in order, and compares their output with the recorded one, line by line.
fn compare(folder: &Folder, records: &[Record]) {
    for record in records {
        let line = &record.line;
        let output = folder.line(line);
        // Bloscpack does not measure time.
        let stdout: String = output
            .out()
            .lines()
            .filter(|line| !line.starts_with("blpk: elapsed time: "))
            .map(|line| format!("{line}\n"))
            .collect();
        if record.is_uncaught {
            // Errors may be found earlier here, and always have a message.
            let (before, error) = stdout.split_once("blpk: error: ").expect(line);
            assert!(record.stdout.starts_with(before), "blpk {line}\n{stdout}");
            assert!(!before.is_empty() && !error.is_empty(), "blpk {line}");
            assert_eq!(output.err(), "", "blpk {line}");
        } else {
            assert_eq!(stdout, record.stdout, "blpk {line}");
            assert_eq!(output.err(), record.stderr, "blpk {line}");
        }
        assert_eq!(output.status, record.status, "blpk {line}");
    }
}

#[test]
fn header_numbers_out_of_range_have_the_messages_of_bloscpack() {
    const MAX: i64 = i64::MAX;
    let folder = Folder::new();
    for (chunk_size, last_chunk, nchunks, max_app_chunks, message) in [
        (
            10,
            10,
            MAX,
            1,
            "'nchunks + max_app_chunks' must be in the range 0 <= n <= 9223372036854775807, not '9223372036854775808'",
        ),
        (
            10,
            10,
            MAX,
            MAX,
            "'nchunks + max_app_chunks' must be in the range 0 <= n <= 9223372036854775807, not '18446744073709551614'",
        ),
        (
            10,
            10,
            -1,
            10,
            "'max_app_chunks' can not be non '0' if 'nchunks' is '-1'",
        ),
        (
            10,
            10,
            -2,
            0,
            "'nchunks' must be in the range -1 <= n <= 9223372036854775807, not '-2'",
        ),
        (
            10,
            10,
            1,
            -1,
            "'max_app_chunks' must be in the range 0 <= n <= 9223372036854775807, not '-1'",
        ),
        (
            -2,
            10,
            1,
            0,
            "'chunk_size' must be in the range -1 <= n <= 2147483631, not '-2'",
        ),
        (
            10,
            i32::MAX,
            1,
            0,
            "'last_chunk' must be in the range -1 <= n <= 2147483631, not '2147483647'",
        ),
        (
            0,
            5,
            1,
            0,
            "'last_chunk' (5) is larger than 'chunk_size' (0)",
        ),
    ] {
        let mut header = b"blpk\x03\x01\x01\x08".to_vec();
        header.extend(i32::to_le_bytes(chunk_size));
        header.extend(i32::to_le_bytes(last_chunk));
        header.extend(i64::to_le_bytes(nchunks));
        header.extend(i64::to_le_bytes(max_app_chunks));
        header.resize(200, 0);
        folder.write("x", &header);
        assert_eq!(
            folder.line("i x").error(1),
            format!("{message}\nblpk: error: This might not be a bloscpack compressed file.")
        );
    }
}

#[test]
fn there_are_more_subcommands_and_codecs_to_choose_from() {
    let folder = Folder::new();
    let said = folder.line("zz");
    assert_eq!(said.status, 2);
    let start = "usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...\nblpk: error: argument : invalid choice: 'zz' (choose from 'compress', 'c', 'decompress', 'd', 'append', 'a', 'info', 'i', ";
    assert!(said.err().starts_with(start), "{}", said.err());
    let said = folder.line("c in -c foo");
    assert!(said.err().ends_with("blpk c: error: argument -c/--codec: invalid choice: 'foo' (choose from 'blosclz', 'lz4', 'lz4hc', 'snappy', 'zlib', 'zstd')\n"));
    assert_eq!(said.status, 2);
}

#[test]
fn help_begins_with_the_usage_of_old_and_the_version_names_that_of_bloscpack() {
    let folder = Folder::new();
    let said = folder.line("-h");
    assert_eq!((said.status, said.err()), (0, ""));
    assert!(said.out().starts_with("usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...\n\ncommand line de/compression with blosc\n"));
    let said = folder.line("a --help");
    assert_eq!((said.status, said.err()), (0, ""));
    assert!(said.out().starts_with("usage: blpk a [-h] [-t <size>] [-l [0, 9]] [-s] [-c <codec>] [-e]\n              [-m <metadata>]\n              <original_file> <new_file>\n"));
    let said = folder.line("--version");
    assert_eq!(
        said.out(),
        "bloscpack: '0.16.0' ferroblosc: '0.1.0' blosc: '1.21.6'\n"
    );
}

#[test]
fn row_p16_level_is_a_word_for_the_level_and_files_may_stand_behind_options() {
    let folder = Folder::new();
    folder.quietly("c --level 0 in --typesize 4 out.blp");
    folder.quietly("c -l 0 -t 4 in other.blp");
    assert_eq!(folder.read("out.blp"), folder.read("other.blp"));
    folder.quietly("d -e out.blp back");
    assert_eq!(folder.read("back"), folder.read("in"));
}

#[test]
fn everything_is_told_when_everything_is_wanted() {
    let folder = Folder::new();
    let said = folder.line("-d -n 1 c -z 1M in out.blp");
    for line in [
        "blpk: command line argument parsing complete",
        "blpk:     cname: blosclz",
        "blpk:     chunk_size: 1048576",
        "blpk: Handle chunk '0'",
        "blpk: checksum (adler32): b'nl\\x8b1'",
        "blpk: chunk handled, in: 1.0M (1048576B) out: 5.67K (5802B)",
        "blpk: Handle chunk '2' (last)",
        "blpk: Writing '3' offsets: '[296, 6102, 11908]'",
        "blpk: compression ratio: 168.586682",
    ] {
        assert!(
            said.out().lines().any(|said| said == line),
            "{line}\n{}",
            said.out()
        );
    }
    let said = folder.line("-d -n 1 d out.blp back");
    for line in [
        "blpk: decompressing chunk '1'",
        "blpk: checksum OK (adler32): b'nl\\x8b1'",
    ] {
        assert!(
            said.out().lines().any(|said| said == line),
            "{line}\n{}",
            said.out()
        );
    }
}

#[test]
fn row_p10_whatever_is_wrong_is_one_error() {
    let folder = Folder::new();
    folder.write("bad.json", b"{");
    std::fs::create_dir(folder.path("folder")).unwrap();
    std::fs::create_dir(folder.path("folder.blp")).unwrap();
    let mut damaged = fixture_with_digest();
    let end = damaged.len() - 30;
    damaged[end] ^= 1;
    folder.write("damaged.blp", &damaged);
    let mut header = fixture_with_digest();
    header[6] = 9;
    folder.write("checksum.blp", &header);
    folder.write("short.blp", &damaged[..damaged.len() - 20]);
    let mut version = fixture_with_digest();
    version[4] = 7;
    folder.write("version.blp", &version);
    folder.quietly("c -o in nooffsets.blp");
    folder.quietly("c --max-app-chunks 0 in full.blp");
    folder.quietly("c -m m.json in meta.blp");
    for (line, text) in [
        (
            "c -z 0 in x",
            "'chunk_size' must be in the range 1 <= n <= 2147483631, not '0'",
        ),
        (
            "c -z 2147483632 in x",
            "'chunk_size' must be in the range 1 <= n <= 2147483631, not '2147483632'",
        ),
        ("c -t 0 in x", "typesize can only be in the 1-255 range."),
        (
            "c -t 256 in x",
            "'typesize' must be in the range 0 <= n <= 255, not '256'",
        ),
        (
            "c -t -1 in x",
            "'typesize' must be in the range 0 <= n <= 255, not '-1'",
        ),
        (
            "c -m nope.json in x",
            "metadata file 'nope.json' does not exist!",
        ),
        (
            "c -m bad.json in x",
            "the metadata are no valid JSON: no key at byte 1",
        ),
        ("c folder x", "'folder' is a directory"),
        ("d folder.blp x", "'folder.blp' is a directory"),
        (
            "d damaged.blp x",
            "Checksum mismatch detected in chunk, expected: '",
        ),
        (
            "d checksum.blp x",
            "there is no checksum with the number '9'",
        ),
        ("d short.blp x", "the file ends inside of a chunk"),
        (
            "d version.blp x",
            "format version of file was not '3' as expected, but '7'",
        ),
        (
            "i version.blp",
            "format version of file was not '3' as expected, but '7'",
        ),
        (
            "a nooffsets.blp in",
            "Appending to a file without offsets is not yet supported",
        ),
        ("a full.blp in", "not enough space"),
        (
            "a -m m.json meta.blp small",
            "you requested to update metadata, but this has not changed",
        ),
        (
            "a -m m.json full.blp small",
            "unable to seek to metadata if it does not exist",
        ),
    ] {
        let said = folder.line(line);
        let error = said.error(1);
        assert!(
            error.starts_with(text) && error.lines().count() == 1,
            "blpk {line}: {error}"
        );
        assert!(!folder.exists("x"), "blpk {line}");
    }
    // A file of another kind is told of in a second line, by all subcommands.
    folder.write("other.blp", &[0; 100]);
    for line in ["i other.blp", "d other.blp x", "a other.blp in"] {
        assert_eq!(
            folder.line(line).error(1),
            "the magic marker b'blpk' is missing from the bloscpack header, instead we found: b'\\x00\\x00\\x00\\x00'\nblpk: error: This might not be a bloscpack compressed file."
        );
    }
}

fn fixture_with_digest() -> Vec<u8> {
    common::recorded("iota_default.blp")
}

#[test]
fn row_p15_info_tells_of_what_it_does_not_know() {
    let folder = Folder::new();
    let mut bits = fixture_with_digest();
    bits[5] = 0x21;
    folder.write("bits", &bits);
    let error = "Element 5 was non-zero when attempting to decode options";
    assert!(folder.line("i bits").error(1).starts_with(error));

    for (flags, name) in [
        (0xA1, "unknown (5)"),
        (0xC1, "unknown (6)"),
        (0xE1, "unknown (7)"),
    ] {
        let mut codec = fixture_with_digest();
        codec[120 + 2] = flags;
        folder.write("codec", &codec);
        let said = folder.line("i codec");
        assert!(
            said.out().ends_with(&format!("('codec', '{name}')])\n")),
            "{}",
            said.out()
        );
    }

    let mut none = b"blpk\x03\0\0\x08".to_vec();
    none.extend([0xFF; 8]);
    none.extend([0; 16]);
    none.extend(b"noise noise noise noise noise");
    folder.write("none", &none);
    let said = folder.line("i none");
    assert_eq!(said.status, 0);
    let end = "blpk:     chunk_size: -1\nblpk:     last_chunk: -1\nblpk:     nchunks: 0\nblpk:     max_app_chunks: 0\nblpk: There are no chunks\n";
    assert!(said.out().ends_with(end), "{}", said.out());
}

#[test]
fn row_p3_info_tells_of_unknown_metadata() {
    let folder = Folder::new();
    let mut other = common::recorded("meta_zlib.blp");
    other[32..36].copy_from_slice(b"CBOR");
    folder.write("x.blp", &other);
    let said = folder.line("i x.blp");
    assert!(
        said.out()
            .contains("blpk: Metadata:\nblpk: the '46' bytes of b'CBOR' are of an unknown kind\n"),
        "{}",
        said.out()
    );
    assert_eq!(folder.line("d x.blp y").status, 0);
    assert_eq!(folder.read("y"), iota_of_fixture());
}

fn iota_of_fixture() -> Vec<u8> {
    common::iota(40_000)
}

#[test]
fn row_p6_appended_items_are_those_of_the_header() {
    let folder = Folder::new();
    folder.quietly("c -t 4 small x.blp");
    folder.quietly("a x.blp small");
    let said = folder.line("i --json --list-chunks x.blp");
    let value: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(value["chunks"][1]["typesize"], 4);
    folder.quietly("a -t 2 x.blp small");
    let said = folder.line("i --json --list-chunks x.blp");
    let value: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(value["header"]["typesize"], 4);
    assert_eq!(value["chunks"][2]["typesize"], 2);
}

#[test]
fn row_p9_a_file_is_not_its_own_output_and_failures_leave_nothing() {
    let folder = Folder::new();
    folder.quietly("c in in.blp");
    let before = folder.read("in.blp");
    for line in [
        "-f c in.blp in.blp",
        "-f d in.blp in.blp",
        "a in.blp in.blp",
    ] {
        let said = folder.line(line);
        assert_eq!(said.error(1), "'in.blp' can't be input and output at once");
        assert_eq!(folder.read("in.blp"), before);
    }
    let mut damaged = before;
    let end = damaged.len() - 10;
    damaged[end] ^= 1;
    folder.write("damaged.blp", &damaged);
    folder.write("there", b"was there");
    assert_eq!(folder.line("d damaged.blp new").status, 1);
    assert_eq!(folder.line("-f d damaged.blp there").status, 1);
    assert_eq!(folder.read("there"), b"was there");
    let mut names: Vec<_> = std::fs::read_dir(folder.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "damaged.blp",
            "in",
            "in.blp",
            "m.json",
            "null.json",
            "small",
            "there",
            "zero"
        ]
    );
}

#[test]
fn row_p14_an_empty_file_is_appended_and_metadata_are_checked_first() {
    let folder = Folder::new();
    folder.quietly("c -m m.json in x.blp");
    let before = folder.read("x.blp");
    folder.quietly("a x.blp zero");
    assert_eq!(folder.read("x.blp"), before);
    assert_eq!(folder.line("a -m m.json x.blp small").status, 1);
    assert_eq!(folder.read("x.blp"), before);
}

#[test]
fn row_p5_something_is_appended_to_nothing() {
    let folder = Folder::new();
    folder.quietly("c zero x.blp");
    folder.quietly("a x.blp in");
    folder.quietly("d x.blp back");
    assert_eq!(folder.read("back"), folder.read("in"));
}
