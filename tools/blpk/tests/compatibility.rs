//! Compatibility with Bloscpack 0.16.0: the output of command lines equals the recorded one.

mod common;

use common::TestDir;

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
            records.push(Record { line: text.to_owned(), ..Record::default() });
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
fn output_is_that_of_bloscpack() {
    let records = records(include_str!("recorded.txt"));
    assert!(records.len() > 60);
    compare(&TestDir::new(), &records);
}

#[test]
fn verbose_and_debug_output_is_that_of_bloscpack() {
    let records = records(include_str!("recorded_verbose.txt"));
    assert!(records.len() > 80);
    let folder = TestDir::new();
    folder.write("tiny.json", br#"{"dtype": "float32"}"#);
    for name in ["iota_maxapp0.blp", "meta_nochecksum_nooffsets.blp"] {
        folder.write(name, &common::recorded(name));
    }
    compare(&folder, &records);
}

/// Runs the command lines in order, and compares their output with the recorded one, line by line.
fn compare(folder: &TestDir, records: &[Record]) {
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
            // `blpk` may detect the error earlier, and always prints a message.
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
    let folder = TestDir::new();
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
        (10, 10, -1, 10, "'max_app_chunks' can not be non '0' if 'nchunks' is '-1'"),
        (10, 10, -2, 0, "'nchunks' must be in the range -1 <= n <= 9223372036854775807, not '-2'"),
        (
            10,
            10,
            1,
            -1,
            "'max_app_chunks' must be in the range 0 <= n <= 9223372036854775807, not '-1'",
        ),
        (-2, 10, 1, 0, "'chunk_size' must be in the range -1 <= n <= 2147483631, not '-2'"),
        (
            10,
            i32::MAX,
            1,
            0,
            "'last_chunk' must be in the range -1 <= n <= 2147483631, not '2147483647'",
        ),
        (0, 5, 1, 0, "'last_chunk' (5) is larger than 'chunk_size' (0)"),
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
fn errors_list_additional_subcommands_and_codecs() {
    let folder = TestDir::new();
    let result = folder.line("zz");
    assert_eq!(result.status, 2);
    let start = "usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...\nblpk: error: argument : invalid choice: 'zz' (choose from 'compress', 'c', 'decompress', 'd', 'append', 'a', 'info', 'i', ";
    assert!(result.err().starts_with(start), "{}", result.err());
    let result = folder.line("c in -c foo");
    assert!(result.err().ends_with("blpk c: error: argument -c/--codec: invalid choice: 'foo' (choose from 'blosclz', 'lz4', 'lz4hc', 'snappy', 'zlib', 'zstd')\n"));
    assert_eq!(result.status, 2);
}

#[test]
fn help_begins_with_the_usage_of_bloscpack_and_the_version_names_bloscpack() {
    let folder = TestDir::new();
    let result = folder.line("-h");
    assert_eq!((result.status, result.err()), (0, ""));
    assert!(result.out().starts_with("usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...\n\ncommand line de/compression with blosc\n"));
    let result = folder.line("a --help");
    assert_eq!((result.status, result.err()), (0, ""));
    assert!(result.out().starts_with("usage: blpk a [-h] [-t <size>] [-l [0, 9]] [-s] [-c <codec>] [-e]\n              [-m <metadata>]\n              <original_file> <new_file>\n"));
    let result = folder.line("--version");
    assert_eq!(
        result.out(),
        concat!(
            "bloscpack: '0.16.0' ferroblosc: '",
            env!("CARGO_PKG_VERSION"),
            "' blosc: '1.21.6'\n"
        )
    );
}

#[test]
fn row_p16_level_is_an_option_and_files_may_follow_options() {
    let folder = TestDir::new();
    folder.succeed("c --level 0 in --typesize 4 out.blp");
    folder.succeed("c -l 0 -t 4 in other.blp");
    assert_eq!(folder.read("out.blp"), folder.read("other.blp"));
    folder.succeed("d -e out.blp back");
    assert_eq!(folder.read("back"), folder.read("in"));
}

#[test]
fn row_p10_every_failure_prints_one_error() {
    let folder = TestDir::new();
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
    folder.succeed("c -o in nooffsets.blp");
    folder.succeed("c --max-app-chunks 0 in full.blp");
    folder.succeed("c -m m.json in meta.blp");
    for (line, text) in [
        ("c -z 0 in x", "'chunk_size' must be in the range 1 <= n <= 2147483631, not '0'"),
        (
            "c -z 2147483632 in x",
            "'chunk_size' must be in the range 1 <= n <= 2147483631, not '2147483632'",
        ),
        ("c -t 0 in x", "typesize can only be in the 1-255 range."),
        ("c -t 256 in x", "'typesize' must be in the range 0 <= n <= 255, not '256'"),
        ("c -t -1 in x", "'typesize' must be in the range 0 <= n <= 255, not '-1'"),
        ("c -m nope.json in x", "metadata file 'nope.json' does not exist!"),
        ("c -m bad.json in x", "the metadata is not valid JSON: no key at byte 1"),
        ("c folder x", "'folder' is a directory"),
        ("d folder.blp x", "'folder.blp' is a directory"),
        ("d damaged.blp x", "Checksum mismatch detected in chunk, expected: '"),
        ("d checksum.blp x", "there is no checksum with the number '9'"),
        ("d short.blp x", "the file ends inside of a chunk"),
        ("d version.blp x", "format version of file was not '3' as expected, but '7'"),
        ("i version.blp", "format version of file was not '3' as expected, but '7'"),
        ("a nooffsets.blp in", "Appending to a file without offsets is not yet supported"),
        ("a full.blp in", "not enough space"),
        (
            "a -m m.json meta.blp small",
            "you requested to update metadata, but this has not changed",
        ),
        ("a -m m.json full.blp small", "unable to seek to metadata if it does not exist"),
    ] {
        let result = folder.line(line);
        let error = result.error(1);
        assert!(error.starts_with(text) && error.lines().count() == 1, "blpk {line}: {error}");
        assert!(!folder.exists("x"), "blpk {line}");
    }
    // All subcommands print a second line for files that are not containers.
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
fn row_p15_info_reports_unknown_options_and_codecs() {
    let folder = TestDir::new();
    let mut bits = fixture_with_digest();
    bits[5] = 0x21;
    folder.write("bits", &bits);
    let error = "Element 5 was non-zero when attempting to decode options";
    assert!(folder.line("i bits").error(1).starts_with(error));

    for (flags, name) in [(0xA1, "unknown (5)"), (0xC1, "unknown (6)"), (0xE1, "unknown (7)")] {
        let mut codec = fixture_with_digest();
        codec[120 + 2] = flags;
        folder.write("codec", &codec);
        let result = folder.line("i codec");
        assert!(result.out().ends_with(&format!("('codec', '{name}')])\n")), "{}", result.out());
    }

    let mut none = b"blpk\x03\0\0\x08".to_vec();
    none.extend([0xFF; 8]);
    none.extend([0; 16]);
    none.extend(b"noise noise noise noise noise");
    folder.write("none", &none);
    let result = folder.line("i none");
    assert_eq!(result.status, 0);
    let end = "blpk:     chunk_size: -1\nblpk:     last_chunk: -1\nblpk:     nchunks: 0\nblpk:     max_app_chunks: 0\nblpk: There are no chunks\n";
    assert!(result.out().ends_with(end), "{}", result.out());
}

#[test]
fn row_p3_info_reports_unknown_metadata() {
    let folder = TestDir::new();
    let mut other = common::recorded("meta_zlib.blp");
    other[32..36].copy_from_slice(b"CBOR");
    folder.write("x.blp", &other);
    let result = folder.line("i x.blp");
    assert!(
        result
            .out()
            .contains("blpk: Metadata:\nblpk: the '46' bytes of b'CBOR' are of an unknown kind\n"),
        "{}",
        result.out()
    );
    assert_eq!(folder.line("d x.blp y").status, 0);
    assert_eq!(folder.read("y"), iota_of_fixture());
}

fn iota_of_fixture() -> Vec<u8> {
    common::iota(40_000)
}

#[test]
fn row_p6_append_uses_the_typesize_of_the_header() {
    let folder = TestDir::new();
    folder.succeed("c -t 4 small x.blp");
    folder.succeed("a x.blp small");
    let result = folder.line("i --json --list-chunks x.blp");
    let value: serde_json::Value = serde_json::from_slice(&result.stdout).unwrap();
    assert_eq!(value["chunks"][1]["typesize"], 4);
    folder.succeed("a -t 2 x.blp small");
    let result = folder.line("i --json --list-chunks x.blp");
    let value: serde_json::Value = serde_json::from_slice(&result.stdout).unwrap();
    assert_eq!(value["header"]["typesize"], 4);
    assert_eq!(value["chunks"][2]["typesize"], 2);
}

#[test]
fn row_p9_a_file_is_not_its_own_output_and_failures_leave_no_file() {
    let folder = TestDir::new();
    folder.succeed("c in in.blp");
    let before = folder.read("in.blp");
    for line in ["-f c in.blp in.blp", "-f d in.blp in.blp", "a in.blp in.blp"] {
        let result = folder.line(line);
        assert_eq!(result.error(1), "'in.blp' cannot be input and output at once");
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
        ["damaged.blp", "in", "in.blp", "m.json", "null.json", "small", "there", "zero"]
    );
}

#[test]
fn row_p14_empty_files_can_be_appended_and_metadata_are_checked_first() {
    let folder = TestDir::new();
    folder.succeed("c -m m.json in x.blp");
    let before = folder.read("x.blp");
    folder.succeed("a x.blp zero");
    assert_eq!(folder.read("x.blp"), before);
    assert_eq!(folder.line("a -m m.json x.blp small").status, 1);
    assert_eq!(folder.read("x.blp"), before);
}

#[test]
fn row_p5_append_to_an_empty_container() {
    let folder = TestDir::new();
    folder.succeed("c zero x.blp");
    folder.succeed("a x.blp in");
    folder.succeed("d x.blp back");
    assert_eq!(folder.read("back"), folder.read("in"));
}
