//! `convert` between tables in stores and files of Arrow IPC and Parquet.

use crate::common::{TestDir, noise};
use ferroblosc_tools_testing::npy_header;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const EXTENSIONS: [&str; 3] = ["parquet", "arrow", "feather"];

/// Creates a directory with the table `t.b2z`, which has this number of rows.
fn table(rows: u32) -> TestDir {
    let folder = TestDir::new();
    let mut lines = String::from("number,name,ratio,flag\n");
    for row in 0..rows {
        lines.push_str(&format!("{row},name {},{}.5,{}\n", row % 100, row, row % 3 == 0));
    }
    folder.write("t.csv", lines.as_bytes());
    folder.out("convert t.csv t.b2z");
    folder
}

/// Runs a command that fails with this exit status without a message of a panic; returns its
/// standard error.
fn error_of(folder: &TestDir, line: &str, status: i32) -> String {
    let failed = folder.line(line);
    assert_eq!((failed.status, failed.out()), (status, ""), "{line}: {}", failed.err());
    assert!(!failed.err().contains("panicked"), "{}", failed.err());
    failed.err().to_owned()
}

fn make_fifo(folder: &TestDir, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(folder.path(name)).status().unwrap();
    assert!(made.success());
}

#[test]
fn tables_are_the_same_after_a_conversion_to_a_file_and_back() {
    let folder = table(1000);
    let rows = folder.out("cat t.b2z");
    for extension in EXTENSIONS {
        folder.out(&format!("convert t.b2z out.{extension}"));
        for store in ["b2z", "b2d"] {
            folder.out(&format!("convert out.{extension} {extension}.{store}"));
            assert_eq!(folder.out(&format!("cat {extension}.{store}")), rows);
        }
        folder.out(&format!("verify {extension}.b2z"));
        let bytes = folder.read(&format!("out.{extension}"));
        let to = if extension == "parquet" { "parquet" } else { "arrow" };
        let printed = folder.line(&format!("convert t.b2z - --to {to}"));
        assert_eq!((printed.status, printed.err()), (0, ""));
        assert!(printed.stdout == bytes);
        let read = folder.line_with(&format!("convert - {extension}.stdin.b2z"), &bytes);
        assert_eq!((read.status, read.err()), (0, ""));
        assert_eq!(folder.out(&format!("cat {extension}.stdin.b2z")), rows);
        // An existing output is replaced with --force only.
        let error = error_of(&folder, &format!("convert t.b2z out.{extension}"), 1);
        assert!(error.contains("already exists"), "{error}");
        let error = error_of(&folder, &format!("convert out.{extension} {extension}.b2z"), 1);
        assert!(error.contains("already exists"), "{error}");
        folder.out(&format!("convert t.b2z out.{extension} --force"));
        folder.out(&format!("convert out.{extension} {extension}.b2z --force"));
    }
}

#[test]
fn tables_in_trees_have_keys() {
    let folder = TestDir::new();
    folder.fixture("stores/t_table.b2z");
    for extension in EXTENSIONS {
        folder.out(&format!("convert t_table.b2z:/t2 out.{extension}"));
        folder.out(&format!("convert out.{extension} {extension}.b2z"));
        let rows = folder.out(&format!("cat {extension}.b2z"));
        assert_eq!(rows, folder.out("cat t_table.b2z:/t2"));
    }
    let error = error_of(&folder, "convert out.parquet t_table.b2z:/new", 2);
    assert!(error.contains("'b2 put' adds a file to a store"), "{error}");
    let error = error_of(&folder, "convert t_table.b2z:/data/arr array.parquet", 2);
    assert!(error.contains("only tables in stores become Arrow and Parquet files"), "{error}");
    let error = error_of(&folder, "convert out.parquet array.npy", 1);
    assert!(error.starts_with("b2: error: out.parquet: "), "{error}");
    assert!(error.contains("only become tables in stores"), "{error}");
    for option in ["--delimiter ;", "--header no", "--shape 3", "--level 3", "--column x"] {
        let error = error_of(&folder, &format!("convert out.parquet new.b2z {option}"), 2);
        assert!(error.contains(option.split(' ').next().unwrap()), "{error}");
    }
}

#[test]
fn fifos_are_inputs_and_outputs() {
    let folder = table(1000);
    make_fifo(&folder, "fifo");
    let child = folder.start(&["convert", "t.b2z", "fifo", "--to", "parquet"]);
    let mut bytes = Vec::new();
    std::fs::File::open(folder.path("fifo")).unwrap().read_to_end(&mut bytes).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    // Another FIFO: processes that other tests start may still have the reading end of the first
    // one, and the bytes would be lost if it were closed before the program opens the FIFO.
    make_fifo(&folder, "input");
    let child = folder.start(&["convert", "input", "new.b2z"]);
    std::fs::File::options()
        .write(true)
        .open(folder.path("input"))
        .unwrap()
        .write_all(&bytes)
        .unwrap();
    let result = child.wait_with_output().unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    assert_eq!(folder.out("cat new.b2z"), folder.out("cat t.b2z"));
}

#[test]
fn everything_that_is_not_kept_is_named() {
    let folder = TestDir::new();
    for (name, lost) in
        [("c_materialized", "computed column \"k\""), ("c_attrs", "attribute \"n\"")]
    {
        folder.fixture(&format!("stores/{name}.b2z"));
        for extension in EXTENSIONS {
            let line = format!("convert {name}.b2z {name}.{extension}");
            let error = error_of(&folder, &format!("{line} --strict"), 1);
            assert!(
                error.contains("the format does not support: ") && error.contains(lost),
                "{error}"
            );
            assert!(!folder.exists(&format!("{name}.{extension}")));
            let result = folder.line(&line);
            assert_eq!(result.status, 0);
            assert!(result.err().contains(&format!("not kept: {lost}")), "{}", result.err());
        }
    }
}

#[test]
fn tables_may_have_no_rows_and_thousands_of_columns() {
    let folder = TestDir::new();
    folder.write("none.npy", &npy_header("[('a', '<i4'), ('b', '<U3')]", "(0,)", false));
    folder.out("convert none.npy none.b2z");
    let names: Vec<String> = (0..2000).map(|column| format!("c{column}")).collect();
    let row = |number: usize| {
        let cells: Vec<String> = (0..2000).map(|column| (number + column).to_string()).collect();
        cells.join(",")
    };
    let lines = [names.join(","), row(1), row(2)].join("\n") + "\n";
    folder.write("wide.csv", lines.as_bytes());
    folder.out("convert wide.csv wide.b2z");
    for name in ["none", "wide"] {
        for extension in ["parquet", "arrow"] {
            folder.out(&format!("convert {name}.b2z {name}.{extension}"));
            folder.out(&format!("convert {name}.{extension} {name}.{extension}.b2z"));
            let rows = folder.out(&format!("cat {name}.{extension}.b2z"));
            assert_eq!(rows, folder.out(&format!("cat {name}.b2z")));
        }
    }
    assert_eq!(folder.out("cat none.parquet.b2z"), "");
}

#[test]
fn files_with_other_content_are_named() {
    let folder = TestDir::new();
    folder.write("empty.parquet", b"");
    folder.write("old.feather", b"FEA1 FEA1");
    folder.write("noise.arrow", &noise(1000));
    folder.write("short.parquet", b"PAR1");
    folder.write("short.arrow", b"ARROW1");
    for (name, status, text) in [
        ("empty.parquet", 1, "the file is empty"),
        ("old.feather", 1, "files of Feather V1 are not supported"),
        ("noise.arrow", 1, "the file is not an Arrow IPC or Parquet file"),
        ("short.parquet", 3, "the file is truncated"),
        ("short.arrow", 3, "the file is truncated"),
    ] {
        let error = error_of(&folder, &format!("convert {name} out.b2z"), status);
        assert!(error.starts_with(&format!("b2: error: {name}: {text}")), "{error}");
        assert!(!folder.exists("out.b2z"));
    }
}

#[test]
fn damaged_files_are_errors_without_messages_of_panics() {
    let folder = table(3000);
    for extension in ["parquet", "arrow"] {
        folder.out(&format!("convert t.b2z whole.{extension}"));
        let whole = folder.read(&format!("whole.{extension}"));
        let mut failures = 0;
        for number in 0..60 {
            let mut bytes = whole.clone();
            let at = bytes.len() - 12 - number * 13 % bytes.len().min(700);
            match number % 3 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 0xff,
                _ => bytes[at] ^= 1 << (number % 8),
            }
            folder.write(&format!("bad.{extension}"), &bytes);
            let result = folder.line(&format!("convert bad.{extension} out.b2z --force"));
            assert!(matches!(result.status, 0 | 1 | 3), "{number}: {}", result.status);
            if result.status != 0 {
                failures += 1;
                let name = format!("b2: error: bad.{extension}: ");
                assert!(result.err().starts_with(&name), "{number}: {}", result.err());
            }
            assert!(!result.err().contains("panicked"), "{number}: {}", result.err());
        }
        assert!(failures > 30, "{extension}: {failures}");
    }
}

#[test]
fn declared_numbers_of_rows_need_no_memory() {
    let folder = table(3000);
    folder.out("convert t.b2z whole.parquet");
    let whole = folder.read("whole.parquet");
    let tail = whole.len() - 8;
    let len = u32::from_le_bytes(whole[tail..tail + 4].try_into().unwrap()) as usize;
    let (data, footer) = whole[..tail].split_at(tail - len);
    // Integers of 64 bits, in zigzag form: 3000, and 2^61.
    let (from, to) = ([0x16, 0xf0, 0x2e], [[0x16].as_slice(), &[0x80; 8], &[0x40]].concat());
    let mut changed = Vec::new();
    let mut rest = footer;
    let mut count = 0;
    while let Some(at) = rest.windows(3).position(|bytes| bytes == from) {
        changed.extend([&rest[..at], &to].concat());
        rest = &rest[at + 3..];
        count += 1;
    }
    assert!(count > 2);
    changed.extend(rest);
    let len = u32::try_from(changed.len()).unwrap().to_le_bytes();
    folder.write("rows.parquet", &[data, &changed, &len, b"PAR1"].concat());
    let result = folder.limited("-v 2000000", &["convert", "rows.parquet", "out.b2z"]);
    assert_eq!(result.status, 3, "{}", result.err());
    let text = "b2: error: rows.parquet: the footer declares 2305843009213693952 rows, and the \
                file has 3000";
    assert!(result.err().starts_with(text), "{}", result.err());
    assert!(!folder.exists("out.b2z"));
}

#[test]
fn a_full_disk_leaves_no_output() {
    let folder = table(20_000);
    folder.out("convert t.b2z t.parquet");
    let before = folder.names();
    for (from, to) in [("t.b2z", "o.parquet"), ("t.b2z", "o.arrow"), ("t.parquet", "o.b2z")] {
        let result = folder.limited("-f 8", &["convert", from, to]);
        assert_eq!(result.status, 1, "{to}: {}", result.err());
        let text = format!("b2: error: cannot write to {to}");
        assert!(result.err().starts_with(&text), "{}", result.err());
        assert!(result.err().contains("File too large"), "{}", result.err());
        assert_eq!(folder.names(), before);
    }
}

#[test]
fn an_empty_tmpdir_is_not_the_current_directory() {
    let folder = TestDir::new();
    let mut command = folder.command(&["convert", "-", "out.b2z"]);
    command.env("TMPDIR", "").stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"PAR1").unwrap();
    // The temporary directory of this process, in `/tmp` or elsewhere.
    let name = format!(".b2.{}-", child.id());
    let has = |folder: &std::path::Path| {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(&name))
    };
    let begun = Instant::now();
    while !has(std::path::Path::new("/tmp")) {
        assert!(!has(&folder.path("")), "a temporary directory in the current directory");
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success());
    assert!(!has(std::path::Path::new("/tmp")));
}

#[test]
fn signals_leave_no_files() {
    let folder = TestDir::new();
    std::fs::create_dir(folder.path("tmp")).unwrap();
    let mut command = folder.command(&["convert", "-", "out.b2z"]);
    command.env("TMPDIR", folder.path("tmp")).stdin(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"PAR1").unwrap();
    let begun = Instant::now();
    let temporary = || std::fs::read_dir(folder.path("tmp")).unwrap().count();
    while temporary() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = i32::try_from(child.id()).unwrap();
    // SAFETY: `kill` accepts any process id. The child was not waited for, so its id is not reused
    // by another process.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    assert!(!child.wait().unwrap().success());
    drop(input);
    assert_eq!((temporary(), folder.exists("out.b2z")), (0, false));
    let folder = table(100_000);
    let before = folder.names();
    for output in ["out.parquet", "out.arrow"] {
        let mut child = folder.start(&["convert", "t.b2z", output]);
        let begun = Instant::now();
        while folder.names() == before {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        let id = i32::try_from(child.id()).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
        assert!(!child.wait().unwrap().success());
        assert_eq!(folder.names(), before);
    }
}
