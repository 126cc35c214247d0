//! Changes of other processes at a certain point of an operation.

use crate::common::{Scratch, iota, made, reader, rows, spec};
use ferroblosc::io::{Attributes, Backend, FileOps, FileSystem, Identity, Mode as Access, Stream};
use ferroblosc_formats::bcolz::{self, Carray, Ctable, Error, Mode, Options, Store};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

type Change = Box<dyn FnOnce() + Send>;

/// The file system. Before the first of the named operations at a path, something changes.
struct Changing {
    at: (&'static [&'static str], PathBuf),
    change: Mutex<Option<Change>>,
}

impl Changing {
    fn reach(&self, operation: &str, path: &Path) {
        if self.at.0.contains(&operation)
            && self.at.1 == path
            && let Some(change) = self.change.lock().unwrap().take()
        {
            change();
        }
    }
}

impl Backend for Changing {
    fn open(&self, path: &Path, mode: Access) -> ferroblosc::Result<Box<dyn Stream>> {
        FileSystem.open(path, mode)
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

impl FileOps for Changing {
    fn identify(&self, path: &Path) -> Option<Identity> {
        FileSystem.identify(path)
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        self.reach("attributes", path);
        FileSystem.attributes(path)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> ferroblosc::Result<Box<dyn Stream>> {
        FileSystem.open_unfollowed(path, writes)
    }

    fn create_new(&self, path: &Path, private: bool) -> ferroblosc::Result<Box<dyn Stream>> {
        self.reach("create", path);
        FileSystem.create_new(path, private)
    }

    fn rename(&self, from: &Path, to: &Path) -> ferroblosc::Result<()> {
        FileSystem.rename(from, to)
    }

    fn remove(&self, path: &Path) -> ferroblosc::Result<()> {
        self.reach("remove", path);
        FileSystem.remove(path)
    }

    fn make_directory(&self, path: &Path) -> ferroblosc::Result<()> {
        FileSystem.make_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> ferroblosc::Result<()> {
        self.reach("remove directory", path);
        FileSystem.remove_directory(path)
    }

    fn list(&self, directory: &Path) -> ferroblosc::Result<Vec<OsString>> {
        FileSystem.list(directory)
    }

    fn sync_directory(&self, directory: &Path) -> ferroblosc::Result<()> {
        FileSystem.sync_directory(directory)
    }
}

/// Returns options with a change of the files before the first of some operations at a path.
fn changing(
    operations: &'static [&'static str],
    path: &Path,
    change: impl FnOnce() + Send + 'static,
) -> Options {
    let at = (operations, path.to_owned());
    let backend = Changing { at, change: Mutex::new(Some(Box::new(change))) };
    Options { store: Store::new(Arc::new(backend)), ..Options::default() }
}

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
