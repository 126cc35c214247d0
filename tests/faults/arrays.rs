//! Calls with several changes of a durable array are atomic: after an interruption or an error at
//! any point, the array has its old or its new state.

use super::changes::{Guards, Kind};
use super::crashes::{is_within_a_sector, survivals};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::codec;
use ferroblosc::schunk::Storage;
use ferroblosc::{Error, Result};
use ferroblosc_fault::{Disk, Fault};

const WIDTH: usize = 4;
const SHAPE: [i64; 2] = [40, 30];

/// Returns incompressible items that depend on `number`.
fn items(number: u32, count: i64) -> Vec<u8> {
    let mut noise = number.wrapping_mul(0x9e37_79b9) | 1;
    let next = |_| {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        noise.to_le_bytes()
    };
    (0..count).flat_map(next).collect()
}

/// The complete state of an array.
#[derive(Debug, PartialEq, Eq)]
struct Content {
    shape: Vec<i64>,
    items: Vec<u8>,
}

fn content(array: &Array) -> Result<Content> {
    let items = array.items()?;
    Ok(Content { shape: array.shape(), items })
}

fn open(kind: Kind, disk: &Disk, guards: Guards) -> Result<Array> {
    Array::open(kind.on(disk, guards), DParams::default())
}

fn params() -> CParams {
    CParams::default().typesize(WIDTH as i32).codec(codec::id::LZ4)
}

const LAYOUT: Layout<'static> =
    Layout { shape: &SHAPE, chunkshape: &[10, 15], blockshape: &[5, 5] };

/// Returns a disk with an array; a long `dtype` makes its header longer than a sector.
fn filled(kind: Kind, guards: Guards, dtype: &str) -> Disk {
    let disk = Disk::new();
    let storage = kind.made_as().on(&disk, guards);
    let all = items(1, SHAPE[0] * SHAPE[1]);
    Array::from_item_bytes(storage, params(), &LAYOUT, dtype, &all).unwrap();
    kind.moved(disk)
}

/// The name and the call.
type Call = (&'static str, fn(&mut Array) -> Result<()>);

const CALLS: [Call; 19] = [
    ("set within a chunk", |a| a.set_slice(&[1, 2], &[4, 5], &items(2, 9))),
    ("set over chunks", |a| a.set_slice(&[5, 3], &[35, 28], &items(2, 30 * 25))),
    ("set all", |a| a.set_slice(&[0, 0], &SHAPE, &items(2, 1200))),
    ("set by indices", |a| a.set_orthogonal(&[&[1, 11, 35], &[2, 3, 20]], &items(2, 9))),
    ("append chunks", |a| a.append(&items(2, 20 * 30), 0)),
    ("append a few", |a| a.append(&items(2, 3 * 30), 0)),
    ("append columns", |a| a.append(&items(2, 40 * 5), 1)),
    ("insert", |a| a.insert(&items(2, 10 * 30), 0, 10)),
    ("insert columns", |a| a.insert(&items(2, 15 * 40), 1, 15)),
    ("delete", |a| a.delete(0, 10, 20)),
    ("delete at the end", |a| a.delete(0, 33, 7)),
    ("delete all", |a| a.delete(0, 0, 40)),
    ("grow", |a| a.resize(&[60, 41], None)),
    ("grow and shrink", |a| a.resize(&[60, 15], None)),
    ("shrink and grow", |a| a.resize(&[7, 61], None)),
    ("shrink to nothing", |a| a.resize(&[0, 30], None)),
    ("shrink within a chunk", |a| a.resize(&[39, 29], None)),
    ("extend", |a| {
        let more = items(3, 10 * 30);
        let layout = Layout { shape: &[10, 30], ..LAYOUT };
        let other = Array::from_item_bytes(Storage::memory(), params(), &layout, "<u4", &more)?;
        a.extend(&other, 0)
    }),
    ("several in a transaction", |a| {
        let mut open = a.transaction()?;
        open.append(&items(4, 20 * 30), 0)?;
        open.delete(0, 0, 10)?;
        open.set_slice(&[0, 0], &[5, 5], &items(5, 25))?;
        open.resize(&[0, 30], None)?;
        open.append(&items(6, 12 * 30), 0)?;
        open.commit()
    }),
];

fn each_call(f: impl Fn(Kind, Guards, &Disk, Call)) {
    let long = format!("{:600}", "<u4");
    for kind in Kind::ALL {
        for (checksums, dtype) in [(false, "<u4"), (true, "<u4"), (false, &long)] {
            let guards = Guards { durable: true, checksums };
            let base = filled(kind, guards, dtype);
            for call in CALLS {
                f(kind, guards, &base, call);
            }
        }
    }
}

#[test]
fn an_interrupted_array_call_leaves_the_old_or_new_state() {
    each_call(|kind, guards, base, (name, call)| {
        let disk = Disk::holding(base.contents());
        let mut array = open(kind, &disk, guards).unwrap();
        let old = content(&array).unwrap();
        call(&mut array).unwrap();
        let new = content(&array).unwrap();
        assert_ne!(old, new, "{name} changes nothing");
        drop(array);
        let log = disk.log();
        let after = open(kind, &disk.after_crash(survivals().nth(1).unwrap()), guards);
        assert!(content(&after.unwrap()).unwrap() == new, "{kind:?}: {name} does not persist");
        for (number, what) in log.iter().enumerate() {
            for fault in [Fault::Crash, Fault::CrashWithin] {
                if fault == Fault::CrashWithin && is_within_a_sector(what) {
                    continue;
                }
                let disk = Disk::holding(base.contents());
                let mut array = open(kind, &disk, guards).unwrap();
                disk.plan(number, fault);
                let _ = call(&mut array);
                for survival in survivals().take(8) {
                    let context = format!(
                        "{kind:?}, {guards:?}: {name}, {fault:?} at {number}, {what}, {survival:?}"
                    );
                    let disk = disk.after_crash(survival);
                    let array = open(kind, &disk, Guards::default());
                    let found = array.and_then(|array| content(&array));
                    let found = found.unwrap_or_else(|error| panic!("{context}: {error}"));
                    assert!(found == old || found == new, "{context}: {:?}", found.shape);
                }
                // The array accepts further changes.
                let disk = disk.after_crash(survivals().next().unwrap());
                let mut array = open(kind, &disk, guards).unwrap();
                array.resize(&[50, 30], None).unwrap();
            }
        }
    });
}

#[test]
fn a_failed_array_call_leaves_the_old_state_usable() {
    each_call(|kind, guards, base, (name, call)| {
        let disk = Disk::holding(base.contents());
        let mut array = open(kind, &disk, guards).unwrap();
        let old = content(&array).unwrap();
        call(&mut array).unwrap();
        let new = content(&array).unwrap();
        let log = disk.log();
        for (number, what) in log.iter().enumerate() {
            for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
                let context =
                    format!("{kind:?}, {guards:?}: {name}, {fault:?} at {number}, {what}");
                let disk = Disk::holding(base.contents());
                let mut array = open(kind, &disk, guards).unwrap();
                disk.plan(number, fault);
                let made = call(&mut array).is_ok();
                if !made {
                    // The handle's state, without reading the file again.
                    assert_eq!(array.shape(), old.shape, "{context}");
                }
                disk.heal();
                let another = open(kind, &disk, guards).unwrap();
                let another = content(&another).unwrap();
                let is_there = what.starts_with("sync") && what.ends_with('/');
                let expected = if made || is_there && another == new { &new } else { &old };
                assert!(another == *expected, "{context}: another handle");
                assert!(content(&array).unwrap() == *expected, "{context}: its handle");
                if !made && another == old {
                    call(&mut array).unwrap_or_else(|error| panic!("{context}: {error}"));
                    assert!(content(&array).unwrap() == new, "{context}: again");
                }
            }
        }
    });
}

#[test]
fn a_failed_append_of_a_chunk_leaves_no_chunk_beyond_the_shape() {
    let layout = Layout { shape: &[16], chunkshape: &[8], blockshape: &[4] };
    let (old, more) = (items(1, 16), items(2, 8));
    for kind in Kind::ALL {
        let guards = Guards::default();
        let new_disk = || {
            let disk = Disk::new();
            let storage = kind.made_as().on(&disk, guards);
            Array::from_item_bytes(storage, params(), &layout, "<u4", &old).unwrap();
            kind.moved(disk)
        };
        let disk = Disk::holding(new_disk().contents());
        open(kind, &disk, guards).unwrap().append(&more, 0).unwrap();
        for (number, what) in disk.log().iter().enumerate() {
            let disk = Disk::holding(new_disk().contents());
            let mut array = open(kind, &disk, guards).unwrap();
            disk.plan(number, Fault::Fail);
            let made = array.append(&more, 0).is_ok();
            disk.heal();
            let context = format!("{kind:?}: failure at {number}, {what}");
            let state = |array: &Array| (array.shape(), array.schunk().nchunks());
            let expected = if made { (vec![24], 3) } else { (vec![16], 2) };
            assert_eq!(state(&array), expected, "{context}");
            if !made {
                array.append(&more, 0).unwrap_or_else(|error| panic!("{context}: {error}"));
            }
            let another = open(kind, &disk, guards).unwrap();
            for array in [&array, &another] {
                assert_eq!(state(array), (vec![24], 3), "{context}: again");
                assert!(array.items().unwrap() == [&old[..], &more].concat(), "{context}: again");
            }
        }
    }
}

#[test]
fn a_failed_growth_leaves_no_item_at_another_place() {
    let growths = ["append columns", "insert", "insert columns", "grow"];
    for kind in Kind::ALL {
        let guards = Guards::default();
        let base = filled(kind, guards, "<u4");
        for (name, call) in CALLS.into_iter().filter(|(name, _)| growths.contains(name)) {
            let disk = Disk::holding(base.contents());
            let mut array = open(kind, &disk, guards).unwrap();
            let old = content(&array).unwrap();
            call(&mut array).unwrap();
            let new = content(&array).unwrap();
            for (number, what) in disk.log().iter().enumerate() {
                let context = format!("{kind:?}: {name}, failure at {number}, {what}");
                let disk = Disk::holding(base.contents());
                let mut array = open(kind, &disk, guards).unwrap();
                disk.plan(number, Fault::Fail);
                let made = call(&mut array).is_ok();
                disk.heal();
                let expected = if made { &new } else { &old };
                assert!(content(&array).unwrap() == *expected, "{context}");
                let another = open(kind, &disk, guards).unwrap();
                assert!(content(&another).unwrap() == *expected, "{context}: another handle");
                if !made {
                    call(&mut array).unwrap_or_else(|error| panic!("{context}: {error}"));
                    assert!(content(&array).unwrap() == new, "{context}: again");
                }
            }
        }
    }
}

#[test]
fn a_growth_on_a_full_disk_leaves_no_item_at_another_place() {
    // The old items after each growth.
    let growths: [(&str, &[[i64; 4]]); 3] = [
        ("append columns", &[[0, 0, 40, 30]]),
        ("insert", &[[0, 0, 10, 30], [20, 0, 50, 30]]),
        ("insert columns", &[[0, 0, 40, 15], [0, 30, 40, 45]]),
    ];
    for kind in Kind::ALL {
        let guards = Guards::default();
        let base = filled(kind, guards, "<u4");
        for (name, parts) in growths {
            let (_, call) = CALLS.into_iter().find(|call| call.0 == name).unwrap();
            let disk = Disk::holding(base.contents());
            let mut new = open(kind, &disk, guards).unwrap();
            let old = content(&new).unwrap();
            call(&mut new).unwrap();
            for (number, what) in disk.log().iter().enumerate() {
                let context = format!("{kind:?}: {name}, full at {number}, {what}");
                let disk = Disk::holding(base.contents());
                let mut array = open(kind, &disk, guards).unwrap();
                disk.plan(number, Fault::Full);
                let _ = call(&mut array);
                disk.heal();
                let another = open(kind, &disk, guards).unwrap();
                for array in [&array, &another] {
                    if array.shape() == old.shape {
                        assert!(content(array).unwrap() == old, "{context}");
                        continue;
                    }
                    assert_eq!(array.shape(), new.shape(), "{context}");
                    for &[row, column, last_row, last_column] in parts {
                        let part = |array: &Array| {
                            array.get_slice(&[row, column], &[last_row, last_column]).unwrap()
                        };
                        assert!(part(array) == part(&new), "{context}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_rollback_restores_an_arrays_shape_and_files() {
    each_call(|kind, guards, base, (name, call)| {
        let disk = Disk::holding(base.contents());
        let mut array = open(kind, &disk, guards).unwrap();
        let old = content(&array).unwrap();
        let mut transaction = array.transaction().unwrap();
        call(&mut transaction).unwrap();
        let new = content(&transaction).unwrap();
        assert_ne!(old, new, "{name}");
        transaction.rollback();
        assert_eq!(array.shape(), old.shape, "{name}");
        assert!(content(&array).unwrap() == old, "{kind:?}: {name}");
        assert!(disk.contents() == base.contents(), "{kind:?}: {name}");
        call(&mut array).unwrap();
        assert!(content(&array).unwrap() == new, "{kind:?}: {name}");
    });
}

#[test]
fn a_commit_around_a_leaked_transaction_restores_the_shape() {
    for kind in [Kind::File, Kind::Directory] {
        let guards = Guards { durable: true, checksums: false };
        let disk = Disk::holding(filled(kind, guards, "<u4").contents());
        let mut array = open(kind, &disk, guards).unwrap();
        let old = content(&array).unwrap();
        let mut outer = array.transaction().unwrap();
        outer.append(&items(4, 20 * 30), 0).unwrap();
        let mut inner = outer.transaction().unwrap();
        inner.append(&items(4, 20 * 30), 0).unwrap();
        std::mem::forget(inner);
        assert_eq!(outer.commit(), Err(Error::InvalidParam));
        assert!(content(&array).unwrap() == old);
        array.append(&items(4, 20 * 30), 0).unwrap();
        assert!(content(&open(kind, &disk, guards).unwrap()).unwrap() == content(&array).unwrap());
    }
}

#[test]
fn a_failed_call_in_a_transaction_keeps_the_other_changes() {
    for kind in [Kind::File, Kind::Directory] {
        let guards = Guards { durable: true, checksums: true };
        let base = filled(kind, guards, "<u4");
        let last = |a: &mut Array| a.insert(&items(2, 10 * 30), 0, 10);
        let disk = Disk::holding(base.contents());
        let mut array = open(kind, &disk, guards).unwrap();
        let mut transaction = array.transaction().unwrap();
        transaction.append(&items(4, 20 * 30), 0).unwrap();
        let first = disk.log().len();
        last(&mut transaction).unwrap();
        let new = content(&transaction).unwrap();
        for number in first..disk.log().len() {
            let disk = Disk::holding(base.contents());
            let mut array = open(kind, &disk, guards).unwrap();
            let mut transaction = array.transaction().unwrap();
            transaction.append(&items(4, 20 * 30), 0).unwrap();
            let between = content(&transaction).unwrap();
            disk.plan(number, Fault::Cut);
            if last(&mut transaction).is_err() {
                assert!(content(&transaction).unwrap() == between, "{kind:?}, {number}");
                disk.heal();
                last(&mut transaction).unwrap();
            }
            transaction.commit().unwrap();
            assert!(content(&open(kind, &disk, guards).unwrap()).unwrap() == new);
        }
    }
}

#[test]
fn an_interrupted_creation_from_items_is_complete_or_unreadable() {
    for kind in [Kind::File, Kind::Directory] {
        let guards = Guards { durable: true, checksums: false };
        let make = |disk: &Disk| {
            let all = items(1, SHAPE[0] * SHAPE[1]);
            Array::from_item_bytes(kind.on(disk, guards), params(), &LAYOUT, "<u4", &all)
        };
        let disk = Disk::new();
        let whole = content(&make(&disk).unwrap()).unwrap();
        assert!(content(&open(kind, &disk, guards).unwrap()).unwrap() == whole);
        for number in 0..disk.log().len() {
            for survival in survivals() {
                let disk = Disk::new();
                disk.plan(number, Fault::Crash);
                assert!(make(&disk).is_err());
                let disk = disk.after_crash(survival);
                let found = open(kind, &disk, guards).and_then(|array| content(&array));
                let found_nothing = found.is_err();
                assert!(
                    found.is_ok_and(|found| found == whole) || found_nothing,
                    "{kind:?}, {number}, {survival:?}"
                );
            }
        }
    }
}

#[test]
fn a_failed_creation_from_items_leaves_no_files() {
    for kind in [Kind::File, Kind::Directory] {
        for durable in [false, true] {
            let guards = Guards { durable, checksums: true };
            let make = |disk: &Disk| {
                let all = items(1, SHAPE[0] * SHAPE[1]);
                Array::from_item_bytes(kind.on(disk, guards), params(), &LAYOUT, "<u4", &all)
            };
            let disk = Disk::new();
            make(&disk).unwrap();
            for number in 0..disk.log().len() {
                for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
                    let disk = Disk::new();
                    disk.plan(number, fault);
                    if make(&disk).is_ok() {
                        continue;
                    }
                    disk.heal();
                    let left: Vec<_> = disk.contents().into_keys().collect();
                    assert!(left.is_empty(), "{guards:?}, {fault:?} at {number}: {left:?}");
                    make(&disk).unwrap();
                }
            }
        }
    }
}
