//! Tables: changes of rows and columns.

use crate::common::{Scratch, iota, json, rows, spec, tree};
use ferroblosc_formats::bcolz::{Carray, Ctable, Error, Mode, Options};
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
