//! Creations and changes of stores that are killed at each call, or that fail there.

use crate::build::Scratch;
use crate::common::content;
use crate::writing::{array, create, schunk};
use ferroblosc::io::{
    Attributes, Backend, FileOps, FileSystem, Identity, Mode, Stream, WriteGranularity,
};
use ferroblosc::{Error, Result};
use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{
    Cells, ColumnSpec, Error as StoreError, Severity, Store, StoreWriter, Value, WriteOptions,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The effect of the planned call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It fails, and later calls succeed.
    Fail,
    /// The process is killed: this and all later calls do nothing. A write stores half of its
    /// bytes.
    Kill,
}

/// The action of another program directly before a call.
type Interference = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    log: Vec<String>,
    planned: Option<(usize, Fault)>,
    is_killed: bool,
    interference: Option<(String, Interference)>,
}

/// The file system, with a fault in one of its changing calls.
#[derive(Clone, Default)]
pub struct Faulty(Arc<Mutex<State>>);

impl Faulty {
    /// Runs `interfere` directly before the first call of this name.
    pub fn before(call: &str, interfere: impl FnOnce() + Send + 'static) -> Faulty {
        let disk = Faulty::default();
        disk.0.lock().unwrap().interference = Some((call.to_owned(), Box::new(interfere)));
        disk
    }

    /// Whether the interference has happened.
    pub fn has_interfered(&self) -> bool {
        self.0.lock().unwrap().interference.is_none()
    }

    /// Counts a call; returns whether it happens.
    fn may(&self, call: String) -> bool {
        let mut state = self.0.lock().unwrap();
        let planned = state.interference.take_if(|(planned, _)| *planned == call);
        if let Some((_, interfere)) = planned {
            interfere();
        }
        let number = state.log.len();
        state.log.push(call);
        match state.planned {
            _ if state.is_killed => false,
            Some((planned, fault)) if planned == number => {
                state.is_killed = fault == Fault::Kill;
                false
            }
            _ => true,
        }
    }

    fn call<T>(&self, call: String, error: Error, run: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.may(call) { run() } else { Err(error) }
    }
}

impl Backend for Faulty {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        FileSystem.open(path, mode)
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

impl FileOps for Faulty {
    fn identify(&self, path: &Path) -> Option<Identity> {
        FileSystem.identify(path)
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        FileSystem.attributes(path)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        FileSystem.open_unfollowed(path, writes)
    }

    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>> {
        let stream = self.call(format!("create {}", name(path)), Error::FileOpen, || {
            FileSystem.create_new(path, private)
        })?;
        Ok(Box::new(Counted { stream, disk: self.clone(), path: path.to_owned() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let call = format!("rename {} to {}", name(from), name(to));
        self.call(call, Error::FileWrite, || FileSystem.rename(from, to))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        let call = format!("rename {} to {}", name(from), name(to));
        self.call(call, Error::FileWrite, || FileSystem.rename_new(from, to))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        let call = format!("remove {}", name(path));
        self.call(call, Error::FileRemove, || FileSystem.remove(path))
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        let call = format!("make {}", name(path));
        self.call(call, Error::FileOpen, || FileSystem.make_directory(path))
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        let call = format!("remove {}", name(path));
        self.call(call, Error::FileRemove, || FileSystem.remove_directory(path))
    }

    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        FileSystem.list(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        let call = format!("sync directory {}", name(directory));
        self.call(call, Error::FileWrite, || FileSystem.sync_directory(directory))
    }
}

/// A new file.
struct Counted {
    stream: Box<dyn Stream>,
    disk: Faulty,
    path: PathBuf,
}

impl Stream for Counted {
    fn size(&self) -> Result<u64> {
        self.stream.size()
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        self.stream.read_at(position, dest)
    }

    fn write_at(&self, position: u64, bytes: &[u8], granularity: WriteGranularity) -> Result<()> {
        if self.disk.may(format!("write {}", name(&self.path))) {
            return self.stream.write_at(position, bytes, granularity);
        }
        self.stream.write_at(position, &bytes[..bytes.len() / 2], granularity)?;
        Err(Error::FileWrite)
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.stream.truncate(len)
    }

    fn sync(&self) -> Result<()> {
        self.disk
            .call(format!("sync {}", name(&self.path)), Error::FileWrite, || self.stream.sync())
    }

    fn claim(&self) -> Result<bool> {
        self.stream.claim()
    }

    fn identity(&self) -> Option<Identity> {
        self.stream.identity()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.stream.close()
    }
}

pub fn options(disk: &Faulty, threshold: u64) -> WriteOptions {
    let mut options = WriteOptions::default().backend(Arc::new(disk.clone()));
    options.threshold = Some(threshold);
    options
}

fn change(writer: &mut StoreWriter) {
    writer.replace("/a", array(20)).unwrap();
    writer.delete("/g/b").unwrap();
    writer.put("/new/x", schunk(b"new")).unwrap();
    writer.set_attr("/g/é", "k", &Value::Int(1)).unwrap();
}

/// Each file is synced before its rename, and its directory after it.
fn check_order(log: &[String]) {
    for (at, call) in log.iter().enumerate().filter(|(_, call)| call.starts_with("rename")) {
        let from = call.split(' ').nth(1).unwrap();
        let before = &log[..at];
        let is_synced = before.last().unwrap() == &format!("sync {from}")
            || before.last().unwrap().starts_with("sync directory");
        assert!(is_synced && log[at + 1].starts_with("sync directory"), "{log:#?}");
    }
}

/// Returns a directory, the path of a store in it, which `start` has created, and a disk with this
/// fault at a call.
fn started(
    name: &str,
    start: &impl Fn(&Path),
    planned: Option<(usize, Fault)>,
) -> (Scratch, PathBuf, Faulty) {
    let scratch = Scratch::new();
    let path = scratch.path(name);
    start(&path);
    let disk = Faulty::default();
    disk.0.lock().unwrap().planned = planned;
    (scratch, path, disk)
}

#[test]
fn an_interrupted_change_of_a_table_keeps_all_rows() {
    let text = |text: String| Value::Str(text);
    let row = |number: i64| {
        let null = if number % 3 == 0 { Value::Nil } else { Value::Int(number) };
        vec![Value::Int(number), text(format!("t{number}")), null, text(format!("d{number}"))]
    };
    let set = [Value::Nil, Value::Int(-5)];
    let run = |path: &Path, disk: &Faulty| {
        let mut writer = Store::change_with(path, &options(disk, 0)).unwrap();
        let mut table = writer.table("/t").unwrap();
        if let Err(StoreError::Damaged { .. }) = table.append_rows(&[row(50), row(51)]) {
            table.drop_surplus().unwrap();
            table.append_rows(&[row(50), row(51)]).unwrap();
        }
        table.set("n", &[1, 3], Cells::Values(&set)).unwrap();
        table.finish().unwrap();
        writer.commit()
    };
    for (name, faults) in [("s.b2d", &[Fault::Fail, Fault::Kill][..]), ("s.b2z", &[Fault::Kill])] {
        let start = |path: &Path| {
            let specs = [
                ColumnSpec::number("i", "int64"),
                ColumnSpec::utf8("u"),
                ColumnSpec::number("n", "int32").nullable(),
                ColumnSpec::dictionary("d", false),
            ];
            let mut writer = Store::create(path).unwrap();
            let mut table = writer.create_table("/t", &specs).unwrap();
            table.append_rows(&(1..=5).map(row).collect::<Vec<_>>()).unwrap();
            table.finish().unwrap();
            writer.commit().unwrap();
        };
        let old: Vec<Vec<Value>> = (1..=5).map(row).collect();
        let mut new = [old.clone(), vec![row(50), row(51)]].concat();
        (new[1][2], new[3][2]) = (set[0].clone(), set[1].clone());
        let (_scratch, path, whole) = started(name, &start, None);
        run(&path, &whole).unwrap();
        let log = whole.0.lock().unwrap().log.clone();
        check_order(&log);
        for (number, call) in log.iter().enumerate() {
            for &fault in faults {
                let (_scratch, path, disk) = started(name, &start, Some((number, fault)));
                let what = format!("{name}: {fault:?} at {number}: {call}");
                assert!(run(&path, &disk).is_err(), "{what}");
                let store = Store::open(&path).unwrap();
                let table = store.table("/t").unwrap();
                let len = table.len() as usize;
                assert!(len == 5 || len == 7, "{what}");
                for (at, column) in ["i", "u", "n", "d"].into_iter().enumerate() {
                    let found = table.values(column, 0..table.len()).unwrap();
                    for (row, value) in found.iter().enumerate() {
                        let was = old.get(row).map(|row| &row[at]);
                        let is_known = Some(value) == was || *value == new[row][at];
                        assert!(is_known, "{what}: {column} row {row}: {value:?}");
                    }
                }
                // The change is made again, after the leftovers are removed.
                let is_old = len == 5;
                drop(table);
                if is_old {
                    run(&path, &Faulty::default()).unwrap();
                }
                let store = Store::open(&path).unwrap();
                let table = store.table("/t").unwrap();
                assert_eq!(table.rows(0..7).unwrap(), new, "{what}");
                assert_eq!(store.verify().unwrap(), [], "{what}");
            }
        }
    }
}

/// A change of a table, which a test interrupts.
struct TableEdit {
    name: &'static str,
    run: fn(&mut StoreWriter) -> ferroblosc_formats::store::Result<()>,
    /// Whether a directory supports it.
    in_directories: bool,
    /// The rows that it removes, by the values of the first column.
    gone_rows: &'static [i64],
    /// The columns that it removes.
    gone_columns: &'static [&'static str],
}

const TABLE_EDITS: [TableEdit; 4] = [
    TableEdit {
        name: "delete",
        run: |writer| {
            let mut table = writer.table("/t")?;
            table.delete(&[1, 3])?;
            table.finish().map(drop)
        },
        in_directories: true,
        gone_rows: &[2, 4],
        gone_columns: &[],
    },
    TableEdit {
        name: "add a column",
        run: |writer| {
            let mut table = writer.table("/t")?;
            let values: Vec<Value> = (0..6).map(Value::Int).collect();
            let new = ColumnSpec::number("new", "int64");
            table.add_column(&new, Some(Cells::Values(&values)))?;
            table.finish().map(drop)
        },
        in_directories: true,
        gone_rows: &[],
        gone_columns: &[],
    },
    TableEdit {
        name: "drop a column",
        run: |writer| {
            let mut table = writer.table("/t")?;
            table.drop_column("u")?;
            table.finish().map(drop)
        },
        in_directories: true,
        gone_rows: &[],
        gone_columns: &["u"],
    },
    TableEdit {
        name: "compact",
        run: |writer| {
            let mut table = writer.table("/t")?;
            table.compact()?;
            table.finish().map(drop)
        },
        in_directories: false,
        gone_rows: &[],
        gone_columns: &[],
    },
];

#[test]
fn an_interrupted_deletion_or_change_of_columns_loses_no_other_value() {
    let row = |number: i64| {
        let null = if number % 3 == 0 { Value::Nil } else { Value::Int(number) };
        vec![Value::Int(number), Value::Str(format!("t{number}")), null]
    };
    let start = |path: &Path| {
        let specs = [
            ColumnSpec::number("i", "int64"),
            ColumnSpec::utf8("u"),
            ColumnSpec::number("n", "int32").nullable(),
        ];
        let mut writer = Store::create(path).unwrap();
        let mut table = writer.create_table("/t", &specs).unwrap();
        table.append_rows(&(1..=7).map(row).collect::<Vec<_>>()).unwrap();
        // A deleted row, which `compact` removes.
        table.delete(&[6]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
    };
    for (name, faults) in [("s.b2d", &[Fault::Fail, Fault::Kill][..]), ("s.b2z", &[Fault::Kill])] {
        for TableEdit { name: edit, run, in_directories, gone_rows, gone_columns } in TABLE_EDITS {
            if name == "s.b2d" && !in_directories {
                continue;
            }
            let change = |path: &Path, disk: &Faulty| {
                let mut writer = Store::change_with(path, &options(disk, 0))?;
                run(&mut writer)?;
                writer.commit()
            };
            let (_scratch, path, whole) = started(name, &start, None);
            change(&path, &whole).unwrap();
            let log = whole.0.lock().unwrap().log.clone();
            assert!(!log.is_empty(), "{edit}");
            for (number, call) in log.iter().enumerate() {
                for &fault in faults {
                    let (_scratch, path, disk) = started(name, &start, Some((number, fault)));
                    let what = format!("{name}: {edit}: {fault:?} at {number}: {call}");
                    let changed = change(&path, &disk);
                    // Cleaning up after the commit may fail without an error.
                    let store = Store::open(&path).unwrap();
                    let table = store.table("/t").unwrap();
                    let len = table.len();
                    let found = table.values("i", 0..len).unwrap();
                    for expected in (1..=6).filter(|number| !gone_rows.contains(number)) {
                        let at = found.iter().position(|value| *value == Value::Int(expected));
                        let at = at.unwrap_or_else(|| panic!("{what}: {expected} of {found:?}"));
                        for (column, value) in ["i", "u", "n"].into_iter().zip(row(expected)) {
                            if gone_columns.contains(&column) {
                                continue;
                            }
                            let at = at as u64;
                            let read = table.values(column, at..at + 1).unwrap();
                            assert_eq!(read, [value], "{what}: {column} of {expected}");
                        }
                    }
                    assert!(found.len() as u64 == len && (4..=6).contains(&len), "{what}: {len}");
                    drop(table);
                    drop(store);
                    // The change can be made again, if it was not made.
                    let is_done = len == 6 - gone_rows.len() as u64 && !gone_rows.is_empty();
                    if changed.is_err() && !is_done {
                        let _ = change(&path, &Faulty::default());
                    }
                    let store = Store::open(&path).unwrap();
                    let table = store.table("/t").unwrap();
                    assert_eq!(table.len(), 6 - gone_rows.len() as u64, "{what}");
                }
            }
        }
    }
}

#[test]
fn an_interrupted_creation_leaves_nothing_or_the_new_store() {
    for name in ["s.b2z", "s.b2d", "s.b2e"] {
        let scratch = Scratch::new();
        let path = scratch.path(name);
        let whole = Faulty::default();
        create(&path, &options(&whole, 60));
        let wanted = content(&Store::open(&path).unwrap()).to_json();
        let log = whole.0.lock().unwrap().log.clone();
        check_order(&log);
        for (number, call) in log.iter().enumerate() {
            for fault in [Fault::Fail, Fault::Kill] {
                let scratch = Scratch::new();
                let path = scratch.path(name);
                let disk = Faulty::default();
                disk.0.lock().unwrap().planned = Some((number, fault));
                let run = || create(&path, &options(&disk, 60));
                let created = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                let what = format!("{name}: {fault:?} at {number}: {call}");
                assert!(created.is_err() || call.starts_with("remove"), "{what}");
                if path.exists() {
                    assert!(log[..number].iter().any(|call| call.starts_with("rename")), "{what}");
                    let store = Store::open(&path).unwrap();
                    assert_eq!(content(&store).to_json(), wanted, "{what}");
                } else if fault == Fault::Fail {
                    assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 0, "{what}");
                }
                // The next creation succeeds, also with leftovers.
                let _ = std::fs::remove_dir_all(&path);
                let _ = std::fs::remove_file(&path);
                create(&path, &WriteOptions::default());
            }
        }
    }
}

#[test]
fn row_t25_an_interrupted_change_leaves_the_old_or_the_new_store() {
    for name in ["s.b2z", "s.b2e"] {
        each_fault(name, 0, |store, old, new, what| {
            let left = content(store).to_json();
            assert!(left == old || left == new, "{what}: {left}");
        });
    }
}

#[test]
fn row_t26_an_interrupted_change_of_a_directory_leaves_each_leaf_old_or_new() {
    for threshold in [0, 60, 1 << 20] {
        each_fault("s.b2d", threshold, |store, old, new, what| {
            let (old, new) = (parse(old), parse(new));
            let left = parse(&content(store).to_json());
            let items = |json: &Json| match json.get("items") {
                Some(Json::Object(items)) => items.clone(),
                _ => panic!("{what}"),
            };
            let find = |json: &Json, key: &str| {
                let found = items(json).into_iter().find(|(other, _)| other == key);
                found.map(|(_, item)| item.to_json())
            };
            for (key, _) in items(&old).iter().chain(&items(&new)).chain(&items(&left)) {
                let found = find(&left, key);
                let is_known = found == find(&old, key) || found == find(&new, key);
                assert!(is_known, "{what}: {key}");
            }
        });
    }
}

fn parse(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// Injects each fault at each call of a change. `judge` receives the store that is left, and the
/// old and the new content.
fn each_fault(name: &str, threshold: u64, judge: impl Fn(&Store, &str, &str, &str)) {
    let run = |path: &Path, disk: &Faulty| {
        let mut writer = Store::change_with(path, &options(disk, threshold)).unwrap();
        change(&mut writer);
        writer.commit()
    };
    let scratch = Scratch::new();
    let path = scratch.path(name);
    create(&path, &options(&Faulty::default(), threshold));
    let old = content(&Store::open(&path).unwrap()).to_json();
    let whole = Faulty::default();
    run(&path, &whole).unwrap();
    let new = content(&Store::open(&path).unwrap()).to_json();
    let log = whole.0.lock().unwrap().log.clone();
    check_order(&log);
    for (number, call) in log.iter().enumerate() {
        for fault in [Fault::Fail, Fault::Kill] {
            let scratch = Scratch::new();
            let path = scratch.path(name);
            create(&path, &options(&Faulty::default(), threshold));
            let disk = Faulty::default();
            disk.0.lock().unwrap().planned = Some((number, fault));
            let result = run(&path, &disk);
            let what = format!("{name}: {fault:?} at {number}: {call}");
            // An empty directory may stay.
            assert!(result.is_err() || call == "remove g", "{what}");
            let store = Store::open(&path).unwrap();
            let damage = store.verify().unwrap();
            let damage = damage.iter().find(|finding| finding.severity == Severity::Damage);
            assert_eq!(damage, None, "{what}");
            judge(&store, &old, &new, &what);
            if fault == Fault::Fail {
                let left = std::fs::read_dir(scratch.path("")).unwrap().count();
                assert_eq!(left, 1, "{what}");
            }
            // The next change succeeds, and removes the leftovers.
            let mut writer =
                Store::change_with(&path, &options(&Faulty::default(), threshold)).unwrap();
            writer.replace("/a", array(20)).unwrap();
            if writer.contains("/g/b") {
                writer.delete("/g/b").unwrap();
            }
            writer.replace("/new/x", schunk(b"new")).unwrap();
            writer.set_attr("/g/é", "k", &Value::Int(1)).unwrap();
            writer.commit().unwrap();
            assert_eq!(content(&Store::open(&path).unwrap()).to_json(), new, "{what}");
            assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 1, "{what}");
        }
    }
}
