//! The texts and codes of errors, which name the true cause.

use crate::common::{Scratch, copy_tree, fixtures, iota, json, made, pack_chunks, reader, spec};
use ferroblosc::Error as Code;
use ferroblosc_formats::bcolz::{
    self, Carray, CarraySpec, Compression, Ctable, Error, Mode, Object, Options, Store,
};
use ferroblosc_formats::numpy::Dtype;
use std::fs;
use std::path::Path;

fn opened(root: &Path, mode: Mode) -> bcolz::Result<Object> {
    bcolz::open(root, mode, &Options::default())
}

fn table(root: &Path, mode: Mode) -> bcolz::Result<Ctable> {
    Ctable::open(root, mode, &Options::default())
}

fn array(root: &Path, mode: Mode) -> bcolz::Result<Carray> {
    Carray::open(root, mode, &Options::default())
}

/// Creates a table of the columns `a` and `b` with five rows.
fn two_columns(root: &Path) {
    let columns = [("a", spec("int64", 4)), ("b", spec("int64", 4))];
    let mut table = Ctable::create(root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..5), &iota(0..5)]).unwrap();
}

#[test]
fn errors_name_the_cause_and_have_a_code() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let shown = root.display().to_string();
    let mut failed = Vec::new();
    let mut check = |result: bcolz::Result<()>, expected: &str, code: Code, is_damage: bool| {
        let Err(error) = result else {
            failed.push(format!("no error: {expected}"));
            return;
        };
        let expected = expected.replace("ROOT", &shown);
        let is_expected = error.to_string() == expected
            && error.code() == code
            && error.is_corruption() == is_damage;
        if !is_expected {
            failed.push(format!(
                "{error} ({}, {}): {expected}",
                error.code(),
                error.is_corruption()
            ));
        }
    };
    check(
        opened(&root, Mode::Read).map(drop),
        "there is no carray or ctable at 'ROOT'",
        Code::NotFound,
        false,
    );
    check(
        bcolz::purge(&root, &Options::default()),
        "there is no carray or ctable at 'ROOT'",
        Code::NotFound,
        false,
    );
    check(
        bcolz::repair(&root, &Options::default()).map(drop),
        "there is no carray or ctable at 'ROOT'",
        Code::NotFound,
        false,
    );
    made(&root, 4, 0..5);
    let create = |mode| Carray::create(&root, &spec("int64", 4), mode, &Options::default());
    check(
        create(Mode::Append).map(drop),
        "specified rootdir path 'ROOT' already exists and creation mode is 'a'",
        Code::FileOpen,
        false,
    );
    let read_only = "cannot modify data because mode is 'r'";
    check(create(Mode::Read).map(drop), read_only, Code::FileWrite, false);
    let mut reading = reader(&root);
    check(reading.append(&iota(0..1)), read_only, Code::FileWrite, false);
    check(reading.remove_attr("x").map(drop), read_only, Code::FileWrite, false);
    reading.flush().unwrap();
    check(
        reading.read(3..9).map(drop),
        "6 rows from 3 on are out of range, there are 5 rows",
        Code::InvalidIndex,
        false,
    );
    check(reading.rows_of(2).map(drop), "there is no such chunk", Code::InvalidParam, false);
    check(reading.row_number(5).map(drop), "index 5 is out of range", Code::InvalidIndex, false);
    check(reading.pickle(0).map(drop), "the dtype is not object", Code::InvalidParam, false);
    let mut writer = array(&root, Mode::Append).unwrap();
    check(
        writer.append(&[0; 9]),
        "9 bytes are not a multiple of rows of 8 bytes",
        Code::InvalidParam,
        false,
    );
    check(writer.trim(6), "`nitems` must be less than total length", Code::InvalidParam, false);
    check(writer.resize(1 << 62), "the array would be too large", Code::InvalidParam, false);
    assert_eq!(writer.len(), 5);
    check(
        array(&root, Mode::Append).map(drop),
        "'ROOT' is locked by another writer",
        Code::Lock,
        false,
    );
    drop(writer);
    let with = |change: fn(&mut CarraySpec)| {
        let mut spec = spec("float64", 4);
        change(&mut spec);
        let new = scratch.path("new");
        let created = Carray::create(&new, &spec, Mode::Append, &Options::default()).map(drop);
        assert!(created.is_err() && !new.exists());
        created
    };
    type Change = fn(&mut CarraySpec);
    let parameters: [(Change, &str); 9] = [
        (|spec| spec.cparams.clevel = 10, "the level is at most 9 and the shuffle at most 2"),
        (|spec| spec.cparams.quantize = 301, "the number of digits is too large"),
        (|spec| spec.chunklen = Some(0), "chunklen must be a positive integer"),
        (|spec| spec.chunklen = Some(1 << 40), "the chunks are too large"),
        (|spec| spec.row_shape = vec![0], "atomic size cannot be zero"),
        (|spec| spec.row_shape = vec![1 << 60, 1 << 60], "the shape is too large"),
        (|spec| spec.row_shape = vec![1 << 40], "the rows are too large"),
        (
            |spec| spec.dflt = Some(json("\"x\"")),
            "the fill value does not have the type of the array",
        ),
        (
            |spec| spec.dtype = Dtype::parse("[('x', '<i4')]").unwrap(),
            "bcolz cannot open carrays or columns of records: make a ctable of their fields",
        ),
    ];
    for (change, expected) in parameters {
        check(with(change), expected, Code::InvalidParam, false);
    }
    let of_codec = |spec: &mut CarraySpec| {
        spec.cparams = Compression { cname: "zzz".to_owned(), ..Compression::default() };
    };
    check(with(of_codec), "there is no codec 'zzz'", Code::CodecSupport, false);
    check(
        with(|spec| spec.dtype = Dtype::parse("|O").unwrap()),
        "Python objects can't be converted",
        Code::Data,
        false,
    );
    check(
        with(|spec| spec.dtype = Dtype::parse("<f10").unwrap()),
        "the dtype '<f10' is not understood",
        Code::Data,
        false,
    );
    let chunk = root.join("data/__0.blp");
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, &bytes[..20]).unwrap();
    let too_short = format!("{}: the file is too short", chunk.display());
    check(reader(&root).read(0..1).map(drop), &too_short, Code::Data, true);
    fs::remove_file(&chunk).unwrap();
    let missing = format!("chunkfile '{}' not found", chunk.display());
    check(reader(&root).read(0..1).map(drop), &missing, Code::NotFound, true);
    let storage = root.join("meta/storage");
    let text = fs::read_to_string(&storage).unwrap();
    fs::write(&storage, text.replace("int64", "int128")).unwrap();
    check(
        opened(&root, Mode::Read).map(drop),
        "the dtype 'int128' is not understood",
        Code::Data,
        false,
    );
    fs::write(&storage, text.replace("int64", "'int64'")).unwrap();
    check(
        opened(&root, Mode::Read).map(drop),
        "the dtype ''int64'' is not understood",
        Code::Data,
        false,
    );
    fs::write(&storage, "{").unwrap();
    let invalid = format!("{}: no key at byte 1", storage.display());
    check(opened(&root, Mode::Read).map(drop), &invalid, Code::Data, true);
    fs::write(&storage, text).unwrap();
    fs::remove_file(root.join("meta/sizes")).unwrap();
    let incomplete = "'ROOT' is incomplete: its creation was interrupted";
    check(opened(&root, Mode::Read).map(drop), incomplete, Code::Data, true);
    assert_eq!(failed, Vec::<String>::new());
}

#[test]
fn errors_of_tables_name_the_column() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    two_columns(&root);
    let mut failed = Vec::new();
    let mut check = |result: bcolz::Result<()>, expected: &str, code: Code| {
        let error = result.unwrap_err();
        if error.to_string() != expected || error.code() != code {
            failed.push(format!("{error} ({}): {expected}", error.code()));
        }
    };
    let mut writer = table(&root, Mode::Append).unwrap();
    assert!(!writer.is_empty() && !opened(&root, Mode::Read).unwrap().is_empty());
    let none = |_: &mut Carray| bcolz::Result::Ok(());
    check(
        writer.add_column("c", &spec("int64", 4), Some(3), none),
        "the column index is out of range",
        Code::InvalidParam,
    );
    check(
        writer.add_column("a b", &spec("int64", 4), None, none),
        "\"a b\" is not a valid column name",
        Code::InvalidParam,
    );
    check(
        writer.add_column("b", &spec("int64", 4), None, none),
        "there is a column \"b\" already",
        Code::InvalidParam,
    );
    let unequal = format!("the columns of '{}' have different lengths", root.display());
    check(writer.add_column("c", &spec("int64", 4), None, none), &unequal, Code::Data);
    assert!(!root.join("c").exists());
    check(writer.rename_column("x", "y"), "there is no column \"x\"", Code::NotFound);
    check(writer.rename_column("a", "b"), "there is a column \"b\" already", Code::InvalidParam);
    check(writer.remove_column("x", false), "there is no column \"x\"", Code::NotFound);
    check(writer.append(&[&[]]), "rows are required for each column", Code::InvalidParam);
    check(
        writer.append(&[&[0; 7], &[0; 7]]),
        "7 bytes are not a multiple of rows of 8 bytes",
        Code::InvalidParam,
    );
    check(writer.resize(1 << 62), "the array would be too large", Code::InvalidParam);
    assert_eq!(writer.len(), 5);
    assert_eq!(writer.read("b", 0..5).unwrap(), iota(0..5));
    drop(writer);
    let mut reading = table(&root, Mode::Read).unwrap();
    let read_only = "cannot modify data because mode is 'r'";
    check(reading.append(&[&iota(0..1), &iota(0..1)]), read_only, Code::FileWrite);
    check(reading.trim(1), read_only, Code::FileWrite);
    check(reading.resize(1), read_only, Code::FileWrite);
    check(reading.set("a", 0, &iota(0..1)), read_only, Code::FileWrite);
    check(reading.set_attr("x", json("1")), read_only, Code::FileWrite);
    check(reading.remove_attr("x").map(drop), read_only, Code::FileWrite);
    check(reading.set_column_attr("a", "x", json("1")), read_only, Code::FileWrite);
    check(reading.remove_column_attr("a", "x").map(drop), read_only, Code::FileWrite);
    check(reading.read("a/b", 0..1).map(drop), "there is no column \"a/b\"", Code::NotFound);
    reading.flush().unwrap();
    reading.close().unwrap();
    let rootdirs = root.join("__rootdirs__");
    for (text, expected) in [
        ("[]", "the column names are missing"),
        (r#"{"names": {}}"#, "the column names are missing"),
        (r#"{"names": ["a", 7]}"#, "a column name is not a string"),
        (r#"{"names": ["a", "a"]}"#, "a column name is not unique"),
    ] {
        fs::write(&rootdirs, text).unwrap();
        let expected = format!("{}: {expected}", rootdirs.display());
        check(opened(&root, Mode::Read).map(drop), &expected, Code::Data);
    }
    fs::write(&rootdirs, r#"{"names": ["a", "x"]}"#).unwrap();
    let missing = format!("there is no carray or ctable at '{}'", root.join("x").display());
    check(opened(&root, Mode::Read).map(drop), &missing, Code::NotFound);
    fs::write(root.join("__attrs__"), "[]").unwrap();
    fs::write(&rootdirs, r#"{"names": []}"#).unwrap();
    let attrs = format!("{}: it is not an object", root.join("__attrs__").display());
    check(opened(&root, Mode::Read).map(drop), &attrs, Code::Data);
    fs::write(root.join("__attrs__"), "{}").unwrap();
    assert!(opened(&root, Mode::Read).unwrap().is_empty());
    assert_eq!(failed, Vec::<String>::new());
}

/// Layouts that are read and never written.
#[test]
fn read_only_layouts_refuse_changes() {
    let scratch = Scratch::new();
    let root = scratch.path("packed");
    copy_tree(&fixtures().join("i8_multi"), &root);
    pack_chunks(&root, &[(2, 2), (2, 2), (1, 1)]);
    let mut writer = array(&root, Mode::Append).unwrap();
    for result in [writer.append(&iota(0..1)), writer.trim(1), writer.set(0, &iota(0..1))] {
        let error = result.unwrap_err();
        let expected = format!("'{}' has a read-only layout", root.display());
        assert_eq!((error.to_string(), error.code()), (expected, Code::FileWrite));
    }
    drop(writer);
    // Tables as columns, up to a depth.
    let mut path = scratch.path("nested");
    two_columns(&path);
    for depth in 1..20 {
        let outer = scratch.path(&format!("nested{depth}"));
        fs::create_dir(&outer).unwrap();
        fs::write(outer.join("__rootdirs__"), r#"{"names": ["t"]}"#).unwrap();
        fs::rename(&path, outer.join("t")).unwrap();
        path = outer;
        match opened(&path, Mode::Read) {
            Ok(mut object) => {
                assert!(depth <= 16, "{depth}");
                assert_eq!(object.len(), 5);
                object.set_threads(2);
                let Object::Ctable(mut table) = object else { panic!("no table") };
                let column = format!("{}a", "t/".repeat(depth));
                assert_eq!(table.read(&column, 0..5).unwrap(), iota(0..5));
                assert!(table.read("t", 0..5).is_err());
                let mut writer = Ctable::open(&path, Mode::Append, &Options::default()).unwrap();
                assert!(matches!(writer.trim(1), Err(Error::ReadOnlyLayout(_))));
            }
            Err(error) => {
                assert!(depth > 16, "{depth}: {error}");
                assert!(error.to_string().ends_with("tables are nested too deeply"), "{error}");
            }
        }
    }
}

/// Errors of the system name the file, keep their cause, and are no damage.
#[test]
fn errors_of_the_system_name_the_file() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 4, 0..5);
    let files = ["meta/sizes", "meta/storage", "__attrs__", "data/__0.blp"];
    for file in files.map(|file| root.join(file)) {
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        let read = array(&root, Mode::Read).and_then(|mut array| array.read(0..5));
        let error = read.unwrap_err();
        assert!(error.to_string().contains(&file.display().to_string()), "{error}");
        assert!(std::error::Error::source(&error).is_some(), "{error}");
        assert!(!error.is_corruption(), "{error}");
        fs::remove_file(&file).unwrap();
        fs::write(&file, bytes).unwrap();
    }
    // A description that is too large is not read.
    let sizes = root.join("meta/sizes");
    let file = fs::File::create(&sizes).unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    let error = array(&root, Mode::Read).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("{}: its size of 16777217 bytes is too large", sizes.display())
    );
}

/// A backend without operations on names has no objects.
#[test]
fn a_backend_without_names_is_an_error() {
    use ferroblosc::io::{Backend, Mode as Access, Stream};
    struct Nameless;
    impl Backend for Nameless {
        fn open(&self, _: &Path, _: Access) -> ferroblosc::Result<Box<dyn Stream>> {
            Err(Code::FileOpen)
        }
    }
    let options =
        Options { store: Store::new(std::sync::Arc::new(Nameless)), ..Options::default() };
    let root = Path::new("/a");
    assert_eq!(bcolz::open(root, Mode::Read, &options).err().unwrap().code(), Code::PluginIo);
    let created = Carray::create(root, &spec("int64", 4), Mode::Write, &options);
    assert_eq!(created.err().unwrap().code(), Code::PluginIo);
}

#[cfg(unix)]
#[test]
fn rows_that_exceed_the_free_space_are_refused_before_they_are_written() {
    let scratch = Scratch::new();
    let check = |error: Error| {
        let text = error.to_string();
        assert!(text.contains(" are free on the file system"), "{text}");
        assert_eq!(error.code(), Code::FileWrite);
    };
    let files_in = |path: &Path| fs::read_dir(path).unwrap().count();
    let root = scratch.path("array");
    made(&root, 4, 0..5);
    let mut writer = array(&root, Mode::Append).unwrap();
    let before = files_in(&root.join("data"));
    check(writer.resize(1 << 55).unwrap_err());
    assert_eq!((writer.len(), files_in(&root.join("data"))), (5, before));
    writer.resize(50).unwrap();
    drop(writer);
    assert_eq!(reader(&root).len(), 50);

    let root = scratch.path("table");
    let columns = [("a", spec("int8", 4)), ("b", spec("int64", 4))];
    let mut writer = Ctable::create(&root, &columns, Mode::Write, &Options::default()).unwrap();
    check(writer.resize(1 << 55).unwrap_err());
    assert_eq!((writer.len(), files_in(&root.join("a/data"))), (0, 0));
}
