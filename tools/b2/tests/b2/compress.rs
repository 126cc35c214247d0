//! `compress`: the choice of the item size and the filter, many inputs, removal of inputs, and
//! unusual outputs.

use crate::common::{TestDir, ints};
use ferroblosc_formats::bloscpack::{self, AppendArgs, PackArgs};
use ferroblosc_tools_testing::npy_header;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};

/// Returns numbers without a pattern.
fn noise(len: usize) -> Vec<u64> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 40
    };
    (0..len).map(next).collect()
}

/// Returns measurements of 4 bytes.
fn floats(len: usize) -> Vec<u8> {
    let values = noise(len).into_iter().enumerate();
    let value = |(i, noise): (usize, u64)| (i as f32 / 5000.0).sin() * 10.0 + noise as f32 * 3e-8;
    values.map(value).flat_map(f32::to_le_bytes).collect()
}

/// Returns lines of comma-separated values.
fn lines(len: usize) -> Vec<u8> {
    let lines = noise(len).into_iter().enumerate();
    lines.flat_map(|(i, n)| format!("{i},{n},name{}\n", n % 7).into_bytes()).collect()
}

/// Returns records of 14 bytes.
fn records(len: usize) -> Vec<u8> {
    let records = noise(len).into_iter().enumerate();
    let record = |(i, n): (usize, u64)| {
        [&(i as u32).to_le_bytes()[..], &(n as f64).to_le_bytes(), &(n as u16).to_be_bytes()]
            .concat()
    };
    records.flat_map(record).collect()
}

fn len(folder: &TestDir, name: &str) -> u64 {
    folder.path(name).metadata().unwrap().len()
}

#[test]
fn the_chosen_item_size_is_close_to_the_best() {
    let folder = TestDir::new();
    folder.write("floats", &floats(700_000));
    folder.write("lines", &lines(120_000));
    folder.write("records", &records(150_000));
    folder.write("mixed", &[lines(50_000), floats(400_000), lines(30_000)].concat());
    folder.write("short", &floats(50));
    folder.write("one", b"x");
    for name in ["floats", "lines", "records", "mixed", "short", "one"] {
        for options in ["", "--codec lz4", "--filters bitshuffle"] {
            folder.out(&format!("compress {name} chosen.b2frame --force {options}"));
            assert_eq!(folder.line("decompress chosen.b2frame -").stdout, folder.read(name));
            let chosen = len(&folder, "chosen.b2frame");
            let filters = if options.contains("--filters") { "" } else { "-t 1 --filters none" };
            for trial in [filters, "-t 1", "-t 2", "-t 4", "-t 8", "-t 14"] {
                folder.out(&format!("compress {name} trial.b2frame --force {trial} {options}"));
                let best = len(&folder, "trial.b2frame");
                assert!(
                    chosen <= best + best / 50,
                    "{name} {options}: {chosen}, with {trial} {best}"
                );
            }
        }
    }
    let info = |name: &str| {
        folder.out(&format!("compress {name} --force"));
        folder.json(&format!("info --json {name}.b2frame"))[0].clone()
    };
    assert_eq!(info("floats")["typesize"], 4);
    assert_eq!(info("records")["typesize"], 14);
    assert_eq!(info("lines")["typesize"], 1);
    // The beginning of a pipe decides.
    let packed = folder.line_with("compress -", &floats(700_000));
    folder.write("pipe.b2frame", &packed.stdout);
    assert_eq!(folder.json("info --json pipe.b2frame")[0]["typesize"], 4);
    // Options have priority.
    folder.out("compress lines -t 3 --force");
    let given = folder.json("info --json lines.b2frame")[0].clone();
    assert_eq!((&given["typesize"], &given["filters"][0]["name"]), (&3.into(), &"shuffle".into()));
}

#[test]
fn many_files_are_compressed_and_errors_do_not_stop_the_others() {
    let folder = TestDir::new();
    folder.write("a.raw", b"first");
    folder.write("b.raw", b"second");
    folder.write("c.raw", b"");
    folder.write("old.b2frame", b"a frame");
    folder.out("compress a.raw b.raw");
    assert_eq!(folder.line("decompress a.raw.b2frame -").stdout, b"first");
    assert_eq!(folder.line("decompress b.raw.b2frame -").stdout, b"second");
    // Two existing files are two inputs: the second one is not overwritten.
    folder.out("compress a.raw b.raw --force");
    assert_eq!(folder.read("b.raw"), b"second");

    let result = folder.line("compress a.raw missing c.raw old.b2frame -o new/frames");
    assert_eq!(result.status, 1);
    assert_eq!(
        result.err(),
        "b2: warning: old.b2frame: has the extension of a frame, skipped\n\
         b2: error: cannot open missing: No such file or directory (os error 2)\n"
    );
    assert_eq!(folder.line("decompress new/frames/a.raw.b2frame -").stdout, b"first");
    assert_eq!(folder.line("decompress new/frames/c.raw.b2frame -").stdout, b"");
    assert_eq!(std::fs::read_dir(folder.path("new/frames")).unwrap().count(), 2);

    let result = folder.line("compress a.raw b.raw -o -");
    assert_eq!(result.status, 2);
    let result = folder.line("compress a.raw b.raw -o c.raw --force");
    assert_eq!((result.status, folder.read("c.raw")), (2, Vec::new()));
    let result = folder.line("compress - a.raw b.raw");
    assert_eq!(result.status, 2);
    folder.out("compress a.raw -o single.b2frame");
    assert!(folder.exists("single.b2frame"));
    folder.out("compress b.raw -o new");
    assert!(folder.exists("new/b.raw.b2frame"));
}

#[test]
fn two_inputs_never_have_the_same_output() {
    let folder = TestDir::new();
    for name in ["x", "y"] {
        std::fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/f"), name.as_bytes());
    }
    let result = folder.line("compress x/f y/f x/../x/f -o out --force --rm");
    assert_eq!(result.status, 1);
    assert_eq!(
        result.err(),
        "b2: error: y/f: its output out/f.b2frame is that of x/f\n\
         b2: error: cannot open x/../x/f: No such file or directory (os error 2)\n"
    );
    assert_eq!(folder.line("decompress out/f.b2frame -").stdout, b"x");
    assert_eq!(folder.read("y/f"), b"y");
}

#[test]
fn directories_are_searched_with_recursive() {
    let folder = TestDir::new();
    std::fs::create_dir_all(folder.path("data/deep/er")).unwrap();
    folder.write("data/a", b"a");
    folder.write("data/deep/er/b", b"b");
    folder.write("data/done.b2frame", b"frame");
    symlink("a", folder.path("data/link")).unwrap();
    symlink("..", folder.path("data/deep/up")).unwrap();
    let result = folder.line("compress data");
    assert_eq!(result.status, 1);
    assert!(result.err().starts_with("b2: error: data: is a directory\n"), "{}", result.err());
    assert!(result.err().contains("'-r' compresses"), "{}", result.err());
    folder.out("compress -r data -o packed");
    assert_eq!(folder.line("decompress packed/data/a.b2frame -").stdout, b"a");
    assert_eq!(folder.line("decompress packed/data/deep/er/b.b2frame -").stdout, b"b");
    let mut names: Vec<_> = std::fs::read_dir(folder.path("packed/data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.b2frame", "deep"]);
    folder.out("compress -r . --rm -q");
    assert!(!folder.exists("data/a") && !folder.exists("data/deep/er/b"));
    assert_eq!(folder.line("decompress data/a.b2frame -").stdout, b"a");
    // Frames are not compressed again.
    folder.out("compress -r .");
    assert!(!folder.exists("data/a.b2frame.b2frame"));
}

#[test]
fn inputs_are_removed_only_if_asked_and_only_after_success() {
    let folder = TestDir::new();
    folder.write("a", b"content");
    folder.out("compress a --rm --keep");
    assert!(folder.exists("a"));
    let result = folder.line("compress a --rm");
    assert_eq!((result.status, folder.read("a")), (1, b"content".to_vec()));
    folder.out("compress a --rm --force --durable");
    assert_eq!(folder.names(), ["a.b2frame"]);
    folder.out("decompress a.b2frame");
    // The new frame at the path of the input is not removed.
    let result = folder.line("compress a.b2frame a.b2frame --force --rm");
    assert_eq!(result.status, 1);
    assert!(result.err().contains("left unchanged"), "{}", result.err());
    assert_eq!(folder.line("verify a.b2frame").status, 0);
    for (line, status) in [
        ("compress a - --rm", 2),
        ("compress a /dev/null --rm", 2),
        ("compress a no/where.b2frame --rm", 1),
        ("compress link new.b2frame --rm", 1),
    ] {
        let _ = symlink("a", folder.path("link"));
        let result = folder.line(line);
        assert_eq!(result.status, status, "{line}: {}", result.err());
        assert_eq!(folder.read("a"), b"content", "{line}");
        assert!(folder.path("link").is_symlink());
        assert!(!folder.exists("new.b2frame"));
    }
    let result = folder.limited("-f 0", &["compress", "a", "full.b2frame", "--rm"]);
    assert_eq!((result.status, folder.read("a")), (1, b"content".to_vec()));
}

#[test]
fn only_files_and_frames_are_replaced() {
    let folder = TestDir::new();
    folder.write("a", b"content");
    std::fs::create_dir(folder.path("mine.b2frame")).unwrap();
    folder.write("mine.b2frame/precious", b"precious");
    let result = folder.line("compress a mine.b2frame --force");
    assert_eq!((result.status, result.err()), (1, "b2: error: mine.b2frame: is a directory\n"));
    assert_eq!(folder.read("mine.b2frame/precious"), b"precious");
    // A frame is replaced, even if it is a directory.
    folder.out("compress a frame.b2frame --directory");
    folder.out("compress a frame.b2frame --force");
    assert!(folder.path("frame.b2frame").is_file());
    // Devices and FIFOs are written to, not replaced.
    folder.out("compress a -o /dev/null");
    folder.out("compress a -o /dev/null --force");
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let fifo = folder.path("fifo.b2frame");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let child = folder.start(&["compress", "a", "fifo.b2frame"]);
    let mut frame = Vec::new();
    File::open(&fifo).unwrap().read_to_end(&mut frame).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert!(std::fs::metadata(&fifo).unwrap().file_type().is_fifo());
    assert_eq!(folder.line_with("decompress -", &frame).stdout, b"content");
    // A link is kept, and its file is replaced; a link to nothing counts as existing.
    symlink("frame.b2frame", folder.path("link.b2frame")).unwrap();
    assert_eq!(folder.line("compress a link.b2frame").status, 1);
    folder.out("compress a link.b2frame --force -l 0");
    assert!(folder.path("link.b2frame").is_symlink());
    symlink("nothing", folder.path("lost.b2frame")).unwrap();
    assert_eq!(folder.line("compress a lost.b2frame").status, 1);
    assert!(!folder.exists("nothing"));
}

#[test]
fn directories_with_files_of_the_user_are_not_replaced() {
    let folder = TestDir::new();
    ints(&folder, "x.npy", &[6, 5], 0);
    folder.out("convert x.npy x.b2nd");
    folder.out("convert x.b2nd frame.b2nd --directory");
    folder.write("frame.b2nd/.b2lock", &[0; 16]);
    folder.out("convert x.b2nd array --to bcolz");
    folder.out("convert x.b2nd two.zarr --to zarr2");
    folder.out("convert x.b2nd three.zarr");
    std::fs::create_dir_all(folder.path("in/group")).unwrap();
    for name in ["in/a.b2nd", "in/group/b.b2nd"] {
        std::fs::copy(folder.path("x.b2nd"), folder.path(name)).unwrap();
    }
    folder.out("convert --all in group.zarr");
    folder.out("convert --all in store.b2d");
    let outputs = [
        ("frame.b2nd", vec!["", "sub/"]),
        ("array", vec!["", "data/", "meta/", "sub/", "data/sub/"]),
        ("two.zarr", vec!["", "sub/", "0/"]),
        ("three.zarr", vec!["", "c/", "c/0/", "sub/"]),
        ("group.zarr", vec!["", "group/", "group/b/c/", "sub/", "group/sub/"]),
        ("store.b2d", vec!["", "group/", "sub/"]),
    ];
    for (output, places) in outputs {
        let again = format!("convert --all in {output} --force");
        let again = match output {
            "group.zarr" | "store.b2d" => again.as_str(),
            "array" => "convert x.b2nd array --to bcolz --force",
            _ => &format!("convert x.b2nd {output} --force"),
        };
        for place in places {
            let name = format!("{place}notes.txt");
            let file = folder.path(&format!("{output}/{name}"));
            let parent = file.parent().unwrap();
            let is_new = !parent.is_dir();
            if is_new {
                std::fs::create_dir(parent).unwrap();
            }
            folder.write(&format!("{output}/{name}"), b"precious");
            let result = folder.line(again);
            let error = result.err();
            assert_eq!(result.status, 1, "{again}: {name}");
            assert!(error.starts_with(&format!("b2: error: {output}: contains '")), "{error}");
            let named = error.split('\'').nth(1).unwrap();
            assert!(std::path::Path::new(&name).starts_with(named), "{error}");
            assert!(error.contains("is not part of its data and would be lost\n"), "{error}");
            assert_eq!(folder.read(&format!("{output}/{name}")), b"precious");
            std::fs::remove_file(&file).unwrap();
            if is_new {
                std::fs::remove_dir(parent).unwrap();
            }
        }
        folder.out(again);
    }
}

/// Runs a program with a pseudo-terminal as standard output and standard error. Returns the exit
/// status and the output.
fn on_terminal(folder: &TestDir, arguments: &[&str]) -> (i32, String) {
    let (mut terminal, mut process) = (0, 0);
    // SAFETY: both pointers are valid for writes; the other arguments may be null.
    let opened = unsafe {
        libc::openpty(
            &mut terminal,
            &mut process,
            std::ptr::null_mut(),
            std::ptr::null(),
            std::ptr::null(),
        )
    };
    assert_eq!(opened, 0);
    // SAFETY: `openpty` returned these descriptors, and no other owner closes them.
    let (mut terminal, process) =
        unsafe { (File::from_raw_fd(terminal), File::from_raw_fd(process)) };
    let mut command = folder.command(arguments);
    command.env("NO_COLOR", "1").stdout(process.try_clone().unwrap()).stderr(process);
    let mut child = command.spawn().unwrap();
    // The command holds the last copies of the descriptor.
    drop(command);
    let mut output = Vec::new();
    // Reading fails when the last process has closed the terminal.
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        output.extend_from_slice(&buffer[..read]);
    }
    (child.wait().unwrap().code().unwrap(), String::from_utf8(output).unwrap())
}

#[test]
fn a_terminal_shows_a_line_for_each_file_and_no_compressed_data() {
    let folder = TestDir::new();
    folder.write("temp.f4", &floats(100_000));
    let (status, shown) = on_terminal(&folder, &["compress", "temp.f4", "temp.b2frame"]);
    assert_eq!(status, 0, "{shown}");
    let line = shown.lines().last().unwrap();
    // The progress bar is removed by control sequences.
    let line = &line[line.find("temp.f4").unwrap()..];
    assert!(line.starts_with("temp.f4 -> temp.b2frame  390.6 KiB -> "), "{line}");
    assert!(line.contains("x) ") && line.trim_end().ends_with(" s"), "{line}");
    let (status, shown) = on_terminal(&folder, &["compress", "temp.f4", "--quiet"]);
    assert_eq!((status, shown.as_str()), (0, ""));
    folder.succeed("put s.b2z /a temp.b2frame");
    folder.succeed("convert temp.b2frame a.b2nd --dtype <f4");
    for arguments in [
        &["compress", "temp.f4", "-"][..],
        &["convert", "temp.b2frame", "-", "--to", "b2nd"],
        &["recompress", "temp.b2frame", "-o", "-"],
        &["slice", "a.b2nd", "1:9", "-"],
        &["concat", "a.b2nd", "a.b2nd", "-"],
        &["get", "s.b2z", "/a", "-"],
    ] {
        let (status, shown) = on_terminal(&folder, arguments);
        assert_eq!(status, 1, "{arguments:?}");
        assert!(shown.starts_with("b2: error: standard output is a terminal"), "{shown}");
    }
}

#[test]
fn zero_threads_are_the_number_of_cores() {
    let folder = TestDir::new();
    folder.write("a", &floats(10_000));
    for (option, output) in [("-T 0", "0"), ("-T2", "2"), ("-n 0", "n"), ("--threads 1", "1")] {
        folder.out(&format!("compress a {output} {option}"));
        assert!(folder.line(&format!("decompress {output} -")).stdout == folder.read("a"));
    }
}

/// Returns the paths of all files below a directory, sorted.
fn files_below(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn stored_arrays_are_not_taken_apart() {
    let folder = TestDir::new();
    let mut npy = npy_header("'<i4'", "(3000,)", false);
    npy.extend((0..3000i32).flat_map(i32::to_le_bytes));
    std::fs::create_dir_all(folder.path("data/deep")).unwrap();
    folder.write("data/a.npy", &npy);
    for line in [
        "convert data/a.npy data/x.b2nd --directory --chunk-size 4K",
        "compress data/a.npy data/deep/frame --directory",
        "convert data/a.npy data/deep/bcolz --to bcolz",
        "convert data/a.npy data/a.blp",
        "convert data/a.npy data/array.b2nd",
    ] {
        folder.out(line);
    }
    folder.fixture("bcolz/ct_mixed");
    std::fs::rename(folder.path("ct_mixed"), folder.path("data/table")).unwrap();
    folder.write("data/deep/raw", b"raw");
    let before = files_below(&folder.path("data"));
    for name in ["x.b2nd", "deep/frame", "deep/bcolz", "table"] {
        let result = folder.line(&format!("compress -r --rm data/{name}"));
        assert_eq!((result.status, result.out()), (0, ""));
        let warning = format!("b2: warning: data/{name}: is a ");
        assert!(result.err().starts_with(&warning), "{}", result.err());
        assert_eq!(files_below(&folder.path("data")), before);
    }
    let result = folder.line("compress -r --rm data");
    assert_eq!(result.status, 0);
    assert_eq!(result.err().lines().count(), 6, "{}", result.err());
    let mut after = before;
    for name in ["a.npy", "deep/raw"] {
        let at = after.iter().position(|known| known == name).unwrap();
        after[at].push_str(".b2frame");
    }
    assert_eq!(files_below(&folder.path("data")), after);
    // A directory is searched, or skipped with a warning, also if it has the extension of frames.
    std::fs::rename(folder.path("data/deep/frame"), folder.path("data/deep/x.b2frame")).unwrap();
    std::fs::create_dir(folder.path("data/plain.b2frame")).unwrap();
    folder.write("data/plain.b2frame/raw", b"raw");
    // Without --rm, only the directories are skipped.
    let result = folder.line("compress -r data");
    assert!(folder.exists("data/plain.b2frame/raw.b2frame"));
    assert_eq!(result.err().lines().count(), 4, "{}", result.err());
    assert!(
        folder.exists("data/a.blp.b2frame") && !folder.exists("data/x.b2nd/chunks.b2frame.b2frame")
    );
}

#[test]
fn frames_have_the_permissions_of_their_inputs() {
    let folder = TestDir::new();
    let mode = |name: &str| folder.path(name).metadata().unwrap().permissions().mode() & 0o7777;
    let set_mode = |name: &str, mode| {
        std::fs::set_permissions(folder.path(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    for (number, permissions) in [0o600, 0o640, 0o666, 0o4755].into_iter().enumerate() {
        folder.write("in", b"private");
        set_mode("in", permissions);
        folder.out(&format!("compress in file{number}"));
        assert_eq!(mode(&format!("file{number}")), permissions & 0o777);
        folder.out(&format!("compress in directory{number} --directory --rm"));
        let search = (permissions & 0o444) >> 2;
        let directory = (permissions | search | 0o700) & 0o777;
        assert_eq!(mode(&format!("directory{number}")), directory);
        let index = format!("directory{number}/chunks.b2frame");
        assert_eq!(mode(&index), permissions & 0o777);
    }
    folder.write("in", b"private");
    set_mode("in", 0o600);
    set_mode("file2", 0o644);
    folder.out("compress in file2 --force");
    assert_eq!(mode("file2"), 0o600);
    // Privileged programs keep the owner and the group, too.
    if std::os::unix::fs::chown(folder.path("in"), Some(1234), Some(1235)).is_ok() {
        folder.out("compress in file2 --force");
        let frame = folder.path("file2").metadata().unwrap();
        assert_eq!((frame.uid(), frame.gid(), mode("file2")), (1234, 1235, 0o600));
    }
}

#[test]
fn a_reader_that_closes_a_fifo_is_an_error() {
    let folder = TestDir::new();
    folder.write("noise", &noise(100_000).iter().map(|n| *n as u8).collect::<Vec<_>>());
    let fifo = folder.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let child = folder.start(&["compress", "noise", "-t1", "--filters", "none", "fifo"]);
    let mut first = [0; 10];
    File::open(&fifo).unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "b2: error: cannot write to fifo: its reader closed it\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn standard_input_is_named_in_errors() {
    let folder = TestDir::new();
    let mut command = folder.command(&["compress", "-", "out"]);
    let directory = File::open(folder.path(".")).unwrap();
    let output = command.stdin(Stdio::from(directory)).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "b2: error: cannot read standard input: Is a directory (os error 21)\n"
    );
    assert_eq!((output.status.code(), folder.names()), (Some(1), Vec::new()));
}

#[test]
fn the_default_output_of_decompress_keeps_all_bytes_of_the_name() {
    let folder = TestDir::new();
    folder.write("in", b"content");
    folder.out("compress in IN.B2FRAME");
    folder.out("decompress IN.B2FRAME");
    assert_eq!(folder.read("IN"), b"content");
    let name = folder.path("").join(OsStr::from_bytes(b"\xff.cframe"));
    std::fs::rename(folder.path("IN.B2FRAME"), &name).unwrap();
    let output = folder.command(&["decompress"]).arg(&name).output().unwrap();
    assert!(output.status.success());
    assert_eq!(std::fs::read(name.with_extension("")).unwrap(), b"content");
}

#[test]
fn directories_of_failed_outputs_are_removed() {
    let folder = TestDir::new();
    folder.write("noise", &noise(100_000).iter().map(|n| *n as u8).collect::<Vec<_>>());
    folder.write("small", b"small");
    std::fs::create_dir(folder.path("old")).unwrap();
    let result = folder.limited("-f 8", &["compress", "noise", "-o", "old/a/b/"]);
    assert_eq!(result.status, 1);
    assert_eq!(files_below(&folder.path("old")), Vec::<String>::new());
    assert!(folder.exists("old") && !folder.exists("old/a"));
    let result = folder.limited("-f 8", &["compress", "small", "noise", "-o", "old/a/b/"]);
    assert_eq!(result.status, 1);
    assert_eq!(files_below(&folder.path("old")), ["a/b/small.b2frame"]);
}

#[test]
fn decompressed_files_have_the_permissions_of_their_frame() {
    let folder = TestDir::new();
    let mode = |name: &str| folder.path(name).metadata().unwrap().permissions().mode() & 0o7777;
    let set_mode = |name: &str, mode| {
        std::fs::set_permissions(folder.path(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    folder.write("in", b"private");
    set_mode("in", 0o600);
    folder.out("compress in");
    folder.out("compress in directory.b2frame --directory");
    for name in ["in", "directory"] {
        folder.out(&format!("decompress {name}.b2frame out-{name}"));
        assert_eq!((mode(&format!("out-{name}")), folder.read("in")), (0o600, b"private".to_vec()));
    }
    set_mode("out-in", 0o644);
    folder.out("decompress in.b2frame out-in --force");
    assert_eq!(mode("out-in"), 0o600);
    set_mode("in.b2frame", 0o4750);
    folder.out("decompress in.b2frame out-in --force");
    assert_eq!(mode("out-in"), 0o750);
}

#[test]
fn the_time_of_the_last_change_is_kept() {
    let folder = TestDir::new();
    folder.write("in", b"content");
    let time = UNIX_EPOCH + Duration::from_millis(1_000_000_123);
    let file = File::options().write(true).open(folder.path("in")).unwrap();
    file.set_modified(time).unwrap();
    let time_of = |name: &str| folder.path(name).metadata().unwrap().modified().unwrap();
    folder.out("compress in");
    folder.out("compress in directory.b2frame --directory --rm");
    for name in ["in", "directory"] {
        folder.out(&format!("decompress {name}.b2frame"));
        assert_eq!((time_of(name), folder.read(name)), (time, b"content".to_vec()));
    }
    assert_eq!(time_of("in.b2frame"), time);
}

#[test]
fn a_replaced_file_keeps_its_owner() {
    let folder = TestDir::new();
    folder.write("in", b"content");
    folder.out("compress in");
    folder.out("convert in.b2frame out.bin");
    std::fs::set_permissions(folder.path("out.bin"), PermissionsExt::from_mode(0o640)).unwrap();
    // Only privileged programs change owners.
    let is_root = std::os::unix::fs::chown(folder.path("out.bin"), Some(1234), Some(1235)).is_ok();
    let before = folder.path("out.bin").metadata().unwrap();
    folder.out("convert in.b2frame out.bin --force");
    let after = folder.path("out.bin").metadata().unwrap();
    let facts = |found: &std::fs::Metadata| (found.uid(), found.gid(), found.mode());
    assert_eq!(facts(&after), facts(&before), "{is_root}");
}

#[test]
fn the_default_output_of_a_frame_named_like_standard_output_is_a_file() {
    let folder = TestDir::new();
    folder.write("in", b"content");
    folder.out("compress in -- ./-.b2frame");
    folder.succeed("decompress -- -.b2frame");
    assert_eq!(folder.read("-"), b"content");
}

#[test]
fn a_frame_that_is_compressed_into_itself_is_locked_before_it_is_read() {
    let folder = TestDir::new();
    for name in ["old", "new"] {
        folder.write(name, name.as_bytes());
        folder.out(&format!("compress {name}"));
    }
    let file = File::options().read(true).write(true).open(folder.path("old.b2frame")).unwrap();
    file.lock().unwrap();
    let mut child = folder.start(&["compress", "old.b2frame", "old.b2frame", "--force"]);
    let mut waits = [0; 100];
    let count = child.stderr.as_mut().unwrap().read(&mut waits).unwrap();
    let waits = String::from_utf8_lossy(&waits[..count]);
    assert!(waits.contains("waiting for another program"), "{waits}");
    // The other program changes the frame.
    folder.write("old.b2frame", &folder.read("new.b2frame"));
    drop(file);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.succeed("decompress old.b2frame inner");
    assert!(folder.read("inner") == folder.read("new.b2frame"));
}

/// Appends to a Bloscpack file. Returns the bytes of the file and of its journal in the middle of
/// the change.
fn underway(path: &Path) -> (Vec<u8>, Vec<u8>) {
    struct Input<'p> {
        path: &'p Path,
        reads: usize,
        seen: &'p mut (Vec<u8>, Vec<u8>),
    }
    impl Read for Input<'_> {
        fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
            self.reads += 1;
            if self.reads < 100 {
                dest.fill(7);
                return Ok(dest.len());
            }
            let journal = self.path.with_extension("blp.journal");
            *self.seen = (std::fs::read(self.path)?, std::fs::read(journal)?);
            Err(std::io::ErrorKind::Other.into())
        }
    }
    let mut seen = (Vec::new(), Vec::new());
    let input = Input { path, reads: 0, seen: &mut seen };
    bloscpack::append(path, input, None, &AppendArgs::default(), &mut ()).unwrap_err();
    seen
}

/// The journal of an interrupted change is needed to read the file.
#[test]
fn files_with_an_interrupted_change_are_not_compressed() {
    let folder = TestDir::new();
    let (path, journal) = (folder.path("x.blp"), folder.path("x.blp.journal"));
    let data: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut args = PackArgs { chunk_size: 100_000, ..PackArgs::default() };
    args.blosc.clevel = 0;
    bloscpack::pack_bytes_to_file(&data, &path, &args).unwrap();
    let before = std::fs::read(&path).unwrap();
    let (middle, saved) = underway(&path);
    assert!(std::fs::read(&path).unwrap() == before && !journal.exists());
    // The same file, as the journal records it.
    std::fs::write(&path, &middle).unwrap();
    std::fs::write(&journal, &saved).unwrap();
    for line in ["compress --rm x.blp", "compress x.blp", "compress x.blp -"] {
        let failed = folder.line(line);
        let expected = "b2: error: x.blp: a change was interrupted\n\
                        b2: hint: 'b2 repair --write x.blp' undoes the change\n";
        assert_eq!((failed.status, failed.out(), failed.err()), (1, "", expected), "{line}");
    }
    assert!(!folder.exists("x.blp.b2frame") && std::fs::read(&path).unwrap() == middle);
    folder.out("repair --write x.blp");
    assert!(std::fs::read(&path).unwrap() == before && !journal.exists());
    // A journal that is not needed is removed with the file.
    std::fs::write(&journal, &saved).unwrap();
    folder.out("compress --rm x.blp");
    assert!(!path.exists() && !journal.exists());
    folder.out("decompress x.blp.b2frame");
    assert!(std::fs::read(&path).unwrap() == before);
}
