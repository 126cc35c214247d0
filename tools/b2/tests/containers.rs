//! Containers of several arrays, whose paths are `FILE:/key`.

mod common;

use common::TestDir;
use ferroblosc_tools_testing::npy_header;

fn npy(descr: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let mut bytes = npy_header(descr, shape, false);
    bytes.extend(items);
    bytes
}

/// Returns `two.npz` and its arrays as `.npy` files.
fn two(folder: &TestDir) -> [(&'static str, Vec<u8>); 2] {
    folder.fixture("npz/two.npz");
    let ints: Vec<u8> = (0..12_i32).flat_map(i32::to_le_bytes).collect();
    let floats: Vec<u8> = (0..5).flat_map(|i| f64::from(i).to_be_bytes()).collect();
    [("arr_0", npy("'<i4'", "(3, 4)", &ints)), ("data", npy("'>f8'", "(5,)", &floats))]
}

#[test]
fn arrays_of_npz_files_are_selected_by_name() {
    let folder = TestDir::new();
    for (name, expected) in two(&folder) {
        folder.out(&format!("convert two.npz:/{name} a.npy --force"));
        assert!(folder.read("a.npy") == expected, "{name}");
        folder.out(&format!("convert two.npz:/{name} a.b2nd --force"));
        folder.out("convert a.b2nd b.npy --force");
        assert!(folder.read("b.npy") == expected, "{name}");
        folder.out(&format!("diff two.npz:/{name} a.b2nd"));
    }
    assert_eq!(folder.out("cat two.npz:/data --slice :2"), "0:  0.0\n1:  1.0\n");
    let info = &folder.json("info --json two.npz:/arr_0")[0];
    assert_eq!(info["array"]["shape"], serde_json::json!([3, 4]));
    assert_eq!((&info["format"], &info["nbytes"]), (&"npz".into(), &48.into()));
    let info = &folder.json("info --json two.npz")[0];
    assert_eq!((&info["array"], &info["nbytes"]), (&serde_json::Value::Null, &88.into()));
    assert_eq!(info["columns"][1]["name"], "/data");
    let listing = folder.out("ls two.npz");
    let names: Vec<&str> =
        listing.lines().skip(1).map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(names, ["two.npz", "two.npz:/arr_0", "two.npz:/data"], "{listing}");
    let result = folder.line("convert two.npz a.b2nd --force");
    assert_eq!(result.status, 1);
    let expected = "b2: error: two.npz: there are 2 arrays: \"arr_0\", \"data\"\n\
                    b2: hint: FILE:/NAME selects one of them\n";
    assert_eq!(result.err(), expected);
    let result = folder.line("cat two.npz:/other");
    assert_eq!(
        (result.status, result.err()),
        (1, "b2: error: two.npz:/other: there is no array \"other\"\n")
    );
}

#[test]
fn compressed_members_are_converted_to_c_order() {
    let folder = TestDir::new();
    folder.fixture("npz/compressed.npz");
    let items: Vec<u8> = (0..30_u16).flat_map(u16::to_le_bytes).collect();
    folder.out("convert compressed.npz a.b2nd --chunks 2,3");
    folder.out("convert a.b2nd a.npy");
    assert!(folder.read("a.npy") == npy("'<u2'", "(5, 6)", &items));
    assert_eq!(folder.json("info --json compressed.npz")[0]["array"]["order"], "F");
}

#[test]
fn arrays_are_written_to_npz_files() {
    let folder = TestDir::new();
    let [(_, ints), _] = two(&folder);
    folder.write("in.npy", &ints);
    for (output, name) in [("a.npz", "arr_0"), ("b.npz:/group/x", "group/x")] {
        folder.out(&format!("convert in.npy {output}"));
        let path = output.split(':').next().unwrap();
        folder.out(&format!("verify {path}"));
        folder.out(&format!("convert {path}:/{name} back.npy --force"));
        assert!(folder.read("back.npy") == ints, "{output}");
    }
    let result = folder.line("convert in.npy c.b2nd:/x");
    assert_eq!(result.status, 2);
    assert!(!folder.exists("c.b2nd"));
    let result = folder.line("convert in.npy a.npz");
    assert!(result.err().contains("a.npz: already exists"), "{}", result.err());
    folder.out("convert in.npy a.npz:/y --force");
    folder.out("convert a.npz:/y back.npy --force");
}

#[test]
fn damaged_npz_files_are_reported() {
    let folder = TestDir::new();
    two(&folder);
    let bytes = folder.read("two.npz");
    folder.out("verify two.npz");
    let at = bytes.windows(6).position(|window| window == b"\x93NUMPY").unwrap();
    // The magic number, the header, and an item.
    for damaged in [at, at + 60, at + 128 + 4] {
        let mut changed = bytes.clone();
        changed[damaged] ^= 0x40;
        folder.write("bad.npz", &changed);
        let result = folder.line("verify bad.npz");
        assert_eq!(result.status, 3, "{damaged}");
        assert!(result.out().contains("CRC-32"), "{}", result.out());
    }
    for len in [10, 200, bytes.len() - 1] {
        folder.write("bad.npz", &bytes[..len]);
        for command in ["verify", "info", "cat", "ls"] {
            let result = folder.line(&format!("{command} bad.npz"));
            assert_eq!(result.status, 3, "{command} {len}: {}", result.err());
        }
    }
    // A header whose items exceed the member.
    let mut changed = bytes.clone();
    let shape = changed.windows(6).position(|window| window == b"(3, 4)").unwrap();
    changed[shape + 1] = b'9';
    folder.write("bad.npz", &changed);
    let result = folder.line("convert bad.npz:/arr_0 a.b2nd");
    assert_eq!(result.status, 3);
    assert!(result.err().contains("its data need"), "{}", result.err());
    assert!(!folder.exists("a.b2nd"));
}
