//! Arrays that are written.

use super::*;

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
        let text = format!("version 3 of Zarr does not support the dtype {dtype}, version 2 does");
        assert_eq!(error.to_string(), text);
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
