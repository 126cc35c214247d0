//! Every command on every format: complete and truncated files, interrupted conversions, and data
//! larger than memory.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The number of items.
const NUMBERS: i32 = 9000;

/// The files: the name, the options, and whether the format stores the type of the numbers.
const FORMATS: [(&str, &str, bool); 11] = [
    ("n.blosc1", "", false),
    ("n.blosc2", "", false),
    ("n.b2frame", "", false),
    ("d.b2frame", "--directory", false),
    ("checked.b2frame", "--checksums", false),
    ("durable.b2frame", "--durable --checksums", false),
    ("bytes.blp", "", false),
    ("n.b2nd", "", true),
    ("d.b2nd", "--directory", true),
    ("n.bcolz", "", true),
    ("n.npy", "", true),
];

/// Creates a directory with the numbers in every format.
fn numbers() -> (TestDir, Vec<u8>) {
    let folder = TestDir::new();
    let bytes: Vec<u8> = (0..NUMBERS).flat_map(i32::to_le_bytes).collect();
    folder.write("n", &bytes);
    folder.out("compress n in.b2frame -t 4 --chunk-size 8K");
    for (name, options, is_typed) in FORMATS {
        let dtype = if is_typed { "--dtype <i4" } else { "" };
        folder.out(&format!("convert in.b2frame {name} {options} {dtype}"));
    }
    (folder, bytes)
}

#[test]
fn every_command_works_on_every_format() {
    let (folder, bytes) = numbers();
    let first: String = (0..10).map(|i| format!("{i}:  {i}\n")).collect();
    for (name, _, is_typed) in FORMATS {
        let dtype = if is_typed { "" } else { "--dtype <i4" };
        let info = folder.out(&format!("info {name}"));
        assert!(info.starts_with(name) && info.contains("35.2 KiB"), "{info}");
        assert!(folder.out(&format!("ls {name}")).contains(name));
        let table = folder.out(&format!("cat {name} {dtype}"));
        let items = table.lines().map(|line| line.split(": ").nth(1).unwrap());
        let items: Vec<i32> = items.map(|item| item.trim().parse().unwrap()).collect();
        assert!(items.iter().copied().eq(0..NUMBERS), "{name}");
        assert_eq!(folder.out(&format!("head {name} {dtype}")), first, "{name}");
        for line in ["verify", "repair"] {
            assert_eq!(folder.line(&format!("{line} {name}")).status, 0, "{line} {name}");
        }
        assert!(folder.line(&format!("decompress {name} -")).stdout == bytes, "{name}");
        folder.out(&format!("convert {name} out.bin --raw --force"));
        assert!(folder.read("out.bin") == bytes, "{name}");
        if !folder.path(name).is_dir() {
            folder.out(&format!("compress {name} again --force"));
            let again = folder.line("decompress again -").stdout;
            assert!(again == folder.read(name), "{name}");
        }
        let typesize = if is_typed { "" } else { "-t 4" };
        let figures =
            folder.json(&format!("bench {name} --json -l 1 -c lz4 -f shuffle {typesize}"));
        assert_eq!(figures["figures"].as_array().unwrap().len(), 1, "{name}: {figures:#}");
        assert_eq!(figures["typesize"], 4, "{name}");
    }
}

/// Returns the main file of a format.
fn main_file(folder: &TestDir, name: &str) -> std::path::PathBuf {
    let path = folder.path(name);
    if !path.is_dir() {
        path
    } else if name.ends_with(".bcolz") {
        path.join("data/__0.blp")
    } else {
        path.join("chunks.b2frame")
    }
}

#[test]
fn truncated_files_are_errors_in_every_command_and_format() {
    let (folder, _) = numbers();
    for (name, _, is_typed) in FORMATS {
        let file = main_file(&folder, name);
        let whole = std::fs::read(&file).unwrap();
        for len in [whole.len() / 2, whole.len() - 1] {
            std::fs::write(&file, &whole[..len]).unwrap();
            let dtype = if is_typed { "" } else { "--dtype <i4" };
            for line in [
                format!("verify {name}"),
                format!("cat {name} {dtype}"),
                format!("decompress {name} out"),
                format!("convert {name} out.bin --raw"),
                format!("convert {name} new.b2frame --raw"),
                format!("bench {name} -l 1 -c lz4"),
            ] {
                let result = folder.line(&line);
                assert!([1, 3].contains(&result.status), "{line}: {} of {len}", result.status);
                assert!(!result.err().contains("panicked"), "{line}: {}", result.err());
                let output = format!("{}{}", result.out(), result.err());
                assert!(output.contains(name), "{line}: {output}");
                for left in ["out", "out.bin", "new.b2frame"] {
                    assert!(!folder.path(left).exists(), "{line} left {left}");
                }
            }
        }
        std::fs::write(&file, &whole).unwrap();
        assert_eq!(folder.line(&format!("verify {name}")).status, 0, "{name}");
    }
}

/// Creates a sparse `.npy` file of zeros.
fn zeros(path: &Path, len: u64) {
    let bytes = npy_header("'|u1'", &format!("({len},)"), false);
    std::fs::write(path, &bytes).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(bytes.len() as u64 + len).unwrap();
}

#[test]
fn interrupted_conversions_leave_no_files() {
    for line in [
        "convert huge.npy out.b2nd",
        "convert huge.npy out.blp",
        "convert huge.npy out --to bcolz",
        // More than the disk has.
        "decompress huge.npy out --force",
    ] {
        let folder = TestDir::new();
        zeros(&folder.path("huge.npy"), 4 << 40);
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut child = folder.start(&arguments);
        let begun = Instant::now();
        while folder.names().len() < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{line}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = i32::try_from(child.id()).unwrap();
        // SAFETY: `kill` accepts any process id. The child was not waited for, so its id is not
        // reused by another process.
        assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
        assert!(!child.wait().unwrap().success());
        assert_eq!(folder.names(), ["huge.npy"], "{line}");
    }
}

/// Runs a command with a memory limit in bytes. Returns whether it succeeded, and its errors.
fn with_memory(folder: &TestDir, line: &str, bytes: u64) -> (bool, String) {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut command: Command = folder.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    // SAFETY: the closure only calls `setrlimit`, which is async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
            match libc::setrlimit(libc::RLIMIT_DATA, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let output = command.output().unwrap();
    let result = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), result)
}

#[test]
fn data_larger_than_memory_are_converted_between_all_formats() {
    const DATA: u64 = 1 << 30;
    const MEMORY: u64 = 128 << 20;
    let folder = TestDir::new();
    zeros(&folder.path("z.npy"), DATA);
    for name in ["z.b2nd", "z.b2frame", "z.blp", "z.bcolz"] {
        for line in [
            format!("convert z.npy {name} -n 2"),
            format!("verify {name} -n 2"),
            format!("convert {name} second.b2nd --force --level 1 -n 2"),
            format!("decompress {name} - -n 2"),
        ] {
            assert_eq!(with_memory(&folder, &line, MEMORY), (true, String::new()), "{line}");
        }
    }
}
