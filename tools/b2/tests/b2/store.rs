//! Stores of python-blosc2: reading, printing, and errors.

use crate::common::{TestDir, ints};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::Storage;
use ferroblosc_tools_testing::npy_header;

/// Runs a command that fails with this exit status; returns its standard error.
pub fn error_of(folder: &TestDir, line: &str, status: i32) -> String {
    let failed = folder.line(line);
    assert_eq!((failed.status, failed.out()), (status, ""), "{}", failed.err());
    failed.err().to_owned()
}

/// Creates a directory with copies of the fixtures.
pub fn folder(names: &[&str]) -> TestDir {
    let folder = TestDir::new();
    for name in names {
        folder.fixture(&format!("stores/{name}"));
    }
    folder
}

/// Creates a directory with an array `n.npy` of ten integers, and a store with it.
pub fn made(store: &str) -> TestDir {
    let folder = TestDir::new();
    let mut npy = npy_header("'<i4'", "(10,)", false);
    npy.extend((0..10i32).flat_map(i32::to_le_bytes));
    folder.write("n.npy", &npy);
    folder.succeed(&format!("put {store} /g/n n.npy"));
    folder
}

#[test]
fn arrays_in_stores_are_printed_as_in_files() {
    let folder = folder(&["t_table.b2z"]);
    ints(&folder, "a.npy", &[3, 4], 0);
    let fields = npy_header("[('a', '<i2'), ('b', 'S2')]", "(2,)", false);
    folder.write("r.npy", &[&fields[..], &[1, 0, b'x', b'y', 2, 0, b'z', 0]].concat());
    folder.write("plain.bin", &[7; 20]);
    folder.out("put s.b2z /g/a a.npy");
    folder.out("put s.b2z /r r.npy");
    folder.out("compress plain.bin --typesize 1");
    folder.out("put s.b2z /t plain.bin.b2frame");
    let options = ["", " --csv", " --json", " --csv --no-index", " --precision 1", " --dtype |S2"];
    for command in ["cat", "head"] {
        for (object, file) in [("/g/a", "a.npy"), ("/r", "r.npy"), ("/t", "plain.bin.b2frame")] {
            for option in options {
                assert_eq!(
                    folder.out(&format!("{command} s.b2z:{object}{option}")),
                    folder.out(&format!("{command} {file}{option}")),
                    "{command} {object}{option}"
                );
            }
        }
    }
    for (object, file, rest) in [
        ("/g/a", "a.npy", "--slice ::-2,1"),
        ("/g/a", "a.npy", "--slice ...,3 --json"),
        ("/r", "r.npy", "--column a"),
        ("/r", "r.npy", "--raw"),
        ("/t", "plain.bin.b2frame", "--raw --slice 3:5"),
    ] {
        let of_file = folder.out(&format!("cat {file} {rest}"));
        assert_eq!(folder.out(&format!("cat s.b2z:{object} {rest}")), of_file, "{object} {rest}");
    }
    for rest in ["--slice 3", "--column x", "--dtype <i8 --slice 9", "--dtype S7"] {
        let of_file = folder.line(&format!("cat a.npy {rest}"));
        let of_object = folder.line(&format!("cat s.b2z:/g/a {rest}"));
        assert_eq!(of_object.status, of_file.status, "{rest}");
        assert_eq!(of_object.err(), of_file.err().replace("a.npy", "s.b2z:/g/a"), "{rest}");
    }
}

/// The temporary copy of standard input is not named in messages.
#[test]
fn stores_on_standard_input_have_its_name() {
    let folder = folder(&["t_table.b2z"]);
    ints(&folder, "a.npy", &[3, 4], 0);
    for store in ["s.b2z", "s.b2e"] {
        folder.out(&format!("put {store} /a a.npy"));
        folder.out(&format!("put {store} /b a.npy"));
    }
    let damaged = folder.read("s.b2z");
    folder.write("damaged.b2z", &damaged[..damaged.len() - 30]);
    for store in ["s.b2z", "s.b2e", "t_table.b2z", "damaged.b2z"] {
        for line in [
            "ls -",
            "ls - -r",
            "ls - --tree",
            "ls - --json",
            "ls - -r --json",
            "ls - --chunks",
            "info -",
            "info - --json",
            "info - --meta",
            "verify -",
            "verify - --json",
            "cat -",
            "cat - --json",
            "head -",
            "stats -",
            "meta list -",
            "meta get - x",
            "slice - 0 o.b2nd",
            "diff - a.npy",
            "diff a.npy -",
            "decompress - o",
            "convert - o.npy",
            "convert - o.b2d",
        ] {
            let result = folder.line_with(line, &folder.read(store));
            for text in [result.out(), result.err()] {
                assert!(!text.contains(".tmp"), "{line} < {store}: {text}");
            }
        }
    }
    let input = folder.read("s.b2z");
    let listed = folder.line_with("ls - -r --json", &input);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let paths: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["standard input:/a", "standard input:/b"]);
    let described = folder.line_with("info - --json", &input);
    let described: serde_json::Value = serde_json::from_slice(&described.stdout).unwrap();
    assert_eq!(described[0]["path"], "standard input");
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
    assert_eq!(folder.out("head -l 2 t_table.b2z:/data/arr --no-index"), "0\n1\n");
    assert_eq!(folder.out("cat t_table.b2z:/data/arr --slice 3:"), "3:  3\n4:  4\n");
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
fn damage_of_standard_input_has_a_hint_that_can_be_run() {
    let folder = made("s.b2z");
    folder.out("convert n.npy n.b2nd");
    let mut bytes = folder.read("n.b2nd");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    let failed = folder.line_with("cat -", &bytes);
    assert!(failed.err().contains("hint: 'b2 verify -' lists all faults"), "{}", failed.err());
    assert_eq!(folder.line_with("verify -", &bytes).status, 3);
}

#[test]
fn a_part_of_a_row_of_gigabytes_is_read() {
    let folder = TestDir::new();
    let rows =
        Layout { shape: &[2, 1 << 31], chunkshape: &[1, 1 << 20], blockshape: &[1, 1 << 16] };
    let array = Array::zeros(Storage::frame(), CParams::default().typesize(1), &rows, "|u1");
    folder.write("a.b2nd", &array.unwrap().to_bytes().unwrap());
    assert_eq!(folder.out("cat --raw a.b2nd:/ --slice 1,-3:"), "\0\0\0");
    let error = error_of(&folder, "cat --json a.b2nd:/", 1);
    assert!(error.contains("--csv and --json print at most"), "{error}");
}

#[test]
fn arrays_in_stores_are_inputs_of_all_commands_that_read_data() {
    for store in ["s.b2z", "s.b2d", "s.b2e"] {
        let folder = TestDir::new();
        ints(&folder, "a.npy", &[40, 50], 7);
        folder.succeed("convert a.npy a.b2nd");
        folder.succeed(&format!("put {store} /g/a a.b2nd"));
        let key = format!("{store}:/g/a");
        let stats = folder.out("stats a.b2nd --json").replace("a.b2nd", &key);
        let found = folder.out(&format!("stats {key} --json"));
        let without_format = |text: &str| {
            let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
            value[0].as_object_mut().unwrap().remove("format");
            value
        };
        assert_eq!(without_format(&found), without_format(&stats));
        for (command, output) in [
            ("slice IN 3:20:2,::-1 OUT", "slice.b2nd"),
            ("concat IN IN OUT --axis 1", "wide.b2nd"),
            ("decompress IN OUT", "raw"),
            ("plot IN :,3 --output OUT", "svg"),
            ("convert IN OUT", "csv"),
        ] {
            for (input, name) in [("a.b2nd", "expected"), (&*key, "found")] {
                let line = command.replace("IN", input);
                folder.succeed(&line.replace("OUT", &format!("{name}.{output}")));
            }
            let files = ["expected", "found"].map(|name| folder.read(&format!("{name}.{output}")));
            match output {
                // A plot has the name of the data as its title.
                "svg" => assert!(files[1].starts_with(b"<svg"), "{command}"),
                _ => assert!(files[0] == files[1], "{command}"),
            }
        }
        folder.succeed(&format!("append a.b2nd {key}"));
        folder.succeed("concat a.npy a.npy twice.b2nd");
        folder.out("diff a.b2nd twice.b2nd");
        folder.out(&format!("bench {key} --codecs lz4 --levels 1 --filters shuffle --json"));

        let before = folder.out(&format!("cat {key}"));
        for line in ["append IN a.npy", "resize IN 9,9", "compact IN", "recompress IN --in-place"] {
            let error = error_of(&folder, &line.replace("IN", &key), 1);
            assert!(error.contains("an object in a store is not changed in place"), "{error}");
            assert!(error.contains("'b2 get' copies it to a file"), "{error}");
        }
        assert_eq!(folder.out(&format!("cat {key}")), before);
        for command in ["stats IN", "decompress IN out.raw", "slice IN 1:2 out.b2nd"] {
            let line = command.replace("IN", &format!("{store}:/g"));
            let error = error_of(&folder, &line, 1);
            assert!(error.contains("a group has no items of one type"), "{error}");
        }
    }
}

#[test]
fn tables_and_other_objects_of_stores_as_inputs() {
    let folder = folder(&["t_table.b2z", "t_lazy.b2z", "a_object.b2f"]);
    let json = folder.json("stats t_table.b2z:/t2 --column x --json");
    let column = &json[0]["columns"][0];
    assert_eq!((&column["min"], &column["max"]), (&1.into(), &2.into()));
    let error = error_of(&folder, "stats t_lazy.b2z:/lz", 1);
    assert!(error.contains("a lazy expression has no items of one type"), "{error}");
    let error = error_of(&folder, "slice t_lazy.b2z :3 out.b2nd", 1);
    assert!(error.contains("is a store, not an array"), "{error}");
    let error = error_of(&folder, "stats t_lazy.b2z:/none", 1);
    assert!(error.contains("t_lazy.b2z:/none: there is no key"), "{error}");
    // The bytes of a file are those of its frame, as before.
    folder.succeed("decompress a_object.b2f objects.raw");
    assert!(!folder.read("objects.raw").is_empty());
}
