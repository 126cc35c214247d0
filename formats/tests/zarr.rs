//! Zarr arrays: fixtures of zarr-python 2 and 3, copied chunks, and hostile data.

#![cfg(feature = "zarr")]

use std::fs;
use std::path::{Path, PathBuf};

use ferroblosc_formats::convert::{
    self, Converted, Destination, Reading, SourceOptions, Writing, detect,
};
use ferroblosc_formats::zarr::{self, Version};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/zarr").join(name)
}

fn convert(input: &Path, output: &Path, destination: Destination) -> convert::Result<Converted> {
    convert::convert(
        (input, &detect(input)?),
        (output, destination),
        (&Reading::default(), &SourceOptions::default()),
        &Writing::default(),
        &mut |_| {},
    )
}

const B2ND: Destination = Destination::B2nd { directory: false };
const V2: Destination = Destination::Zarr { version: Version::V2, is_zip: false };
const V3_ZIP: Destination = Destination::Zarr { version: Version::V3, is_zip: true };

/// Returns the dtype, the shape and all items.
fn items(path: &Path) -> convert::Result<(String, Vec<u64>, Vec<u8>)> {
    let mut source = convert::open(path, &Reading::default())?;
    let info = source.content().array.clone().unwrap();
    let mut items = vec![0; source.content().nbytes as usize];
    source.read(0, &mut items)?;
    Ok((info.dtype.text().to_owned(), info.shape, items))
}

fn copy_tree(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy_tree(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Returns the numbers from 0 to 34 in five rows of seven. Only the first `rows` are stored; the
/// others contain the fill value.
fn expected(rows: i32, fill: i32, bytes: impl Fn(i32) -> Vec<u8>) -> Vec<u8> {
    (0..35).flat_map(|item| bytes(if item < rows * 7 { item } else { fill })).collect()
}

#[test]
fn arrays_of_zarr_python_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let le = |item: i32| item.to_le_bytes().to_vec();
    let floats = |item: i32| {
        let number = if item < 0 { f32::NAN } else { item as f32 };
        number.to_be_bytes().to_vec()
    };
    let small = expected(5, 0, le);
    let large: Vec<u8> = (0..6000).flat_map(i32::to_le_bytes).collect();
    for (name, dtype, items_of) in [
        (
            "two.zarr:/inner/fortran",
            ">i2",
            expected(4, -7, |item| (item as i16).to_be_bytes().to_vec()),
        ),
        ("two.zarr:/blosc", "<i4", large.clone()),
        ("codecs.zarr.zip:/lz4", "<i4", small.clone()),
        ("codecs.zarr.zip:/gzip", "<i4", small.clone()),
        ("codecs.zarr.zip:/zstd", "<i4", small.clone()),
        ("codecs.zarr.zip:/none", "<i4", small.clone()),
        ("three.zarr:/transposed", ">f4", expected(4, -1, floats)),
        ("three.zarr:/sharded", "<i4", expected(2, 3, le)),
        ("three.zarr:/blosc", "<i4", large),
        ("start.zarr", "<i4", small),
    ] {
        let path = fixture(name);
        let shape = if items_of.len() == 24_000 { vec![60, 100] } else { vec![5, 7] };
        let read = items(&path).unwrap();
        assert_eq!((read.0.as_str(), &read.1), (dtype, &shape), "{name}");
        assert!(read.2 == items_of, "{name}");
        let verified = convert::verify(&path, &detect(&path).unwrap(), &Reading::default());
        assert!(verified.unwrap().is_intact(), "{name}");
        // To b2nd, to both versions, and back.
        let array = folder.path().join("a.b2nd");
        convert(&path, &array, B2ND).unwrap();
        assert!(items(&array).unwrap() == read, "{name}");
        for destination in [V2, V3_ZIP] {
            for source in [&path, &array] {
                let made = folder.path().join("made");
                convert(source, &made, destination).unwrap();
                assert!(items(&made).unwrap() == read, "{name} {destination:?}");
                let back = folder.path().join("back.b2nd");
                convert(&made, &back, B2ND).unwrap();
                assert!(items(&back).unwrap() == read, "{name} {destination:?}");
                fs::remove_file(&back).unwrap();
                if made.is_dir() { fs::remove_dir_all(&made) } else { fs::remove_file(&made) }
                    .unwrap();
            }
        }
        fs::remove_file(&array).unwrap();
    }
}

#[test]
fn chunks_of_blosc_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("a.b2nd");
    for (name, count) in
        [("two.zarr:/blosc", 3), ("three.zarr:/blosc", 3), ("codecs.zarr.zip:/zstd", 0)]
    {
        let converted = convert(&fixture(name), &array, B2ND).unwrap();
        assert_eq!((converted.copied_chunks, converted.is_direct), (count, count > 0), "{name}");
        let made = folder.path().join("made.zarr");
        let converted = convert(&array, &made, V2).unwrap();
        assert_eq!(converted.lost, Vec::<String>::new());
        if count > 0 {
            assert_eq!(converted.copied_chunks, count, "{name}");
            let Some(chunk) = ["0/0", "0.0"]
                .map(|key| {
                    let path = fixture(name).to_str().unwrap().replace(":/", "/");
                    let prefix = if name.starts_with("three") { "c/" } else { "" };
                    fs::read(Path::new(&path).join(format!("{prefix}{key}"))).ok()
                })
                .into_iter()
                .flatten()
                .next()
            else {
                panic!("{name}");
            };
            assert!(fs::read(made.join("0.0")).unwrap() == chunk, "{name}");
        }
        fs::remove_dir_all(&made).unwrap();
        fs::remove_file(&array).unwrap();
    }
}

#[test]
fn attributes_names_of_dimensions_and_fill_values_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("a.b2nd");
    convert(&fixture("two.zarr:/inner/fortran"), &array, B2ND).unwrap();
    let three = folder.path().join("three.zarr");
    convert(&array, &three, Destination::Zarr { version: Version::V3, is_zip: false }).unwrap();
    let text = fs::read_to_string(three.join("zarr.json")).unwrap();
    for part in [
        r#""dimension_names":["y","x"]"#,
        r#""attributes":{"units":"K"}"#,
        r#""fill_value":-7"#,
        r#""endian":"big""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let two = folder.path().join("two.zarr");
    convert(&fixture("three.zarr:/transposed"), &two, V2).unwrap();
    let text = fs::read_to_string(two.join(".zattrs")).unwrap();
    assert_eq!(text, r#"{"k":[1,NaN],"_ARRAY_DIMENSIONS":["y",null]}"#);
    let text = fs::read_to_string(two.join(".zarray")).unwrap();
    assert!(text.contains(r#""fill_value":"NaN""#), "{text}");
    // The last row has only missing items, and is not written.
    assert!(two.join("1.1").exists() && !two.join("2.0").exists());
}

#[test]
fn groups_list_their_arrays() {
    let arrays = |name: &str, node: &str| zarr::arrays_in(&fixture(name), node).unwrap();
    assert_eq!(arrays("two.zarr", ""), ["blosc", "inner/fortran"]);
    assert_eq!(arrays("two.zarr", "inner"), ["inner/fortran"]);
    assert_eq!(arrays("codecs.zarr.zip", ""), ["gzip", "lz4", "none", "zstd"]);
    assert_eq!(arrays("three.zarr", "sharded"), ["sharded"]);
    // The only array of a group needs no name.
    assert!(items(&fixture("two.zarr:/inner")).is_ok());
    let error = items(&fixture("two.zarr")).unwrap_err().to_string();
    assert_eq!(error, r#"there are 2 arrays: "blosc", "inner/fortran""#);
    let attrs = zarr::attributes(&fixture("two.zarr"), "").unwrap();
    assert_eq!(attrs[0].0, "title");
}

/// Some programs, such as TensorStore, write no metadata for the groups above an array.
#[test]
fn arrays_below_directories_without_metadata_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("group.zarr");
    copy_tree(&fixture("two.zarr"), &group);
    copy_tree(&fixture("start.zarr"), &group.join("x/y/z"));
    fs::create_dir_all(group.join("x/notes")).unwrap();
    // A directory of chunks contains no arrays.
    copy_tree(&fixture("start.zarr"), &group.join("x/y/z/c/0/a"));
    assert_eq!(zarr::arrays_in(&group, "").unwrap(), ["blosc", "inner/fortran", "x/y/z"]);
    assert_eq!(zarr::groups_in(&group, "").unwrap(), ["", "inner"]);
    let verified = convert::verify(&group, &detect(&group).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_intact(), "{:?}", verified.faults);
}

/// Copies `start.zarr`, replaces text in its metadata, and returns the error of converting it.
fn error_of(from: &str, to: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    copy_tree(&fixture("start.zarr"), &path);
    let file = path.join("zarr.json");
    let text: String = fs::read_to_string(&file).unwrap().split_whitespace().collect();
    assert!(text.contains(from), "{from} in {text}");
    fs::write(&file, text.replace(from, to)).unwrap();
    let output = folder.path().join("a.b2nd");
    convert(&path, &output, B2ND).unwrap_err().to_string()
}

#[test]
fn hostile_metadata_are_rejected() {
    let mut failed = Vec::new();
    let shape = r#""shape":[5,7]"#;
    for (from, to, expected) in [
        (shape, r#""shape":[5]"#, "different numbers of dimensions"),
        (shape, r#""shape":[5,-7]"#, "not a list of lengths"),
        (shape, r#""shape":[1000000000000000,7]"#, "more than 16777216 chunks"),
        (
            shape,
            r#""shape":[18446744073709551615,18446744073709551615]"#,
            "more than 16777216 chunks",
        ),
        (r#""chunk_shape":[4,8]"#, r#""chunk_shape":[4,7]"#, "the chunks do not divide the shard"),
        (r#""chunk_shape":[4,8]"#, r#""chunk_shape":[0,8]"#, "a shard has no items"),
        (
            r#""chunk_shape":[4,8]"#,
            r#""chunk_shape":[4000000000,8000000000]"#,
            "a shard of more than",
        ),
        (r#""chunk_shape":[2,4]"#, r#""chunk_shape":[0,0]"#, "the chunks do not divide the shard"),
        (r#""int32""#, r#""int31""#, "the data type \"int31\" is not supported"),
        (r#""int32""#, r#""string""#, "the data type \"string\" is not supported"),
        (r#""fill_value":0"#, r#""fill_value":"x""#, "does not fit the dtype"),
        (r#""fill_value":0"#, r#""fill_value":5000000000"#, "does not fit the dtype"),
        (r#""regular""#, r#""rectangular""#, "the chunk grid \"rectangular\" is not supported"),
        (r#""crc32c""#, r#""zstd""#, "a compressed index of a shard is not supported"),
        (r#""blosc""#, r#""pcodec""#, "the codec \"pcodec\" is not supported"),
        (r#""start""#, r#""middle""#, "neither at the start nor at the end"),
        (r#""zarr_format":3"#, r#""zarr_format":4"#, "this version of the format is not supported"),
        (r#""node_type":"array""#, r#""node_type":"x""#, "the node type is unknown"),
        (
            r#""node_type":"array""#,
            r#""node_type":"array","cast":{"name":"x"}"#,
            "the extension \"cast\" is not supported",
        ),
        (
            r#""node_type":"array""#,
            r#""node_type":"array","cast":{"must_understand":true}"#,
            "the extension \"cast\" is not supported",
        ),
        (r#""attributes":{}"#, r#""attributes":[1]"#, "\"attributes\" is not an object"),
        (
            r#""int32""#,
            r#"{"name":"raw_bytes","configuration":{"length_bytes":16777217}}"#,
            "an item of more than 16777216 bytes is not supported",
        ),
        (r#""endian":"little""#, r#""endian":"middle""#, "neither \"little\" nor \"big\""),
        (r#""index_codecs":["#, r#""index_codecs":["transpose","#, "each dimension once"),
        (r#""index_codecs":["#, r#""index_codecs":["vlen-utf8","#, "\"vlen-utf8\" before"),
        (r#""index_codecs":["#, r#""index_codecs":[7,"#, "the codec has no name"),
        (r#""codecs":[{"name":"bytes""#, r#""codecs":[{"name":"crc32c""#, "\"crc32c\" before"),
        (r#"{"name":"sharding_indexed""#, r#"{"name":"x""#, "the codec \"x\" before"),
        (r#""shape":[5,7],"#, "", "there is no \"shape\""),
        (r#""storage_transformers":[]"#, r#""storage_transformers":[{}]"#, "a storage transformer"),
        (r#""name":"default""#, r#""name":"other""#, "the key encoding \"other\""),
        (
            r#""index_location":"start"}}]"#,
            r#""index_location":"start"}},"crc32c"]"#,
            "a codec of whole shards is not supported",
        ),
        (r#""separator":"/""#, r#""separator":"/../""#, "neither \".\" nor \"/\""),
        ("{", "[", "zarr.json: "),
        (shape, &format!("\"shape\":{}", "[".repeat(5000)), "zarr.json: "),
    ] {
        let error = error_of(from, to);
        if !error.contains(expected) {
            failed.push(format!("{from} {to}: {error}"));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

#[test]
fn damaged_chunks_and_indexes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("a.b2nd");
    for (name, node, file) in [
        ("start.zarr", "", "c/0/0"),
        ("three.zarr", ":/sharded", "sharded/c/0/0"),
        ("three.zarr", ":/transposed", "transposed/c/0/0"),
        ("two.zarr", ":/blosc", "blosc/0.0"),
        ("two.zarr", ":/inner/fortran", "inner/fortran/0/0"),
    ] {
        let path = folder.path().join("damaged.zarr");
        copy_tree(&fixture(name), &path);
        let file = path.join(file);
        let bytes = fs::read(&file).unwrap();
        let target = PathBuf::from(format!("{}{node}", path.display()));
        let found = detect(&target).unwrap();
        // Truncated files never convert; changed bytes convert or fail, and never panic.
        let lengths = [0, 1, 3, 4, 15, 16, 17, bytes.len() / 2, bytes.len() - 1];
        for len in lengths.into_iter().filter(|&len| len < bytes.len()) {
            fs::write(&file, &bytes[..len]).unwrap();
            let error = convert(&target, &output, B2ND).unwrap_err();
            assert!(error.is_corruption(), "{name}{node} {len}: {error}");
            let verified = convert::verify(&target, &found, &Reading::default()).unwrap();
            assert!(verified.is_damaged(), "{name}{node} {len}");
            let _ = fs::remove_file(&output);
        }
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            fs::write(&file, changed).unwrap();
            let _ = convert(&target, &output, B2ND);
            let _ = convert::verify(&target, &found, &Reading::default()).unwrap();
            let _ = fs::remove_file(&output);
        }
        fs::remove_dir_all(&path).unwrap();
    }
}

/// A frame can have checksums, and so can a zip file. Neither must certify damaged data.
#[test]
fn damaged_chunks_are_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (array, made) = (folder.path().join("a.b2nd"), folder.path().join("made.zarr"));
    convert(&fixture("two.zarr:/blosc"), &array, B2ND).unwrap();
    let path = folder.path().join("damaged.zarr");
    copy_tree(&fixture("two.zarr"), &path);
    let file = path.join("blosc/0.0");
    let mut chunk = fs::read(&file).unwrap();
    let first = u32::from_le_bytes(chunk[16..20].try_into().unwrap()) as usize;
    let block = chunk[first..].to_vec();
    // The number of literals at the start of the first stream, after its size.
    chunk[first + 4..first + 12].fill(0xff);
    fs::write(&file, chunk).unwrap();
    let target = PathBuf::from(format!("{}:/blosc", path.display()));
    let error = convert(&target, &folder.path().join("b.b2nd"), B2ND).unwrap_err();
    assert!(error.is_corruption(), "{error}");
    let mut bytes = fs::read(&array).unwrap();
    let at = bytes.windows(block.len()).position(|bytes| bytes == block).unwrap();
    bytes[at + 4..at + 12].fill(0xff);
    fs::write(&array, bytes).unwrap();
    let error = convert(&array, &made, V2).unwrap_err();
    assert!(error.is_corruption(), "{error}");
}

#[test]
fn offsets_in_a_shard_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    copy_tree(&fixture("start.zarr"), &path);
    let file = path.join("c/0/0");
    let bytes = fs::read(&file).unwrap();
    // The index of four chunks, and its checksum.
    for (offset, len) in [
        (u64::MAX - 1, 10),
        (0, u64::MAX - 1),
        (u64::MAX, 10),
        (0, 1 << 40),
        (bytes.len() as u64, 1),
    ] {
        let mut changed = bytes.clone();
        changed[..8].copy_from_slice(&offset.to_le_bytes());
        changed[8..16].copy_from_slice(&len.to_le_bytes());
        let crc = crc32c::crc32c(&changed[..64]);
        changed[64..68].copy_from_slice(&crc.to_le_bytes());
        fs::write(&file, changed).unwrap();
        let error = items(&path).unwrap_err();
        assert!(error.is_corruption(), "{offset} {len}: {error}");
    }
}

#[test]
fn links_out_of_the_directory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    copy_tree(&fixture("two.zarr"), &path);
    let secret = folder.path().join("secret");
    let chunk = path.join("blosc/1.0");
    fs::rename(&chunk, &secret).unwrap();
    let target = PathBuf::from(format!("{}:/blosc", path.display()));
    for to in [secret.as_path(), Path::new("../../secret"), Path::new("nothing")] {
        std::os::unix::fs::symlink(to, &chunk).unwrap();
        let error = items(&target).unwrap_err().to_string();
        assert!(error.contains("blosc/1.0' is outside of the directory, or missing"), "{error}");
        fs::remove_file(&chunk).unwrap();
    }
    // A link in the directory is valid.
    fs::rename(&secret, path.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", &chunk).unwrap();
    assert!(items(&target).is_ok());
    for node in ["../a.zarr/blosc", "blosc/../blosc", "/blosc", "blosc//x", "."] {
        let error = zarr::Array::open(&path, node).err().unwrap();
        assert!(matches!(error, zarr::Error::NotFound(_)), "{node}: {error}");
    }
}

#[test]
fn arrays_are_written_below_groups() {
    let folder = tempfile::tempdir().unwrap();
    for (destination, groups) in [(V2, ".zgroup"), (V3_ZIP, "zarr.json")] {
        let path = folder.path().join("a");
        let input = fixture("start.zarr");
        let mut writing = Writing::default();
        writing.name = Some("x/y/z".to_owned());
        convert::convert(
            (&input, &detect(&input).unwrap()),
            (&path, destination),
            (&Reading::default(), &SourceOptions::default()),
            &writing,
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(zarr::arrays_in(&path, "").unwrap(), ["x/y/z"]);
        assert!(!path.is_dir() || path.join("x/y").join(groups).is_file());
        let target = PathBuf::from(format!("{}:/x/y/z", path.display()));
        assert!(items(&target).unwrap() == items(&input).unwrap());
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
    }
}

/// The metadata of an array must not be replaced by those of a group.
#[test]
fn arrays_are_not_written_below_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (fixture("two.zarr:/blosc"), folder.path().join("made.zarr"));
    let at = |node: &str| PathBuf::from(format!("{}:/{node}", output.display()));
    for destination in [V2, Destination::Zarr { version: Version::V3, is_zip: false }] {
        let write = |node: &str| {
            let mut writing = Writing::default();
            writing.name = Some(node.to_owned());
            convert::convert(
                (&input, &detect(&input).unwrap()),
                (&output, destination),
                (&Reading::default(), &SourceOptions::default()),
                &writing,
                &mut |_| {},
            )
        };
        write("g/a").unwrap();
        let before = items(&at("g/a")).unwrap();
        for node in ["g/a/b", "g/a/b/c", "g/a", "g"] {
            assert!(write(node).is_err(), "{node}");
        }
        write("g/b").unwrap();
        assert!(items(&at("g/a")).unwrap() == before);
        assert!(items(&at("g/b")).unwrap() == before);
        fs::remove_dir_all(&output).unwrap();
    }
}

#[test]
fn changed_bytes_of_metadata_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("a.b2nd");
    for (name, node, file) in [
        ("start.zarr", "", "zarr.json"),
        ("three.zarr", ":/transposed", "transposed/zarr.json"),
        ("two.zarr", ":/inner/fortran", "inner/fortran/.zarray"),
        ("two.zarr", ":/inner/fortran", "inner/fortran/.zattrs"),
    ] {
        let path = folder.path().join("changed.zarr");
        copy_tree(&fixture(name), &path);
        let file = path.join(file);
        let text = fs::read_to_string(&file).unwrap();
        // Without the white space, so that most changes matter.
        let bytes: Vec<u8> = text.split_whitespace().collect::<String>().into_bytes();
        let target = PathBuf::from(format!("{}{node}", path.display()));
        let mut failures = 0;
        for at in 0..bytes.len() {
            for byte in [b'9', b'"', b'-'] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                fs::write(&file, changed).unwrap();
                failures += usize::from(convert(&target, &output, B2ND).is_err());
                let _ = fs::remove_file(&output);
            }
        }
        assert!(failures > bytes.len(), "{name}{node}");
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn names_that_lead_out_of_the_output_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let input = fixture("start.zarr");
    let outside = folder.path().join("outside");
    for destination in [V2, V3_ZIP, Destination::Npz] {
        for name in ["../outside", outside.to_str().unwrap(), "a//b", "a/./b", "a/", ".", "/"] {
            let path = folder.path().join("a");
            let mut writing = Writing::default();
            writing.name = Some(name.to_owned());
            let made = convert::convert(
                (&input, &detect(&input).unwrap()),
                (&path, destination),
                (&Reading::default(), &SourceOptions::default()),
                &writing,
                &mut |_| {},
            );
            let error = made.unwrap_err();
            let expected = format!("the name {name:?} is not a path in the output");
            assert_eq!(error.to_string(), expected, "{destination:?}");
            assert_eq!(error.code(), ferroblosc::Error::InvalidParam);
            assert!(!path.exists() && !outside.exists(), "{destination:?} {name}");
        }
    }
}

#[test]
fn odd_nodes_do_not_make_a_group_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    // A link out of the directory.
    let group = folder.path().join("group.zarr");
    copy_tree(&fixture("two.zarr"), &group);
    let file = group.join("inner/fortran/.zarray");
    let secret = folder.path().join("secret");
    fs::rename(&file, &secret).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    assert_eq!(zarr::arrays_in(&group, "").unwrap(), ["blosc", "inner/fortran"]);
    let summary = convert::summarise(&group, &detect(&group).unwrap()).unwrap();
    assert!(summary.columns[0].1.fault.is_none());
    let fault = summary.columns[1].1.fault.clone().unwrap();
    assert!(fault.contains("is outside of the directory"), "{fault}");
    let verified = convert::verify(&group, &detect(&group).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_damaged());
    // Members of zip files.
    let zip = folder.path().join("a.zarr.zip");
    let input = fixture("start.zarr");
    let mut writing = Writing::default();
    writing.name = Some("ab/c".to_owned());
    convert::convert(
        (&input, &detect(&input).unwrap()),
        (&zip, V3_ZIP),
        (&Reading::default(), &SourceOptions::default()),
        &writing,
        &mut |_| {},
    )
    .unwrap();
    let bytes = fs::read(&zip).unwrap();
    for (from, to, expected, is_damaged) in [
        ("ab/zarr.json", "../zarr.json", vec!["ab/c"], false),
        ("ab/zarr.json", "a//zarr.json", vec!["ab/c"], false),
        // The CRC of the metadata is wrong then.
        (r#""node_type":"array""#, r#""node_type":"arraz""#, vec!["ab/c"], true),
        (r#""node_type":"group""#, r#""node_type":"arraz""#, vec!["ab", "ab/c"], true),
    ] {
        let mut changed = bytes.clone();
        let found = |at: &usize| bytes[*at..].starts_with(from.as_bytes());
        let mut places: Vec<usize> = (0..bytes.len()).filter(found).collect();
        // Not the group at the root.
        if from.contains("group") {
            places.remove(0);
        }
        assert!(!places.is_empty(), "{from}");
        for at in places {
            changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        fs::write(&zip, changed).unwrap();
        assert_eq!(zarr::arrays_in(&zip, "").unwrap(), expected, "{to}");
        let verified = convert::verify(&zip, &detect(&zip).unwrap(), &Reading::default());
        assert_eq!(verified.unwrap().is_damaged(), is_damaged, "{to}");
    }
}

#[test]
fn an_empty_array_with_large_dimensions_has_no_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    fs::create_dir(&path).unwrap();
    let shape = [1 << 40, 1 << 40, 0];
    let metadata = format!(
        r#"{{"zarr_format":2,"shape":{shape:?},"chunks":[1,1,1],"dtype":"<i4","fill_value":0,
            "order":"C","compressor":null,"filters":null}}"#
    );
    fs::write(path.join(".zarray"), metadata).unwrap();
    let array = zarr::Array::open(&path, "").unwrap();
    assert_eq!(array.nchunks(), 0);
    let verified = convert::verify(&path, &detect(&path).unwrap(), &Reading::default());
    assert!(verified.unwrap().is_intact());
    for chunks in [None, Some(vec![1, 1, 1])] {
        let output = folder.path().join("out.zarr");
        let mut writing = Writing::default();
        writing.chunks = chunks;
        convert::convert(
            (&path, &detect(&path).unwrap()),
            (&output, V2),
            (&Reading::default(), &SourceOptions::default()),
            &writing,
            &mut |_| {},
        )
        .unwrap();
        assert_eq!(zarr::Array::open(&output, "").unwrap().metadata().shape, shape);
        fs::remove_dir_all(&output).unwrap();
    }
}

/// Writes `.zarray` or `zarr.json` of an array without chunks.
fn write_metadata(path: &Path, metadata: &str) {
    fs::create_dir_all(path).unwrap();
    let name = if metadata.contains("data_type") { "zarr.json" } else { ".zarray" };
    fs::write(path.join(name), metadata).unwrap();
}

/// Returns the metadata of an array of version 3 with one chunk of three items.
fn v3(data_type: &str, fill_value: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[3],"data_type":{data_type},
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[3]}}}},
            "chunk_key_encoding":"default","fill_value":{fill_value},
            "codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}}]{more}}}"#
    )
}

/// Returns the metadata of an array of version 2 with one chunk of three items.
fn v2(dtype: &str, fill_value: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":2,"shape":[3],"chunks":[3],"dtype":{dtype},"order":"C",
            "compressor":null,"filters":null,"fill_value":{fill_value}{more}}}"#
    )
}

#[test]
fn extensions_that_may_be_ignored_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    let more = r#","x":{"must_understand":false,"y":1},"z":null,"attributes":null"#;
    write_metadata(&path, &v3("\"int32\"", "5", more));
    assert_eq!(items(&path).unwrap().2, [5, 0, 0, 0].repeat(3));
}

/// A conversion keeps the bytes of missing chunks, and the fill value in the metadata.
#[test]
fn fill_values_of_all_dtypes_survive_conversions() {
    let folder = tempfile::tempdir().unwrap();
    let record =
        r#"{"name":"structured","configuration":{"fields":[["a","int16"],["b","float32"]]}}"#;
    let of_struct = r#"{"name":"struct","configuration":{"fields":[
        {"name":"a","data_type":"int16"},{"name":"b","data_type":"float32"}]}}"#;
    let fixed = |name: &str, len: u32| {
        format!(r#"{{"name":"{name}","configuration":{{"length_bytes":{len}}}}}"#)
    };
    let time = |name: &str, unit: &str| {
        format!(r#"{{"name":"numpy.{name}","configuration":{{"unit":"{unit}","scale_factor":1}}}}"#)
    };
    let item = [7, 0, 0, 0, 128, 255];
    // Metadata, the item, and the fill value in version 3 after conversions.
    let cases: Vec<(String, Vec<u8>, &str)> = vec![
        // R's missing number is a signalling NaN with a payload.
        (
            v3("\"float64\"", "\"0x7ff00000000007a2\"", ""),
            0x7ff0_0000_0000_07a2_u64.to_le_bytes().to_vec(),
            "\"0x7ff00000000007a2\"",
        ),
        (
            v3("\"float32\"", "\"0xffc00001\"", ""),
            0xffc0_0001_u32.to_le_bytes().to_vec(),
            "\"0xffc00001\"",
        ),
        (v3("\"float16\"", "\"NaN\"", ""), vec![0, 0x7e], "\"NaN\""),
        (
            v3("\"complex64\"", "[\"-Infinity\",\"0x7fc00001\"]", ""),
            vec![0, 0, 128, 255, 1, 0, 192, 127],
            "[\"-Infinity\",\"0x7fc00001\"]",
        ),
        (v3(record, "\"BwAAAID/\"", ""), item.to_vec(), "\"BwAAAID/\""),
        (v3(of_struct, r#"{"a":7,"b":"-Infinity"}"#, ""), item.to_vec(), "\"BwAAAID/\""),
        (v2(r#"[["a","<i2"],["b","<f4"]]"#, "\"BwAAAID/\"", ""), item.to_vec(), "\"BwAAAID/\""),
        (v3(&fixed("null_terminated_bytes", 3), "\"6QA=\"", ""), vec![0xe9, 0, 0], "\"6QAA\""),
        (v2("\"|S3\"", "\"6QA=\"", ""), vec![0xe9, 0, 0], "\"6QAA\""),
        (v3("\"r16\"", "[0,9]", ""), vec![0, 9], "\"AAk=\""),
        (v3(&fixed("raw_bytes", 2), "\"AAk=\"", ""), vec![0, 9], "\"AAk=\""),
        (
            v3(&fixed("fixed_length_utf32", 8), "\"\u{1f600}\"", ""),
            vec![0, 0xf6, 1, 0, 0, 0, 0, 0],
            "\"\\ud83d\\ude00\"",
        ),
        (v2("\">U1\"", "\"x\"", ""), vec![0, 0, 0, b'x'], "\"x\""),
        (
            v3(&time("datetime64", "us"), "\"NaT\"", ""),
            i64::MIN.to_le_bytes().to_vec(),
            "-9223372036854775808",
        ),
        (v2("\">m8[ns]\"", "5", ""), 5_i64.to_be_bytes().to_vec(), "5"),
        (v3(&time("timedelta64", "\u{3bc}s"), "-2", ""), (-2_i64).to_le_bytes().to_vec(), "-2"),
        (v3("\"bool\"", "true", ""), vec![1], "true"),
        (v2("\">f8\"", "-0.0", ""), (-0.0_f64).to_be_bytes().to_vec(), "-0.0"),
        (
            v2("\"<u8\"", "1.8e19", ""),
            18_000_000_000_000_000_000_u64.to_le_bytes().to_vec(),
            "18000000000000000000",
        ),
    ];
    let v3_directory = Destination::Zarr { version: Version::V3, is_zip: false };
    for (number, (metadata, item, shown)) in cases.into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.zarr"));
        write_metadata(&path, &metadata);
        let read = items(&path).unwrap_or_else(|error| panic!("{metadata}: {error}"));
        assert_eq!(read.2, item.repeat(3), "{metadata}");
        let (old, new) = (folder.path().join("old.zarr"), folder.path().join("new.zarr"));
        let array = folder.path().join("a.b2nd");
        let converted = convert(&path, &new, v3_directory).unwrap();
        assert_eq!(converted.lost, Vec::<String>::new(), "{metadata}");
        assert!(items(&new).unwrap() == read, "{metadata}");
        let text = fs::read_to_string(new.join("zarr.json")).unwrap();
        assert!(text.contains(&format!("\"fill_value\":{shown},")), "{shown} in {text}");
        fs::remove_dir_all(&new).unwrap();
        convert(&path, &array, B2ND).unwrap();
        assert!(items(&array).unwrap() == read, "{metadata}");
        // Version 2 may lack a form of the fill value, but the items remain.
        convert(&array, &old, V2).unwrap();
        assert!(items(&old).unwrap() == read, "{metadata}");
        convert(&array, &new, v3_directory).unwrap();
        assert!(items(&new).unwrap() == read, "{metadata}");
        for made in [old, new] {
            fs::remove_dir_all(made).unwrap();
        }
        fs::remove_file(array).unwrap();
    }
}

/// Legal metadata that this library does not support: the error names the cause.
#[test]
fn unsupported_metadata_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let filters = |filters: &str| v2("\"<i4\"", "0", "").replace("\"filters\":null", filters);
    for (metadata, expected) in [
        (v2("\"|O\"", "0", ""), "the dtype \"|O\" is not supported"),
        (v2("\"<f4x\"", "0", ""), "the dtype \"<f4x\" is not supported"),
        (v2(r#"[["a","|O"],["b","<f4"]]"#, "0", ""), r#"the dtype [["a","|O"],["b","<f4"]]"#),
        (v2(r#"[[["t","a"],"<i4"]]"#, "0", ""), r#"the dtype [[["t","a"],"<i4"]]"#),
        (v2("\"|S0\"", "0", ""), "the dtype \"|S0\" is not supported"),
        (filters(r#""filters":[{"id":"delta","dtype":"<i4"}]"#), "the codec \"delta\""),
        (filters(r#""filters":[{"id":"vlen-utf8"}]"#), "the codec \"vlen-utf8\""),
        (filters(r#""filters":[{"id":"crc32c","location":"start"}]"#), "the codec \"crc32c\""),
        (filters(r#""filters":{}"#), "\"filters\" is not a list"),
        (filters(r#""filters":[{}]"#), "a codec has no name"),
        (
            filters(&format!(r#""filters":[{}]"#, vec![r#"{"id":"zlib"}"#; 17].join(","))),
            "a list of more than 16 codecs is not supported",
        ),
        (v2("\"<i4\"", "0", r#","dimension_separator":":""#), "neither \".\" nor \"/\""),
        (v2("\"<i4\"", "0", "").replace("\"C\"", "\"A\""), "neither \"C\" nor \"F\""),
        (v2("\"<i4\"", "2.5", ""), "the fill value 2.5 does not fit the dtype"),
        (v2("\"<i4\"", "\"x\"", ""), "the fill value \"x\" does not fit the dtype"),
        (v2("\"<f4\"", "\"0x7fc0\"", ""), "the fill value \"0x7fc0\" does not fit the dtype"),
        (v2("\"<c8\"", "[1,2,3]", ""), "the fill value [1,2,3] does not fit the dtype"),
        (v2("\"|S2\"", "\"!\"", ""), "the fill value \"!\" does not fit the dtype"),
        (v2("\"|S2\"", "7", ""), "the fill value 7 does not fit the dtype"),
        (v2("\"<i4\"", "0", "").replace("format\":2", "format\":1"), "this version of the format"),
        (
            v2("\"<i4\"", "0", "").replace("[3]", "[0]").replacen("[0]", "[3]", 1),
            "a chunk has no items",
        ),
        (v2("\"<i4\"", "0", "").replace("[3]", "[9000000000000000000]"), "a chunk of more than"),
        (v3("\"string\"", "\"\"", ""), "the data type \"string\" is not supported"),
        (v3("\"variable_length_bytes\"", "\"\"", ""), "the data type \"variable_length_bytes\""),
        (v3("\"bfloat16\"", "0", ""), "the data type \"bfloat16\" is not supported"),
        (v3("\"r7\"", "[0]", ""), "the data type \"r7\" is not supported"),
        (
            v3(r#"{"name":"numpy.datetime64","configuration":{"scale_factor":1}}"#, "0", ""),
            r#"the data type {"name":"numpy.datetime64""#,
        ),
        (
            v3(r#"{"name":"struct","configuration":{"fields":[{"name":"a"}]}}"#, "0", ""),
            r#"the data type {"name":"struct""#,
        ),
        (
            v3(r#"{"name":"structured","configuration":{"fields":[["a"]]}}"#, "0", ""),
            r#"the data type {"name":"structured""#,
        ),
        (
            v3(r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":6}}"#, "\"\"", ""),
            r#"the data type {"name":"fixed_length_utf32""#,
        ),
        (v3("\"r16\"", "[0,256]", ""), "the fill value [0,256] does not fit the dtype"),
        (
            v3("\"int32\"", "0", "").replace("\"bytes\",", "\"vlen-utf8\","),
            "the codec \"vlen-utf8\" before \"bytes\" is not supported",
        ),
        (v3("\"int32\"", "0", "").replace("\"codecs\":[", "\"codecs\":7,\"z\":["), "\"z\""),
        (v3("\"int32\"", "0", "").replace("\"chunk_shape\":[3]", "\"x\":1"), "\"chunk_shape\""),
    ] {
        let path = folder.path().join("a.zarr");
        write_metadata(&path, &metadata);
        let error = zarr::Array::open(&path, "").err().unwrap();
        assert!(error.to_string().contains(expected), "{metadata}: {error}");
        let is_code_of_input =
            [ferroblosc::Error::InvalidParam, ferroblosc::Error::Data].contains(&error.code());
        assert!(is_code_of_input, "{error}: {}", error.code());
        fs::remove_dir_all(&path).unwrap();
    }
}

/// Shards are read in parts, also in zip files with stored or compressed members.
#[test]
fn shards_in_zip_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let expected = items(&fixture("start.zarr")).unwrap();
    let stored = folder.path().join("stored.zarr.zip");
    zarr::join_zip(None, &[], &fixture("start.zarr"), &stored).unwrap();
    assert!(items(&stored).unwrap() == expected);
    let names = ["zarr.json", "c/0/0", "c/1/0"];
    let read = |name: &str| fs::read(fixture("start.zarr").join(name)).unwrap();
    let deflated = folder.path().join("deflated.zarr.zip");
    let write = |damage: &dyn Fn(&str, &mut Vec<u8>)| {
        let members = names.map(|name| {
            let mut bytes = read(name);
            damage(name, &mut bytes);
            (name, bytes)
        });
        fs::write(&deflated, zip(&members)).unwrap();
    };
    write(&|_, _| {});
    assert!(items(&deflated).unwrap() == expected);
    // Without a shard, all its items are the fill value.
    fs::write(&deflated, zip(&[(names[0], read(names[0])), (names[2], read(names[2]))])).unwrap();
    let partial = items(&deflated).unwrap().2;
    assert!(partial[..16 * 7].iter().all(|&byte| byte == 0));
    assert!(partial[16 * 7..] == expected.2[16 * 7..]);
    // A shard that ends in its index or in a chunk.
    for len in [0, 10, 67, 80] {
        write(&|name, bytes| bytes.truncate(if name == "c/0/0" { len } else { bytes.len() }));
        let error = items(&deflated).unwrap_err();
        assert!(error.is_corruption(), "{len}: {error}");
        assert!(error.to_string().contains("chunk c/0/0: "), "{len}: {error}");
    }
    // Large metadata, and a chunk that is too large.
    write(&|name, bytes| {
        if name == "zarr.json" {
            bytes.resize((64 << 20) + 1, b' ');
        }
    });
    let error = zarr::Array::open(&deflated, "").err().unwrap();
    assert_eq!(error.to_string(), "zarr.json has 67108865 bytes, the limit is 67108864");
    assert_eq!(error.code(), ferroblosc::Error::MemoryAlloc);
}

/// Returns a zip file with compressed members.
fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let level = flate2::Compression::fast();
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
        encoder.write_all(bytes).unwrap();
        let compressed = encoder.finish().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        // The version, the flags, the method, the time, the date, the CRC-32 and the sizes.
        let mut fields = [20_u16, 0, 8, 0, 33].map(u16::to_le_bytes).concat();
        for number in [crc.sum(), compressed.len() as u32, bytes.len() as u32] {
            fields.extend(number.to_le_bytes());
        }
        fields.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        let offset = file.len() as u32;
        file.extend(b"PK\x03\x04");
        file.extend(&fields);
        file.extend(name.as_bytes());
        file.extend(compressed);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(fields);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, len) = (file.len() as u32, directory.len() as u32);
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([members.len() as u16; 2].map(u16::to_le_bytes).concat());
    file.extend([len, start].map(u32::to_le_bytes).concat());
    file.extend([0; 2]);
    file
}

/// Chunks that are no regular files, and entries that hide an array.
#[test]
fn odd_files_at_the_keys_of_chunks_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zarr");
    copy_tree(&fixture("two.zarr"), &path);
    let target = PathBuf::from(format!("{}:/blosc", path.display()));
    let chunk = path.join("blosc/1.0");
    fs::remove_file(&chunk).unwrap();
    fs::create_dir(&chunk).unwrap();
    let error = items(&target).unwrap_err().to_string();
    assert!(error.contains("blosc/1.0"), "{error}");
    fs::remove_dir(&chunk).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&chunk).status().unwrap();
    assert!(made.success());
    let error = items(&target).unwrap_err().to_string();
    assert!(error.contains("blosc/1.0"), "{error}");
    fs::remove_file(&chunk).unwrap();
    // A file in place of a directory of keys has no chunks.
    let nested = PathBuf::from(format!("{}:/inner/fortran", path.display()));
    fs::remove_dir_all(path.join("inner/fortran/0")).unwrap();
    fs::write(path.join("inner/fortran/0"), "").unwrap();
    let items = items(&nested).unwrap().2;
    assert_eq!(items[..28], (-7_i16).to_be_bytes().repeat(14));
    fs::write(folder.path().join("text"), "neither a directory nor a zip file").unwrap();
    for (name, node) in [("text", ""), ("a.zarr", "nothing"), ("a.zarr", "blosc/1.0")] {
        let error = zarr::Array::open(&folder.path().join(name), node).err().unwrap();
        assert_eq!(error.code(), ferroblosc::Error::NotFound, "{name} {node}: {error}");
    }
    let error = zarr::Array::open(&folder.path().join("nothing"), "").err().unwrap();
    assert!(error.to_string().contains("No such file"), "{error}");
    let error = zarr::Array::open(&path, "inner").err().unwrap();
    assert_eq!(error.to_string(), "\"inner\" is a group, not an array");
    assert_eq!(error.code(), ferroblosc::Error::InvalidParam);
}

/// A dtype without a form in a version of the format, and an item that could not be read again.
#[test]
fn dtypes_that_cannot_be_written_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let spec = |version, dtype: &str| zarr::Spec {
        version,
        shape: vec![1],
        chunks: vec![1],
        dtype: ferroblosc_formats::numpy::Dtype::parse(dtype).unwrap(),
        fill_value: None,
        attrs: Vec::new(),
        compression: zarr::Compression {
            cname: "lz4".to_owned(),
            level: 5,
            shuffle: 1,
            blocksize: 0,
        },
    };
    let path = folder.path().join("a.zarr");
    let create = |version, dtype: &str| {
        zarr::ArrayWriter::create(&path, false, "", &spec(version, dtype)).map(drop)
    };
    for dtype in [
        "<f16",
        "<M8[D/2]",
        "[('a', '>i4')]",
        "[('a', '<i4', (2,))]",
        "[('a', '|S1'), ('', '|V1')]",
    ] {
        let error = create(Version::V3, dtype).unwrap_err();
        assert_eq!(error.to_string(), format!("Zarr does not support the dtype {dtype}"));
        assert_eq!(error.code(), ferroblosc::Error::InvalidParam);
        assert!(!path.exists());
        create(Version::V2, dtype).unwrap();
        let read = zarr::Array::open(&path, "").unwrap();
        assert_eq!(read.metadata().dtype.description().repr().trim_matches('\''), dtype);
        fs::remove_dir_all(&path).unwrap();
    }
    for version in [Version::V2, Version::V3] {
        let error = create(version, "|S16777217").unwrap_err().to_string();
        assert_eq!(error, "an item of Zarr has at most 16777216 bytes, not 16777217");
        assert!(!path.exists());
    }
    create(Version::V2, "|S16777216").unwrap();
    assert_eq!(zarr::Array::open(&path, "").unwrap().chunk_bytes(), 1 << 24);
}
