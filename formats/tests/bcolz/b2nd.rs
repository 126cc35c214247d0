//! Conversions between bcolz arrays and tables and Blosc2 arrays and frames.

use crate::common::{Scratch, fixtures, iota, json, made, reader, rows, spec, tree, writer};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::bcolz::{self, Carray, CarraySpec, Ctable, Mode, Object, Options};
use ferroblosc_formats::bloscpack::Value;
use ferroblosc_formats::convert::{
    Error, Target, b2nd_to_carray, b2nd_to_ctable, carray_to_b2nd, ctable_to_b2nd,
};
use ferroblosc_formats::numpy::Dtype;
use std::path::Path;

/// Returns the names of all carray fixtures except those of Python objects.
fn carrays() -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_carray = entry.path().join("meta").is_dir();
        if is_carray && name != "objects" {
            names.push(name);
        }
    }
    assert!(names.len() > 40);
    names
}

fn frame(path: &Path) -> Array {
    Array::open(Storage::file(path), DParams::default()).unwrap()
}

fn unsigned(shape: &[i64]) -> Vec<u64> {
    shape.iter().map(|&len| len as u64).collect()
}

#[test]
fn carrays_round_trip_through_arrays() {
    let scratch = Scratch::new();
    for name in carrays() {
        let root = fixtures().join(&name);
        let path = scratch.path(&format!("{name}.b2nd"));
        carray_to_b2nd(&root, &path, &Options::default()).unwrap();
        let array = frame(&path);
        let mut before = reader(&root);
        assert_eq!(unsigned(&array.shape()), before.shape(), "{name}");
        assert_eq!(array.items().unwrap(), rows(&root), "{name}");
        assert_eq!(array.geometry().chunkshape()[0] as u64, before.chunklen());
        let back = scratch.path(&name);
        let target = Target { records: true, ..Target::default() };
        let left = b2nd_to_carray(&path, &back, &target, Mode::Append, &Options::default());
        assert_eq!(left.unwrap(), Vec::<String>::new(), "{name}");
        let after = reader(&back);
        assert_eq!(after.shape(), before.shape(), "{name}");
        assert_eq!(after.chunklen(), before.chunklen(), "{name}");
        assert_eq!(rows(&back), rows(&root), "{name}");
        assert_eq!(after.dtype().description(), before.dtype().description());
        assert_eq!(after.dflt().to_json(), before.dflt().to_json(), "{name}");
        let sorted = |array: &Carray| {
            let mut attrs: Vec<_> =
                array.attrs().iter().map(|(k, v)| (k.to_owned(), v.to_json())).collect();
            attrs.sort();
            attrs
        };
        assert_eq!(sorted(&after), sorted(&before), "{name}");
        before.flush().unwrap();
    }
}

/// Returns the stored chunks of a carray.
fn chunks(root: &Path) -> Vec<Vec<u8>> {
    let array = reader(root);
    (0..array.nchunks())
        .map(|number| {
            let mut chunk = Vec::new();
            array.stored_chunk(number, &mut chunk).unwrap();
            chunk
        })
        .collect()
}

#[test]
fn streams_of_full_chunks_are_copied_in_both_directions() {
    let scratch = Scratch::new();
    for shuffle in [0, 1, 2] {
        for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
            let root = scratch.path(&format!("{cname}-{shuffle}"));
            let mut spec = spec("int64", 4096);
            spec.row_shape = vec![3];
            spec.cparams.shuffle = shuffle;
            spec.cparams.cname = cname.to_owned();
            let mut array =
                Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
            array.append(&iota(0..3 * 10_000)).unwrap();
            array.close().unwrap();
            let path = scratch.path("a.b2nd");
            carray_to_b2nd(&root, &path, &Options::default()).unwrap();
            let there = frame(&path);
            assert_eq!(there.items().unwrap(), iota(0..3 * 10_000));
            let stored = chunks(&root);
            for (number, chunk) in stored[..2].iter().enumerate() {
                // Compares the streams after the headers and the block table.
                let nblocks = u32::from_le_bytes(chunk[4..8].try_into().unwrap())
                    .div_ceil(u32::from_le_bytes(chunk[8..12].try_into().unwrap()));
                let streams = &chunk[16 + 4 * nblocks as usize..];
                let copied = there.schunk().chunk(number as i64).unwrap();
                assert!(copied.ends_with(streams));
                assert_eq!(copied.len(), chunk.len() + 16);
            }
            let back = scratch.path(&format!("back-{cname}-{shuffle}"));
            let target = Target::default();
            b2nd_to_carray(&path, &back, &target, Mode::Append, &Options::default()).unwrap();
            for (back, chunk) in chunks(&back)[..2].iter().zip(&stored) {
                assert_eq!(back[3..], chunk[3..]);
            }
            assert_eq!(rows(&back), iota(0..3 * 10_000));
        }
    }
}

#[test]
fn chunks_of_partial_blocks_are_recompressed() {
    let scratch = Scratch::new();
    // Chunks with an odd number of rows, items that Blosc 1.x treats as bytes, and items over 255
    // bytes.
    for (dtype, row_shape, chunklen, len) in [
        ("int64", vec![], 12_345, 40_000_u64),
        ("|S5", vec![], 1000, 2500),
        ("<U3", vec![2], 1000, 2500),
        ("|S300", vec![], 77, 200),
        ("|V7", vec![5, 3], 10, 25),
        ("float32", vec![7, 11, 13], 100, 130),
        ("uint8", vec![300, 300], 3, 7),
    ] {
        let root = scratch.path("a");
        let spec = CarraySpec { row_shape, ..spec(dtype, chunklen) };
        let mut array = Carray::create(&root, &spec, Mode::Write, &Options::default()).unwrap();
        let bytes = len * array.row_bytes();
        let items: Vec<u8> = (0..bytes).map(|k| (k * k / 7) as u8).collect();
        array.append(&items).unwrap();
        array.close().unwrap();
        let path = scratch.path("a.b2nd");
        let options = Options { nthreads: 2, ..Options::default() };
        carray_to_b2nd(&root, &path, &options).unwrap();
        assert!(frame(&path).items().unwrap() == items, "{dtype}");
        let back = scratch.path("b");
        b2nd_to_carray(&path, &back, &Target::default(), Mode::Write, &options).unwrap();
        assert!(rows(&back) == items, "{dtype}");
    }
}

#[test]
fn attributes_are_metalayers_in_messagepack() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..250);
    let long = "a name of more than thirty-one bytes";
    let huge = "123456789012345678901234567890";
    let mut array = writer(&root);
    array.set_attr("first", json("[1, null, 2.5]")).unwrap();
    array.set_attr("näme", json("{\"k\": \"v\"}")).unwrap();
    array.set_attr(long, json("true")).unwrap();
    array.set_attr("huge", json(huge)).unwrap();
    array.set_attr("", json("\"none\"")).unwrap();
    array.close().unwrap();
    let path = scratch.path("a.b2nd");
    carray_to_b2nd(&root, &path, &Options::default()).unwrap();
    let schunk = SChunk::open(Storage::file(&path), DParams::default()).unwrap();
    assert_eq!(schunk.vlmetalayer_names(), ["first", "näme", "__bcolz__"]);
    assert_eq!(schunk.vlmetalayer("first").unwrap(), b"\x93\x01\xc0\xcb\x40\x04\0\0\0\0\0\0");
    assert_eq!(schunk.vlmetalayer("näme").unwrap(), b"\x81\xa1k\xa1v");
    let back = scratch.path("b");
    let options = Options::default();
    b2nd_to_carray(&path, &back, &Target::default(), Mode::Append, &options).unwrap();
    let attrs = reader(&back);
    let attr = |name: &str| attrs.attrs().get(name).map(Value::to_json);
    assert_eq!(attr(long).as_deref(), Some("true"));
    assert_eq!(attr("huge").as_deref(), Some(huge));
    assert_eq!(attr("").as_deref(), Some("\"none\""));
    assert_eq!(attr("first").unwrap(), json("[1, null, 2.5]").to_json());
    // Attributes that JSON cannot represent are listed.
    let mut schunk = SChunk::open(Storage::file(&path), DParams::default()).unwrap();
    schunk.add_vlmetalayer("raw", b"\xc4\x01a").unwrap();
    schunk.close().unwrap();
    let again = scratch.path("c");
    let left = b2nd_to_carray(&path, &again, &Target::default(), Mode::Append, &options);
    assert_eq!(left.unwrap(), ["raw"]);
}

#[test]
fn arrays_of_blosc2_become_carrays() {
    let scratch = Scratch::new();
    let path = scratch.path("a.b2nd");
    let layout = Layout { shape: &[50, 7, 3], chunkshape: &[8, 4, 3], blockshape: &[3, 2, 2] };
    let params = CParams::default().typesize(8);
    let items = iota(0..50 * 21);
    Array::from_item_bytes(Storage::file(&path), params.clone(), &layout, "<i8", &items).unwrap();
    let root = scratch.path("a");
    let options = Options::default();
    b2nd_to_carray(&path, &root, &Target::default(), Mode::Append, &options).unwrap();
    let array = reader(&root);
    assert_eq!((array.shape(), array.chunklen()), (vec![50, 7, 3], 8));
    assert_eq!(array.dtype().text(), "int64");
    assert_eq!(rows(&root), items);
    // Also as a directory, with another chunk length.
    let folder = scratch.path("d.b2nd");
    Array::from_item_bytes(Storage::directory(&folder), params, &layout, "<i8", &items).unwrap();
    let target = Target { chunklen: Some(11), ..Target::default() };
    let root = scratch.path("b");
    b2nd_to_carray(&folder, &root, &target, Mode::Append, &options).unwrap();
    assert_eq!((reader(&root).chunklen(), rows(&root)), (11, items));
}

#[test]
fn a_refused_conversion_leaves_no_output() {
    let scratch = Scratch::new();
    let options = Options::default();
    let path = scratch.path("a.b2nd");
    let objects = fixtures().join("objects");
    let refused = carray_to_b2nd(&objects, &path, &options);
    assert!(matches!(refused, Err(Error::Bcolz(bcolz::Error::Objects))));
    // 17 dimensions.
    let root = scratch.path("deep");
    let deep = CarraySpec { row_shape: vec![1; 16], ..spec("int8", 4) };
    drop(Carray::create(&root, &deep, Mode::Append, &options).unwrap());
    assert!(matches!(carray_to_b2nd(&root, &path, &options), Err(Error::Layout)));
    // A damaged chunk.
    let root = scratch.copy("i8_multi");
    let chunk = root.join("data/__1.blp");
    let bytes = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &bytes[..bytes.len() - 5]).unwrap();
    assert!(carray_to_b2nd(&root, &path, &options).is_err());
    let left = tree(&scratch.path("")).into_iter();
    let frames = left.filter(|(path, _)| path.to_string_lossy().contains("a.b2nd"));
    assert_eq!(frames.count(), 0);
    // Invalid sources: no array, no dimension, a dtype of another size, records.
    let root = scratch.path("back");
    let back =
        |path: &Path| b2nd_to_carray(path, &root, &Target::default(), Mode::Append, &options);
    assert!(matches!(back(&scratch.path("nothing")), Err(Error::B2nd { .. })));
    let layout = |shape: &'static [i64], part: &'static [i32]| Layout {
        shape,
        chunkshape: part,
        blockshape: part,
    };
    let params = CParams::default().typesize(4);
    for (name, layout, dtype) in [
        ("none", layout(&[], &[]), "<i4"),
        ("size", layout(&[10], &[10]), "<i8"),
        ("records", layout(&[10], &[10]), "[('a', '<i2'), ('b', '<i2')]"),
        ("nonsense", layout(&[10], &[10]), "[('a', "),
        ("rows", layout(&[10, 0], &[10, 0]), "<i4"),
    ] {
        let path = scratch.path(name);
        Array::zeros(Storage::file(&path), params.clone(), &layout, dtype).unwrap();
        assert!(back(&path).is_err(), "{name}");
        assert!(!root.exists());
    }
    let schunk = SChunk::create(Storage::file(scratch.path("plain")), params, DParams::default());
    schunk.unwrap().close().unwrap();
    assert!(matches!(back(&scratch.path("plain")), Err(Error::B2nd { .. })));
}

#[test]
fn tables_round_trip_through_frames() {
    let scratch = Scratch::new();
    let options = Options::default();
    for name in ["ct_mixed", "ct_append", "ct_empty", "v121_ct", "ct_old_rootdirs"] {
        let root = fixtures().join(name);
        let folder = scratch.path(&format!("{name}.frames"));
        ctable_to_b2nd(&root, &folder, &options).unwrap();
        let back = scratch.path(name);
        let target = Target { records: true, ..Target::default() };
        let left = b2nd_to_ctable(&folder, &back, &target, Mode::Append, &options).unwrap();
        assert!(left.is_empty());
        let mut before = Ctable::open(&root, Mode::Read, &options).unwrap();
        let mut after = Ctable::open(&back, Mode::Read, &options).unwrap();
        let names: Vec<String> = before.names().map(str::to_owned).collect();
        assert!(after.names().eq(names.iter().map(String::as_str)), "{name}");
        let attrs = |table: &Ctable| table.attrs().to_value().to_json();
        assert_eq!(attrs(&after), attrs(&before), "{name}");
        let len = before.len();
        for column in &names {
            let path = folder.join(format!("{column}.b2nd"));
            assert_eq!(frame(&path).shape()[0] as u64, len);
            let rows = before.read(column, 0..len).unwrap();
            assert_eq!(after.read(column, 0..len).unwrap(), rows, "{name}/{column}");
        }
    }
}

#[test]
fn frames_of_equal_length_become_a_table() {
    let scratch = Scratch::new();
    let options = Options::default();
    let folder = scratch.path("frames");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, len: i64| {
        let layout = Layout { shape: &[len], chunkshape: &[100], blockshape: &[10] };
        let storage = Storage::file(folder.join(format!("{name}.b2nd")));
        let params = CParams::default().typesize(8);
        Array::from_item_bytes(storage, params, &layout, "<i8", &iota(0..len)).unwrap();
    };
    let root = scratch.path("t");
    let back = || b2nd_to_ctable(&folder, &root, &Target::default(), Mode::Append, &options);
    assert!(matches!(back(), Err(Error::Columns(_))));
    write("b", 250);
    write("a", 250);
    std::fs::write(folder.join("notes.txt"), "not a frame").unwrap();
    back().unwrap();
    let mut table = Ctable::open(&root, Mode::Read, &options).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(table.read("b", 0..250).unwrap(), iota(0..250));
    bcolz::purge(&root, &options).unwrap();
    write("c", 251);
    let refused = back();
    assert!(matches!(refused, Err(Error::Bcolz(bcolz::Error::UnequalColumns(_)))));
    assert!(!root.exists());
    // A table's frame lists two columns, but only one exists.
    std::fs::remove_dir_all(&folder).unwrap();
    ctable_to_b2nd(&fixtures().join("v121_ct"), &folder, &options).unwrap();
    let first = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    std::fs::remove_file(first.path()).unwrap();
    assert!(matches!(back(), Err(Error::Columns(_))));
}

#[test]
fn record_columns_keep_their_fields() {
    let scratch = Scratch::new();
    let path = scratch.path("r.b2nd");
    let root = fixtures().join("record_dtype");
    carray_to_b2nd(&root, &path, &Options::default()).unwrap();
    let text = frame(&path).dtype().unwrap().to_owned();
    assert_eq!(Dtype::parse(&text).unwrap().fields(), reader(&root).dtype().fields());
    let opened = bcolz::open(&root, Mode::Read, &Options::default()).unwrap();
    assert!(matches!(opened, Object::Carray(_)));
}
