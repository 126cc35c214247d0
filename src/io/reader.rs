//! The handle through which a frame reads its file.
//!
//! Opening a file costs more than most reads, so on the file system a reader keeps its file open
//! from its first use on and shares the handle with all threads. A process may hold more frames
//! than it can have open files, so only the first readers keep their file open: at most 96, and at
//! most a sixteenth of the process's descriptors. `BLOSC_MAX_CACHED_READERS` sets another number.
//! Other readers open the file for each task. When the process has no descriptor left for another
//! file, the readers close theirs ([`open_with_spare_descriptors`]).
//!
//! Editors and downloads replace a file by renaming a new one over it. A reader follows the path
//! and reports the replacement, so that cached data of the old file is discarded.

use super::backend::{Backend, FileOps, Identity, Mode, Stream};
use crate::{Result, os};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Default maximum number of files that all readers together keep open.
const DEFAULT_CAP: usize = 96;
/// Readers use at most one in this many descriptors of the process.
const DESCRIPTORS_PER_READER: u64 = 16;
/// Environment variable that sets the maximum number of files kept open.
const CAP_VARIABLE: &str = "BLOSC_MAX_CACHED_READERS";

/// The files that readers keep open.
static KEPT: OpenFileLimit = OpenFileLimit::new();

/// A reader of one file, which is opened once or for each task.
pub struct Reader {
    backend: Arc<dyn Backend>,
    path: PathBuf,
    cap: &'static OpenFileLimit,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    kept: Option<OpenFile>,
    /// Identity of the file of the last [`Reader::acquire`] or [`Reader::expect`].
    last: Option<Identity>,
}

/// A file that is kept open, and its slot.
struct OpenFile {
    stream: Arc<dyn Stream>,
    slot: Slot,
}

impl Reader {
    /// Returns a reader of the file at `path`, which is opened on first use.
    pub fn new(backend: Arc<dyn Backend>, path: PathBuf) -> Reader {
        Reader::within(&KEPT, backend, path)
    }

    fn within(cap: &'static OpenFileLimit, backend: Arc<dyn Backend>, path: PathBuf) -> Reader {
        Reader { backend, path, cap, state: Arc::default() }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the backend of the file.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Returns the open file, and whether it differs from the file of the last call. A file that is
    /// kept open stays readable after its path was removed.
    ///
    /// # Errors
    /// [`crate::Error::FileOpen`], or an error of the backend, when it cannot be opened.
    pub fn acquire(&self) -> Result<(Arc<dyn Stream>, bool)> {
        let Some(ops) = self.backend.file_ops() else {
            let stream = self.open()?;
            // Only streams of mappings have an identity here.
            let Some(identity) = stream.identity() else {
                return Ok((stream, false));
            };
            let last = self.state().last.replace(identity);
            return Ok((stream, last.is_some_and(|last| last != identity)));
        };
        let mut state = self.state();
        if let Some(kept) = &state.kept {
            let named = ops.identify(&self.path);
            if named.is_none() || named == state.last {
                return Ok((Arc::clone(&kept.stream), false));
            }
        }
        let stream = self.open()?;
        let identity = stream.identity();
        let another = state.last.is_some() && identity != state.last;
        state.last = identity;
        let slot = match state.kept.take() {
            Some(kept) => Some(kept.slot),
            None => self.cap.take(),
        };
        state.kept = slot.map(|slot| OpenFile { stream: Arc::clone(&stream), slot });
        if state.kept.is_some() {
            self.cap.register(&self.state);
        }
        Ok((stream, another))
    }

    /// Returns the file of the last [`Reader::acquire`], without checking whether the path still
    /// names it.
    ///
    /// # Errors
    /// Returns the same errors as [`Reader::acquire`].
    pub fn latest(&self) -> Result<Arc<dyn Stream>> {
        if let Some(kept) = &self.state().kept {
            return Ok(Arc::clone(&kept.stream));
        }
        // The next `acquire` detects a replaced file.
        self.open()
    }

    /// Closes the file and records the identity of the one that the caller has created at the path.
    /// The next [`Reader::acquire`] detects another file.
    pub(crate) fn expect(&self, identity: Option<Identity>) {
        *self.state() = State { kept: None, last: identity };
    }

    /// Whether the path names the file of the last [`Reader::acquire`] or [`Reader::expect`]; also
    /// if that file has no identity.
    pub(crate) fn is_named(&self, ops: &dyn FileOps) -> bool {
        let last = self.state().last;
        last.is_none() || ops.identify(&self.path) == last
    }

    /// Whether an open file is not the one of the last [`Reader::acquire`] or `Reader::expect`,
    /// since another file was renamed to the path. `false` if one of both has no identity.
    pub fn is_another(&self, stream: &dyn Stream) -> bool {
        let last = self.state().last;
        last.is_some_and(|last| stream.identity().is_some_and(|identity| identity != last))
    }

    /// Closes the file. The next [`Reader::acquire`] opens it again and detects another file.
    pub fn close(&self) {
        self.state().kept = None;
    }

    /// Closes the file and forgets its identity.
    pub fn forget(&self) {
        *self.state() = State::default();
    }

    fn open(&self) -> Result<Arc<dyn Stream>> {
        self.backend.open(&self.path, Mode::Read).map(Arc::from)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // At worst a panic leaves no handle, and the next caller opens the file again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The maximum and the current number of files that are kept open.
struct OpenFileLimit {
    most: OnceLock<usize>,
    taken: AtomicUsize,
    /// The readers that may keep a file open. Access uses `try_lock` only: a child that was forked
    /// while the lock was held works without the list.
    readers: Mutex<Vec<Weak<Mutex<State>>>>,
}

impl OpenFileLimit {
    const fn new() -> OpenFileLimit {
        OpenFileLimit {
            most: OnceLock::new(),
            taken: AtomicUsize::new(0),
            readers: Mutex::new(Vec::new()),
        }
    }

    /// Records a reader that keeps a file open.
    fn register(&self, state: &Arc<Mutex<State>>) {
        if let Ok(mut readers) = self.readers.try_lock() {
            let state = Arc::downgrade(state);
            readers.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&state));
            if readers.try_reserve(1).is_ok() {
                readers.push(state);
            }
        }
    }

    /// Closes the files that readers keep open. Returns whether there were any. Readers in use by
    /// other threads are skipped.
    fn close_all(&self) -> bool {
        let Ok(mut readers) = self.readers.try_lock() else {
            return false;
        };
        let mut any = false;
        readers.retain(|known| {
            let Some(state) = known.upgrade() else {
                return false;
            };
            let Ok(mut state) = state.try_lock() else {
                return true;
            };
            any |= state.kept.take().is_some();
            false
        });
        any
    }

    /// Reserves a slot for one more open file, if one is left.
    fn take(&'static self) -> Option<Slot> {
        let most = *self.most.get_or_init(max_open_files);
        // Relaxed: the count does not synchronise other memory.
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                (taken < most).then_some(taken + 1)
            })
            .ok()
            .map(|_| Slot(self))
    }
}

/// A reserved slot for one open file.
struct Slot(&'static OpenFileLimit);

impl Drop for Slot {
    fn drop(&mut self) {
        // Relaxed: as in `take`.
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Calls `open`. If the process has no descriptor left, closes the files that readers keep open and
/// calls it again.
///
/// # Errors
/// Returns the errors of `open`.
pub fn open_with_spare_descriptors<T>(
    open: impl FnMut() -> std::io::Result<T>,
) -> std::io::Result<T> {
    open_within(&KEPT, open)
}

fn open_within<T>(
    cap: &OpenFileLimit,
    mut open: impl FnMut() -> std::io::Result<T>,
) -> std::io::Result<T> {
    match open() {
        Err(error) if os::files::is_out_of_descriptors(&error) && cap.close_all() => open(),
        result => result,
    }
}

/// Returns the maximum number of files that readers keep open: the value of the environment
/// variable, otherwise a default that the system's limit may reduce.
fn max_open_files() -> usize {
    std::env::var_os(CAP_VARIABLE)
        .and_then(|text| parse_limit(text.as_encoded_bytes()))
        .unwrap_or_else(|| DEFAULT_CAP.min(descriptors_to_spare()))
}

/// Parses a value of the variable; `None` for an empty one and a negative number.
fn parse_limit(text: &[u8]) -> Option<usize> {
    let number = if text.is_empty() { None } else { u64::try_from(leading_number(text)).ok() };
    number.map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

/// Parses the number at the start of a text by the rules of C: 0 if there is none, saturating on
/// overflow.
fn leading_number(text: &[u8]) -> i64 {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let value =
        digits.iter().take_while(|digit| digit.is_ascii_digit()).fold(0i64, |value, digit| {
            value.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
        });
    if negative { -value } else { value }
}

/// Returns the readers' share of the descriptors that the process may have.
fn descriptors_to_spare() -> usize {
    let share = os::process::max_open_files() / DESCRIPTORS_PER_READER;
    usize::try_from(share).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::FileSystem;
    use crate::io::testing::TempDir;
    use crate::{Error, io};

    fn cap_of(most: usize) -> &'static OpenFileLimit {
        let cap = OpenFileLimit::new();
        cap.most.set(most).unwrap();
        Box::leak(Box::new(cap))
    }

    fn reader(most: usize, path: &Path) -> Reader {
        Reader::within(cap_of(most), Arc::new(FileSystem), path.to_owned())
    }

    #[test]
    fn without_descriptors_readers_close_their_files() {
        let dir = TempDir::new("descriptors");
        let path = dir.join("f");
        std::fs::write(&path, b"1").unwrap();
        let cap = cap_of(2);
        let new = || Reader::within(cap, Arc::new(FileSystem), path.clone());
        let readers = [new(), new()];
        for reader in &readers {
            drop(reader.acquire().unwrap());
            drop(reader.acquire().unwrap());
        }
        assert_eq!(cap.taken.load(Ordering::Relaxed), 2);
        let mut calls = 0;
        let result = open_within(cap, || {
            calls += 1;
            match calls {
                // ERROR_TOO_MANY_OPEN_FILES is 4.
                1 if cfg!(windows) => Err(std::io::Error::from_raw_os_error(4)),
                1 => Err(std::io::Error::from_raw_os_error(libc::EMFILE)),
                _ => Ok(calls),
            }
        });
        assert_eq!(result.unwrap(), 2);
        assert_eq!(cap.taken.load(Ordering::Relaxed), 0);
        // The readers open the file again and detect that it is the same.
        assert!(!readers[0].acquire().unwrap().1);
        // An error that closing files cannot resolve is returned at once.
        let full = || Err::<(), _>(std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(open_within(cap, full).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
        // A reader in use by another thread keeps its file.
        let held = readers[0].state();
        assert!(!cap.close_all());
        drop(held);
        // Without a file to close, the error is returned.
        let mut calls = 0;
        let full = || {
            calls += 1;
            Err::<(), _>(std::io::Error::from_raw_os_error(libc::EMFILE))
        };
        let listed = cap.readers.lock().unwrap();
        assert_eq!(open_within(cap, full).unwrap_err().raw_os_error(), Some(libc::EMFILE));
        assert_eq!(calls, 1);
        drop(listed);
        drop(readers);
        assert!(!cap.close_all(), "no reader is left");
    }

    fn first_byte(stream: &dyn Stream) -> u8 {
        let mut byte = [0];
        assert_eq!(stream.read_at(0, &mut byte), Ok(1));
        byte[0]
    }

    #[test]
    fn the_file_is_kept_open_and_shared() {
        let dir = TempDir::new("kept");
        let path = dir.join("f");
        std::fs::write(&path, b"1").unwrap();
        let reader = reader(1, &path);
        let (first, another) = reader.acquire().unwrap();
        assert!(!another);
        let again = std::thread::scope(|scope| {
            let acquired = scope.spawn(|| reader.acquire().unwrap());
            acquired.join().unwrap()
        });
        assert!(Arc::ptr_eq(&first, &again.0));
        assert!(!again.1);
        reader.forget();
        let (reopened, another) = reader.acquire().unwrap();
        assert!(!Arc::ptr_eq(&first, &reopened) && !another);
    }

    #[test]
    fn a_replaced_file_is_followed_and_reported_once() {
        for most in [0, 1] {
            let dir = TempDir::new("replaced");
            let (path, new) = (dir.join("f"), dir.join("new"));
            std::fs::write(&path, b"1").unwrap();
            let reader = reader(most, &path);
            let (old, _) = reader.acquire().unwrap();
            std::fs::write(&new, b"2").unwrap();
            std::fs::rename(&new, &path).unwrap();
            let (stream, another) = reader.acquire().unwrap();
            assert!(another);
            assert_eq!(first_byte(stream.as_ref()), b'2');
            assert_eq!(first_byte(old.as_ref()), b'1');
            assert!(!reader.acquire().unwrap().1);
        }
    }

    #[test]
    fn a_file_kept_open_stays_readable_after_removal() {
        let dir = TempDir::new("gone");
        let path = dir.join("f");
        std::fs::write(&path, b"1").unwrap();
        let (keeping, opening) = (reader(1, &path), reader(0, &path));
        keeping.acquire().unwrap();
        opening.acquire().unwrap();
        std::fs::remove_file(&path).unwrap();
        let (stream, another) = keeping.acquire().unwrap();
        assert_eq!((first_byte(stream.as_ref()), another), (b'1', false));
        assert_eq!(opening.acquire().err(), Some(Error::FileOpen));
    }

    #[test]
    fn the_number_of_open_files_is_bounded_and_slots_are_reused() {
        let dir = TempDir::new("cap");
        let path = dir.join("f");
        std::fs::write(&path, b"1").unwrap();
        let cap = cap_of(2);
        let readers: Vec<Reader> =
            (0..3).map(|_| Reader::within(cap, Arc::new(FileSystem), path.clone())).collect();
        let keeps = |reader: &Reader| {
            let (one, _) = reader.acquire().unwrap();
            Arc::ptr_eq(&one, &reader.acquire().unwrap().0)
        };
        assert_eq!(readers.iter().map(keeps).collect::<Vec<_>>(), [true, true, false]);
        readers[0].forget();
        assert!(keeps(&readers[2]));
        assert!(!keeps(&readers[0]));
        drop(readers);
        assert_eq!(cap.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn backends_without_names_are_opened_each_time() {
        struct Plain;
        impl Backend for Plain {
            fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn io::Stream>> {
                FileSystem.open(path, mode)
            }
        }
        let dir = TempDir::new("plain");
        let path = dir.join("f");
        std::fs::write(&path, b"1").unwrap();
        let reader = Reader::within(cap_of(1), Arc::new(Plain), path);
        let (one, _) = reader.acquire().unwrap();
        let (other, another) = reader.acquire().unwrap();
        assert!(!Arc::ptr_eq(&one, &other) && !another);
    }

    #[test]
    fn row_f28_open_files_are_closed_on_exec_and_their_limit_is_parsed_as_in_c() {
        let dir = TempDir::new("exec");
        let path = dir.join("kept-by-the-parent");
        std::fs::write(&path, b"1").unwrap();
        let reader = reader(1, &path);
        reader.acquire().unwrap();
        let open_files = |program: &str| {
            let listed =
                std::process::Command::new(program).args(["-l", "/proc/self/fd"]).output().unwrap();
            String::from_utf8(listed.stdout).unwrap()
        };
        if cfg!(unix) {
            assert!(!open_files("ls").contains("kept-by-the-parent"));
        }

        for (text, number) in [
            ("7", Some(7)),
            (" \t+12x", Some(12)),
            ("010", Some(10)),
            ("0x3", Some(0)),
            ("many", Some(0)),
            ("", None),
            ("-3", None),
            ("99999999999999999999", Some(i64::MAX as u64)),
            ("-99999999999999999999", None),
        ] {
            let number = number.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
            assert_eq!(parse_limit(text.as_bytes()), number, "{text:?}");
        }
    }
}
