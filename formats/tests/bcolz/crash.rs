//! Changes interrupted at each call by an error, a process crash or a power failure.

use crate::common::{iota, spec};
use ferroblosc_fault::{Disk, Fault, Survival};
use ferroblosc_formats::bcolz::{self, Carray, Ctable, Error, Mode, Options, Store};
use std::path::Path;
use std::sync::Arc;

/// The states that unsynced changes may have after a power failure.
const CUTS: [Survival; 6] = [
    Survival::All,
    Survival::Synced,
    Survival::Seed(1),
    Survival::Seed(2),
    Survival::Seed(3),
    Survival::Seed(4),
];

fn options(disk: &Disk, durable: bool) -> Options {
    Options { store: Store::new(Arc::new(disk.clone())).durable(durable), ..Options::default() }
}

fn root() -> &'static Path {
    Path::new("/a")
}

/// Returns a disk with an array of `len` rows in chunks of ten.
fn disk_with(len: i64) -> Disk {
    disk_in_chunks(10, len)
}

fn disk_in_chunks(chunklen: u64, len: i64) -> Disk {
    let disk = Disk::new();
    let options = options(&disk, false);
    let spec = spec("int64", chunklen);
    let mut array = Carray::create(root(), &spec, Mode::Append, &options).unwrap();
    array.append(&iota(0..len)).unwrap();
    array.close().unwrap();
    disk.after_crash(Survival::All)
}

fn rows(disk: &Disk) -> Vec<u8> {
    let mut array = Carray::open(root(), Mode::Read, &options(disk, false)).unwrap();
    let len = array.len();
    array.read(0..len).unwrap()
}

/// Injects each fault at each call of a change; `judge` checks the result.
fn interrupt(start: &Disk, change: impl Fn(&Options), judge: impl Fn(&Disk, &str)) {
    for durable in [false, true] {
        let whole = start.after_crash(Survival::All);
        change(&options(&whole, durable));
        let calls = whole.log();
        assert!(calls.len() > 3, "{calls:?}");
        for (number, call) in calls.iter().enumerate() {
            for fault in [Fault::Fail, Fault::Cut, Fault::Full, Fault::Crash, Fault::CrashWithin] {
                let disk = start.after_crash(Survival::All);
                disk.plan(number, fault);
                change(&options(&disk, durable));
                let cuts = if durable { &CUTS[..] } else { &CUTS[..1] };
                for &cut in cuts {
                    let what = format!("{fault:?} at {number}: {call}, {cut:?}");
                    judge(&disk.after_crash(cut), &what);
                }
            }
        }
    }
}

/// Returns a check that an array has the old or the new rows and accepts appends afterwards.
fn old_or_new(old: Vec<u8>, new: Vec<u8>) -> impl Fn(&Disk, &str) {
    move |disk, what| {
        let left = rows(disk);
        assert!(left == old || left == new, "{what}: {} bytes", left.len());
        let mut array = Carray::open(root(), Mode::Append, &options(disk, false)).unwrap();
        array.append(&iota(900..925)).unwrap();
        array.close().unwrap();
        assert_eq!(rows(disk), [left, iota(900..925)].concat(), "{what}");
    }
}

#[test]
fn row_b8_an_interrupted_append_leaves_the_old_rows_or_the_new_ones() {
    for (len, more) in [(0, 5), (25, 3), (25, 5), (25, 40), (20, 30)] {
        let change = |options: &Options| {
            let Ok(mut array) = Carray::open(root(), Mode::Append, options) else {
                return;
            };
            let before = array.len();
            match array.append(&iota(len..len + more)) {
                Ok(()) => assert_eq!(array.len(), before + more as u64),
                Err(_) => assert_eq!(array.len(), before),
            }
            let _ = array.close();
        };
        interrupt(&disk_with(len), change, old_or_new(iota(0..len), iota(0..len + more)));
    }
}

/// Appends rows up to `end` in steps with several threads.
fn failed_appends(chunklen: u64, end: u64, step: u64) {
    let all = iota(0..end as i64);
    let change = |options: &Options| {
        let Ok(mut array) = Carray::open(root(), Mode::Append, options) else {
            return;
        };
        array.set_threads(3);
        while array.len() < end {
            let before = array.len();
            let more = (end - before).min(step);
            let piece = &all[before as usize * 8..(before + more) as usize * 8];
            let appended = array.append(piece);
            let len = before + if appended.is_ok() { more } else { 0 };
            assert_eq!(array.len(), len);
            match array.read(0..len) {
                Ok(rows) => assert!(rows == all[..len as usize * 8]),
                // After a power failure, reads fail as well.
                Err(error) => assert!(matches!(error, Error::Storage { .. }), "{error}"),
            }
            if appended.is_err() {
                return;
            }
        }
        let _ = array.close();
    };
    interrupt(&disk_in_chunks(chunklen, 25), change, |disk, what| {
        let left = rows(disk);
        assert!(left.len() / 8 >= 25, "{what}: {} bytes", left.len());
        assert!(left == all[..left.len()], "{what}: {} bytes", left.len());
    });
}

#[test]
fn row_b8_a_failed_append_of_several_threads_keeps_the_old_rows() {
    failed_appends(10, 100, 17);
}

/// Chunks of 1 MiB are buffered in memory until every thread has one.
#[test]
fn row_b8_a_failed_append_of_large_chunks_keeps_the_old_rows() {
    let chunklen = 1 << 17;
    failed_appends(chunklen, 3 * chunklen + 1000, chunklen - 10_000);
}

#[test]
fn row_b8_interrupted_trimming_leaves_the_old_rows_or_the_new_ones() {
    for (len, less) in [(25, 3), (25, 5), (25, 11), (25, 20), (25, 25), (30, 1)] {
        let change = |options: &Options| {
            if let Ok(mut array) = Carray::open(root(), Mode::Append, options) {
                let _ = array.trim(less as u64);
            }
        };
        interrupt(&disk_with(len), change, old_or_new(iota(0..len), iota(0..len - less)));
    }
}

#[test]
fn row_b8_interrupted_changes_of_rows_keep_each_chunk_consistent() {
    let change = |options: &Options| {
        if let Ok(mut array) = Carray::open(root(), Mode::Append, options) {
            let _ = array.set(5, &iota(105..124));
        }
    };
    interrupt(&disk_with(25), change, |disk, what| {
        let left = rows(disk);
        let (old, new) = (iota(0..25), [iota(0..5), iota(105..124), iota(24..25)].concat());
        for (start, end) in [(0, 80), (80, 160), (160, 200)] {
            let part = &left[start..end];
            assert!(part == &old[start..end] || part == &new[start..end], "{what}");
        }
    });
}

#[test]
fn row_b8_an_interrupted_creation_is_no_object_or_an_empty_one() {
    let change = |options: &Options| {
        let _ = Carray::create(root(), &spec("int64", 10), Mode::Append, options);
    };
    interrupt(&Disk::new(), change, |disk, what| {
        match Carray::open(root(), Mode::Read, &options(disk, false)) {
            Ok(array) => assert_eq!(array.len(), 0, "{what}"),
            Err(Error::NotFound(_) | Error::Incomplete(_)) => {}
            Err(error) => panic!("{what}: {error}"),
        }
    });
}

#[test]
fn row_b9_an_interrupted_append_leaves_columns_of_the_old_rows_or_the_new_ones() {
    let disk = Disk::new();
    let columns = [("x", spec("int64", 10)), ("y", spec("int64", 7))];
    let mut table = Ctable::create(root(), &columns, Mode::Append, &options(&disk, false)).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    drop(table);
    let change = |options: &Options| {
        if let Ok(mut table) = Ctable::open(root(), Mode::Append, options) {
            let _ = table.append(&[&iota(25..40), &iota(25..40)]);
        }
    };
    interrupt(&disk.after_crash(Survival::All), change, |disk, what| {
        for column in ["x", "y"] {
            let path = root().join(column);
            let mut array = Carray::open(&path, Mode::Read, &options(disk, false)).unwrap();
            let len = array.len();
            assert!(len == 25 || len == 40, "{what}: {len} rows");
            assert_eq!(array.read(0..len).unwrap(), iota(0..len as i64), "{what}");
        }
    });
}

/// Without a crash, a failed append also leaves columns of one length.
#[test]
fn row_b9_a_failed_append_leaves_columns_of_one_length() {
    let start = disk_with_table(|_| {});
    let append = |disk: &Disk| {
        let mut table = Ctable::open(root(), Mode::Append, &options(disk, true))?;
        table.append(&[&iota(25..40), &iota(25..40)])
    };
    let whole = start.after_crash(Survival::All);
    append(&whole).unwrap();
    for (number, call) in whole.log().iter().enumerate() {
        let disk = start.after_crash(Survival::All);
        disk.plan(number, Fault::Fail);
        let appended = append(&disk);
        let what = format!("{call}: {appended:?}");
        let table = Ctable::open(root(), Mode::Read, &options(&disk, false));
        let mut table = table.unwrap_or_else(|error| panic!("{what}: {error}"));
        let len = table.len();
        assert!(len == 25 || len == 40, "{what}: {len} rows");
        for column in ["a", "b"] {
            assert_eq!(table.read(column, 0..len).unwrap(), iota(0..len as i64), "{what}");
        }
    }
}

/// A change on a full disk leaves columns of one length, also if the disk has space again before
/// the handle is closed.
#[test]
fn row_b9_a_change_on_a_full_disk_leaves_columns_of_one_length() {
    type Change = fn(&mut Ctable) -> bcolz::Result<()>;
    let changes: [(&str, u64, Change); 3] = [
        ("append", 40, |table| table.append(&[&iota(25..40), &iota(25..40)])),
        ("resize", 60, |table| table.resize(60)),
        ("trim", 8, |table| table.trim(17)),
    ];
    let start = disk_with_table(|_| {});
    for (name, after, change) in changes {
        for durable in [false, true] {
            let opened = |disk: &Disk| Ctable::open(root(), Mode::Append, &options(disk, durable));
            let whole = start.after_crash(Survival::All);
            change(&mut opened(&whole).unwrap()).unwrap();
            for (number, call) in whole.log().iter().enumerate() {
                for has_space_again in [false, true] {
                    let disk = start.after_crash(Survival::All);
                    disk.plan(number, Fault::Full);
                    if let Ok(mut table) = opened(&disk) {
                        let _ = change(&mut table);
                        if has_space_again {
                            disk.heal();
                        }
                    }
                    let what = format!("{name}, {durable}, {has_space_again}, {number}: {call}");
                    let table = Ctable::open(root(), Mode::Read, &options(&disk, false));
                    let mut table = table.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let len = table.len();
                    assert!(len == 25 || len == after, "{what}: {len} rows");
                    let old = len.min(25);
                    for column in ["a", "b"] {
                        let rows = table.read(column, 0..old).unwrap();
                        assert_eq!(rows, iota(0..old as i64), "{what}");
                    }
                }
            }
        }
    }
}

/// A failed change of columns leaves a table that can be opened, and no column without its rows.
#[test]
fn a_failed_change_of_columns_leaves_the_old_or_the_new_ones() {
    type Change = fn(&mut Ctable) -> bcolz::Result<()>;
    let add: Change = |table| {
        let fill = |array: &mut Carray| array.append(&iota(0..25));
        table.add_column("c", &spec("int64", 10), None, fill)
    };
    let changes: [(&[&str], Change); 3] = [
        (&["a", "b", "c"], add),
        (&["a", "c"], |table| table.rename_column("b", "c")),
        (&["a"], |table| table.remove_column("b", true)),
    ];
    let start = disk_with_table(|_| {});
    for (after, change) in changes {
        let opened = |disk: &Disk| Ctable::open(root(), Mode::Append, &options(disk, true));
        let whole = start.after_crash(Survival::All);
        change(&mut opened(&whole).unwrap()).unwrap();
        for (number, call) in whole.log().iter().enumerate() {
            for fault in [Fault::Fail, Fault::Full] {
                let disk = start.after_crash(Survival::All);
                disk.plan(number, fault);
                if let Ok(mut table) = opened(&disk) {
                    let _ = change(&mut table);
                }
                let what = format!("{after:?}, {fault:?} at {number}: {call}");
                let table = Ctable::open(root(), Mode::Read, &options(&disk, false));
                let mut table = table.unwrap_or_else(|error| panic!("{what}: {error}"));
                let names: Vec<String> = table.names().map(str::to_owned).collect();
                assert!(names == ["a", "b"] || names == after, "{what}: {names:?}");
                for name in names {
                    assert_eq!(table.read(&name, 0..25).unwrap(), iota(0..25), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_resize_on_a_full_disk_leaves_the_old_length() {
    let start = disk_with(25);
    let whole = start.after_crash(Survival::All);
    let opened = |disk: &Disk| Carray::open(root(), Mode::Append, &options(disk, false));
    opened(&whole).unwrap().resize(60).unwrap();
    for number in 0..whole.log().len() {
        let disk = start.after_crash(Survival::All);
        disk.plan(number, Fault::Full);
        let Ok(mut array) = opened(&disk) else {
            continue;
        };
        let len = if array.resize(60).is_ok() { 60 } else { 25 };
        assert_eq!(array.len(), len, "{number}");
        disk.heal();
        drop(array);
        let expected = [iota(0..25), vec![0; (len as usize - 25) * 8]].concat();
        assert_eq!(rows(&disk), expected, "{number}");
    }
}

/// Returns a disk with a table of two columns of 25 rows in chunks of ten, and column `b` damaged.
fn disk_with_table(damage: impl FnOnce(&Disk)) -> Disk {
    let disk = Disk::new();
    let columns = [("a", spec("int64", 10)), ("b", spec("int64", 10))];
    let mut table = Ctable::create(root(), &columns, Mode::Write, &options(&disk, false)).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    table.close().unwrap();
    damage(&disk);
    disk.after_crash(Survival::All)
}

/// An interrupted repair loses no bytes of the undamaged column, and a second one completes it.
#[test]
fn an_interrupted_repair_is_completed_by_another_one() {
    let trimmed = disk_with_table(|disk| {
        let path = root().join("b");
        let mut array = Carray::open(&path, Mode::Append, &options(disk, false)).unwrap();
        array.trim(17).unwrap();
    });
    let cut = disk_with_table(|disk| {
        let store = Store::new(Arc::new(disk.clone()));
        store.remove(&root().join("b/data/__1.blp")).unwrap();
        store.remove(&root().join("b/data/__2.blp")).unwrap();
    });
    for (start, len) in [(trimmed, 8), (cut, 25)] {
        let chunks: Vec<Vec<u8>> = start
            .contents()
            .into_iter()
            .filter(|(path, _)| path.starts_with("/a/a/data"))
            .map(|(_, bytes)| bytes)
            .collect();
        assert_eq!(chunks.len(), 3);
        let repair = |options: &Options| drop(bcolz::repair(root(), options));
        interrupt(&start, repair, |disk, what| {
            let files = disk.contents();
            for (number, chunk) in chunks.iter().enumerate() {
                let is_kept = files.values().any(|bytes| bytes == chunk);
                assert!(is_kept, "{what}: chunk {number} of {len} rows");
            }
            let repaired = bcolz::repair(root(), &options(disk, false));
            let repaired = repaired.unwrap_or_else(|error| panic!("{what}: {error}"));
            let left = repaired.remaining.iter().filter(|left| !left.fault.is_note());
            assert_eq!(left.count(), 0, "{what}: {:?}", repaired.remaining);
            let mut table = Ctable::open(root(), Mode::Read, &options(disk, false)).unwrap();
            assert_eq!(table.len(), len, "{what}");
            assert_eq!(table.read("a", 0..len).unwrap(), iota(0..len as i64), "{what}");
        });
    }
}
