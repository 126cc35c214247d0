//! Containers of several arrays, whose paths are `FILE:/key`.

use crate::common::{TestDir, ints};
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
                    b2: hint: FILE:/NAME selects one of them; 'convert --all' converts all\n";
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
    let result = folder.line("convert in.npy a.npz:/y --force");
    let expected = "a.npz: already exists, and arrays cannot be added to an existing file";
    assert!(result.err().contains(expected), "{}", result.err());
    folder.out("convert in.npy a.npz --force");
    folder.out("convert a.npz:/arr_0 back.npy --force");
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

#[test]
fn zarr_arrays_are_described_and_printed() {
    let folder = TestDir::new();
    folder.fixture("zarr/two.zarr");
    let listing = folder.out("ls -r two.zarr");
    let names: Vec<&str> =
        listing.lines().skip(1).map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(names, ["two.zarr", "two.zarr:/blosc", "two.zarr:/inner/fortran"], "{listing}");
    let info = &folder.json("info --json two.zarr:/blosc")[0];
    assert_eq!((&info["format"], &info["codec"]), (&"zarr".into(), &"lz4".into()));
    assert_eq!(info["array"]["chunk_shape"], serde_json::json!([20, 100]));
    assert_eq!(info["chunks"]["count"], 3);
    let info = folder.out("info two.zarr:/inner/fortran");
    assert!(info.contains("chunks (2, 4)") && info.contains("units"), "{info}");
    let info = folder.out("info two.zarr");
    assert!(info.contains("/inner/fortran"), "{info}");
    let rows = folder.out("cat two.zarr:/inner/fortran --slice 3:");
    assert_eq!(rows, "3:  21  22  23  24  25  26  27\n4:  -7  -7  -7  -7  -7  -7  -7\n");
    assert_eq!(
        folder.json("meta list --json two.zarr:/inner/fortran")["entries"][1]["name"],
        "units"
    );
    assert_eq!(folder.out("meta get two.zarr title"), "\"fixture\"\n");
    let result = folder.line("meta set two.zarr title 1");
    assert!(
        result.err().contains("attributes of Zarr arrays cannot be changed"),
        "{}",
        result.err()
    );
    folder.out("verify two.zarr");
    assert!(folder.out("ls --chunks two.zarr:/blosc").contains("lz4"));
    std::fs::write(folder.path("two.zarr/blosc/1.0"), "damaged").unwrap();
    let result = folder.line("verify two.zarr");
    assert_eq!(result.status, 3);
    assert!(result.out().contains("blosc: chunk 1:"), "{}", result.out());
    let result = folder.line("cat two.zarr:/blosc");
    assert_eq!(result.status, 3);
    assert!(
        result.err().contains("chunk blosc/1.0: it is not a chunk of Blosc"),
        "{}",
        result.err()
    );
}

#[test]
fn zarr_arrays_are_written_in_both_versions_and_containers() {
    let folder = TestDir::new();
    let items: Vec<u8> = (0..600_u32).flat_map(u32::to_le_bytes).collect();
    let original = npy("'<u4'", "(20, 30)", &items);
    folder.write("in.npy", &original);
    for (output, options, file) in [
        ("a.zarr", "", "zarr.json"),
        ("b.zarr", "--to zarr2 --chunks 7,11 --codec lz4 --filters bitshuffle", ".zarray"),
        ("c.zarr.zip", "--chunks 7,11", ""),
        ("d.zip", "--to zarr2", ""),
        ("e.zarr:/x/y", "--chunk-size 400", "x/y/c/0/0"),
    ] {
        folder.out(&format!("convert in.npy {output} {options}"));
        let path = output.split(':').next().unwrap();
        assert!(file.is_empty() || folder.path(path).join(file).exists(), "{output}");
        folder.out(&format!("verify {path}"));
        folder.out(&format!("convert {output} back.npy --force"));
        assert!(folder.read("back.npy") == original, "{output}");
        folder.out(&format!("diff in.npy {output}"));
        assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{output}");
    }
    let result = folder.line("convert in.npy a.zarr");
    assert!(result.err().contains("a.zarr: already exists"), "{}", result.err());
    folder.out("convert in.npy a.zarr --to zarr2 --force");
    assert!(!folder.exists("a.zarr/zarr.json") && folder.exists("a.zarr/.zarray"));
    for (line, expected) in [
        ("in.npy f.zarr --blocks 1,1", "and Zarr arrays chunk shapes"),
        ("in.npy f.zarr --codec zstd --filters delta", "only one filter, shuffle or bitshuffle"),
        ("in.npy f.zarr:/../x", "the name has no extension"),
        ("in.npy f.zarr --chunks 4", "different numbers of dimensions"),
    ] {
        let result = folder.line(&format!("convert {line}"));
        assert!(result.err().contains(expected), "{line}: {}", result.err());
        assert!(!folder.exists("f.zarr"), "{line}");
    }
}

#[test]
fn all_arrays_of_a_container_are_converted_to_files() {
    let folder = TestDir::new();
    let arrays = two(&folder);
    folder.fixture("zarr/two.zarr");
    folder.out("convert two.npz out --all --to npy");
    for (name, expected) in arrays {
        assert!(folder.read(&format!("out/{name}.npy")) == expected, "{name}");
    }
    let title = "not kept: the attribute \"title\" of the group \"/\"";
    for line in
        ["two.zarr group --all", "two.zarr:/inner inner --all", "two.zarr other --all --to zarr2"]
    {
        let result = folder.line(&format!("convert {line}"));
        assert_eq!(result.status, 0, "{line}: {}", result.err());
        assert!(result.err().contains(title), "{line}: {}", result.err());
    }
    folder.out("diff two.zarr:/inner/fortran group/inner/fortran.b2nd");
    folder.out("diff two.zarr:/blosc group/blosc.b2nd");
    folder.out("diff two.zarr:/inner/fortran inner/inner/fortran.b2nd");
    folder.out("diff two.zarr:/blosc other/blosc.zarr");
    for (line, expected) in [
        ("two.zarr group --all", "is a directory"),
        ("two.zarr:/blosc/x x --all", "there is no array or group"),
        (
            "two.npz:/data x --all",
            "only .npz files, HDF5 files and Zarr groups contain several arrays",
        ),
        (
            "out/data.npy x --all",
            "only .npz files, HDF5 files and Zarr groups contain several arrays",
        ),
        ("two.zarr x --all --chunks 1,2,3", "different numbers of dimensions"),
    ] {
        let result = folder.line(&format!("convert {line}"));
        assert_eq!(result.status, 1, "{line}");
        assert!(result.err().contains(expected), "{line}: {}", result.err());
        assert!(!folder.exists("x"), "{line}");
    }
    // A member whose path is outside of the directory.
    let bytes = folder.read("two.npz");
    let hostile: Vec<u8> = {
        let mut bytes = bytes;
        for at in 0..bytes.len() - 8 {
            if &bytes[at..at + 8] == b"data.npy" {
                bytes[at..at + 8].copy_from_slice(b"../x.npy");
            }
        }
        bytes
    };
    folder.write("hostile.npz", &hostile);
    let result = folder.line("convert hostile.npz y --all");
    assert!(result.err().contains("is outside of the directory"), "{}", result.err());
    assert!(!folder.exists("y") && !folder.exists("x.b2nd"));
}

#[test]
fn unreadable_arrays_of_a_container_are_listed() {
    let folder = TestDir::new();
    folder.fixture("zarr/two.zarr");
    let metadata = String::from_utf8(folder.read("two.zarr/blosc/.zarray")).unwrap();
    folder.write("two.zarr/blosc/.zarray", metadata.replace("\"<i4\"", "\"|O\"").as_bytes());
    let listing = folder.out("ls two.zarr");
    assert!(listing.contains("unreadable: blosc/.zarray: the dtype \"|O\" is not"), "{listing}");
    let info = &folder.json("info --json two.zarr")[0];
    assert!(info["columns"][0]["error"].as_str().unwrap().contains("is not supported"), "{info}");
    assert!(info["columns"][1]["error"].is_null() && info["error"].is_null());
    assert!(folder.out("info two.zarr").contains("unreadable: "));
    folder.out("diff two.zarr:/inner/fortran two.zarr:/inner/fortran");
    let result = folder.line("cat two.zarr:/blosc");
    assert_eq!(result.status, 1, "{}", result.err());
}

#[test]
fn an_existing_container_keeps_its_arrays() {
    let folder = TestDir::new();
    two(&folder);
    folder.fixture("zarr/two.zarr");
    folder.out("convert two.npz:/data t.npy");
    folder.out("put s.b2z /a t.npy");
    folder.out("put s.b2z /g/b t.npy");
    let listing = || folder.out("ls two.zarr two.npz s.b2z");
    let before = listing();
    for (line, expected) in [
        ("convert t.npy two.zarr:/t", "arrays cannot be added to an existing file"),
        ("convert t.npy two.zarr:/t --force", "arrays cannot be added to an existing file"),
        ("convert t.npy two.zarr:/blosc/x --force", "arrays cannot be added to an existing file"),
        ("convert t.npy two.npz:/t --force", "arrays cannot be added to an existing file"),
        ("convert two.zarr:/blosc two.zarr --force", "two.zarr: contains the input"),
        ("convert two.zarr/blosc two.zarr --force", "two.zarr: contains the input"),
        ("convert two.zarr:/inner two.zarr --all --force", "two.zarr: contains the input"),
        ("convert two.zarr:/inner/fortran two.zarr/inner --to zarr --force", "contains the input"),
        ("convert two.npz:/data ./two.npz --force", "./two.npz: contains the input"),
        ("convert s.b2z:/a s.b2z --to npy --force", "s.b2z: contains the input"),
        ("convert s.b2z:/g s.b2z --force", "s.b2z: contains the input"),
        ("get s.b2z /a s.b2z --force", "s.b2z: contains the input"),
        ("get s.b2z g s.b2z --force", "s.b2z: contains the input"),
    ] {
        let result = folder.line(line);
        assert_eq!(result.status, 1, "{line}");
        assert!(result.err().contains(expected), "{line}: {}", result.err());
        assert_eq!(listing(), before, "{line}");
    }
    // The whole container is replaced by its only array.
    folder.out("convert t.npy one.npz:/t");
    folder.out("convert one.npz one.npz --force");
}

#[test]
fn arrays_of_objects_in_npz_files_are_compared_with_their_checksums() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[3], 0);
    let mut objects = npy("'|O'", "(2,)", b"pickled objects");
    for is_damaged in [false, true] {
        folder.write("objects.npy", &objects);
        let files =
            ["objects", "a"].map(|key| (key.to_owned(), folder.path(&format!("{key}.npy"))));
        ferroblosc_formats::convert::join_npz(&files, &folder.path("x.npz")).unwrap();
        if is_damaged {
            let mut bytes = folder.read("x.npz");
            let at = bytes.windows(7).position(|bytes| bytes == b"pickled").unwrap();
            bytes[at] ^= 1;
            folder.write("x.npz", &bytes);
        }
        let result = folder.line("verify x.npz");
        let expected = if is_damaged { (3, "x.npz: 1 fault") } else { (0, "x.npz: right") };
        assert_eq!(result.status, expected.0, "{}{}", result.out(), result.err());
        assert!(result.out().starts_with(expected.1), "{}", result.out());
    }
    objects.truncate(20);
    folder.write("objects.npy", &objects);
    assert_eq!(folder.line("verify objects.npy").status, 3);
}

/// An output in the directory of a store would be a leaf of it.
#[test]
fn an_output_is_not_inside_of_its_input() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[40, 5], 7);
    folder.fixture("zarr/two.zarr");
    folder.succeed("convert a.npy f.b2nd --directory");
    folder.succeed("convert a.npy c.bcolz");
    folder.succeed("put s.b2d /g/a a.npy");
    std::fs::create_dir(folder.path("frames")).unwrap();
    folder.succeed("convert a.npy frames/a.b2nd");
    for (link, target) in [("link.b2d", "s.b2d"), ("link.b2nd", "f.b2nd"), ("to-g", "s.b2d/g")] {
        std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
    }
    std::os::unix::fs::symlink("missing", folder.path("f.b2nd/dangling.npy")).unwrap();
    let tree = || {
        let mut found = Vec::new();
        let mut pending = vec![folder.path("")];
        while let Some(path) = pending.pop() {
            for entry in std::fs::read_dir(path).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    pending.push(entry.path());
                }
                found.push((entry.path(), std::fs::read(entry.path()).ok()));
            }
        }
        found.sort();
        found
    };
    let before = tree();
    for line in [
        "convert s.b2d s.b2d/sub.b2d",
        "convert s.b2d link.b2d/sub.b2z",
        "convert link.b2d s.b2d/sub.b2e",
        "convert s.b2d to-g/sub.b2d",
        "convert s.b2d ./frames/../s.b2d/sub.b2d",
        "convert s.b2d s.b2d/missing/sub.b2d",
        "convert s.b2d:/g s.b2d/sub.b2d",
        "convert s.b2d:/g/a s.b2d/b.b2nd",
        "convert s.b2d:/g/a s.b2d/g/a.b2nd --force",
        "convert s.b2d s.b2d/all.h5 --all",
        "convert s.b2d s.b2d/all --all --to npy",
        "get s.b2d g/a s.b2d/b.b2nd",
        "get s.b2d g s.b2d/h.b2d",
        "decompress s.b2d:/g/a s.b2d/a.raw",
        "slice s.b2d:/g/a 1: s.b2d/b.b2nd",
        "plot s.b2d:/g/a :,1 --output s.b2d/plot.svg",
        "convert f.b2nd f.b2nd/copy.b2nd",
        "convert f.b2nd link.b2nd/copy.b2nd",
        "convert link.b2nd f.b2nd/copy.npy --force",
        "convert f.b2nd f.b2nd/00000000.chunk --to npy --force",
        "convert f.b2nd f.b2nd/dangling.npy --force",
        "convert f.b2nd f.b2nd/x.h5:/g/a",
        "decompress f.b2nd f.b2nd/raw",
        "slice f.b2nd 1: f.b2nd/b.b2nd",
        "concat a.npy f.b2nd f.b2nd/b.b2nd",
        "plot f.b2nd :,1 --output f.b2nd/plot.svg",
        "bench f.b2nd --svg f.b2nd/plot.svg --seconds 0",
        "recompress f.b2nd -o f.b2nd/b.b2nd",
        "recompress f.b2nd frames/a.b2nd -o f.b2nd",
        "recompress f.b2nd frames/a.b2nd -o f.b2nd/new/",
        "convert c.bcolz c.bcolz/data/__9.blp --to bcolz",
        "convert c.bcolz c.bcolz/copy.npy",
        "convert two.zarr two.zarr/all.npz --all",
        "convert two.zarr:/blosc two.zarr/copy --to zarr",
        "convert two.zarr/blosc two.zarr/blosc/copy.npy",
    ] {
        let result = folder.line(line);
        let expected = "is inside of the input, which would be changed\n";
        assert!(result.err().contains(expected), "{line}: {}", result.err());
        assert_eq!((result.status, result.out()), (1, ""), "{line}");
        assert!(tree() == before, "{line}");
    }
    // In a directory of files, beside the input, and in a directory with the start of its name.
    folder.succeed("convert --all frames frames/all.npz");
    assert_eq!(folder.line("convert frames frames/all.b2z").status, 0);
    std::fs::remove_file(folder.path("f.b2nd/dangling.npy")).unwrap();
    std::fs::create_dir(folder.path("f.b2nd.d")).unwrap();
    folder.succeed("convert f.b2nd f.b2nd.d/copy.b2nd");
    folder.succeed("convert two.zarr/blosc two.zarr/inner/copy --to zarr");
    folder.succeed("convert s.b2d/g/a.b2nd f.b2nd.d/a.b2nd");
    folder.succeed("convert f.b2nd f.b2nd --force --directory");
}

#[test]
fn an_object_of_a_store_is_not_an_output() {
    let folder = TestDir::new();
    two(&folder);
    folder.out("convert two.npz:/data t.npy");
    folder.out("put s.b2z /a t.npy");
    for line in ["t.npy s.b2z:/b", "t.npy new.b2d:/group/b", "t.npy s.b2z:/b --to npy"] {
        let result = folder.line(&format!("convert {line}"));
        assert_eq!(result.status, 2, "{line}");
        let expected = "hint: 'b2 put' adds a file to a store";
        assert!(result.err().contains(expected), "{line}: {}", result.err());
    }
}

#[test]
fn colliding_names_of_files_are_refused_before_writing() {
    let folder = TestDir::new();
    let [_, (_, floats)] = two(&folder);
    folder.write("a.npy", &floats);
    folder.out("convert a.npy a.zarr");
    for (first, second, expected) in [
        ("a", "a.b2nd/x", "\"a.b2nd\" and \"a.b2nd/x.b2nd\""),
        ("a.zarr/b", "a", "\"a.zarr\" and \"a.zarr/b.zarr\""),
    ] {
        std::fs::create_dir_all(folder.path("g.zarr").join(first)).unwrap();
        folder.write("g.zarr/zarr.json", br#"{"zarr_format":3,"node_type":"group"}"#);
        for node in [first, second] {
            let mut parent = folder.path("g.zarr");
            for part in node.split('/') {
                parent.push(part);
                std::fs::create_dir_all(&parent).unwrap();
                let group = br#"{"zarr_format":3,"node_type":"group"}"#;
                std::fs::write(parent.join("zarr.json"), group).unwrap();
            }
            std::fs::write(parent.join("zarr.json"), folder.read("a.zarr/zarr.json")).unwrap();
        }
        let to = if expected.contains("zarr") { "zarr" } else { "b2nd" };
        let result = folder.line(&format!("convert g.zarr out --all --to {to}"));
        assert_eq!(result.status, 1, "{first}");
        assert!(result.err().contains(expected), "{first}: {}", result.err());
        assert!(!folder.exists("out"), "{first}");
        std::fs::remove_dir_all(folder.path("g.zarr")).unwrap();
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    let folder = TestDir::new();
    two(&folder);
    folder.out("convert two.npz:/data t.npy");
    folder.out("put s.b2z /a t.npy");
    for (line, expected) in [
        ("s.b2z copy.b2d --chunks 2", "--chunks: stores are copied unchanged"),
        ("s.b2z copy.b2d --blocks 2", "--blocks: stores are copied unchanged"),
        ("s.b2z copy.b2d --from bin", "--from: stores are copied unchanged"),
        ("two.npz out:/x --all --to npy", "--all: OUT is a directory"),
        ("two.npz out.npz:/x --all --to npz", "--all: OUT is a directory"),
        ("two.npz - --all --to npy", "--all: OUT is a directory"),
        ("two.npz /dev/null --all --to npy", "--all: OUT is a directory"),
    ] {
        let result = folder.line(&format!("convert {line}"));
        assert_eq!(result.status, 2, "{line}: {}", result.err());
        assert!(result.err().contains(expected), "{line}: {}", result.err());
        for output in ["copy.b2d", "out", "out:", "out.npz"] {
            assert!(!folder.exists(output), "{line}");
        }
    }
}

#[test]
fn items_outside_of_a_zarr_array_are_zero_after_a_resize() {
    let folder = TestDir::new();
    folder.fixture("zarr/two.zarr");
    let metadata = String::from_utf8(folder.read("two.zarr/blosc/.zarray")).unwrap();
    let shorter = metadata.replace("60,", "55,");
    assert_ne!(shorter, metadata);
    folder.write("two.zarr/blosc/.zarray", shorter.as_bytes());
    for (name, shape, resized, old) in
        [("blosc", "55,100", "60,100", 5500), ("inner/fortran", "5,7", "6,8", 35)]
    {
        folder.out(&format!("convert two.zarr:/{name} a.b2nd --force"));
        folder.out(&format!("diff two.zarr:/{name} a.b2nd"));
        folder.out(&format!("resize a.b2nd {resized}"));
        // The attributes are not kept.
        assert_eq!(folder.line("convert a.b2nd a.npy --force").status, 0);
        let bytes = folder.read("a.npy");
        let itemsize = if name == "blosc" { 4 } else { 2 };
        let lengths = |text: &str| -> Vec<usize> {
            text.split(',').map(|len| len.parse().unwrap()).collect()
        };
        let (shape, resized) = (lengths(shape), lengths(resized));
        let items = &bytes[bytes.len() - resized[0] * resized[1] * itemsize..];
        let mut inside = 0;
        for (number, item) in items.chunks(itemsize).enumerate() {
            let (row, column) = (number / resized[1], number % resized[1]);
            if row < shape[0] && column < shape[1] {
                inside += 1;
            } else {
                assert!(item.iter().all(|&byte| byte == 0), "{name} {row} {column}: {item:?}");
            }
        }
        assert_eq!(inside, old, "{name}");
    }
}

#[test]
fn names_of_containers_may_have_any_bytes() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let folder = TestDir::new();
    let [(_, ints), (_, floats)] = two(&folder);
    folder.write("ints.npy", &ints);
    folder.succeed("put s.b2z /group/x ints.npy");
    let named = |text: &[u8]| OsStr::from_bytes(text).to_owned();
    std::fs::rename(folder.path("s.b2z"), folder.path("").join(named(b"\xff.b2z"))).unwrap();
    std::fs::rename(folder.path("two.npz"), folder.path("").join(named(b"\xff.npz"))).unwrap();
    let run = |arguments: &[OsString]| {
        let output = folder.command(&[]).args(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""), "{arguments:?}");
    };
    let plain = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    run(&[plain("convert"), vec![named(b"\xff.npz:/data")], plain("data.npy")].concat());
    assert!(folder.read("data.npy") == floats);
    run(&[plain("convert --all"), vec![named(b"\xff.npz")], plain("all --to npy")].concat());
    assert!(folder.read("all/arr_0.npy") == ints && folder.read("all/data.npy") == floats);
    run(&[plain("diff all"), vec![named(b"\xff.npz")]].concat());
    run(&[plain("convert"), vec![named(b"\xff.b2z:/group/x")], plain("x.npy")].concat());
    assert!(folder.read("x.npy") == ints);
    run(&[plain("convert ints.npy"), vec![named(b"\xfe.npz:/group/x")]].concat());
    run(&[plain("diff ints.npy"), vec![named(b"\xfe.npz:/group/x")]].concat());
    run(&[plain("verify"), vec![named(b"\xff.npz"), named(b"\xff.b2z")]].concat());
}

#[test]
fn errors_of_temporary_arrays_name_the_output() {
    let folder = TestDir::new();
    std::fs::create_dir(folder.path("in")).unwrap();
    // With the extension of b2nd, the name is longer than file systems support.
    let name = "x".repeat(251);
    folder.write(&format!("in/{name}.npy"), &npy("'<i4'", "(1,)", &[0; 4]));
    let failed = folder.line("convert --all in out.b2z");
    let expected = format!("b2: error: cannot create out.b2z/{name}.b2nd: File name too long");
    assert!(failed.status == 1 && failed.err().starts_with(&expected), "{}", failed.err());
    assert!(!folder.exists("out.b2z"));
}

#[test]
fn stores_in_a_directory_are_listed_as_not_converted() {
    let folder = TestDir::new();
    std::fs::create_dir(folder.path("in")).unwrap();
    folder.write("in/a.npy", &npy("'<i4'", "(1,)", &[7, 0, 0, 0]));
    for store in ["s.b2z", "e.b2e", "d.b2d"] {
        folder.out(&format!("put in/{store} /x in/a.npy"));
    }
    folder.write("in/note.txt", b"text");
    let result = folder.line("convert --all in out --to npy");
    assert_eq!(result.status, 0, "{}", result.err());
    for (name, expected) in [
        ("s.b2z", "which is a store"),
        ("e.b2e", "which is a store"),
        ("d.b2d/embed.b2e", "which is a store"),
        ("note.txt", "whose format is unknown"),
    ] {
        let expected = format!("in/{name}, {expected}");
        assert!(result.err().contains(&expected), "{expected}: {}", result.err());
    }
    assert_eq!(result.err().matches("which is a store").count(), 3, "{}", result.err());
    // The objects of a store that is a directory are files.
    let names = std::fs::read_dir(folder.path("out")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.npy", "d.b2d"]);
    assert_eq!(folder.read("out/d.b2d/x.npy"), folder.read("out/a.npy"));
}
