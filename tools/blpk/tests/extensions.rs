//! Options and subcommands that Bloscpack does not have.

mod common;

use common::{TestDir, iota, recorded};
use std::fs::{create_dir, hard_link};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn pipes_are_read_and_written() {
    let folder = TestDir::new();
    let data = iota(300_000);
    for line in ["-n 2 c - -", "c --raw-input --raw-output", "c --raw-input -", "-v c - -"] {
        let packed = folder.line_with(line, &data);
        assert_eq!(packed.status, 0, "{line}: {}", packed.err());
        // Messages go to standard error.
        assert_eq!(line.contains("-v"), packed.err().contains("blpk: done\n"));
        assert!(packed.stdout.starts_with(b"blpk\x03\x00\x01\x08\xFF"), "{line}");
        let back = folder.line_with("d - -", &packed.stdout);
        assert_eq!((back.status, back.err()), (0, ""));
        assert!(back.stdout == data, "{line}");
    }
    // The header records the number of chunks, since the size of an input file is known in advance,
    // and the header of an output file is written again at the end.
    let packed = folder.line("c in -");
    assert_eq!(packed.stdout[16..24], 3_u64.to_le_bytes());
    let result = folder.line_with("c - piped.blp", &data);
    assert_eq!((result.status, result.out()), (0, ""));
    assert_eq!(folder.read("piped.blp")[16..24], 3_u64.to_le_bytes());
    folder.succeed("d piped.blp back");
    assert_eq!(folder.read("back"), data);
    // Such a file has no offsets, so an option for later appends is not ignored.
    for line in ["c --max-app-chunks 5 - none.blp", "c --max-app-chunks 5 in -"] {
        let result = folder.line_with(line, &data);
        assert_eq!(result.status, 1, "{line}");
        let text = format!("{}{}", result.out(), result.err());
        assert!(text.contains("--max-app-chunks: a file from or to a pipe"), "{line}: {text}");
        assert!(!folder.exists("none.blp"));
    }
    assert_eq!(folder.line_with("c --max-app-chunks 0 - none.blp", &data).status, 0);
    let result = folder.line_with("c - empty.blp", b"");
    assert_eq!(result.status, 0);
    folder.succeed("-f d empty.blp back");
    assert_eq!(folder.read("back"), b"");
    folder.succeed("c in x.blp");
    assert_eq!(folder.line_with("a x.blp -", b"more").status, 0);
    assert_eq!(folder.line_with("a --raw-input x.blp", b"more").status, 0);
    folder.succeed("-f d x.blp back");
    assert_eq!(folder.read("back"), [data.as_slice(), b"moremore"].concat());
}

#[test]
fn debug_output_does_not_read_pipes_twice() {
    let folder = TestDir::new();
    folder.succeed("c -m m.json in x.blp");
    let fifo = folder.path("fifo.blp");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let packed = folder.read("x.blp");
    let writer = std::thread::spawn(move || std::fs::write(fifo, packed).unwrap());
    let result = folder.line("-d d fifo.blp back");
    assert_eq!(result.status, 0, "{}", result.out());
    writer.join().unwrap();
    assert_eq!(folder.read("back"), folder.read("in"));
}

#[test]
fn only_one_extension_is_removed() {
    let folder = TestDir::new();
    folder.succeed("c in in.blp");
    folder.succeed("c in.blp");
    folder.succeed("-f d in.blp.blp");
    assert_eq!(folder.line("v in.blp").status, 0);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = TestDir::new();
    folder.succeed("c in x.blp");
    for arguments in [
        &["-h"][..],
        &["i", "x.blp"],
        &["i", "--json", "x.blp"],
        &["completions", "bash"],
        &["man"],
        &["d", "x.blp", "-"],
    ] {
        let mut child = folder.start(arguments);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let result = String::from_utf8(output.stderr).unwrap();
        assert!(!result.contains("panicked"), "{arguments:?}: {result}");
        assert_ne!(output.status.code(), Some(101), "{arguments:?}");
    }
}

#[test]
fn errors_go_to_standard_error_if_data_go_to_standard_output() {
    let folder = TestDir::new();
    let result = folder.line_with("d - -", b"nothing of ours");
    assert_eq!((result.status, result.out()), (1, ""));
    assert!(result.err().starts_with(
        "blpk: error: attempting to decode a bloscpack header of length '15', not '32'\n"
    ));
    let metadata = folder.line("c -m m.json in -");
    let result = folder.line_with("d - -", &metadata.stdout);
    assert!(result.err().starts_with("blpk: Metadata:\n"));
    assert_eq!(result.stdout, folder.read("in"));
    for line in ["c -", "c --raw-input", "d -"] {
        assert_eq!(folder.line(line).status, 1, "{line}");
    }
}

#[test]
fn errors_go_to_standard_error_on_request() {
    let folder = TestDir::new();
    let error = "blpk: error: file 'nope' does not exist!\n";
    let result = folder.line("--stderr i nope");
    assert_eq!((result.status, result.out(), result.err()), (1, "", error));
    let output = folder.command(&["i", "nope"]).env("BLPK_STDERR", "1").output().unwrap();
    assert_eq!((output.stdout, output.stderr), (vec![], error.as_bytes().to_vec()));
}

#[test]
fn quiet_prints_only_errors_and_verbose_prints_the_time() {
    let folder = TestDir::new();
    folder.succeed("c -m m.json in x.blp");
    folder.succeed("-q d x.blp back");
    folder.succeed("-q i x.blp");
    assert_eq!(folder.line("-q i nope").error(1), "file 'nope' does not exist!");
    assert_eq!(folder.line("-q -v i x.blp").status, 2);
    let result = folder.line("-v -f c in x.blp");
    let time = result.out().lines().find(|line| line.starts_with("blpk: elapsed time: "));
    assert!(time.is_some_and(|line| line.ends_with("/s)")), "{}", result.out());
}

#[test]
fn verify_accepts_undamaged_files_and_reports_damage() {
    let folder = TestDir::new();
    folder.succeed("c -z 100K in x.blp");
    let result = folder.line("verify x.blp");
    assert_eq!(result.status, 0);
    assert_eq!(
        result.out(),
        "blpk: chunks: 24\nblpk: plain size: 2.29M (2400000B)\nblpk: no faults found\n"
    );
    let mut damaged = folder.read("x.blp");
    let len = damaged.len();
    damaged[len - 10] ^= 1;
    damaged[len - 5000] ^= 1;
    folder.write("y.blp", &damaged);
    let result = folder.line("v y.blp");
    assert_eq!(result.status, 3);
    assert_eq!(result.out().matches("blpk: error: Checksum mismatch detected in chunk").count(), 2);
    let result = folder.line("v --json y.blp");
    assert_eq!(result.status, 3);
    assert_eq!(json(&result.stdout)["faults"].as_array().unwrap().len(), 2);
    folder.write("z.blp", &damaged[..len - 1]);
    assert_eq!(folder.line("v z.blp").status, 3);
    folder.write("other", b"something else, longer than a header is");
    assert_eq!(folder.line("v other").status, 3);
    assert_eq!(folder.line("v nope").status, 1);
    folder.write("garbage.blp", &recorded("append_shrunk_tail_garbage.blp"));
    let result = folder.line("v garbage.blp");
    assert_eq!(result.status, 0);
    assert!(result.out().contains("unused bytes after the last chunk: 479\n"));
}

#[test]
fn ranges_are_decompressed() {
    let folder = TestDir::new();
    let data = folder.read("in");
    for line in ["c -z 100K in x.blp", "c -o -z 100K in y.blp"] {
        folder.succeed(line);
    }
    for file in ["x.blp", "y.blp"] {
        for (option, range) in [
            ("--range 0:10", 0..10),
            ("--range 1000000:300000", 1_000_000..1_300_000),
            ("--range 2399999:", 2_399_999..2_400_000),
            ("--range 100K:1K", 102_400..103_424),
            ("--chunks 2:3", 204_800..512_000),
            ("--chunks 23:", 2_355_200..2_400_000),
            ("--chunks :1", 0..102_400),
        ] {
            let result = folder.line(&format!("d {option} {file} -"));
            assert_eq!((result.status, result.err()), (0, ""), "{option}");
            assert!(result.stdout == data[range], "{option} of {file}");
        }
    }
    folder.succeed("d --range 8:8 x.blp part");
    assert_eq!(folder.read("part"), 1_u64.to_le_bytes());
    assert_eq!(
        folder.line("-f d --range 2400000:1 x.blp part").error(1),
        "there are no '1' bytes from '2400000' on, only '2400000' in all"
    );
    assert_eq!(folder.line("-f d --chunks 24:1 x.blp part").error(1), "there is no chunk '24'");
    for chunks in ["25:", "25:0", "99:1"] {
        let first = chunks.split(':').next().unwrap();
        let result = folder.line(&format!("-f d --chunks {chunks} x.blp part"));
        assert_eq!(result.error(1), format!("there is no chunk '{first}'"));
    }
    assert_eq!(folder.line("-f d --range x x.blp part").status, 2);
    for option in ["--range 0:10", "--chunks 0:1"] {
        assert_eq!(
            folder.line(&format!("-f d --npy {option} x.blp part")).error(1),
            "--npy cannot be used with --range or --chunks"
        );
    }
    assert_eq!(folder.read("part"), 1_u64.to_le_bytes());
    // The end is a chunk number without chunks after it.
    folder.succeed("-f d --chunks 24: x.blp part");
    assert_eq!(folder.read("part"), b"");
}

#[test]
fn messages_that_cannot_be_written_are_an_error() {
    let folder = TestDir::new();
    folder.succeed("c in x.blp");
    for line in [
        "i x.blp",
        "i --json x.blp",
        "v x.blp",
        "v --json x.blp",
        "e in",
        "e missing",
        "-v c in y.blp",
        "man",
        "completions bash",
        "--version",
        "-h",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(&arguments).stdout(full).output().unwrap();
        let text =
            "blpk: error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), text, "{line}");
        assert_eq!(output.status.code(), Some(1), "{line}");
        // A closed pipe is not an error.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(&arguments).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    }
}

#[test]
fn a_reader_that_closes_the_pipe_of_the_data_is_no_error() {
    let folder = TestDir::new();
    folder.write("data", &vec![b'x'; 4 << 20]);
    folder.succeed("c data data.blp");
    for arguments in [&["d", "data.blp", "-"], &["c", "data", "-"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(arguments).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        // Other errors of standard output are errors.
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn paths_of_outputs_with_a_slash_at_the_end_are_refused_at_once() {
    let folder = TestDir::new();
    folder.write("data", &[b'x'; 1000]);
    folder.succeed("c data data.blp");
    let before = folder.names();
    for (line, name) in
        [("c data new/", "new/"), ("-f c data data.blp/", "data.blp/"), ("d data.blp new/", "new/")]
    {
        let output = folder.line(line);
        assert_eq!(output.status, 1, "{line}");
        // Not after the complete file was written.
        let text = format!("blpk: error: cannot create {name}: ");
        assert!(output.out().starts_with(&text), "{line}: {}{}", output.out(), output.err());
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn metadata_can_be_saved_and_replaced() {
    let folder = TestDir::new();
    folder.succeed("c -m m.json in x.blp");
    folder.succeed("d --save-metadata saved x.blp back");
    assert_eq!(
        folder.read("saved"),
        br#"{"dtype":"float64","shape":[200000000],"container":"numpy"}"#
    );
    folder.write("new.json", b"[1, 2]");
    folder.succeed("d --chunks 0:1 --save-metadata of_chunks x.blp part");
    assert_eq!(folder.read("of_chunks"), folder.read("saved"));
    folder.succeed("d --range 8:8 --save-metadata of_range x.blp bytes");
    assert_eq!(folder.read("of_range"), folder.read("saved"));
    folder.succeed("metadata x.blp new.json");
    let result = folder.line("i --json x.blp");
    assert_eq!(json(&result.stdout)["metadata"], serde_json::json!([1, 2]));
    assert_eq!(
        folder.line("m x.blp new.json").error(1),
        "you requested to update metadata, but this has not changed"
    );
    folder.succeed("c --reserve 10 -m new.json in y.blp");
    let result = folder.line("i --json y.blp");
    assert_eq!(json(&result.stdout)["metadata_header"]["max_meta_size"], 10);
}

#[test]
fn the_metadata_file_is_neither_input_nor_output() {
    let folder = TestDir::new();
    folder.succeed("c -m m.json in x.blp");
    let (packed, metadata) = (folder.read("x.blp"), folder.read("m.json"));
    create_dir(folder.path("deep")).unwrap();
    symlink("new", folder.path("link")).unwrap();
    symlink("../new", folder.path("deep").join("link")).unwrap();
    symlink("x.blp", folder.path("x.link")).unwrap();
    hard_link(folder.path("x.blp"), folder.path("x.hard")).unwrap();
    let output = |name: &str| format!("'{name}' cannot be output and metadata file at once");
    for name in ["new", "./new", "deep/../new", "link", "deep/link"] {
        for (force, out) in [("-q", "new"), ("-f", "new"), ("-f", "./new"), ("-f", "link")] {
            let result = folder.line(&format!("{force} d x.blp {out} --save-metadata {name}"));
            assert_eq!(result.error(1), output(name));
            assert!(!folder.exists("new"));
        }
    }
    // An existing output stays.
    folder.write("new", b"old");
    for name in ["new", "link", "deep/link"] {
        let result = folder.line(&format!("-f d x.blp new --save-metadata {name}"));
        assert_eq!(result.error(1), output(name));
        assert_eq!(folder.read("new"), b"old");
    }
    for name in ["x.blp", "deep/../x.blp", "x.link", "x.hard"] {
        let result = folder.line(&format!("-f d x.blp back --save-metadata {name}"));
        assert_eq!(result.error(1), "'x.blp' cannot be input and output at once");
        assert_eq!(folder.read("x.blp"), packed);
    }
    // All other reasons are found before data are written, too.
    folder.succeed("c in plain.blp");
    for (line, reason) in [
        ("d x.blp back --save-metadata m.json", "output file 'm.json' exists!"),
        ("d plain.blp back --save-metadata saved", "the file has no metadata"),
        ("d --range 0:8 plain.blp back --save-metadata saved", "the file has no metadata"),
    ] {
        assert_eq!(folder.line(line).error(1), reason);
    }
    assert_eq!(folder.line("d x.blp back --save-metadata none/saved").status, 1);
    assert!(!folder.exists("back") && !folder.exists("saved"));
    // Metadata that are compressed are an input.
    let result = folder.line("-f c -m m.json in ./m.json");
    assert_eq!(result.error(1), "'m.json' cannot be input and output at once");
    assert_eq!(folder.read("m.json"), metadata);
    folder.succeed("-f d x.blp new --save-metadata m.json");
    assert_eq!((folder.read("new"), folder.read("x.blp")), (folder.read("in"), packed));
}

#[test]
fn info_prints_json() {
    let folder = TestDir::new();
    folder.succeed("c -z 1M --bit-shuffle -c zstd --max-app-chunks 5 in x.blp");
    let value = json(&folder.line("i --json --list-chunks x.blp").stdout);
    assert_eq!(value["header"]["nchunks"], 3);
    assert_eq!(value["header"]["max_app_chunks"], 5);
    assert_eq!(value["offsets"][0], 96);
    assert_eq!(value["chunks"].as_array().unwrap().len(), 3);
    assert_eq!(value["chunks"][2]["nbytes"], 302_848);
    assert_eq!(value["first_chunk"]["codec"], "zstd");
    assert_eq!(value["first_chunk"]["bit_shuffle"], true);
    assert_eq!(value["metadata"], serde_json::Value::Null);
    let result = folder.line("i --list-chunks x.blp");
    assert!(result.out().contains("blpk:     2: offset: "), "{}", result.out());
}

#[test]
fn every_codec_filter_and_split_mode_round_trips() {
    let folder = TestDir::new();
    for codec in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        for filter in ["", "-s", "--bit-shuffle"] {
            folder.succeed(&format!("-f c -c {codec} {filter} in x.blp"));
            folder.succeed("-f d x.blp back");
            assert!(folder.read("back") == folder.read("in"), "{codec} {filter}");
        }
    }
    for mode in ["always", "never", "auto", "forward"] {
        folder.succeed(&format!("-f c --split {mode} --block-size 64K in x.blp"));
        folder.succeed("-f d x.blp back");
        assert!(folder.read("back") == folder.read("in"), "{mode}");
    }
    assert_eq!(folder.line("c -s --bit-shuffle in y.blp").status, 2);
    assert_eq!(folder.line("c --split some in y.blp").status, 2);
    assert_eq!(folder.line("c --max-app-chunks -1 in y.blp").status, 1);
}

#[test]
fn errors_of_creation_name_the_requested_output() {
    let folder = TestDir::new();
    folder.succeed("c in x.blp");
    for line in ["c in missing/out", "d x.blp missing/out"] {
        let result = folder.line(line);
        let error = result.error(1);
        assert!(error.starts_with("cannot create missing/out: No such file"), "{error}");
    }
}

#[test]
fn reserves_without_an_effect_are_refused() {
    let folder = TestDir::new();
    for (line, reason) in [
        ("c --reserve 100 in", "--reserve: there are no metadata, see --metadata"),
        ("c --reserve 5G -m m.json in", "--reserve must be <= 4294967295"),
        (
            "c -o --max-app-chunks 3 in",
            "--max-app-chunks: without offsets, no chunks can be appended",
        ),
    ] {
        let result = folder.line(line);
        let expected = (1, format!("blpk: error: {reason}\n"));
        assert_eq!((result.status, result.out().to_owned()), expected, "{line}");
        assert!(!folder.path("in.blp").exists(), "{line}");
    }
    folder.succeed("c --reserve 100 -m null.json in");
}

#[test]
fn npy_files_round_trip() {
    let folder = TestDir::new();
    let mut npy =
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (300000,), }"
            .to_vec();
    npy.resize(127, b' ');
    npy.push(b'\n');
    npy.extend(folder.read("in"));
    folder.write("in.npy", &npy);
    folder.succeed("c --npy in.npy x.blp");
    let result = folder.line("d --npy x.blp back.npy");
    assert!(result.out().contains("'dtype': \"'<i8'\""), "{}", result.out());
    assert_eq!(folder.read("back.npy"), npy);
    folder.succeed("c in y.blp");
    assert_eq!(
        folder.line("d --npy y.blp z.npy").error(1),
        "the file does not contain a NumPy array"
    );
    assert!(!folder.exists("z.npy"));
    assert_eq!(
        folder.line("c --npy in z.blp").error(1),
        "not a .npy file: its first bytes are not those of the format"
    );
}

#[test]
fn estimates_are_close_to_the_compressed_size() {
    let folder = TestDir::new();
    let value = json(&folder.line("estimate --json in").stdout);
    folder.succeed("c -o in x.blp");
    let real = folder.read("x.blp").len() as f64;
    let estimated = value["estimated_size"].as_f64().unwrap();
    assert!((0.9..1.1).contains(&(estimated / real)), "{estimated} instead of {real}");
    let result = folder.line("e -c zstd -l 9 -z 100K in");
    assert!(result.out().contains("blpk: sampled: 16 of 24 chunks\n"), "{}", result.out());
    assert_eq!(folder.line("e zero").status, 0);
    let result = folder.line("bench in");
    assert!(result.out().contains("blpk: suitable chunk size: "), "{}", result.out());
    let value = json(&folder.line("b --json in").stdout);
    assert!(value["best"].as_u64().unwrap() >= 64 << 10);
}

#[test]
fn completions_and_the_manual_contain_every_option() {
    let folder = TestDir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let result = folder.line(&format!("completions {shell}"));
        assert_eq!(result.status, 0);
        assert!(result.out().contains("max-app-chunks"), "{shell}");
    }
    assert_eq!(folder.line("completions tcsh").status, 2);
    let result = folder.line("man");
    assert!(result.out().contains(".TH blpk 1") && result.out().contains("max\\-app\\-chunks"));
}

/// Waits until a condition holds.
fn wait_for(event: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "timeout: {event}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_killed_append_can_be_undone() {
    let folder = TestDir::new();
    folder.succeed("c -z 100K -l 0 small x.blp");
    folder.succeed("-f c -z 100K -l 0 in x.blp");
    let before = folder.read("x.blp");

    let mut child = folder.start(&["a", "x.blp", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&vec![7; 1_000_000]).unwrap();
    stdin.flush().unwrap();
    // The last chunk was overwritten, and incomplete data follow it.
    wait_for("the append", || folder.exists("x.blp.journal") && folder.read("x.blp") != before);
    let result = folder.line("a x.blp small");
    assert_eq!(result.error(1), "'x.blp' is being changed by another process");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdin);

    let interrupted =
        "a change of 'x.blp' was interrupted; 'blpk recover' restores the state before it";
    for line in ["d x.blp back", "i x.blp"] {
        assert_eq!(folder.line(line).error(1), interrupted, "{line}");
    }
    assert_eq!(folder.line("v x.blp").error(3), interrupted);
    let result = folder.line("recover x.blp");
    assert_eq!((result.status, result.out()), (0, "blpk: an interrupted change was undone\n"));
    assert_eq!(folder.read("x.blp"), before);
    assert_eq!(folder.line("r x.blp").out(), "blpk: there is no interrupted change\n");
    assert_eq!(folder.line("v x.blp").status, 0);
}

#[test]
fn an_append_undoes_a_killed_append() {
    let folder = TestDir::new();
    folder.succeed("c -z 100K in x.blp");
    let mut child = folder.start(&["a", "x.blp", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&vec![7; 1_000_000]).unwrap();
    wait_for("the append", || folder.exists("x.blp.journal"));
    child.kill().unwrap();
    child.wait().unwrap();
    folder.succeed("a x.blp small");
    folder.succeed("d x.blp back");
    assert_eq!(folder.read("back"), [folder.read("in"), folder.read("small")].concat());
    assert!(!folder.exists("x.blp.journal"));
}

/// Returns incompressible bytes.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(next).collect()
}

#[test]
fn errors_of_a_full_disk_name_the_target() {
    let folder = TestDir::new();
    folder.write("data", &noise(60_000));
    folder.succeed("compress data data.blp");
    let journal = folder.path("data.blp.journal").display().to_string();
    for (line, action) in [
        ("compress data out.blp", "write to out.blp".to_owned()),
        ("decompress data.blp out", "write to out".to_owned()),
        ("append data.blp data", format!("write to {journal}")),
    ] {
        let before = folder.read("data.blp");
        let arguments: Vec<&str> = line.split(' ').collect();
        let result = folder.limited("-f 8", &arguments);
        let output = format!("{}{}", result.out(), result.err());
        let text = format!("blpk: error: cannot {action}: File too large (os error 27)\n");
        assert_eq!((result.status, &*output), (1, &*text), "{line}");
        assert_eq!(folder.read("data.blp"), before, "{line}");
    }
}

#[test]
fn errors_of_standard_output_name_it() {
    let folder = TestDir::new();
    folder.write("data", &noise(60_000));
    folder.succeed("compress data data.blp");
    for arguments in [["compress", "data", "-"], ["decompress", "data.blp", "-"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(&arguments).stdout(full).output().unwrap();
        let text =
            "blpk: error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), text, "{arguments:?}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn default_outputs_keep_all_bytes_of_the_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = TestDir::new();
    let names = [&b"\xff"[..], b"\xfe"].map(|name| folder.path("").join(OsStr::from_bytes(name)));
    for (name, content) in names.iter().zip(["one", "two"]) {
        std::fs::write(name, content).unwrap();
        let output = folder.command(&["-f", "c"]).arg(name).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        std::fs::remove_file(name).unwrap();
    }
    for (name, content) in names.iter().zip(["one", "two"]) {
        let packed = name.with_extension("blp");
        let output = folder.command(&["d"]).arg(&packed).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(std::fs::read(name).unwrap(), content.as_bytes());
    }
}

#[test]
fn files_of_unknown_size_are_read_to_their_end() {
    let folder = TestDir::new();
    // A regular file of the size 0.
    let name = "/proc/version";
    let Ok(expected) = std::fs::read(name) else {
        return;
    };
    folder.succeed(&format!("c {name} x.blp"));
    folder.succeed("d x.blp back");
    assert!(folder.read("back") == expected);
    folder.succeed("c in y.blp");
    folder.succeed(&format!("a y.blp {name}"));
    folder.succeed("-f d y.blp back");
    assert!(folder.read("back") == [folder.read("in"), expected].concat());
}

#[test]
fn a_replaced_file_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = TestDir::new();
    folder.succeed("c small x.blp");
    let path = folder.path("x.blp");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    // Only privileged programs change owners.
    let is_root = chown(&path, Some(1234), Some(1235)).is_ok();
    let facts = || {
        let found = path.metadata().unwrap();
        (found.uid(), found.gid(), found.mode())
    };
    let before = facts();
    folder.succeed("-f c small x.blp");
    assert_eq!(facts(), before, "{is_root}");
}

#[test]
fn signals_leave_no_files() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = TestDir::new();
        let before = folder.names();
        let mut child = folder.start(&["c", "-", "out.blp"]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&noise(1 << 20)).unwrap();
        wait_for("the output", || folder.names().len() > before.len());
        let killed = std::process::Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        let status = child.wait().unwrap();
        drop(stdin);
        assert!(!status.success());
        assert_eq!(folder.names(), before, "{signal}");
    }
}

#[test]
fn files_that_are_read_at_any_position_are_regular_files() {
    let folder = TestDir::new();
    let made = std::process::Command::new("mkfifo").arg(folder.path("fifo.blp")).status();
    assert!(made.unwrap().success());
    create_dir(folder.path("folder")).unwrap();
    let fifo = "cannot open fifo.blp: this is not a regular file";
    let directory = "cannot open folder: Is a directory (os error 21)";
    for (line, expected) in [
        ("--stderr i fifo.blp", fifo),
        ("--stderr e fifo.blp", fifo),
        ("--stderr b fifo.blp", fifo),
        ("--stderr d --range 0:1 fifo.blp out", fifo),
        ("--stderr i folder", directory),
        ("--stderr r folder", directory),
    ] {
        let mut child = folder.start(&line.split(' ').collect::<Vec<_>>());
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{line}: it waits for the FIFO");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(errors, format!("blpk: error: {expected}\n"), "{line}");
        assert_eq!(output.status.code(), Some(1), "{line}");
    }
}

/// A file that cannot be reached is not reported as missing.
#[test]
fn files_that_cannot_be_reached_have_another_error_than_missing_ones() {
    let folder = TestDir::new();
    symlink("loop.blp", folder.path("loop.blp")).unwrap();
    let long = "x".repeat(300);
    for (line, expected) in [
        ("c loop.blp out".to_owned(), "input file 'loop.blp': Too many levels of symbolic links"),
        ("d loop.blp out".to_owned(), "input file 'loop.blp': Too many levels of symbolic links"),
        ("i loop.blp".to_owned(), "file 'loop.blp': Too many levels of symbolic links"),
        ("a loop.blp in".to_owned(), "original file 'loop.blp': Too many levels"),
        ("c -m loop.blp in out".to_owned(), "metadata file 'loop.blp': Too many levels"),
        ("c -m . in out".to_owned(), "'.': Is a directory"),
        (format!("c {long} out"), "': File name too long"),
    ] {
        let result = folder.line(&line);
        assert_eq!(result.status, 1, "{line}");
        assert!(result.out().contains(expected), "{line}: {}", result.out());
    }
}
