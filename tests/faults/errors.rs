//! Errors during each change of a super-chunk: the change fails and leaves the state unchanged, or
//! succeeds completely.

use super::changes::{CHUNK, Change, Guards, Kind, chunk, content, data, each_change, filled};
use ferroblosc::schunk::SChunk;
use ferroblosc::{Error, Result};
use ferroblosc_fault::{Disk, Fault};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files of a disk.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Injects a fault at each call of a change.
pub fn meets_faults(kind: Kind, guards: Guards, base: &Disk, (name, change): Change) {
    let again = || Disk::holding(base.contents());
    let disk = again();
    let mut schunk = kind.open(&disk, guards).unwrap();
    let old = content(&schunk).unwrap();
    change(&mut schunk).unwrap();
    let new = content(&schunk).unwrap();
    assert_ne!(old, new, "{name} changes nothing");
    let log = disk.log();
    for (call, what) in log.iter().enumerate() {
        for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
            let context = format!("{kind:?}, {guards:?}: {name}, {fault:?} at {call}, {what}");
            let disk = again();
            let mut schunk = kind.open(&disk, guards).unwrap();
            disk.plan(call, fault);
            let made = change(&mut schunk).is_ok();
            disk.heal();
            let another = kind.open(&disk, guards).and_then(|schunk| content(&schunk));
            let another = another.unwrap_or_else(|error| panic!("{context}: {error}"));
            // A replacement whose directory can't be synced is visible, but not durable: an error,
            // too.
            let is_there = guards.durable && what.starts_with("sync") && what.ends_with('/');
            let expected = if made || is_there && another == new { &new } else { &old };
            assert!(another == *expected, "{context}: another handle");
            // The handle detects that the change was made only when it is refreshed.
            schunk.refresh().unwrap();
            assert!(content(&schunk).unwrap() == *expected, "{context}: its handle");
            let mut schunk = kind.open(&disk, guards).unwrap();
            schunk.append(&data(8, CHUNK)).unwrap();
        }
    }
}

fn meet_faults(guards: Guards) {
    for kind in Kind::ALL {
        each_change(kind, guards, |base, change| meets_faults(kind, guards, base, change));
    }
}

#[test]
fn row_f19_a_change_with_an_error_is_complete_or_not_made() {
    meet_faults(Guards::default());
}

#[test]
fn row_f19_checksums_stay_valid_after_an_error() {
    meet_faults(Guards { checksums: true, ..Guards::default() });
}

#[test]
fn row_f34_a_durable_change_with_an_error_is_complete_or_not_made() {
    for checksums in [false, true] {
        meet_faults(Guards { durable: true, checksums });
    }
}

#[test]
fn a_failed_creation_leaves_no_files() {
    for kind in [Kind::File, Kind::Directory] {
        for durable in [false, true] {
            let guards = Guards { durable, ..Guards::default() };
            leaves_nothing(kind, guards);
        }
    }
}

fn leaves_nothing(kind: Kind, guards: Guards) {
    let disk = Disk::new();
    kind.create(&disk, guards).unwrap();
    for call in 0..disk.log().len() {
        for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
            let disk = Disk::new();
            disk.plan(call, fault);
            if kind.create(&disk, guards).is_ok() {
                continue;
            }
            disk.heal();
            assert!(disk.contents().is_empty(), "{kind:?}, {guards:?}, {fault:?} at {call}");
            kind.create(&disk, guards).unwrap();
        }
    }
}

/// Returns the change's result if the first call whose description begins with `beginning` fails.
fn answer_when_fails(beginning: &str, change: fn(&mut SChunk) -> Result<()>) -> Result<()> {
    let base = filled(Kind::File, Guards::default());
    let disk = Disk::holding(base.contents());
    change(&mut Kind::File.open(&disk, Guards::default()).unwrap()).unwrap();
    let log = disk.log();
    let call = log.iter().position(|what| what.starts_with(beginning));
    let disk = Disk::holding(base.contents());
    let mut schunk = Kind::File.open(&disk, Guards::default()).unwrap();
    disk.plan(call.expect("such a call"), Fault::Fail);
    change(&mut schunk)
}

#[test]
fn row_f18_a_failed_header_write_or_truncation_is_an_error() {
    let update = |s: &mut SChunk| s.update_metalayer("fixed", b"9876543210");
    assert_eq!(answer_when_fails("write", update), Err(Error::FileWrite));
    let delete = |s: &mut SChunk| s.delete_vlmetalayer("one");
    assert_eq!(answer_when_fails("write", delete), Err(Error::FileWrite));
    assert_eq!(answer_when_fails("resize", delete), Err(Error::FileTruncate));
}

#[test]
fn row_f17_a_chunk_in_a_directory_is_replaced_atomically_and_removed_after_the_index() {
    let base = filled(Kind::Directory, Guards::default());
    let log_of = |change: fn(&mut SChunk) -> Result<()>| {
        let disk = Disk::holding(base.contents());
        let mut schunk = Kind::Directory.open(&disk, Guards::default()).unwrap();
        change(&mut schunk).unwrap();
        (disk.log(), disk.contents())
    };
    let (log, contents) = log_of(|s| s.update_chunk(1, &chunk(9, CHUNK)).map(drop));
    let renamed = "rename frame/00000001.chunk.tmp to frame/00000001.chunk";
    assert!(log.iter().any(|what| what == renamed), "{log:?}");
    let names = |contents: &Contents| contents.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&contents), names(&base.contents()));

    let (log, contents) = log_of(|s| s.delete_chunk(1).map(drop));
    assert_eq!(log.last().unwrap(), "remove frame/00000001.chunk");
    assert_eq!(contents.len(), base.contents().len() - 1);
}
