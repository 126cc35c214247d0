//! Tables: changes of rows and columns.

use crate::common::{Scratch, iota, json, rows, spec, tree};
use ferroblosc_formats::bcolz::{Carray, Ctable, Error, Mode, Object, Options};
use std::fs;
use std::path::Path;

fn int32s(numbers: std::ops::Range<i32>) -> Vec<u8> {
    numbers.flat_map(i32::to_le_bytes).collect()
}

/// Creates a table of two columns with different chunk lengths.
fn made(root: &Path, len: i32) -> Ctable {
    let columns = [("a", spec("int64", 10)), ("b", spec("int32", 7))];
    let mut table = Ctable::create(root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..len.into()), &int32s(0..len)]).unwrap();
    table
}

fn opened(root: &Path) -> Ctable {
    Ctable::open(root, Mode::Append, &Options::default()).unwrap()
}

#[test]
fn rows_are_appended_to_all_columns() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let mut table = made(&root, 25);
    assert_eq!(fs::read(root.join("__rootdirs__")).unwrap(), b"{\"names\": [\"a\", \"b\"]}\n");
    // Tables flush on every append.
    assert_eq!(rows(&root.join("a")), iota(0..25));
    table.append(&[&iota(25..26), &int32s(25..26)]).unwrap();
    table.set("b", 3, &int32s(90..92)).unwrap();
    table.trim(2).unwrap();
    table.resize(30).unwrap();
    table.close().unwrap();
    let mut table = opened(&root);
    assert_eq!(table.len(), 30);
    assert_eq!(table.read("a", 0..24).unwrap(), iota(0..24));
    assert_eq!(table.read("a", 24..30).unwrap(), [0; 48]);
    assert_eq!(table.read("b", 2..6).unwrap(), [2, 90, 91, 5].map(i32::to_le_bytes).concat());
    assert_eq!(table.read("c", 0..1), Err(Error::NoSuchColumn("c".to_owned())));
}

#[test]
fn columns_are_added_removed_and_renamed() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let mut table = made(&root, 25);
    let fill = |count: i64| move |array: &mut Carray| array.append(&iota(0..count));
    table.add_column("c", &spec("int64", 4), Some(1), fill(25)).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "c", "b"]);
    let short = table.add_column("d", &spec("int64", 4), None, fill(24));
    assert!(matches!(short, Err(Error::UnequalColumns(_))));
    assert!(!root.join("d").exists());
    let there = table.add_column("c", &spec("int64", 4), None, fill(25));
    assert_eq!(there, Err(Error::ColumnExists("c".to_owned())));
    table.rename_column("b", "é").unwrap();
    assert_eq!(
        fs::read_to_string(root.join("__rootdirs__")).unwrap(),
        "{\"names\": [\"a\", \"c\", \"\\u00e9\"]}\n"
    );
    table.append(&[&iota(25..26), &iota(25..26), &int32s(25..26)]).unwrap();
    table.remove_column("a", true).unwrap();
    table.remove_column("c", false).unwrap();
    assert_eq!((root.join("a").exists(), root.join("c").exists()), (true, false));
    drop(table);
    let mut table = opened(&root);
    assert_eq!(table.names().collect::<Vec<_>>(), ["é"]);
    assert_eq!(table.read("é", 0..26).unwrap(), int32s(0..26));
    // The kept column is not overwritten.
    let kept = table.add_column("a", &spec("int64", 4), None, fill(26));
    assert_eq!(kept, Err(Error::ColumnExists("a".to_owned())));
    table.remove_column("é", false).unwrap();
    assert_eq!(table.len(), 0);
    drop(table);
    let mut table = opened(&root);
    table.add_column("f0", &spec("int64", 4), None, fill(3)).unwrap();
    assert_eq!(table.len(), 3);
}

#[test]
fn the_next_writer_finishes_an_interrupted_renaming() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    drop(made(&root, 25));
    fs::write(root.join(".ferroblosc-renaming"), r#"["b", "x"]"#).unwrap();
    // Interrupted before and after the renaming of the directory.
    let names = |mode| {
        let mut table = Ctable::open(&root, mode, &Options::default()).unwrap();
        let name = table.names().last().unwrap().to_owned();
        assert_eq!(table.read(&name, 0..25).unwrap(), int32s(0..25));
        name
    };
    assert_eq!(names(Mode::Read), "b");
    fs::rename(root.join("b"), root.join("x")).unwrap();
    assert_eq!(names(Mode::Read), "b");
    assert_eq!(names(Mode::Append), "x");
    assert!(!root.join(".ferroblosc-renaming").exists());
    assert_eq!(names(Mode::Read), "x");
}

/// A file of an interrupted renaming is only trusted if it is consistent and of the same owner.
#[test]
fn other_files_of_a_renaming_change_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let root = scratch.path("t");
    drop(made(&root, 25));
    let marker = root.join(".ferroblosc-renaming");
    let names = || {
        let table = opened(&root);
        table.names().map(str::to_owned).collect::<Vec<_>>()
    };
    // Interrupted before the directory was renamed, or after the names were written.
    for text in [r#"["b", "x"]"#, r#"["x", "b"]"#, r#"["x", "y"]"#] {
        fs::write(&marker, text).unwrap();
        assert_eq!(names(), ["a", "b"], "{text}");
        assert!(!marker.exists(), "{text}");
    }
    fs::rename(root.join("b"), root.join("x")).unwrap();
    let missing = |mode| {
        let error = Ctable::open(&root, mode, &Options::default()).err().unwrap();
        assert_eq!(error, Error::NotFound(root.join("b")));
    };
    for text in ["", "{", "[]", r#"["b"]"#, r#"["b", 7]"#, r#"["b", "../t/x"]"#, r#"["/b", "x"]"#] {
        fs::write(&marker, text).unwrap();
        missing(Mode::Read);
        missing(Mode::Append);
    }
    // The renaming of another column.
    fs::write(&marker, r#"["a", "x"]"#).unwrap();
    missing(Mode::Read);
    fs::write(&marker, r#"["b", "x"]"#).unwrap();
    fs::set_permissions(&marker, fs::Permissions::from_mode(0o666)).unwrap();
    missing(Mode::Append);
    fs::set_permissions(&marker, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(names(), ["a", "x"]);
}

#[test]
fn changes_of_no_rows_write_nothing() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    drop(made(&root, 25));
    let before = tree(&root);
    let mut table = opened(&root);
    assert_eq!(table.root(), root);
    table.append(&[&[], &[]]).unwrap();
    table.trim(0).unwrap();
    table.resize(25).unwrap();
    table.close().unwrap();
    assert_eq!(tree(&root), before);
    let mut table = opened(&root);
    table.resize(7).unwrap();
    let mut rows = [0; 16];
    table.read_into("a", 5, &mut rows).unwrap();
    assert_eq!(rows[..], iota(5..7));
    assert!(table.read_into("a", 6, &mut rows).is_err());
    table.set_column_attr("b", "unit", json("\"m\"")).unwrap();
    assert_eq!(table.remove_column_attr("b", "unit"), Ok(true));
    assert_eq!(table.remove_column_attr("b", "unit"), Ok(false));
    let other = Ctable::open(&scratch.path("none"), Mode::Append, &Options::default());
    assert_eq!(other.err(), Some(Error::NotFound(scratch.path("none"))));
}

/// Tables as columns must have as many rows as the other columns.
#[test]
fn lengths_of_nested_tables_are_compared() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    drop(made(&root, 25));
    drop(made(&root.join("c"), 25));
    fs::write(root.join("__rootdirs__"), r#"{"names": ["a", "c", "b"]}"#).unwrap();
    fs::write(root.join("c/__attrs__"), r#"{"x": 1}"#).unwrap();
    let mut table = opened(&root);
    let Object::Ctable(nested) = table.column("c").unwrap() else { panic!("not a table") };
    assert_eq!((nested.len(), nested.attrs().get("x")), (25, Some(&json("1"))));
    assert_eq!(table.column("c").unwrap().attrs().get("x"), Some(&json("1")));
    assert_eq!(table.read("c/b", 24..25).unwrap(), int32s(24..25));
    table.flush().unwrap();
    table.close().unwrap();
    opened(&root.join("c")).trim(1).unwrap();
    let unequal = Ctable::open(&root, Mode::Read, &Options::default()).err();
    assert_eq!(unequal, Some(Error::UnequalColumns(root.clone())));
    // Columns of the nested table.
    opened(&root.join("c")).resize(25).unwrap();
    let sizes = root.join("c/b/meta/sizes");
    let text = fs::read_to_string(&sizes).unwrap();
    fs::write(&sizes, text.replace("[25]", "[24]")).unwrap();
    let unequal = Ctable::open(&root, Mode::Read, &Options::default()).err();
    assert_eq!(unequal, Some(Error::UnequalColumns(root)));
}

#[test]
fn row_b9_a_failed_append_leaves_all_columns_unchanged() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let mut table = made(&root, 25);
    let before = tree(&root);
    let unequal = table.append(&[&iota(25..30), &int32s(25..29)]).unwrap_err();
    assert_eq!(unequal.to_string(), "all cols in `cols` must have the same length");
    assert!(table.append(&[&iota(25..30)]).is_err());
    assert!(table.append(&[&[0; 7], &[0; 4]]).is_err());
    assert_eq!(tree(&root), before);
    // The second column cannot be written.
    fs::rename(root.join("b/data"), root.join("b/elsewhere")).unwrap();
    fs::write(root.join("b/data"), "no directory").unwrap();
    assert!(table.append(&[&iota(25..60), &int32s(25..60)]).is_err());
    fs::remove_file(root.join("b/data")).unwrap();
    fs::rename(root.join("b/elsewhere"), root.join("b/data")).unwrap();
    assert_eq!(table.len(), 25);
    assert_eq!(table.read("a", 0..25).unwrap(), iota(0..25));
    assert_eq!(table.read("b", 0..25).unwrap(), int32s(0..25));
    table.append(&[&iota(25..60), &int32s(25..60)]).unwrap();
    drop(table);
    let mut table = opened(&root);
    assert_eq!(table.read("a", 0..60).unwrap(), iota(0..60));
    assert_eq!(table.read("b", 0..60).unwrap(), int32s(0..60));
}

#[test]
fn row_b9_columns_of_unequal_length_are_detected() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    drop(made(&root, 25));
    Carray::open(&root.join("b"), Mode::Append, &Options::default()).unwrap().trim(1).unwrap();
    for mode in [Mode::Read, Mode::Append] {
        let refused = Ctable::open(&root, mode, &Options::default());
        assert!(matches!(refused, Err(Error::UnequalColumns(_))));
    }
}

#[test]
fn tables_and_columns_have_attributes() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let mut table = made(&root, 5);
    table.set_attr("first_trading_day", json("\"2016-01-04\"")).unwrap();
    table.set_column_attr("a", "unit", json("\"s\"")).unwrap();
    assert_eq!(
        table.set_column_attr("x", "unit", json("1")).unwrap_err(),
        Error::NoSuchColumn("x".to_owned())
    );
    drop(table);
    let mut table = opened(&root);
    assert_eq!(table.attrs().get("first_trading_day"), Some(&json("\"2016-01-04\"")));
    assert_eq!(table.column("a").unwrap().attrs().get("unit"), Some(&json("\"s\"")));
    assert_eq!(table.remove_attr("first_trading_day"), Ok(true));
    assert_eq!(fs::read(root.join("__attrs__")).unwrap(), b"{}\n");
}

#[test]
fn tables_list_their_column_names() {
    let scratch = Scratch::new();
    for names in [["a", "a"], ["a", "1"], ["a", "__b__"], ["if", "a"]] {
        let columns = names.map(|name| (name, spec("int64", 4)));
        let root = scratch.path("t");
        assert!(Ctable::create(&root, &columns, Mode::Append, &Options::default()).is_err());
        assert!(!root.exists());
    }
    fs::create_dir(scratch.path("t")).unwrap();
    fs::write(scratch.path("t/__rootdirs__"), r#"{"names": ["a", "a"]}"#).unwrap();
    assert!(Ctable::open(&scratch.path("t"), Mode::Read, &Options::default()).is_err());
}
