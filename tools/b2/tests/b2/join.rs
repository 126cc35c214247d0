//! `concat`, `slice` and `recompress`: new frames and arrays from others.

use crate::common::{TestDir, ints, noise};
use ferroblosc_tools_testing::npy_header;
use serde_json::json;
use std::ffi::CString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

/// Returns the items of an array of 32-bit integers.
fn items(folder: &TestDir, name: &str) -> Vec<i32> {
    let result = folder.line(&format!("decompress {name} -"));
    assert_eq!((result.status, result.err()), (0, ""), "{name}");
    let items = result.stdout.chunks_exact(4);
    items.map(|item| i32::from_le_bytes(item.try_into().unwrap())).collect()
}

fn shape(folder: &TestDir, name: &str) -> serde_json::Value {
    folder.json(&format!("info --json {name}"))[0]["array"]["shape"].clone()
}

/// Creates a directory with arrays of 40 x 30 items, with chunks of 10 x 30 items and metadata.
fn arrays() -> TestDir {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[40, 30], 0);
    ints(&folder, "b.npy", &[40, 30], 5000);
    ints(&folder, "rows.npy", &[15, 30], 1200);
    for line in [
        "convert a.npy a.b2nd --chunk-size 1200 --codec lz4 --level 3",
        "convert b.npy b.b2nd --chunk-size 1200",
        "convert b.npy dir.b2nd --chunk-size 1200 --directory",
        "convert rows.npy rows.b2nd --chunk-size 1200",
        "convert rows.npy rows.bcolz",
        "meta set a.b2nd units -s K",
        "meta set a.b2nd fixed 7 --fixed",
    ] {
        folder.succeed(line);
    }
    folder
}

/// Damages a chunk, so that it cannot be decompressed, in a copy without checksums.
fn damage(folder: &TestDir, name: &str, copy: &str, chunk: usize) {
    folder.succeed(&format!("convert {name} {copy} --no-checksums"));
    let chunks = folder.json(&format!("ls --chunks --json {copy}"));
    let position = chunks[0]["chunks"][chunk]["position"].as_u64().unwrap() as usize;
    let mut bytes = folder.read(copy);
    bytes[position + 40..][..60].fill(0xff);
    folder.write(copy, &bytes);
    assert_eq!(folder.line(&format!("decompress {copy} - ")).status, 3);
}

#[test]
fn arrays_are_joined_along_an_axis() {
    let folder = arrays();
    let [a, b, rows] = ["a.npy", "b.npy", "rows.npy"].map(|name| items(&folder, name));
    for options in ["", "--directory"] {
        let result = folder.json(&format!(
            "concat a.b2nd b.npy dir.b2nd rows.bcolz rows.b2nd out.b2nd --force --json {options}"
        ));
        assert_eq!(result["shape"], json!([150, 30]));
        // Those of `a`, `dir`.
        assert_eq!(result["chunks_copied"], 8);
        assert_eq!(items(&folder, "out.b2nd"), [&a[..], &b, &b, &rows, &rows].concat());
        assert_eq!(folder.out("meta get out.b2nd units -s"), "K\n");
        assert_eq!(folder.out("meta get out.b2nd fixed"), "7\n");
        let info = folder.json("info --json out.b2nd")[0].clone();
        assert_eq!((&info["codec"], &info["level"]), (&json!("lz4"), &json!(3)));
        assert_eq!(info["directory"], !options.is_empty());
        folder.out("verify out.b2nd");
    }
    let joined: Vec<i32> =
        a.chunks(30).zip(b.chunks(30)).flat_map(|(a, b)| [a, b].concat()).collect();
    for (line, copied) in [
        ("concat a.b2nd b.b2nd wide.b2nd --axis 1 --json", 8),
        ("concat a.npy b.b2nd wide.b2nd --axis -1 --force --json", 0),
    ] {
        assert_eq!(folder.json(line)["chunks_copied"], copied, "{line}");
        assert_eq!(items(&folder, "wide.b2nd"), joined, "{line}");
    }
    // The output may be an input, and an input may repeat.
    folder.succeed("concat wide.b2nd wide.b2nd wide.b2nd --force");
    assert_eq!(items(&folder, "wide.b2nd"), [&joined[..], &joined].concat());
    // Options of compression.
    folder.succeed("concat a.b2nd b.b2nd z.b2nd --codec zstd --level 9");
    assert_eq!(folder.json("info --json z.b2nd")[0]["codec"], "zstd");
    assert_eq!(items(&folder, "z.b2nd"), [&a[..], &b].concat());
    // Empty arrays.
    ints(&folder, "none.npy", &[0, 30], 0);
    folder.succeed("concat none.npy a.b2nd none.npy e.b2nd");
    assert_eq!(items(&folder, "e.b2nd"), a);
}

#[test]
fn arrays_are_stacked_along_a_new_axis() {
    let folder = arrays();
    let (a, b) = (items(&folder, "a.npy"), items(&folder, "b.npy"));
    for (axis, expected) in [
        ("0", [&a[..], &b].concat()),
        ("1", a.chunks(30).zip(b.chunks(30)).flat_map(|(a, b)| [a, b].concat()).collect()),
        ("-1", a.iter().zip(&b).flat_map(|(&a, &b)| [a, b]).collect()),
    ] {
        for (inputs, copied) in
            [("a.b2nd b.b2nd", 8), ("a.npy b.npy", 0), ("a.b2nd b.npy", 4), ("a.b2nd dir.b2nd", 8)]
        {
            let line = format!("concat {inputs} s.b2nd --stack --axis {axis} --force --json");
            let result = folder.json(&line);
            assert_eq!(result["chunks_copied"], copied, "{line}");
            let mut lengths = vec![40, 30];
            let at = if axis == "-1" { 2 } else { axis.parse().unwrap() };
            lengths.insert(at, 2);
            assert_eq!(shape(&folder, "s.b2nd"), json!(lengths));
            assert_eq!(items(&folder, "s.b2nd"), expected, "{line}");
            folder.out("verify s.b2nd");
        }
    }
    folder.succeed("concat a.b2nd b.b2nd a.b2nd m.b2nd --stack");
    assert_eq!(folder.out("meta get m.b2nd units -s"), "K\n");
    assert_eq!(folder.out("meta get m.b2nd fixed"), "7\n");
    assert_eq!(folder.json("info --json m.b2nd")[0]["codec"], "lz4");
    // Arrays without dimensions become one with one dimension.
    let mut single = npy_header("'<i4'", "()", false);
    single.extend(9i32.to_le_bytes());
    folder.write("x.npy", &single);
    folder.succeed("concat x.npy x.npy x.b2nd --stack");
    assert_eq!(items(&folder, "x.b2nd"), [9, 9]);
}

#[test]
fn chunks_are_joined_and_sliced_without_recompression() {
    let folder = arrays();
    damage(&folder, "b.b2nd", "bad.b2nd", 1);
    for (line, copied, readable, damaged) in [
        ("concat a.b2nd bad.b2nd out.b2nd", 8, ":50", "50:60"),
        ("concat bad.b2nd a.b2nd out.b2nd", 8, "40:", "10:20"),
        ("concat a.b2nd bad.b2nd out.b2nd --axis 1", 8, ":,:30", "10:20"),
        ("concat a.b2nd bad.b2nd out.b2nd --stack", 8, "0", "1,10:20"),
        ("slice bad.b2nd 10:40 out.b2nd", 3, "10:", ":10"),
        ("slice bad.b2nd 10:35 out.b2nd", 2, "10:", ":10"),
    ] {
        // Checksums must not certify damaged data.
        let result = folder.line(&line.replace("out", "sealed"));
        assert_eq!(result.status, 3, "{line}");
        assert!(result.err().contains("bad.b2nd: chunk 1 at byte "), "{}", result.err());
        assert!(!folder.exists("sealed.b2nd"), "{line}");
        let result = folder.json(&format!("{line} --force --no-checksums --json"));
        assert_eq!(result["chunks_copied"], copied, "{line}");
        assert_eq!(folder.line(&format!("cat out.b2nd --slice {readable}")).status, 0, "{line}");
        assert_eq!(folder.line(&format!("cat out.b2nd --slice {damaged}")).status, 3, "{line}");
    }
    // Chunks that are not copied may be damaged.
    folder.succeed("slice bad.b2nd 20:40 sealed.b2nd");
    // Items after the end of a slice are not copied.
    folder.succeed("slice a.b2nd 10:35 out.b2nd --force");
    folder.succeed("resize out.b2nd 30,30");
    assert_eq!(items(&folder, "out.b2nd")[25 * 30..], [0; 5 * 30]);
    // Super-chunks.
    folder.write("data", &noise(8192));
    folder.succeed("compress data s.b2frame -t 4 --chunk-size 1K --filters shuffle --level 5");
    let numbers: Vec<u8> =
        (0..2048u32).flat_map(|number| (number * number).to_le_bytes()).collect();
    folder.write("numbers", &numbers);
    folder.succeed("compress numbers z.b2frame -t 4 --chunk-size 1K");
    damage(&folder, "z.b2frame", "bad.b2frame", 2);
    assert_eq!(folder.line("concat s.b2frame bad.b2frame both.b2frame").status, 3);
    let line = "concat s.b2frame bad.b2frame both.b2frame --no-checksums --json";
    let result = folder.json(line);
    assert_eq!(result["chunks_copied"], 16);
    assert_eq!(folder.line("decompress both.b2frame -").status, 3);
    let result = folder.line("concat s.b2frame bad.b2frame other.b2frame --level 1");
    assert_eq!(result.status, 3, "{}", result.err());
    assert!(!folder.exists("other.b2frame"));
}

/// The environment enables checksums also with '--no-checksums'.
#[test]
fn damaged_chunks_get_no_checksums_of_the_environment() {
    let folder = arrays();
    damage(&folder, "b.b2nd", "bad.b2nd", 1);
    folder.succeed("convert a.b2nd plain.b2nd --no-checksums");
    for line in [
        "convert bad.b2nd out.b2nd --no-checksums",
        "concat a.b2nd bad.b2nd out.b2nd --no-checksums",
        "concat a.b2nd bad.b2nd out.b2nd --stack --no-checksums",
        "slice bad.b2nd 10:40 out.b2nd --no-checksums",
        "append plain.b2nd bad.b2nd",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let mut command = folder.command(&arguments);
        let output = command.env("FERROBLOSC_CHECKSUMS", "1").output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {text}");
        assert!(text.contains("bad.b2nd: chunk 1 at byte "), "{line}: {text}");
        assert!(!folder.exists("out.b2nd"), "{line}");
    }
    assert_eq!(items(&folder, "plain.b2nd"), items(&folder, "a.b2nd"));
}

#[test]
fn super_chunks_are_joined() {
    let folder = TestDir::new();
    let data = noise(10_000);
    folder.write("one", &data[..3000]);
    folder.write("two", &data[3000..]);
    for (first, second) in
        [("1K", "1K"), ("1K", "2K"), ("1000", "1K"), ("1000", "1000"), ("1M", "1K")]
    {
        folder.succeed(&format!("compress one one.b2frame --force -t 1 --chunk-size {first}"));
        folder.succeed(&format!("compress two two.b2frame --force -t 1 --chunk-size {second}"));
        folder.succeed("meta set one.b2frame note 1");
        folder.succeed("concat one.b2frame two.b2frame out.b2frame --force");
        assert!(folder.line("decompress out.b2frame -").stdout == data, "{first} {second}");
        assert_eq!(folder.out("meta get out.b2frame note"), "1\n");
        folder.out("verify out.b2frame");
    }
    let result = folder.line("concat one two out.b2frame --force");
    assert_eq!(result.status, 1);
    assert!(
        result.err().starts_with("b2: error: one: the format is unknown\n"),
        "{}",
        result.err()
    );
}

/// A slice, its indices in each dimension, and the shape of the result.
type Case = (&'static str, Vec<i32>, Vec<i32>, Vec<i32>, Vec<i32>);

#[test]
fn slices_are_those_of_numpy() {
    let folder = TestDir::new();
    let (rows, columns, depth) = (23i32, 17i32, 5i32);
    ints(&folder, "a.npy", &[23, 17, 5], 0);
    folder.succeed("convert a.npy a.b2nd");
    folder.out("recompress a.b2nd --chunks 6,5,2 --blocks 3,5,1 -o c.b2nd");
    folder.succeed("convert a.npy a.bcolz");
    let all: Vec<i32> = (0..rows).collect();
    let cases: [Case; 8] = [
        ("...", all.clone(), (0..columns).collect(), (0..depth).collect(), vec![23, 17, 5]),
        ("6:18", (6..18).collect(), (0..columns).collect(), (0..depth).collect(), vec![12, 17, 5]),
        (
            "6:19,5:,2:",
            (6..19).collect(),
            (5..columns).collect(),
            (2..depth).collect(),
            vec![13, 12, 3],
        ),
        ("::-4,3:9:5,::2", vec![22, 18, 14, 10, 6, 2], vec![3, 8], vec![0, 2, 4], vec![6, 2, 3]),
        ("-1", vec![22], (0..columns).collect(), (0..depth).collect(), vec![17, 5]),
        ("...,3", all.clone(), (0..columns).collect(), vec![3], vec![23, 17]),
        ("2,:,-5", vec![2], (0..columns).collect(), vec![0], vec![17]),
        ("5:5", vec![], (0..columns).collect(), (0..depth).collect(), vec![0, 17, 5]),
    ];
    for name in ["a.npy", "a.b2nd", "c.b2nd", "a.bcolz"] {
        for (slice, x, y, z, lengths) in &cases {
            let result = folder.run(&["slice", name, slice, "out.b2nd", "--force"]);
            assert_eq!((result.status, result.err()), (0, ""), "{name} {slice}");
            let mut expected = Vec::new();
            for x in x {
                for y in y {
                    expected.extend(z.iter().map(|z| (x * columns + y) * depth + z));
                }
            }
            assert_eq!(items(&folder, "out.b2nd"), expected, "{name} {slice}");
            assert_eq!(shape(&folder, "out.b2nd"), json!(lengths), "{name} {slice}");
            folder.out("verify out.b2nd");
        }
    }
    let result = folder.json("slice a.b2nd 1,2,3 out.b2nd --force --json");
    assert_eq!(result["shape"], json!([]));
    assert_eq!(items(&folder, "out.b2nd"), [(columns + 2) * depth + 3]);
    // Type, metadata and parameters are kept.
    let folder = arrays();
    folder.succeed("slice a.b2nd 3:17 out.b2nd");
    assert_eq!(folder.out("meta get out.b2nd units -s"), "K\n");
    assert_eq!(folder.out("meta get out.b2nd fixed"), "7\n");
    let info = folder.json("info --json out.b2nd")[0].clone();
    assert_eq!((&info["codec"], &info["array"]["dtype"]), (&json!("lz4"), &json!("<i4")));
}

#[test]
fn frames_and_arrays_are_recompressed_with_their_metadata() {
    let folder = arrays();
    folder.write("data", &[1, 2, 3, 4].repeat(3000));
    folder.succeed("compress data f.b2frame -t 4 --chunk-size 1K");
    folder.succeed("meta set f.b2frame units -s K");
    folder.succeed("convert a.b2nd plain.b2nd --no-checksums");
    let a = items(&folder, "a.b2nd");
    for (line, codec, chunks) in [
        ("recompress a.b2nd -o r.b2nd -C blosclz", "blosclz", json!([10, 30])),
        ("recompress a.b2nd -o r.b2nd --chunks 7,11 --blocks 2,5", "lz4", json!([7, 11])),
        ("recompress a.b2nd -o r.b2nd --chunk-size 480", "lz4", json!([4, 30])),
        ("recompress plain.b2nd -o r.b2nd --level 9 --directory", "lz4", json!([10, 30])),
        ("recompress dir.b2nd -o r.b2nd -C zlib", "zlib", json!([10, 30])),
    ] {
        let text = folder.out(&format!("{line} --force"));
        assert!(text.starts_with("r.b2nd: ") && text.contains(" -> "), "{text}");
        let info = folder.json("info --json r.b2nd")[0].clone();
        assert_eq!(info["codec"], codec, "{line}");
        assert_eq!(info["array"]["chunk_shape"], chunks, "{line}");
        assert_eq!(info["checksum"].is_string(), !line.contains("plain"), "{line}");
        assert_eq!(info["directory"], line.contains("dir"), "{line}");
        folder.out("verify r.b2nd");
        if !line.contains("dir.b2nd") {
            assert_eq!(items(&folder, "r.b2nd"), a, "{line}");
            assert_eq!(folder.out("meta get r.b2nd units -s"), "K\n");
            assert_eq!(folder.out("meta get r.b2nd fixed"), "7\n");
        }
    }
    // In place.
    for name in ["a.b2nd", "f.b2frame", "dir.b2nd", "plain.b2nd"] {
        let before = folder.line(&format!("decompress {name} -")).stdout;
        let result = folder.json(&format!("recompress {name} --in-place -C zstd -l 9 --json"));
        assert_eq!(result[0]["output"], name);
        let info = folder.json(&format!("info --json {name}"))[0].clone();
        assert_eq!((&info["codec"], &info["level"]), (&json!("zstd"), &json!(9)));
        assert_eq!(info["stored_bytes"], result[0]["stored_bytes"]);
        assert!(folder.line(&format!("decompress {name} -")).stdout == before, "{name}");
        if name != "dir.b2nd" {
            assert_eq!(folder.out(&format!("meta get {name} units -s")), "K\n");
        }
    }
    assert_eq!(folder.json("info --json f.b2frame")[0]["chunks"]["size"], 1024);
    folder.out("recompress f.b2frame --in-place --chunk-size 2K");
    assert_eq!(folder.json("info --json f.b2frame")[0]["chunks"]["size"], 2048);
    assert_eq!(folder.line("decompress f.b2frame -").stdout, [1, 2, 3, 4].repeat(3000));
    // A directory for several files.
    folder.out("recompress a.b2nd b.b2nd f.b2frame -o new/dir");
    assert_eq!(items(&folder, "new/dir/a.b2nd"), a);
    let result = folder.line("recompress a.b2nd new/dir/a.b2nd -o both --force");
    let text = "b2: error: new/dir/a.b2nd: its output both/a.b2nd is that of another input\n";
    assert_eq!((result.status, result.err()), (1, text));
    folder.out("recompress a.b2nd -o single/");
    assert_eq!(items(&folder, "single/a.b2nd"), a);
    assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
}

#[test]
fn the_replaced_file_keeps_its_permissions_and_its_link() {
    let folder = arrays();
    std::os::unix::fs::symlink("a.b2nd", folder.path("link")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(folder.path("a.b2nd"), mode).unwrap();
    let before = std::fs::metadata(folder.path("a.b2nd")).unwrap().ino();
    folder.out("recompress link --in-place");
    assert!(folder.path("link").is_symlink());
    let found = std::fs::metadata(folder.path("a.b2nd")).unwrap();
    assert_ne!(found.ino(), before);
    assert_eq!(found.permissions().mode() & 0o777, 0o640);
}

#[test]
fn other_files_in_a_directory_are_kept() {
    let folder = arrays();
    folder.write("dir.b2nd/README", b"measured in 2019");
    folder.write("dir.b2nd/.b2lock", b"");
    std::os::unix::fs::symlink("nothing", folder.path("dir.b2nd/link")).unwrap();
    let lock = std::fs::metadata(folder.path("dir.b2nd/.b2lock")).unwrap().ino();
    let before = folder.line("decompress dir.b2nd -").stdout;
    let changes = ["recompress dir.b2nd --in-place -C zstd", "meta set --fixed dir.b2nd note 7"];
    for line in changes {
        folder.out(line);
        assert_eq!(folder.read("dir.b2nd/README"), b"measured in 2019", "{line}");
        let found = std::fs::metadata(folder.path("dir.b2nd/.b2lock")).unwrap();
        assert_eq!(found.ino(), lock, "{line}");
        assert!(folder.path("dir.b2nd/link").is_symlink(), "{line}");
        assert!(folder.line("decompress dir.b2nd -").stdout == before, "{line}");
    }
    // Directories have no second name.
    std::fs::create_dir(folder.path("dir.b2nd/notes")).unwrap();
    folder.write("dir.b2nd/notes/a", b"text");
    let info = folder.json("info --json dir.b2nd");
    for line in
        ["recompress dir.b2nd --in-place -C lz4", "meta set --fixed dir.b2nd note [1,2,3,4]"]
    {
        let result = folder.line(line);
        assert_eq!(result.status, 1, "{line}");
        let expected = "b2: error: dir.b2nd: contains the directory 'notes', which would be lost";
        assert!(result.err().starts_with(expected), "{line}: {}", result.err());
        assert_eq!(folder.json("info --json dir.b2nd"), info, "{line}");
        assert_eq!(folder.read("dir.b2nd/notes/a"), b"text", "{line}");
    }
    assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
}

#[test]
fn invalid_requests_change_nothing() {
    let folder = arrays();
    ints(&folder, "wide.npy", &[40, 31], 0);
    let mut floats = npy_header("'<f4'", "(40, 30)", false);
    floats.extend(vec![0; 4800]);
    folder.write("floats.npy", &floats);
    folder.write("raw", b"content");
    folder.succeed("compress raw raw.b2frame");
    folder.write("exists.b2nd", b"precious");
    for (line, status, text) in [
        (
            "concat a.b2nd wide.npy o.b2nd",
            1,
            "wide.npy: cannot be appended: the shape is (40, 31), that of the array (40, 30); only the extent of axis 0 may differ",
        ),
        (
            "concat a.b2nd floats.npy o.b2nd",
            1,
            "floats.npy: cannot be appended: the type of the items is '<f4', that of the array '<i4'",
        ),
        (
            "concat a.b2nd wide.npy o.b2nd --stack",
            1,
            "wide.npy: cannot be stacked: the shape is (40, 31), that of the first array (40, 30)",
        ),
        (
            "concat a.b2nd floats.npy o.b2nd --stack",
            1,
            "floats.npy: cannot be stacked: the type of the items is '<f4', that of the first array '<i4'",
        ),
        ("concat a.b2nd raw.b2frame o.b2nd --stack", 1, "raw.b2frame: is not an array"),
        (
            "concat raw.b2frame raw.b2frame o.b2nd --stack",
            1,
            "raw.b2frame: only arrays can be stacked",
        ),
        (
            "concat raw.b2frame raw.b2frame o.b2nd --axis 0",
            2,
            "raw.b2frame: --axis: the data are not an array",
        ),
        ("concat a.b2nd a.b2nd o.b2nd --axis 2", 2, "--axis 2: the array has 2 dimensions"),
        (
            "concat a.b2nd a.b2nd o.npy",
            2,
            "o.npy: the output is a frame, with one of the extensions .b2frame .b2nd .cframe",
        ),
        ("concat a.b2nd a.b2nd exists.b2nd", 1, "exists.b2nd: already exists"),
        (
            "concat a.b2nd missing o.b2nd",
            1,
            "cannot open missing: No such file or directory (os error 2)",
        ),
        (
            "slice a.b2nd 0:3 o.blp",
            2,
            "o.blp: the output is a frame, with one of the extensions .b2frame .b2nd .cframe",
        ),
        (
            "slice a.b2nd 40 o.b2nd",
            2,
            "a.b2nd: --slice '40': index 40 is out of range for 40 items",
        ),
        ("slice raw.b2frame 0 o.b2nd", 1, "raw.b2frame: the data are not an array"),
        ("slice raw 0 o.b2nd", 1, "raw: the format is unknown"),
        ("slice a.b2nd 0 exists.b2nd", 1, "exists.b2nd: already exists"),
        (
            "recompress a.npy -o o.b2nd",
            1,
            "a.npy: a NumPy array file is neither a frame nor an array",
        ),
        (
            "recompress a.b2nd -o o.b2nd --chunks 7",
            2,
            "--chunks: 2 extents of at least 1 are needed, one for each dimension",
        ),
        (
            "recompress a.b2nd -o o.b2nd --blocks 0,5",
            2,
            "--blocks: 2 extents of at least 1 are needed, one for each dimension",
        ),
        (
            "recompress raw.b2frame -o o.b2nd --chunks 7",
            2,
            "raw.b2frame: --chunks and --blocks are for arrays",
        ),
        ("recompress a.b2nd -o exists.b2nd", 1, "exists.b2nd: already exists"),
        ("recompress - --in-place", 2, "cannot recompress standard input"),
        (
            "recompress a.b2nd -o o.b2nd --chunk-size 1Q",
            2,
            "--chunk-size 1Q: the unit 'Q' is unknown; the units are B, K, M, G, T, P and E, also KB and KiB",
        ),
    ] {
        let names = folder.names();
        let result = folder.line(line);
        assert_eq!(result.status, status, "{line}: {}", result.err());
        let first = result.err().lines().next().unwrap();
        assert_eq!(first, format!("b2: error: {text}"), "{line}");
        assert_eq!(folder.names(), names, "{line}");
        assert_eq!(folder.read("exists.b2nd"), b"precious");
    }
    for line in [
        "recompress a.b2nd",
        "recompress a.b2nd -o x -i",
        "concat a.b2nd",
        "concat",
        "slice a.b2nd 0",
    ] {
        assert_eq!(folder.line(line).status, 2, "{line}");
    }
}

#[test]
fn a_failure_leaves_the_old_file_and_no_others() {
    let folder = TestDir::new();
    let mut npy = npy_header("'|u1'", "(60000,)", false);
    npy.extend(noise(60_000));
    folder.write("a.npy", &npy);
    folder.succeed("convert a.npy a.b2nd --chunk-size 8K");
    folder.succeed("convert a.npy f.b2frame --raw --chunk-size 8K");
    let before = folder.read("a.b2nd");
    for (line, target) in [
        ("concat a.b2nd a.b2nd out.b2nd", "out.b2nd"),
        ("concat a.b2nd a.b2nd out.b2nd --stack", "out.b2nd"),
        ("concat f.b2frame f.b2frame out.b2frame", "out.b2frame"),
        ("slice a.b2nd 100:50000 out.b2nd", "out.b2nd"),
        ("recompress a.b2nd -o out.b2nd", "out.b2nd"),
        ("recompress f.b2frame -o out.b2frame", "out.b2frame"),
        ("recompress a.b2nd --in-place", "a.b2nd"),
        ("recompress f.b2frame --in-place", "f.b2frame"),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let names = folder.names();
        let result = folder.limited("-f 8", &arguments);
        assert_eq!(result.status, 1, "{line}: {}", result.err());
        let begins = format!("b2: error: cannot write to {target}");
        assert!(result.err().starts_with(&begins), "{line}: {}", result.err());
        assert!(result.err().ends_with("File too large (os error 27)\n"), "{}", result.err());
        assert!(!result.err().contains(".tmp"), "{}", result.err());
        assert_eq!(folder.names(), names, "{line}");
        assert!(folder.read("a.b2nd") == before, "{line}");
    }
    // Damaged data are not replaced.
    let mut bytes = before.clone();
    let position = folder.json("ls --chunks --json a.b2nd")[0]["chunks"][3]["position"].as_u64();
    bytes[position.unwrap() as usize + 100] ^= 1;
    folder.write("a.b2nd", &bytes);
    let result = folder.line("recompress a.b2nd --in-place");
    assert_eq!(result.status, 3);
    assert!(result.err().starts_with("b2: error: a.b2nd: chunk 3 at byte "), "{}", result.err());
    assert!(folder.read("a.b2nd") == bytes);
}

#[test]
fn interrupted_commands_leave_no_files() {
    let folder = TestDir::new();
    folder.write("big", &noise(8 << 20));
    folder.succeed("compress big big.b2frame -t 1 --level 1");
    for arguments in [
        &["recompress", "big.b2frame", "--in-place", "-l", "9", "-C", "zstd"][..],
        &["concat", "big.b2frame", "big.b2frame", "out.b2frame", "-l", "9", "-C", "zstd"],
    ] {
        let before = folder.read("big.b2frame");
        let mut child = folder.start(arguments);
        let begun = Instant::now();
        while folder.names().len() < 3 {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        let id = i32::try_from(child.id()).unwrap();
        // SAFETY: `kill` accepts any process id. The child was not waited for, so its id is not
        // reused by another process.
        assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
        assert!(!child.wait().unwrap().success());
        assert_eq!(folder.names(), ["big", "big.b2frame"]);
        assert!(folder.read("big.b2frame") == before);
    }
}

#[test]
fn outputs_may_be_fifos_and_standard_output() {
    let folder = arrays();
    let result = folder.line("concat a.b2nd b.b2nd -");
    assert_eq!((result.status, result.err()), (0, ""));
    folder.write("piped.b2nd", &result.stdout);
    assert_eq!(items(&folder, "piped.b2nd").len(), 2400);
    let result = folder.line_with("slice - 5:10 -", &folder.read("a.b2nd"));
    folder.write("piped.b2nd", &result.stdout);
    assert_eq!(items(&folder, "piped.b2nd"), (150..300).collect::<Vec<_>>());
    let path = CString::new(folder.path("fifo").as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a string that ends with NUL.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    let child = folder.start(&["recompress", "a.b2nd", "-o", "fifo"]);
    let mut bytes = Vec::new();
    std::fs::File::open(folder.path("fifo")).unwrap().read_to_end(&mut bytes).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    folder.write("piped.b2nd", &bytes);
    assert_eq!(items(&folder, "piped.b2nd"), (0..1200).collect::<Vec<_>>());
}

/// Standard output has only the data.
#[test]
fn data_and_text_are_not_mixed_on_standard_output() {
    let folder = arrays();
    folder.succeed("convert a.b2nd f.b2frame --raw");
    for (command, file) in [
        ("recompress a.b2nd", "out.b2nd"),
        ("recompress f.b2frame --level 9", "out.b2frame"),
        ("concat a.b2nd b.b2nd", "out.b2nd"),
        ("concat --stack a.b2nd b.b2nd", "out.b2nd"),
        ("slice a.b2nd 3:9", "out.b2nd"),
    ] {
        let option = if command.starts_with("recompress") { "-o" } else { "" };
        let written = folder.line(&format!("{command} {option} {file} --force"));
        assert_eq!((written.status, written.err()), (0, ""), "{command}");
        let piped = folder.line(&format!("{command} {option} -"));
        assert_eq!((piped.status, piped.err()), (0, ""), "{command}");
        assert!(piped.stdout == folder.read(file), "{command}");
        let line = format!("{command} {option} - --json");
        let refused = folder.line(&line);
        assert_eq!((refused.status, refused.out()), (2, ""), "{line}");
        assert!(refused.err().contains("--json: the data are written"), "{}", refused.err());
    }
    folder.succeed("put s.b2z /a a.b2nd");
    assert!(folder.line("get s.b2z /a -").stdout == folder.read("a.b2nd"));
    let bench = "bench f.b2frame -l 1 -c lz4 -f shuffle --svg -";
    let plot = folder.out(bench);
    assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>"), "{plot}");
    assert_eq!(folder.line(&format!("{bench} --json")).status, 2);
    let several = folder.line("recompress a.b2nd b.b2nd -o -");
    assert_eq!((several.status, several.out()), (2, ""));
    assert!(several.err().contains("several frames"), "{}", several.err());
    assert!(!folder.exists("-"));
}

/// A frame is not written with the extension of another format, and does not replace its file.
#[test]
fn frames_have_no_extensions_of_other_formats() {
    let folder = arrays();
    folder.succeed("put s.b2z /a a.b2nd");
    let store = folder.read("s.b2z");
    let refused = [
        "npy", "npz", "blp", "bcolz", "zarr", "zarr.zip", "h5", "hdf5", "csv", "arrow", "feather",
        "parquet", "blosc1", "blosc2", "blosc", "bin", "raw", "dat", "NPY", "b2z", "b2d", "b2e",
    ];
    for command in
        ["slice a.b2nd 0:2", "concat a.b2nd b.b2nd", "recompress a.b2nd -o", "get s.b2z /a"]
    {
        for extension in refused {
            folder.write(&format!("o.{extension}"), &store);
            for force in ["", "--force"] {
                let line = format!("{command} o.{extension} {force}");
                let result = folder.line(&line);
                assert_eq!((result.status, result.out()), (2, ""), "{line}: {}", result.err());
                assert!(result.err().contains("the output is a frame"), "{}", result.err());
                assert!(folder.read(&format!("o.{extension}")) == store, "{line}");
            }
        }
        for name in ["o.b2nd", "o.b2frame", "o.cframe", "o.other", "zip", "npy", ".b2z"] {
            let line = format!("{command} {name} --force");
            let result = folder.line(&line);
            assert_eq!((result.status, result.err()), (0, ""), "{line}");
        }
    }
    assert!(folder.read("s.b2z") == store);
}

/// A resize keeps items that it removes within a chunk. They are not in a slice of the array.
#[test]
fn removed_items_are_not_in_slices() {
    let folder = TestDir::new();
    ints(&folder, "line.npy", &[23], 1);
    ints(&folder, "table.npy", &[13, 11], 1);
    for (name, len, chunks) in
        [("line", vec![23], "5"), ("table", vec![13, 11], "4,3"), ("table", vec![13, 11], "4,16")]
    {
        let chunk: Vec<usize> = chunks.split(',').map(|len| len.parse().unwrap()).collect();
        let shape = |lengths: &[usize]| {
            let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
            lengths.join(",")
        };
        for removed in 0..=6 {
            let kept: Vec<usize> = len.iter().map(|len| len - removed).collect();
            folder.succeed(&format!("convert {name}.npy a.b2nd --chunks {chunks} --force"));
            if removed > 0 {
                folder.succeed(&format!("resize a.b2nd {} --shrink", shape(&kept)));
            }
            for first in [0, chunk[0], 2 * chunk[0]] {
                let line = format!("slice a.b2nd {first}: o.b2nd --force --json");
                let copied = folder.json(&line)["chunks_copied"].as_u64().unwrap();
                let rows = kept[0].saturating_sub(first);
                // Chunks at the end of the array are copied, too, if they contain nothing else.
                let counts: Vec<(usize, usize)> = std::iter::once((rows, chunk[0]))
                    .chain(kept.iter().copied().zip(chunk.iter().copied()).skip(1))
                    .collect();
                let whole: usize = counts.iter().map(|(len, chunk)| len / chunk).product();
                let all: usize = counts.iter().map(|(len, chunk)| len.div_ceil(*chunk)).product();
                let expected = if removed == 0 { all..=all } else { whole..=all };
                assert!(expected.contains(&(copied as usize)), "{chunks} {removed}: {line}");
                let mut larger: Vec<usize> =
                    counts.iter().map(|(len, chunk)| len.next_multiple_of(*chunk)).collect();
                folder.succeed(&format!("resize o.b2nd {}", shape(&larger)));
                let found = items(&folder, "o.b2nd");
                larger.resize(2, 1);
                let width = len.get(1).copied().unwrap_or(1);
                let columns = kept.get(1).copied().unwrap_or(1);
                for (number, &item) in found.iter().enumerate() {
                    let (row, column) = (number / larger[1], number % larger[1]);
                    let is_inside = row < rows && column < columns;
                    let value = (first + row) * width + column + 1;
                    let value = if is_inside { value as i32 } else { 0 };
                    assert_eq!(item, value, "{chunks} {removed} {first}: {row}, {column}");
                }
            }
        }
    }
}

#[test]
fn large_arrays_need_little_memory() {
    const MEMORY: u64 = 192 << 20;
    let folder = TestDir::new();
    let mut header = npy_header("'|u1'", "(16384, 16384)", false);
    let len = header.len() as u64;
    header.extend(b"first items");
    folder.write("z.npy", &header);
    let file = std::fs::File::options().write(true).open(folder.path("z.npy")).unwrap();
    file.set_len(len + (256 << 20)).unwrap();
    folder.succeed("convert z.npy z.b2nd -n 2");
    for line in [
        "concat z.b2nd z.npy o.b2nd --axis 1 -n 2 --force",
        "concat z.npy z.b2nd o.b2nd --stack --axis 2 -n 2 --force",
        "slice z.b2nd ::3,::-2 o.b2nd -n 2 --force",
        "recompress z.b2nd -o o.b2nd --chunks 1024,1024 -n 2 --force",
        "recompress o.b2nd --in-place --chunks 512,2048 -n 2",
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
        let begun = Instant::now();
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        println!("{line}: {:?}", begun.elapsed());
    }
}

#[test]
fn recompress_does_not_replace_an_input_by_the_output_of_another_one() {
    let folder = TestDir::new();
    for (directory, first) in [("one", 0), ("two", 1000)] {
        std::fs::create_dir(folder.path(directory)).unwrap();
        ints(&folder, "a.npy", &[100], first);
        folder.succeed(&format!("convert a.npy {directory}/a.b2nd"));
    }
    let result = folder.line("recompress one/a.b2nd two/a.b2nd --codec lz4 -o two --force");
    let text =
        "b2: error: one/a.b2nd: its output two/a.b2nd is another input, which would be lost\n";
    assert_eq!((result.status, result.err()), (1, text));
    assert_eq!(folder.out("diff two/a.b2nd a.npy"), "");
    assert_eq!(folder.json("info --json two/a.b2nd")[0]["codec"], "lz4");
}
