//! Locks between processes that share a frame.
//!
//! A locked frame has a lock file of sixteen bytes (`<file>.b2lock`, or `.b2lock` inside a
//! directory). An advisory lock on the whole lock file, shared or exclusive, locks the frame:
//! ```text
//! 0: zero, u64 | 8: generation, u64 in the byte order of the machine
//! ```
//! A shorter file counts as zeros. An exclusive lock increments the generation before any change. A
//! process that finds a generation other than the one it last read or wrote must discard its cached
//! state of the frame. (Source: the lock files of C-Blosc2.)
//!
//! A read-only lock file is locked without incrementing its generation. If there is no lock file
//! and none can be created, as on a read-only medium, a reader whose frame is not writable needs no
//! lock.
//!
//! `flock` locks belong to an open file description, which a forked child shares. A [`Lock`]
//! belongs to the process that acquired it: its copy in the child is not held, and the child opens
//! the lock file again.

use super::ReadAt;
use super::reader::open_with_spare_descriptors;
use crate::os::files::{self, Opening, is_denied, is_denied_to_all, is_denied_to_us};
use crate::pool::gate;
use crate::{Error, Result};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Suffix of a file's lock file, and name of a directory's lock file.
const SUFFIX: &str = ".b2lock";
/// The index file of a sparse frame, which writers write to.
const INDEX: &str = "chunks.b2frame";
/// The size of a lock file in bytes.
const LEN: u64 = 16;
/// The offset of the generation in the lock file.
const GENERATION_AT: u64 = 8;
/// Environment variable that enables locking for all frames.
const VARIABLE: &str = "BLOSC_LOCKING";

/// The kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Others may read.
    Shared,
    /// Others must wait. The generation is incremented.
    Exclusive,
    /// Exclusive, for a call that changes several chunks. The acquisition of each change, nested
    /// directly in this one, increments the generation once, as in C-Blosc2. There must be no
    /// shared acquisition in between.
    Call,
}

/// The lock of one handle of a frame.
///
/// The lock is recursive: it is released after as many releases as acquisitions. Acquiring it
/// exclusively while it is held shared does not make it exclusive. Dropping it releases it.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// The paths of the frame that writers write to.
    frame: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The lock file, open from the first use on.
    file: Option<Opened>,
    depth: usize,
    /// The kind of the outermost acquisition, while the depth is not 0.
    outermost: Option<Kind>,
    /// The generation that was last read or written.
    seen: u64,
    /// The [`gate::generation`] of the process that opened the file and acquired the lock. It
    /// changes at a fork. The id of the process would cost a system call in each nested
    /// acquisition.
    process: u32,
    /// The marks of the threads that called [`Lock::acquire`], one for each call.
    marks: Vec<Arc<Holder>>,
}

impl State {
    /// Forgets the lock of a parent process, without releasing it.
    fn leave_parent(&mut self) {
        let process = gate::generation();
        if self.process != process {
            self.process = process;
            self.file = None;
            self.depth = 0;
            self.marks.clear();
        }
    }

    /// Returns the holder of a lock that is held.
    fn holder(&self) -> Holder {
        let file = self.file.as_ref().map(|opened| opened.identity);
        Holder { process: self.process, file }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(opened) = &self.file
            && self.depth > 0
            && self.process == gate::generation()
        {
            unlock(&opened.file);
        }
    }
}

/// An open lock file.
#[derive(Debug)]
struct Opened {
    file: File,
    identity: LockFile,
    /// Whether the lock file is read-only.
    read_only: bool,
}

impl Opened {
    fn new(file: File, read_only: bool) -> std::io::Result<Opened> {
        Ok(Opened { identity: files::identity_of(&file)?, file, read_only })
    }
}

impl Lock {
    /// Returns the lock of the frame in the file at `path`.
    pub fn of_file(path: &Path) -> Lock {
        Lock::at(beside(path), vec![path.to_owned()])
    }

    /// Returns the lock of the frame in the directory at `path`.
    pub fn of_directory(path: &Path) -> Lock {
        Lock::at(path.join(SUFFIX), vec![path.to_owned(), path.join(INDEX)])
    }

    fn at(path: PathBuf, frame: Vec<PathBuf>) -> Lock {
        Lock { path, frame, state: Mutex::default() }
    }

    /// Whether frames are to be locked. Locking is enabled by `asked`, or by any value of
    /// `BLOSC_LOCKING` except an empty one and `0`.
    pub fn enabled(asked: bool) -> bool {
        asked || std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
    }

    /// Acquires the lock, waiting for it. Returns whether another handle may have changed the frame
    /// since this handle last held the lock or, at the first acquisition, since the lock file was
    /// created. Until the release, other handles of the frame fail on this thread instead of
    /// waiting for themselves.
    ///
    /// # Errors
    /// [`Error::Lock`] when the lock file cannot be created, locked, read or written, or if this
    /// thread holds it through another handle; nothing is locked then.
    pub fn acquire(&self, kind: Kind) -> Result<bool> {
        self.acquire_noticing(kind, || ())
    }

    /// Like [`Lock::acquire`]; calls `notice` if the frame has changed, before another thread of
    /// this handle can acquire the lock.
    ///
    /// # Errors
    /// Returns the same errors as [`Lock::acquire`].
    pub fn acquire_noticing(&self, kind: Kind, notice: impl FnOnce()) -> Result<bool> {
        let (changed, holder) = self.acquire_in_process(kind, notice)?;
        if let Some(mark) = holder.marked() {
            self.state().marks.push(mark);
        }
        Ok(changed)
    }

    /// As [`Lock::acquire_noticing`]; also returns the process and the lock file.
    fn acquire_in_process(&self, kind: Kind, notice: impl FnOnce()) -> Result<(bool, Holder)> {
        let failed = |error| {
            crate::trace_error!("Cannot lock {}: {error}", self.path.display());
            Error::Lock.during("lock").at(&self.path).os(error)
        };
        let mut state = self.state();
        state.leave_parent();
        if state.depth > 0 {
            let is_change_of_call =
                state.depth == 1 && (state.outermost, kind) == (Some(Kind::Call), Kind::Exclusive);
            if is_change_of_call {
                count(&mut state).map_err(failed)?;
            }
            state.depth += 1;
            return Ok((false, state.holder()));
        }
        let changed = self.lock(&mut state, kind).map_err(failed)?;
        state.depth = 1;
        state.outermost = Some(kind);
        if changed {
            notice();
        }
        Ok((changed, state.holder()))
    }

    /// Releases the lock once, if this process holds it.
    pub fn release(&self) {
        let mut state = self.state();
        state.leave_parent();
        // The mark of another thread if this one releases what that one acquired.
        let mark = state.marks.iter().rposition(Holder::is_of_thread);
        if let Some(mark) = mark.or(state.marks.len().checked_sub(1)) {
            state.marks.swap_remove(mark);
        }
        self.release_once(state);
    }

    /// Releases the lock once, if this process is the one that acquired it.
    fn release_of(&self, process: u32) {
        let mut state = self.state();
        state.leave_parent();
        if state.process == process {
            self.release_once(state);
        }
    }

    fn release_once(&self, mut state: MutexGuard<'_, State>) {
        state.depth = match state.depth {
            0 => return,
            depth => depth - 1,
        };
        if let (0, Some(file)) = (state.depth, &state.file) {
            unlock(&file.file);
        }
    }

    /// Acquires the lock until the result is dropped.
    ///
    /// # Errors
    /// Returns the same errors as [`Lock::acquire`].
    pub fn acquire_guard(self: &Arc<Lock>, kind: Kind) -> Result<LockGuard> {
        self.acquire_guard_noticing(kind, || ())
    }

    /// Like [`Lock::acquire_guard`]; `notice` is called under the conditions of
    /// [`Lock::acquire_noticing`].
    ///
    /// # Errors
    /// Returns the same errors as [`Lock::acquire`].
    pub fn acquire_guard_noticing(
        self: &Arc<Lock>,
        kind: Kind,
        notice: impl FnOnce(),
    ) -> Result<LockGuard> {
        let (changed, holder) = self.acquire_in_process(kind, notice)?;
        Ok(LockGuard {
            lock: Arc::clone(self),
            changed,
            process: holder.process,
            _mark: holder.marked(),
        })
    }

    /// Removes the lock file of a frame that this handle created, if the handle has used the lock.
    /// A failure is harmless, since a lock file without its frame is used again.
    pub fn remove(&self) {
        let mut state = self.state();
        state.leave_parent();
        let is_ours = state.file.as_ref().is_some_and(|opened| {
            !opened.read_only
                && files::identity_at(&self.path).is_ok_and(|at| at == opened.identity)
        });
        if is_ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Locks the file at the path and compares generations.
    fn lock(&self, state: &mut State, kind: Kind) -> std::io::Result<bool> {
        let mut replaced = false;
        let opened = loop {
            let kept = state.file.take();
            let kept = kept.filter(|kept| !kept.read_only || kind == Kind::Shared);
            let opened = match kept {
                Some(opened) => opened,
                None => match self.open(kind)? {
                    Some(opened) => opened,
                    None => return Ok(false),
                },
            };
            wait_for(&opened, kind)?;
            // A frame that is removed and created again has a new lock file, which other processes
            // lock. A missing lock file is not created again: its frame is gone as well.
            if !files::identity_at(&self.path).is_ok_and(|named| named != opened.identity) {
                break opened;
            }
            unlock(&opened.file);
            replaced = true;
        };
        let counted = if opened.read_only { Kind::Shared } else { kind };
        let generation = match next_generation(&opened.file, counted) {
            Ok(generation) => generation,
            Err(error) => {
                unlock(&opened.file);
                return Err(error);
            }
        };
        let changed = replaced || generation.found != state.seen;
        state.seen = generation.left;
        state.file = Some(opened);
        Ok(changed)
    }

    /// Opens the lock file; `None` if no lock is needed because the frame is not writable.
    fn open(&self, kind: Kind) -> std::io::Result<Option<Opened>> {
        let error = match open(&self.path) {
            Ok(file) => return Opened::new(file, false).map(Some),
            Err(error) if is_denied(&error) => error,
            Err(error) => return Err(error),
        };
        if kind != Kind::Shared && !self.frame.iter().all(|path| is_denied_to_us(path)) {
            return Err(error);
        }
        // Opening a FIFO at the path must not block.
        let mut options = OpenOptions::new();
        options.read(true);
        let open = || files::open(&mut options, &self.path, Opening::NonBlocking);
        match open_with_spare_descriptors(open) {
            Ok(file) => return Opened::new(file, true).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(other) if is_denied(&other) => {}
            Err(other) => return Err(other),
        }
        let is_needed = match kind {
            Kind::Shared => !self.frame.iter().all(|path| is_denied_to_us(path)),
            Kind::Exclusive | Kind::Call => !self.frame.iter().all(|path| is_denied_to_all(path)),
        };
        if is_needed { Err(error) } else { Ok(None) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No panic can occur between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A held lock.
#[derive(Debug)]
pub struct LockGuard {
    lock: Arc<Lock>,
    changed: bool,
    /// The generation of the process that acquired the lock.
    process: u32,
    /// As long as it exists, locking another handle of the frame on the thread that acquired the
    /// lock fails instead of blocking forever.
    _mark: Option<Arc<Holder>>,
}

impl LockGuard {
    /// Returns the result of [`Lock::acquire`].
    pub fn changed(&self) -> bool {
        self.changed
    }
}

/// The device and the inode of a lock file.
type LockFile = (u64, u64);

/// The generation of the process that holds a lock, and the lock file; `None` if no lock is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holder {
    process: u32,
    file: Option<LockFile>,
}

thread_local! {
    /// The locks that this thread has acquired. Another thread may release them, for instance at
    /// the end of a transaction, so the list does not own them. A list of all threads would need a
    /// lock, which a forked child could find locked.
    static HELD: RefCell<Vec<Weak<Holder>>> = const { RefCell::new(Vec::new()) };
}

impl Holder {
    /// Records that this thread holds the lock until the result is dropped.
    fn marked(self) -> Option<Arc<Holder>> {
        self.file?;
        let mark = Arc::new(self);
        // A thread whose values are being destroyed calls no other handle.
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            held.retain(|mark| mark.strong_count() > 0);
            held.push(Arc::downgrade(&mark));
        });
        Some(mark)
    }

    /// Whether this thread made the mark.
    fn is_of_thread(mark: &Arc<Holder>) -> bool {
        let mark = Arc::downgrade(mark);
        HELD.try_with(|held| held.borrow().iter().any(|made| made.ptr_eq(&mark))).unwrap_or(false)
    }
}

/// Whether this thread has locked the file through another handle.
fn is_held_by_thread(file: LockFile) -> bool {
    let wanted = Holder { process: gate::generation(), file: Some(file) };
    let is_held = |held: &RefCell<Vec<Weak<Holder>>>| {
        held.borrow().iter().filter_map(Weak::upgrade).any(|mark| *mark == wanted)
    };
    HELD.try_with(is_held).unwrap_or(false)
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        self.lock.release_of(self.process);
    }
}

/// Returns the path of the lock file of the file at `path`.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(SUFFIX);
    PathBuf::from(name)
}

/// Opens or creates a lock file. Symbolic links are not followed, and a file with several names is
/// used only if it has the size of a lock file: any user who may write the directory could have
/// planted it.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let open = || files::open(&mut options, path, Opening::NonBlockingUnfollowed);
    let file = open_with_spare_descriptors(open)?;
    let (found, details) = files::attributes_of(&file)?;
    let has_lock_size = matches!(found.len(), 0 | LEN);
    if !found.is_file() || details.links > 1 && !has_lock_size {
        return Err(std::io::Error::other("it is not a lock file"));
    }
    Ok(file)
}

/// Waits for a lock; fails if this thread holds it through another handle, whose call or
/// transaction cannot end before.
fn wait_for(Opened { file, identity, .. }: &Opened, kind: Kind) -> std::io::Result<()> {
    let locked = match kind {
        Kind::Shared => file.try_lock_shared(),
        Kind::Exclusive | Kind::Call => file.try_lock(),
    };
    match locked {
        Ok(()) => return Ok(()),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) if is_interrupted(&error) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if is_held_by_thread(*identity) {
        return Err(std::io::Error::other("another handle of this thread has locked the frame"));
    }
    loop {
        let locked = match kind {
            Kind::Shared => file.lock_shared(),
            Kind::Exclusive | Kind::Call => file.lock(),
        };
        match locked {
            Err(error) if is_interrupted(&error) => {}
            result => return result,
        }
    }
}

fn is_interrupted(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::Interrupted
}

fn unlock(file: &File) {
    files::unlock(files::descriptor(file));
}

/// The generation found in a lock file, and the one written to it.
struct Generation {
    found: u64,
    left: u64,
}

/// Increments the generation of a lock that is held exclusively.
fn count(state: &mut State) -> std::io::Result<()> {
    let writable = state.file.as_ref().filter(|opened| !opened.read_only);
    if let Some(opened) = writable {
        state.seen = next_generation(&opened.file, Kind::Exclusive)?.left;
    }
    Ok(())
}

/// Reads the generation of a locked lock file, and increments it under an exclusive lock.
fn next_generation(file: &File, kind: Kind) -> std::io::Result<Generation> {
    let mut bytes = [0; size_of::<u64>()];
    let read = ReadAt::read_at(file, GENERATION_AT, &mut bytes).map_err(std::io::Error::other)?;
    let found = if read == bytes.len() { u64::from_ne_bytes(bytes) } else { 0 };
    let left = match kind {
        Kind::Shared | Kind::Call => found,
        Kind::Exclusive => {
            let next = found.wrapping_add(1);
            files::write_all_at(file, GENERATION_AT, &next.to_ne_bytes())?;
            next
        }
    };
    Ok(Generation { found, left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;
    use std::sync::mpsc;
    use std::time::Duration;

    fn sidecar(generation: u64) -> Vec<u8> {
        [0, generation].map(u64::to_ne_bytes).concat()
    }

    #[test]
    fn each_change_of_a_call_counts_and_a_bracket_counts_once() {
        let dir = TempDir::new("counted");
        let path = dir.join("f.b2frame");
        let lock = Arc::new(Lock::of_file(&path));
        let generation = || std::fs::read(dir.join("f.b2frame.b2lock")).unwrap();
        let call = lock.acquire_guard(Kind::Call).unwrap();
        assert_eq!(generation(), b"", "no change yet");
        for changes in 1..=3 {
            drop(lock.acquire_guard(Kind::Shared).unwrap());
            let change = lock.acquire_guard(Kind::Exclusive).unwrap();
            drop(lock.acquire_guard(Kind::Exclusive).unwrap());
            drop(change);
            assert_eq!(generation(), sidecar(changes));
        }
        drop(call);
        let bracket = lock.acquire_guard(Kind::Exclusive).unwrap();
        let call = lock.acquire_guard(Kind::Call).unwrap();
        drop(lock.acquire_guard(Kind::Exclusive).unwrap());
        drop((call, bracket));
        assert_eq!(generation(), sidecar(4));
        assert_eq!(lock.acquire(Kind::Shared), Ok(false), "its own changes are known");
    }

    #[test]
    fn the_lock_file_is_beside_a_file_and_inside_a_directory() {
        let dir = TempDir::new("sidecars");
        Lock::of_file(&dir.join("f.b2frame")).acquire(Kind::Shared).unwrap();
        Lock::of_directory(dir.path()).acquire(Kind::Exclusive).unwrap();
        assert_eq!(std::fs::read(dir.join("f.b2frame.b2lock")).unwrap(), b"");
        assert_eq!(std::fs::read(dir.join(".b2lock")).unwrap(), sidecar(1));
    }

    #[test]
    fn only_exclusive_locks_increment_and_only_other_handles_notice() {
        let dir = TempDir::new("generations");
        let path = dir.join("f");
        let (one, other) = (Lock::of_file(&path), Lock::of_file(&path));
        let take = |lock: &Lock, kind| {
            let changed = lock.acquire(kind).unwrap();
            lock.release();
            changed
        };
        assert!(!take(&one, Kind::Shared));
        assert!(!take(&one, Kind::Exclusive));
        assert!(!take(&one, Kind::Exclusive));
        assert!(take(&other, Kind::Shared));
        assert!(!take(&other, Kind::Exclusive));
        assert!(take(&one, Kind::Exclusive));
        assert_eq!(std::fs::read(dir.join("f.b2lock")).unwrap(), sidecar(4));
    }

    #[test]
    fn a_lock_acquired_twice_is_held_until_it_is_released_twice() {
        let dir = TempDir::new("depth");
        let path = dir.join("f");
        let (one, other) = (Arc::new(Lock::of_file(&path)), Arc::new(Lock::of_file(&path)));
        one.acquire(Kind::Exclusive).unwrap();
        let inner = one.acquire_guard(Kind::Exclusive).unwrap();
        assert!(!inner.changed());
        let (send, taken) = mpsc::channel();
        let waiting = std::thread::spawn(move || {
            let held = other.acquire_guard(Kind::Shared).unwrap();
            send.send(held.changed()).unwrap();
        });
        drop(inner);
        assert_eq!(
            taken.recv_timeout(Duration::from_millis(50)),
            Err(mpsc::RecvTimeoutError::Timeout)
        );
        one.release();
        assert_eq!(taken.recv(), Ok(true));
        waiting.join().unwrap();
        one.release();
        assert_eq!(std::fs::read(dir.join("f.b2lock")).unwrap(), sidecar(1));
    }

    /// Runs `wait` while another thread holds the lock of a file, which it releases after 50 ms.
    fn while_locked<R>(path: &Path, wait: impl FnOnce() -> R) -> R {
        let (send, taken) = mpsc::channel();
        std::thread::scope(|threads| {
            threads.spawn(move || {
                let _held = Arc::new(Lock::of_file(path)).acquire_guard(Kind::Exclusive).unwrap();
                send.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(50));
            });
            taken.recv().unwrap();
            wait()
        })
    }

    #[test]
    fn a_lock_excludes_other_handles_in_its_thread_only_from_its_own_frame() {
        let dir = TempDir::new("transactions");
        let (first, second) = (dir.join("first"), dir.join("second"));
        let lock = |path: &Path| Arc::new(Lock::of_file(path));
        let held = lock(&first).acquire_guard(Kind::Exclusive).unwrap();
        // It would wait for itself.
        assert_eq!(lock(&first).acquire_guard(Kind::Shared).err(), Some(Error::Lock));
        assert_eq!(lock(&first).acquire_guard(Kind::Exclusive).err(), Some(Error::Lock));
        for kind in [Kind::Shared, Kind::Exclusive] {
            assert!(while_locked(&second, || lock(&second).acquire_guard(kind).is_ok()));
        }
        // Another thread waits for the lock.
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| lock(&first).acquire_guard(Kind::Exclusive).is_ok());
            std::thread::sleep(Duration::from_millis(20));
            drop(held);
            assert!(waiting.join().unwrap());
        });
        assert!(while_locked(&first, || lock(&first).acquire_guard(Kind::Shared).is_ok()));
    }

    #[test]
    fn an_unguarded_lock_fails_other_handles_of_its_thread_until_its_release() {
        let dir = TempDir::new("unguarded-lock");
        let path = dir.join("f");
        let (one, other) = (Lock::of_file(&path), Arc::new(Lock::of_file(&path)));
        one.acquire(Kind::Exclusive).unwrap();
        one.acquire(Kind::Exclusive).unwrap();
        let failed = |kind| other.acquire_guard(kind).err() == Some(Error::Lock);
        assert!(failed(Kind::Shared) && failed(Kind::Exclusive));
        one.release();
        assert!(failed(Kind::Shared) && failed(Kind::Exclusive));
        one.release();
        assert!(other.acquire_guard(Kind::Exclusive).is_ok());
        assert!(while_locked(&path, || other.acquire_guard(Kind::Shared).is_ok()));
    }

    #[test]
    fn a_release_in_another_thread_ends_an_unguarded_lock() {
        let dir = TempDir::new("unguarded-release");
        let path = dir.join("f");
        let (one, other) = (Lock::of_file(&path), Arc::new(Lock::of_file(&path)));
        one.acquire(Kind::Exclusive).unwrap();
        std::thread::scope(|threads| {
            // A nested lock of another thread that has released its own.
            threads.spawn(|| {
                one.acquire(Kind::Exclusive).unwrap();
                one.release();
                one.release();
            });
        });
        assert!(while_locked(&path, || other.acquire_guard(Kind::Shared).is_ok()));
    }

    #[test]
    fn a_lock_may_be_released_in_another_thread() {
        let dir = TempDir::new("moved-lock");
        let path = dir.join("f");
        let lock = || Arc::new(Lock::of_file(&path));
        let held = lock().acquire_guard(Kind::Exclusive).unwrap();
        std::thread::scope(|threads| {
            threads.spawn(move || drop(held));
        });
        assert!(while_locked(&path, || lock().acquire_guard(Kind::Shared).is_ok()));
    }

    /// Turns a held lock into the copy that a forked child has. Returns the lock file of the
    /// parent.
    fn inherit(lock: &Lock) -> File {
        let mut state = lock.state();
        state.process ^= 1;
        // A duplicate shares the description, like the copy in a forked child.
        state.file.as_ref().unwrap().file.try_clone().unwrap()
    }

    #[test]
    fn a_child_neither_has_nor_releases_the_lock_of_its_parent() {
        let dir = TempDir::new("forked");
        let path = dir.join("f");
        let is_locked = || File::open(beside(&path)).unwrap().try_lock_shared().is_err();
        for case in 0..3 {
            let lock = Arc::new(Lock::of_file(&path));
            let mut held = lock.acquire_guard(Kind::Exclusive).unwrap();
            held.process ^= 1;
            held._mark = None;
            let of_parent = inherit(&lock);
            match case {
                0 => drop((held, lock)),
                1 => lock.release(),
                _ => {
                    // The child waits until the parent releases the lock.
                    std::thread::scope(|threads| {
                        threads.spawn(|| {
                            std::thread::sleep(Duration::from_millis(20));
                            unlock(&of_parent);
                        });
                        assert_eq!(lock.acquire(Kind::Exclusive), Ok(false));
                    });
                    drop(held);
                    assert!(is_locked(), "the child has a lock of its own");
                    lock.release();
                }
            }
            assert_eq!(is_locked(), case < 2, "{case}");
        }
    }

    #[test]
    fn dropping_a_lock_releases_it_though_a_child_has_the_descriptor() {
        let dir = TempDir::new("dropped");
        let path = dir.join("f");
        let lock = Lock::of_file(&path);
        lock.acquire(Kind::Exclusive).unwrap();
        let child = lock.state().file.as_ref().unwrap().file.try_clone().unwrap();
        drop(lock);
        assert_eq!(Lock::of_file(&path).acquire(Kind::Exclusive), Ok(true));
        drop(child);
    }

    /// Handlers of signals that do not restart system calls interrupt the wait.
    #[cfg(unix)]
    #[test]
    fn a_wait_for_a_lock_survives_signals() {
        extern "C" fn ignore(_: libc::c_int) {}
        let dir = TempDir::new("interrupted");
        let path = dir.join("f");
        // SAFETY: a zeroed action has no flags and an empty mask; the handler does nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore as *const () as usize;
            assert_eq!(libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut()), 0);
        }
        let (one, other) = (Arc::new(Lock::of_file(&path)), Arc::new(Lock::of_file(&path)));
        for kind in [Kind::Shared, Kind::Exclusive] {
            let held = one.acquire_guard(Kind::Exclusive).unwrap();
            let (send, id) = mpsc::channel();
            std::thread::scope(|threads| {
                let waiting = threads.spawn(|| {
                    // SAFETY: no preconditions.
                    send.send(unsafe { libc::pthread_self() }).unwrap();
                    other.acquire_guard(kind).map(drop)
                });
                let thread = id.recv().unwrap();
                for _ in 0..20 {
                    std::thread::sleep(Duration::from_millis(2));
                    assert!(!waiting.is_finished());
                    // SAFETY: the thread has not ended, since the lock is held.
                    unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                }
                drop(held);
                assert_eq!(waiting.join().unwrap(), Ok(()));
            });
        }
    }

    #[test]
    fn shared_locks_do_not_exclude_each_other() {
        let dir = TempDir::new("shared");
        let (one, other) = (Lock::of_file(&dir.join("f")), Lock::of_file(&dir.join("f")));
        assert_eq!(one.acquire(Kind::Shared), Ok(false));
        assert_eq!(other.acquire(Kind::Shared), Ok(false));
    }

    #[test]
    fn a_recreated_lock_file_is_used() {
        let dir = TempDir::new("recreated");
        let path = dir.join("f");
        let (old, new) = (Lock::of_file(&path), Lock::of_file(&path));
        old.acquire(Kind::Exclusive).unwrap();
        old.release();
        std::fs::remove_file(beside(&path)).unwrap();
        assert_eq!(old.acquire(Kind::Shared), Ok(false), "its file is gone");
        old.release();
        assert!(!beside(&path).exists());
        new.acquire(Kind::Exclusive).unwrap();
        new.release();
        assert_eq!(old.acquire(Kind::Exclusive), Ok(true));
        assert_eq!(std::fs::read(beside(&path)).unwrap(), sidecar(2));
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_lock_file_is_rejected_and_never_written_to() {
        let dir = TempDir::new("planted-lock");
        let victim = dir.join("victim");
        std::fs::write(&victim, b"precious data of someone").unwrap();
        std::os::unix::fs::symlink(&victim, dir.join("a.b2lock")).unwrap();
        std::os::unix::fs::symlink(dir.join("nothing"), dir.join("b.b2lock")).unwrap();
        std::fs::hard_link(&victim, dir.join("c.b2lock")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(dir.join("d.b2lock")).status();
        assert!(fifo.unwrap().success());
        for name in ["a", "b", "c", "d"] {
            let lock = Lock::of_file(&dir.join(name));
            assert_eq!(lock.acquire(Kind::Exclusive), Err(Error::Lock), "{name}");
        }
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious data of someone");
        assert!(!dir.join("nothing").exists());
    }

    /// Runs `f` as a user who may not write to files of the user of this process, if this process
    /// may choose its user. Only this thread is affected.
    #[cfg(target_os = "linux")]
    fn as_other_user<R: Send>(f: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|threads| {
            let other = threads.spawn(|| {
                // SAFETY: the calls have no preconditions.
                unsafe {
                    libc::setfsgid(65534);
                    libc::setfsuid(65534);
                }
                f()
            });
            other.join().unwrap()
        })
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_frame_that_may_not_be_written_is_read_without_a_lock_file_or_with_one_that_stays() {
        use std::os::unix::fs::PermissionsExt;
        let dir = TempDir::new("read-only-lock");
        let path = dir.join("f");
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        std::fs::write(&path, b"frame").unwrap();
        set(&path, 0o444);
        set(dir.path(), 0o555);
        as_other_user(|| {
            let lock = Lock::of_file(&path);
            // No process can change the frame.
            for kind in [Kind::Shared, Kind::Exclusive, Kind::Call] {
                assert_eq!(lock.acquire(kind), Ok(false));
                lock.release();
            }
        });
        set(&path, 0o644);
        as_other_user(|| {
            assert_eq!(Lock::of_file(&path).acquire(Kind::Exclusive), Err(Error::Lock));
        });
        set(dir.path(), 0o755);
        assert!(!beside(&path).exists());

        std::fs::write(beside(&path), sidecar(7)).unwrap();
        set(&beside(&path), 0o444);
        set(&path, 0o444);
        set(dir.path(), 0o555);
        as_other_user(|| {
            let lock = Arc::new(Lock::of_file(&path));
            for kind in [Kind::Shared, Kind::Exclusive, Kind::Call] {
                let held = lock.acquire_guard(kind).unwrap();
                assert_eq!(held.changed(), kind == Kind::Shared, "once");
                drop(lock.acquire_guard(Kind::Exclusive).unwrap());
            }
            lock.remove();
        });
        set(dir.path(), 0o755);
        assert_eq!(std::fs::read(beside(&path)).unwrap(), sidecar(7));
    }

    #[test]
    fn a_child_that_drops_the_lock_of_its_parent_does_not_release_it() {
        let dir = TempDir::new("dropped-copy");
        let path = dir.join("f");
        let lock = Lock::of_file(&path);
        lock.acquire(Kind::Exclusive).unwrap();
        let of_parent = inherit(&lock);
        drop(lock);
        assert!(File::open(beside(&path)).unwrap().try_lock_shared().is_err());
        drop(of_parent);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_file_may_have_several_names() {
        let dir = TempDir::new("linked-lock");
        let path = dir.join("f");
        std::fs::write(dir.join("other"), sidecar(3)).unwrap();
        std::fs::hard_link(dir.join("other"), beside(&path)).unwrap();
        assert_eq!(Lock::of_file(&path).acquire(Kind::Exclusive), Ok(true));
        assert_eq!(std::fs::read(dir.join("other")).unwrap(), sidecar(4));
    }

    #[test]
    fn an_impossible_lock_is_an_error() {
        let dir = TempDir::new("unlockable");
        let lock = Lock::of_file(&dir.join("no/such/directory"));
        assert_eq!(lock.acquire(Kind::Shared), Err(Error::Lock));
        lock.release();
        std::fs::create_dir(dir.join("d.b2lock")).unwrap();
        let lock = Arc::new(Lock::of_file(&dir.join("d")));
        assert_eq!(lock.acquire_guard(Kind::Exclusive).err(), Some(Error::Lock));
    }
}
