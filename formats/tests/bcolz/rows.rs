//! Decisions for cases in which bcolz fails, loses data or returns wrong results.

use crate::common::{
    Scratch, fixtures, iota, json, made, pack_chunks, reader, rows, spec, tree, writer,
};
use ferroblosc_formats::bcolz::{self, Carray, CarraySpec, Ctable, Error, Mode, Object, Options};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn row_b1_missing_attributes_and_data_are_empty() {
    let scratch = Scratch::new();
    let root = scratch.copy("empty_f8");
    let _ = fs::remove_dir(root.join("data"));
    fs::remove_file(root.join("__attrs__")).unwrap();
    let before = tree(&root);
    let array = reader(&root);
    assert_eq!((array.len(), array.attrs().iter().count()), (0, 0));
    drop(array);
    assert_eq!(tree(&root), before);
    // A writer creates both.
    let mut array = writer(&root);
    array.append(&1.5_f64.to_le_bytes()).unwrap();
    array.close().unwrap();
    assert_eq!(fs::read(root.join("__attrs__")).unwrap(), b"{}\n");
    assert_eq!(rows(&root), 1.5_f64.to_le_bytes());
    // With rows in `sizes`, missing data is an error.
    let root = scratch.copy("i8_small");
    fs::remove_dir_all(root.join("data")).unwrap();
    assert!(matches!(reader(&root).read(0..1), Err(Error::MissingChunk(_))));
}

#[test]
fn row_b2_arrays_of_an_unknown_codec_are_readable() {
    let scratch = Scratch::new();
    let root = scratch.copy("i8_multi");
    let path = root.join("meta/storage");
    let storage = fs::read_to_string(&path).unwrap();
    fs::write(&path, storage.replace("\"lz4\"", "\"lz9\"")).unwrap();
    assert_eq!(rows(&root), iota(0..5000));
    let mut array = writer(&root);
    assert_eq!(array.append(&iota(0..1)), Err(Error::NoSuchCodec("lz9".to_owned())));
    array.set_cparams(bcolz::Compression::default()).unwrap();
    array.append(&iota(5000..5001)).unwrap();
    array.close().unwrap();
    assert_eq!(rows(&root), iota(0..5001));
}

#[test]
fn row_b3_the_last_chunk_may_have_more_rows_but_not_fewer() {
    assert_eq!(rows(&fixtures().join("unflushed_append")), iota(0..1000));
    let scratch = Scratch::new();
    let root = scratch.copy("i8_multi");
    let path = root.join("meta/sizes");
    let sizes = fs::read_to_string(&path).unwrap();
    fs::write(&path, sizes.replace("[5000]", "[4999]")).unwrap();
    assert_eq!(rows(&root), iota(0..4999));
    fs::write(&path, sizes.replace("[5000]", "[5001]")).unwrap();
    let error = reader(&root).read(5000..5001).unwrap_err();
    assert!(matches!(error, Error::Chunk { why: "the chunk holds too few rows", .. }));
    // A chunk file with more rows than a chunk is an error, too.
    let root = scratch.copy("i8_small");
    let storage = root.join("meta/storage");
    let text = fs::read_to_string(&storage).unwrap();
    fs::write(&storage, text.replace("2048", "8")).unwrap();
    fs::write(root.join("meta/sizes"), r#"{"shape": [6]}"#).unwrap();
    let error = reader(&root).read(0..1).unwrap_err();
    assert!(matches!(error, Error::Chunk { why: "the chunk holds too many rows", .. }));
}

#[test]
fn row_b4_stale_files_are_ignored_and_writers_remove_them() {
    let scratch = Scratch::new();
    let root = scratch.copy("trim_stale_leftover");
    assert_eq!(rows(&root), iota(0..2048));
    assert!(root.join("data/__2.blp").exists());
    fs::copy(root.join("data/__0.blp"), root.join("data/__7.blp")).unwrap();
    fs::write(root.join("data/notes"), "mine").unwrap();
    let mut array = writer(&root);
    array.append(&iota(2048..2049)).unwrap();
    array.close().unwrap();
    assert_eq!(rows(&root), iota(0..2049));
    assert!(!root.join("data/__7.blp").exists());
    assert!(root.join("data/notes").exists());
    // Trimming removes the stale file, unlike in bcolz.
    writer(&root).trim(1).unwrap();
    assert!(!root.join("data/__2.blp").exists());
}

#[test]
fn row_b5_records_are_readable() {
    let array = reader(&fixtures().join("record_dtype"));
    assert_eq!(array.dtype().fields().len(), 2);
    let bytes = rows(&fixtures().join("record_dtype"));
    let third = [2.0_f64.to_le_bytes().to_vec(), 6_i16.to_le_bytes().to_vec()].concat();
    assert_eq!(bytes[20..30], third);
    // Records are written only on explicit request.
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let mut spec = spec("[('u', '<f8'), ('v', '<i2')]", 40);
    let refused = Carray::create(&root, &spec, Mode::Append, &Options::default());
    assert!(matches!(refused, Err(Error::Argument(_))));
    spec.records = true;
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    array.append(&bytes).unwrap();
    assert_eq!(array.dflt(), &json("[0.0, 0]"));
    drop(array);
    assert_eq!(rows(&root), bytes);
}

#[test]
fn row_b6_a_read_only_handle_changes_nothing() {
    let scratch = Scratch::new();
    for name in ["i8_multi", "unflushed_append", "trim_stale_leftover"] {
        let root = scratch.copy(name);
        let before = tree(&root);
        let mut array = reader(&root);
        assert_eq!(array.trim(2), Err(Error::ReadOnly));
        assert_eq!(array.resize(2), Err(Error::ReadOnly));
        assert_eq!(array.resize(100_000), Err(Error::ReadOnly));
        assert_eq!(array.append(&iota(0..1)), Err(Error::ReadOnly));
        assert_eq!(array.set(0, &iota(0..1)), Err(Error::ReadOnly));
        assert_eq!(array.remove_attr("x"), Err(Error::ReadOnly));
        assert_eq!(array.flush(), Ok(()));
        assert_eq!(array.close(), Ok(()));
        assert_eq!(tree(&root), before);
    }
    let root = scratch.copy("ct_mixed");
    let before = tree(&root);
    let mut table = Ctable::open(&root, Mode::Read, &Options::default()).unwrap();
    assert_eq!(table.trim(1), Err(Error::ReadOnly));
    assert_eq!(table.append(&[]), Err(Error::ReadOnly));
    assert_eq!(table.set("id", 0, &[0; 4]), Err(Error::ReadOnly));
    assert_eq!(table.remove_column("id", false), Err(Error::ReadOnly));
    assert_eq!(table.rename_column("id", "x"), Err(Error::ReadOnly));
    assert_eq!(table.set_column_attr("id", "x", json("1")), Err(Error::ReadOnly));
    assert_eq!(table.flush(), Ok(()));
    drop(table);
    let spec = spec("int64", 4);
    let refused = Carray::create(&scratch.path("new"), &spec, Mode::Read, &Options::default());
    assert!(matches!(refused, Err(Error::ReadOnly)));
    assert!(!scratch.path("new").exists());
    assert_eq!(tree(&root), before);
}

#[test]
fn row_b7_only_bcolz_directories_are_replaced() {
    let scratch = Scratch::new();
    let create = |root: &Path, mode| {
        Carray::create(root, &spec("int64", 4), mode, &Options::default()).map(drop)
    };
    let root = scratch.path("precious");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("thesis.tex"), "years").unwrap();
    assert!(matches!(create(&root, Mode::Write), Err(Error::NotOurs(_))));
    let file = scratch.path("file");
    fs::write(&file, "text").unwrap();
    assert!(matches!(create(&file, Mode::Write), Err(Error::NotOurs(_))));
    assert!(matches!(bcolz::purge(&root, &Options::default()), Err(Error::NotOurs(_))));
    assert_eq!(fs::read(root.join("thesis.tex")).unwrap(), b"years");
    // Names that are not UTF-8, and those of directories of an array.
    let root = scratch.path("others");
    fs::create_dir(&root).unwrap();
    let name = root.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::write(&name, "years").unwrap();
    for lock in ["", ".ferroblosc-lock"] {
        if !lock.is_empty() {
            fs::write(root.join(lock), "").unwrap();
            fs::create_dir(root.join("data")).unwrap();
        }
        assert!(matches!(create(&root, Mode::Write), Err(Error::NotOurs(_))));
        assert!(matches!(bcolz::purge(&root, &Options::default()), Err(Error::NotOurs(_))));
    }
    assert_eq!(fs::read(&name).unwrap(), b"years");
    fs::remove_file(name).unwrap();
    fs::write(root.join("meta"), "a file").unwrap();
    assert!(matches!(create(&root, Mode::Write), Err(Error::NotOurs(_))));
    // An interrupted removal.
    fs::remove_file(root.join("meta")).unwrap();
    create(&root, Mode::Write).unwrap();
    let table = scratch.copy("ct_mixed");
    let exists = create(&table, Mode::Append).unwrap_err().to_string();
    assert!(exists.ends_with("already exists and creation mode is 'a'"), "{exists}");
    create(&table, Mode::Write).unwrap();
    assert_eq!(rows(&table), []);
    assert!(!table.join("__rootdirs__").exists());
    // An empty directory may be replaced, and so may an interrupted creation of bcolz.
    fs::create_dir(scratch.path("empty")).unwrap();
    create(&scratch.path("empty"), Mode::Write).unwrap();
    let root = scratch.path("failed");
    fs::create_dir_all(root.join("meta")).unwrap();
    fs::write(root.join("meta/storage"), "").unwrap();
    let error = Carray::open(&root, Mode::Read, &Options::default()).err().unwrap();
    assert!(error.to_string().ends_with("is incomplete: its creation was interrupted"), "{error}");
    create(&root, Mode::Write).unwrap();
    // The targets of links remain.
    symlink(scratch.path("precious"), table.join("link")).unwrap();
    // An object with a writer stays.
    let writer = writer(&table);
    let purged = bcolz::purge(&table, &Options::default());
    assert!(matches!(purged, Err(Error::Busy(_))), "{purged:?}");
    writer.close().unwrap();
    assert_eq!(rows(&table), []);
    bcolz::purge(&table, &Options::default()).unwrap();
    assert!(!table.exists());
    assert!(scratch.path("precious/thesis.tex").exists());
}

#[test]
fn opening_for_writing_keeps_description_and_attributes() {
    let scratch = Scratch::new();
    let root = scratch.copy("attrs");
    let array = Carray::open(&root, Mode::Write, &Options::default()).unwrap();
    assert_eq!((array.len(), array.attrs().get("n")), (0, Some(&json("3"))));
    drop(array);
    assert_eq!(rows(&root), []);
    let refused = Ctable::open(&scratch.copy("ct_mixed"), Mode::Write, &Options::default());
    assert_eq!(
        refused.err().unwrap().to_string(),
        "You cannot open a ctable in 'w'rite mode without a `columns` param"
    );
    assert_eq!(Mode::from_name("x").unwrap_err().to_string(), "mode should be 'r', 'w' or 'a'");
}

#[test]
fn row_b10_an_index_before_the_first_row_is_invalid() {
    let array = reader(&fixtures().join("i8_small"));
    assert_eq!(array.row_number(0), Ok(0));
    assert_eq!(array.row_number(9), Ok(9));
    assert_eq!(array.row_number(-1), Ok(9));
    assert_eq!(array.row_number(-10), Ok(0));
    for index in [10, -11, i64::MIN, i64::MAX] {
        assert_eq!(array.row_number(index), Err(Error::NoSuchRow(index)));
    }
}

#[test]
fn row_b11_column_names_cannot_leave_the_table() {
    let scratch = Scratch::new();
    let root = scratch.copy("ct_old_rootdirs");
    for name in ["../i8_small", "a/../../x", "..", "", "/tmp", "__attrs__", "a\\\\b", "a\\u0000"] {
        let text = format!("{{\"names\": [\"{name}\"]}}");
        fs::write(root.join("__rootdirs__"), text).unwrap();
        let refused = Ctable::open(&root, Mode::Read, &Options::default());
        assert!(matches!(refused, Err(Error::ColumnName(_))), "{name}");
    }
    fs::write(root.join("__rootdirs__"), r#"{"names": ["out"]}"#).unwrap();
    scratch.copy("i8_small");
    symlink(scratch.path("i8_small"), root.join("out")).unwrap();
    let refused = Ctable::open(&root, Mode::Read, &Options::default());
    assert!(matches!(refused, Err(Error::Outside(_))));
    fs::write(root.join("__rootdirs__"), r#"{"names": ["a"]}"#).unwrap();
    let mut table = Ctable::open(&root, Mode::Append, &Options::default()).unwrap();
    for name in ["a/b", "..", "1a", "class", "out"] {
        assert!(
            table.add_column(name, &spec("int32", 4), None, |_| bcolz::Result::Ok(())).is_err()
        );
        assert!(table.rename_column("a", name).is_err());
    }
}

#[test]
fn row_b13_opening_uses_no_memory_and_sizes_are_not_trusted() {
    let scratch = Scratch::new();
    let root = scratch.copy("i8_small");
    let storage = fs::read_to_string(root.join("meta/storage")).unwrap();
    // Declares a chunk of 2 GiB and 2^60 bytes of rows in a directory of a few hundred bytes.
    let large = storage.replace("2048", "268435450");
    fs::write(root.join("meta/storage"), large).unwrap();
    let sizes = r#"{"shape": [144115188075855872], "nbytes": -5, "cbytes": -16}"#;
    fs::write(root.join("meta/sizes"), sizes).unwrap();
    let mut array = reader(&root);
    assert_eq!(array.len(), 1 << 57);
    assert!(array.read(0..1 << 40).is_err());
    assert!(array.read(0..1).is_err());
    fs::write(root.join("meta/sizes"), r#"{"shape": [10], "cbytes": -16}"#).unwrap();
    assert_eq!(rows(&root), iota(0..10));
    let mut array = writer(&root);
    array.append(&iota(10..11)).unwrap();
    array.close().unwrap();
    assert_eq!(rows(&root), iota(0..11));
}

#[test]
fn row_b14_the_header_of_a_chunk_file_is_checked() {
    let scratch = Scratch::new();
    let root = scratch.copy("i8_multi");
    let path = root.join("data/__1.blp");
    let right = fs::read(&path).unwrap();
    let strict = Options { strict: true, ..Options::default() };
    for at in 0..16 {
        let mut file = right.clone();
        file[at] ^= 0x40;
        fs::write(&path, &file).unwrap();
        // Without `strict`, the file can be read, even if the number of chunks is wrong.
        assert_eq!(rows(&root), iota(0..5000), "{at}");
        let mut array = Carray::open(&root, Mode::Read, &strict).unwrap();
        assert!(matches!(array.read(1024..1025), Err(Error::Chunk { .. })), "{at}");
        assert_eq!(array.read(0..1024).unwrap(), iota(0..1024));
    }
    // Bytes after the chunk are ignored.
    fs::write(&path, [right.clone(), vec![7; 100]].concat()).unwrap();
    let mut array = Carray::open(&root, Mode::Read, &strict).unwrap();
    assert_eq!(array.read(0..5000).unwrap(), iota(0..5000));
}

#[test]
fn rows_before_a_damaged_block_are_read_every_time() {
    const ROWS: i64 = 1 << 19;
    let scratch = Scratch::new();
    let root = scratch.path("damaged");
    made(&root, ROWS as u64, 0..ROWS);
    let path = root.join("data/__0.blp");
    let mut file = fs::read(&path).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (nbytes, blocksize) = (word(16 + 4), word(16 + 8));
    let nblocks = nbytes.div_ceil(blocksize) as usize;
    assert!(nblocks > 2);
    // The last block's offset points after the chunk.
    let start = 16 + 16 + 4 * (nblocks - 1);
    file[start..start + 4].copy_from_slice(&i32::MAX.to_le_bytes());
    fs::write(&path, file).unwrap();
    let mut array = reader(&root);
    for row in [0, 1, 0, 500, 1] {
        let read = array.read(row..row + 1).unwrap();
        assert_eq!(read, iota(row as i64..row as i64 + 1));
    }
    for _ in 0..2 {
        assert!(array.read(ROWS as u64 - 1..ROWS as u64).is_err());
        assert!(array.read(0..ROWS as u64).is_err());
        assert_eq!(array.read(0..1).unwrap(), iota(0..1));
    }
}

#[test]
fn row_b15_the_published_layout_is_read_and_never_written() {
    let scratch = Scratch::new();
    for (name, counts) in [
        ("two", vec![(2, 2), (2, 2), (1, 1)]),
        ("all", vec![(5, -1)]),
        ("late", vec![(1, 1), (1, 1), (3, 3)]),
    ] {
        let root = scratch.path(name);
        crate::common::copy_tree(&fixtures().join("i8_multi"), &root);
        pack_chunks(&root, &counts);
        assert_eq!(rows(&root), iota(0..5000), "{name}");
        assert_eq!(reader(&root).read(1023..1025).unwrap(), iota(1023..1025));
        let before = tree(&root);
        let refused = writer(&root).append(&iota(0..1));
        assert!(matches!(refused, Err(Error::ReadOnlyLayout(_))), "{name}");
        assert_eq!(tree(&root), before);
    }
    // Columns in `data`, and a table as a column.
    let root = scratch.copy("ct_old_rootdirs");
    fs::create_dir(root.join("data")).unwrap();
    fs::rename(root.join("a"), root.join("data/a")).unwrap();
    let inner = root.join("data/inner");
    fs::create_dir(&inner).unwrap();
    fs::rename(root.join("b"), inner.join("b")).unwrap();
    fs::write(inner.join("__rootdirs__"), r#"{"names": ["b"]}"#).unwrap();
    fs::write(root.join("__rootdirs__"), r#"{"names": ["a", "inner"]}"#).unwrap();
    let mut table = Ctable::open(&root, Mode::Append, &Options::default()).unwrap();
    assert_eq!(table.read("inner/b", 0..10).unwrap(), iota(0..10));
    assert_eq!(table.read("a", 9..10).unwrap(), [9, 0, 0, 0]);
    assert!(matches!(table.column("inner"), Ok(Object::Ctable(_))));
    assert!(matches!(table.trim(1), Err(Error::ReadOnlyLayout(_))));
}

#[test]
fn invalid_descriptions_return_descriptive_errors() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 4, 0..10);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let many = format!(r#"{{"shape": [5{}]}}"#, ", 1".repeat(64));
    for (file, text) in [
        ("meta/sizes", ""),
        ("meta/sizes", "{"),
        ("meta/sizes", "[]"),
        ("meta/sizes", r#"{"shape": []}"#),
        ("meta/sizes", r#"{"shape": [-1]}"#),
        ("meta/sizes", r#"{"shape": [1e3]}"#),
        ("meta/sizes", r#"{"shape": [9223372036854775808]}"#),
        ("meta/sizes", r#"{"shape": [4294967296, 4294967296]}"#),
        ("meta/sizes", r#"{"shape": [1, 0]}"#),
        ("meta/sizes", deep.as_str()),
        ("meta/storage", ""),
        ("meta/storage", "{}"),
        ("meta/storage", r#"{"dtype": "int64", "chunklen": 0}"#),
        ("meta/storage", r#"{"dtype": "int64", "chunklen": 99999999999999}"#),
        ("meta/storage", r#"{"dtype": "|S9999999999", "chunklen": 1}"#),
        ("meta/storage", r#"{"dtype": "__import__('os')", "chunklen": 1}"#),
        ("meta/storage", r#"{"dtype": "int64", "chunklen": 1, "cparams": {"clevel": "x"}}"#),
        ("meta/storage", r#"{"dtype": "int64", "chunklen": 1, "cparams": {"shuffle": 1.5}}"#),
        ("meta/storage", r#"{"dtype": "int64", "chunklen": 1, "cparams": {"cname": 7}}"#),
        ("meta/storage", r#"{"dtype": "int64", "chunklen": 1, "cparams": {"quantize": "x"}}"#),
        ("meta/storage", r#"{"dtype": 7, "chunklen": 1}"#),
        ("meta/storage", r#"{"dtype": "[('a', '<f10')]", "chunklen": 1}"#),
        ("meta/storage", r#"{"dtype": "|V0", "chunklen": 1}"#),
        ("meta/sizes", r#"{"shape": [0, 9223372036854775808]}"#),
        ("meta/sizes", many.as_str()),
        ("__attrs__", "[]"),
        ("__attrs__", "{\"a\": "),
        ("__attrs__", deep.as_str()),
    ] {
        let path = root.join(file);
        let right = fs::read(&path).unwrap();
        fs::write(&path, text).unwrap();
        let opened = Carray::open(&root, Mode::Read, &Options::default());
        assert!(opened.is_err(), "{file}: {}", &text[..text.len().min(40)]);
        fs::write(&path, right).unwrap();
    }
    assert_eq!(rows(&root), iota(0..10));
    assert!(matches!(
        bcolz::open(&scratch.path("none"), Mode::Read, &Options::default()),
        Err(Error::NotFound(_))
    ));
    // Opening a pipe must not block.
    fs::remove_file(root.join("meta/sizes")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.join("meta/sizes")).status();
    assert!(made.unwrap().success());
    assert!(Carray::open(&root, Mode::Read, &Options::default()).is_err());
}

#[test]
fn numbers_and_keys_may_be_in_any_json_notation() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let spec = CarraySpec { expectedlen: 3, ..spec("int64", 4) };
    Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    fs::write(
        root.join("meta/storage"),
        "{\n \"chunklen\" : 4, \"chunklen\":5,\t\"dtype\":\"<i8\", \"new\": {}, \"dflt\": -Infinity}",
    )
    .unwrap();
    fs::write(root.join("meta/sizes"), "{\"shape\": 0}").unwrap();
    let array = reader(&root);
    assert_eq!((array.chunklen(), array.shape()), (5, vec![0]));
}

/// Old versions of bcolz wrote fewer parameters.
#[test]
fn missing_parameters_have_default_values() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 4, 0..10);
    for (cparams, clevel, shuffle, cname) in [
        ("{}", 5, 1, "blosclz"),
        (r#"{"shuffle": false}"#, 5, 0, "blosclz"),
        (r#"{"shuffle": true, "clevel": 9, "quantize": null}"#, 9, 1, "blosclz"),
        (r#"{"cname": "lz4"}"#, 5, 1, "lz4"),
    ] {
        let storage = format!(r#"{{"dtype": "int64", "chunklen": 4, "cparams": {cparams}}}"#);
        fs::write(root.join("meta/storage"), storage).unwrap();
        let array = reader(&root);
        let found = array.cparams();
        assert_eq!((found.clevel, found.shuffle, found.cname.as_str()), (clevel, shuffle, cname));
        assert_eq!((rows(&root), found.quantize), (iota(0..10), 0));
    }
}

/// Other programs may write chunks whose type size is not the size of the items.
#[test]
fn single_rows_are_read_from_chunks_of_any_type_size() {
    use ferroblosc::blosc1::{Call, Engine, Params, compname_to_compcode};
    use ferroblosc::chunk::SplitMode;
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 1000, 0..1000);
    let chunk = root.join("data/__0.blp");
    let prefix = fs::read(&chunk).unwrap()[..16].to_vec();
    for typesize in [1, 3, 4, 16] {
        let params = Params {
            call: Call { clevel: 5, shuffle: 1, typesize },
            compressor: compname_to_compcode(b"lz4"),
            blocksize: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            nthreads: 1,
        };
        let mut bytes = vec![0; 16 + 8000];
        let len = Engine::default().compress(&params, &iota(0..1000), &mut bytes).unwrap();
        fs::write(&chunk, [&prefix, &bytes[..len]].concat()).unwrap();
        let mut array = reader(&root);
        for row in [999, 0, 7, 8] {
            assert_eq!(array.read(row..row + 1).unwrap(), iota(row as i64..row as i64 + 1));
        }
        assert_eq!(array.read(3..3), Ok(Vec::new()));
    }
}

#[test]
fn links_to_objects_are_removed_alone() {
    let scratch = Scratch::new();
    let (root, link) = (scratch.path("a"), scratch.path("link"));
    made(&root, 4, 0..10);
    symlink(&root, &link).unwrap();
    bcolz::purge(&link, &Options::default()).unwrap();
    assert!(!link.exists());
    assert_eq!(rows(&root), iota(0..10));
    symlink(&root, &link).unwrap();
    let create = |root: &Path| {
        Carray::create(root, &spec("int64", 4), Mode::Write, &Options::default()).map(drop)
    };
    create(&link).unwrap();
    assert_eq!((rows(&link), rows(&root)), (Vec::new(), iota(0..10)));
    // A link to nothing is not replaced.
    fs::remove_dir_all(&link).unwrap();
    symlink(scratch.path("none"), &link).unwrap();
    assert!(matches!(create(&link), Err(Error::NotOurs(_))));
    assert!(matches!(bcolz::purge(&link, &Options::default()), Err(Error::NotOurs(_))));
    // A name that the file system does not allow is not a missing object.
    let long = scratch.path(&"x".repeat(300));
    let error = bcolz::open(&long, Mode::Read, &Options::default()).err().unwrap();
    assert!(error.to_string().contains("File name too long"), "{error}");
}

/// Directories may be nested so deeply that a recursive removal uses up the stack.
#[test]
fn deep_directories_in_an_object_are_not_removed() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 4, 0..10);
    fs::create_dir_all(root.join("data").join("d/".repeat(100))).unwrap();
    let error = bcolz::purge(&root, &Options::default()).unwrap_err();
    assert!(matches!(&error, Error::Storage { path, .. } if path.starts_with(&root)), "{error}");
    assert!(root.join("meta/storage").exists());
    fs::remove_dir_all(root.join("data/d")).unwrap();
    bcolz::purge(&root, &Options::default()).unwrap();
    assert!(!root.exists());
}
