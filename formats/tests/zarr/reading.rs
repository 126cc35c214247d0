//! Arrays of zarr-python 2 and 3, and groups.

use super::*;

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
