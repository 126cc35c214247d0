//! `meta` and `info --meta`: metalayers, attributes and metadata.

use crate::common::{LOGGER, TestDir, ints};
use ferroblosc_capi_testing::abi::compile;
use ferroblosc_tools_testing::npy_header;
use serde_json::{Value, json};
use std::process::Stdio;

/// Writes an array as a b2nd file and in other formats.
fn arrays() -> TestDir {
    let folder = TestDir::new();
    let mut npy = npy_header("'<i4'", "(3000,)", false);
    npy.extend((0..3000i32).flat_map(i32::to_le_bytes));
    folder.write("a.npy", &npy);
    folder.out("convert a.npy a.b2nd --chunk-size 4K");
    folder.out("convert a.npy d.b2nd --directory --chunk-size 4K");
    folder.out("convert a.npy n.b2nd --no-checksums");
    folder.out("convert a.npy a.bcolz");
    folder.out("convert a.npy a.blp");
    folder.fixture("bcolz/ct_mixed");
    folder
}

/// Checks that the data are undamaged and unchanged.
fn check(folder: &TestDir, name: &str) {
    assert_eq!(folder.line(&format!("verify {name}")).status, 0, "{name}");
    if name != "ct_mixed" {
        let data = folder.line(&format!("decompress {name} -")).stdout;
        assert!(data == folder.line("decompress a.npy -").stdout, "{name}");
    }
}

#[test]
fn entries_are_set_listed_and_removed_in_every_format() {
    let folder = arrays();
    for name in ["a.b2nd", "d.b2nd", "n.b2nd", "a.bcolz", "ct_mixed", "a.blp"] {
        let before = folder.json(&format!("meta list {name} --json"));
        folder.out(&format!("meta set {name} units -s K"));
        folder.out(&format!("meta set {name} range [250,310.5,null,{{\"x\":true}}]"));
        assert_eq!(folder.out(&format!("meta get {name} units")), "\"K\"\n");
        assert_eq!(folder.out(&format!("meta get {name} units --string")), "K\n");
        let range = folder.json(&format!("meta get {name} range"));
        assert_eq!(range, json!([250, 310.5, null, {"x": true}]), "{name}");
        // Another length.
        folder.out(&format!("meta set {name} units \"Kelvin\""));
        assert_eq!(folder.out(&format!("meta get {name} units -s")), "Kelvin\n");
        check(&folder, name);
        for entry in ["units", "range"] {
            folder.out(&format!("meta del {name} {entry}"));
        }
        assert_eq!(folder.json(&format!("meta list {name} --json")), before, "{name}");
        check(&folder, name);
        let result = folder.line(&format!("meta get {name} units"));
        assert_eq!(result.status, 1);
        let text = format!("b2: error: {name}: there is no metadata entry 'units'\n");
        assert!(result.err().starts_with(&text), "{}", result.err());
        assert_eq!(folder.line(&format!("meta del {name} units")).status, 1);
    }
    assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
}

#[test]
fn fixed_metalayers_of_any_size_are_changed() {
    let folder = arrays();
    for name in ["a.b2nd", "d.b2nd", "n.b2nd"] {
        let checksum = folder.json(&format!("info --json {name}"))[0]["checksum"].clone();
        folder.out(&format!("meta set {name} v 1"));
        folder.out(&format!("meta set {name} f 12 --fixed"));
        folder.out(&format!("meta set {name} f 13"));
        folder.out(&format!("meta set {name} f [1,2,3]"));
        folder.out(&format!("meta set {name} g true --fixed"));
        check(&folder, name);
        let listed = folder.json(&format!("meta list {name} --json"));
        let entries = listed["entries"].as_array().unwrap();
        let found: Vec<(&str, &str, &Value)> = entries
            .iter()
            .map(|entry| {
                let text = |key: &str| entry[key].as_str().unwrap();
                (text("kind"), text("name"), &entry["value"])
            })
            .collect();
        assert_eq!(found[0].1, "b2nd");
        assert_eq!(found[0].2[2], json!([3000]));
        assert_eq!(
            found[1..],
            [
                ("fixed", "f", &json!([1, 2, 3])),
                ("fixed", "g", &json!(true)),
                ("variable", "v", &json!(1))
            ]
        );
        folder.out(&format!("meta del {name} f"));
        assert_eq!(folder.line(&format!("meta get {name} f")).status, 1);
        assert_eq!(folder.out(&format!("meta get {name} g")), "true\n");
        // One name of both kinds.
        folder.out(&format!("meta set {name} g 7 --variable"));
        assert_eq!(folder.line(&format!("meta get {name} g")).status, 1);
        assert_eq!(folder.out(&format!("meta get {name} g --variable")), "7\n");
        folder.out(&format!("meta del {name} g --fixed"));
        assert_eq!(folder.out(&format!("meta get {name} g")), "7\n");
        assert_eq!(folder.json(&format!("info --json {name}"))[0]["checksum"], checksum);
        check(&folder, name);
    }
}

#[test]
fn values_are_raw_bytes_texts_or_json() {
    let folder = arrays();
    let set = |arguments: &[&str]| {
        let result = folder.run(&[&["meta", "set", "a.b2nd"], arguments].concat());
        assert_eq!((result.status, result.err()), (0, ""), "{arguments:?}");
    };
    set(&["r", "--raw", "no value"]);
    assert_eq!(folder.out("meta get a.b2nd r --raw"), "no value");
    assert_eq!(folder.json("meta get a.b2nd r"), json!({"$raw": "6e6f2076616c7565"}));
    set(&["b", r#"{"$bytes": "00ff"}"#]);
    assert_eq!(folder.line("meta get a.b2nd b --raw").stdout, b"\xc4\x02\x00\xff");
    set(&["n", "-1.5e3"]);
    assert_eq!(folder.json("meta get a.b2nd n"), json!(-1500.0));
    let result = folder.line_with("meta set a.b2nd i - --string", b"two\nlines\x1b");
    assert_eq!((result.status, result.err()), (0, ""));
    assert_eq!(folder.out("meta get a.b2nd i"), "\"two\\nlines\\u001b\"\n");
    for (arguments, status, text) in [
        (&["x", "K"][..], 2, "the value is not JSON: "),
        (
            &["x", "18446744073709551616"],
            2,
            "the number 18446744073709551616 has more than 64 bits",
        ),
        (&["x", "1e999"], 2, "the number 1e+999 is beyond the range of 64-bit floats"),
        (&["b2nd", "1"], 1, "a.b2nd: the metalayer 'b2nd' describes the array"),
        (&["", "1"], 1, "a.b2nd: the name of a metalayer has 1 to 31 bytes"),
        (&["12345678901234567890123456789012", "1"], 1, "a.b2nd: the name of a metalayer has"),
        (&["x", "1", "--column", "y"], 1, "a.b2nd: only tables have columns"),
    ] {
        let before = folder.read("a.b2nd");
        let result = folder.run(&[&["meta", "set", "a.b2nd"], arguments].concat());
        assert_eq!(result.status, status, "{arguments:?}: {}", result.err());
        let begin = format!("b2: error: {text}");
        assert!(result.err().starts_with(&begin), "{arguments:?}: {}", result.err());
        assert!(folder.read("a.b2nd") == before, "{arguments:?}");
    }
    assert_eq!(folder.line("meta del a.b2nd b2nd").status, 1);
    let result = folder.line("meta set a.npy x 1");
    assert_eq!(result.err(), "b2: error: a.npy: a NumPy array file has no metadata\n");
    let result = folder.line("meta set a.blp shape [1]");
    assert_eq!(
        (result.status, result.err()),
        (1, "b2: error: a.blp: the metadata entry 'shape' describes the array\n")
    );
    assert_eq!(folder.line("meta list missing").status, 1);
    assert_eq!(folder.line("meta set - x 1").status, 2);
    check(&folder, "a.b2nd");
}

#[test]
fn attributes_of_columns_are_changed() {
    let folder = arrays();
    folder.out("meta set ct_mixed note 5 --column val");
    assert_eq!(folder.out("meta get ct_mixed note --column val"), "5\n");
    assert_eq!(folder.line("meta get ct_mixed note").status, 1);
    folder.out("meta del ct_mixed note -c val");
    assert_eq!(folder.line("meta get ct_mixed note -c val").status, 1);
    assert_eq!(folder.line("meta set ct_mixed note 5 -c none").status, 1);
    check(&folder, "ct_mixed");
}

#[test]
fn a_full_disk_keeps_the_metadata() {
    let folder = arrays();
    folder.out("meta set a.b2nd v 1");
    let before = folder.read("a.b2nd");
    // Texts that cannot be compressed to the limit.
    let digits = (1..3000u32).map(|i| i.wrapping_mul(2_654_435_761).to_string());
    let long = format!("[{}]", digits.collect::<Vec<_>>().join(","));
    for kind in ["--fixed", "--variable"] {
        let result = folder.limited("-f 8", &["meta", "set", "a.b2nd", "w", &long, kind]);
        assert_eq!(result.status, 1, "{kind}: {}", result.err());
        assert!(result.err().contains("a.b2nd"), "{kind}: {}", result.err());
        assert_eq!(folder.line("meta get a.b2nd w").status, 1);
        assert_eq!(folder.out("meta get a.b2nd v"), "1\n");
        check(&folder, "a.b2nd");
    }
    assert!(folder.read("a.b2nd") == before);
}

#[test]
fn info_shows_values_and_lists_are_short() {
    let folder = arrays();
    folder.out("meta set a.b2nd units -s K");
    let info = folder.out("info --meta a.b2nd");
    assert!(info.contains("\n  vlmetalayers units (2 B)\n    units: \"K\"\n"), "{info}");
    assert!(info.contains("\n    b2nd: [0,1,[3000],[1024],"), "{info}");
    let value = &folder.json("info --meta --json a.b2nd")[0]["vlmetalayers"][0]["value"];
    assert_eq!(value, "K");
    assert!(folder.json("info --json a.b2nd")[0]["vlmetalayers"][0].get("value").is_none());
    let long = format!("\"{}\"", "x".repeat(100));
    folder.out(&format!("meta set a.b2nd long {long}"));
    let listed = folder.out("meta list a.b2nd");
    let line = listed.lines().last().unwrap();
    assert_eq!(line, format!("variable  long   102 B  \"{}…", "x".repeat(59)));
}

#[test]
fn a_frame_is_synced_before_and_after_its_replacement() {
    let folder = arrays();
    let library = compile(&folder.path(""), LOGGER, &["-shared", "-fPIC"]);
    let root = std::fs::canonicalize(folder.path("")).unwrap();
    let root = root.to_str().unwrap();
    for command in [&["set", "a.b2nd", "layer", "12", "--fixed"][..], &["del", "a.b2nd", "layer"]] {
        let _ = std::fs::remove_file(folder.path("log"));
        let mut command = folder.command(&[&["meta"], command].concat());
        let status = command.env("LD_PRELOAD", &library).status().unwrap();
        assert!(status.success());
        let log = String::from_utf8(folder.read("log")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        let renamed = lines.iter().position(|line| *line == format!("rename {root}/a.b2nd"));
        let renamed = renamed.unwrap_or_else(|| panic!("{log}"));
        let is_staged = |line: &&str| line.starts_with("sync ") && line.ends_with("/a.b2nd");
        assert!(lines[..renamed].iter().any(is_staged), "{log}");
        assert!(lines[renamed..].contains(&format!("sync {root}").as_str()), "{log}");
    }
}

#[test]
fn contents_without_a_json_counterpart_survive_get_and_set() {
    let folder = arrays();
    for (raw, shown) in [
        (&b"\xa2a\xff"[..], json!({"$raw": "a261ff"})),
        (b"\x81\xa6$bytes\xa200", json!({"$map": [["$bytes", "00"]]})),
    ] {
        let result = folder.line_with("meta set a.b2nd raw - --raw", raw);
        assert_eq!(result.status, 0, "{}", result.err());
        let got = folder.line("meta get a.b2nd raw");
        assert_eq!(serde_json::from_str::<Value>(got.out()).unwrap(), shown);
        assert_eq!(folder.line_with("meta set a.b2nd raw -", got.out().as_bytes()).status, 0);
        assert_eq!(folder.line("meta get a.b2nd raw --raw").stdout, raw);
    }
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let folder = TestDir::new();
    ints(&folder, "one.npy", &[40, 50], 0);
    for directory in ["", " --directory"] {
        for round in 0..5 {
            folder.out(&format!("convert one.npy a.b2nd --force{directory}"));
            folder.out("meta set a.b2nd old 1");
            let mut lines =
                vec!["append a.b2nd one.npy".to_owned(), "meta del a.b2nd old".to_owned()];
            lines.extend((0..4).map(|key| format!("meta set a.b2nd k{key} {key}")));
            lines.push("meta set a.b2nd f 7 --fixed".to_owned());
            lines.push("compact a.b2nd".to_owned());
            lines.extend(
                ["info a.b2nd", "verify a.b2nd", "repair --write a.b2nd"].map(str::to_owned),
            );
            lines.rotate_left(round);
            let start = |line: &String| {
                let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            };
            let running: Vec<_> = lines.iter().map(start).collect();
            for (line, child) in lines.iter().zip(running) {
                let ended = child.wait_with_output().unwrap();
                let [printed, error] =
                    [ended.stdout, ended.stderr].map(|text| String::from_utf8(text).unwrap());
                assert_eq!(ended.status.code(), Some(0), "{line}: {printed}{error}");
            }
            let listed = folder.out("meta list a.b2nd");
            for name in ["k0", "k1", "k2", "k3", " f "] {
                assert!(listed.contains(name), "{name}: {listed}");
            }
            assert!(!listed.contains("old"), "{listed}");
            assert!(folder.out("info a.b2nd").contains("(80, 50)"));
            folder.out("verify a.b2nd");
        }
    }
}

/// Writes a Zarr array with this number of attributes.
fn zarr_with_attributes(folder: &TestDir, name: &str, count: usize, fill_value: i32) {
    let attributes = (0..count).map(|number| (format!("a{number}"), json!(number)));
    let attributes: serde_json::Map<String, Value> = attributes.collect();
    let metadata = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": attributes,
    });
    std::fs::create_dir_all(folder.path(name)).unwrap();
    folder.write(&format!("{name}/zarr.json"), metadata.to_string().as_bytes());
}

#[test]
fn frames_keep_more_attributes_than_they_have_metalayers() {
    for (count, fill_value) in [(15, 0), (15, 7), (16, 0), (16, 7), (17, 0), (17, 7), (40, 7)] {
        let folder = TestDir::new();
        zarr_with_attributes(&folder, "a.zarr", count, fill_value);
        let attributes = |name: &str| {
            let listed = folder.json(&format!("meta list {name} --json"));
            let entries = listed["entries"].as_array().unwrap().iter();
            let entries = entries.map(|entry| (entry["name"].to_string(), entry["value"].clone()));
            entries.filter(|(name, _)| name.starts_with("\"a")).collect::<Vec<_>>()
        };
        let expected = attributes("a.zarr");
        assert_eq!(expected.len(), count);
        for source in ["a.zarr", "a.bcolz", "a.h5:/x", "a.blp"] {
            if source != "a.zarr" {
                // Fill values and some attributes are not kept.
                assert_eq!(folder.line(&format!("convert a.zarr {source}")).status, 0);
            }
            for frame in ["o.b2nd", "o.b2frame"] {
                folder.succeed(&format!("convert {source} {frame} --force"));
                folder.out(&format!("verify {frame}"));
                folder.succeed(&format!("convert {frame} o.zarr --force"));
                let mut found = attributes("o.zarr");
                let position = |name: &str| expected.iter().position(|(known, _)| known == name);
                found.sort_by_key(|(name, _)| position(name));
                assert_eq!(found, expected, "{source} {frame} {count} {fill_value}");
            }
        }
    }
}

#[test]
fn parts_and_leaves_keep_more_attributes_than_frames_have_metalayers() {
    let folder = TestDir::new();
    zarr_with_attributes(&folder, "a.zarr", 17, 0);
    ints(&folder, "m.npy", &[4], 0);
    folder.succeed("put s.b2z /a a.zarr");
    folder.succeed("slice a.zarr 0:2 slice.b2nd");
    folder.succeed("concat a.zarr m.npy concat.b2nd");
    folder.succeed("get s.b2z /a leaf.b2nd");
    for name in ["leaf.b2nd", "slice.b2nd", "concat.b2nd"] {
        folder.succeed(&format!("convert {name} o.zarr --force"));
        assert_eq!(folder.out("meta get o.zarr a16"), "16\n", "{name}");
    }
}

#[test]
fn errors_show_the_first_digits_of_a_long_number() {
    let folder = arrays();
    let result = folder.run(&["meta", "set", "a.b2nd", "x", &"9".repeat(10_000)]);
    let text = format!("b2: error: the number {}… has more than 64 bits\n", "9".repeat(60));
    assert!(result.err().starts_with(&text), "{}", result.err());
}

#[test]
fn the_number_of_metalayers_is_limited() {
    let folder = TestDir::new();
    ints(&folder, "m.npy", &[4], 0);
    for (output, options) in [("m.b2nd", ""), ("d.b2nd", "--directory")] {
        folder.out(&format!("convert m.npy {output} {options}"));
        for number in 0..16 {
            folder.out(&format!("meta set {output} a{number} {number}"));
        }
        let result = folder.line(&format!("meta set {output} a16 16"));
        let text = "there are 16 variable-length metalayers already, and at most 16 are possible";
        assert_eq!(result.status, 1);
        assert!(result.err().contains(text), "{}", result.err());
        assert!(!result.err().contains("verify"), "{}", result.err());
        assert_eq!(folder.line(&format!("verify {output}")).status, 0);
    }
}

#[test]
fn attributes_with_unpaired_surrogates_are_named_and_kept() {
    let folder = arrays();
    folder.write("a.bcolz/__attrs__", br#"{"x": "\ud800", "\udc00": 1, "ok": 7}"#);
    let listed = folder.json("meta list a.bcolz --json");
    let names: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["ok", "x", r"\udc00"]);
    assert_eq!(folder.out("meta get a.bcolz ok"), "7\n");
    let result = folder.line("meta get a.bcolz x");
    let expected = "b2: error: a.bcolz: the metadata entry 'x': its JSON contains an unpaired";
    assert!(result.status == 1 && result.err().starts_with(expected), "{}", result.err());
    folder.out("meta set a.bcolz ok 8");
    let written = br#"{"x": "\ud800", "\udc00": 1, "ok": 8}"#;
    assert_eq!(folder.read("a.bcolz/__attrs__").trim_ascii_end(), written);
    let result = folder.line("convert a.bcolz kept.b2nd --strict");
    assert!(result.status != 0 && result.err().contains(r#"the attribute "x", which contains an"#));
    assert!(result.err().contains(r#"the attribute "\udc00", which"#), "{}", result.err());
    assert_eq!(folder.json("info a.bcolz --json")[0]["metadata"]["ok"], 8);
    assert_eq!(folder.out("cat a.bcolz"), folder.out("cat a.npy"));
}
