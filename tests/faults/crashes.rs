//! Crashes and power failures during each change of a durable super-chunk: it has its old or its
//! new state.

use super::changes::{
    CHUNK, Change, Guards, Kind, chunk, content, data, each_change, empty, filled,
};
use ferroblosc::io::{Backend, FileOps, Mode, WriteGranularity};
use ferroblosc_fault::{Disk, Fault, SECTOR, Survival};
use std::path::Path;

/// Returns the states that unsynced data may have after a crash.
pub fn survivals() -> impl Iterator<Item = Survival> {
    [Survival::All, Survival::Synced].into_iter().chain((0..12).map(Survival::Seed))
}

/// Whether a logged write stays within a sector, which makes it atomic.
pub fn is_within_a_sector(what: &str) -> bool {
    let mut words = what.split(' ');
    let (Some("write"), Some(len), Some("at"), Some(at)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let (len, at): (usize, usize) = (len.parse().unwrap(), at.parse().unwrap());
    at / SECTOR == (at + len.max(1) - 1) / SECTOR
}

/// Interrupts a change at each of its calls and checks the state afterwards.
pub fn is_interrupted(kind: Kind, guards: Guards, base: &Disk, (name, change): Change) {
    let again = || Disk::holding(base.contents());
    let disk = again();
    let mut schunk = kind.open(&disk, guards).unwrap();
    let old = content(&schunk).unwrap();
    change(&mut schunk).unwrap();
    let new = content(&schunk).unwrap();
    assert_ne!(old, new, "{name} changes nothing");
    drop(schunk);
    let log = disk.log();
    // After its last call, the change is durable.
    let after = kind.open(&disk.after_crash(Survival::Synced), guards);
    assert!(content(&after.unwrap()).unwrap() == new, "{kind:?}: {name} does not persist");
    for (call, what) in log.iter().enumerate() {
        for fault in [Fault::Crash, Fault::CrashWithin] {
            if fault == Fault::CrashWithin && is_within_a_sector(what) {
                continue;
            }
            let disk = again();
            let mut schunk = kind.open(&disk, guards).unwrap();
            disk.plan(call, fault);
            let _ = change(&mut schunk);
            assert!(disk.has_crashed());
            for survival in survivals() {
                let context = format!(
                    "{kind:?}, {guards:?}: {name}, {fault:?} at {call}, {what}, {survival:?}"
                );
                let disk = disk.after_crash(survival);
                // A reader without durability finds the same state.
                let schunk = kind.open(&disk, Guards::default());
                let schunk = schunk.unwrap_or_else(|error| panic!("{context}: {error}"));
                let found = content(&schunk);
                let found = found.unwrap_or_else(|error| panic!("{context}: {error}"));
                assert!(found == old || found == new, "{context}: {found:?}");
                // The super-chunk accepts further changes.
                let mut schunk = kind.open(&disk, guards).unwrap();
                schunk.append(&data(8, CHUNK)).unwrap();
                let mut expected = found;
                expected.chunks.push(data(8, CHUNK));
                let disk = disk.after_crash(Survival::Synced);
                let schunk = kind.open(&disk, guards).unwrap();
                assert!(content(&schunk).unwrap() == expected, "{context}: appended to");
            }
        }
    }
}

/// Replaces the frame's bytes, in the same file or with a new one.
fn put(disk: &Disk, bytes: &[u8], is_new_file: bool) {
    let path = Path::new("frame");
    if is_new_file {
        disk.remove(path).unwrap();
    }
    let stream = disk.open(path, Mode::Create).unwrap();
    stream.write_at(0, bytes, WriteGranularity::Whole).unwrap();
}

/// Interrupts a change at each of its calls and replaces the frame before it is opened again: the
/// replacement must be found and changed.
fn is_replaced(kind: Kind, guards: Guards, base: &Disk, (name, change): Change) {
    let frame = |disk: &Disk| disk.contents().remove(Path::new("frame")).unwrap();
    let (backup, again) = (frame(base), || Disk::holding(base.contents()));
    let disk = again();
    change(&mut kind.open(&disk, guards).unwrap()).unwrap();
    let calls = disk.log().len();
    // A writer without journals has changed the backup.
    let disk = again();
    let mut schunk = kind.open(&disk, Guards::default()).unwrap();
    schunk.add_vlmetalayer("other", b"writer").unwrap();
    drop(schunk);
    let other = frame(&disk);
    for call in 0..calls {
        for (bytes, is_new_file) in
            [(&backup, true), (&backup, false), (&other, true), (&other, false)]
        {
            let disk = again();
            let mut schunk = kind.open(&disk, guards).unwrap();
            disk.plan(call, Fault::Crash);
            let _ = change(&mut schunk);
            let disk = disk.after_crash(Survival::All);
            put(&disk, bytes, is_new_file);
            let context = format!("{kind:?}: {name}, {call}, new: {is_new_file}");
            let expected = content(
                &kind.open(&Disk::holding([("frame".into(), bytes.clone())]), guards).unwrap(),
            );
            let mut schunk = kind.open(&disk, Guards::default()).unwrap();
            assert!(content(&schunk) == expected, "{context}");
            assert!(frame(&disk) == *bytes, "{context}: opening has written");
            schunk.append(&data(8, CHUNK)).unwrap();
            let mut expected = expected.unwrap();
            expected.chunks.push(data(8, CHUNK));
            let schunk = kind.open(&disk, guards).unwrap();
            assert!(content(&schunk).unwrap() == expected, "{context}: appended to");
            let left = disk.contents();
            let journal = Path::new("frame.b2journal");
            assert!(!left.contains_key(journal), "{context}: a journal is left");
        }
    }
}

#[test]
fn a_frame_that_replaces_an_interrupted_one_is_unchanged() {
    let guards = Guards { durable: true, ..Guards::default() };
    for kind in [Kind::File, Kind::Embedded] {
        each_change(kind, guards, |base, change| is_replaced(kind, guards, base, change));
    }
}

fn are_interrupted(kind: Kind) {
    for checksums in [false, true] {
        let guards = Guards { durable: true, checksums };
        each_change(kind, guards, |base, change| is_interrupted(kind, guards, base, change));
    }
}

#[test]
fn row_f34_an_interrupted_change_leaves_the_old_or_new_file() {
    are_interrupted(Kind::File);
}

#[test]
fn row_f34_an_interrupted_change_leaves_the_old_or_new_directory() {
    are_interrupted(Kind::Directory);
}

#[test]
fn row_f34_an_interrupted_change_leaves_the_old_or_new_embedded_frame() {
    are_interrupted(Kind::Embedded);
}

/// Returns a disk with a super-chunk of one chunk.
fn single(kind: Kind, guards: Guards) -> Disk {
    let base = empty(kind, guards);
    let mut schunk = kind.open(&base, guards).unwrap();
    schunk.append(&data(1, CHUNK)).unwrap();
    base
}

#[test]
fn row_f34_deleting_the_only_chunk_can_be_interrupted() {
    let durable = Guards { durable: true, ..Guards::default() };
    for kind in Kind::ALL {
        let delete: Change = ("delete the only chunk", |s| s.delete_chunk(0).map(drop));
        is_interrupted(kind, durable, &single(kind, durable), delete);
    }
}

#[test]
fn row_f34_an_interrupted_creation_can_be_retried() {
    let durable = Guards { durable: true, ..Guards::default() };
    for kind in [Kind::File, Kind::Directory] {
        let disk = Disk::new();
        drop(kind.create(&disk, durable).unwrap());
        for call in 0..disk.log().len() {
            for survival in survivals() {
                let disk = Disk::new();
                disk.plan(call, Fault::Crash);
                let _ = kind.create(&disk, durable);
                let disk = disk.after_crash(survival);
                let context = format!("{kind:?}, {call}, {survival:?}: {:?}", disk.contents());
                let mut schunk = match kind.open(&disk, durable) {
                    Ok(schunk) => schunk,
                    Err(_) => kind
                        .create(&disk, durable)
                        .unwrap_or_else(|error| panic!("{context}: {error}")),
                };
                assert_eq!(schunk.nchunks(), 0);
                schunk.append(&data(1, CHUNK)).unwrap();
            }
        }
    }
}

#[test]
fn an_interrupted_compaction_keeps_the_contents() {
    let guards = Guards { durable: true, checksums: true };
    for kind in [Kind::File, Kind::Directory] {
        let base = filled(kind, guards);
        let mut schunk = kind.open(&base, guards).unwrap();
        schunk.delete_chunk(2).unwrap();
        schunk.update_chunk(0, &chunk(7, CHUNK)).unwrap();
        let expected = content(&schunk).unwrap();
        let size = |disk: &Disk| disk.contents().values().map(Vec::len).sum::<usize>();
        let disk = Disk::holding(base.contents());
        kind.open(&disk, guards).unwrap().compact().unwrap();
        let log = disk.log();
        if kind == Kind::File {
            assert!(size(&disk) + CHUNK / 2 < size(&base), "no holes were removed");
        }
        for call in 0..log.len() {
            for survival in survivals() {
                let disk = Disk::holding(base.contents());
                let mut schunk = kind.open(&disk, guards).unwrap();
                disk.plan(call, Fault::Crash);
                let _ = schunk.compact();
                let disk = disk.after_crash(survival);
                let found = content(&kind.open(&disk, guards).unwrap()).unwrap();
                assert!(found == expected, "{kind:?}, {call}, {survival:?}");
            }
        }
    }
}

/// A compaction of a directory removes chunk files without a reference, and no others.
#[test]
fn a_compaction_keeps_the_files_of_others() {
    let guards = Guards::default();
    let base = filled(Kind::Directory, guards);
    let mut files = base.contents();
    let directory = files.keys().find_map(|path| path.parent()).unwrap().to_owned();
    let others =
        ["notes.chunk", "notes.000000FF.chunk", "FF.chunk"].map(|name| directory.join(name));
    let orphan = directory.join("000000FF.chunk");
    for path in others.iter().chain([&orphan]) {
        files.insert(path.clone(), b"mine".to_vec());
    }
    let disk = Disk::holding(files);
    Kind::Directory.open(&disk, guards).unwrap().compact().unwrap();
    let left = disk.contents();
    assert!(!left.contains_key(&orphan));
    assert!(others.iter().all(|path| left.contains_key(path)), "{:?}", left.keys());
}

/// A compaction succeeds if only its directory cannot be synced: both files hold the same content.
/// The next change is made in the new file, so its name must be durable first.
#[test]
fn a_change_after_a_compaction_that_was_not_synced_survives_a_power_cut() {
    let guards = Guards { durable: true, checksums: true };
    let base = filled(Kind::File, guards);
    Kind::File.open(&base, guards).unwrap().delete_chunk(2).unwrap();
    let disk = Disk::holding(base.contents());
    Kind::File.open(&disk, guards).unwrap().compact().unwrap();
    let log = disk.log();
    let sync = log.iter().rposition(|what| what.starts_with("sync") && what.ends_with('/'));
    for is_reopened in [false, true] {
        let disk = Disk::holding(base.contents());
        let mut schunk = Kind::File.open(&disk, guards).unwrap();
        disk.plan(sync.expect("a synced directory"), Fault::Fail);
        schunk.compact().unwrap();
        disk.heal();
        if is_reopened {
            schunk = Kind::File.open(&disk, guards).unwrap();
        }
        schunk.append(&data(8, CHUNK)).unwrap();
        let expected = content(&schunk).unwrap();
        let found = Kind::File.open(&disk.after_crash(Survival::Synced), guards).unwrap();
        assert!(content(&found).unwrap() == expected, "reopened: {is_reopened}");
    }
}

#[test]
fn a_durable_change_of_a_frame_that_was_created_without_syncs_survives_a_power_cut() {
    for kind in [Kind::File, Kind::Directory] {
        let disk = Disk::new();
        kind.create(&disk, Guards::default()).unwrap();
        let durable = Guards { durable: true, ..Guards::default() };
        let mut schunk = kind.open(&disk, durable).unwrap();
        schunk.append(&data(1, CHUNK)).unwrap();
        let expected = content(&schunk).unwrap();
        let found = kind.open(&disk.after_crash(Survival::Synced), durable).unwrap();
        assert!(content(&found).unwrap() == expected, "{kind:?}");
    }
}

#[test]
fn holes_are_compacted_before_exceeding_the_chunks_and_readers_follow() {
    const LARGE: usize = 300_000;
    let durable = Guards { durable: true, ..Guards::default() };
    let kind = Kind::File;
    let disk = Disk::new();
    let mut writer = kind.create(&disk, durable).unwrap();
    for number in 0..4 {
        writer.append(&data(number, LARGE)).unwrap();
    }
    let size = || disk.contents().values().map(Vec::len).sum::<usize>();
    let (dense, mut largest) = (size(), 0);
    let reader = kind.open(&disk, Guards::default()).unwrap();
    for round in 0..60 {
        let number = i64::from(round % 4);
        writer.update_chunk(number, &chunk(round, LARGE)).unwrap();
        writer.set_slice(0, 1, &[round; 4]).unwrap();
        largest = largest.max(size());
        let mut dest = vec![0; LARGE];
        assert_eq!(reader.decompress(number, &mut dest), Ok(LARGE), "round {round}");
        let from = if number == 0 { 4 } else { 0 };
        assert!(dest[from..] == data(round, LARGE)[from..], "round {round}");
    }
    assert!(largest < 3 * dense + (2 << 20), "{largest} bytes, {dense} dense");
    writer.close().unwrap();
    assert!(size() < dense + dense / 2, "{} bytes, {dense} dense", size());
}

#[test]
fn a_removed_frame_is_not_restored() {
    let durable = Guards { durable: true, ..Guards::default() };
    for kind in [Kind::File, Kind::Directory] {
        let disk = filled(kind, durable);
        let mut schunk = kind.open(&disk, durable).unwrap();
        schunk.delete_chunk(1).unwrap();
        for path in disk.contents().keys() {
            disk.remove(path).unwrap();
        }
        assert!(schunk.append(&data(9, CHUNK)).is_err());
        let _ = schunk.close();
        assert!(disk.contents().is_empty(), "{kind:?}");
    }
}
