//! Reads files that other programs wrote, with the libhdf5 that is installed.

use ferroblosc_hdf5_data::{Attribute, Dataset, Error, File, ItemType, Node, Scalar};
use std::path::{Path, PathBuf};

/// Returns the path of a file of the tests of `ferroblosc-formats`.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../formats/tests/data/hdf5").join(name)
}

fn open(name: &str) -> File {
    File::open(&fixture(name)).expect("libhdf5 is installed")
}

/// Returns all items of a dataset.
fn items(dataset: &Dataset) -> Vec<u8> {
    let count = dataset.shape().iter().product::<u64>() as usize;
    let mut items = vec![0; count * dataset.item().size()];
    dataset.read(&vec![0; dataset.shape().len()], dataset.shape(), &mut items).unwrap();
    items
}

#[test]
fn types_of_other_programs_are_read() {
    let file = open("datatypes.h5");
    let int = |size| Scalar::Int { size, is_signed: true, is_big: false };
    let bytes = Scalar::Bytes { size: 4, is_utf8: false };
    for (name, scalar, expected) in [
        ("bits", Scalar::Bits { size: 2, is_big: true }, &b"\0\x01\0\x02\x80\x03"[..]),
        ("bits12", int(2), b"\xff\xff\0\0\x01\0"),
        ("scales", int(1), b"\0\x02\x07"),
        ("space", bytes.clone(), b"a\0\0\0bc\0\0\0\0\0\0"),
        ("ended", bytes, b"a\0\0\0bc\0\0abc\0"),
    ] {
        let dataset = Dataset::open(&file, name).unwrap();
        assert_eq!(*dataset.item(), ItemType::from(scalar), "{name}");
        assert_eq!(items(&dataset), expected, "{name}");
        assert!(dataset.read(&[0], &[4], &mut vec![0; 4 * dataset.item().size()]).is_err());
    }
    let nested = Dataset::open(&file, "/nested/").unwrap();
    assert_eq!((nested.path(), nested.shape()), ("/nested", &[3][..]));
    assert_eq!((&nested.item().shape[..], &nested.item().ranks[..]), (&[1, 2, 2][..], &[2, 1][..]));
    assert_eq!(
        items(&nested),
        (0..12).flat_map(|number: i16| number.to_be_bytes()).collect::<Vec<u8>>()
    );
    let nothing = Dataset::open(&file, "nothing").unwrap();
    assert_eq!((nothing.is_null(), nothing.shape()), (true, &[][..]));
    assert_eq!(nothing.item().scalar, Scalar::Text { is_utf8: true });
}

#[test]
fn types_without_a_form_in_memory_are_described() {
    let file = open("datatypes.h5");
    for (name, expected) in [
        ("int3", "integers of 3 bytes"),
        ("long", "floating-point numbers of 16 bytes"),
        ("bfloat", "floating-point numbers of 2 bytes that are not IEEE 754"),
        ("time", "the type time"),
        ("region", "references"),
        ("texts", "arrays of strings of variable length or of references"),
        ("record", "records with a field \"s\" of strings of variable length or of references"),
        ("deep", "a type of more than 32 levels"),
    ] {
        let error = Dataset::open(&file, name).unwrap_err();
        let (path, description) = (format!("/{name}"), expected.to_owned());
        assert_eq!(error, Error::Type { path, description });
        assert!(!error.is_corruption());
    }
}

#[test]
fn attributes_of_all_types_are_read_or_described() {
    let dataset = Dataset::open(&open("datatypes.h5"), "attributes").unwrap();
    let items = |scalar: Scalar, shape: Option<&[u64]>, items: &[u8]| {
        Attribute::Items(scalar.into(), shape.map(<[u64]>::to_vec), items.to_vec())
    };
    let int = |size| Scalar::Int { size, is_signed: true, is_big: false };
    let unsupported = |text: &str| Attribute::Unsupported(text.to_owned());
    let expected = [
        ("caf\u{fffd}", items(int(1), Some(&[]), &[5])),
        ("fixed", items(Scalar::Bytes { size: 3, is_utf8: false }, Some(&[3]), b"a\0\0bc\0de\0")),
        ("no texts", Attribute::Texts(Some(vec![2, 0]), Vec::new())),
        ("none", items(int(4), Some(&[0]), &[])),
        ("not text", Attribute::Texts(Some(Vec::new()), vec![b"caf\xe9".to_vec()])),
        ("null", items(int(4), None, &[])),
        ("null text", Attribute::Texts(None, Vec::new())),
        (
            "opaque",
            items(Scalar::Opaque { size: 2, tag: "pair".to_owned() }, Some(&[3]), b"ababab"),
        ),
        ("reference", unsupported("references to objects")),
        ("region", unsupported("references")),
        ("sequence", unsupported("sequences of variable length")),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    let mut found = dataset.attributes().unwrap();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(found, expected);
}

#[test]
fn objects_are_found_by_their_paths() {
    let file = open("odd.h5");
    assert_eq!(file.node("/").unwrap(), Node::Group);
    assert_eq!(file.node("root/plain").unwrap(), Node::Dataset);
    for path in ["plain/x", "nowhere", "nowhere/x", "missing", "missing/x", "plain/x/y"] {
        let missing = matches!(file.node(path), Err(Error::NotFound(_)));
        assert!(missing, "{path}: {:?}", file.node(path));
        assert_eq!(file.exists(path), Ok(path == "nowhere"), "{path}");
    }
    assert_eq!(file.node("a\0b"), Err(Error::NotFound("/a\0b".to_owned())));
    assert!(matches!(file.group("plain"), Err(Error::NotFound(_))));
    assert!(matches!(Dataset::open(&file, "root"), Err(Error::Group(_))));
    // Scales, and their lengths.
    assert_eq!(file.is_scale("root"), Ok(false));
    assert_eq!(file.is_scale("missing"), Ok(false));
    assert_eq!(file.is_bare_dimension("missing"), Ok(false));
    assert_eq!(file.can_be_scale("missing", 3), Ok(None));
    assert_eq!(file.can_be_scale("root", 3), Ok(Some(false)));
    assert_eq!(file.can_be_scale("plain", 3), Ok(Some(true)));
    assert_eq!(file.can_be_scale("plain", 4), Ok(Some(false)));
}

#[test]
fn other_items_than_those_of_the_dataset_are_refused() {
    let file = open("h5py.h5");
    let dataset = Dataset::open(&file, "sparse").unwrap();
    let invalid = |result: Result<(), Error>| matches!(result, Err(Error::Invalid(_)));
    let mut dest = vec![0; 400];
    for (start, count) in [
        (&[0, 0][..], &[10][..]),
        (&[0], &[10, 10]),
        (&[0, 0], &[10, 9]),
        (&[91, 0], &[10, 10]),
        (&[u64::MAX, 0], &[10, 10]),
        (&[0, 0], &[u64::MAX, 2]),
    ] {
        assert!(invalid(dataset.read(start, count, &mut dest)), "{start:?} {count:?}");
    }
    assert!(dataset.read(&[90, 90], &[10, 10], &mut dest).is_ok());
    assert!(dataset.read(&[100, 100], &[0, 0], &mut []).is_ok());
    assert!(invalid(dataset.read_texts(&[0, 0], &[1, 1], &mut |_| ())));
    for start in [&[5, 0][..], &[0], &[100, 0], &[0, 0, 0]] {
        assert!(invalid(dataset.stored_chunk(start).map(drop)), "{start:?}");
        assert!(invalid(dataset.read_chunk(start).map(drop)), "{start:?}");
    }
    assert_eq!(dataset.read_chunk(&[0, 0]), Ok(None));
    assert_eq!(dataset.chunk_size(&[0, 0]), Ok(Some(0)));
    assert!(dataset.read_chunk(&[20, 30]).unwrap().is_some());
    let texts = Dataset::open(&file, "str").unwrap();
    assert!(invalid(texts.read(&[0], &[3], &mut [0; 24])));
    assert!(invalid(texts.read_texts(&[1], &[3], &mut |_| ())));
    let mut found = Vec::new();
    texts.read_texts(&[1], &[2], &mut |text| found.push(text.to_vec())).unwrap();
    texts.read_texts(&[3], &[0], &mut |text| found.push(text.to_vec())).unwrap();
    assert_eq!(found, [b"x".to_vec(), Vec::new()]);
    assert_eq!(texts.fill_value(), Ok(None));
    // A dataset without chunks has no stored ones.
    let contiguous = Dataset::open(&file, "x").unwrap();
    assert!(invalid(contiguous.stored_chunk(&[0]).map(drop)));
    assert_eq!(contiguous.chunks(), None);
}

#[test]
fn files_that_cannot_be_opened_are_not_damaged_unless_they_were_read() {
    let missing = File::open(Path::new("/nonexistent/file.h5")).unwrap_err();
    assert!(!missing.is_corruption() && missing.to_string().contains("No such file"), "{missing}");
    let other = File::open(Path::new(file!())).map(drop);
    let other = other.or_else(|_| File::open(&fixture("h5py.py")).map(drop)).unwrap_err();
    assert!(other.is_corruption(), "{other}");
}
