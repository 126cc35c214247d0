//! Errors in a backend with the calls of a C program's callbacks: it opens, reads, writes and
//! truncates files, and cannot rename, remove or lock them.

use super::changes::{CHUNK, Change, Guards, Kind, content, data, each_change, params};
use ferroblosc::chunk::DParams;
use ferroblosc::io::{Backend, FileSystem, Mode, Stream, WriteGranularity};
use ferroblosc::schunk::SChunk;
use ferroblosc::{Error, Result};
use ferroblosc_fault::Disk;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It fails and does nothing.
    Fail,
    /// A write stores half of its bytes and fails; another call fails and does nothing.
    Cut,
}

#[derive(Default)]
struct Calls {
    log: Vec<String>,
    planned: Option<(usize, Fault)>,
}

/// Real files, whose changes are counted; one of them can fail.
#[derive(Clone, Default)]
struct Callbacks(Arc<Mutex<Calls>>);

impl Callbacks {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap()
    }

    /// Counts a call; returns the fault that was planned for it.
    fn count(&self, what: String) -> Option<Fault> {
        let mut calls = self.calls();
        let number = calls.log.len();
        calls.log.push(what);
        calls.planned.filter(|(call, _)| *call == number).map(|(_, fault)| fault)
    }

    fn open_schunk(&self, kind: Kind, root: &Path, guards: Guards) -> Result<SChunk> {
        let storage = kind.at(&root.join("frame"), guards).backend(Arc::new(self.clone()));
        SChunk::open(storage, DParams::default())
    }
}

impl Backend for Callbacks {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        let name = path.file_name().unwrap().display();
        if mode != Mode::Read && self.count(format!("open {name} to {mode:?}")).is_some() {
            return Err(Error::FileOpen);
        }
        Ok(Box::new(Opened { file: FileSystem.open(path, mode)?, calls: self.clone() }))
    }
}

/// An open file, without its identity.
struct Opened {
    file: Box<dyn Stream>,
    calls: Callbacks,
}

impl Stream for Opened {
    fn size(&self) -> Result<u64> {
        self.file.size()
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        self.file.read_at(position, dest)
    }

    fn write_at(&self, position: u64, bytes: &[u8], granularity: WriteGranularity) -> Result<()> {
        match self.calls.count(format!("write {} at {position}", bytes.len())) {
            None => self.file.write_at(position, bytes, granularity),
            Some(Fault::Cut) => {
                self.file.write_at(position, &bytes[..bytes.len() / 2], granularity)?;
                Err(Error::FileWrite)
            }
            Some(Fault::Fail) => Err(Error::FileWrite),
        }
    }

    fn truncate(&self, len: u64) -> Result<()> {
        match self.calls.count(format!("truncate to {len}")) {
            None => self.file.truncate(len),
            Some(_) => Err(Error::FileTruncate),
        }
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.file.close()
    }
}

/// Writes the files of a disk to a temporary directory.
fn copied(disk: &Disk) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, bytes) in disk.contents() {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    root
}

/// Injects a fault at each call of a change.
fn meets_faults(kind: Kind, guards: Guards, base: &Disk, (name, change): Change) {
    let root = copied(base);
    let callbacks = Callbacks::default();
    let mut schunk = callbacks.open_schunk(kind, root.path(), guards).unwrap();
    let old = content(&schunk).unwrap();
    callbacks.calls().log.clear();
    change(&mut schunk).unwrap();
    let log = callbacks.calls().log.clone();
    let new = content(&schunk).unwrap();
    for (call, what) in log.iter().enumerate() {
        for fault in [Fault::Fail, Fault::Cut] {
            let context = format!("{kind:?}, {guards:?}: {name}, {fault:?} at {call}, {what}");
            let root = copied(base);
            let callbacks = Callbacks::default();
            let mut schunk = callbacks.open_schunk(kind, root.path(), guards).unwrap();
            *callbacks.calls() = Calls { planned: Some((call, fault)), ..Calls::default() };
            let expected = if change(&mut schunk).is_ok() { &new } else { &old };
            callbacks.calls().planned = None;
            let another = callbacks.open_schunk(kind, root.path(), guards);
            let another = another.and_then(|schunk| content(&schunk));
            assert!(another.as_ref() == Ok(expected), "{context}: another handle");
            assert!(content(&schunk).as_ref() == Ok(expected), "{context}: its handle");
            schunk.append(&data(8, CHUNK)).unwrap();
        }
    }
}

#[test]
fn a_change_with_an_error_of_a_callback_is_complete_or_not_made() {
    for kind in Kind::ALL {
        for checksums in [false, true] {
            let guards = Guards { checksums, ..Guards::default() };
            each_change(kind, guards, |base, change| meets_faults(kind, guards, base, change));
        }
    }
}

#[test]
fn durable_changes_need_a_backend_that_renames() {
    for kind in [Kind::File, Kind::Directory] {
        let root = tempfile::tempdir().unwrap();
        let storage =
            kind.at(&root.path().join("frame"), Guards { durable: true, ..Guards::default() });
        let storage = storage.backend(Arc::new(Callbacks::default()));
        let created = SChunk::create(storage, params(), DParams::default());
        assert_eq!(created.err().unwrap().kind(), ferroblosc::ErrorKind::InvalidParam);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
