//! Errors of the system: the message contains the file, the operation and the reason. They are not
//! reported as damage.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;

/// Returns incompressible bytes.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(next).collect()
}

/// Creates a directory with the same array in all formats.
fn arrays() -> TestDir {
    let folder = TestDir::new();
    let mut npy = npy_header("'|u1'", "(60000,)", false);
    npy.extend(noise(60_000));
    folder.write("in.npy", &npy);
    for name in ["in.b2nd", "in.b2frame", "in.blp", "in.bcolz"] {
        folder.succeed(&format!("-q convert in.npy {name}"));
    }
    folder.succeed("-q convert in.npy dir.b2nd --directory");
    folder
}

const FORMATS: [&str; 5] = ["b2nd", "b2frame", "blp", "bcolz", "npy"];

#[test]
fn errors_of_a_full_disk_name_the_target() {
    let folder = arrays();
    for from in FORMATS {
        for to in FORMATS {
            let arguments = ["-q", "convert", &format!("in.{from}"), &format!("out.{to}")];
            let result = folder.limited("-f 8", &arguments);
            assert_eq!(result.status, 1, "{arguments:?}: {}", result.err());
            let begins = format!("b2: error: cannot write to out.{to}");
            assert!(result.err().starts_with(&begins), "{arguments:?}: {}", result.err());
            let cause = "File too large (os error 27)\n";
            assert!(result.err().ends_with(cause), "{arguments:?}: {}", result.err());
            assert!(!folder.exists(&format!("out.{to}")));
        }
    }
    for (line, target) in [
        ("-q convert in.npy out.b2nd --directory", "out.b2nd"),
        ("-q convert in.npy out.bin", "out.bin"),
        ("-q compress in.npy out.b2frame", "out.b2frame"),
        ("-q decompress in.b2frame out", "out"),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let result = folder.limited("-f 8", &arguments);
        assert_eq!(result.status, 1, "{line}: {}", result.err());
        let begins = format!("b2: error: cannot write to {target}");
        assert!(result.err().starts_with(&begins), "{line}: {}", result.err());
        assert!(!result.err().contains(".tmp"), "{line}: {}", result.err());
    }
}

#[test]
fn a_full_disk_during_repair_causes_no_damage() {
    let folder = arrays();
    folder.succeed("-q convert in.npy cut.b2nd --checksums --chunk-size 4K");
    let mut frame = folder.read("cut.b2nd");
    let middle = frame.len() / 2;
    frame[middle] ^= 1;
    folder.write("cut.b2nd", &frame);
    let result = folder.limited("-f 8", &["repair", "--write", "cut.b2nd"]);
    let text = "b2: error: cannot write to cut.b2nd: File too large (os error 27)\n";
    assert_eq!((result.status, result.err()), (1, text));
    assert_eq!(folder.read("cut.b2nd"), frame, "the file is as it was");
    assert_eq!(folder.line("repair --write cut.b2nd").status, 0);
}

#[test]
fn errors_of_the_system_name_the_file_and_the_reason() {
    let folder = arrays();
    let long = format!("{}.b2nd", "n".repeat(300));
    for (line, text) in [
        (
            "-q convert missing.npy out.b2nd",
            "cannot open missing.npy: No such file or directory (os error 2)",
        ),
        (
            "-q convert missing.parquet out.b2z",
            "cannot open missing.parquet: No such file or directory (os error 2)",
        ),
        (
            "-q convert in.npy/below out.b2nd",
            "cannot open in.npy/below: Not a directory (os error 20)",
        ),
        (
            "-q convert in.npy no/out.b2nd",
            "cannot create no/out.b2nd: No such file or directory (os error 2)",
        ),
        (
            "-q convert in.npy in.blp/out.b2nd",
            "cannot create in.blp/out.b2nd: Not a directory (os error 20)",
        ),
        (
            &format!("-q convert in.npy {long}"),
            &format!("cannot create {long}: File name too long (os error 36)"),
        ),
        ("verify missing", "cannot open missing: No such file or directory (os error 2)"),
        ("cat missing", "cannot open missing: No such file or directory (os error 2)"),
        ("repair missing", "cannot open missing: No such file or directory (os error 2)"),
        ("-q compress missing out", "cannot open missing: No such file or directory (os error 2)"),
    ] {
        let result = folder.line(line);
        let expected = format!("b2: error: {text}\n");
        assert_eq!((result.status, result.err()), (1, &*expected), "{line}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_not_reported_as_corrupt() {
    let folder = arrays();
    for name in ["in.b2nd", "in.b2frame", "in.blp", "in.bcolz", "in.npy", "dir.b2nd"] {
        for files in 4..12 {
            for arguments in [&["verify", name][..], &["cat", name], &["repair", name]] {
                let result = folder.limited(&format!("-n {files}"), arguments);
                assert!([0, 1].contains(&result.status), "{arguments:?}: {}", result.err());
                let cause = "Too many open files (os error 24)";
                assert!(
                    result.status == 0 || result.err().contains(cause),
                    "{arguments:?}: {}",
                    result.err()
                );
            }
        }
    }
}

#[test]
fn errors_of_standard_output_and_standard_input_name_them() {
    let folder = arrays();
    for line in ["convert in.npy - --to blp", "decompress in.b2frame -"] {
        let mut arguments = vec!["-q"];
        arguments.extend(line.split(' '));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(&arguments).stdout(full).output().unwrap();
        let text =
            "b2: error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), text, "{line}");
        assert_eq!(output.status.code(), Some(1));
    }
    let directory = std::fs::File::open(folder.path("in.bcolz")).unwrap();
    let arguments = ["-q", "convert", "-", "out.b2nd"];
    let output = folder.command(&arguments).stdin(directory).output().unwrap();
    let text = "b2: error: cannot read standard input: Is a directory (os error 21)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), text);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_missing_chunk_file_is_named() {
    let folder = arrays();
    std::fs::remove_file(folder.path("dir.b2nd/00000000.chunk")).unwrap();
    let result = folder.line("cat dir.b2nd");
    assert_eq!(result.status, 1, "{}", result.err());
    assert!(result.err().contains("00000000.chunk"), "{}", result.err());
    assert!(result.err().contains("No such file or directory"), "{}", result.err());
}

#[test]
fn every_command_names_standard_output_on_a_full_disk() {
    let folder = arrays();
    for line in [
        "ls",
        "ls --json",
        "info in.b2nd",
        "stats in.b2nd",
        "cat in.b2nd",
        "head in.b2nd",
        "verify in.b2nd",
        "diff in.b2nd dir.b2nd --json",
        "meta list in.b2nd",
        "meta get in.b2nd b2nd",
        "meta get in.b2nd b2nd --raw",
        "compact in.b2nd",
        "recompress in.b2nd -o -",
        "bench in.b2nd --seconds 0",
        "man",
        "completions bash",
        "help",
        "--version",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = folder.command(&arguments).stdout(full).output().unwrap();
        let text =
            "b2: error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!(String::from_utf8_lossy(&output.stderr), text, "{line}");
        let expected = if line.starts_with("diff") { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(expected), "{line}");
    }
}

#[test]
fn names_of_the_maximum_length_can_be_changed_in_place() {
    let folder = arrays();
    for length in [246, 250, 255] {
        let name = format!("{}.b2nd", "n".repeat(length - 5));
        folder.succeed(&format!("-q convert in.npy {name}"));
        let directory = format!("{}.b2nd", "d".repeat(length - 5));
        folder.succeed(&format!("-q convert in.npy {directory} --directory --durable"));
        for name in [&name, &directory] {
            folder.out(&format!("compact {name}"));
            folder.succeed(&format!("append {name} in.npy"));
            folder.succeed(&format!("resize {name} 60000 --shrink"));
            folder.succeed(&format!("meta set {name} units --string K"));
            folder.out(&format!("recompress {name} --in-place --codec lz4"));
            assert_eq!(folder.out(&format!("diff in.npy {name}")), "");
        }
        let mut damaged = folder.read(&name);
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        folder.write(&name, &damaged);
        assert_eq!(folder.line(&format!("repair --write {name}")).status, 0);
        for extension in ["blp", "b2frame", "bcolz", "npy", "b2z", "npz", "h5", "zarr"] {
            let name = format!("{}.{extension}", "x".repeat(length - 1 - extension.len()));
            let source = if extension == "b2z" { "dir.b2nd" } else { "in.npy" };
            let line = match extension {
                "b2z" => format!("put {name} /a {source}"),
                "h5" => continue,
                _ => format!("-q convert {source} {name}"),
            };
            folder.succeed(&line);
            if extension == "b2z" {
                folder.succeed(&format!("put {name} /b in.npy"));
            }
        }
    }
    let leftovers: Vec<String> =
        folder.names().into_iter().filter(|name| name.contains('~')).collect();
    assert!(leftovers.iter().all(|name| name.contains(".broken")), "{leftovers:?}");
}

#[test]
fn files_that_cannot_have_a_format_are_named_by_their_type() {
    let folder = arrays();
    folder.write("empty", b"");
    std::fs::create_dir(folder.path("folder")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("fifo")).status();
    assert!(made.unwrap().success());
    for command in ["info", "stats", "verify", "compact", "meta list", "head"] {
        for (name, text) in [
            ("empty", "empty: the file is empty\n"),
            ("fifo", "fifo: is a FIFO, which is read only once\n"),
            ("folder", "folder: is a directory\n"),
            ("/dev/null", "/dev/null: is a device\n"),
        ] {
            let result = folder.line(&format!("{command} {name}"));
            assert_eq!(result.status, 1, "{command} {name}");
            assert!(result.err().contains(text), "{command} {name}: {}", result.err());
            assert!(!result.err().contains("b2 compress"), "{command} {name}: {}", result.err());
        }
    }
    let result = folder.line("compress /dev/null");
    let text = "b2: error: /dev/null: is a device\nb2: hint: name the output: IN OUT\n";
    assert_eq!((result.status, result.err()), (1, text));
    folder.succeed("-q compress /dev/null out.b2frame");
    let result = folder.line("resize in.b2nd 9999999999999999");
    assert_eq!(result.status, 1, "{}", result.err());
    assert!(result.err().contains("chunks, and can have 2147483647"), "{}", result.err());
}

#[test]
fn a_closed_standard_output_changes_neither_the_work_nor_the_status() {
    let folder = arrays();
    let mut damaged = folder.read("in.b2nd");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.write("bad.b2nd", &damaged);
    folder.write("zeros.npy", &[npy_header("'|u1'", "(60000,)", false), vec![0; 60_000]].concat());
    for (line, status) in [
        ("verify in.b2nd bad.b2nd", 3),
        ("verify bad.b2nd --json", 3),
        ("repair bad.b2nd", 3),
        ("diff in.npy zeros.npy", 1),
        ("diff in.npy zeros.npy --json", 1),
        ("diff in.npy in.b2nd --json", 0),
        ("recompress in.b2nd dir.b2nd --codec lz4 -o new", 0),
        ("recompress in.b2nd in.b2frame --codec lz4 --in-place", 0),
        ("compact in.b2frame missing in.b2nd", 1),
        ("append in.b2nd in.npy --json", 0),
        // These commands only print.
        ("info in.b2nd", 0),
        ("cat in.b2nd", 0),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(&arguments).stdout(writer).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {errors}");
    }
    // The second file is processed, too.
    for name in ["new/dir.b2nd", "in.b2frame"] {
        assert_eq!(folder.json(&format!("info --json {name}"))[0]["codec"], "lz4", "{name}");
    }
}
