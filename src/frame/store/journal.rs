//! The journal of a frame that is changed in place: `F.b2journal` beside the file `F`.
//!
//! A durable in-place change is first staged in memory. Then the journal, with the bytes before and
//! after the change, is written and synced; the change is written and synced; and the journal is
//! emptied, which commits the change. [`crate::io::journal`] decides whether a journal belongs to a
//! frame; `docs/durability.md` states the resulting guarantees.
//!
//! Opening a frame never writes: readers see the journal's old bytes instead of the file's. The
//! first call that changes the frame restores the file.

use crate::frame::format::{FIXED_LEN, header, header::MARK};
use crate::io::journal::{self, FRAME_SUFFIX, Found, Image, Reason, Settled, Staged};
use crate::io::{
    Attributes, Backend, FileKind, FileOps, FileSystem, Mapped, Mode, Stream, WriteGranularity,
    temporary,
};
use crate::os::process;
use crate::{Error, Result, trace_error, trace_warning};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The number of attempts to read a journal that another process is using.
const ATTEMPTS: usize = 100;
/// Pause between attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// The state before an interrupted change, as readers see it.
#[derive(Clone)]
pub struct RollbackView {
    /// The old bytes.
    pub image: Arc<Image>,
    path: PathBuf,
    /// Attributes of the journal when it was read.
    stamp: Option<Attributes>,
}

impl RollbackView {
    /// Whether the journal still exists unchanged.
    pub fn is_current(&self, ops: &dyn FileOps) -> bool {
        ops.attributes(&self.path) == self.stamp
    }
}

/// Returns the file operations for journals; `None` if the backend has no journals.
fn journal_ops(backend: &dyn Backend) -> Option<&dyn FileOps> {
    match backend.file_ops() {
        None if backend.mapped() != Mapped::No => Some(&FileSystem),
        ops => ops,
    }
}

/// Returns the attributes of a frame's open file, or of the file at its path.
fn attributes(ops: &dyn FileOps, path: &Path, file: &dyn Stream) -> Option<Attributes> {
    let named = || ops.attributes(&ops.resolve(path));
    file.attributes().or_else(named)
}

/// Finds the journal of a frame, waiting while a writer uses it. Writes nothing.
fn find(backend: &dyn Backend, file: &Path) -> Result<(Found, Option<RollbackView>)> {
    let Some(ops) = journal_ops(backend) else {
        return Ok((Found::Absent, None));
    };
    let path = journal::path_of(ops, file, FRAME_SUFFIX);
    for _ in 0..ATTEMPTS {
        let stamp = ops.attributes(&path);
        if stamp.is_none() {
            return Ok((Found::Absent, None));
        }
        let stream = backend.open(file, Mode::Read)?;
        let attributes = attributes(ops, file, &*stream);
        let frame = (&*stream, attributes.as_ref());
        match journal::inspect(ops, &path, frame, restores_a_frame)? {
            Found::Active => process::sleep(PAUSE),
            Found::Hot(image) => {
                let shown = RollbackView { image: Arc::new(image.clone()), path, stamp };
                return Ok((Found::Hot(image), Some(shown)));
            }
            found => return Ok((found, None)),
        }
    }
    Ok((Found::Active, None))
}

/// Looks for the journal of a frame before it is read. Returns the state before the change if the
/// frame is in the middle of one.
///
/// # Errors
/// Returns the errors of reading the frame's file or its journal.
pub fn inspect(backend: &dyn Backend, file: &Path) -> Result<Option<RollbackView>> {
    let (found, shown) = find(backend, file)?;
    if let Some(note) = note_of(&found) {
        trace_warning!("{}: {note}", file.display());
    }
    Ok(shown)
}

/// Returns the message about a journal that matters to a reader.
fn note_of(found: &Found) -> Option<String> {
    match found {
        Found::Absent | Found::Settled => None,
        Found::Active => Some("a change is under way".to_owned()),
        Found::Hot(_) => Some(
            "a journal from an interrupted change exists: the state before the change is shown"
                .to_owned(),
        ),
        Found::Stale(reason) | Found::Foreign(reason) => {
            Some(format!("a journal that does not belong to this file is ignored: {reason}"))
        }
    }
}

/// Returns a message for users about the journal of the frame in a file; `None` if there is nothing
/// to report.
///
/// # Errors
/// Returns the errors of reading the file or its journal.
pub fn describe(path: &Path) -> Result<Option<String>> {
    let (found, _) = find(&FileSystem, path)?;
    Ok(note_of(&found))
}

/// Whether the bytes that a journal restores are a frame.
fn restores_a_frame(image: &Image) -> bool {
    let front = image.front().first_chunk::<FIXED_LEN>();
    image.has_mark(MARK) && front.is_some_and(|fixed| header::frame_len(fixed) == image.len.0)
}

/// Rolls back the interrupted change of a frame that is about to be changed, and removes its
/// journal. `shown` is the state that readers see.
///
/// # Errors
/// [`Error::Lock`] when another process is changing the frame; the errors of both files.
pub fn recover(backend: &dyn Backend, file: &Path, shown: Option<&RollbackView>) -> Result<()> {
    if backend.mapped() == Mapped::Private {
        // The file and its journal stay; only the contents of the mapping change.
        return shown
            .map_or(Ok(()), |shown| shown.image.restore(&*backend.open(file, Mode::Update)?));
    }
    recover_at(backend, file).map(drop)
}

/// Like [`recover`], for the frame in `file`. Returns the reason if a journal is left in place.
fn recover_at(backend: &dyn Backend, file: &Path) -> Result<Option<Reason>> {
    let Some(ops) = journal_ops(backend) else {
        return Ok(None);
    };
    let path = journal::path_of(ops, file, FRAME_SUFFIX);
    for _ in 0..ATTEMPTS {
        if ops.attributes(&path).is_none() {
            return Ok(None);
        }
        let stream = backend.open(file, Mode::Update)?;
        let attributes = attributes(ops, file, &*stream);
        let frame = (&*stream, attributes.as_ref());
        match journal::recover(ops, &path, frame, restores_a_frame)? {
            Settled::Done => return Ok(None),
            Settled::Active => process::sleep(PAUSE),
            Settled::Ignored(reason) => {
                trace_warning!("the journal {} is not used: {reason}", path.display());
                return Ok(Some(reason));
            }
        }
    }
    Err(Error::Lock)
}

/// Rolls back an interrupted change before the file of a frame is renamed or appended to.
///
/// # Errors
/// Returns the errors of changing a frame.
pub fn recover_file(path: &Path) -> Result<()> {
    let is_file = FileSystem.attributes(&FileSystem.resolve(path));
    match is_file {
        Some(found) if found.kind == FileKind::Regular => recover_at(&FileSystem, path).map(drop),
        _ => Ok(()),
    }
}

/// A failed change that was meant to be atomic.
#[derive(Clone, Debug)]
pub struct CommitError {
    /// The cause.
    pub error: Error,
    /// Whether the disk may hold the new state nevertheless, or after a crash. The bytes of that
    /// state must then not be overwritten.
    pub in_doubt: bool,
}

impl CommitError {
    /// Returns the error of a change that left nothing on the disk.
    pub fn undone(error: Error) -> CommitError {
        CommitError { error, in_doubt: false }
    }
}

impl From<CommitError> for Error {
    fn from(failed: CommitError) -> Error {
        failed.error
    }
}

/// The journal of an ongoing change.
pub struct Journal<'a> {
    backend: &'a dyn Backend,
    ops: &'a dyn FileOps,
    /// Path of the frame's file.
    file: &'a Path,
    path: PathBuf,
    stream: Box<dyn Stream>,
    image: Image,
}

impl<'a> Journal<'a> {
    /// Durably records the bytes that a staged change is going to overwrite in the frame at offset
    /// `start` of `file`. `len` is the size of the frame in bytes before and after the change.
    ///
    /// # Errors
    /// [`Error::Lock`] when another process is changing the frame; [`Error::FileOpen`] when another
    /// file has the name of the journal; the errors of the backend.
    pub fn begin(
        backend: &'a dyn Backend,
        file: &'a Path,
        start: u64,
        len: (u64, u64),
        staged: &Staged,
    ) -> Result<Journal<'a>> {
        let ops = backend.file_ops().ok_or(Error::InvalidParam)?;
        let path = journal::path_of(ops, file, FRAME_SUFFIX);
        if let Some(reason) = recover_at(backend, file)? {
            trace_error!(
                "{}: no durable change is possible while {} exists: {reason}",
                file.display(),
                path.display()
            );
            return Err(Error::FileOpen);
        }
        let image = Image::of_staged(staged, start, len)?;
        let bytes = image.encode()?;
        let stream = journal::create(ops, &path, &ops.resolve(file))?;
        let journal = Journal { backend, ops, file, path, stream, image };
        match journal.write(&bytes) {
            Ok(()) => Ok(journal),
            Err(error) => {
                journal.remove();
                Err(temporary::error_of_target(error, &journal.path, file))
            }
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        self.stream.write_at(0, bytes, WriteGranularity::Whole)?;
        self.stream.sync()?;
        let directory = self.path.parent().unwrap_or(Path::new(""));
        self.ops.sync_directory(directory)
    }

    /// Commits a change that was synced, or rolls it back if it or its commit failed.
    ///
    /// # Errors
    /// Returns the error of the change, or of the backend. The change is in doubt if it could not
    /// be rolled back; readers that look for the journal then find it.
    pub fn end(self, changed: Result<()>) -> std::result::Result<(), CommitError> {
        let ended = changed.and_then(|()| journal::empty(&*self.stream));
        let Err(error) = ended else {
            self.remove();
            return Ok(());
        };
        let restored = self.backend.open(self.file, Mode::Update);
        let restored = restored.and_then(|file| self.image.put_back(&*file));
        let restored = restored.and_then(|()| journal::empty(&*self.stream));
        let in_doubt = restored.is_err();
        match restored {
            Ok(()) => self.remove(),
            // The next process that opens the frame finds the journal.
            Err(error) => {
                trace_warning!("a failed change cannot be rolled back: {error}");
                let is_empty = self.stream.size().is_ok_and(|size| size == 0);
                let written = |()| self.image.encode().and_then(|bytes| self.write(&bytes));
                if is_empty && let Err(error) = written(()) {
                    trace_warning!("the journal cannot be rewritten: {error}");
                }
            }
        }
        Err(CommitError { error, in_doubt })
    }

    fn remove(&self) {
        if let Err(error) = self.ops.remove(&self.path) {
            trace_warning!("the journal {} cannot be removed: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, DParams};
    use crate::io::lock::{Kind, Lock};
    use crate::io::testing::TempDir;
    use crate::schunk::{SChunk, Storage};

    const OLD: &[u8] = b"0123456789";
    const NEW: &[u8] = b"abcdefghij";

    /// A frame with a metalayer in a file, beside the journal of a change of that metalayer.
    struct Case {
        dir: TempDir,
        path: PathBuf,
        journal: PathBuf,
        before: Vec<u8>,
        /// The offset of the metalayer's content.
        at: usize,
    }

    fn frame_with(path: &Path, content: &[u8], chunk: u8) {
        let params = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::file(path), params, DParams::default()).unwrap();
        schunk.add_metalayer("layer", content).unwrap();
        schunk.append(&[chunk; 1000]).unwrap();
        schunk.append(&(0..=255).cycle().take(9000).collect::<Vec<u8>>()).unwrap();
    }

    /// A modification of a journal.
    #[cfg(unix)]
    type Damage = fn(&Case);

    impl Case {
        fn new(name: &str) -> Case {
            let dir = TempDir::new(name);
            let path = dir.join("f");
            frame_with(&path, OLD, 1);
            let before = std::fs::read(&path).unwrap();
            let at = before.windows(OLD.len()).position(|found| found == OLD).unwrap();
            let stream: Arc<dyn Stream> = Arc::from(FileSystem.open(&path, Mode::Update).unwrap());
            let staged = Staged::new(stream).unwrap();
            let mut header = before[..at + OLD.len()].to_vec();
            header[at..].copy_from_slice(NEW);
            staged.write_at(0, &header, WriteGranularity::Whole).unwrap();
            let len = before.len() as u64;
            drop(Journal::begin(&FileSystem, &path, 0, (len, len), &staged).unwrap());
            let journal = dir.join("f.b2journal");
            assert!(journal.exists());
            Case { dir, path, journal, before, at }
        }

        /// Writes the first `len` bytes of the change.
        fn interrupted_after(&self, len: usize) {
            let file = std::fs::OpenOptions::new().write(true).open(&self.path);
            let file = file.unwrap();
            crate::os::files::write_all_at(&file, self.at as u64, &NEW[..len]).unwrap();
        }

        fn layer(&self) -> Vec<u8> {
            let schunk = SChunk::open(Storage::file(&self.path), DParams::default()).unwrap();
            let mut bytes = vec![0; 9000];
            schunk.decompress(0, &mut bytes).unwrap();
            schunk.metalayer("layer").unwrap()
        }

        /// Checks that reading changes neither file, and returns the metalayer.
        fn read_only(&self) -> Vec<u8> {
            let state = |path: &Path| {
                let found = FileSystem.attributes(path).unwrap();
                (std::fs::read(path).unwrap(), found.modified, found.identity)
            };
            let was = state(&self.path);
            let layer = self.layer();
            assert!(state(&self.path) == was, "reading has changed the file");
            layer
        }

        fn append(&self) {
            let mut schunk = SChunk::open(Storage::file(&self.path), DParams::default()).unwrap();
            schunk.append(&[3; 100]).unwrap();
        }
    }

    #[test]
    fn readers_see_the_old_state_and_only_a_new_change_restores_the_file() {
        let case = Case::new("hot");
        case.interrupted_after(5);
        let half = std::fs::read(&case.path).unwrap();
        assert_eq!(case.read_only(), OLD);
        assert_eq!(std::fs::read(&case.path).unwrap(), half);
        assert!(describe(&case.path).unwrap().unwrap().contains("before the change is shown"));
        // A handle that was opened before is restored with the file.
        let reader = SChunk::open(Storage::file(&case.path), DParams::default()).unwrap();
        case.append();
        assert!(!case.journal.exists());
        assert_eq!(case.read_only(), OLD);
        assert_eq!(reader.metalayer("layer").unwrap(), OLD);
        assert_eq!(describe(&case.path), Ok(None));
    }

    #[test]
    fn a_journal_is_ignored_before_and_after_its_change() {
        for (len, layer) in [(0, OLD), (NEW.len(), NEW)] {
            let case = Case::new("settled");
            case.interrupted_after(len);
            assert_eq!(case.read_only(), layer);
            assert_eq!(describe(&case.path), Ok(None));
            case.append();
            assert!(!case.journal.exists());
            assert_eq!(case.read_only(), layer);
        }
    }

    #[test]
    fn a_recreated_file_is_left_unchanged() {
        // Its metalayer is a mixture of the two states.
        let case = Case::new("again");
        case.interrupted_after(5);
        std::fs::remove_file(&case.path).unwrap();
        let mixed = b"abcde56789";
        std::fs::copy(&case.journal, case.dir.join("kept")).unwrap();
        frame_with(&case.path, mixed, 1);
        assert!(!case.journal.exists(), "a journal beside a new file is removed");
        std::fs::rename(case.dir.join("kept"), &case.journal).unwrap();
        assert_eq!(case.read_only(), mixed);
        assert!(describe(&case.path).unwrap().unwrap().contains("earlier file"));
        case.append();
        assert!(!case.journal.exists());
        assert_eq!(case.read_only(), mixed);
    }

    #[test]
    fn a_file_rewritten_by_another_program_is_left_unchanged() {
        for (layer, chunk) in [(b"ABCDEFGHIJ", 1), (b"abcde56789", 2)] {
            let case = Case::new("rewritten");
            case.interrupted_after(5);
            let other = case.dir.join("other");
            frame_with(&other, layer, chunk);
            std::fs::copy(&other, &case.path).unwrap();
            assert_eq!(case.read_only(), layer);
            let note = describe(&case.path).unwrap().unwrap();
            assert!(note.contains("rewritten since"), "{note}");
            case.append();
            assert!(!case.journal.exists());
            assert_eq!(case.read_only(), layer);
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_untrusted_journal_is_neither_used_nor_removed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let change: [(&str, Damage); 4] = [
            ("writable by others", |case| {
                let mode = std::fs::Permissions::from_mode(0o666);
                std::fs::set_permissions(&case.journal, mode).unwrap();
            }),
            ("of another owner", |case| {
                let _ = std::os::unix::fs::chown(&case.journal, Some(12345), None);
            }),
            ("of two names", |case| {
                std::fs::hard_link(&case.journal, case.dir.join("second")).unwrap();
            }),
            ("a link", |case| {
                std::fs::rename(&case.journal, case.dir.join("real")).unwrap();
                symlink("real", &case.journal).unwrap();
            }),
        ];
        for (name, change) in change {
            let case = Case::new("foreign");
            case.interrupted_after(5);
            change(&case);
            // SAFETY: the call has no preconditions.
            if name == "of another owner" && unsafe { libc::geteuid() } != 0 {
                continue;
            }
            assert_eq!(case.read_only(), b"abcde56789", "{name}");
            case.append();
            assert!(case.journal.symlink_metadata().is_ok(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn any_file_may_have_the_name_of_a_journal() {
        use std::os::unix::fs::symlink;
        let make: [fn(&Path); 5] = [
            |path| std::fs::create_dir(path).unwrap(),
            |path| {
                let made = std::process::Command::new("mkfifo").arg(path).status();
                assert!(made.unwrap().success());
            },
            |path| symlink("/dev/zero", path).unwrap(),
            |path| std::fs::write(path, b"a diary").unwrap(),
            |path| std::fs::File::create(path).unwrap().set_len(3 << 30).unwrap(),
        ];
        for make in make {
            let case = Case::new("any");
            std::fs::remove_file(&case.journal).unwrap();
            make(&case.journal);
            assert_eq!(case.read_only(), OLD);
            assert_eq!(std::fs::read(&case.path).unwrap(), case.before);
            let note = describe(&case.path).unwrap().unwrap();
            assert!(note.contains("is ignored"), "{note}");
            case.append();
        }
    }

    #[test]
    fn a_file_that_is_not_a_frame_is_never_written_to() {
        let dir = TempDir::new("text");
        let path = dir.join("f");
        std::fs::write(&path, b"a text of mine, and what is more").unwrap();
        let stream = FileSystem.open(&path, Mode::Update).unwrap();
        let image = Image::new(
            &*stream,
            0,
            (32, 32),
            (32, 32),
            vec![crate::io::journal::Record {
                position: 0,
                before: vec![b'X'; 32],
                after: Some(b"a text of mine, and what is moRe".to_vec()),
            }],
        );
        std::fs::write(dir.join("f.b2journal"), image.unwrap().encode().unwrap()).unwrap();
        assert!(SChunk::open(Storage::file(&path), DParams::default()).is_err());
        recover_file(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"a text of mine, and what is more");
    }

    #[test]
    fn a_journal_in_use_is_only_used_by_its_writer() {
        let case = Case::new("active");
        let held = FileSystem.open_unfollowed(&case.journal, true).unwrap();
        assert_eq!(held.claim(), Ok(true));
        case.interrupted_after(5);
        assert!(inspect(&FileSystem, &case.path).unwrap().is_none());
        assert_eq!(recover(&FileSystem, &case.path, None), Err(Error::Lock));
        drop(held);
        assert_eq!(case.read_only(), OLD);
    }

    #[test]
    fn a_reader_that_waited_for_the_lock_sees_the_state_before_the_interrupted_change() {
        let case = Case::new("waited");
        let held = Arc::new(Lock::of_file(&case.path)).acquire_guard(Kind::Exclusive).unwrap();
        let journal = FileSystem.open_unfollowed(&case.journal, true).unwrap();
        assert_eq!(journal.claim(), Ok(true));
        case.interrupted_after(5);
        std::thread::scope(|threads| {
            let reader = threads.spawn(|| {
                let storage = Storage::file(&case.path).locking();
                SChunk::open(storage, DParams::default()).unwrap().metalayer("layer").unwrap()
            });
            // Longer than a reader waits for the writer that uses the journal.
            std::thread::sleep(2 * ATTEMPTS as u32 * PAUSE);
            drop(journal);
            drop(held);
            assert_eq!(reader.join().unwrap(), OLD);
        });
    }

    #[test]
    fn a_handle_that_shows_the_old_state_follows_its_file() {
        let case = Case::new("shown");
        case.interrupted_after(5);
        let open = || SChunk::open(Storage::file(&case.path), DParams::default()).unwrap();
        let schunk = open();
        assert_eq!(schunk.metalayer("layer").unwrap(), OLD);
        // Without its journal the file is in the middle of the change.
        std::fs::rename(&case.journal, case.dir.join("moved")).unwrap();
        schunk.refresh().unwrap();
        assert_eq!(schunk.metalayer("layer").unwrap(), b"abcde56789");
        std::fs::rename(case.dir.join("moved"), &case.journal).unwrap();
        let schunk = open();
        assert_eq!(schunk.metalayer("layer").unwrap(), OLD);
        let other = case.dir.join("other");
        frame_with(&other, NEW, 7);
        std::fs::rename(&other, &case.path).unwrap();
        let mut first = vec![0; 1000];
        schunk.decompress(0, &mut first).unwrap();
        assert_eq!(first, [7; 1000]);
        assert_eq!(schunk.metalayer("layer").unwrap(), NEW);
    }

    #[test]
    fn a_durable_change_fails_while_another_file_has_the_name_of_its_journal() {
        let dir = TempDir::new("occupied");
        let path = dir.join("f");
        frame_with(&path, OLD, 1);
        let before = std::fs::read(&path).unwrap();
        std::fs::write(dir.join("f.b2journal"), b"a diary").unwrap();
        let storage = Storage::file(&path).durable();
        let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
        for _ in 0..2 {
            assert_eq!(schunk.update_metalayer("layer", NEW), Err(Error::FileOpen));
        }
        assert_eq!(schunk.metalayer("layer").unwrap(), OLD);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read(dir.join("f.b2journal")).unwrap(), b"a diary");
        std::fs::remove_file(dir.join("f.b2journal")).unwrap();
        schunk.update_metalayer("layer", NEW).unwrap();
        assert_eq!(schunk.metalayer("layer").unwrap(), NEW);
        assert_eq!(recover_file(dir.path()), Ok(()));
        assert_eq!(recover_file(&dir.join("missing")), Ok(()));
    }

    #[test]
    fn a_failed_change_is_rolled_back_at_once() {
        let case = Case::new("failed");
        recover_file(&case.path).unwrap();
        let file = FileSystem.open(&case.path, Mode::Update).unwrap();
        let staged = Staged::new(Arc::from(file)).unwrap();
        staged.write_at(case.at as u64 - 5, b"other", WriteGranularity::Whole).unwrap();
        let len = case.before.len() as u64;
        let journal = Journal::begin(&FileSystem, &case.path, 0, (len, len), &staged).unwrap();
        staged.apply(0).unwrap();
        let failed = journal.end(Err(Error::FileWrite)).unwrap_err();
        assert!(failed.error == Error::FileWrite && !failed.in_doubt);
        assert_eq!(std::fs::read(&case.path).unwrap(), case.before);
        assert!(!case.journal.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_is_as_private_as_its_file() {
        use std::os::unix::fs::PermissionsExt;
        let case = Case::new("private");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&case.journal), mode(&case.path));
    }
}
