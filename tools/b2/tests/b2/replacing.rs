//! Outputs that replace files and directories: they are on the disk before the old ones are gone, and
//! keep their permissions.

use crate::common::{LOGGER, TestDir, ints};
use ferroblosc_capi_testing::abi::compile;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The source of a library with which no file can be synced.
const NO_SYNC: &str = r#"
#include <errno.h>
int fsync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}
"#;

/// Returns the paths of a file, or of all files and directories in a directory and of itself,
/// relative to its parent.
fn tree(path: &Path) -> Vec<PathBuf> {
    let root = path.parent().unwrap();
    let (mut found, mut pending) = (Vec::new(), vec![path.to_owned()]);
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push(path.strip_prefix(root).unwrap().to_owned());
    }
    found
}

fn remove(path: &Path) {
    let removed =
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.unwrap();
}

/// Creates inputs of several formats.
fn inputs() -> TestDir {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[40, 50], 0);
    folder.succeed("convert a.npy a.b2nd");
    for key in ["/x", "/g/h/y"] {
        folder.succeed(&format!("put s.b2d {key} a.npy"));
    }
    folder
}

/// Commands that write an output, and the output.
const COMMANDS: [(&str, &str); 15] = [
    ("convert a.npy OUT", "out.b2nd"),
    ("convert a.npy OUT --directory", "out.b2nd"),
    ("convert a.npy OUT --chunks 10,10", "out.zarr"),
    ("convert a.npy OUT", "out.zarr.zip"),
    ("convert a.npy OUT", "out.bcolz"),
    ("convert a.npy OUT", "out.npz"),
    ("convert s.b2d OUT", "out.b2d"),
    ("convert s.b2d OUT --all", "out.zarr"),
    ("convert s.b2d OUT", "out.b2z"),
    ("compress a.npy OUT", "out.b2frame"),
    ("decompress a.b2nd OUT", "out"),
    ("slice a.b2nd 1: OUT", "out.b2nd"),
    ("concat a.npy a.b2nd OUT", "out.b2nd"),
    ("recompress a.b2nd -o OUT --codec lz4", "out.b2nd"),
    ("get s.b2d /g OUT", "out.b2d"),
];

/// Runs a command that must succeed; returns the log of the library `logger`.
fn log_of(folder: &TestDir, logger: &Path, line: &str) -> String {
    log_with(folder, logger, line, &[])
}

/// Does the same with variables of the environment.
fn log_with(folder: &TestDir, logger: &Path, line: &str, variables: &[(&str, &str)]) -> String {
    let _ = std::fs::remove_file(folder.path("log"));
    let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
    command.env("LD_PRELOAD", logger).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    std::fs::read_to_string(folder.path("log")).unwrap_or_default()
}

#[test]
fn a_new_output_is_on_the_disk_if_it_is_durable() {
    let folder = inputs();
    let library = compile(&folder.path(""), LOGGER, &["-shared", "-fPIC"]);
    let root = std::fs::canonicalize(folder.path("")).unwrap();
    let check = |log: &str, (line, output): (&str, &str)| {
        for folder in Path::new(output).ancestors().skip(1) {
            let folder = root.join(folder);
            let expected = format!("sync {}", folder.to_str().unwrap().trim_end_matches('/'));
            assert!(log.lines().any(|line| line == expected), "{line}: {expected}: {log}");
        }
        let first = Path::new(output).components().next().unwrap();
        remove(&folder.path(first.as_os_str().to_str().unwrap()));
    };
    let frames = [
        ("convert a.npy OUT", "out.b2nd"),
        ("convert a.npy OUT --directory", "out.b2nd"),
        ("compress a.npy -o new/folder/", "new/folder/a.npy.b2frame"),
        ("slice a.b2nd 1: OUT", "out.b2nd"),
        ("concat a.npy a.b2nd OUT", "out.b2nd"),
        ("recompress a.b2nd -o OUT --codec lz4", "out.b2nd"),
        ("recompress a.b2nd -o new/folder/ --codec lz4", "new/folder/a.b2nd"),
    ];
    for (line, output) in frames {
        let line = format!("{} --durable", line.replace("OUT", output));
        check(&log_of(&folder, &library, &line), (&line, output));
    }
    let variable = |value| [("FERROBLOSC_DURABLE", value)];
    for (line, output) in frames.into_iter().chain(COMMANDS) {
        let line = line.replace("OUT", output);
        check(&log_with(&folder, &library, &line, &variable("1")), (&line, output));
    }
    let log = log_with(&folder, &library, "convert a.npy out.b2nd", &variable("0"));
    assert!(!log.contains("sync "), "{log}");
}

/// Checks that an output and everything in it was synced before its directory, and a renamed one
/// before it was renamed.
fn check_synced(folder: &TestDir, (line, log): (&str, &str), output: &str) {
    let root = std::fs::canonicalize(folder.path("")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let synced: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("sync ")).collect();
    for entry in tree(&folder.path(output)) {
        let is_synced = |synced: &&str| {
            let staged = Path::new(synced).strip_prefix(&root);
            staged.is_ok_and(|path| path.components().skip(1).eq(entry.components()))
        };
        assert!(synced.iter().any(is_synced), "{line}: {}: {log}", entry.display());
    }
    assert_eq!(synced.last(), root.to_str().as_ref(), "{line}: {log}");
    let renamed = format!("rename {}", root.join(output).display());
    // Two paths that are exchanged are not in the log.
    if let Some(renamed) = lines.iter().position(|line| *line == renamed) {
        let last = lines.iter().rposition(|line| line.starts_with("sync "));
        assert_eq!(last, Some(renamed + 1), "{line}: {log}");
    }
}

#[test]
fn a_replaced_output_is_on_the_disk_first() {
    let folder = inputs();
    let library = compile(&folder.path(""), LOGGER, &["-shared", "-fPIC"]);
    for (line, output) in COMMANDS {
        let line = format!("-q {}", line.replace("OUT", output));
        log_of(&folder, &library, &line);
        let log = log_of(&folder, &library, &format!("{line} --force"));
        check_synced(&folder, (&line, &log), output);
        remove(&folder.path(output));
    }
}

#[test]
fn a_changed_container_and_a_repaired_file_are_on_the_disk_first() {
    let folder = inputs();
    let library = compile(&folder.path(""), LOGGER, &["-shared", "-fPIC"]);
    folder.succeed("convert a.npy x.h5:/a");
    let frame = folder.read("a.b2nd");
    folder.write("cut.b2nd", &frame[..frame.len() - 5]);
    folder.succeed("convert s.b2d s.b2z");
    let mut store = folder.read("s.b2z");
    let at = store.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    store.truncate(at);
    folder.write("s.b2z", &store);
    for (line, output) in [
        ("convert a.npy x.h5:/b", "x.h5"),
        ("repair --write cut.b2nd", "cut.b2nd"),
        ("repair --write s.b2z", "s.b2z"),
    ] {
        let log = log_of(&folder, &library, &format!("-q {line}"));
        check_synced(&folder, (line, &log), output);
    }
}

#[test]
fn an_output_that_cannot_be_synced_replaces_nothing() {
    let folder = inputs();
    let library = compile(&folder.path(""), NO_SYNC, &["-shared", "-fPIC"]);
    folder.write("out", b"old");
    folder.succeed("convert a.npy x.zarr");
    std::os::unix::fs::symlink("out", folder.path("link")).unwrap();
    let before = (folder.names(), tree(&folder.path("x.zarr")));
    for (line, name) in [
        ("-q convert a.npy out --to b2nd --force", "out"),
        ("-q convert a.b2nd link --to npy --force", "link"),
        ("-q decompress a.b2nd out --force", "out"),
        ("-q convert a.b2nd x.zarr --force", "x.zarr"),
    ] {
        let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
        let output = command.env("LD_PRELOAD", &library).output().unwrap();
        let error = format!("b2: error: cannot write to {name}: Input/output error (os error 5)\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), error, "{line}");
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(folder.read("out"), b"old", "{line}");
        assert_eq!((folder.names(), tree(&folder.path("x.zarr"))), before, "{line}");
    }
}

#[test]
fn a_replaced_output_keeps_its_permissions() {
    let folder = inputs();
    for (line, output) in COMMANDS {
        // These outputs have the permissions of their input.
        if line.starts_with("compress") || line.starts_with("decompress") {
            continue;
        }
        let line = format!("-q {}", line.replace("OUT", output));
        let path = folder.path(output);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(folder.line(&line).status, 0, "{line}");
        let old = if path.is_dir() { 0o700 } else { 0o600 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(old)).unwrap();
        assert_eq!(folder.line(&format!("{line} --force")).status, 0, "{line}");
        assert_eq!(mode(&path), old, "{line}");
        remove(&path);
    }
}
