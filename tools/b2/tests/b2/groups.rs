//! `convert --all`: groups and their attributes between all containers, and additions to existing
//! containers.

use crate::common::{TestDir, ints};
use serde_json::{Value as Json, json};

/// The containers of several arrays: the name, the options of `convert --all`, and whether groups
/// have attributes.
const CONTAINERS: [(&str, &str, bool); 8] = [
    ("x.h5", "", true),
    ("v3.zarr", "", true),
    ("v2.zarr", "--to zarr2", true),
    ("v3.zarr.zip", "", true),
    ("v2.zarr.zip", "--to zarr2", true),
    ("x.b2d", "", true),
    ("x.b2z", "", true),
    ("folder", "", false),
];

/// The groups of the source, with their attributes. The names and the number of those of the root
/// exceed the limits of stores.
fn groups() -> Vec<(&'static str, Json)> {
    let mut root = json!({
        "title": "root",
        "n": 3,
        "nested": {"a": [1, "b", null]},
        "a_name_of_an_attribute_that_has_more_than_31_bytes": true,
        "big": 12_345_678_901_234_567_890_u64,
    });
    for number in 0..20 {
        root[format!("attribute {number}")] = number.into();
    }
    vec![
        ("", root),
        ("g", json!({"units": "K", "list": [1, 2]})),
        ("g/inner", json!({"flag": false, "x": 1.5})),
    ]
}

fn write_group(folder: &TestDir, path: &str, attributes: &Json) {
    std::fs::create_dir_all(folder.path(path)).unwrap();
    let document =
        json!({"attributes": attributes, "zarr_format": 3, "node_type": "group"}).to_string();
    folder.write(&format!("{path}/zarr.json"), document.as_bytes());
}

/// Writes `in.zarr` with the groups, and the arrays `top`, `g/a` and `g/inner/b`.
fn source(folder: &TestDir) {
    ints(folder, "a.npy", &[4, 5], 0);
    for key in ["top", "g/a", "g/inner/b"] {
        let options = if key == "top" { "" } else { "--force" };
        folder.out(&format!("convert a.npy one.zarr {options}"));
        let to = folder.path(&format!("in.zarr/{key}"));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(folder.path("one.zarr"), to).unwrap();
    }
    for (path, attributes) in groups() {
        write_group(folder, format!("in.zarr/{path}").trim_end_matches('/'), &attributes);
    }
}

/// Returns the attributes of a group of a Zarr directory of version 3.
fn attributes(folder: &TestDir, path: &str) -> Json {
    let document = folder.read(&format!("{path}/zarr.json"));
    serde_json::from_slice::<Json>(&document).unwrap()["attributes"].clone()
}

/// Compares the attributes of all groups with those of the source. Nested values are JSON text in
/// HDF5.
fn check_attributes(folder: &TestDir, container: &str, context: &str) {
    for (path, expected) in groups() {
        let found = attributes(folder, format!("{container}/{path}").trim_end_matches('/'));
        for (name, value) in expected.as_object().unwrap() {
            let text = found[name].as_str().and_then(|text| serde_json::from_str(text).ok());
            let is_equal = found[name] == *value || text.as_ref() == Some(value);
            assert!(is_equal, "{context}: /{path} {name}: {} for {value}", found[name]);
        }
        assert_eq!(
            found.as_object().unwrap().len(),
            expected.as_object().unwrap().len(),
            "{context}: /{path}: {found}"
        );
    }
}

#[test]
fn groups_keep_their_attributes_between_all_containers() {
    let folder = TestDir::new();
    source(&folder);
    for (name, options, _) in CONTAINERS {
        // The source of a directory has attributes, the directory itself has none.
        let result = folder.line(&format!("convert in.zarr from-{name} --all {options}"));
        assert_eq!((result.status, result.out()), (0, ""), "{name}: {}", result.err());
    }
    for (from, _, has_attributes) in CONTAINERS {
        for (to, options, is_kept) in CONTAINERS {
            let context = format!("{from} to {to}");
            let is_store = |name: &str| name.contains(".b2");
            // A store is copied to another one without `--all`.
            let all = if is_store(from) && is_store(to) { "" } else { "--all" };
            // A directory of files is not replaced.
            let _ = std::fs::remove_dir_all(folder.path("to-folder"));
            let line = format!("convert from-{from} to-{to} {all} {options} --force");
            let result = folder.line(&line);
            assert_eq!((result.status, result.out()), (0, ""), "{context}: {}", result.err());
            for key in ["top", "g/a", "g/inner/b"] {
                let path = match to {
                    "folder" => format!("to-{to}/{key}.b2nd"),
                    _ if is_store(to) => {
                        folder.out(&format!("get to-{to} /{key} object.b2nd --force"));
                        "object.b2nd".to_owned()
                    }
                    _ => format!("to-{to}:/{key}"),
                };
                let compared = folder.line(&format!("diff a.npy {path}"));
                assert_eq!(compared.status, 0, "{context}: {path}: {}", compared.err());
            }
            if is_kept && has_attributes {
                assert_eq!(result.err(), "", "{context}");
                let back = folder.line(&format!("convert to-{to} back.zarr --all --force"));
                assert_eq!((back.status, back.err()), (0, ""), "{context}");
                check_attributes(&folder, "back.zarr", &context);
            } else if has_attributes {
                // Each attribute is named.
                for (path, attributes) in groups() {
                    for name in attributes.as_object().unwrap().keys() {
                        let expected =
                            format!("not kept: the attribute {name:?} of the group \"/{path}\"");
                        assert!(result.err().contains(&expected), "{context}: {}", result.err());
                    }
                }
                let line = format!("convert from-{from} strict-{to} {all} {options} --strict");
                let strict = folder.line(&line);
                assert_eq!(strict.status, 1, "{context}");
                assert!(strict.err().contains("\"units\" of the group \"/g\""), "{context}");
                assert!(!folder.exists(&format!("strict-{to}")), "{context}");
            } else {
                assert_eq!(result.err(), "", "{context}");
            }
        }
    }
}

#[test]
fn groups_without_arrays_are_kept_or_named() {
    let folder = TestDir::new();
    source(&folder);
    write_group(&folder, "in.zarr/empty", &json!({"note": "n"}));
    write_group(&folder, "in.zarr/empty/bare", &json!({}));
    for to in ["x.h5", "x.zarr.zip", "x.zarr"] {
        folder.out(&format!("convert in.zarr {to} --all"));
        folder.out(&format!("convert {to} back.zarr --all --force"));
        assert_eq!(attributes(&folder, "back.zarr/empty"), json!({"note": "n"}), "{to}");
        assert_eq!(attributes(&folder, "back.zarr/empty/bare"), json!({}), "{to}");
    }
    for to in ["x.b2z", "x.npz", "folder", "x.b2e"] {
        let result = folder.line(&format!("convert in.zarr {to} --all"));
        assert_eq!(result.status, 0, "{to}: {}", result.err());
        for expected in [
            "the attribute \"note\" of the group \"/empty\"",
            "the group \"/empty\", which has no arrays",
            "the group \"/empty/bare\", which has no arrays",
        ] {
            assert!(result.err().contains(expected), "{to}: {}", result.err());
        }
    }
    // An embed store has no groups, but attributes of its own.
    let result = folder.line("convert in.zarr y.b2e --all");
    assert!(result.err().contains("the attribute \"units\" of the group \"/g\""));
    assert!(!result.err().contains("\"title\""), "{}", result.err());
    assert_eq!(folder.out("meta get y.b2e title"), "\"root\"\n");
}

#[test]
fn damaged_attributes_of_a_group_are_an_error() {
    let folder = TestDir::new();
    source(&folder);
    folder.out("convert in.zarr v2.zarr --all --to zarr2");
    folder.write("v2.zarr/g/.zattrs", b"{\"units\": ");
    for to in ["out", "out.h5", "out.b2z"] {
        let result = folder.line(&format!("convert v2.zarr {to} --all"));
        assert_eq!(result.status, 3, "{to}: {}", result.err());
        assert!(result.err().contains("g/.zattrs"), "{to}: {}", result.err());
        assert!(!folder.exists(to));
    }
}

#[test]
fn objects_that_are_no_arrays_are_named() {
    let folder = TestDir::new();
    folder.write("t.csv", b"a,b\n1,2\n3,4\n");
    folder.out("convert t.csv t.b2z");
    ints(&folder, "a.npy", &[3], 0);
    folder.out("put s.b2z /a a.npy");
    folder.out("convert s.b2z out.npz --all");
    let result = folder.line("convert t.b2z out --all");
    assert!(result.err().contains("which is a CTable"), "{}", result.err());
    let result = folder.line("convert t.b2z strict --all --strict");
    assert_eq!(result.status, 1, "{}", result.err());
    assert!(!folder.exists("strict"));
}

/// The containers to which `--all` adds arrays, and an option of another version.
const GROWING: [(&str, &str); 3] =
    [("x.h5", ""), ("x.zarr.zip", ""), ("v2.zarr.zip", "--to zarr2")];

#[test]
fn arrays_are_added_to_existing_containers() {
    let folder = TestDir::new();
    source(&folder);
    ints(&folder, "b.npy", &[7], 100);
    std::fs::create_dir_all(folder.path("more/g/new")).unwrap();
    for name in ["more/other.npy", "more/g/second.npy", "more/g/new/c.npy"] {
        folder.write(name, &folder.read("b.npy"));
    }
    for (to, options) in GROWING {
        folder.out(&format!("convert in.zarr {to} --all {options}"));
        let same = |file: &str, key: &str| {
            let compared = folder.line(&format!("diff {file} {to}:/{key}"));
            assert_eq!(compared.status, 0, "{to} {key}: {}{}", compared.out(), compared.err());
        };
        folder.out(&format!("convert more {to} --all"));
        for key in ["other", "g/second", "g/new/c"] {
            same("b.npy", key);
        }
        for key in ["top", "g/a", "g/inner/b"] {
            same("a.npy", key);
        }
        // The groups keep their attributes.
        folder.out(&format!("convert {to} back.zarr --all --force"));
        for (path, expected) in groups() {
            let found = attributes(&folder, format!("back.zarr/{path}").trim_end_matches('/'));
            assert_eq!(found.as_object().unwrap().len(), expected.as_object().unwrap().len());
        }
        // Nothing that exists is replaced without `--force`.
        std::fs::create_dir_all(folder.path("same/g")).unwrap();
        folder.write("same/g/a.npy", &folder.read("b.npy"));
        folder.write("same/fresh.npy", &folder.read("b.npy"));
        let before = folder.read(to);
        let refused = folder.line(&format!("convert same {to} --all"));
        assert_eq!(refused.status, 1, "{to}");
        assert!(refused.err().contains("already exists"), "{to}: {}", refused.err());
        assert!(refused.err().contains("'--force' replaces it"), "{to}: {}", refused.err());
        assert!(folder.read(to) == before, "{to}");
        folder.out(&format!("convert same {to} --all --force"));
        same("b.npy", "g/a");
        same("b.npy", "fresh");
        same("a.npy", "g/inner/b");
        folder.out(&format!("verify {to}"));
        // A group is never replaced, nor an array by a group.
        for (name, reason) in
            [("clash/g.npy", "\"g\" is a group"), ("clash/top/x.npy", "not a group")]
        {
            let _ = std::fs::remove_dir_all(folder.path("clash"));
            std::fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
            folder.write(name, &folder.read("b.npy"));
            let before = folder.read(to);
            let refused = folder.line(&format!("convert clash {to} --all --force"));
            assert_eq!(refused.status, 1, "{to}: {name}");
            assert!(refused.err().contains(reason), "{to}: {name}: {}", refused.err());
            assert!(folder.read(to) == before, "{to}");
        }
        assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
    }
    let result = folder.line("convert more v2.zarr.zip --all --to zarr --force");
    assert_eq!(result.status, 2, "{}", result.err());
    assert!(result.err().contains("have version 2 of Zarr"), "{}", result.err());
    // A file of another format is not a container.
    folder.write("bytes.zarr.zip", b"bytes");
    let result = folder.line("convert more bytes.zarr.zip --all");
    assert!(result.err().contains("already exists"), "{}", result.err());
    assert_eq!(folder.read("bytes.zarr.zip"), b"bytes");
}

#[test]
fn attributes_of_existing_groups_are_replaced_only_by_force() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[3], 0);
    for (name, units) in [("one", "K"), ("two", "C")] {
        folder.out(&format!("convert a.npy {name}.zarr:/g/{name}"));
        write_group(&folder, &format!("{name}.zarr/g"), &json!({"units": units, name: 1, "n": 2}));
    }
    for (to, options) in GROWING {
        folder.out(&format!("convert one.zarr {to} --all {options}"));
        let added = folder.line(&format!("convert two.zarr {to} --all"));
        assert_eq!(added.status, 0, "{to}: {}", added.err());
        let expected = format!(
            "b2: warning: {to}: not kept: the attribute \"units\" of the group \"/g\", which has \
             another value there\n"
        );
        assert_eq!(added.err(), expected);
        let get = |name: &str| folder.out(&format!("meta get {to}:/g {name}"));
        assert_eq!(
            (get("units"), get("one"), get("two")),
            ("\"K\"\n".into(), "1\n".into(), "1\n".into())
        );
        folder.out(&format!("convert two.zarr {to} --all --force"));
        assert_eq!(
            (get("units"), get("one"), get("n")),
            ("\"C\"\n".into(), "1\n".into(), "2\n".into())
        );
    }
}

#[test]
fn a_failed_addition_leaves_the_container_unchanged() {
    let folder = TestDir::new();
    source(&folder);
    folder.write("more.bin", &crate::common::noise(200_000));
    std::fs::create_dir(folder.path("more")).unwrap();
    folder.out("convert more.bin more/noise.npy --from bin --dtype u1");
    for (to, options) in GROWING {
        folder.out(&format!("convert in.zarr {to} --all {options}"));
        let before = folder.read(to);
        // As on a full disk.
        let failed = folder.limited("-f 100", &["convert", "more", to, "--all"]);
        assert_eq!(failed.status, 1, "{to}: {}", failed.err());
        assert!(folder.read(to) == before, "{to}");
        assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{:?}", folder.names());
        folder.out(&format!("convert more {to} --all"));
    }
}

#[test]
fn additions_of_two_processes_are_not_lost() {
    let folder = TestDir::new();
    source(&folder);
    for number in 0..6 {
        std::fs::create_dir(folder.path(&format!("more{number}"))).unwrap();
        ints(&folder, &format!("more{number}/n{number}.npy"), &[50_000], number);
    }
    for (to, options) in GROWING {
        folder.out(&format!("convert in.zarr {to} --all {options}"));
        let processes: Vec<_> = (0..6)
            .map(|number| folder.start(&["convert", &format!("more{number}"), to, "--all"]))
            .collect();
        // Repeated only after all of them ended: another one could refuse the repetition too.
        let outputs: Vec<_> =
            processes.into_iter().map(|process| process.wait_with_output().unwrap()).collect();
        for (number, output) in outputs.into_iter().enumerate() {
            let error = String::from_utf8(output.stderr).unwrap();
            let key = format!("n{number}");
            let added = folder.line(&format!("diff more{number}/{key}.npy {to}:/{key}"));
            match output.status.code() {
                Some(0) => assert_eq!(added.status, 0, "{to} {key}: {}", added.err()),
                status => {
                    assert_eq!(status, Some(1), "{error}");
                    assert!(error.contains("another program has changed the file"), "{error}");
                    folder.out(&format!("convert more{number} {to} --all"));
                }
            }
        }
        folder.out(&format!("verify {to}"));
        for key in ["top", "g/a", "g/inner/b"] {
            folder.out(&format!("diff a.npy {to}:/{key}"));
        }
    }
}
