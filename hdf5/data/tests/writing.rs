//! Writes files with the libhdf5 that is installed, and reads them.

use ferroblosc_hdf5_data::{
    Attribute, Dataset, Error, Field, File, Filter, ItemType, NewDataset, Scalar, Spec,
};
use std::path::{Path, PathBuf};

/// Returns the path of a new file of a test.
fn path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hdf5-data-{name}.h5"));
    let _ = std::fs::remove_file(&path);
    path
}

fn spec(item: impl Into<ItemType>, shape: &[u64]) -> Spec {
    let (item, shape) = (item.into(), shape.to_vec());
    Spec { item, shape, chunks: None, filter: None, fill: None }
}

fn int(size: usize) -> Scalar {
    Scalar::Int { size, is_signed: true, is_big: false }
}

#[test]
fn items_of_all_types_round_trip() {
    let mut scalars = vec![
        Scalar::Bool,
        Scalar::Bytes { size: 5, is_utf8: false },
        Scalar::Bytes { size: 5, is_utf8: true },
        Scalar::Opaque { size: 3, tag: String::new() },
        Scalar::Opaque { size: 8, tag: "NUMPY:<M8[ns]".to_owned() },
    ];
    for is_big in [false, true] {
        for size in [2, 4, 8] {
            scalars.push(Scalar::Int { size, is_signed: true, is_big });
            scalars.push(Scalar::Int { size, is_signed: false, is_big });
            scalars.push(Scalar::Bits { size, is_big });
            scalars.push(Scalar::Float { size, is_big });
        }
        scalars.push(Scalar::Complex { size: 8, is_big });
        scalars.push(Scalar::Complex { size: 16, is_big });
    }
    let field = |name: &str, offset, item: ItemType| Field { name: name.to_owned(), offset, item };
    let pair = ItemType { scalar: int(2), shape: vec![2, 3], ranks: Vec::new() };
    let inner = vec![field("x", 0, Scalar::Bool.into()), field("y", 1, pair.clone())];
    let inner = Scalar::Record { fields: inner, size: 13 };
    let fields = vec![field("häus", 0, int(4).into()), field("in", 4, inner.into())];
    scalars.push(Scalar::Record { fields, size: 17 });
    let target = path("types");
    let file = File::create(&target).unwrap();
    let mut types: Vec<ItemType> = scalars.into_iter().map(ItemType::from).collect();
    types.push(ItemType { ranks: vec![1, 1], ..pair.clone() });
    types.push(pair);
    let items_of = |item: &ItemType| -> Vec<u8> {
        let bytes = (0..3 * item.size()).map(|i| (i % 2) as u8);
        bytes.collect()
    };
    for (number, item) in types.iter().enumerate() {
        let made = NewDataset::create(&file, &format!("g/{number}"), spec(item.clone(), &[3]));
        made.unwrap().write_all(&items_of(item)).unwrap();
    }
    file.close().unwrap();
    let file = File::open(&target).unwrap();
    for (number, item) in types.iter().enumerate() {
        let dataset = Dataset::open(&file, &format!("g/{number}")).unwrap();
        assert_eq!(dataset.item(), item);
        assert!(dataset.is_stored_form(), "{item:?}");
        let mut items = vec![0xff; 3 * item.size()];
        dataset.read(&[0], &[3], &mut items).unwrap();
        // Strings are padded with NUL, and contain none.
        if !matches!(item.scalar, Scalar::Bytes { .. }) {
            assert_eq!(items, items_of(item), "{item:?}");
        }
    }
}

#[test]
fn attributes_round_trip_and_replace_those_of_the_same_name() {
    let target = path("attributes");
    let file = File::create(&target).unwrap();
    let group = file.create_group("/a/b/").unwrap();
    let texts = |shape: Option<&[u64]>, texts: &[&str]| {
        let texts = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Attribute::Texts(shape.map(<[u64]>::to_vec), texts)
    };
    let items = |shape: Option<&[u64]>, items: &[u8]| {
        Attribute::Items(int(2).into(), shape.map(<[u64]>::to_vec), items.to_vec())
    };
    let values = [
        ("list", items(Some(&[2, 1]), &[1, 2, 3, 4])),
        ("name", texts(Some(&[]), &["häus"])),
        ("names", texts(Some(&[3]), &["a", "", "ccc"])),
        ("none", items(Some(&[0, 7]), &[])),
        ("null", items(None, &[])),
        ("nulls", texts(None, &[])),
        ("number", items(Some(&[]), &[7, 0])),
    ];
    for (name, value) in &values {
        group.set_attribute(name, &items(Some(&[1]), &[9, 9])).unwrap();
        group.set_attribute(name, value).unwrap();
    }
    group.set_attribute("ignored", &Attribute::Unsupported("text".to_owned())).unwrap();
    for wrong in [
        items(Some(&[2]), &[1, 2]),
        items(Some(&[u64::MAX, u64::MAX]), &[]),
        items(Some(&[1 << 32, 1 << 32]), &[]),
        items(None, &[1, 2]),
        texts(Some(&[2]), &["a"]),
        texts(None, &["a"]),
        Attribute::Items(Scalar::Text { is_utf8: true }.into(), Some(vec![1]), vec![0; 8]),
    ] {
        let result = group.set_attribute("number", &wrong);
        assert!(matches!(result, Err(Error::Invalid(_))), "{wrong:?}: {result:?}");
    }
    let error = group.set_attribute("number", &texts(Some(&[]), &["a\0b"])).unwrap_err();
    assert!(error.to_string().contains("a text contains NUL") && !error.is_corruption(), "{error}");
    drop(group);
    file.close().unwrap();
    let found = File::open(&target).unwrap().group("a/b").unwrap().attributes().unwrap();
    assert_eq!(found, values.map(|(name, value)| (name.to_owned(), value)));
}

#[test]
fn datasets_that_cannot_be_created_are_errors() {
    let target = path("errors");
    let file = File::create(&target).unwrap();
    let existing = File::create(&target).map(drop).unwrap_err();
    assert!(!existing.is_corruption(), "{existing}");
    let create = |path: &str, spec| NewDataset::create(&file, path, spec);
    drop(create("a", spec(int(4), &[10])).unwrap());
    assert!(matches!(create("/a/", spec(int(4), &[10])), Err(Error::Exists(_))));
    assert!(matches!(file.create_group("a"), Err(Error::Exists(_))));
    assert!(matches!(file.create_bare_dimension("a", 3), Err(Error::Exists(_))));
    let text = Scalar::Text { is_utf8: true };
    assert!(matches!(create("b", spec(text, &[10])), Err(Error::Type { .. })));
    let chunked = |chunks: &[u64]| Spec { chunks: Some(chunks.to_vec()), ..spec(int(4), &[10]) };
    assert!(matches!(create("b", chunked(&[5, 5])), Err(Error::Invalid(_))));
    // HDF5 refuses these; the file is not damaged.
    for spec in [
        chunked(&[0]),
        chunked(&[11]),
        chunked(&[1 << 33]),
        Spec {
            filter: Some(Filter { id: 32026, name: String::new(), values: vec![0, 0, 0, 0, 77] }),
            ..chunked(&[5])
        },
        spec(Scalar::Record { fields: Vec::new(), size: 0 }, &[10]),
    ] {
        let error = create("b", spec.clone()).map(drop).unwrap_err();
        assert!(matches!(error, Error::Call { .. }), "{spec:?}: {error}");
        assert!(!error.is_corruption(), "{spec:?}: {error}");
    }
    assert!(create("a/b", spec(int(4), &[10])).is_err());
    assert_eq!(file.exists("b"), Ok(false));
    file.close().unwrap();
}

#[test]
fn other_items_and_chunks_than_those_of_the_dataset_are_refused() {
    let target = path("items");
    let file = File::create(&target).unwrap();
    let filter = Filter { id: 32026, name: String::new(), values: vec![0, 0, 0, 0, 5, 1, 1] };
    let shape = Spec {
        chunks: Some(vec![4, 5]),
        filter: Some(filter),
        fill: Some(vec![7, 0]),
        ..spec(int(2), &[10, 10])
    };
    let dataset = NewDataset::create(&file, "d", shape).unwrap();
    let invalid = |result: Result<(), Error>| matches!(result, Err(Error::Invalid(_)));
    assert!(invalid(dataset.write_all(&[0; 199])));
    assert!(invalid(dataset.write_box(&[0, 0], &[1, 1], &[0; 3])));
    assert!(invalid(dataset.write_box(&[0, 10], &[1, 1], &[0; 2])));
    assert!(invalid(dataset.write_box(&[u64::MAX, 0], &[1, 1], &[0; 2])));
    assert!(invalid(dataset.write_box(&[0], &[1], &[0; 2])));
    assert!(dataset.write_box(&[10, 0], &[0, 3], &[]).is_ok());
    for start in [&[1, 0][..], &[0], &[12, 0], &[0, 0, 0]] {
        assert!(invalid(dataset.write_chunk(start, b"chunk")), "{start:?}");
    }
    let items: Vec<u8> = (0..200).collect();
    dataset.write_box(&[4, 5], &[4, 5], &items[..40]).unwrap();
    drop(dataset);
    file.close().unwrap();
    let file = File::open(&target).unwrap();
    let dataset = Dataset::open(&file, "d").unwrap();
    let filter = &dataset.filters()[0];
    assert_eq!((filter.id, filter.name.as_str()), (32026, "blosc2"));
    assert_eq!(filter.values, [1, 0, 2, 40, 5, 1, 1, 2, 4, 5]);
    assert_eq!(dataset.fill_value(), Ok(Some(vec![7, 0])));
    let mut found = vec![0; 40];
    dataset.read(&[4, 5], &[4, 5], &mut found).unwrap();
    assert_eq!(found, items[..40]);
    dataset.read(&[0, 0], &[4, 5], &mut found).unwrap();
    assert_eq!(found, [7, 0].repeat(20));
    let stored = dataset.stored_chunk(&[4, 5]).unwrap().unwrap();
    assert_eq!(dataset.read_chunk(&[4, 5]).unwrap().unwrap().1.len() as u64, stored.len);
    assert_eq!(dataset.stored_bytes(), stored.len);
}

#[test]
fn stored_chunks_of_an_array_of_petabytes_are_listed() {
    let target = path("sparse");
    let file = File::create(&target).unwrap();
    let shape = [1_u64 << 40, 3 << 20];
    let chunks = Some(vec![2, 3]);
    let made = NewDataset::create(&file, "data", Spec { chunks, ..spec(int(1), &shape) }).unwrap();
    let starts = [[0, 6], [8, 0], [1 << 39, 9], [(1 << 40) - 2, (3 << 20) - 3]];
    // In another order, with some items of one chunk.
    for start in [starts[3], starts[1], starts[0]] {
        made.write_box(&start, &[2, 3], &[1; 6]).unwrap();
    }
    made.write_box(&[(1 << 39) + 1, 10], &[1, 1], &[1]).unwrap();
    drop(made);
    // So few chunks that each place is searched.
    let small = Spec { chunks: Some(vec![2]), ..spec(int(1), &[5]) };
    let made = NewDataset::create(&file, "small", small).unwrap();
    made.write_box(&[0], &[1], &[1]).unwrap();
    made.write_box(&[4], &[1], &[1]).unwrap();
    drop(made);
    drop(NewDataset::create(&file, "plain", spec(int(1), &[5])).unwrap());
    file.close().unwrap();
    let file = File::open(&target).unwrap();
    let starts_of = |name: &str| Dataset::open(&file, name).unwrap().stored_starts();
    let found = starts_of("data").unwrap().unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), starts);
    assert_eq!(found.len(), 4);
    let found = starts_of("small").unwrap().unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), [[0], [4]]);
    assert!(matches!(starts_of("plain"), Err(Error::Invalid(_))));
}
