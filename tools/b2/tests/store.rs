//! Stores of python-blosc2.

mod common;

use common::TestDir;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::Storage;
/// Runs a command that fails with this exit status; returns its standard error.
fn error_of(folder: &TestDir, line: &str, status: i32) -> String {
    let failed = folder.line(line);
    assert_eq!((failed.status, failed.out()), (status, ""), "{}", failed.err());
    failed.err().to_owned()
}

/// Creates a directory with copies of the fixtures.
fn folder(names: &[&str]) -> TestDir {
    let folder = TestDir::new();
    for name in names {
        folder.fixture(&format!("stores/{name}"));
    }
    folder
}

#[test]
fn options_that_objects_in_stores_do_not_support_are_refused() {
    let folder = folder(&["t_table.b2z"]);
    for option in ["--csv", "--precision 3", "--dtype <f8"] {
        for command in ["cat", "head"] {
            let error = error_of(&folder, &format!("{command} t_table.b2z:/data/arr {option}"), 2);
            let name = option.split(' ').next().unwrap();
            assert!(error.contains(&format!("{name} is not supported")), "{error}");
        }
    }
    let plain = folder.out("cat t_table.b2z:/data/arr");
    assert_eq!(folder.out("cat t_table.b2z:/data/arr --json --no-index"), plain);
}

#[test]
fn stores_are_not_taken_apart_by_compress() {
    let folder = folder(&["c_crash.b2d", "t_table.b2z"]);
    std::fs::create_dir(folder.path("data")).unwrap();
    for name in ["c_crash.b2d", "t_table.b2z"] {
        std::fs::rename(folder.path(name), folder.path("data").join(name)).unwrap();
    }
    for line in ["compress -r --rm data", "compress -r --rm data/c_crash.b2d"] {
        let result = folder.line(line);
        assert_eq!((result.status, result.out()), (0, ""));
        assert!(result.err().contains("c_crash.b2d: is a store, skipped"), "{}", result.err());
    }
    assert!(folder.exists("data/t_table.b2z"));
    assert!(folder.exists("data/c_crash.b2d/embed.b2e"));
}

#[test]
fn the_objects_of_a_store_are_listed() {
    let folder = folder(&["t_table.b2z"]);
    let all = folder.out("ls -r t_table.b2z");
    let keys: Vec<&str> =
        all.lines().skip(1).map(|line| line.split_whitespace().last().unwrap()).collect();
    let expected = [
        "t_table.b2z:/data",
        "t_table.b2z:/data/arr",
        "t_table.b2z:/data/table",
        "t_table.b2z:/t2",
    ];
    assert_eq!(keys, expected, "{all}");
    assert!(all.contains("<i8 (5,)") && all.contains("2 rows, 2 columns"), "{all}");
    assert_eq!(folder.out("ls t_table.b2z").lines().count(), 3);
    assert_eq!(folder.out("ls t_table.b2z:/data").lines().count(), 3);
    // Stores are listed among other files.
    folder.write("n.bin", &[7; 100]);
    folder.out("compress n.bin");
    let both = folder.out("ls");
    assert!(both.contains("python-blosc2 tree store, zip") && both.contains("n.bin.b2frame"));
    assert_eq!(folder.out("verify t_table.b2z n.bin.b2frame").lines().count(), 2);
    assert_eq!(folder.json("info --json n.bin.b2frame t_table.b2z").as_array().unwrap().len(), 2);
    let listed = folder.json("ls -r --json t_table.b2z");
    assert_eq!(listed[1]["shape"], serde_json::json!([5]));
}

#[test]
fn stores_and_their_objects_are_described() {
    let folder = folder(&["t_table.b2z", "a_lazyexpr.b2nd"]);
    let text = folder.out("info t_table.b2z");
    assert!(text.contains("python-blosc2 tree store, zip"), "{text}");
    assert!(text.contains("2 CTable"), "{text}");
    let text = folder.out("info t_table.b2z:/t2");
    assert!(text.contains("rows         2 (2 stored)") && text.contains("float64"), "{text}");
    let text = folder.out("info a_lazyexpr.b2nd:/");
    assert!(text.contains("lazy expression") && text.contains("o0 + o1 * 2"), "{text}");
}

#[test]
fn values_are_printed_as_json() {
    let folder = folder(&[
        "t_table.b2z",
        "a_object.b2f",
        "a_lazyexpr.b2nd",
        "c_nulls_mask.b2z",
        "a_batch.b2b",
        "c_list_arrow.b2z",
        "e_nested.b2e",
    ]);
    assert_eq!(
        folder.out("cat t_table.b2z:/t2"),
        "{\"x\": 1, \"y\": 1.5}\n{\"x\": 2, \"y\": 3.0}\n"
    );
    assert_eq!(folder.out("cat t_table.b2z:/t2 --column y --slice=-1"), "3.0\n");
    assert_eq!(folder.out("head -l 2 t_table.b2z:/data/arr"), "0\n1\n");
    assert_eq!(folder.out("cat t_table.b2z:/data/arr --slice 3:"), "3\n4\n");
    assert_eq!(folder.out("cat a_object.b2f:/ --slice 1:3"), "\"ins\"\ntrue\n");
    assert_eq!(folder.out("cat c_nulls_mask.b2z --column i"), "1\nnull\n-5\n");
    let batches = folder.out("cat a_batch.b2b:/");
    let first: String = batches.split_inclusive('\n').take(2).collect();
    assert_eq!(folder.out("head -l 2 a_batch.b2b:/"), first);
    assert!(folder.out("ls a_batch.b2b:/").contains("batches, msgpack"));
    // One unreadable column does not prevent reading others.
    let error = error_of(&folder, "cat c_list_arrow.b2z", 1);
    assert!(error.contains("--column"), "{error}");
    let nested = folder.out("ls -r e_nested.b2e");
    let line = nested.lines().find(|line| line.contains("EmbedStore")).unwrap();
    let key = line.split_whitespace().last().unwrap();
    assert!(!error_of(&folder, &format!("cat {key}"), 1).contains("ls -r"));
    // A lazy expression has no values.
    assert!(error_of(&folder, "cat a_lazyexpr.b2nd:/", 1).contains("never evaluated"));
    assert!(error_of(&folder, "cat t_table.b2z:/none", 1).contains("no key"));
    assert!(error_of(&folder, "cat t_table.b2z:/data/arr --slice 9", 2).contains("out of range"));
    assert!(error_of(&folder, "cat t_table.b2z:/data/arr --slice=-9", 2).contains("out of range"));
    assert!(error_of(&folder, "cat t_table.b2z", 1).contains("ls -r"));
}

#[test]
fn damage_has_its_exit_status() {
    let folder = folder(&["t_table.b2z", "x_crc.b2z", "x_half.b2z", "a_batch_arrow.b2b"]);
    assert_eq!(folder.out("verify t_table.b2z"), "t_table.b2z: right\n");
    let damaged = folder.line("verify x_crc.b2z");
    assert_eq!(damaged.status, 3);
    assert!(String::from_utf8_lossy(&damaged.stdout).contains("CRC-32"));
    assert!(error_of(&folder, "verify x_half.b2z", 3).contains("truncated"));
    let partial = folder.line("verify a_batch_arrow.b2b:/");
    assert_eq!(partial.status, 1);
    let text = String::from_utf8_lossy(&partial.stdout);
    assert!(text.contains("not checked completely") && text.contains("not checked: "), "{text}");
}

#[test]
fn a_raw_row_above_the_limit_is_not_read() {
    let folder = TestDir::new();
    let rows =
        Layout { shape: &[2, 1 << 31], chunkshape: &[1, 1 << 20], blockshape: &[1, 1 << 16] };
    let array = Array::zeros(Storage::frame(), CParams::default().typesize(1), &rows, "|u1");
    folder.write("a.b2nd", &array.unwrap().to_bytes().unwrap());
    assert!(error_of(&folder, "cat --raw a.b2nd:/", 1).contains("the limit is"));
}
