//! Dimension scales of HDF5 files, and their chunks.

use crate::common::{TestDir, ints};
use ferroblosc_formats::hdf5::{
    Attribute, DIMENSIONS, Dataset, File, LABELS, NewDataset, Scalar, Spec, attach_scales,
    dimensions,
};

/// Writes `in.zarr`: the array `g/temp` with the dimensions `time`, `y` and `x`, `g/other` with `y`
/// and `z`, and `g/time` and `y`, which are coordinates.
fn source(folder: &TestDir) {
    let arrays: [(&str, &[usize], &str); 4] = [
        ("g/temp", &[4, 3, 2], "[\"time\",\"y\",\"x\"]"),
        ("g/other", &[3, 5], "[\"y\",\"z\"]"),
        ("g/time", &[4], "[\"time\"]"),
        ("y", &[3], "[\"y\"]"),
    ];
    std::fs::create_dir_all(folder.path("in.zarr/g")).unwrap();
    folder.write("in.zarr/.zgroup", b"{\"zarr_format\":2}");
    folder.write("in.zarr/g/.zgroup", b"{\"zarr_format\":2}");
    for (key, shape, names) in arrays {
        ints(folder, "a.npy", shape, 1);
        folder.out("convert a.npy one.zarr --to zarr2 --force");
        let to = format!("in.zarr/{key}");
        std::fs::rename(folder.path("one.zarr"), folder.path(&to)).unwrap();
        let attributes = format!("{{\"_ARRAY_DIMENSIONS\":{names}}}");
        folder.write(&format!("{to}/.zattrs"), attributes.as_bytes());
    }
}

/// Returns the scales of the dimensions of a dataset, without the attribute with their names.
fn scales(folder: &TestDir, file: &str, dataset: &str) -> Vec<Option<String>> {
    let file = File::open(&folder.path(file)).unwrap();
    Dataset::open(&file, dataset).unwrap().scales().unwrap()
}

fn names(names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| Some((*name).to_owned())).collect()
}

#[test]
fn dimensions_have_scales() {
    let folder = TestDir::new();
    source(&folder);
    folder.out("convert in.zarr a.h5 --all");
    assert_eq!(scales(&folder, "a.h5", "g/temp"), names(&["time", "y", "x"]));
    assert_eq!(scales(&folder, "a.h5", "g/other"), names(&["y", "z"]));
    assert_eq!(scales(&folder, "a.h5", "g/time"), names(&["time"]));
    let file = File::open(&folder.path("a.h5")).unwrap();
    // The coordinate of the outer group is the scale; dimensions without values are created.
    assert!(file.is_scale("y").unwrap() && !file.exists("g/y").unwrap());
    assert!(file.is_bare_dimension("g/x").unwrap() && file.is_bare_dimension("g/z").unwrap());
    assert!(file.is_scale("g/time").unwrap() && !file.is_bare_dimension("g/time").unwrap());
    drop(file);
    // They are not listed, and the names are read back.
    let listed = folder.out("ls a.h5");
    assert_eq!(listed.lines().count(), 6, "{listed}");
    folder.out("convert a.h5 back.zarr --all --to zarr2");
    let get = |path: &str| folder.out(&format!("meta get {path} _ARRAY_DIMENSIONS"));
    for key in ["g/temp", "g/other", "g/time", "y"] {
        assert_eq!(get(&format!("back.zarr:/{key}")), get(&format!("in.zarr:/{key}")), "{key}");
    }
}

#[test]
fn added_and_replaced_datasets_keep_the_scales_consistent() {
    let folder = TestDir::new();
    source(&folder);
    folder.out("convert in.zarr a.h5 --all");
    ints(&folder, "x.npy", &[2], 5);
    ints(&folder, "long.npy", &[9], 5);
    // The values of a dimension that had none, without an option.
    folder.out("convert x.npy a.h5:/g/x");
    folder.out("diff x.npy a.h5:/g/x");
    assert_eq!(scales(&folder, "a.h5", "g/temp"), names(&["time", "y", "x"]));
    let is_bare =
        |name: &str| File::open(&folder.path("a.h5")).unwrap().is_bare_dimension(name).unwrap();
    assert!(!is_bare("g/x"));
    // A coordinate of the same length takes the place of the old one.
    ints(&folder, "time.npy", &[4], 50);
    folder.out("convert time.npy a.h5:/g/time --force");
    assert_eq!(scales(&folder, "a.h5", "g/temp"), names(&["time", "y", "x"]));
    // One of another length cannot be the scale.
    folder.out("convert long.npy a.h5:/g/time --force");
    folder.out("diff long.npy a.h5:/g/time");
    let expected = [None, Some("y".to_owned()), Some("x".to_owned())];
    assert_eq!(scales(&folder, "a.h5", "g/temp"), expected);
    // The label remains.
    assert_eq!(
        folder
            .out("meta get a.h5:/g/temp _ARRAY_DIMENSIONS")
            .split_whitespace()
            .collect::<String>(),
        "[\"time\",\"y\",\"x\"]"
    );
    // A replaced dataset is detached from its scales.
    folder.out("convert long.npy a.h5:/g/temp --force");
    assert_eq!(scales(&folder, "a.h5", "g/other"), names(&["y", "z"]));
    folder.out("verify a.h5");
}

#[test]
fn attributes_of_other_objects_with_the_names_of_scales_are_kept() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[3], 0);
    folder.out("convert a.npy a.zarr");
    let text = String::from_utf8(folder.read("a.zarr/zarr.json")).unwrap();
    let attributes = r#""attributes":{"CLASS":"IMAGE","NAME":"mine"}"#;
    let changed = text.replace("\"attributes\":{}", attributes);
    let changed = changed.replace("\"attributes\": {}", attributes);
    assert_ne!(changed, text);
    folder.write("a.zarr/zarr.json", changed.as_bytes());
    folder.out("convert a.zarr a.h5");
    assert_eq!(folder.out("meta get a.h5:/data CLASS"), "\"IMAGE\"\n");
    assert_eq!(folder.out("meta get a.h5:/data NAME"), "\"mine\"\n");
}

#[test]
fn a_group_is_not_replaced_by_a_dataset() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[3], 0);
    folder.out("convert a.npy a.h5:/g/x");
    let before = folder.read("a.h5");
    for (line, reason) in [
        ("convert a.npy a.h5:/g --force", "\"g\" is a group"),
        ("convert a.npy a.h5:/g/x/y --force", "\"g/x\" is not a group"),
    ] {
        let result = folder.line(line);
        assert_eq!(result.status, 1, "{line}: {}", result.err());
        assert!(result.err().contains(reason), "{line}: {}", result.err());
        assert!(folder.read("a.h5") == before, "{line}");
    }
}

#[test]
fn chunks_of_datasets_are_listed() {
    let folder = TestDir::new();
    folder.fixture("hdf5/h5py.h5");
    // One of 100 chunks is stored, compressed with gzip.
    let chunks = &folder.json("ls --chunks --json h5py.h5:/sparse")[0]["chunks"];
    assert_eq!(chunks.as_array().unwrap().len(), 1, "{chunks}");
    ints(&folder, "a.npy", &[100, 10], 1);
    for (filter, codec) in [("32026", "lz4"), ("32001", "lz4")] {
        let file = format!("a{filter}.h5");
        folder.out(&format!(
            "convert a.npy {file} --chunks 30,10 --codec lz4 --filters shuffle --hdf5-filter {filter}"
        ));
        let listed = folder.json(&format!("ls --chunks --json {file}"));
        assert_eq!(listed[0]["format"], "hdf5");
        let chunks = listed[0]["chunks"].as_array().unwrap();
        assert_eq!(chunks.len(), 4, "{listed}");
        let bytes = folder.read(&file);
        for (number, chunk) in chunks.iter().enumerate() {
            assert_eq!(chunk["number"], number, "{chunk}");
            assert_eq!((&chunk["nbytes"], &chunk["codec"]), (&1200.into(), &codec.into()));
            assert_eq!(chunk["filters"], serde_json::json!(["shuffle"]));
            // The stored chunk is at this offset: a frame, or a chunk of Blosc 1.x.
            let at = chunk["position"].as_u64().unwrap() as usize;
            let magic: &[u8] = if filter == "32026" { b"\x9e\xa8b2frame" } else { b"\x02" };
            assert!(bytes[at..].starts_with(magic), "{chunk}");
        }
    }
    folder.out("convert a.npy plain.h5 --hdf5-filter none");
    assert_eq!(folder.json("ls --chunks --json plain.h5")[0]["chunks"], serde_json::json!([]));
    let listed = folder.out("ls --chunks a32026.h5");
    assert!(listed.lines().count() == 5 && listed.contains("lz4"), "{listed}");
}

/// Creates a dataset of bytes, and returns it.
fn dataset(file: &File, path: &str, shape: &[u64]) -> NewDataset {
    let item = Scalar::Int { size: 1, is_signed: true, is_big: false }.into();
    let shape = shape.to_vec();
    NewDataset::create(file, path, Spec { item, shape, chunks: None, filter: None, fill: None })
        .unwrap()
}

/// Returns an attribute with a list of texts.
fn texts(texts: &[&[u8]]) -> Attribute {
    let list = texts.iter().map(|text| text.to_vec()).collect();
    Attribute::Texts(Some(vec![texts.len() as u64]), list)
}

#[test]
fn complete_labels_are_the_names_of_dimensions_without_scales() {
    let folder = TestDir::new();
    let file = File::create(&folder.path("a.h5")).unwrap();
    let all: [(&str, &[&[u8]]); 4] = [
        ("all", &[b"y", b"x"]),
        ("one", &[b"y", b""]),
        ("more", &[b"z", b"y", b"x"]),
        ("latin", &[b"y", b"\xe9"]),
    ];
    for (name, labels) in all {
        dataset(&file, name, &[2, 3]).set_attribute(LABELS, &texts(labels)).unwrap();
    }
    dataset(&file, "none", &[2, 3]);
    let of = |name: &str| dimensions(&Dataset::open(&file, name).unwrap()).unwrap();
    assert_eq!(of("all"), ["y", "x"]);
    for name in ["one", "more", "latin", "none"] {
        assert!(of(name).is_empty(), "{name}");
    }
}

#[test]
fn dimensions_whose_names_cannot_be_those_of_scales_have_none() {
    let folder = TestDir::new();
    let file = File::create(&folder.path("a.h5")).unwrap();
    drop(file.create_group("g/group").unwrap());
    dataset(&file, "g/short", &[1]);
    dataset(&file, "g/table", &[2, 3]);
    let none = || vec![None, None];
    type Row<'a> = (&'a str, &'a [&'a [u8]], Vec<Option<String>>);
    let rows: [Row<'_>; 7] = [
        ("paths", &[b".", b"a/b"], none()),
        ("empty", &[b"", b"\xe9"], none()),
        ("more", &[b"a", b"b", b"c"], none()),
        ("own", &[b"own", b"group"], none()),
        ("taken", &[b"short", b"table"], none()),
        ("new", &[b"y", b"x"], names(&["y", "x"])),
        ("again", &[b"y", b"y"], vec![Some("y".to_owned()), None]),
    ];
    for (name, dimensions, expected) in rows {
        let path = format!("g/{name}");
        dataset(&file, &path, &[2, 3]).set_attribute(DIMENSIONS, &texts(dimensions)).unwrap();
        attach_scales(&file, &path).unwrap();
        assert_eq!(Dataset::open(&file, &path).unwrap().scales().unwrap(), expected, "{name}");
    }
    // A coordinate is the scale of its own dimension, and can be that of others.
    let scale = dataset(&file, "g/scale", &[2]);
    scale.set_attribute(DIMENSIONS, &texts(&[b"scale"])).unwrap();
    drop(scale);
    attach_scales(&file, "g/scale").unwrap();
    assert_eq!(file.is_scale("g/scale"), Ok(true));
    assert!(file.attach_scale("g/new", 2, "g/scale").is_err());
    assert!(file.attach_scale("g/missing", 0, "g/scale").is_err());
    file.attach_scale("g/new", 0, "g/scale").unwrap();
    file.attach_scale("g/new", 0, "g/scale").unwrap();
    // The scales and the datasets that are removed are detached on both sides.
    let detached = file.unlink_dataset("g/y").unwrap();
    let of_y = [("g/new".to_owned(), 0), ("g/again".to_owned(), 0)];
    assert_eq!(detached, of_y);
    assert_eq!(Dataset::open(&file, "g/new").unwrap().scales().unwrap(), names(&["scale", "x"]));
    assert!(file.unlink_dataset("g/new").unwrap().is_empty());
    assert_eq!(file.unlink_dataset("g/scale"), Ok(Vec::new()));
    file.close().unwrap();
}
