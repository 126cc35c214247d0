//! Damaged and hostile arrays.

use super::*;

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
