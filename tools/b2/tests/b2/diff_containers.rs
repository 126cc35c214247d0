//! `diff` of objects in stores, and of whole containers.

use crate::common::{TestDir, ints};
use serde_json::json;

/// A directory with the same two arrays in containers of all formats, below `all`.
fn containers() -> TestDir {
    let folder = TestDir::new();
    std::fs::create_dir_all(folder.path("all/inner")).unwrap();
    ints(&folder, "all/a.npy", &[40, 30], 0);
    ints(&folder, "all/inner/b.npy", &[500], 7);
    for name in ["s.b2z", "s.b2d", "s.b2e", "s.npz", "s.zarr", "s.zarr.zip", "s.folder"] {
        folder.succeed(&format!("-q convert --all all {name}"));
    }
    folder
}

const EQUAL: &str = "a: equal\ninner/b: equal\n";

#[test]
fn containers_of_all_formats_are_compared_by_member() {
    let folder = containers();
    let names = ["all", "s.b2z", "s.b2d", "s.b2e", "s.npz", "s.zarr", "s.zarr.zip", "s.folder"];
    for name in names {
        for (one, other) in [(name, "s.b2z"), ("s.zarr", name)] {
            assert_eq!(folder.out(&format!("diff {one} {other}")), EQUAL, "{one} {other}");
            assert_eq!(folder.out(&format!("diff -s {one} {other}")), "", "{one} {other}");
        }
    }
    assert_eq!(folder.out("diff s.b2z:/inner s.b2d:/inner"), "b: equal\n");
    assert_eq!(folder.out("diff s.b2z:/inner s.zarr:/inner"), "", "a group of one array");
    assert_eq!(folder.out("diff s.b2d:/inner all/inner"), "b: equal\n");
    assert_eq!(folder.out("diff s.b2d:/inner all/inner/b.npy"), "", "a group of one array");
}

#[test]
fn objects_of_stores_are_compared_with_files_of_any_format() {
    let folder = containers();
    folder.succeed("-q convert all/a.npy a.b2frame");
    for one in ["s.b2z:/a", "s.b2d:/a", "s.b2e:/a", "s.zarr:/a", "s.npz:/a"] {
        for other in ["all/a.npy", "a.b2frame", "s.b2z:/a"] {
            assert_eq!(folder.out(&format!("diff {one} {other}")), "", "{one} {other}");
            assert_eq!(folder.out(&format!("diff {other} {one}")), "", "{one} {other}");
        }
        let result = folder.line(&format!("diff {one} s.b2z:/inner/b"));
        assert_eq!(result.status, 1);
        let text = format!("{one} s.b2z:/inner/b: the shapes differ: (40, 30) and (500,)\n");
        assert_eq!(result.out(), text);
    }
    let bytes = folder.read("all/a.npy");
    assert_eq!(folder.line_with("diff s.b2z:/a -", &bytes).status, 0);
}

#[test]
fn members_that_differ_or_are_missing_are_listed() {
    let folder = containers();
    ints(&folder, "other.npy", &[40, 30], 1);
    folder.succeed("put s.b2d /a other.npy --force");
    folder.succeed("rm s.b2d /inner/b");
    folder.succeed("put s.b2d /new other.npy");
    let result = folder.line("diff s.b2z s.b2d");
    let expected = "\
a: 1200 of 1200 items differ (100.000 %)
  first at (0, 0): 0 and 1
  largest difference: 1.0
inner/b: only in s.b2z
new: only in s.b2d
";
    assert_eq!((result.status, result.out(), result.err()), (1, expected, ""));
    let result = folder.line("diff -s s.b2z s.b2d");
    assert_eq!((result.status, result.out(), result.err()), (1, "", ""));
    let result = folder.line("diff s.b2z s.b2d --tolerance 1");
    assert_eq!(result.status, 1);
    assert!(result.out().starts_with("a: equal\n"), "{}", result.out());
    let result = folder.line("diff --json s.b2z s.b2d");
    assert_eq!(result.status, 1);
    let found: serde_json::Value = serde_json::from_str(result.out()).unwrap();
    let of_members = |name: &str| -> Vec<serde_json::Value> {
        found["members"].as_array().unwrap().iter().map(|member| member[name].clone()).collect()
    };
    assert_eq!(found["equal"], json!(false));
    assert_eq!(of_members("path"), [json!("a"), json!("inner/b"), json!("new")]);
    let statuses = [json!("different"), json!("only_in_first"), json!("only_in_second")];
    assert_eq!(of_members("status"), statuses);
    assert_eq!(found["members"][0]["comparison"]["different"], json!(1200));
}

#[test]
fn tables_and_objects_are_compared_by_row() {
    let folder = TestDir::new();
    for name in ["t_table.b2z", "c_nulls_mask.b2z", "c_list.b2z", "c_utf8.b2z", "c_floats.b2z"] {
        folder.fixture(&format!("stores/{name}"));
        assert_eq!(folder.line(&format!("diff {name} {name}")).status, 0, "{name}");
    }
    for name in ["a_object.b2f", "a_batch.b2b", "a_list_vl.b2f"] {
        folder.fixture(&format!("stores/{name}"));
        folder.succeed(&format!("put o.b2z /{name} {name}"));
    }
    assert_eq!(folder.out("diff o.b2z o.b2z").matches(": equal\n").count(), 3);
    let all = "data/arr: equal\ndata/table: equal\nt2: equal\n";
    assert_eq!(folder.out("diff t_table.b2z t_table.b2z"), all);
    assert_eq!(folder.out("diff t_table.b2z:/t2 t_table.b2z:/data/table"), "");
    folder.write("x.csv", b"x,y\n1,1.5\n5,3.5\n");
    folder.succeed("-q convert x.csv x.b2z");
    let result = folder.line("diff t_table.b2z:/t2 x.b2z");
    let expected = "\
t_table.b2z:/t2 x.b2z: 1 of 2 items differ (50.000 %)
  first at (1,), column x: 2 and 5
  largest difference: 3.0
";
    assert_eq!((result.status, result.out()), (1, expected), "{}", result.err());
    assert_eq!(folder.out("diff t_table.b2z:/t2 x.b2z --tolerance 3"), "");
    folder.succeed("-q convert x.b2z x.npy");
    assert_eq!(folder.out("diff x.b2z x.npy"), "");
    assert_eq!(folder.line("diff t_table.b2z:/t2 x.npy").status, 1);
    assert_eq!(folder.line("diff t_table.b2z:/t2 x.npy --column x").status, 1);
    assert_eq!(folder.line("diff o.b2z:/a_object.b2f x.npy").status, 2);
}

#[test]
fn files_of_directories_are_compared_whatever_their_format() {
    let folder = TestDir::new();
    for name in ["one", "two"] {
        std::fs::create_dir(folder.path(name)).unwrap();
        folder.write(&format!("{name}/notes.txt"), b"some text");
        ints(&folder, &format!("{name}/a.npy"), &[9], 0);
    }
    // Names that differ only in the extension.
    folder.succeed("-q convert one/a.npy one/a.b2nd");
    folder.succeed("-q convert two/a.npy two/a.b2nd");
    let expected = "a.b2nd: equal\na.npy: equal\nnotes.txt: equal\n";
    assert_eq!(folder.out("diff one two"), expected);
    folder.write("two/notes.txt", b"some test");
    let result = folder.line("diff one two");
    assert_eq!(result.status, 1);
    assert!(result.out().contains("notes.txt: 1 of 9 items differ"), "{}", result.out());
    std::os::unix::fs::symlink("/", folder.path("two/link")).unwrap();
    assert_eq!(folder.line("diff one two").out(), result.out(), "links are not followed");
}

#[test]
fn errors_of_members_do_not_stop_the_others() {
    let folder = containers();
    let path = folder.path("s.folder/a.b2nd");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let result = folder.line("diff all s.folder");
    assert_eq!((result.status, result.out()), (3, "inner/b: equal\n"), "{}", result.err());
    assert!(result.err().contains("s.folder/a.b2nd"), "{}", result.err());
    let result = folder.line("diff --json all s.folder");
    let found: serde_json::Value = serde_json::from_str(result.out()).unwrap();
    assert_eq!(found["members"][0]["status"], json!("error"));
    for (line, text) in [
        ("diff s.b2z all/a.npy", "s.b2z: contains 2 objects"),
        ("diff s.b2z:/missing all/a.npy", "s.b2z:/missing"),
        ("diff s.b2z s.b2d --column a", "--column"),
        ("diff all/a.npy s.zarr", "s.zarr: contains 2 objects"),
        ("diff s.b2z missing.b2z", "missing.b2z"),
    ] {
        let result = folder.line(line);
        assert_eq!((result.status, result.out()), (2, ""), "{line}");
        assert!(result.err().contains(text), "{line}: {}", result.err());
    }
}

#[test]
fn a_container_of_one_array_is_compared_with_containers_of_several() {
    let folder = containers();
    ints(&folder, "one.npy", &[40, 30], 0);
    folder.succeed("-q convert all/a.npy s.h5:/a");
    folder.succeed("-q convert all/inner/b.npy s.h5:/inner/b");
    folder.succeed("-q convert all/a.npy one.npz:/a");
    folder.succeed("-q convert all/a.npy one.zarr:/a");
    folder.succeed("-q convert all/a.npy one.zarr.zip:/a");
    folder.succeed("-q convert all/a.npy one.h5:/a");
    let several = ["all", "s.b2z", "s.b2d", "s.b2e", "s.npz", "s.zarr", "s.zarr.zip", "s.h5"];
    for one in ["one.npz", "one.zarr", "one.zarr.zip", "one.h5"] {
        for other in several {
            let result = folder.line(&format!("diff {one} {other}"));
            assert_eq!((result.status, result.err()), (1, ""), "{one} {other}");
            assert_eq!(result.out(), format!("a: equal\ninner/b: only in {other}\n"));
            let result = folder.line(&format!("diff {other} {one}"));
            assert_eq!(result.out(), format!("a: equal\ninner/b: only in {other}\n"));
        }
        assert_eq!(folder.out(&format!("diff {one} one.npy")), "", "{one}");
        // An array is not a container.
        let result = folder.line(&format!("diff {one}:/a s.npz"));
        assert_eq!(result.status, 2);
        assert!(result.err().contains("contains 2 objects"), "{}", result.err());
    }
}
