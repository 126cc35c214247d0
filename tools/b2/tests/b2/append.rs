//! `append`, `resize` and `compact`: changes of frames and arrays in place.

use crate::common::{TestDir, ints, noise};
use ferroblosc_tools_testing::npy_header;
use std::ffi::CString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns the items of an array of 32-bit integers.
fn items(folder: &TestDir, name: &str) -> Vec<i32> {
    let bytes = folder.line(&format!("decompress {name} -")).stdout;
    bytes.chunks_exact(4).map(|item| i32::from_le_bytes(item.try_into().unwrap())).collect()
}

/// Creates a directory with arrays of 40 x 30 items, with chunks of 10 x 30 items.
fn arrays() -> TestDir {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[40, 30], 0);
    ints(&folder, "rows.npy", &[15, 30], 1200);
    ints(&folder, "columns.npy", &[40, 5], -200);
    for line in [
        "convert a.npy a.b2nd --chunk-size 1200",
        "convert a.npy d.b2nd --chunk-size 1200 --directory",
        "convert a.npy n.b2nd --chunk-size 1200 --no-checksums",
        "convert rows.npy rows.b2nd --chunk-size 1200",
        "convert rows.npy rows.bcolz",
        "convert rows.npy rows.blp",
        "meta set a.b2nd units -s K",
    ] {
        folder.succeed(line);
    }
    folder
}

#[test]
fn rows_of_all_formats_are_appended_to_arrays() {
    let folder = arrays();
    let raw =
        items(&folder, "rows.npy").iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<_>>();
    folder.write("rows.raw", &raw);
    for target in ["a.b2nd", "d.b2nd", "n.b2nd"] {
        let inputs = "rows.npy rows.b2nd rows.bcolz rows.blp rows.raw";
        let result = folder.json(&format!("append {target} {inputs} --json"));
        assert_eq!(result["shape"], serde_json::json!([40 + 5 * 15, 30]), "{target}");
        assert_eq!(result["appended_bytes"], 5 * 15 * 30 * 4);
        let rows = items(&folder, "rows.npy");
        let mut expected = items(&folder, "a.npy");
        (0..5).for_each(|_| expected.extend(&rows));
        assert_eq!(items(&folder, target), expected, "{target}");
        folder.out(&format!("verify {target}"));
    }
    assert_eq!(folder.out("meta get a.b2nd units -s"), "K\n");
    // Standard input.
    let result = folder.line_with("append a.b2nd -", &raw);
    assert_eq!((result.status, result.err()), (0, ""));
    assert_eq!(items(&folder, "a.b2nd").len(), (40 + 6 * 15) * 30);
    // Inputs without items.
    ints(&folder, "none.npy", &[0, 30], 0);
    folder.write("empty", b"");
    folder.succeed("append a.b2nd none.npy empty");
    assert_eq!(items(&folder, "a.b2nd").len(), (40 + 6 * 15) * 30);
    // No other files are left.
    assert!(!folder.names().iter().any(|name| name.contains("tmp") || name.contains("lock")));
}

#[test]
fn columns_are_appended_along_an_axis() {
    let folder = arrays();
    let (old, new) = (items(&folder, "a.npy"), items(&folder, "columns.npy"));
    let expected: Vec<i32> =
        old.chunks(30).zip(new.chunks(5)).flat_map(|(old, new)| [old, new].concat()).collect();
    folder.succeed("append a.b2nd columns.npy --axis 1");
    assert_eq!(items(&folder, "a.b2nd"), expected);
    folder.succeed("append d.b2nd columns.npy --axis -1");
    assert_eq!(items(&folder, "d.b2nd"), expected);
    folder.out("verify a.b2nd d.b2nd");
}

#[test]
fn chunks_that_fit_are_copied_without_recompression() {
    let folder = arrays();
    // The damaged chunk has no checksum and cannot be decompressed.
    let position = folder.json("ls --chunks --json n.b2nd")[0]["chunks"][1]["position"].as_u64();
    let mut bytes = folder.read("n.b2nd");
    bytes[position.unwrap() as usize + 40..][..60].fill(0xff);
    folder.write("bad.b2nd", &bytes);
    assert_eq!(folder.line("cat bad.b2nd").status, 3);
    let result = folder.json("append n.b2nd bad.b2nd --json");
    assert_eq!(result["chunks_copied"], 4);
    assert_eq!(folder.line("cat n.b2nd --slice :40").status, 0);
    assert_eq!(folder.line("cat n.b2nd --slice 40:60").status, 3);
    // Checksums must not certify damaged data.
    let before = folder.read("a.b2nd");
    let result = folder.line("append a.b2nd bad.b2nd");
    assert_eq!(result.status, 3);
    assert!(result.err().starts_with("b2: error: bad.b2nd: chunk 1 at byte "), "{}", result.err());
    assert!(folder.read("a.b2nd") == before);
    // With other chunks they are decompressed, and nothing is changed.
    folder.succeed("convert a.npy other.b2nd --chunk-size 2400");
    let before = folder.read("other.b2nd");
    let result = folder.line("append other.b2nd bad.b2nd");
    assert_eq!(result.status, 3);
    assert!(result.err().starts_with("b2: error: bad.b2nd: chunk 1 at byte "), "{}", result.err());
    assert!(folder.read("other.b2nd") == before);
}

#[test]
fn an_array_is_appended_to_itself() {
    let folder = arrays();
    let mut expected = items(&folder, "a.npy");
    expected.extend(expected.clone());
    for name in ["a.b2nd", "d.b2nd"] {
        folder.succeed(&format!("append {name} {name}"));
        assert_eq!(items(&folder, name), expected);
    }
    // Not at a chunk boundary.
    folder.succeed("append n.b2nd rows.npy");
    let mut expected = items(&folder, "n.b2nd");
    expected.extend(expected.clone());
    folder.succeed("append n.b2nd n.b2nd");
    assert_eq!(items(&folder, "n.b2nd"), expected);
    folder.write("f", &noise(5000));
    folder.succeed("compress f f.b2frame --chunk-size 2K");
    folder.succeed("append f.b2frame f.b2frame");
    assert_eq!(folder.line("decompress f.b2frame -").stdout, [noise(5000), noise(5000)].concat());
}

#[test]
fn bytes_are_appended_to_super_chunks() {
    let folder = TestDir::new();
    let data = noise(10_000);
    for (size, chunk) in
        [(0, "1K"), (1, "1K"), (1000, "1000"), (3000, "1000"), (2500, "1K"), (2500, "1M")]
    {
        folder.write("start", &data[..size]);
        folder.write("rest", &data[size..]);
        folder.write("none", b"");
        folder.succeed(&format!("compress start f.b2frame --force -t 1 --chunk-size {chunk}"));
        folder.succeed("append f.b2frame rest none");
        assert!(folder.line("decompress f.b2frame -").stdout == data, "{size} {chunk}");
        let info = folder.json("info --json f.b2frame")[0].clone();
        let expected = match chunk {
            "1000" => 1000,
            // A frame without chunks does not record their size.
            "1K" if size > 0 => 1024,
            _ => 1 << 20,
        };
        assert_eq!(info["chunks"]["size"], expected, "{size} {chunk}");
        folder.out("verify f.b2frame");
    }
    // Known formats are decompressed, unless --raw is given.
    folder.write("g", b"content");
    folder.succeed("compress g");
    folder.succeed("append f.b2frame g.b2frame");
    assert!(folder.line("decompress f.b2frame -").stdout.ends_with(b"content"));
    folder.succeed("append f.b2frame g.b2frame --raw");
    let frame = folder.read("g.b2frame");
    assert!(folder.line("decompress f.b2frame -").stdout.ends_with(&frame));
    // Full chunks of a frame are copied.
    folder.write("h", &data[..4096]);
    folder.succeed("compress h one.b2frame -t 1 --chunk-size 1K");
    folder.succeed("compress h two.b2frame -t 1 --chunk-size 1K");
    assert_eq!(folder.json("append one.b2frame two.b2frame --json")["chunks_copied"], 4);
    assert_eq!(folder.line("decompress one.b2frame -").stdout.len(), 8192);
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let folder = arrays();
    let mut floats = npy_header("'<f4'", "(15, 30)", false);
    floats.extend(vec![0; 15 * 30 * 4]);
    folder.write("floats.npy", &floats);
    let mut swapped = npy_header("'>i4'", "(15, 30)", false);
    swapped.extend(vec![0; 15 * 30 * 4]);
    folder.write("swapped.npy", &swapped);
    let mut single = npy_header("'<i4'", "()", false);
    single.extend([0; 4]);
    folder.write("single.npy", &single);
    folder.succeed("convert single.npy single.b2nd");
    folder.write("raw", &[0; 121]);
    folder.write("raw8", &[0; 8]);
    folder.succeed("compress raw8 raw8.b2frame -t 8");
    folder.succeed("compress raw8 raw2.b2frame -t 2");
    for (line, status, text) in [
        (
            "append a.b2nd floats.npy",
            1,
            "floats.npy: cannot be appended: the type of the items is '<f4', that of the array '<i4'",
        ),
        (
            "append a.b2nd swapped.npy",
            1,
            "swapped.npy: cannot be appended: the type of the items is '>i4', that of the array '<i4'",
        ),
        (
            "append a.b2nd rows.npy columns.npy",
            1,
            "columns.npy: cannot be appended: the shape is (40, 5), that of the array (40, 30); only the extent of axis 0 may differ",
        ),
        (
            "append a.b2nd single.npy",
            1,
            "single.npy: cannot be appended: the shape is (), that of the array (40, 30); only the extent of axis 0 may differ",
        ),
        (
            "append a.b2nd raw",
            1,
            "raw: cannot be appended: 121 bytes is not a multiple of 120 bytes, the size of one index along axis 0",
        ),
        (
            "append a.b2nd raw8.b2frame",
            1,
            "raw8.b2frame: cannot be appended: the items have 8 bytes, those of the array 4",
        ),
        (
            "append raw8.b2frame raw2.b2frame",
            1,
            "raw2.b2frame: cannot be appended: the items have 2 bytes, those of the super-chunk 8",
        ),
        (
            "append raw8.b2frame rows.npy",
            1,
            "rows.npy: cannot be appended: the items have 4 bytes, those of the super-chunk 8",
        ),
        (
            "append raw8.b2frame raw --axis 0",
            2,
            "raw8.b2frame: --axis: a super-chunk is not an array",
        ),
        ("append a.b2nd rows.npy --axis 2", 2, "a.b2nd: --axis 2: the array has 2 dimensions"),
        ("append a.b2nd rows.npy --axis -3", 2, "a.b2nd: --axis -3: the array has 2 dimensions"),
        (
            "append single.b2nd single.npy",
            1,
            "single.b2nd: an array without dimensions cannot grow",
        ),
        (
            "append rows.npy rows.npy",
            1,
            "rows.npy: a NumPy array file is neither a frame nor an array",
        ),
        (
            "append rows.blp rows.npy",
            1,
            "rows.blp: a Bloscpack container is neither a frame nor an array",
        ),
        ("append a.b2nd missing", 1, "cannot open missing: No such file or directory (os error 2)"),
        (
            "append missing rows.npy",
            1,
            "cannot open missing: No such file or directory (os error 2)",
        ),
        ("append raw rows.npy", 1, "raw: the format is unknown"),
        ("append - rows.npy", 2, "cannot change standard input"),
        ("resize raw8.b2frame 9", 1, "raw8.b2frame: a super-chunk has no shape"),
        ("resize a.b2nd 50", 2, "a.b2nd: SHAPE has 1 extent, the shape of the array is (40, 30)"),
        (
            "resize a.b2nd 50,29",
            1,
            "a.b2nd: items would be removed: the shape (40, 30) would become (50, 29)",
        ),
        (
            "resize a.b2nd 9223372036854775807,9223372036854775807",
            1,
            "a.b2nd: the array would have 283568639100782053624015269141522241 chunks, and can have 2147483647",
        ),
        ("compact rows.npy", 1, "rows.npy: a NumPy array file is neither a frame nor an array"),
    ] {
        let before = (folder.read("a.b2nd"), folder.read("raw8.b2frame"));
        let result = folder.line(line);
        assert_eq!(result.status, status, "{line}: {}", result.err());
        let first = result.err().lines().next().unwrap();
        assert_eq!(first, format!("b2: error: {text}"), "{line}");
        assert!((folder.read("a.b2nd"), folder.read("raw8.b2frame")) == before, "{line}");
    }
    assert_eq!(folder.line("resize a.b2nd 4x").status, 2);
    assert_eq!(folder.line("resize a.b2nd -1,30").status, 2);
    // A store.
    let old = folder.fixture("stores/t_lazy.b2z");
    assert_eq!(folder.line(&format!("append {old} rows.npy")).status, 1);
}

#[test]
fn a_resize_keeps_items_and_adds_zeros() {
    for name in ["a.b2nd", "d.b2nd", "n.b2nd"] {
        let folder = arrays();
        let json = folder.json(&format!("resize {name} 45,31 --json"));
        assert_eq!(json["shape_before"], serde_json::json!([40, 30]));
        let old = items(&folder, "a.npy");
        let mut expected = vec![0; 45 * 31];
        for (row, items) in old.chunks(30).enumerate() {
            expected[row * 31..][..30].copy_from_slice(items);
        }
        assert_eq!(items(&folder, name), expected);
        folder.succeed(&format!("resize {name} 20,31 --shrink"));
        assert_eq!(items(&folder, name), expected[..20 * 31]);
        folder.succeed(&format!("resize {name} 0,31 --shrink"));
        assert!(items(&folder, name).is_empty());
        folder.out(&format!("verify {name}"));
        folder.succeed(&format!("resize {name} 2,2 --shrink"));
        assert_eq!(items(&folder, name), [0; 4]);
    }
}

#[test]
fn unused_space_is_removed() {
    let folder = TestDir::new();
    folder.write("data", &noise(100_000));
    for options in ["", "--directory"] {
        folder.out(&format!("compress data f.b2frame --force --chunk-size 10K {options}"));
        folder.succeed("meta set f.b2frame units -s K");
        if options.is_empty() {
            // Bytes that an interrupted change left after the frame.
            let mut bytes = folder.read("f.b2frame");
            bytes.extend(noise(70_000));
            folder.write("f.b2frame", &bytes);
        } else {
            folder.write("f.b2frame/000000FF.chunk", &noise(70_000));
        }
        let result = folder.json("compact f.b2frame --json");
        let before = result[0]["stored_before"].as_u64().unwrap();
        let after = result[0]["stored_bytes"].as_u64().unwrap();
        assert!(before >= after + 70_000, "{result}");
        assert!(folder.line("decompress f.b2frame -").stdout == noise(100_000));
        assert_eq!(folder.out("meta get f.b2frame units -s"), "K\n");
        folder.out("verify f.b2frame");
        let text = folder.out("compact f.b2frame");
        assert!(text.starts_with("f.b2frame: ") && text.contains(" -> "), "{text}");
    }
    // An error does not stop the others.
    let result = folder.line("compact missing f.b2frame");
    assert_eq!(result.status, 1);
    assert!(result.out().starts_with("f.b2frame: "), "{}", result.out());
}

#[test]
fn appends_of_small_data_do_not_let_a_file_grow_without_bound() {
    let folder = TestDir::new();
    folder.write("row", &noise(100));
    folder.succeed("compress row f.b2frame -t 1");
    folder.succeed("compress row plain.b2frame -t 1");
    for _ in 0..40 {
        folder.succeed("append f.b2frame row");
    }
    let data = 41 * 100;
    assert_eq!(folder.line("decompress f.b2frame -").stdout.len(), data);
    let stored = folder.read("f.b2frame").len();
    assert!(stored < data * 2 + 1000, "{stored}");
}

#[test]
fn a_full_disk_leaves_the_old_content() {
    let folder = TestDir::new();
    let mut npy = npy_header("'|u1'", "(3000,)", false);
    npy.extend(noise(3000));
    folder.write("a.npy", &npy);
    let mut npy = npy_header("'|u1'", "(60000,)", false);
    npy.extend(noise(60_000));
    folder.write("more.npy", &npy);
    for (name, options, limit) in [
        ("a.b2nd", "", "-f 8"),
        // Each chunk is a file of more than 3000 bytes.
        ("d.b2nd", "--directory", "-f 4"),
        ("f.b2frame", "--raw", "-f 8"),
    ] {
        folder.succeed(&format!("convert a.npy {name} {options}"));
        let before = folder.line(&format!("decompress {name} -")).stdout;
        let result = folder.limited(limit, &["-q", "append", name, "more.npy"]);
        assert_eq!(result.status, 1, "{name}: {}", result.err());
        let begins = format!("b2: error: cannot write to {name}");
        assert!(result.err().starts_with(&begins), "{name}: {}", result.err());
        assert!(result.err().ends_with("File too large (os error 27)\n"), "{}", result.err());
        assert!(folder.line(&format!("decompress {name} -")).stdout == before, "{name}");
        folder.out(&format!("verify {name}"));
        folder.succeed(&format!("append {name} more.npy"));
        assert_eq!(folder.line(&format!("decompress {name} -")).stdout.len(), 63_000, "{name}");
    }
}

#[test]
fn a_killed_append_leaves_the_old_or_the_new_content() {
    let folder = TestDir::new();
    folder.write("start", &noise(10_000));
    folder.write("more", &noise(6 << 20));
    folder.succeed("compress start start.b2frame -t 1 --chunk-size 64K");
    let (mut old, mut new) = (0, 0);
    for (round, signal) in (0..16).zip([libc::SIGINT, libc::SIGKILL].into_iter().cycle()) {
        folder.write("f.b2frame", &folder.read("start.b2frame"));
        let mut child = folder.start(&["-n1", "append", "f.b2frame", "more"]);
        std::thread::sleep(Duration::from_millis(3 * round));
        let id = i32::try_from(child.id()).unwrap();
        // SAFETY: `kill` accepts any process id. The child was not waited for, so its id is not
        // reused by another process.
        assert_eq!(unsafe { libc::kill(id, signal) }, 0);
        child.wait().unwrap();
        match folder.line("decompress f.b2frame -").stdout.len() {
            10_000 => old += 1,
            len if len == 10_000 + (6 << 20) => new += 1,
            len => panic!("{len} bytes"),
        }
        folder.out("verify f.b2frame");
    }
    assert_eq!(old + new, 16);
    // The next append removes the bytes of an interrupted one.
    folder.succeed("append f.b2frame start");
    folder.out("compact f.b2frame");
    folder.out("verify f.b2frame");
}

#[test]
fn signals_remove_the_temporary_files_of_replaced_frames_and_stores() {
    let folder = TestDir::new();
    folder.write("data", &noise(48 << 20));
    folder.succeed("compress data f.b2frame -l 0");
    folder.succeed("put s.b2z /a f.b2frame");
    folder.succeed("put s.b2z /b f.b2frame");
    folder.succeed("append f.b2frame data");
    for (name, line) in [("f.b2frame", "compact f.b2frame"), ("s.b2z", "rm s.b2z /b")] {
        let temporary = format!("{name}.b2tmp");
        let before = (folder.names(), folder.read(name));
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let mut child = folder.start(&line.split(' ').collect::<Vec<_>>());
            let mut has_ended = false;
            while !has_ended && !folder.exists(&temporary) {
                std::thread::sleep(Duration::from_micros(100));
                has_ended = child.try_wait().unwrap().is_some();
            }
            if !has_ended {
                let id = i32::try_from(child.id()).unwrap();
                // SAFETY: as above.
                assert_eq!(unsafe { libc::kill(id, signal) }, 0);
            }
            let status = child.wait().unwrap();
            assert_eq!(folder.names(), before.0, "{line}");
            // A command that ended before the signal has replaced the file.
            if !status.success() {
                assert_eq!(status.signal(), Some(signal), "{line}");
                assert!(folder.read(name) == before.1, "{line}");
            }
            folder.write(name, &before.1);
        }
    }
}

#[test]
fn two_programs_change_a_file_one_after_the_other() {
    let folder = TestDir::new();
    folder.write("row", &noise(1000));
    folder.write("big", &noise(1 << 20));
    for options in ["", "--directory"] {
        folder.out(&format!("compress row f.b2frame --force -t 1 --chunk-size 4K {options}"));
        let mut children: Vec<_> = (0..6)
            .map(|number| {
                let input = if number % 2 == 0 { "row" } else { "big" };
                folder.start(&["append", "f.b2frame", input])
            })
            .collect();
        children.push(folder.start(&["compact", "f.b2frame"]));
        for child in children {
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{errors}");
        }
        let stored = folder.line("decompress f.b2frame -").stdout;
        assert_eq!(stored.len(), 4 * 1000 + (3 << 20));
        folder.out("verify f.b2frame");
    }
}

#[test]
fn a_lock_of_blosc2_is_used_if_it_exists() {
    let folder = TestDir::new();
    folder.write("row", &noise(1000));
    folder.succeed("compress row f.b2frame -t 1");
    folder.write("f.b2frame.b2lock", &[0; 16]);
    let lock = std::fs::File::options()
        .read(true)
        .write(true)
        .open(folder.path("f.b2frame.b2lock"))
        .unwrap();
    // SAFETY: an all-zero `flock` is a lock of the whole file.
    let mut whole: libc::flock = unsafe { std::mem::zeroed() };
    whole.l_type = libc::F_WRLCK as i16;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&lock);
    // SAFETY: the descriptor is open and the struct is valid.
    assert_eq!(unsafe { libc::fcntl(descriptor, libc::F_SETLK, &whole) }, 0);
    lock.lock().unwrap();
    let mut child = folder.start(&["append", "f.b2frame", "row"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the append waits");
    drop(lock);
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.line("decompress f.b2frame -").stdout.len(), 2000);
}

/// Creates a FIFO.
fn fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a string that ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

#[test]
fn links_stay_links_and_fifos_are_inputs_only() {
    let folder = arrays();
    std::os::unix::fs::symlink("a.b2nd", folder.path("link.b2nd")).unwrap();
    folder.succeed("append link.b2nd rows.npy");
    for _ in 0..3 {
        // The holes are larger than the chunks: the file is replaced.
        folder.succeed("resize link.b2nd 400,30");
        folder.succeed("resize link.b2nd 55,30 --shrink");
    }
    folder.out("compact link.b2nd");
    assert!(folder.path("link.b2nd").is_symlink());
    assert!(folder.path("a.b2nd").symlink_metadata().unwrap().is_file());
    assert_eq!(items(&folder, "a.b2nd").len(), 55 * 30);

    fifo(&folder.path("fifo"));
    let result = folder.line("append fifo rows.npy");
    assert_eq!(result.status, 1);
    assert_eq!(result.err().trim_end(), "b2: error: fifo: is a FIFO, which is read only once");
    let child = folder.start(&["append", "a.b2nd", "fifo"]);
    let mut writer = std::fs::File::options().write(true).open(folder.path("fifo")).unwrap();
    writer.write_all(&folder.read("rows.npy")).unwrap();
    drop(writer);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(items(&folder, "a.b2nd").len(), 70 * 30);
}

#[test]
fn a_read_only_file_is_not_changed() {
    let folder = arrays();
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("", 0o777);
    for name in folder.names() {
        set(&name, if name == "d.b2nd" { 0o755 } else { 0o444 });
    }
    let before = folder.read("a.b2nd");
    for line in [
        "append a.b2nd rows.npy",
        "resize a.b2nd 50,30",
        "compact a.b2nd",
        "append d.b2nd rows.npy",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let mut command = folder.command(&arguments);
        // The counts of `make coverage` could not be written, either.
        command.env("LLVM_PROFILE_FILE", "/dev/null");
        // SAFETY: `geteuid` has no preconditions.
        if unsafe { libc::geteuid() } == 0 {
            // The superuser may write to all files.
            command.uid(65534).gid(65534);
        }
        let Ok(output) = command.output() else {
            // The other user may not run the program in its directory.
            return;
        };
        let errors = String::from_utf8(output.stderr).unwrap();
        let name = arguments[1];
        assert_eq!(
            errors,
            format!("b2: error: cannot open {name}: Permission denied (os error 13)\n")
        );
        assert_eq!(output.status.code(), Some(1));
    }
    assert!(folder.read("a.b2nd") == before);
}

#[test]
fn large_inputs_need_little_memory() {
    const MEMORY: u64 = 96 << 20;
    let folder = TestDir::new();
    let mut file = std::fs::File::create(folder.path("z.npy")).unwrap();
    file.write_all(&npy_header("'|u1'", "(1048576, 256)", false)).unwrap();
    let len = file.metadata().unwrap().len();
    file.set_len(len + (256 << 20)).unwrap();
    ints(&folder, "a.npy", &[4], 0);
    folder.succeed("convert a.npy f.b2frame --raw");
    let mut small = npy_header("'|u1'", "(4096, 256)", false);
    small.extend(vec![7; 4096 * 256]);
    folder.write("small.npy", &small);
    folder.succeed("convert small.npy a.b2nd");
    let begun = Instant::now();
    for line in [
        "append a.b2nd z.npy -n 2",
        "append f.b2frame a.b2nd --raw -n 2",
        "append f.b2frame z.npy --raw -n 2",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let mut command = folder.command(&arguments);
        // SAFETY: the closure only calls `setrlimit`, which is async-signal-safe.
        unsafe {
            command.pre_exec(|| {
                let limit = libc::rlimit { rlim_cur: MEMORY, rlim_max: MEMORY };
                match libc::setrlimit(libc::RLIMIT_DATA, &limit) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(begun.elapsed() < Duration::from_secs(300));
    assert_eq!(folder.json("info --json a.b2nd")[0]["array"]["shape"][0], 1_048_576 + 4096);
}

#[test]
fn arrays_of_very_many_chunks_are_resized_in_linear_time() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[10, 10], 1);
    for directory in ["", " --directory"] {
        folder.out(&format!("convert a.npy a.b2nd --chunks 1,1 --force{directory}"));
        // Along both dimensions: most chunks are inserted between others.
        let start = std::time::Instant::now();
        folder.out("resize a.b2nd 500,400");
        folder.out("resize a.b2nd 500,800");
        let chunks = &folder.json("info --json a.b2nd")[0]["chunks"];
        assert_eq!(chunks["count"], 400_000);
        folder.out("slice a.b2nd :10,:10 b.b2nd --force");
        folder.out("diff a.npy b.b2nd");
        assert_eq!(
            folder.out("cat a.b2nd --slice 9:,398:402 --no-index"),
            "0  0  0  0\n".repeat(491)
        );
        // The test of a quadratic implementation takes several minutes.
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }
    folder.out("convert a.npy c.b2nd --chunks 1,1");
    folder.out("resize c.b2nd 1000,10");
    folder.out("resize c.b2nd 10,10 --shrink");
    folder.out("diff a.npy c.b2nd");
    folder.out("resize c.b2nd 7,5 --shrink");
    folder.out("resize c.b2nd 7,6");
    folder.out("slice c.b2nd :,:5 d.b2nd");
    folder.out("slice a.b2nd :7,:5 e.b2nd");
    folder.out("diff d.b2nd e.b2nd");
    folder.out("verify a.b2nd c.b2nd");
}

/// Rows that another `b2` appends while a command replaces its own input are not lost.
#[test]
fn rows_appended_while_the_input_is_replaced_are_kept() {
    for command in [
        "recompress a.b2nd -o a.b2nd --force -l 9 -C zstd",
        "recompress d.b2nd -o d.b2nd --force -l 9 -C zstd --directory",
        "convert a.b2nd a.b2nd --force -l 9 -C zstd",
        "slice a.b2nd : a.b2nd --force -l 9 -C zstd",
    ] {
        let folder = TestDir::new();
        ints(&folder, "a.npy", &[4000, 100], 0);
        ints(&folder, "row.npy", &[1, 100], 0);
        let name = command.split(' ').nth(1).unwrap();
        let form = if name == "d.b2nd" { "--directory" } else { "" };
        folder.succeed(&format!("convert a.npy {name} --chunk-size 4000 {form}"));
        let arguments: Vec<&str> = command.split(' ').collect();
        let mut rows = 4000;
        let mut child = folder.start(&arguments);
        while child.try_wait().unwrap().is_none() || rows == 4000 {
            let line = format!("append {name} row.npy");
            rows += usize::from(folder.line(&line).status == 0);
        }
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
        assert_eq!(items(&folder, name).len(), rows * 100, "{command}");
        folder.out(&format!("verify {name}"));
        let names = folder.names();
        assert_eq!(names.len(), 3, "{names:?}");
    }
}
