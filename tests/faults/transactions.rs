//! Transactions: committed, rolled back, interrupted, and with errors.

use super::changes::{
    CHUNK, Content, Guards, Kind, chunk, content, data, each_transaction, filled,
};
use super::crashes::is_interrupted;
use super::errors::meets_faults;
use ferroblosc::schunk::{SChunk, Storage, transaction};
use ferroblosc::{Error, Result};
use ferroblosc_fault::{Disk, Fault};

const DURABLE: Guards = Guards { durable: true, checksums: false };

const BOTH: [Guards; 2] = [DURABLE, Guards { durable: true, checksums: true }];

#[test]
fn an_interrupted_transaction_leaves_the_old_or_new_state() {
    for kind in Kind::ALL {
        for guards in BOTH {
            each_transaction(kind, guards, |base, change| {
                is_interrupted(kind, guards, base, change);
            });
        }
    }
}

#[test]
fn a_transaction_with_an_error_is_complete_or_not_made() {
    for kind in Kind::ALL {
        for guards in BOTH {
            each_transaction(kind, guards, |base, change| {
                meets_faults(kind, guards, base, change);
            });
        }
    }
}

/// Returns the state that another handle finds.
fn found_by_another(kind: Kind, disk: &Disk) -> Content {
    content(&kind.open(disk, Guards::default()).unwrap()).unwrap()
}

/// Returns the contents of all files of a disk.
fn contents(disk: &Disk) -> Vec<Vec<u8>> {
    disk.contents().into_values().collect()
}

#[test]
fn a_rollback_leaves_the_files_unchanged() {
    for kind in Kind::ALL {
        for guards in BOTH {
            each_transaction(kind, guards, |base, (name, change)| {
                let disk = Disk::holding(base.contents());
                let mut schunk = kind.open(&disk, guards).unwrap();
                let old = content(&schunk).unwrap();
                let counters = (schunk.nchunks(), schunk.nbytes(), schunk.cbytes());
                let mut open = schunk.transaction().unwrap();
                change(&mut open).unwrap();
                let new = content(&open).unwrap();
                assert_ne!(old, new, "{name}");
                drop(open);
                let context = format!("{kind:?}, {guards:?}: {name}");
                assert_eq!(
                    (schunk.nchunks(), schunk.nbytes(), schunk.cbytes()),
                    counters,
                    "{context}"
                );
                assert!(content(&schunk).unwrap() == old, "{context}");
                assert!(contents(&disk) == contents(base), "{context}: the files");
                assert_eq!(schunk.verify().unwrap().faults(), 0, "{context}");
                // The super-chunk accepts further changes.
                change(&mut schunk).unwrap();
                assert!(content(&schunk).unwrap() == new, "{context}: again");
                assert!(found_by_another(kind, &disk) == new, "{context}: again");
            });
        }
    }
}

#[test]
fn other_handles_see_the_old_state_until_the_commit() {
    for kind in [Kind::File, Kind::Directory] {
        each_transaction(kind, DURABLE, |base, (name, change)| {
            let disk = Disk::holding(base.contents());
            let mut schunk = kind.open(&disk, DURABLE).unwrap();
            let reader = kind.open(&disk, Guards::default()).unwrap();
            let old = content(&schunk).unwrap();
            let mut open = schunk.transaction().unwrap();
            change(&mut open).unwrap();
            // The handle itself sees the changes, even after a refresh.
            let new = content(&open).unwrap();
            open.refresh().unwrap();
            assert_eq!(open.verify().unwrap().faults(), 0, "{name}");
            assert!(content(&open).unwrap() == new, "{name}");
            let bytes = open.to_bytes().unwrap();
            let copy = SChunk::from_bytes(&bytes, Default::default()).unwrap();
            assert!(content(&copy).unwrap() == new, "{name}: its copy");
            assert_eq!(open.compact(), Err(Error::InvalidParam));
            reader.refresh().unwrap();
            assert!(content(&reader).unwrap() == old, "{name}: a reader");
            assert!(found_by_another(kind, &disk) == old, "{name}: another");
            open.commit().unwrap();
            if kind == Kind::File {
                reader.refresh().unwrap();
                assert!(content(&reader).unwrap() == new, "{name}: the reader after");
            }
            assert!(found_by_another(kind, &disk) == new, "{name}: another after");
        });
    }
}

#[test]
fn an_inner_rollback_returns_to_the_inner_begin() {
    for kind in [Kind::File, Kind::Directory] {
        for guards in BOTH {
            let disk = filled(kind, guards);
            let mut schunk = kind.open(&disk, guards).unwrap();
            let mut outer = schunk.transaction().unwrap();
            outer.update_chunk(0, &chunk(10, CHUNK)).unwrap();
            outer.update_vlmetalayer("one", b"outer").unwrap();
            let between = content(&outer).unwrap();
            for _ in 0..2 {
                let mut inner = outer.transaction().unwrap();
                inner.update_chunk(0, &chunk(11, CHUNK)).unwrap();
                inner.update_chunk(0, &chunk(12, CHUNK)).unwrap();
                inner.delete_chunk(1).unwrap();
                inner.update_metalayer("fixed", b"9876543210").unwrap();
                inner.update_vlmetalayer("one", b"inner").unwrap();
                drop(inner);
                assert!(content(&outer).unwrap() == between);
            }
            outer.append(&data(13, CHUNK)).unwrap();
            let new = content(&outer).unwrap();
            outer.commit().unwrap();
            assert!(content(&schunk).unwrap() == new);
            assert!(found_by_another(kind, &disk) == new);
        }
    }
}

#[test]
fn a_commit_around_a_leaked_transaction_is_an_error() {
    for kind in Kind::ALL {
        for commits in [true, false] {
            let base = filled(kind, DURABLE);
            let disk = Disk::holding(base.contents());
            let mut schunk = kind.open(&disk, DURABLE).unwrap();
            let old = content(&schunk).unwrap();
            let mut outer = schunk.transaction().unwrap();
            outer.append(&data(9, CHUNK)).unwrap();
            let mut inner = outer.transaction().unwrap();
            inner.append(&data(10, CHUNK)).unwrap();
            std::mem::forget(inner);
            if commits {
                assert_eq!(outer.commit(), Err(Error::InvalidParam));
            } else {
                drop(outer);
            }
            assert!(content(&schunk).unwrap() == old);
            assert!(contents(&disk) == contents(&base));
            schunk.append(&data(9, CHUNK)).unwrap();
            assert!(found_by_another(kind, &disk) == content(&schunk).unwrap());
        }
    }
}

#[test]
fn closing_with_a_leaked_transaction_is_an_error() {
    for kind in Kind::ALL {
        let base = filled(kind, DURABLE);
        let disk = Disk::holding(base.contents());
        let mut schunk = kind.open(&disk, DURABLE).unwrap();
        let old = content(&schunk).unwrap();
        std::mem::forget(schunk.transaction().unwrap());
        schunk.append(&data(9, CHUNK)).unwrap();
        let error = schunk.close().unwrap_err();
        assert_eq!(error, Error::InvalidParam);
        assert!(error.to_string().contains("its changes are lost"), "{error}");
        assert!(found_by_another(kind, &disk) == old);
    }
}

#[test]
fn in_a_file_an_inner_rollback_aborts_the_outer_transaction() {
    let kind = Kind::Embedded;
    let base = filled(kind, DURABLE);
    let disk = Disk::holding(base.contents());
    let mut schunk = kind.open(&disk, DURABLE).unwrap();
    let old = content(&schunk).unwrap();
    let mut outer = schunk.transaction().unwrap();
    outer.append(&data(9, CHUNK)).unwrap();
    drop(outer.transaction().unwrap());
    assert!(content(&outer).unwrap() == old);
    assert_eq!(outer.append(&data(9, CHUNK)), Err(Error::ChunkAppend));
    assert_eq!(outer.commit(), Err(Error::Failure));
    assert!(content(&schunk).unwrap() == old);
    assert!(contents(&disk) == contents(&base));
    schunk.append(&data(9, CHUNK)).unwrap();
}

#[test]
fn a_failed_change_in_a_transaction_keeps_its_other_changes() {
    for kind in [Kind::File, Kind::Directory] {
        let base = filled(kind, DURABLE);
        let change = |s: &mut SChunk| s.update_chunk(0, &chunk(12, CHUNK)).map(drop);
        let calls = {
            let disk = Disk::holding(base.contents());
            let mut schunk = kind.open(&disk, DURABLE).unwrap();
            let mut open = schunk.transaction().unwrap();
            open.update_chunk(0, &chunk(11, CHUNK)).unwrap();
            let before = disk.log().len();
            change(&mut open).unwrap();
            before..disk.log().len()
        };
        assert!(!calls.is_empty());
        for call in calls {
            for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
                let disk = Disk::holding(base.contents());
                let mut schunk = kind.open(&disk, DURABLE).unwrap();
                let mut open = schunk.transaction().unwrap();
                open.update_chunk(0, &chunk(11, CHUNK)).unwrap();
                let before = content(&open).unwrap();
                disk.plan(call, fault);
                let made = change(&mut open).is_ok();
                disk.heal();
                assert!(made || content(&open).unwrap() == before, "{fault:?}, {call}");
                change(&mut open).unwrap();
                let new = content(&open).unwrap();
                open.commit().unwrap();
                assert!(found_by_another(kind, &disk) == new, "{fault:?}, {call}");
            }
        }
    }
}

#[test]
fn many_updates_of_one_chunk_do_not_grow_the_file_without_bound() {
    for kind in [Kind::File, Kind::Directory] {
        let disk = filled(kind, DURABLE);
        let size = || contents(&disk).iter().map(Vec::len).sum::<usize>();
        let before = size();
        let mut schunk = kind.open(&disk, DURABLE).unwrap();
        let mut open = schunk.transaction().unwrap();
        for round in 0..100 {
            open.update_chunk(1, &chunk(round, CHUNK)).unwrap();
        }
        assert!(size() < before + 5 * CHUNK, "{kind:?}: {} bytes", size());
        open.commit().unwrap();
        assert!(size() < before + 5 * CHUNK, "{kind:?}: {} bytes", size());
    }
}

#[test]
fn dropping_a_super_chunk_rolls_back_its_open_transaction() {
    for kind in Kind::ALL {
        let base = filled(kind, DURABLE);
        for closes in [false, true] {
            let disk = Disk::holding(base.contents());
            let mut schunk = kind.open(&disk, DURABLE).unwrap();
            transaction::begin(schunk.state_mut()).unwrap();
            schunk.append(&data(9, CHUNK)).unwrap();
            schunk.delete_chunk(0).unwrap();
            if closes {
                assert_eq!(schunk.close(), Err(Error::InvalidParam));
            } else {
                drop(schunk);
            }
            assert!(contents(&disk) == contents(&base), "{kind:?}");
        }
    }
}

#[test]
fn only_durable_files_and_directories_have_transactions() {
    let create = |storage: Storage| SChunk::create(storage, Default::default(), Default::default());
    let refused = |mut schunk: SChunk| {
        assert_eq!(schunk.transaction().err(), Some(Error::InvalidParam));
        assert_eq!(transaction::commit(schunk.state_mut()), Err(Error::InvalidParam));
        assert_eq!(transaction::rollback(schunk.state_mut()), Err(Error::InvalidParam));
        schunk.append(&data(1, CHUNK)).unwrap();
    };
    refused(create(Storage::memory()).unwrap());
    refused(create(Storage::frame()).unwrap());
    for kind in Kind::ALL {
        let disk = filled(kind, Guards::default());
        refused(kind.open(&disk, Guards::default()).unwrap());
        // Ending a transaction that was not begun is an error.
        let mut schunk = kind.open(&disk, DURABLE).unwrap();
        assert_eq!(transaction::commit(schunk.state_mut()), Err(Error::InvalidParam));
        assert_eq!(transaction::rollback(schunk.state_mut()), Err(Error::InvalidParam));
        let empty = schunk.transaction().unwrap();
        empty.commit().unwrap();
    }
}

/// Lets another writer change a file during a transaction, and commits.
fn commits_after(interfere: fn(&Disk) -> Result<()>) -> (Result<()>, Content, Content) {
    let kind = Kind::File;
    let disk = filled(kind, DURABLE);
    let mut schunk = kind.open(&disk, DURABLE).unwrap();
    let mut open = schunk.transaction().unwrap();
    open.append(&data(9, CHUNK)).unwrap();
    interfere(&disk).unwrap();
    let expected = found_by_another(kind, &disk);
    let committed = open.commit();
    schunk.refresh().unwrap();
    assert!(content(&schunk).unwrap() == expected);
    (committed, expected, found_by_another(kind, &disk))
}

#[test]
fn a_rollback_keeps_the_chunks_of_another_writer() {
    for kind in [Kind::File, Kind::Directory] {
        for commits in [true, false] {
            let disk = filled(kind, DURABLE);
            let mut schunk = kind.open(&disk, DURABLE).unwrap();
            let mut other = kind.open(&disk, DURABLE).unwrap();
            let mut open = schunk.transaction().unwrap();
            open.append(&data(9, CHUNK)).unwrap();
            other.append(&data(10, CHUNK)).unwrap();
            let new = content(&other).unwrap();
            if commits {
                assert_eq!(open.commit(), Err(Error::FileWrite));
            } else {
                drop(open);
            }
            assert!(found_by_another(kind, &disk) == new, "{kind:?}");
        }
    }
}

#[test]
fn a_commit_fails_if_another_writer_changed_the_file() {
    let (committed, expected, found) = commits_after(|disk| {
        let mut other = Kind::File.open(disk, DURABLE)?;
        other.update_chunk(0, &chunk(20, CHUNK)).map(drop)
    });
    assert_eq!(committed, Err(Error::FileWrite));
    let text = committed.unwrap_err().to_string();
    assert!(text.ends_with("another writer changed the frame during the transaction"), "{text}");
    assert!(found == expected);
    let (committed, expected, found) = commits_after(|disk| {
        let mut other = Kind::File.open(disk, DURABLE)?;
        other.append(&data(20, CHUNK))?;
        other.compact()
    });
    assert_eq!(committed, Err(Error::FileOpen));
    let text = committed.unwrap_err().to_string();
    assert!(text.ends_with("replaced by another one during the transaction"), "{text}");
    assert!(found == expected);
}
