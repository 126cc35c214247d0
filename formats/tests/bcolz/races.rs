//! Changes of other processes at a certain point of an operation.

use crate::common::{Scratch, iota, made, pack_chunks, reader, rows, spec};
use crate::hooks::{changing, hooked};
use ferroblosc_formats::bcolz::{self, Carray, Ctable, Error, Mode, Options, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Another process replaces the new directory before it is locked.
#[test]
fn a_creation_that_fails_removes_no_object_of_another_process() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let other: Arc<Mutex<Option<Carray>>> = Arc::default();
    let options = changing(&["create"], &root.join(".ferroblosc-lock"), {
        let (root, other) = (root.clone(), other.clone());
        move || {
            made(&root, 10, 0..25);
            let writer = Carray::open(&root, Mode::Append, &Options::default());
            *other.lock().unwrap() = Some(writer.unwrap());
        }
    });
    let created = Carray::create(&root, &spec("int64", 4), Mode::Write, &options);
    assert!(matches!(created, Err(Error::Busy(_))));
    other.lock().unwrap().take().unwrap().close().unwrap();
    assert_eq!(rows(&root), iota(0..25));
}

/// Another process creates an object as soon as the lock of the removed one is released.
#[test]
fn a_removal_removes_no_later_object() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 10, 0..7);
    let options = changing(&["remove", "remove directory"], &root, {
        let root = root.clone();
        move || made(&root, 10, 0..25)
    });
    let purged = bcolz::purge(&root, &options);
    assert!(matches!(purged, Err(Error::Storage { .. })), "{purged:?}");
    assert_eq!(rows(&root), iota(0..25));
}

/// A writer of a table closes it after the lengths of the columns were read, and before its lock is
/// looked for.
#[test]
fn a_change_that_was_just_completed_is_not_reported_as_damage() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let columns = [("x", spec("int64", 10)), ("y", spec("int64", 7))];
    let mut table = Ctable::create(&root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    table.close().unwrap();
    let sizes = root.join("x/meta/sizes");
    let text = fs::read_to_string(&sizes).unwrap();
    let half_done = || {
        fs::write(&sizes, text.replace("[25]", "[23]")).unwrap();
        assert_eq!(reader(&root.join("x")).len(), 23);
        let (sizes, text) = (sizes.clone(), text.clone());
        let complete = move || fs::write(sizes, text).unwrap();
        changing(&["attributes"], &root.join(".ferroblosc-lock"), complete)
    };
    assert_eq!(bcolz::verify(&root, &half_done()), Ok(Vec::new()));
    assert_eq!(Ctable::open(&root, Mode::Read, &half_done()).unwrap().len(), 25);
}

/// A chunk file that is removed after the directory was listed has no bytes.
#[test]
fn sizes_are_those_of_the_existing_chunk_files() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 10, 0..25);
    fs::write(root.join("data/notes"), "not a chunk").unwrap();
    let size = |number: u64| fs::metadata(root.join(format!("data/__{number}.blp"))).unwrap().len();
    let (all, removed) = ((0..3).map(size).sum::<u64>(), size(1));
    assert_eq!(reader(&root).stored_bytes().unwrap(), all);
    let chunk = root.join("data/__1.blp");
    let options = changing(&["identify"], &chunk.clone(), move || fs::remove_file(chunk).unwrap());
    let array = Carray::open(&root, Mode::Read, &options).unwrap();
    assert_eq!(array.stored_bytes().unwrap(), all - removed);
}

/// The owner of a lock that another process is about to take removes the lock file.
#[test]
fn a_lock_file_that_its_owner_removes_is_created_again() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 10, 0..7);
    let lock = root.join(".ferroblosc-lock");
    fs::write(&lock, "").unwrap();
    let remove = {
        let lock = lock.clone();
        move || fs::remove_file(lock).unwrap()
    };
    let writer = Carray::open(&root, Mode::Append, &changing(&["identify"], &lock, remove.clone()));
    assert!(lock.exists());
    assert!(matches!(Carray::open(&root, Mode::Append, &Options::default()), Err(Error::Busy(_))));
    drop(writer.unwrap());
    assert!(!lock.exists());
    // For a reader, it is not locked then.
    fs::remove_file(root.join("data/__0.blp")).unwrap();
    fs::write(&lock, "").unwrap();
    let options = changing(&["open unfollowed"], &lock, remove);
    assert_eq!(bcolz::verify(&root, &options).unwrap().len(), 1);
}

/// A file whose state is unknown may be a lock.
#[test]
fn a_lock_file_that_cannot_be_opened_is_an_error() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let columns = [("x", spec("int64", 10))];
    Ctable::create(&root, &columns, Mode::Write, &Options::default()).unwrap();
    let lock = root.join(".ferroblosc-lock");
    fs::write(&lock, "").unwrap();
    let options = || {
        let lock = lock.clone();
        hooked(move |operation, path| match operation {
            "open unfollowed" if path == lock => Err(denied()),
            _ => Ok(()),
        })
    };
    let error = Carray::open(&root.join("x"), Mode::Append, &options()).err().unwrap();
    assert!(matches!(&error, Error::Storage { path, .. } if *path == lock), "{error}");
    assert!(!root.join("x/.ferroblosc-lock").exists());
    fs::remove_dir_all(root.join("x/data")).unwrap();
    let error = bcolz::verify(&root, &options()).unwrap_err();
    assert!(matches!(&error, Error::Storage { path, .. } if *path == lock), "{error}");
    // A file with content and several names is not locked: it may be another file of the user.
    fs::write(&lock, "x").unwrap();
    fs::hard_link(&lock, scratch.path("link")).unwrap();
    Carray::open(&root.join("x"), Mode::Append, &options()).unwrap().close().unwrap();
    let error = Ctable::open(&root, Mode::Append, &Options::default()).err().unwrap();
    assert!(matches!(&error, Error::Storage { path, .. } if *path == lock), "{error}");
}

fn denied() -> ferroblosc::Error {
    ferroblosc::Error::FileOpen.os(std::io::ErrorKind::PermissionDenied.into())
}

/// The temporary files of another process with the same id, on another machine.
#[test]
fn temporary_files_of_others_are_not_overwritten() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 10, 0..7);
    let found: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let options = hooked({
        let found = found.clone();
        move |operation, path| {
            let is_temporary = path.to_string_lossy().contains("/.ferroblosc-new-");
            let mut found = found.lock().unwrap();
            if operation == "attributes" && is_temporary && found.is_none() {
                fs::write(path, "of another process").unwrap();
                *found = Some(path.to_owned());
            }
            Ok(())
        }
    });
    let mut writer = Carray::open(&root, Mode::Append, &options).unwrap();
    writer.append(&iota(7..25)).unwrap();
    writer.close().unwrap();
    assert_eq!(rows(&root), iota(0..25));
    let path = found.lock().unwrap().take().unwrap();
    assert_eq!(fs::read(path).unwrap(), b"of another process");
}

/// Returns the options of a disk whose file or directory number `number` cannot be read.
fn unreadable(number: usize) -> (Options, Arc<Mutex<Option<PathBuf>>>) {
    let reached: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let options = hooked({
        let (reached, mut count) = (reached.clone(), 0);
        move |operation, path| {
            if !matches!(operation, "open" | "read" | "list") || !path.exists() {
                return Ok(());
            }
            count += 1;
            if count != number + 1 {
                return Ok(());
            }
            *reached.lock().unwrap() = Some(path.to_owned());
            // EIO.
            Err(ferroblosc::Error::FileOpen.os(std::io::Error::from_raw_os_error(5)))
        }
    });
    (options, reached)
}

/// Returns the rows of the columns, or the errors of reading them.
fn content(root: &Path) -> [Result<Vec<u8>, String>; 2] {
    ["x", "y"].map(|column| {
        let array = Carray::open(&root.join(column), Mode::Read, &Options::default());
        let read = array.and_then(|mut array| array.read(0..array.len()));
        read.map_err(|error| error.to_string().replace(&root.display().to_string(), ""))
    })
}

/// A disk that does not answer is neither reported nor repaired as damage.
#[test]
fn files_that_cannot_be_read_are_not_damaged() {
    let damage: [fn(&Path); 7] = [
        |_| (),
        |root| pack_chunks(&root.join("y"), &[(2, 2), (2, 2)]),
        |root| {
            pack_chunks(&root.join("y"), &[(2, 2), (2, 2)]);
            fs::write(root.join("y/data/__1.blp"), "damaged").unwrap();
        },
        |root| fs::remove_file(root.join("x/meta/sizes")).unwrap(),
        |root| fs::write(root.join("y/data/__1.blp"), "damaged").unwrap(),
        |root| {
            for number in 1..4 {
                fs::remove_file(root.join(format!("y/data/__{number}.blp"))).unwrap();
            }
        },
        |root| fs::write(root.join("__attrs__"), "{").unwrap(),
    ];
    let quick = Options { store: Store::default().durable(false), ..Options::default() };
    for (kind, damage) in damage.into_iter().enumerate() {
        let made = || {
            let scratch = Scratch::new();
            let root = scratch.path("t");
            let columns = [("x", spec("int64", 10)), ("y", spec("int64", 7))];
            let table = Ctable::create(&root, &columns, Mode::Write, &quick);
            table.unwrap().append(&[&iota(0..25), &iota(0..25)]).unwrap();
            damage(&root);
            (scratch, root)
        };
        let (_scratch, root) = made();
        let found = bcolz::verify(&root, &quick).unwrap();
        for number in 0.. {
            let (options, reached) = unreadable(number);
            let verified = bcolz::verify(&root, &options);
            let Some(path) = reached.lock().unwrap().take() else {
                assert_eq!(verified.as_ref(), Ok(&found));
                break;
            };
            assert!(verified.is_err(), "{kind}: {path:?}: {verified:?}");
        }
        bcolz::repair(&root, &quick).unwrap();
        let expected = content(&root);
        // Repairs are repeated less often, because each one needs a new table.
        for number in (kind % 3..).step_by(3) {
            let (_scratch, root) = made();
            let (options, reached) = unreadable(number);
            let repaired = bcolz::repair(&root, &options);
            let Some(path) = reached.lock().unwrap().take() else {
                break;
            };
            assert!(repaired.is_err(), "{kind}: {path:?}: {repaired:?}");
            bcolz::repair(&root, &quick).unwrap();
            assert_eq!(content(&root), expected, "{kind}: {path:?}");
        }
    }
}
