//! Conversions of datasets and attributes of HDF5 files.

use super::*;
use crate::hdf5::{Attribute, File, Filter, ItemType, NewDataset, Scalar, Spec};

fn int(size: usize) -> ItemType {
    Scalar::Int { size, is_signed: true, is_big: false }.into()
}

/// Writes a dataset `data` to a new file.
fn dataset(path: &Path, spec: Spec, write: impl FnOnce(&NewDataset)) {
    let file = File::create(path).unwrap();
    let dataset = NewDataset::create(&file, "data", spec).unwrap();
    write(&dataset);
    drop(dataset);
    file.close().unwrap();
}

#[test]
fn fill_values_and_chunks_at_the_edges_are_converted() {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    for filter in [Hdf5Filter::Blosc, Hdf5Filter::Blosc2] {
        // The first chunk is stored, the others are missing.
        let spec = Spec {
            item: int(4),
            shape: vec![5, 7],
            chunks: Some(vec![2, 3]),
            filter: None,
            fill: Some(vec![9, 0, 0, 0]),
        };
        dataset(&path, spec, |dataset| {
            dataset.write_box(&[0, 0], &[2, 3], &[1; 24]).unwrap();
        });
        let mut expected = Vec::new();
        for row in 0..5 {
            for column in 0..7 {
                let is_stored = row < 2 && column < 3;
                expected.extend(if is_stored { [1; 4] } else { [9, 0, 0, 0] });
            }
        }
        assert_eq!(items(&path), expected);
        let (array, back) = (folder.path("a.b2nd"), folder.path("back.h5"));
        converted(&path, &array, B2ND).unwrap();
        assert_eq!(items(&array), expected);
        let lost = converted(&array, &back, Destination::Hdf5 { filter: Some(filter) });
        assert_eq!(lost.unwrap().lost, [""; 0]);
        assert_eq!(items(&back), expected);
        let verified = verify(&back, &detect(&back).unwrap(), &Reading::default()).unwrap();
        assert!(verified.is_intact() && verified.compared == 1);
        // With chunks that are contiguous in another array, and another fill value.
        let npy = folder.path("a.npy");
        converted(&path, &npy, Destination::Npy).unwrap();
        let writing = Writing { chunks: Some(vec![2, 3]), ..Writing::default() };
        let again = folder.path("again.h5");
        converted_with(&back, &again, Destination::Hdf5 { filter: Some(filter) }, &writing)
            .unwrap();
        assert_eq!(items(&again), expected);
        for path in [&path, &array, &back, &npy, &again] {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn texts_are_converted_with_and_without_chunks() {
    let folder = Folder::new();
    let codes: Vec<u8> = ["a", "é", "😀", ""]
        .iter()
        .flat_map(|text| {
            let mut codes: Vec<u32> = text.chars().map(u32::from).collect();
            codes.resize(2, 0);
            codes.into_iter().flat_map(u32::to_be_bytes).collect::<Vec<u8>>()
        })
        .collect();
    let npy = folder.npy("a.npy", ">U2", &[4], &codes);
    let surrogate = folder.npy("b.npy", "<U1", &[1], &0xDC80_u32.to_le_bytes());
    for destination in [HDF5, PLAIN_HDF5] {
        let path = folder.path("a.h5");
        converted(&npy, &path, destination).unwrap();
        let texts: Vec<Vec<u8>> = items(&path).chunks(8).map(<[u8]>::to_vec).collect();
        let text = |text: &str| [text.as_bytes(), &[0; 8]].concat()[..8].to_vec();
        assert_eq!(texts, ["a", "é", "😀", ""].map(text));
        std::fs::remove_file(&path).unwrap();
        let refused = converted(&surrogate, &path, destination);
        assert!(matches!(refused, Err(Error::CannotHold(_))), "{refused:?}");
        let _ = std::fs::remove_file(&path);
    }
}

#[test]
fn attributes_that_hdf5_cannot_hold_are_listed() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let long = [&b"\xdc\x3a\x98"[..], &[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0].repeat(15_000)];
    let nul = b"\xa3a\0b";
    frame(&path, false, &[("long", &long.concat()), ("nul", nul), ("good", b"\x05")]);
    let lost = converted(&path, &folder.path("a.h5"), HDF5).unwrap().lost.join("; ");
    assert!(lost.contains("the attribute \"long\", whose items exceed 64 KB"), "{lost}");
    assert!(lost.contains("the attribute \"nul\", which has a text with NUL"), "{lost}");
    assert!(!lost.contains("good"), "{lost}");
    let found = summarise(&folder.path("a.h5:/data"), &detect(&folder.path("a.h5")).unwrap());
    assert_eq!(found.unwrap().metadata.unwrap().to_json(), "{\"good\":5}");
}

#[test]
fn numbers_of_any_size_and_order_are_attributes() {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    let item = |scalar: Scalar| ItemType::from(scalar);
    let half = item(Scalar::Float { size: 2, is_big: true });
    let spec = Spec { item: int(4), shape: vec![2], chunks: None, filter: None, fill: None };
    dataset(&path, spec, |dataset| {
        for (name, attribute) in [
            ("half", Attribute::Items(half, Some(vec![]), vec![0x3e, 0])),
            (
                "big",
                Attribute::Items(
                    item(Scalar::Int { size: 2, is_signed: true, is_big: true }),
                    Some(vec![2]),
                    vec![0xff, 0xfe, 1, 0],
                ),
            ),
            (
                "complex",
                Attribute::Items(
                    item(Scalar::Complex { size: 8, is_big: false }),
                    Some(vec![]),
                    vec![0; 8],
                ),
            ),
            ("none", Attribute::Texts(None, Vec::new())),
            ("bytes", Attribute::Texts(Some(vec![]), vec![b"\xff".to_vec()])),
        ] {
            dataset.set_attribute(name, &attribute).unwrap();
        }
    });
    let found = detect(&path).unwrap();
    let summary = summarise(&folder.path("a.h5:/data"), &found).unwrap().metadata.unwrap();
    assert_eq!(summary.get("half"), Some(&Value::Float(1.5)));
    assert_eq!(summary.get("big").unwrap().to_json(), "[-2,256]");
    assert_eq!(summary.get("none"), Some(&Value::Null));
    let lost = converted(&path, &folder.path("a.b2nd"), B2ND).unwrap().lost.join("; ");
    for name in ["complex", "bytes"] {
        let expected = format!("the attribute \"{name}\", which has items without a value");
        assert!(lost.contains(&expected), "{lost}");
    }
}

#[test]
fn plugins_are_not_written() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[100], &[1; 400]);
    let compression = Compression { codec: codec::id::NDLZ, ..Compression::default() };
    let writing = Writing { compression: Some(compression), ..Writing::default() };
    let refused = converted_with(&npy, &folder.path("a.h5"), HDF5, &writing);
    assert!(error_of(refused).contains("only the built-in codecs of Blosc"));
}

#[test]
fn chunks_of_other_filters_are_named() {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    let spec =
        Spec { item: int(4), shape: vec![4], chunks: Some(vec![2]), filter: None, fill: None };
    dataset(&path, spec, |dataset| dataset.write_box(&[0], &[2], &[1; 8]).unwrap());
    let listed = |path: &Path| {
        let mut chunks = Vec::new();
        each_chunk(path, &detect(path).unwrap(), &mut |chunk| {
            chunks.push((chunk.number, chunk.codec));
            true
        })
        .unwrap();
        chunks
    };
    assert_eq!(listed(&path), [(0, "stored".to_owned())]);
    std::fs::remove_file(&path).unwrap();
    for (id, name) in [(crate::hdf5::BLOSC, "blosc"), (crate::hdf5::BLOSC2, "blosc2")] {
        let spec = Spec {
            item: int(4),
            shape: vec![4],
            chunks: Some(vec![2]),
            filter: Some(Filter { id, name: String::new(), values: vec![0; 7] }),
            fill: None,
        };
        // A chunk that is none of the filter.
        dataset(&path, spec, |dataset| dataset.write_chunk(&[0], &[7; 40]).unwrap());
        assert_eq!(listed(&path), [(0, name.to_owned())]);
        assert!(converted(&path, &folder.path("out.b2nd"), B2ND).is_err());
        let _ = std::fs::remove_file(folder.path("out.b2nd"));
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn groups_are_read_below_a_key_and_written_to_new_files() {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    let file = File::create(&path).unwrap();
    for name in ["g/h/data", "other"] {
        let spec = Spec { item: int(4), shape: vec![2], chunks: None, filter: None, fill: None };
        drop(NewDataset::create(&file, name, spec).unwrap());
    }
    let group = file.create_group("g/h").unwrap();
    group.set_attribute("unit", &Attribute::Texts(Some(vec![]), vec![b"m".to_vec()])).unwrap();
    drop(group);
    file.close().unwrap();
    let found = detect(&path).unwrap();
    for (key, expected) in [
        ("a.h5", &["", "g", "g/h"][..]),
        ("a.h5:/g", &["", "g", "g/h"]),
        ("a.h5:/g/h/data", &["", "g", "g/h"]),
    ] {
        let groups = Groups::read(&folder.path(key), &found, &["g/h/data".to_owned()]).unwrap();
        let paths: Vec<&str> = groups.groups.iter().map(|group| &*group.path).collect();
        assert_eq!(paths, expected, "{key}");
        let attrs = &groups.groups.last().unwrap().attrs;
        assert_eq!(attrs[..], [("unit".to_owned(), Value::Text("m".to_owned()))], "{key}");
        // The groups of a new file, and of one that exists.
        let copy = folder.path("copy.h5");
        for _ in 0..2 {
            assert_eq!(groups.write_hdf5(&copy).unwrap(), [""; 0]);
            let again = Groups::read(&copy, &found, &[]).unwrap();
            let paths: Vec<&str> = again.groups.iter().map(|group| &*group.path).collect();
            assert_eq!(paths, expected, "{key}");
        }
        std::fs::remove_file(&copy).unwrap();
    }
}
