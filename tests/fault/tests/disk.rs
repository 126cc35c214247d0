//! The disk itself: faults, power cuts, and otherwise the same results as on a real disk.

use ferroblosc::io::{Backend, FileOps, FileSystem, Mode, Stream, WriteGranularity};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_fault::{Disk, Fault, SECTOR, Survival};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const SEEDS: u64 = 200;

fn open(disk: &Disk, path: &str, mode: Mode) -> Box<dyn Stream> {
    disk.open(Path::new(path), mode).unwrap()
}

fn write(stream: &dyn Stream, at: u64, bytes: &[u8]) -> Result<()> {
    stream.write_at(at, bytes, WriteGranularity::Whole)
}

fn one_file(bytes: &[u8]) -> Disk {
    Disk::holding([(PathBuf::from("f"), bytes.to_vec())])
}

fn contents_of(disk: &Disk, path: &str) -> Option<Vec<u8>> {
    disk.contents().remove(Path::new(path))
}

/// Returns the possible contents of a file after a power cut, over many seeds.
fn survivals(disk: &Disk, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    let after = |seed| contents_of(&disk.after_crash(Survival::Seed(seed)), path);
    (0..SEEDS).map(after).collect()
}

/// Returns the result without the context of its error, which only real files have.
fn kind<T>(result: Result<T>) -> std::result::Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

/// Performs many operations below `root`, and returns the results as text.
fn deeds(backend: &dyn Backend, root: &Path) -> Vec<String> {
    let ops = backend.file_ops().unwrap();
    let at = |name: &str| root.join(name);
    let mut done = Vec::new();
    let mut tell = |what: &dyn std::fmt::Debug| done.push(format!("{what:?}"));
    for (name, mode) in [
        ("f", Mode::Read),
        ("f", Mode::Update),
        ("f", Mode::Create),
        ("f", Mode::Update),
        ("f", Mode::Append),
        ("f", Mode::Read),
        ("g", Mode::Append),
        ("f/x", Mode::Create),
        ("no/x", Mode::Create),
    ] {
        let Ok(stream) = backend.open(&at(name), mode) else {
            tell(&(name, mode, "not opened"));
            continue;
        };
        let mut bytes = [7; 8];
        tell(&kind(write(&*stream, 3, b"abc")));
        tell(&kind(write(&*stream, 1, b"xy")));
        tell(&(kind(stream.read_at(2, &mut bytes)), bytes));
        tell(&kind(stream.truncate(5)));
        tell(&kind(stream.truncate(9)));
        tell(&(kind(stream.size()), stream.view(0, 1).is_some()));
        tell(&(stream.identity() == ops.identify(&at(name)), kind(stream.close())));
    }
    tell(&kind(ops.rename(&at("f"), &at("g"))));
    tell(&kind(ops.rename(&at("f"), &at("h"))));
    tell(&kind(ops.make_directory(&at("d"))));
    tell(&kind(ops.make_directory(&at("d"))));
    tell(&kind(ops.make_directory(&at("no/d"))));
    tell(&kind(ops.rename(&at("g"), &at("d"))));
    tell(&kind(ops.rename(&at("g"), &at("no/g"))));
    tell(&kind(ops.rename(&at("g"), &at("d/g"))));
    tell(&kind(ops.remove_directory(&at("d"))));
    tell(&kind(ops.remove(&at("d"))));
    tell(&kind(ops.list(&at("d"))));
    tell(&kind(ops.list(&at("no"))));
    tell(&kind(ops.sync_directory(&at("d"))));
    tell(&kind(ops.sync_directory(&at("no"))));
    let held = backend.open(&at("d/g"), Mode::Update).unwrap();
    tell(&kind(ops.remove(&at("d/g"))));
    tell(&kind(ops.remove(&at("d/g"))));
    tell(&(kind(write(&*held, 0, b"still")), kind(held.size()), kind(held.sync())));
    tell(&ops.identify(&at("d/g")));
    tell(&ops.identify(&at("d")).is_some());
    tell(&kind(ops.remove_directory(&at("d"))));
    tell(&kind(ops.remove_directory(&at("d"))));
    tell(&kind(ops.list(&at(""))));
    done
}

#[test]
fn a_disk_without_faults_behaves_like_a_real_one() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Disk::new();
    disk.make_directory(Path::new("/root")).unwrap();
    assert_eq!(deeds(&disk, Path::new("/root")), deeds(&FileSystem, dir.path()));
}

#[test]
fn a_failed_call_does_nothing_and_the_next_one_succeeds() {
    let disk = one_file(b"0000");
    let stream = open(&disk, "f", Mode::Update);
    for (call, fault) in [(0, Fault::Fail), (2, Fault::Cut)] {
        disk.plan(call, fault);
        assert_eq!(write(&*stream, 0, b"11"), Err(Error::FileWrite));
        let half = if fault == Fault::Cut { b"1000" } else { b"0000" };
        assert_eq!(contents_of(&disk, "f").unwrap(), half);
        assert_eq!(write(&*stream, 0, b"00"), Ok(()));
    }
    disk.plan(4, Fault::Cut);
    assert_eq!(stream.truncate(2), Err(Error::FileTruncate));
    disk.plan(5, Fault::Fail);
    assert_eq!(stream.sync(), Err(Error::FileWrite));
    disk.plan(6, Fault::Fail);
    assert_eq!(disk.remove(Path::new("f")), Err(Error::FileRemove));
    assert_eq!(contents_of(&disk, "f").unwrap(), b"0000");
    assert!(!disk.has_crashed());
    assert_eq!(disk.log()[..2], ["write 2 at 0 of f"; 2]);
    assert_eq!(disk.log()[4..], ["resize f to 2", "sync f", "remove f"]);
}

#[test]
fn a_full_disk_allows_changes_that_need_no_space() {
    let disk = one_file(b"0000");
    let stream = open(&disk, "f", Mode::Update);
    disk.plan(0, Fault::Full);
    assert_eq!(write(&*stream, 2, b"1111"), Err(Error::FileWrite));
    assert_eq!(contents_of(&disk, "f").unwrap(), b"0011");
    assert_eq!(write(&*stream, 0, b"2"), Ok(()));
    assert_eq!(stream.truncate(9), Err(Error::FileTruncate));
    assert_eq!(stream.truncate(2), Ok(()));
    let made = disk.open(Path::new("g"), Mode::Create);
    assert_eq!(made.err(), Some(Error::FileOpen));
    let made = disk.make_directory(Path::new("d"));
    assert_eq!(made, Err(Error::FileOpen));
    disk.rename(Path::new("f"), Path::new("h")).unwrap();
    disk.heal();
    assert_eq!(write(&*stream, 2, b"33"), Ok(()));
    assert_eq!(contents_of(&disk, "h").unwrap(), b"2033");
}

#[test]
fn nothing_happens_after_a_crash() {
    for (fault, left) in [(Fault::Crash, b"0000"), (Fault::CrashWithin, b"1000")] {
        let disk = one_file(b"0000");
        let stream = open(&disk, "f", Mode::Update);
        disk.plan(0, fault);
        assert_eq!(write(&*stream, 0, b"11"), Err(Error::FileWrite));
        assert!(disk.has_crashed());
        assert_eq!(write(&*stream, 0, b"11"), Err(Error::FileWrite));
        assert_eq!(stream.truncate(0), Err(Error::FileTruncate));
        assert_eq!(stream.sync(), Err(Error::FileWrite));
        assert_eq!(stream.size(), Err(Error::FileRead));
        assert_eq!(stream.read_at(0, &mut [0]), Err(Error::FileRead));
        assert_eq!(stream.close(), Err(Error::FileWrite));
        assert!(disk.open(Path::new("f"), Mode::Read).is_err());
        assert!(disk.open(Path::new("f"), Mode::Create).is_err());
        assert!(disk.remove(Path::new("f")).is_err());
        assert!(disk.list(Path::new("")).is_err());
        let killed = disk.after_crash(Survival::All);
        assert_eq!(contents_of(&killed, "f").unwrap(), left);
        let cut = disk.after_crash(Survival::Synced);
        assert_eq!(contents_of(&cut, "f").unwrap(), b"0000");
        write(&*open(&cut, "f", Mode::Update), 0, b"9").unwrap();
    }
}

#[test]
fn each_unsynced_sector_is_old_or_new() {
    let disk = one_file(&[0; 4 * SECTOR]);
    let stream = open(&disk, "f", Mode::Update);
    write(&*stream, 0, &[1; 4 * SECTOR]).unwrap();
    let found = survivals(&disk, "f");
    for bytes in found.iter().flatten() {
        for sector in bytes.chunks(SECTOR) {
            assert!(sector.iter().all(|byte| *byte == sector[0]));
        }
    }
    assert_eq!(found.len(), 16, "every choice for four sectors is met");
    stream.sync().unwrap();
    assert_eq!(survivals(&disk, "f"), BTreeSet::from([Some(vec![1; 4 * SECTOR])]));
}

#[test]
fn synced_bytes_are_never_lost() {
    let disk = one_file(&[0; 2 * SECTOR]);
    let stream = open(&disk, "f", Mode::Update);
    write(&*stream, 0, &[1; SECTOR]).unwrap();
    stream.sync().unwrap();
    write(&*stream, SECTOR as u64, &[2; SECTOR]).unwrap();
    let new = [[1; SECTOR], [2; SECTOR]].concat();
    let old = [[1; SECTOR], [0; SECTOR]].concat();
    assert_eq!(survivals(&disk, "f"), BTreeSet::from([Some(old), Some(new)]));
}

#[test]
fn a_file_that_grew_may_be_longer_but_empty() {
    let disk = one_file(b"");
    let stream = open(&disk, "f", Mode::Update);
    write(&*stream, 0, b"abc").unwrap();
    stream.truncate(2).unwrap();
    let found = survivals(&disk, "f");
    for bytes in [&b""[..], b"abc", b"ab", b"\0\0\0", b"\0\0"] {
        assert!(found.contains(&Some(bytes.to_vec())), "{bytes:?}");
    }
}

#[test]
fn names_are_durable_once_their_directory_is_synced() {
    let disk = one_file(b"old");
    let made = open(&disk, "new", Mode::Create);
    write(&*made, 0, b"new").unwrap();
    made.sync().unwrap();
    disk.rename(Path::new("new"), Path::new("f")).unwrap();
    let both = BTreeSet::from([Some(b"old".to_vec()), Some(b"new".to_vec())]);
    assert_eq!(survivals(&disk, "f"), both);
    let left = survivals(&disk, "new");
    assert_eq!(left, BTreeSet::from([None, Some(b"new".to_vec())]));
    assert_eq!(disk.after_crash(Survival::Synced).contents().len(), 1);
    disk.sync_directory(Path::new("")).unwrap();
    assert_eq!(survivals(&disk, "f"), BTreeSet::from([Some(b"new".to_vec())]));
    assert_eq!(survivals(&disk, "new"), BTreeSet::from([None]));
}

#[test]
fn a_name_may_be_durable_before_its_bytes() {
    let disk = one_file(b"old");
    write(&*open(&disk, "new", Mode::Create), 0, b"new").unwrap();
    disk.rename(Path::new("new"), Path::new("f")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    let found = survivals(&disk, "f");
    assert!(found.contains(&Some(Vec::new())), "{found:?}");
    assert!(!found.contains(&Some(b"old".to_vec())), "{found:?}");
}

#[test]
fn name_changes_are_lost_independently() {
    let files = ["a", "b"].map(|name| (PathBuf::from(name), Vec::new()));
    let disk = Disk::holding(files);
    disk.remove(Path::new("a")).unwrap();
    disk.remove(Path::new("b")).unwrap();
    let left = |seed| {
        let after = disk.after_crash(Survival::Seed(seed));
        after.list(Path::new("")).unwrap()
    };
    let found: BTreeSet<Vec<OsString>> = (0..SEEDS).map(left).collect();
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn the_contents_of_a_lost_directory_are_lost() {
    let disk = Disk::new();
    disk.make_directory(Path::new("d")).unwrap();
    open(&disk, "d/f", Mode::Create).sync().unwrap();
    disk.sync_directory(Path::new("d")).unwrap();
    let found = survivals(&disk, "d/f");
    assert_eq!(found, BTreeSet::from([None, Some(Vec::new())]));
    disk.sync_directory(Path::new("")).unwrap();
    assert_eq!(survivals(&disk, "d/f"), BTreeSet::from([Some(Vec::new())]));
}

#[test]
fn a_seed_is_reproducible() {
    let disk = one_file(&[0; 9 * SECTOR]);
    write(&*open(&disk, "f", Mode::Update), 0, &[1; 9 * SECTOR]).unwrap();
    for seed in 0..SEEDS {
        let [one, other] = [(); 2].map(|()| disk.after_crash(Survival::Seed(seed)).contents());
        assert_eq!(one, other);
    }
}
