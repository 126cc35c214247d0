use super::*;
use crate::chunk::{CParams, DParams};
use crate::io::{Attributes, Identity};
use crate::schunk::{SChunk, Storage};

#[cfg(unix)]
#[test]
fn a_failed_creation_removes_no_link_that_existed() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere/file", &link).unwrap();
    let files = Files::contiguous(Arc::new(FileSystem), link.clone(), 0);
    assert_eq!(files.create(b"frame").unwrap_err().kind(), crate::ErrorKind::FileOpen);
    assert!(link.symlink_metadata().is_ok());
}

/// The file system, with another process that creates each file just after it was found
/// missing.
#[derive(Default)]
struct Overtaken {
    /// The error of syncing directories.
    sync_error: Option<i32>,
    /// Whether new files are [`ReplacedFile`]s.
    is_full: bool,
}

impl Backend for Overtaken {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        FileSystem.open(path, mode)
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

impl FileOps for Overtaken {
    fn identify(&self, path: &Path) -> Option<Identity> {
        let found = FileSystem.identify(path);
        if found.is_none() && path.ends_with("frame") {
            std::fs::write(path, b"theirs").unwrap();
        }
        found
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        FileSystem.attributes(path)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        FileSystem.open_unfollowed(path, writes)
    }

    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>> {
        let stream = FileSystem.create_new(path, private)?;
        if self.is_full {
            return Ok(Box::new(ReplacedFile { path: path.to_owned(), stream }));
        }
        Ok(stream)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        FileSystem.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        FileSystem.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        FileSystem.remove(path)
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        FileSystem.make_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        FileSystem.remove_directory(path)
    }

    fn list(&self, directory: &Path) -> Result<Vec<std::ffi::OsString>> {
        FileSystem.list(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        match self.sync_error {
            Some(code) => Err(Error::FileWrite.os(std::io::Error::from_raw_os_error(code))),
            None => FileSystem.sync_directory(directory),
        }
    }
}

#[test]
fn a_creation_keeps_the_file_of_a_process_that_was_faster() {
    for durable in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frame");
        let durability = Durability { durable, ..Durability::default() };
        let files = Files::contiguous(Arc::new(Overtaken::default()), path.clone(), 0)
            .with_durability(durability);
        let error = files.create(b"frame").unwrap_err();
        assert_eq!(error, Error::FileOpen, "durable: {durable}");
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        // Nothing else is left.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// Returns storages of each kind, and the path of the frame in each.
fn storages(folder: &Path) -> [(Storage, PathBuf); 4] {
    let at = |name: &str| folder.join(name);
    [
        (Storage::file(at("file")), at("file")),
        (Storage::file(at("durable")).durable(), at("durable")),
        (Storage::directory(at("directory")), at("directory")),
        (Storage::directory(at("durable directory")).durable(), at("durable directory")),
    ]
}

fn created(storage: Storage) -> SChunk {
    SChunk::create(storage, CParams::default(), DParams::default()).unwrap()
}

#[test]
fn a_failed_creation_keeps_files_that_have_replaced_its_own() {
    for changes in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        for (storage, path) in storages(folder.path()) {
            let mut schunk = created(storage);
            if changes {
                schunk.add_metalayer("name", b"content").unwrap();
            }
            let is_directory = path.is_dir();
            std::fs::rename(&path, path.with_extension("moved")).unwrap();
            let theirs = if is_directory {
                std::fs::create_dir(&path).unwrap();
                path.join(INDEX_NAME)
            } else {
                path.clone()
            };
            std::fs::write(&theirs, b"theirs").unwrap();
            schunk.discard();
            assert_eq!(std::fs::read(&theirs).unwrap(), b"theirs", "{}", path.display());
        }
    }
}

#[test]
fn a_failed_creation_leaves_no_lock_file() {
    let folder = tempfile::tempdir().unwrap();
    for (storage, path) in storages(folder.path()) {
        let mut schunk = created(storage.locking());
        schunk.add_metalayer("name", b"content").unwrap();
        schunk.append(&[1; 1000]).unwrap();
        let lock = if path.is_dir() { path.join(".b2lock") } else { lock_beside(&path) };
        assert!(lock.exists());
        schunk.discard();
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_failed_creation_keeps_files_of_others_in_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    let mut schunk = created(Storage::directory(&path));
    schunk.append(&[1; 1000]).unwrap();
    for name in ["notes", "notes.txt"] {
        std::fs::write(path.join(name), b"theirs").unwrap();
    }
    schunk.discard();
    let mut left: Vec<_> =
        std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["notes", "notes.txt"]);
}

#[test]
fn chunk_files_stay_open_until_the_last_reading_call_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    let mut schunk = created(Storage::directory(&path));
    schunk.append(&[1; 1000]).unwrap();
    let files = Files::sparse(Arc::new(FileSystem), path.clone(), 0);
    let (first, second) = (files.keep_chunks_open(), files.keep_chunks_open());
    let stream = files.open_chunk(0).unwrap();
    assert_eq!(files.open_chunks().files.len(), 1);
    drop(first);
    assert_eq!(files.open_chunks().files.len(), 1);
    drop(second);
    assert!(files.open_chunks().files.is_empty());
    assert!(stream.size().unwrap() > 0);
    assert!(Files::contiguous(Arc::new(FileSystem), path, 0).keep_chunks_open().is_none());
}

#[test]
fn one_slash_at_the_end_of_a_directory_is_ignored() {
    for (given, expected) in
        [("d/", "d"), ("d\\", "d"), ("d//", "d/"), ("d", "d"), ("/", "/"), ("", "")]
    {
        let files = Files::sparse(Arc::new(FileSystem), given.into(), 0);
        assert_eq!(files.root().as_os_str(), expected, "{given}");
    }
}

#[test]
fn a_failed_creation_keeps_the_lock_file_of_another_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut schunk = created(Storage::file(&path).locking());
    std::fs::write(lock_beside(&path), b"").unwrap();
    // The handle has not used its lock.
    schunk.discard();
    assert!(lock_beside(&path).exists());
    schunk = created(Storage::file(&path).locking());
    schunk.append(&[1; 1000]).unwrap();
    std::fs::rename(lock_beside(&path), folder.path().join("moved")).unwrap();
    std::fs::write(lock_beside(&path), b"").unwrap();
    schunk.discard();
    assert!(lock_beside(&path).exists() && !path.exists());
}

fn lock_beside(path: &Path) -> PathBuf {
    paths::with_text(path, ".b2lock")
}

/// A file on a full disk, which another process replaces while it is written.
struct ReplacedFile {
    path: PathBuf,
    stream: Box<dyn Stream>,
}

impl Stream for ReplacedFile {
    fn size(&self) -> Result<u64> {
        self.stream.size()
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        self.stream.read_at(position, dest)
    }

    fn write_at(&self, _: u64, _: &[u8], _: WriteGranularity) -> Result<()> {
        let other = self.path.with_extension("other");
        std::fs::write(&other, b"theirs").unwrap();
        std::fs::rename(other, &self.path).unwrap();
        Err(Error::FileWrite)
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.stream.truncate(len)
    }

    fn identity(&self) -> Option<Identity> {
        self.stream.identity()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.stream.close()
    }
}

#[test]
fn a_failed_write_of_a_new_file_keeps_the_file_that_has_replaced_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    let files = Files::contiguous(
        Arc::new(Overtaken { is_full: true, ..Overtaken::default() }),
        path.clone(),
        0,
    );
    assert_eq!(files.create(b"frame"), Err(Error::FileWrite));
    assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_synced_matters_only_after_a_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("found");
    std::fs::write(&path, b"frame").unwrap();
    let files_with = |code| {
        let backend = Overtaken { sync_error: Some(code), ..Overtaken::default() };
        Files::contiguous(Arc::new(backend), path.clone(), 0)
    };
    for code in [libc::EACCES, libc::EINVAL, libc::ENOTSUP] {
        assert_eq!(files_with(code).sync_entries(), Ok(()));
        let replaced = files_with(code);
        replaced.entries.store(DirectoryEntries::Unsynced as u8, Ordering::Relaxed);
        assert_eq!(replaced.sync_entries(), Err(Error::FileWrite));
    }
    assert_eq!(files_with(libc::EIO).sync_entries(), Err(Error::FileWrite));
}
