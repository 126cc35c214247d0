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

/// Returns the description of a dataset of bytes with chunks of this shape.
fn chunked(shape: &[u64], chunks: &[u64], fill: Option<Vec<u8>>) -> Spec {
    let size = fill.as_ref().map_or(1, Vec::len);
    let (shape, chunks) = (shape.to_vec(), Some(chunks.to_vec()));
    Spec { item: int(size), shape, chunks, filter: None, fill }
}

fn read_box(path: &Path, start: &[u64], stop: &[u64]) -> Vec<u8> {
    let mut source = open(path, &Reading::default()).unwrap();
    let lengths = start.iter().zip(stop).map(|(start, stop)| stop - start);
    let mut items = vec![0; (lengths.product::<u64>() * source.content().typesize) as usize];
    source.read_box(start, stop, &mut items).unwrap();
    items
}

#[test]
fn arrays_of_petabytes_are_verified_and_converted_by_their_stored_chunks() {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    let shape = [(1 << 40) - 1, 1 << 20];
    dataset(&path, chunked(&shape, &[2, 3], None), |dataset| {
        dataset.write_box(&[4, 3], &[2, 3], &[1; 6]).unwrap();
        dataset.write_box(&[shape[0] - 1, shape[1] - 1], &[1, 1], &[2]).unwrap();
    });
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_intact() && verified.compared == 1, "{verified:?}");
    let mut listed = Vec::new();
    each_chunk(&path, &detect(&path).unwrap(), &mut |chunk| {
        listed.push(chunk.number);
        true
    })
    .unwrap();
    let columns = (1_u64 << 20).div_ceil(3);
    assert_eq!(listed, [2 * columns + 1, (1 << 39) * columns - 1]);
    // HDF5 has no limit; Zarr and frames have limits.
    let end = [shape[0] - 1, shape[1] - 1];
    for (chunks, name) in [(None, "b.h5"), (Some(vec![7, 5]), "c.h5")] {
        let copy = folder.path(name);
        let writing = Writing { chunks, ..Writing::default() };
        let mut bytes = 0;
        let params = (&Reading::default(), &SourceOptions::default());
        let found = detect(&path).unwrap();
        convert((&path, &found), (&copy, HDF5), params, &writing, &mut |more| bytes += more)
            .unwrap();
        assert_eq!(bytes, shape[0] * shape[1]);
        assert_eq!(read_box(&copy, &[4, 0], &[6, 9]), [[0, 0, 0, 1, 1, 1, 0, 0, 0]; 2].concat());
        assert_eq!(read_box(&copy, &end, &shape), [2]);
        assert_eq!(read_box(&copy, &[end[0], 0], &[shape[0], 3]), [0; 3]);
    }
    let refused = error_of(converted(&path, &folder.path("a.b2nd"), B2ND));
    assert!(refused.contains("a frame has at most 268435455 chunks"), "{refused}");
    #[cfg(feature = "zarr")]
    {
        let refused = error_of(converted(&path, &folder.path("a.zarr"), ZARR));
        assert!(refused.contains("at most 16777216 chunks"), "{refused}");
    }
}

#[test]
fn missing_chunks_become_chunks_of_the_fill_value_in_all_formats() {
    let folder = Folder::new();
    let nan = f64::NAN.to_le_bytes().to_vec();
    let numbers = [None, Some(vec![9, 0, 0, 0]), Some(nan), Some(vec![3; 300])];
    for (number, fill) in numbers.into_iter().enumerate() {
        let path = folder.path(&format!("{number}.h5"));
        let item = match fill.as_ref().map(Vec::len) {
            Some(300) => Scalar::Opaque { size: 300, tag: String::new() }.into(),
            Some(8) => Scalar::Float { size: 8, is_big: false }.into(),
            size => int(size.unwrap_or(1)),
        };
        let item_fill = fill.clone().unwrap_or(vec![0]);
        let spec = Spec { item, ..chunked(&[50, 40], &[4, 7], fill) };
        let mut expected = item_fill.repeat(50 * 40);
        dataset(&path, spec, |dataset| {
            let size = item_fill.len();
            for (row, column) in [(4, 7), (8, 35), (48, 0), (48, 35)] {
                let count: [u64; 2] = [2, 5.min(40 - column)];
                let items = vec![1; (count[0] * count[1]) as usize * size];
                dataset.write_box(&[row, column], &count, &items).unwrap();
                for row in row..row + count[0] {
                    let at = (row * 40 + column) as usize * size;
                    expected[at..at + count[1] as usize * size].fill(1);
                }
            }
        });
        assert!(items(&path) == expected);
        let targets = [
            ("b2nd", B2ND),
            ("h5", HDF5),
            ("plain.h5", PLAIN_HDF5),
            #[cfg(feature = "zarr")]
            ("zarr", ZARR),
        ];
        for (chunks, name) in
            [(None, "same"), (Some(vec![3, 40]), "rows"), (Some(vec![9, 9]), "other")]
        {
            for (ending, destination) in targets {
                if chunks.is_some() && destination == PLAIN_HDF5 {
                    continue;
                }
                let copy = folder.path(&format!("{number}-{name}.{ending}"));
                let writing = Writing { chunks: chunks.clone(), ..Writing::default() };
                converted_with(&path, &copy, destination, &writing).unwrap();
                assert!(items(&copy) == expected, "{number} {name} {ending}");
                if ending == "b2nd" && chunks.is_none() {
                    for (ending, destination) in targets {
                        let again = folder.path(&format!("{number}-again.{ending}"));
                        converted(&copy, &again, destination).unwrap();
                        assert!(items(&again) == expected, "{number} {ending}");
                    }
                }
            }
        }
    }
}

#[test]
fn stored_texts_are_read_to_find_the_longest() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hdf5/texts.h5");
    let verified = verify(&file, &detect(&file).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_intact() && verified.compared == 2, "{verified:?}");
    let utf32 = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    // HDF5 1.10 cannot read missing texts with a fill value.
    let path = PathBuf::from(format!("{}:/empty", file.display()));
    let items = |at| read_box(&path, &[at], &[at + 1]);
    let text: Vec<u8> = utf32("häus");
    assert_eq!((items(0), items((1 << 49) + 2)), (vec![0; 16], text));
}

#[test]
fn frames_of_petabytes_are_converted_by_their_stored_chunks() {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    let params = CParams::default().typesize(1);
    let (chunk, count) = (1_i64 << 24, 1_i64 << 22);
    let layout = ferroblosc::b2nd::Layout {
        shape: &[count * chunk],
        chunkshape: &[chunk as i32],
        blockshape: &[1 << 20],
    };
    let mut array =
        ferroblosc::b2nd::Array::zeros(Storage::file(&path), params, &layout, "|u1").unwrap();
    let at = 12_345 * chunk;
    array.set_slice(&[at], &[at + 4], &[5; 4]).unwrap();
    array.close().unwrap();
    for (name, destination) in [
        ("a.h5", HDF5),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR),
    ] {
        let copy = folder.path(name);
        converted(&path, &copy, destination).unwrap();
        let at = at.unsigned_abs();
        assert_eq!(read_box(&copy, &[at - 1], &[at + 5]), [0, 5, 5, 5, 5, 0], "{name}");
    }
}
