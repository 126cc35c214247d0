//! What becomes of a super-chunk on a disk that fails: a change that meets an error either tells of it and
//! leaves everything as it was, or gets over it and is made as a whole.

use super::changes::{CHUNK, Change, Guards, Kind, chunk, content, data, each_change, filled};
use ferroblosc::io::fault::{Disk, Fault};
use ferroblosc::schunk::SChunk;
use ferroblosc::{Error, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files of a disk.
type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Lets a change meet a fault at each of its calls.
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
            let another = content(&kind.open(&disk, guards).unwrap()).unwrap();
            // What replaced the old file may be there without lasting, which is an error too.
            let is_there = guards.durable && what.starts_with("sync") && what.ends_with('/');
            let expected = match made || is_there && another == new {
                true => &new,
                false => &old,
            };
            assert!(another == *expected, "{context}: another handle");
            // The handle itself may know only now that it was made after all.
            schunk.refresh().unwrap();
            assert!(
                content(&schunk).unwrap() == *expected,
                "{context}: its handle"
            );
            let mut schunk = kind.open(&disk, guards).unwrap();
            schunk.append(&data(8, CHUNK)).unwrap();
        }
    }
}

fn meet_faults(guards: Guards) {
    for kind in Kind::ALL {
        each_change(kind, guards, |base, change| {
            meets_faults(kind, guards, base, change)
        });
    }
}

#[test]
fn row_f19_a_change_that_meets_an_error_is_made_as_a_whole_or_not_at_all() {
    meet_faults(Guards::default());
}

#[test]
fn row_f19_a_frame_with_checksums_keeps_them_right_when_a_change_meets_an_error() {
    meet_faults(Guards {
        checksums: true,
        ..Guards::default()
    });
}

#[test]
fn row_f34_a_durable_change_that_meets_an_error_is_made_as_a_whole_or_not_at_all() {
    for checksums in [false, true] {
        meet_faults(Guards {
            durable: true,
            checksums,
        });
    }
}

#[test]
fn what_could_not_be_made_leaves_nothing() {
    for kind in [Kind::File, Kind::Directory] {
        for durable in [false, true] {
            let guards = Guards {
                durable,
                ..Guards::default()
            };
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
            assert!(
                disk.contents().is_empty(),
                "{kind:?}, {guards:?}, {fault:?} at {call}"
            );
            kind.create(&disk, guards).unwrap();
        }
    }
}

/// What a change answers when the first call whose description begins so fails.
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
fn row_f18_a_header_that_is_not_written_and_a_file_that_is_not_cut_are_errors() {
    let update = |s: &mut SChunk| s.update_metalayer("fixed", b"9876543210");
    assert_eq!(answer_when_fails("write", update), Err(Error::FileWrite));
    let delete = |s: &mut SChunk| s.delete_vlmetalayer("one");
    assert_eq!(answer_when_fails("write", delete), Err(Error::FileWrite));
    assert_eq!(
        answer_when_fails("resize", delete),
        Err(Error::FileTruncate)
    );
}

#[test]
fn row_f17_a_chunk_in_a_directory_is_replaced_at_once_and_goes_after_the_index() {
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
