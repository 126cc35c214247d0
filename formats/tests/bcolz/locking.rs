//! Writers that exclude each other: those of arrays, of tables and of the columns of tables.

use crate::common::{Scratch, copy_tree, fixtures, iota, made, rows, spec, tree};
use ferroblosc_formats::bcolz::{self, Carray, Ctable, Error, Mode, Options, Store};
use std::fs;
use std::path::{Path, PathBuf};

const LOCK: &str = ".ferroblosc-lock";

/// Creates a table of two columns with 25 rows.
fn table(root: &Path) {
    let columns = [("a", spec("int64", 10)), ("b", spec("int64", 7))];
    let mut table = Ctable::create(root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    table.close().unwrap();
}

fn array(root: &Path) -> bcolz::Result<Carray> {
    Carray::open(root, Mode::Append, &Options::default())
}

fn create(root: &Path, mode: Mode) -> bcolz::Result<Carray> {
    Carray::create(root, &spec("int64", 4), mode, &Options::default())
}

fn opened(root: &Path) -> bcolz::Result<Ctable> {
    Ctable::open(root, Mode::Append, &Options::default())
}

/// Returns the object that an error reports as locked.
fn busy<T>(result: bcolz::Result<T>) -> PathBuf {
    match result {
        Err(Error::Busy(path)) => fs::canonicalize(path).unwrap(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it is not locked"),
    }
}

/// Without this, an append to the table during one to a column leaves columns of other lengths.
#[test]
fn writers_of_a_table_and_of_its_columns_exclude_each_other() {
    let scratch = Scratch::new();
    let root = fs::canonicalize(scratch.path("")).unwrap().join("t");
    table(&root);
    let (a, b) = (root.join("a"), root.join("b"));
    let before = tree(&root);
    // A writer of the table excludes those of columns, and their removal.
    let mut writer = opened(&root).unwrap();
    for mode in [Mode::Append, Mode::Write] {
        assert_eq!(busy(Carray::open(&a, mode, &Options::default())), root);
    }
    assert_eq!(busy(bcolz::purge(&a, &Options::default())), root);
    assert_eq!(busy(bcolz::repair(&a, &Options::default())), root);
    assert_eq!(busy(create(&a, Mode::Write)), root);
    assert_eq!(busy(create(&root.join("new"), Mode::Append)), root);
    assert_eq!(rows(&a), iota(0..25));
    writer.append(&[&iota(25..40), &iota(25..40)]).unwrap();
    writer.trim(15).unwrap();
    writer.close().unwrap();
    assert_eq!(tree(&root), before, "no lock and no directory is left");
    // A writer of a column excludes those of the table, and its removal.
    let mut writer = array(&a).unwrap();
    assert_eq!(busy(opened(&root)), a);
    assert_eq!(busy(bcolz::purge(&root, &Options::default())), a);
    assert_eq!(busy(bcolz::repair(&root, &Options::default())), a);
    let replaced = Ctable::create(&root, &[], Mode::Write, &Options::default());
    assert_eq!(busy(replaced), a);
    assert_eq!(busy(create(&root, Mode::Write)), a);
    // It excludes neither readers nor writers of other columns.
    let mut other = array(&b).unwrap();
    other.set(0, &iota(7..8)).unwrap();
    writer.set(0, &iota(7..8)).unwrap();
    let mut reader = Ctable::open(&root, Mode::Read, &Options::default()).unwrap();
    assert_eq!(reader.read("a", 0..25).unwrap(), [iota(7..8), iota(1..25)].concat());
    other.close().unwrap();
    writer.close().unwrap();
    assert_eq!(rows(&b), [iota(7..8), iota(1..25)].concat());
    assert_eq!(tree(&root).len(), before.len());
    opened(&root).unwrap().append(&[&iota(25..26), &iota(25..26)]).unwrap();
    bcolz::purge(&root, &Options::default()).unwrap();
    assert!(!root.exists());
}

/// The file of a writer that was killed is no lock.
#[test]
fn lock_files_without_a_writer_do_not_exclude_others() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    table(&root);
    for file in [root.join(LOCK), root.join("a").join(LOCK)] {
        fs::write(file, "").unwrap();
    }
    array(&root.join("a")).unwrap().close().unwrap();
    fs::write(root.join("a").join(LOCK), "").unwrap();
    opened(&root).unwrap().close().unwrap();
    // Neither links nor special files are locks.
    let file = root.join("a").join(LOCK);
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(root.join("b/meta/sizes"), &file).unwrap();
    opened(&root).unwrap().close().unwrap();
    let error = array(&root.join("a")).err().unwrap();
    assert!(matches!(&error, Error::Storage { path, .. } if *path == file), "{error}");
}

/// The files of a copy made by `cp -al` have several names.
#[test]
fn a_directory_that_was_copied_as_hard_links_is_locked_like_others() {
    let scratch = Scratch::new();
    let (root, copy) = (scratch.path("t"), scratch.path("copy"));
    table(&root);
    for file in [root.join(LOCK), root.join("a").join(LOCK)] {
        fs::write(file, "").unwrap();
    }
    let link = |name: &str| fs::hard_link(root.join(name), copy.join(name)).unwrap();
    copy_tree(&root, &copy);
    for name in [LOCK, &format!("a/{LOCK}")] {
        fs::remove_file(copy.join(name)).unwrap();
        link(name);
    }
    // Writers of the table and of its column exclude each other, also while the files are shared.
    let writer = opened(&copy).unwrap();
    assert_eq!(busy(array(&copy.join("a"))), copy);
    assert!(matches!(opened(&root), Err(Error::Busy(_))));
    drop(writer);
    assert!(!copy.join(LOCK).exists() && root.join(LOCK).exists());
    let column = array(&copy.join("a")).unwrap();
    assert!(matches!(opened(&copy), Err(Error::Busy(_))));
    column.close().unwrap();
    let writers = (opened(&root).unwrap(), opened(&copy).unwrap());
    writers.0.close().unwrap();
    writers.1.close().unwrap();
    // Other files are not locked, and stay unchanged.
    let other = scratch.path("other");
    fs::write(&other, "content").unwrap();
    fs::hard_link(&other, copy.join(LOCK)).unwrap();
    let error = opened(&copy).err().unwrap().to_string();
    assert!(error.contains("it is not a lock file"), "{error}");
    assert_eq!(fs::read(&other).unwrap(), b"content");
}

/// A column of the published layout, one with a link, and one of a nested table.
#[test]
fn all_tables_above_a_column_are_found() {
    let scratch = Scratch::new();
    let base = fs::canonicalize(scratch.path("")).unwrap();
    let root = base.join("t");
    table(&root);
    fs::create_dir(root.join("data")).unwrap();
    fs::rename(root.join("b"), root.join("data/b")).unwrap();
    fs::create_dir(root.join("elsewhere")).unwrap();
    fs::rename(root.join("a"), root.join("elsewhere/x")).unwrap();
    std::os::unix::fs::symlink("elsewhere/x", root.join("a")).unwrap();
    let writer = opened(&root).unwrap();
    for column in ["data/b", "a"] {
        assert_eq!(busy(array(&root.join(column))), root, "{column}");
    }
    drop(writer);
    for column in ["data/b", "a"] {
        let writer = array(&root.join(column)).unwrap();
        let locked = fs::canonicalize(root.join(column)).unwrap();
        assert_eq!(busy(opened(&root)), locked, "{column}");
        drop(writer);
    }
    let outer = base.join("outer");
    fs::create_dir_all(outer.join("data")).unwrap();
    fs::write(outer.join("__rootdirs__"), r#"{"names": ["t"]}"#).unwrap();
    fs::rename(&root, outer.join("data/t")).unwrap();
    let writer = opened(&outer).unwrap();
    assert_eq!(busy(array(&outer.join("data/t/a"))), outer);
    assert_eq!(busy(opened(&outer.join("data/t"))), outer);
    drop(writer);
    let writer = opened(&outer.join("data/t")).unwrap();
    assert_eq!(busy(opened(&outer)), outer.join("data/t"));
    drop(writer);
}

const CHILD_DIRECTORY: &str = "FERROBLOSC_TEST_BCOLZ_DIRECTORY";

/// The current directory belongs to the whole process.
#[test]
fn tables_above_relative_paths_are_found() {
    let scratch = Scratch::new();
    table(&scratch.path("t"));
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "locking::child_with_relative_paths", "--ignored"])
        .env(CHILD_DIRECTORY, scratch.path("t"))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(child.unwrap().success());
}

#[test]
#[ignore = "is run by another test"]
fn child_with_relative_paths() {
    std::env::set_current_dir(std::env::var_os(CHILD_DIRECTORY).unwrap()).unwrap();
    let root = fs::canonicalize(".").unwrap();
    // A table is not a column of itself.
    let writer = opened(Path::new(".")).unwrap();
    for column in ["a", "./a", "../t/a", "a/../a", "a/."] {
        assert_eq!(busy(array(Path::new(column))), root, "{column}");
    }
    std::env::set_current_dir("a").unwrap();
    assert_eq!(busy(array(Path::new("."))), root);
    for table in ["..", "../../t"] {
        assert_eq!(busy(opened(Path::new(table))), root, "{table}");
    }
    drop(writer);
    array(Path::new(".")).unwrap().close().unwrap();
    for table in ["..", "../../t", "../a/.."] {
        opened(Path::new(table)).unwrap().close().unwrap();
    }
}

/// In `/tmp` other users can create files beside an array.
#[test]
fn a_table_in_a_sticky_directory_excludes_no_writers_of_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let shared = scratch.path("tmp");
    fs::create_dir(&shared).unwrap();
    made(&shared.join("a"), 10, 0..25);
    fs::write(shared.join("__rootdirs__"), r#"{"names": ["a"]}"#).unwrap();
    let writer = opened(&shared).unwrap();
    assert!(matches!(array(&shared.join("a")), Err(Error::Busy(_))));
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    array(&shared.join("a")).unwrap().close().unwrap();
    std::os::unix::fs::symlink(&shared, scratch.path("link")).unwrap();
    array(&scratch.path("link/a")).unwrap().close().unwrap();
    drop(writer);
}

/// A creation that fails leaves no directory that would block the next one.
#[test]
fn a_failed_creation_leaves_no_files() {
    use ferroblosc_fault::{Disk, Fault};
    use std::sync::Arc;
    let options = |disk: &Disk| Options {
        store: Store::new(Arc::new(disk.clone())).durable(true),
        ..Options::default()
    };
    let root = Path::new("/a");
    let columns = [("x", spec("int64", 10)), ("y", spec("int64", 10))];
    type Create<'a> = &'a dyn Fn(&Options) -> bcolz::Result<()>;
    let of_array: Create<'_> =
        &|options| Carray::create(root, &spec("int64", 4), Mode::Append, options).map(drop);
    let of_table: Create<'_> =
        &|options| Ctable::create(root, &columns, Mode::Append, options).map(drop);
    for create in [of_array, of_table] {
        let whole = Disk::new();
        create(&options(&whole)).unwrap();
        for (number, call) in whole.log().iter().enumerate() {
            for fault in [Fault::Fail, Fault::Full] {
                let disk = Disk::new();
                disk.plan(number, fault);
                if create(&options(&disk)).is_ok() {
                    continue;
                }
                disk.heal();
                assert_eq!(disk.contents().len(), 0, "{fault:?} at {number}: {call}");
                create(&options(&disk)).unwrap_or_else(|error| {
                    panic!("{fault:?} at {number}: {call}: {error}");
                });
            }
        }
    }
}

/// The files by which an object is recognised are removed last.
#[test]
fn an_interrupted_removal_can_be_repeated() {
    use ferroblosc_fault::{Disk, Fault, Survival};
    use std::sync::Arc;
    let options = |disk: &Disk| Options {
        store: Store::new(Arc::new(disk.clone())).durable(false),
        ..Options::default()
    };
    let root = Path::new("/a");
    let columns = [("x", spec("int64", 10)), ("y", spec("int64", 10))];
    for is_table in [false, true] {
        let start = Disk::new();
        if is_table {
            let table = Ctable::create(root, &columns, Mode::Append, &options(&start));
            table.unwrap().append(&[&iota(0..25), &iota(0..25)]).unwrap();
        } else {
            let array = Carray::create(root, &spec("int64", 4), Mode::Append, &options(&start));
            array.unwrap().append(&iota(0..25)).unwrap();
        }
        let start = start.after_crash(Survival::All);
        let whole = start.after_crash(Survival::All);
        bcolz::purge(root, &options(&whole)).unwrap();
        assert_eq!(whole.contents().len(), 0);
        for (number, call) in whole.log().iter().enumerate() {
            let disk = start.after_crash(Survival::All);
            disk.plan(number, Fault::Crash);
            let _ = bcolz::purge(root, &options(&disk));
            let disk = disk.after_crash(Survival::All);
            if disk.contents().is_empty() {
                continue;
            }
            let again = bcolz::purge(root, &options(&disk));
            assert_eq!(again, Ok(()), "{number}: {call}: {:?}", disk.contents().keys());
            assert_eq!(disk.contents().len(), 0);
            // Its directory is removed, too.
            Carray::create(root, &spec("int64", 4), Mode::Append, &options(&disk)).unwrap();
        }
    }
}

/// A column that other programs create in the meantime is not removed.
#[test]
fn a_column_that_cannot_be_added_removes_no_other_directory() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    table(&root);
    let mut writer = opened(&root).unwrap();
    fs::create_dir(root.join("c")).unwrap();
    fs::write(root.join("c/precious"), "years").unwrap();
    let added = writer.add_column("c", &spec("int64", 4), None, |_| bcolz::Result::Ok(()));
    assert_eq!(added, Err(Error::ColumnExists("c".to_owned())));
    assert_eq!(fs::read(root.join("c/precious")).unwrap(), b"years");
}

#[test]
fn columns_of_one_length_remain_if_trimming_fails() {
    use ferroblosc_fault::{Disk, Fault, Survival};
    use std::sync::Arc;
    let root = Path::new("/a");
    let options = |disk: &Disk| Options {
        store: Store::new(Arc::new(disk.clone())).durable(true),
        ..Options::default()
    };
    let start = Disk::new();
    let columns = [("x", spec("int64", 10)), ("y", spec("int64", 7))];
    let mut table = Ctable::create(root, &columns, Mode::Append, &options(&start)).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    drop(table);
    let start = start.after_crash(Survival::All);
    let opened = |disk: &Disk| Ctable::open(root, Mode::Append, &options(disk));
    let whole = start.after_crash(Survival::All);
    opened(&whole).unwrap().trim(17).unwrap();
    for (number, call) in whole.log().iter().enumerate() {
        let disk = start.after_crash(Survival::All);
        disk.plan(number, Fault::Fail);
        let Ok(mut table) = opened(&disk) else {
            continue;
        };
        let trimmed = table.trim(17);
        disk.heal();
        let what = format!("{number}: {call}: {trimmed:?}");
        // The handle and the files agree, and remain usable.
        let len = table.len();
        assert!(len == 8 || len == 25 && trimmed.is_err(), "{what}: {len} rows");
        table.append(&[&iota(90..95), &iota(90..95)]).unwrap();
        drop(table);
        let mut table = opened(&disk).unwrap_or_else(|error| panic!("{what}: {error}"));
        let expected = [iota(0..len as i64), iota(90..95)].concat();
        for column in ["x", "y"] {
            assert_eq!(table.read(column, 0..len + 5).unwrap(), expected, "{what}");
        }
    }
}

#[test]
fn a_damaged_array_can_be_emptied() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 10, 0..7);
    fs::write(root.join("data/__0.blp"), "damaged").unwrap();
    assert!(array(&root).unwrap().trim(1).is_err());
    let mut array = Carray::open(&root, Mode::Write, &Options::default()).unwrap();
    array.append(&iota(3..5)).unwrap();
    array.close().unwrap();
    assert_eq!(rows(&root), iota(3..5));
}

/// Links to columns outside of the table are an error for readers. Repair must not change them.
#[test]
fn repair_changes_nothing_outside_of_the_table() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    table(&root);
    let outside = scratch.path("outside");
    copy_tree(&fixtures().join("i8_small"), &outside);
    fs::remove_file(outside.join("meta/sizes")).unwrap();
    fs::remove_dir_all(root.join("b")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("b")).unwrap();
    let before = tree(&outside);
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(tree(&outside), before);
    let remaining: Vec<String> =
        repaired.remaining.iter().map(|left| left.fault.to_string()).collect();
    assert!(remaining.iter().any(|fault| fault.contains("outside of its directory")));
    assert_eq!(rows(&root.join("a")), iota(0..25));
}

/// Between the changes of two columns a table looks damaged.
#[test]
fn a_change_in_progress_is_not_reported_as_damage() {
    let scratch = Scratch::new();
    let root = fs::canonicalize(scratch.path("")).unwrap().join("t");
    table(&root);
    let options = Options::default();
    let writer = opened(&root).unwrap();
    // As during an append: the new length of the first column is written.
    let sizes = root.join("a/meta/sizes");
    let text = fs::read_to_string(&sizes).unwrap();
    fs::write(&sizes, text.replace("[25]", "[23]")).unwrap();
    assert_eq!(busy(Ctable::open(&root, Mode::Read, &options)), root);
    assert_eq!(busy(bcolz::verify(&root, &options)), root);
    drop(writer);
    let unequal = Ctable::open(&root, Mode::Read, &options);
    assert!(matches!(unequal, Err(Error::UnequalColumns(_))));
    let found = bcolz::verify(&root, &options).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    // A writer of a column, and one that has changed nothing yet.
    let writer = array(&root.join("b")).unwrap();
    assert_eq!(busy(bcolz::verify(&root, &options)), root.join("b"));
    fs::write(&sizes, text).unwrap();
    assert_eq!(bcolz::verify(&root, &options), Ok(Vec::new()));
    assert_eq!(bcolz::verify(&root.join("b"), &options), Ok(Vec::new()));
    fs::remove_file(root.join("b/data/__0.blp")).unwrap();
    assert_eq!(busy(bcolz::verify(&root.join("b"), &options)), root.join("b"));
    drop(writer);
    assert_eq!(bcolz::verify(&root.join("b"), &options).unwrap().len(), 1);
}
