//! C-Blosc2 reads durable super-chunks after an interruption at each point of a change.

#[path = "../../faults/changes.rs"]
mod changes;

use changes::{CHUNK, Change, Content, Guards, Kind};
use changes::{chunk, content, data, each_change, each_transaction};
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_fault::{Disk, Fault, SECTOR, Survival};
use ferroblosc_interop::ffi::SChunk as TheirSChunk;
use ferroblosc_interop::library::reference;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use tempfile::tempdir;

/// Writes the files of a disk to the directory.
fn hold(dir: &Path, disk: &Disk) -> PathBuf {
    for (path, bytes) in disk.contents() {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    dir.join("frame")
}

fn empty(dir: &Path) {
    std::fs::remove_dir_all(dir).unwrap();
    std::fs::create_dir(dir).unwrap();
}

/// A super-chunk opened by the reference.
struct Theirs(*mut TheirSChunk);

impl Theirs {
    fn open(path: &Path) -> Option<Theirs> {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: the path is NUL-terminated.
        let schunk = unsafe { (reference().blosc2_schunk_open_offset)(path.as_ptr(), 0) };
        (!schunk.is_null()).then_some(Theirs(schunk))
    }

    fn nchunks(&self) -> i64 {
        // SAFETY: the super-chunk is open.
        unsafe { (*self.0).nchunks }
    }

    fn chunks(&self) -> Vec<Vec<u8>> {
        (0..self.nchunks())
            .map(|number| {
                let mut bytes = vec![0u8; 2 * CHUNK];
                // SAFETY: the buffer's length is passed.
                let len = unsafe {
                    (reference().blosc2_schunk_decompress_chunk)(
                        self.0,
                        number,
                        bytes.as_mut_ptr().cast(),
                        bytes.len() as i32,
                    )
                };
                bytes.truncate(usize::try_from(len).unwrap_or(0));
                bytes
            })
            .collect()
    }

    fn vlmetalayer(&self, name: &str) -> Option<Vec<u8>> {
        let name = CString::new(name).unwrap();
        let (mut bytes, mut len) = (null_mut::<u8>(), 0);
        // SAFETY: the name is NUL-terminated, and the outputs are valid.
        let found =
            unsafe { (reference().blosc2_vlmeta_get)(self.0, name.as_ptr(), &mut bytes, &mut len) };
        if found < 0 {
            return None;
        }
        // SAFETY: the library returns `malloc`ed memory of this size, which the caller frees.
        unsafe {
            let copy = std::slice::from_raw_parts(bytes, len as usize).to_vec();
            libc::free(bytes.cast());
            Some(copy)
        }
    }

    /// Whether the contents are equal.
    fn holds(&self, content: &Content) -> bool {
        let value = |(name, value): &(String, Vec<u8>)| {
            self.vlmetalayer(name).as_deref() == Some(value.as_slice())
        };
        self.chunks() == content.chunks && content.vlmetalayers.iter().all(value)
    }

    fn append(&self, bytes: &[u8]) -> i64 {
        // SAFETY: the buffer's length is passed.
        unsafe {
            (reference().blosc2_schunk_append_buffer)(
                self.0,
                bytes.as_ptr().cast(),
                bytes.len() as i32,
            )
        }
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        // SAFETY: opened by the reference, and not used again.
        unsafe { (reference().blosc2_schunk_free)(self.0) };
    }
}

/// Whether the call is atomic: a write within a sector, or not a write.
fn is_whole(what: &str) -> bool {
    let words: Vec<&str> = what.split(' ').collect();
    let ["write", len, "at", at, ..] = words[..] else {
        return true;
    };
    let (len, at): (usize, usize) = (len.parse().unwrap(), at.parse().unwrap());
    at / SECTOR == (at + len.max(1) - 1) / SECTOR
}

fn is_interrupted(kind: Kind, guards: Guards, base: &Disk, (name, change): Change, dir: &Path) {
    let disk = Disk::holding(base.contents());
    let mut schunk = kind.open(&disk, guards).unwrap();
    let old = content(&schunk).unwrap();
    change(&mut schunk).unwrap();
    let new = content(&schunk).unwrap();
    let log = disk.log();
    for call in 0..=log.len() {
        for fault in [Fault::Crash, Fault::CrashWithin] {
            let what = log.get(call).map_or("the end", String::as_str);
            if fault == Fault::CrashWithin && is_whole(what) {
                continue;
            }
            let disk = Disk::holding(base.contents());
            let mut schunk = kind.open(&disk, guards).unwrap();
            disk.plan(call, fault);
            let _ = change(&mut schunk);
            let context = format!("{kind:?}: {name}, {fault:?} at {call}, {what}");
            empty(dir);
            let path = hold(dir, &disk.after_crash(Survival::All));
            let theirs = Theirs::open(&path);
            let theirs = theirs.unwrap_or_else(|| panic!("{context}: not opened"));
            let expected = if theirs.holds(&old) { &old } else { &new };
            assert!(theirs.holds(expected), "{context}: neither the old nor the new state");
            // The reference appends to the super-chunk, and then our library does.
            assert!(theirs.append(&data(8, CHUNK)) > 0, "{context}");
            drop(theirs);
            let storage = match kind {
                Kind::Directory => Storage::directory(&path),
                _ => Storage::file(&path),
            };
            let mut ours = SChunk::open(storage.durable(), DParams::default()).unwrap();
            let mut chunks = expected.chunks.clone();
            chunks.push(data(8, CHUNK));
            assert!(content(&ours).unwrap().chunks == chunks, "{context}: appended to");
            ours.append_chunk(&chunk(3, CHUNK)).unwrap();
            chunks.push(data(3, CHUNK));
            let theirs = Theirs::open(&path).expect(&context);
            assert!(theirs.chunks() == chunks, "{context}: appended to again");
        }
    }
}

#[test]
fn row_f34_the_reference_reads_the_old_or_new_state_after_an_interruption() {
    let dir = tempdir().unwrap();
    // Embedded frames are changed in place with a journal, which the reference does not support.
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Embedded) {
        for checksums in [false, true] {
            let guards = Guards { durable: true, checksums };
            each_transaction(kind, guards, |base, change| {
                // A header longer than a sector is changed with a journal, too.
                if change.0 != "change a long header" {
                    is_interrupted(kind, guards, base, change, dir.path());
                }
            });
            each_change(kind, guards, |base, change| {
                // Fixed metalayers in a file are changed with a journal, too.
                if change.0 != "update a metalayer" {
                    is_interrupted(kind, guards, base, change, dir.path());
                }
            });
        }
    }
}

#[test]
fn row_f35_the_reference_reads_frames_with_checksums_and_drops_them_when_it_changes_them() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let storage = Storage::file(&path).checksums();
    let mut ours = SChunk::create(storage, Default::default(), DParams::default()).unwrap();
    for number in 0..4 {
        ours.append(&data(number, CHUNK)).unwrap();
    }
    ours.add_vlmetalayer("one", b"value").unwrap();
    assert_eq!(ours.verify().unwrap().compared, 4);
    drop(ours);
    let theirs = Theirs::open(&path).unwrap();
    assert_eq!(theirs.chunks().len(), 4);
    assert_eq!(theirs.vlmetalayer("one").as_deref(), Some(&b"value"[..]));
    assert!(theirs.append(&data(4, CHUNK)) > 0);
    drop(theirs);
    let mut ours = SChunk::open(Storage::file(&path), DParams::default()).unwrap();
    let report = ours.verify().unwrap();
    assert_eq!((report.nchunks, report.compared, report.faults()), (5, 0, 0));
}
