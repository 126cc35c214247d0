//! User-registered I/O backends, and the choice of a backend by its id.

use super::active_callbacks::run_io;
use super::backends::{FILESYSTEM, FILESYSTEM_MMAP, registered};
use super::read_only::ReadOnlyFileSystem;
use crate::mmap;
use crate::types::flag::is_set;
use crate::types::io::{blosc2_io, blosc2_io_cb};
use crate::types::stdio::{blosc2_stdio_mmap, blosc2_stdio_params};
use ferroblosc::io::lock::Lock;
use ferroblosc::io::{
    Backend, Durability, DurableFileSystem, FileSystem, Identity, Mapped, Mode, Stream, View,
    WriteGranularity, ids,
};
use ferroblosc::{Error, Result, kernels};
use ferroblosc_capi_common::{last_error, os};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::{NonNull, fn_addr_eq, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Returns the backend that a super-chunk uses.
///
/// # Errors
/// [`Error::PluginIo`] if its id is not registered.
///
/// # Safety
/// The parameters are those that the backend expects, for the lifetime of the result.
pub unsafe fn backend(io: &blosc2_io) -> Result<Arc<dyn Backend>> {
    if let Some(durability) = durability_of(io.id) {
        return Ok(Arc::new(DurableFileSystem(durability)));
    }
    if io.id == ids::READ_ONLY {
        return Ok(Arc::new(ReadOnlyFileSystem));
    }
    let callbacks = registered(io.id).ok_or_else(|| {
        Error::PluginIo.because(format!("no I/O backend {} is registered", io.id))
    })?;
    // The core accesses files itself, unless a program has replaced functions of the backend.
    if io.id == FILESYSTEM.id && has_same_functions(&callbacks, &FILESYSTEM) {
        return Ok(Arc::new(FileSystem));
    }
    Ok(Arc::new(CBackend { callbacks, params: io.params }))
}

/// Returns the durability that a backend id selects, if any. These ids are defined in ferroblosc.h.
/// Their parameters are those of the file system.
fn durability_of(id: u8) -> Option<Durability> {
    ids::ALL.iter().find(|(number, _)| *number == id).map(|&(_, durability)| durability)
}

/// Whether processes that share a super-chunk lock it. Only files of the file system can be locked.
///
/// # Safety
/// The parameters are NULL or those that the backend expects.
pub unsafe fn is_locked(io: &blosc2_io) -> bool {
    if io.id != FILESYSTEM.id && durability_of(io.id).is_none() {
        return false;
    }
    // SAFETY: the parameters of the file system are NULL or this struct.
    let params = unsafe { io.params.cast::<blosc2_stdio_params>().as_ref() };
    Lock::enabled(params.is_some_and(|params| is_set(params.locking)))
}

/// Whether two backends have the same functions.
fn has_same_functions(one: &blosc2_io_cb, other: &blosc2_io_cb) -> bool {
    macro_rules! same {
        ($($field:ident)*) => {
            $(match (one.$field, other.$field) {
                (Some(one), Some(other)) => fn_addr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            })&&*
        };
    }
    same!(open close size write read truncate destroy)
}

/// Calls a callback of the backend at an address with the error state cleared, so that
/// [`callback_error`] can find the cause of a failure. Address 0 is that of the mapped-file
/// backend, which calls nothing of the program.
fn call_cleared<R>(backend: usize, callback: impl FnOnce() -> R) -> R {
    last_error::clear();
    os::errno::clear();
    if backend == 0 { callback() } else { run_io(backend, callback) }
}

/// Returns the error of a callback that was [`call_cleared`]. Its cause is the recorded error if
/// the callback is a function of this library, and `errno` otherwise.
#[cold]
fn callback_error(error: Error, operation: &'static str, path: &Path) -> Error {
    let system = os::errno::since_clear();
    let error = match (last_error::take(), system) {
        (Some(inner), _) => inner.recast(error.kind()),
        (None, None) => error,
        (None, Some(system)) => error.os(system),
    };
    error.during(operation).at(path)
}

/// A backend of C callbacks.
struct CBackend {
    callbacks: blosc2_io_cb,
    params: *mut c_void,
}

// SAFETY: a rule of the C interface: the functions of a backend may be called from any thread with
// its parameters.
unsafe impl Send for CBackend {}
// SAFETY: as above.
unsafe impl Sync for CBackend {}

impl Backend for CBackend {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        let open = self.callbacks.open.ok_or(Error::PluginIo)?;
        let c_path = os::path::text(path).ok_or(Error::FileOpen)?;
        let is_mapping = has_same_functions(&self.callbacks, &FILESYSTEM_MMAP);
        let backend = if is_mapping { 0 } else { std::ptr::from_ref(self).addr() };
        // SAFETY: the strings are NUL-terminated, and the parameters are those that the backend
        // expects.
        let stream = call_cleared(backend, || unsafe {
            open(c_path.as_ptr(), mode.c_name().as_ptr(), self.params)
        });
        let stream =
            NonNull::new(stream).ok_or_else(|| callback_error(Error::FileOpen, "open", path))?;
        Ok(Box::new(CStream {
            callbacks: self.callbacks,
            backend,
            stream: Mutex::new(Opened(stream)),
            path: path.into(),
            is_closed: false,
        }))
    }

    fn lends(&self, start: *const u8, len: usize) -> Option<bool> {
        if is_set(self.callbacks.is_allocation_necessary) {
            return Some(false);
        }
        if !has_same_functions(&self.callbacks, &FILESYSTEM_MMAP) {
            // The memory of a user-registered backend is unknown.
            return None;
        }
        let params = self.params.cast::<blosc2_stdio_mmap>();
        // SAFETY: the parameters of the mapped-file backend are NULL or this struct.
        Some(!params.is_null() && unsafe { mmap::is_mapped(params, start, len) })
    }

    fn mapped(&self) -> Mapped {
        // SAFETY: the parameters are those that the backend expects.
        unsafe { mmap::kind_of(&self.callbacks, self.params) }
    }

    fn destroy(&self) -> Result<()> {
        let destroy = self.callbacks.destroy.ok_or(Error::PluginIo)?;
        // SAFETY: the parameters are those that the backend expects, and are not used again.
        match unsafe { destroy(self.params) } {
            0.. => Ok(()),
            _ => Err(Error::Failure),
        }
    }
}

/// A stream of C callbacks, which expect to be called by one thread at a time.
struct CStream {
    callbacks: blosc2_io_cb,
    /// The address of the backend; 0 for the mapped-file backend.
    backend: usize,
    stream: Mutex<Opened>,
    /// The path that the stream was opened with, for errors.
    path: Box<Path>,
    /// Whether the backend's close was called.
    is_closed: bool,
}

/// The stream pointer of the backend.
struct Opened(NonNull<c_void>);

// SAFETY: a rule of the C interface: the functions of a backend may be called from any thread with
// its streams.
unsafe impl Send for Opened {}

// SAFETY: the callbacks do not change, and a mutex protects the stream.
unsafe impl Send for CStream {}
// SAFETY: as above.
unsafe impl Sync for CStream {}

impl CStream {
    /// Locks the stream for one call.
    fn locked(&self) -> MutexGuard<'_, Opened> {
        // Poisoning is ignored: the mutex protects no state of the library.
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a callback, as [`call_cleared`].
    fn call<R>(&self, callback: impl FnOnce() -> R) -> R {
        call_cleared(self.backend, callback)
    }

    /// Calls the backend's read for `len` bytes. A backend that lends its own memory ignores
    /// `dest`. Returns the address and the number of the bytes read.
    fn read(&self, position: u64, dest: *mut u8, len: usize) -> Result<(*mut u8, usize)> {
        let read = self.callbacks.read.ok_or(Error::PluginIo)?;
        let position = i64::try_from(position).map_err(|_| Error::FileRead)?;
        let wanted = i64::try_from(len).map_err(|_| Error::FileRead)?;
        let mut start: *mut c_void = dest.cast();
        let stream = self.locked();
        // SAFETY: the stream is open, and `dest` has `len` bytes unless the backend lends its own
        // memory.
        let there =
            self.call(|| unsafe { read(&mut start, 1, wanted, position, stream.0.as_ptr()) });
        match usize::try_from(there) {
            Ok(there) if there <= len && !(start.is_null() && there > 0) => {
                Ok((start.cast(), there))
            }
            _ => Err(callback_error(Error::FileRead, "read", &self.path)),
        }
    }

    /// Returns up to `len` bytes in memory of the backend.
    fn lend(&self, position: u64, len: usize) -> Result<(*mut u8, usize)> {
        let whole = self.read(position, null_mut(), len)?;
        if whole.1 > 0 {
            return Ok(whole);
        }
        // A backend that lends either all requested bytes or none is called again with the number
        // of available bytes.
        let there = self.size()?.saturating_sub(position);
        match usize::try_from(there) {
            Ok(there) if there > 0 && there < len => self.read(position, null_mut(), there),
            _ => Ok(whole),
        }
    }

    fn close_once(&mut self) -> Result<()> {
        let close = self.callbacks.close.ok_or(Error::PluginIo)?;
        let stream = self.stream.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the stream is open, and is not used again.
        match call_cleared(self.backend, || unsafe { close(stream.0.as_ptr()) }) {
            0 => Ok(()),
            _ => Err(callback_error(Error::FileWrite, "close", &self.path)),
        }
    }
}

impl Stream for CStream {
    fn size(&self) -> Result<u64> {
        let size = self.callbacks.size.ok_or(Error::PluginIo)?;
        // SAFETY: the stream is open.
        let size = self.call(|| unsafe { size(self.locked().0.as_ptr()) });
        u64::try_from(size)
            .map_err(|_| callback_error(Error::FileRead, "get the size of", &self.path))
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        if dest.is_empty() {
            return Ok(0);
        }
        if is_set(self.callbacks.is_allocation_necessary) {
            return Ok(self.read(position, dest.as_mut_ptr(), dest.len())?.1);
        }
        let (start, len) = self.lend(position, dest.len())?;
        if len > 0 {
            // SAFETY: the backend lends `len` bytes until the next write, which cannot happen
            // during this call; `len` is at most the length of `dest`. The bytes do not overlap
            // `dest`.
            unsafe { kernels::copy::copy_nonoverlapping(start, dest.as_mut_ptr(), len) };
        }
        Ok(len)
    }

    fn view(&self, position: u64, len: usize) -> Option<View> {
        if is_set(self.callbacks.is_allocation_necessary) {
            return None;
        }
        let (start, there) = self.read(position, null_mut(), len).ok()?;
        // SAFETY: the backend lends the bytes until the next write.
        (there == len).then(|| unsafe { Some(View::new(NonNull::new(start)?, len)) })?
    }

    fn write_at(&self, position: u64, bytes: &[u8], portions: WriteGranularity) -> Result<()> {
        let write = self.callbacks.write.ok_or(Error::PluginIo)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let position = i64::try_from(position).map_err(|_| Error::FileWrite)?;
        let len = i64::try_from(bytes.len()).map_err(|_| Error::FileWrite)?;
        let (size, nitems) = match portions {
            WriteGranularity::Whole => (len, 1),
            WriteGranularity::Bytes => (1, len),
        };
        let stream = self.locked();
        // SAFETY: the stream is open, and `bytes` has `len` bytes.
        let written = self.call(|| unsafe {
            let stream = stream.0.as_ptr();
            write(bytes.as_ptr().cast(), size, nitems, position, stream)
        });
        if written == nitems {
            Ok(())
        } else {
            Err(callback_error(Error::FileWrite, "write to", &self.path))
        }
    }

    fn truncate(&self, len: u64) -> Result<()> {
        let truncate = self.callbacks.truncate.ok_or(Error::PluginIo)?;
        let len = i64::try_from(len).map_err(|_| Error::FileTruncate)?;
        // SAFETY: the stream is open.
        match self.call(|| unsafe { truncate(self.locked().0.as_ptr(), len) }) {
            0 => Ok(()),
            _ => Err(callback_error(Error::FileTruncate, "set the length of", &self.path)),
        }
    }

    fn identity(&self) -> Option<Identity> {
        let is_mapping = has_same_functions(&self.callbacks, &FILESYSTEM_MMAP);
        // SAFETY: a stream of the mapped-file backend is this struct.
        is_mapping.then(|| unsafe { mmap::identity(self.locked().0.as_ptr().cast()) })?
    }

    fn close(self: Box<Self>) -> Result<()> {
        let mut this = self;
        this.is_closed = true;
        this.close_once()
    }
}

impl Drop for CStream {
    fn drop(&mut self) {
        if !self.is_closed {
            // Only `close` reports errors.
            let _ = self.close_once();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::backends::register;
    use crate::constants::io::BLOSC2_IO_FILESYSTEM_MMAP;
    use crate::defaults::{IO, STDIO_MMAP};
    use crate::types::flag::flag;
    use std::ffi::{CStr, c_char, c_int};
    use std::path::PathBuf;
    use std::ptr::null;

    /// A file of one test, removed when dropped.
    struct TestFile(PathBuf);

    impl TestFile {
        fn new(name: &str, bytes: &[u8]) -> TestFile {
            let name = format!("ferroblosc-bridge-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, bytes).unwrap();
            TestFile(path)
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A backend that keeps one file in memory, and a log of the calls.
    #[derive(Default)]
    struct Diary {
        bytes: Vec<u8>,
        calls: Vec<String>,
        /// The maximum number of items of one write.
        capacity: Option<i64>,
    }

    impl Diary {
        fn calls(&mut self) -> String {
            std::mem::take(&mut self.calls).join(", ")
        }
    }

    /// # Safety
    /// `params` is a diary without other references.
    unsafe fn diary<'a>(params: *mut c_void) -> &'a mut Diary {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *params.cast() }
    }

    unsafe extern "C" fn open(
        path: *const c_char,
        mode: *const c_char,
        params: *mut c_void,
    ) -> *mut c_void {
        // SAFETY: the bridge passes two C strings and the parameters of the test.
        let (diary, path, mode) =
            unsafe { (diary(params), CStr::from_ptr(path), CStr::from_ptr(mode)) };
        if path == c"none" {
            return null_mut();
        }
        diary.calls.push(format!("open {}", mode.to_str().unwrap()));
        params
    }

    unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
        // SAFETY: the stream is the diary.
        unsafe { diary(stream) }.calls.push("close".into());
        0
    }

    unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
        // SAFETY: the stream is the diary.
        unsafe { diary(stream) }.bytes.len() as i64
    }

    unsafe extern "C" fn write(
        ptr: *const c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64 {
        // SAFETY: the stream is the diary, and `ptr` points to `len` bytes.
        let (diary, bytes) = unsafe {
            let len = (size * nitems) as usize;
            (diary(stream), std::slice::from_raw_parts(ptr.cast::<u8>(), len))
        };
        diary.calls.push(format!("write {nitems} of {size} at {position}"));
        diary.bytes.truncate(position as usize);
        diary.bytes.extend(bytes);
        diary.capacity.map_or(nitems, |capacity| capacity.min(nitems))
    }

    unsafe extern "C" fn read(
        ptr: *mut *mut c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64 {
        // SAFETY: the stream is the diary, and `size * nitems` bytes are writable.
        unsafe {
            let there = diary(stream).bytes.get(position as usize..).unwrap_or_default();
            let len = there.len().min((size * nitems) as usize);
            (*ptr).cast::<u8>().copy_from(there.as_ptr(), len);
            len as i64 / size
        }
    }

    /// Lends all bytes of the request, or none.
    unsafe extern "C" fn lend(
        ptr: *mut *mut c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64 {
        // SAFETY: the stream is the diary, and `ptr` is writable.
        unsafe {
            let (start, end) = (position as usize, (position + size * nitems) as usize);
            let there = diary(stream).bytes.get(start..end);
            *ptr = there.map_or(null_mut(), |there| there.as_ptr().cast_mut().cast());
            there.map_or(0, |_| nitems)
        }
    }

    unsafe extern "C" fn truncate(stream: *mut c_void, size: i64) -> c_int {
        // SAFETY: the stream is the diary.
        unsafe { diary(stream) }.bytes.truncate(size as usize);
        if size == 0 { -1 } else { 0 }
    }

    unsafe extern "C" fn destroy(params: *mut c_void) -> c_int {
        // SAFETY: the parameters are the diary.
        unsafe { diary(params) }.calls.push("destroy".into());
        0
    }

    /// Returns callbacks over a diary, with an id.
    fn callbacks(id: u8, lends: bool) -> blosc2_io_cb {
        blosc2_io_cb {
            id,
            name: c"diary".as_ptr().cast_mut(),
            is_allocation_necessary: flag(!lends),
            open: Some(open),
            close: Some(close),
            size: Some(size),
            write: Some(write),
            read: Some(if lends { lend } else { read }),
            truncate: Some(truncate),
            destroy: Some(destroy),
        }
    }

    fn registered_backend(callbacks: &blosc2_io_cb, params: *mut c_void) -> Arc<dyn Backend> {
        // SAFETY: the callbacks are functions of this module and expect the parameters of the test.
        unsafe {
            register(callbacks).unwrap();
            backend(&blosc2_io { id: callbacks.id, name: null(), params }).unwrap()
        }
    }

    #[test]
    fn row_s26_an_unregistered_id_is_an_error() {
        for id in [2, 155, 199] {
            // SAFETY: the parameters are not used.
            let found = unsafe { backend(&blosc2_io { id, ..IO }) };
            assert_eq!(found.err(), Some(Error::PluginIo));
        }
    }

    #[test]
    fn the_core_accesses_files_itself() {
        // SAFETY: the file system needs no parameters.
        let files = unsafe { backend(&IO) }.unwrap();
        assert!(files.file_ops().is_some());
    }

    #[test]
    fn callbacks_receive_the_expected_arguments() {
        let mut notes = Diary::default();
        let params: *mut Diary = &mut notes;
        let backend = registered_backend(&callbacks(201, false), params.cast());
        assert!(backend.file_ops().is_none());
        assert_eq!(backend.open(Path::new("none"), Mode::Read).err(), Some(Error::FileOpen));
        let calls = || {
            // SAFETY: no callback is running.
            unsafe { (*params).calls() }
        };
        for (mode, name) in
            [(Mode::Read, "rb"), (Mode::Update, "rb+"), (Mode::Create, "wb"), (Mode::Append, "ab")]
        {
            backend.open(Path::new("f"), mode).unwrap().close().unwrap();
            assert_eq!(calls(), format!("open {name}, close"));
        }
        let stream = backend.open(Path::new("f"), Mode::Update).unwrap();
        stream.write_at(0, b"abcdef", WriteGranularity::Whole).unwrap();
        stream.write_at(6, b"ghi", WriteGranularity::Bytes).unwrap();
        stream.write_at(6, b"", WriteGranularity::Bytes).unwrap();
        assert_eq!(stream.size(), Ok(9));
        let mut bytes = [0; 6];
        assert_eq!(stream.read_at(5, &mut bytes), Ok(4));
        assert_eq!(&bytes, b"fghi\0\0");
        assert_eq!(stream.read_at(9, &mut bytes), Ok(0));
        assert!(stream.view(0, 1).is_none());
        assert_eq!(stream.truncate(4), Ok(()));
        assert_eq!(stream.truncate(0), Err(Error::FileTruncate));
        drop(stream);
        backend.destroy().unwrap();
        assert_eq!(calls(), "open rb+, write 1 of 6 at 0, write 3 of 1 at 6, close, destroy");
    }

    #[test]
    fn borrowed_memory_is_not_copied() {
        let mut notes = Diary { bytes: b"abcdef".into(), ..Diary::default() };
        let start = notes.bytes.as_ptr();
        let backend = registered_backend(&callbacks(202, true), (&raw mut notes).cast());
        let stream = backend.open(Path::new("f"), Mode::Read).unwrap();
        // SAFETY: nothing is written during the borrow.
        let lent = unsafe { stream.view(2, 3).unwrap().bytes() };
        assert_eq!((lent, lent.as_ptr()), (&b"cde"[..], start.wrapping_add(2)));
        assert!(stream.view(2, 5).is_none());
        let mut bytes = [0; 4];
        assert_eq!(stream.read_at(1, &mut bytes), Ok(4));
        assert_eq!(&bytes, b"bcde");
        assert_eq!(stream.read_at(4, &mut bytes), Ok(2));
        assert_eq!(&bytes, b"efde");
        assert_eq!(stream.read_at(6, &mut bytes), Ok(0));
    }

    #[test]
    fn a_short_write_is_an_error() {
        let mut notes = Diary { capacity: Some(0), ..Diary::default() };
        let backend = registered_backend(&callbacks(203, false), (&raw mut notes).cast());
        let stream = backend.open(Path::new("f"), Mode::Update).unwrap();
        for portions in [WriteGranularity::Whole, WriteGranularity::Bytes] {
            assert_eq!(stream.write_at(0, b"abc", portions), Err(Error::FileWrite));
        }
    }

    #[test]
    fn missing_callbacks_are_errors() {
        let mut notes = Diary::default();
        let mut all = callbacks(204, false);
        (all.close, all.size, all.write, all.read, all.truncate, all.destroy) =
            (None, None, None, None, None, None);
        let backend = registered_backend(&all, (&raw mut notes).cast());
        let stream = backend.open(Path::new("f"), Mode::Update).unwrap();
        assert_eq!(stream.size(), Err(Error::PluginIo));
        assert_eq!(stream.write_at(0, b"a", WriteGranularity::Whole), Err(Error::PluginIo));
        assert_eq!(stream.read_at(0, &mut [0]), Err(Error::PluginIo));
        assert_eq!(stream.truncate(0), Err(Error::PluginIo));
        assert_eq!(stream.close(), Err(Error::PluginIo));
        assert_eq!(backend.destroy(), Err(Error::PluginIo));
        let nothing = blosc2_io_cb { id: 205, open: None, ..all };
        let backend = registered_backend(&nothing, null_mut());
        assert_eq!(backend.open(Path::new("f"), Mode::Read).err(), Some(Error::PluginIo));
    }

    #[test]
    fn mapped_files_work_as_a_backend() {
        let file = TestFile::new("mapped", b"abcdef");
        let mut params = STDIO_MMAP;
        (params.mode, params.initial_mapping_size) = (c"r+".as_ptr(), 4096);
        let io = blosc2_io {
            id: BLOSC2_IO_FILESYSTEM_MMAP as u8,
            name: null(),
            params: (&raw mut params).cast(),
        };
        // SAFETY: the parameters are those of the backend.
        let backend = unsafe { backend(&io) }.unwrap();
        let stream = backend.open(&file.0, Mode::Update).unwrap();
        stream.write_at(4, b"EFGH", WriteGranularity::Whole).unwrap();
        let mut bytes = [0; 9];
        assert_eq!(stream.read_at(1, &mut bytes), Ok(7));
        assert_eq!(&bytes, b"bcdEFGH\0\0");
        // SAFETY: nothing is written during the borrow.
        assert_eq!(unsafe { stream.view(0, 2).unwrap().bytes() }, b"ab");
        stream.truncate(5).unwrap();
        stream.close().unwrap();
        backend.destroy().unwrap();
        assert_eq!(backend.destroy(), Err(Error::Failure));
        assert_eq!(std::fs::read(&file.0).unwrap(), b"abcdE");
    }

    #[test]
    fn only_files_of_the_file_system_are_locked() {
        for (id, params, locked) in [
            (0, Some(true), true),
            (0, Some(false), false),
            (0, None, false),
            (1, Some(true), false),
            (201, Some(true), false),
        ] {
            let mut params = params.map(|locking| blosc2_stdio_params { locking: flag(locking) });
            let params: *mut blosc2_stdio_params =
                params.as_mut().map_or(null_mut(), |params| params);
            let io = blosc2_io { id, name: null(), params: params.cast() };
            // SAFETY: the parameters are those of the file system.
            assert_eq!(unsafe { is_locked(&io) }, locked, "{id}");
        }
    }
}
