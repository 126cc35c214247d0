//! HDF5 files: datasets of h5py, conversion in both directions, additions, links, damage.

use crate::common::{TestDir, ints};
use ferroblosc_formats::hdf5::{File, NewDataset, Scalar, Spec};

/// The datasets of the file that h5py wrote, with their types and shapes.
const DATASETS: [(&str, &str, &[u64]); 18] = [
    ("S", "|S4", &[2]),
    ("arr", "<i4", &[3]),
    ("arrtype", "<i4", &[4, 2, 3]),
    ("bools", "|b1", &[3]),
    ("cplx", "<c8", &[2]),
    ("empty", "<f4", &[0]),
    ("en", "<i2", &[3]),
    ("grp/temp", ">i4", &[365, 60]),
    ("half", "<f2", &[2]),
    ("opaque", "|V3", &[2]),
    ("rec", "[('a', '|i1'), ('b', '<f8', (2,)), ('c', '|S3')]", &[5]),
    ("scalar", "<f8", &[]),
    ("sparse", "<f4", &[100, 100]),
    ("str", "<U4", &[3]),
    ("time", "<M8[D]", &[2]),
    ("x", "<f8", &[60]),
    ("y", "<i8", &[365]),
    ("zero", "<f8", &[0, 4]),
];

fn with_file() -> TestDir {
    let folder = TestDir::new();
    assert_eq!(folder.fixture("hdf5/h5py.h5"), "h5py.h5");
    folder
}

#[test]
fn items_are_never_read_from_other_files() {
    let folder = TestDir::new();
    folder.fixture("hdf5/odd.h5");
    folder.write("secret.bin", b"not for all!");
    ints(&folder, "i.npy", &[3], 7);
    folder.out("convert i.npy secret.h5:/data");
    for (name, source) in
        [("external", "secret.bin"), ("virtual", "secret.h5"), ("within", "/plain")]
    {
        let reason = format!("the items of the dataset \"/{name}\" are in \"{source}\"");
        for line in [format!("cat odd.h5:/{name}"), format!("convert odd.h5:/{name} o.b2nd")] {
            let error = refused(&folder, &line);
            assert!(error.contains(&reason) && error.contains("is not read"), "{line}: {error}");
        }
        // The other datasets are verified.
        let verified = folder.line("verify odd.h5");
        assert_eq!(verified.status, 0, "{}", verified.err());
        let text = format!("{}{}", verified.out(), verified.err());
        assert!(text.contains(&reason), "{text}");
    }
    assert_eq!(folder.out("cat --csv --no-index odd.h5:/plain"), "0\n1\n2\n");
}

#[test]
fn sparse_datasets_of_any_size_are_described_and_no_damage() {
    let folder = TestDir::new();
    let file = File::create(&folder.path("big.h5")).unwrap();
    let spec = |shape: &[u64], chunks: &[u64]| Spec {
        item: Scalar::Float { size: 8, is_big: false }.into(),
        shape: shape.to_vec(),
        chunks: Some(chunks.to_vec()),
        filter: None,
        fill: None,
    };
    drop(NewDataset::create(&file, "big", spec(&[1 << 40, 1 << 40], &[16, 16])).unwrap());
    drop(NewDataset::create(&file, "small", spec(&[4], &[2])).unwrap());
    file.close().unwrap();
    let info = folder.out("info big.h5:/big");
    assert!(info.contains("(1099511627776, 1099511627776)"), "{info}");
    let reason = "the array has 2⁶⁴ bytes or more";
    for line in ["cat big.h5:/big", "convert big.h5:/big o.npy"] {
        let error = refused(&folder, line);
        assert!(error.contains(reason), "{line}: {error}");
    }
    // The stored chunks are verified whatever the shape.
    let verified = folder.line("verify big.h5");
    let text = format!("{}{}", verified.out(), verified.err());
    assert!(verified.status == 0 && !text.contains(reason), "{text}");
}

/// Without the check, the disk is full after a long time.
#[cfg(unix)]
#[test]
fn outputs_that_are_larger_than_the_free_space_are_refused_at_once() {
    let folder = TestDir::new();
    let file = File::create(&folder.path("big.h5")).unwrap();
    let spec = Spec {
        item: Scalar::Float { size: 8, is_big: false }.into(),
        shape: vec![1 << 33, 1 << 12],
        chunks: Some(vec![1 << 15, 1 << 12]),
        filter: None,
        fill: None,
    };
    drop(NewDataset::create(&file, "big", spec).unwrap());
    file.close().unwrap();
    folder.out("convert big.h5:/big big.b2nd");
    let reason = "the output has 256.0 TiB, and ";
    for (line, output) in [
        ("convert big.h5:/big o.npy", "o.npy"),
        ("convert big.h5:/big o.npz", "o.npz"),
        ("convert big.h5:/big o.bin", "o.bin"),
        ("convert big.h5:/big o.csv", "o.csv"),
        ("convert big.h5:/big o.npz:/x", "o.npz:/x"),
        ("decompress big.b2nd o.npy", "o.npy"),
    ] {
        let error = refused(&folder, line);
        let reason = if output == "o.csv" { "the output has 64.0 TiB, and " } else { reason };
        assert!(error.contains(&format!("error: {output}: {reason}")), "{line}: {error}");
        assert!(error.contains("'--force' writes it nevertheless"), "{line}: {error}");
        assert!(!folder.path(output).exists(), "{line}");
    }
}

#[test]
fn fields_and_tags_that_are_not_utf8_are_named() {
    let folder = TestDir::new();
    folder.fixture("hdf5/odd.h5");
    let error = refused(&folder, "cat odd.h5:/latin");
    assert!(error.contains("has records with a field whose name is not UTF-8"), "{error}");
    let error = refused(&folder, "cat odd.h5:/tagged-latin");
    assert!(error.contains("has opaque items whose tag is not UTF-8"), "{error}");
    folder.fixture("hdf5/names.h5");
    for line in ["ls names.h5", "convert names.h5 out --all"] {
        let result = folder.line(line);
        assert_eq!(result.status, 3, "{line}: {}", result.err());
        assert!(result.err().contains("the name \"caf\u{fffd}\" is not UTF-8"), "{}", result.err());
    }
    assert_eq!(folder.out("cat --csv --no-index names.h5:/plain"), "0\n1\n2\n");
}

/// HDF5 converts opaque items only to those with the same tag.
#[test]
fn opaque_items_with_a_tag_are_read() {
    let folder = TestDir::new();
    folder.fixture("hdf5/odd.h5");
    folder.out("convert odd.h5:/tagged t.npy");
    assert!(folder.read("t.npy").ends_with(b"abcdefghi"));
    folder.out("convert odd.h5:/tagged t.b2nd");
    folder.out("diff odd.h5:/tagged t.npy");
}

#[test]
fn paths_through_objects_that_are_no_groups_do_not_exist() {
    let folder = TestDir::new();
    folder.fixture("hdf5/odd.h5");
    for path in ["plain/x", "nowhere", "nowhere/x", "root/x", "root/plain/x/y", "root/nowhere/x"] {
        let error = refused(&folder, &format!("cat odd.h5:/{path}"));
        assert!(error.contains("no array") && error.contains(path), "{path}: {error}");
    }
    assert_eq!(folder.out("cat --csv --no-index odd.h5:/root/plain"), "0\n1\n2\n");
}

/// HDF5 reports first that it cannot open a directory of plugins.
#[test]
fn a_missing_filter_is_no_damage() {
    let folder = TestDir::new();
    ints(&folder, "i.npy", &[200], 1);
    folder.out("convert i.npy o.h5:/data");
    let mut bytes = folder.read("o.h5");
    // The filter 32026 becomes 32040, which is not registered.
    let filter = 32026_u16.to_le_bytes();
    let found: Vec<usize> =
        (0..bytes.len() - 1).filter(|&at| bytes[at..at + 2] == filter).collect();
    found.iter().for_each(|&at| bytes[at..at + 2].copy_from_slice(&32040_u16.to_le_bytes()));
    assert_eq!(found.len(), 1);
    folder.write("o.h5", &bytes);
    for directory in ["", "::", "/nonexistent", "/nonexistent:."] {
        let mut command = folder.command(&["verify", "o.h5"]);
        command.env("HDF5_PLUGIN_PATH", directory);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{directory}: {text}");
        assert!(text.contains("not registered"), "{directory}: {text}");
    }
}

/// The paths of 800 nested groups with names of 1000 bytes have 320 MB, the file less than 2 MB.
#[test]
fn the_paths_of_nested_groups_are_limited() {
    let folder = TestDir::new();
    let file = File::create(&folder.path("deep.h5")).unwrap();
    let name = "g".repeat(1000);
    drop(file.create_group(&vec![name; 800].join("/")).unwrap());
    file.close().unwrap();
    assert!(folder.read("deep.h5").len() < 2 << 20);
    let result = folder.line("ls deep.h5");
    assert_eq!(result.status, 3, "{}", result.err());
    assert!(result.err().contains("the paths of its objects exceed"), "{}", result.err());
}

/// The size of a chunk in the index is larger than the file.
#[test]
fn a_chunk_longer_than_the_file_is_damage() {
    let folder = TestDir::new();
    ints(&folder, "i.npy", &[200], 1);
    folder.out("convert i.npy o.h5:/data");
    let chunks = &folder.json("ls --chunks --json o.h5")[0]["chunks"];
    let size = chunks[0]["cbytes"].as_u64().unwrap() as u32;
    let mut bytes = folder.read("o.h5");
    // A key of the index: the size, the skipped filters, the start of the chunk in items and bytes.
    let key = [&size.to_le_bytes()[..], &[0; 20]].concat();
    let at = bytes.windows(key.len()).position(|found| found == key).unwrap();
    bytes[at..at + 4].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    folder.write("o.h5", &bytes);
    let result = folder.line("convert o.h5 o.b2nd");
    assert_eq!(result.status, 3, "{}", result.err());
    assert!(result.err().contains("has 4026531840 bytes"), "{}", result.err());
}

/// Returns the error of a command line, which must fail.
fn refused(folder: &TestDir, line: &str) -> String {
    let result = folder.line(line);
    assert_eq!((result.status, result.out()), (1, ""), "{line}: {}", result.err());
    result.err().to_owned()
}

#[test]
fn datasets_of_all_types_are_described_and_read() {
    let folder = with_file();
    for (name, dtype, shape) in DATASETS {
        let described = &folder.json(&format!("info --json h5py.h5:/{name}"))[0]["array"];
        assert_eq!(described["dtype"], dtype, "{name}");
        assert_eq!(described["shape"], serde_json::json!(shape), "{name}");
    }
    let cat = |name: &str| folder.out(&format!("cat --csv --no-index h5py.h5:/{name}"));
    assert_eq!(cat("scalar"), "3.5\n");
    assert_eq!(cat("bools"), "True\nFalse\nTrue\n");
    assert_eq!(cat("half"), "1.5\n2.5\n");
    assert_eq!(cat("str"), "häus\nx\n\"\"\n");
    assert_eq!(cat("S"), "ab\ncdef\n");
    assert_eq!(cat("time"), "2020-01-01\n2021-01-01\n");
    let arrays = folder.out("cat --csv --no-index h5py.h5:/arrtype --slice 2:,1,1:");
    assert!(arrays.ends_with("16,17\n22,23\n"), "{arrays}");
    let attrs = folder.out("meta get h5py.h5:/grp/temp units");
    assert_eq!(attrs, "\"K\"\n");
}

#[test]
fn types_without_a_dtype_are_named() {
    let folder = with_file();
    let error = |name: &str| refused(&folder, &format!("cat h5py.h5:/{name}"));
    assert!(error("ref").contains("\"/ref\" has references to objects"), "{}", error("ref"));
    assert!(error("vlen").contains("has sequences of variable length"), "{}", error("vlen"));
    assert!(error("nothing").contains("there is no array"), "{}", error("nothing"));
}

#[test]
fn links_are_followed_only_by_name_and_cycles_end() {
    let folder = with_file();
    // The group contains the root, and a soft link leads there, too.
    let listed = folder.json("info --json h5py.h5");
    let names: Vec<&str> = listed[0]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 20, "{names:?}");
    let of_link = folder.out("cat h5py.h5:/loop/grp/up/bools");
    assert_eq!(of_link, folder.out("cat h5py.h5:/bools"));
    let error = folder.line("cat h5py.h5:/ext");
    assert!(error.status != 0 && error.err().contains("ext"), "{}", error.err());
}

#[test]
fn datasets_round_trip_through_b2nd_with_both_filters() {
    let folder = with_file();
    for (name, ..) in DATASETS {
        if matches!(name, "str" | "opaque") {
            continue;
        }
        let flat = name.replace('/', "-");
        let options = if name == "scalar" { "" } else { "--strict" };
        folder.out(&format!("convert h5py.h5:/{name} {flat}.b2nd {options}"));
        assert_eq!(folder.line(&format!("diff h5py.h5:/{name} {flat}.b2nd")).status, 0, "{name}");
        for filter in ["32026", "32001", "none"] {
            folder.out(&format!(
                "convert {flat}.b2nd out{filter}.h5:/a/{name} --hdf5-filter {filter}"
            ));
            folder.out(&format!("convert out{filter}.h5:/a/{name} back.b2nd --force"));
            let compared = folder.line(&format!("diff {flat}.b2nd back.b2nd"));
            assert_eq!(compared.status, 0, "{name} {filter}: {}", compared.out());
        }
    }
    // Characters become strings of bytes.
    folder.out("convert h5py.h5:/str str.b2nd");
    folder.out("convert str.b2nd out32026.h5:/str");
    let texts = folder.out("cat --csv --no-index out32026.h5:/str");
    assert_eq!(texts, "häus\nx\n\"\"\n");
}

#[test]
fn chunks_that_are_not_stored_stay_so() {
    let folder = with_file();
    folder.out("convert h5py.h5:/sparse sparse.b2nd");
    let chunks = folder.out("ls --chunks sparse.b2nd");
    assert_eq!(chunks.matches("value").count(), 99, "{chunks}");
    folder.out("convert sparse.b2nd sparse.h5:/sparse");
    let described = &folder.json("info --json sparse.h5:/sparse")[0];
    // Only one of the 100 chunks has other items than the fill value.
    assert!(described["stored_bytes"].as_u64().unwrap() < 1000, "{described}");
    assert_eq!(folder.line("diff sparse.h5:/sparse sparse.b2nd").status, 0);
}

#[test]
fn chunks_of_blosc2_are_copied() {
    let folder = with_file();
    folder.out(
        "convert h5py.h5:/grp/temp t.b2nd --chunks 100,30 --blocks 20,10 --codec lz4 --level 9",
    );
    folder.out("convert t.b2nd t.h5:/t");
    folder.out("convert t.h5:/t back.b2nd");
    let layout = &folder.json("info --json back.b2nd")[0]["array"];
    assert_eq!(layout["chunk_shape"], serde_json::json!([100, 30]), "{layout}");
    assert_eq!(layout["block_shape"], serde_json::json!([20, 10]), "{layout}");
    // The same codec without an option: the chunks are those that were compressed with level 9.
    let stored =
        |name: &str| folder.json(&format!("info --json {name}"))[0]["stored_bytes"].clone();
    assert_eq!(stored("t.b2nd"), stored("back.b2nd"));
}

#[test]
fn attributes_and_names_of_dimensions_are_copied() {
    let folder = with_file();
    folder.out("convert h5py.h5:/grp/temp t.zarr");
    folder.out("convert t.zarr t.b2nd");
    folder.out("convert t.b2nd t.h5:/t");
    for path in ["t.b2nd", "t.h5:/t"] {
        let get = |name: &str| folder.out(&format!("meta get {path} {name}"));
        assert_eq!(get("units"), "\"K\"\n");
        assert_eq!(get("scale"), "1.5\n");
        assert_eq!(get("flag"), "true\n");
        assert_eq!(get("names").replace(char::is_whitespace, ""), "[\"a\",\"b\"]");
        assert_eq!(get("_ARRAY_DIMENSIONS").replace(char::is_whitespace, ""), "[\"y\",\"x\"]");
    }
}

#[test]
fn datasets_are_added_to_existing_files_which_stay_complete() {
    let folder = with_file();
    folder.out("convert h5py.h5:/x h.h5:/one");
    folder.out("convert h5py.h5:/y h.h5:/two/deep");
    let before = folder.read("h.h5");
    assert!(refused(&folder, "convert h5py.h5:/y h.h5:/one").contains("already exists"));
    assert!(refused(&folder, "convert h5py.h5:/ref h.h5:/three").contains("references"));
    assert!(refused(&folder, "convert h5py.h5:/y h.h5").contains("already exists"));
    assert!(folder.read("h.h5") == before);
    assert_eq!(folder.names(), ["h.h5", "h5py.h5"]);
    folder.out("convert h5py.h5:/y h.h5:/one --force");
    assert_eq!(folder.line("diff h5py.h5:/y h.h5:/one").status, 0);
    assert_eq!(folder.line("diff h5py.h5:/y h.h5:/two/deep").status, 0);
}

/// An array is added only as HDF5 data to HDF5 data: any other file is kept.
#[test]
fn files_are_never_replaced_by_an_array_that_is_added() {
    let folder = TestDir::new();
    ints(&folder, "i.npy", &[20], 0);
    folder.out("convert i.npy o.h5:/a/b");
    folder.out("convert i.npy o.npz:/a");
    folder.out("convert i.npy o.zarr.zip:/a");
    let hdf5 = folder.read("o.h5");
    let npz = folder.read("o.npz");
    let zarr = folder.read("o.zarr.zip");
    let kinds = [("hdf5", &hdf5), ("npz", &npz), ("zarr", &zarr)];
    for name in ["h.h5", "h.hdf5", "h.npz", "h.zarr", "h.zarr.zip", "h.other"] {
        for (kind, content) in kinds {
            for to in ["", "hdf5", "npz", "zarr", "zarr2"] {
                for force in ["", "--force"] {
                    let option = if to.is_empty() { "" } else { "--to" };
                    let line = format!("convert i.npy {name}:/n {option} {to} {force}");
                    folder.write(name, content);
                    let result = folder.line(&line);
                    let is_hdf5 = to == "hdf5" || to.is_empty() && name.ends_with('5');
                    if kind == "hdf5" && is_hdf5 {
                        assert_eq!(result.status, 0, "{line}: {}", result.err());
                        let renamed = folder.read(name);
                        folder.write("added.h5", &renamed);
                        for array in ["a/b", "n"] {
                            let compared = folder.line(&format!("diff i.npy added.h5:/{array}"));
                            assert_eq!(compared.status, 0, "{line}: {array}");
                        }
                        continue;
                    }
                    let without_format = name == "h.other" && to.is_empty();
                    let (status, reason) = if without_format {
                        (2, "the extension '.other' is unknown")
                    } else if kind == "hdf5" {
                        (1, "arrays of another format cannot be added to an HDF5 file")
                    } else {
                        (1, "already exists, and arrays cannot be added to an existing file")
                    };
                    assert_eq!(result.status, status, "{kind}: {line}: {}", result.err());
                    assert!(result.err().contains(reason), "{kind}: {line}: {}", result.err());
                    assert!(folder.read(name) == *content, "{kind}: {line}");
                }
            }
        }
        std::fs::remove_file(folder.path(name)).unwrap();
    }
}

#[test]
fn a_missing_library_is_named() {
    let folder = with_file();
    let mut command = folder.command(&["info", "h5py.h5"]);
    let output = command.env("FERROBLOSC_HDF5", "/nonexistent/libhdf5.so").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("libhdf5 is not found") && text.contains("/nonexistent"), "{text}");
    let mut command = folder.command(&["info", "h5py.h5"]);
    let output = command.env("FERROBLOSC_HDF5", "libc.so.6").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("libhdf5 cannot be used: it has no function"), "{text}");
}

#[test]
fn damaged_files_are_errors() {
    let folder = with_file();
    folder.out("convert h5py.h5:/grp/temp small.h5:/t --chunks 100,60");
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut signals, mut faults, mut count) = (0, 0, 0);
    for name in ["h5py.h5", "small.h5"] {
        let original = folder.read(name);
        for number in 0..40 {
            let mut bytes = original.clone();
            if number % 5 == 0 {
                bytes.truncate(random(bytes.len()));
            } else {
                let len = if number % 2 == 0 { bytes.len() } else { bytes.len().min(4096) };
                bytes[random(len)] ^= 1 << random(8);
            }
            folder.write("damaged.h5", &bytes);
            let output = folder.command(&["verify", "damaged.h5"]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!text.contains("panicked"), "{name} {number}: {text}");
            match output.status.code() {
                Some(0) => {}
                Some(1 | 3) => faults += 1,
                Some(other) => panic!("{name} {number}: exit status {other}: {text}"),
                // libhdf5 itself may crash on damaged files.
                None => signals += 1,
            }
            count += 1;
        }
    }
    assert!(faults > 10, "{faults} of {count}");
    assert!(signals <= count / 20, "{signals} of {count}");
}

#[test]
fn all_arrays_become_one_container() {
    let folder = with_file();
    // A file of the datasets that all formats support.
    for (name, ..) in DATASETS {
        if !matches!(
            name,
            "str" | "opaque" | "rec" | "half" | "cplx" | "time" | "scalar" | "empty" | "zero"
        ) {
            folder.out(&format!("convert h5py.h5:/{name} in.h5:/{name}"));
        }
    }
    let names = ["S", "arr", "arrtype", "bools", "en", "grp/temp", "sparse", "x", "y"];
    let same = |from: &str, to: &str, extension: &str| {
        for name in names {
            let compared = folder.line(&format!("diff {from}:/{name} {to}{name}{extension}"));
            assert_eq!(compared.status, 0, "{to}{name}: {}{}", compared.out(), compared.err());
        }
    };
    folder.out("convert in.h5 out --all");
    same("in.h5", "out/", ".b2nd");
    let quiet = |line: &str| {
        let result = folder.line(line);
        assert_eq!((result.status, result.out()), (0, ""), "{line}: {}", result.err());
    };
    quiet("convert in.h5 out.npz --all");
    same("in.h5", "out.npz:/", "");
    quiet("convert in.h5 out.zarr --all");
    same("in.h5", "out.zarr:/", "");
    quiet("convert out.zarr v2.zarr --all --to zarr2");
    same("in.h5", "v2.zarr:/", "");
    quiet("convert in.h5 out.zarr.zip --all");
    same("in.h5", "out.zarr.zip:/", "");
    quiet("convert in.h5 out.b2z --all");
    quiet("convert out.b2z back.h5 --all");
    same("in.h5", "back.h5:/", "");
    quiet("convert out folder.h5 --all");
    same("in.h5", "folder.h5:/", "");
    quiet("convert out.npz npz.h5 --all --hdf5-filter 32001");
    same("in.h5", "npz.h5:/", "");
    for path in
        ["out.zarr:/grp/temp", "v2.zarr:/grp/temp", "out.b2z:/grp/temp", "back.h5:/grp/temp"]
    {
        assert_eq!(folder.out(&format!("meta get {path} units")), "\"K\"\n", "{path}");
    }
    for (line, reason) in [
        ("convert h5py.h5 broken.npz --all", "references"),
        ("convert in.h5 out.npz --all", "already exists"),
        ("convert in.h5 new.h5:/x --all", "--all: OUT is a directory or a container"),
        ("convert in.h5:/arr new.h5 --all", "contain several arrays"),
    ] {
        let result = folder.line(line);
        assert!(result.status != 0 && result.err().contains(reason), "{line}: {}", result.err());
    }
    for name in ["broken.npz", "new.h5"] {
        assert!(!folder.exists(name), "{name}");
    }
}

/// A store contains frames as files.
#[test]
fn stores_are_not_made_of_directories() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[20], 0);
    folder.out("convert a.npy in.npz:/a");
    folder.out("convert a.npy in.h5:/a");
    std::fs::create_dir(folder.path("in")).unwrap();
    folder.out("convert a.npy in/a.b2nd");
    for input in ["in", "in.npz", "in.h5"] {
        for output in ["out.b2z", "out.b2d", "out.b2e"] {
            let line = format!("convert --all {input} {output} --directory");
            let result = folder.line(&line);
            assert_eq!((result.status, result.out()), (2, ""), "{line}: {}", result.err());
            assert!(result.err().contains("--directory"), "{line}: {}", result.err());
            assert!(!folder.exists(output));
        }
    }
}

#[test]
fn attributes_of_groups_are_copied() {
    let folder = TestDir::new();
    folder.write("a.csv", b"1\n2\n");
    folder.out("convert a.csv two.zarr:/inner/a");
    let group = r#"{"attributes":{"title":"t","n":3},"zarr_format":3,"node_type":"group"}"#;
    folder.write("two.zarr/inner/zarr.json", group.as_bytes());
    folder.out("convert two.zarr two.h5 --all");
    folder.out("convert two.h5 back.zarr --all");
    folder.out("convert back.zarr v2.zarr --all --to zarr2");
    for path in ["two.h5:/inner", "back.zarr:/inner", "v2.zarr:/inner"] {
        assert_eq!(folder.out(&format!("meta get {path} title")), "\"t\"\n", "{path}");
        assert_eq!(folder.out(&format!("meta get {path} n")), "3\n", "{path}");
    }
    let lost = folder.line("convert two.h5 out.npz --all");
    let warning = "not kept: the attribute \"title\" of the group \"/inner\"";
    assert!(lost.status == 0 && lost.err().contains(warning), "{}", lost.err());
}

#[test]
fn keys_that_are_no_paths_are_rejected() {
    let folder = TestDir::new();
    folder.write("a.csv", b"1\n2\n");
    folder.out("convert a.csv a.npz:/data");
    let mut bytes = folder.read("a.npz");
    for at in 0..bytes.len() - 8 {
        if &bytes[at..at + 8] == b"data.npy" {
            bytes[at..at + 8].copy_from_slice(b"../x.npy");
        }
    }
    folder.write("hostile.npz", &bytes);
    for output in ["out", "out.h5", "out.zarr", "out.npz", "out.b2d"] {
        let result = folder.line(&format!("convert hostile.npz {output} --all"));
        assert_eq!(result.status, 1, "{output}: {}", result.err());
        assert!(result.err().contains("is outside of the directory"), "{}", result.err());
        assert!(!folder.exists(output));
    }
}
