//! Owned super-chunk handles with one method per call, for both libraries and all kinds of storage.
//!
//! A method returns the C function's result and a copy of any memory returned through pointers, so
//! that results of the two libraries compare with `==`.

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr::{null_mut, slice_from_raw_parts};

use crate::ffi::{Cparams, Dparams, Io, SChunk, Storage};
use crate::library::{Library, c_len};
use crate::storage::{Access, BorrowedIo, Kind, c_path};

/// The fields of the struct that must be equal in both libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the field of its name")]
pub struct Fields {
    pub nchunks: i64,
    pub nbytes: i64,
    pub cbytes: i64,
    pub chunksize: i32,
    pub blocksize: i32,
    pub typesize: i32,
    pub flags2: u8,
    pub current_nchunk: i64,
    pub change_tick: i64,
    pub nmetalayers: u16,
    pub nvlmetalayers: i16,
    pub parameters: [u8; 17],
}

/// A super-chunk that is freed when dropped.
pub struct Handle {
    /// The library that created it.
    pub library: &'static Library,
    raw: *mut SChunk,
    _lent: Box<BorrowedIo>,
}

// SAFETY: a super-chunk is not bound to the thread that created it.
unsafe impl Send for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: created by this library and freed once.
        unsafe { (self.library.blosc2_schunk_free)(self.raw) };
    }
}

/// A result code and the returned bytes.
pub type CallResult = (i64, Vec<u8>);

impl Handle {
    fn own(library: &'static Library, raw: *mut SChunk, lent: Box<BorrowedIo>) -> Option<Handle> {
        (!raw.is_null()).then(|| Handle { library, raw, _lent: lent })
    }

    /// Calls `blosc2_schunk_new`; kinds without a path ignore it.
    pub fn create(
        library: &'static Library,
        kind: Kind,
        path: &Path,
        cparams: Cparams,
    ) -> Option<Handle> {
        let access = match kind {
            Kind::Mapped => Access::Mapped(c"w+"),
            _ => Access::Plain,
        };
        Handle::create_with(library, kind, path, cparams, access)
    }

    /// Calls `blosc2_schunk_new` with a choice of backend.
    pub fn create_with(
        library: &'static Library,
        kind: Kind,
        path: &Path,
        mut cparams: Cparams,
        access: Access,
    ) -> Option<Handle> {
        let mut lent = BorrowedIo::new(access);
        let path = c_path(path);
        let mut storage = Handle::storage(kind, &path, &mut cparams, &mut lent.io);
        // SAFETY: every pointer is NULL or points to data that outlive the call, and the backend's
        // parameters live as long as the handle.
        let raw = unsafe { (library.blosc2_schunk_new)(&mut storage) };
        Handle::own(library, raw, lent)
    }

    fn storage(kind: Kind, path: &CStr, cparams: &mut Cparams, io: &mut Io) -> Storage {
        let urlpath = if kind.on_disk() { path.as_ptr().cast_mut() } else { null_mut() };
        Storage { contiguous: kind.contiguous(), urlpath, cparams, dparams: null_mut(), io }
    }

    /// Calls `blosc2_schunk_open_offset_udio`.
    pub fn open(
        library: &'static Library,
        path: &Path,
        offset: i64,
        access: Access,
    ) -> Option<Handle> {
        let lent = BorrowedIo::new(access);
        // SAFETY: the path is NUL-terminated, and the parameters live as long as the handle.
        let raw = unsafe {
            (library.blosc2_schunk_open_offset_udio)(c_path(path).as_ptr(), offset, &lent.io)
        };
        Handle::own(library, raw, lent)
    }

    /// Calls `blosc2_schunk_from_buffer` with `copy`.
    pub fn from_buffer(library: &'static Library, frame: &[u8]) -> Option<Handle> {
        let mut frame = frame.to_vec();
        let len = i64::from(c_len(&frame));
        // SAFETY: the buffer's length is passed.
        let raw = unsafe { (library.blosc2_schunk_from_buffer)(frame.as_mut_ptr(), len, true) };
        Handle::own(library, raw, BorrowedIo::new(Access::Plain))
    }

    /// Calls `blosc2_schunk_from_buffer` without `copy`; the handle owns the buffer.
    pub fn over_buffer(library: &'static Library, frame: &[u8]) -> Option<Handle> {
        // SAFETY: the block has the frame's length; the super-chunk takes ownership, or the block
        // is freed.
        unsafe {
            let block: *mut u8 = libc::malloc(frame.len()).cast();
            assert!(!block.is_null());
            block.copy_from_nonoverlapping(frame.as_ptr(), frame.len());
            let len = i64::from(c_len(frame));
            let raw = (library.blosc2_schunk_from_buffer)(block, len, false);
            if raw.is_null() {
                libc::free(block.cast());
            } else {
                (library.blosc2_schunk_avoid_cframe_free)(raw, false);
            }
            Handle::own(library, raw, BorrowedIo::new(Access::Plain))
        }
    }

    /// Calls `blosc2_schunk_copy`; without parameters, the copy uses those of the source.
    pub fn copy(&self, kind: Kind, path: &Path, mut cparams: Option<Cparams>) -> Option<Handle> {
        let mut lent = BorrowedIo::new(match kind {
            Kind::Mapped => Access::Mapped(c"w+"),
            _ => Access::Plain,
        });
        let path = c_path(path);
        let mut given = Cparams::default();
        let mut storage = Handle::storage(kind, &path, &mut given, &mut lent.io);
        storage.cparams = cparams.as_mut().map_or(null_mut(), |cparams| cparams);
        // SAFETY: as in `create_with`.
        let raw = unsafe { (self.library.blosc2_schunk_copy)(self.raw, &mut storage) };
        Handle::own(self.library, raw, lent)
    }

    /// Returns the C pointer.
    pub fn as_ptr(&self) -> *mut SChunk {
        self.raw
    }

    /// Returns the struct's fields.
    pub fn fields(&self) -> Fields {
        // SAFETY: the struct is live, and no call writes to it now.
        let schunk = unsafe { &*self.raw };
        let mut parameters = [0; 17];
        parameters[..5].copy_from_slice(&[
            schunk.version,
            schunk.compcode,
            schunk.compcode_meta,
            schunk.clevel,
            schunk.splitmode,
        ]);
        parameters[5..11].copy_from_slice(&schunk.filters);
        parameters[11..].copy_from_slice(&schunk.filters_meta);
        Fields {
            nchunks: schunk.nchunks,
            nbytes: schunk.nbytes,
            cbytes: schunk.cbytes,
            chunksize: schunk.chunksize,
            blocksize: schunk.blocksize,
            typesize: schunk.typesize,
            flags2: schunk.flags2,
            current_nchunk: schunk.current_nchunk,
            change_tick: schunk.change_tick,
            nmetalayers: schunk.nmetalayers,
            nvlmetalayers: schunk.nvlmetalayers,
            parameters,
        }
    }

    /// Writes the field `chunksize`, which clients may do before they add the first chunk.
    pub fn preset_chunksize(&self, chunksize: i32) {
        // SAFETY: the struct is live, and clients may write this field.
        unsafe { (*self.raw).chunksize = chunksize };
    }

    /// Passes a copy of the chunk to `call`; the library owns it if `copy` is false.
    fn with_chunk(&self, chunk: &[u8], copy: bool, call: impl FnOnce(*mut u8, bool) -> i64) -> i64 {
        if copy {
            return call(chunk.to_vec().as_mut_ptr(), true);
        }
        // SAFETY: the block has the chunk's length. After a failure the reference may or may not
        // have freed it, so it is leaked.
        let block: *mut u8 = unsafe {
            let block: *mut u8 = libc::malloc(chunk.len().max(1)).cast();
            assert!(!block.is_null());
            block.copy_from_nonoverlapping(chunk.as_ptr(), chunk.len());
            block
        };
        call(block, false)
    }

    /// Calls `blosc2_schunk_append_chunk`.
    pub fn append(&self, chunk: &[u8], copy: bool) -> i64 {
        // SAFETY: the chunk has the length in its header; so do those of the next two functions.
        self.with_chunk(chunk, copy, |chunk, copy| unsafe {
            (self.library.blosc2_schunk_append_chunk)(self.raw, chunk, copy)
        })
    }

    /// Calls `blosc2_schunk_insert_chunk`.
    pub fn insert(&self, at: i64, chunk: &[u8], copy: bool) -> i64 {
        // SAFETY: as above.
        self.with_chunk(chunk, copy, |chunk, copy| unsafe {
            (self.library.blosc2_schunk_insert_chunk)(self.raw, at, chunk, copy)
        })
    }

    /// Calls `blosc2_schunk_update_chunk`.
    pub fn update(&self, at: i64, chunk: &[u8], copy: bool) -> i64 {
        // SAFETY: as above.
        self.with_chunk(chunk, copy, |chunk, copy| unsafe {
            (self.library.blosc2_schunk_update_chunk)(self.raw, at, chunk, copy)
        })
    }

    /// Calls `blosc2_schunk_append_buffer`.
    pub fn append_buffer(&self, data: &[u8]) -> i64 {
        // SAFETY: the buffer's length is passed.
        unsafe {
            (self.library.blosc2_schunk_append_buffer)(self.raw, data.as_ptr().cast(), c_len(data))
        }
    }

    /// Calls `blosc2_schunk_delete_chunk`.
    pub fn delete(&self, at: i64) -> i64 {
        // SAFETY: the super-chunk is live, also in the following functions.
        unsafe { (self.library.blosc2_schunk_delete_chunk)(self.raw, at) }
    }

    /// Calls `blosc2_schunk_reorder_offsets`; `order` must have an entry per chunk.
    pub fn reorder(&self, order: &[i64]) -> i64 {
        let mut order = order.to_vec();
        // SAFETY: `order` has an entry per chunk.
        unsafe { (self.library.blosc2_schunk_reorder_offsets)(self.raw, order.as_mut_ptr()) }.into()
    }

    /// Calls `blosc2_schunk_fill_special`.
    pub fn fill_special(&self, items: i64, special: i32, chunksize: i32) -> i64 {
        // SAFETY: a live super-chunk.
        unsafe { (self.library.blosc2_schunk_fill_special)(self.raw, items, special, chunksize) }
    }

    /// Calls `blosc2_schunk_decompress_chunk` into a buffer of `capacity` bytes.
    pub fn decompress(&self, at: i64, capacity: usize) -> CallResult {
        let mut data = vec![0u8; capacity];
        // SAFETY: the buffer's length is passed.
        let code = unsafe {
            (self.library.blosc2_schunk_decompress_chunk)(
                self.raw,
                at,
                data.as_mut_ptr().cast(),
                c_len(&data),
            )
        };
        data.truncate(usize::try_from(code).unwrap_or(0));
        (code.into(), data)
    }

    fn chunk_by(
        &self,
        call: unsafe extern "C" fn(*mut SChunk, i64, *mut *mut u8, *mut bool) -> i32,
        at: i64,
    ) -> CallResult {
        let (mut chunk, mut needs_free) = (null_mut(), false);
        // SAFETY: both output pointers are valid; a returned chunk has the returned number of
        // bytes.
        unsafe {
            let code = call(self.raw, at, &mut chunk, &mut needs_free);
            let mut bytes = Vec::new();
            if code > 0 {
                bytes = (*slice_from_raw_parts(chunk, code as usize)).to_vec();
            }
            if needs_free {
                libc::free(chunk.cast());
            }
            (code.into(), bytes)
        }
    }

    /// Calls `blosc2_schunk_get_chunk`.
    pub fn chunk(&self, at: i64) -> CallResult {
        self.chunk_by(self.library.blosc2_schunk_get_chunk, at)
    }

    /// Calls `blosc2_schunk_get_lazychunk`.
    pub fn lazy_chunk(&self, at: i64) -> CallResult {
        self.chunk_by(self.library.blosc2_schunk_get_lazychunk, at)
    }

    /// Decompresses a lazy chunk with a context of the caller.
    ///
    /// # Panics
    /// Panics if no context can be created.
    pub fn decompress_lazily(&self, at: i64, capacity: usize) -> CallResult {
        let (code, chunk) = self.lazy_chunk(at);
        if code <= 0 {
            return (code, Vec::new());
        }
        let dparams = Dparams { schunk: self.raw.cast(), ..Dparams::default() };
        let mut data = vec![0u8; capacity];
        // SAFETY: the super-chunk outlives the context, and the buffers' lengths are passed.
        let code = unsafe {
            let context = (self.library.blosc2_create_dctx)(dparams);
            assert!(!context.is_null());
            let code = (self.library.blosc2_decompress_ctx)(
                context,
                chunk.as_ptr().cast(),
                c_len(&chunk),
                data.as_mut_ptr().cast(),
                c_len(&data),
            );
            (self.library.blosc2_free_ctx)(context);
            code
        };
        data.truncate(usize::try_from(code).unwrap_or(0));
        (code.into(), data)
    }

    /// Calls `blosc2_schunk_get_vlblock`.
    pub fn vl_block(&self, at: i64, block: i32) -> CallResult {
        let (mut dest, mut size) = (null_mut(), 0);
        // SAFETY: both output pointers are valid; a returned block has the stored size and must be
        // freed.
        unsafe {
            let code =
                (self.library.blosc2_schunk_get_vlblock)(self.raw, at, block, &mut dest, &mut size);
            let mut bytes = Vec::new();
            if code >= 0 {
                assert_eq!(code, size);
                bytes = (*slice_from_raw_parts(dest, size as usize)).to_vec();
                libc::free(dest.cast());
            }
            (code.into(), bytes)
        }
    }

    /// Calls `blosc2_frame_get_offsets`.
    pub fn offsets(&self) -> Option<Vec<i64>> {
        // SAFETY: a returned array has an entry per chunk and must be freed.
        unsafe {
            let offsets = (self.library.blosc2_frame_get_offsets)(self.raw);
            if offsets.is_null() {
                return None;
            }
            let count = (*self.raw).nchunks as usize;
            let copy = (*slice_from_raw_parts(offsets, count)).to_vec();
            libc::free(offsets.cast());
            Some(copy)
        }
    }

    /// Calls `blosc2_schunk_to_buffer`.
    pub fn to_buffer(&self) -> CallResult {
        let (mut frame, mut needs_free) = (null_mut(), false);
        // SAFETY: both output pointers are valid; a returned frame has the returned number of
        // bytes.
        unsafe {
            let code =
                (self.library.blosc2_schunk_to_buffer)(self.raw, &mut frame, &mut needs_free);
            let mut bytes = Vec::new();
            if code > 0 {
                bytes = (*slice_from_raw_parts(frame, code as usize)).to_vec();
            }
            if needs_free {
                libc::free(frame.cast());
            }
            (code, bytes)
        }
    }

    /// Calls `blosc2_schunk_to_file`.
    pub fn to_file(&self, path: &Path) -> i64 {
        // SAFETY: the path is NUL-terminated.
        unsafe { (self.library.blosc2_schunk_to_file)(self.raw, c_path(path).as_ptr()) }
    }

    /// Calls `blosc2_schunk_append_file`.
    pub fn append_file(&self, path: &Path) -> i64 {
        // SAFETY: the path is NUL-terminated.
        unsafe { (self.library.blosc2_schunk_append_file)(self.raw, c_path(path).as_ptr()) }
    }

    /// Calls `blosc2_schunk_frame_len`.
    pub fn frame_len(&self) -> i64 {
        // SAFETY: the super-chunk is live.
        unsafe { (self.library.blosc2_schunk_frame_len)(self.raw) }
    }

    /// Calls `blosc2_schunk_refresh`.
    pub fn refresh(&self) -> i64 {
        // SAFETY: the super-chunk is live.
        unsafe { (self.library.blosc2_schunk_refresh)(self.raw) }.into()
    }

    /// Calls `blosc2_schunk_lock`.
    pub fn lock(&self) -> i64 {
        // SAFETY: the super-chunk is live.
        unsafe { (self.library.blosc2_schunk_lock)(self.raw) }.into()
    }

    /// Calls `blosc2_schunk_unlock`.
    pub fn unlock(&self) -> i64 {
        // SAFETY: the super-chunk is live.
        unsafe { (self.library.blosc2_schunk_unlock)(self.raw) }.into()
    }

    /// Calls `blosc2_schunk_get_slice_buffer`.
    pub fn slice(&self, start: i64, stop: i64, typesize: usize) -> CallResult {
        let items = usize::try_from(stop - start).unwrap_or(0);
        let mut data = vec![0u8; items * typesize];
        // SAFETY: the buffer has space for all items of the range.
        let code = unsafe {
            (self.library.blosc2_schunk_get_slice_buffer)(
                self.raw,
                start,
                stop,
                data.as_mut_ptr().cast(),
            )
        };
        if code < 0 {
            data.clear();
        }
        (code.into(), data)
    }

    /// Calls `blosc2_schunk_set_slice_buffer`; `data` must have the items of the range.
    pub fn set_slice(&self, start: i64, stop: i64, data: &[u8]) -> i64 {
        let mut data = data.to_vec();
        // SAFETY: `data` has the items of the range.
        unsafe {
            (self.library.blosc2_schunk_set_slice_buffer)(
                self.raw,
                start,
                stop,
                data.as_mut_ptr().cast(),
            )
        }
        .into()
    }

    /// Calls `blosc2_schunk_get_sparse_buffer`.
    pub fn sparse(&self, coordinates: &[i64], typesize: usize) -> CallResult {
        let mut data = vec![0u8; coordinates.len() * typesize];
        let count = coordinates.len() as i64;
        // SAFETY: the buffer has space for an item per coordinate.
        let code = unsafe {
            (self.library.blosc2_schunk_get_sparse_buffer)(
                self.raw,
                count,
                coordinates.as_ptr(),
                data.as_mut_ptr().cast(),
            )
        };
        if code < 0 {
            data.clear();
        }
        (code.into(), data)
    }

    fn named(
        &self,
        name: &str,
        content: &[u8],
        call: impl FnOnce(*const c_char, *mut u8, i32) -> i32,
    ) -> i64 {
        let name = CString::new(name).expect("no NUL");
        let mut content = content.to_vec();
        call(name.as_ptr(), content.as_mut_ptr(), c_len(&content)).into()
    }

    /// Calls `blosc2_meta_add`.
    pub fn meta_add(&self, name: &str, content: &[u8]) -> i64 {
        // SAFETY: the name is NUL-terminated and the content's length is passed, also in the
        // functions that follow.
        self.named(name, content, |name, content, len| unsafe {
            (self.library.blosc2_meta_add)(self.raw, name, content, len)
        })
    }

    /// Calls `blosc2_meta_update`.
    pub fn meta_update(&self, name: &str, content: &[u8]) -> i64 {
        // SAFETY: as above.
        self.named(name, content, |name, content, len| unsafe {
            (self.library.blosc2_meta_update)(self.raw, name, content, len)
        })
    }

    /// Returns the fixed metalayers, read directly from the struct.
    pub fn metas(&self) -> Vec<(String, Vec<u8>)> {
        // SAFETY: the first `nmetalayers` entries are metalayers with NUL-terminated names and
        // `content_len` bytes.
        unsafe {
            let schunk = &*self.raw;
            schunk.metalayers[..usize::from(schunk.nmetalayers)]
                .iter()
                .map(|&meta| {
                    let meta = &*meta;
                    let name = CStr::from_ptr(meta.name).to_string_lossy().into_owned();
                    let content = match meta.content_len {
                        0 => Vec::new(),
                        len => (*slice_from_raw_parts(meta.content, len as usize)).to_vec(),
                    };
                    (name, content)
                })
                .collect()
        }
    }

    /// Calls `blosc2_vlmeta_add` with the default parameters.
    pub fn vlmeta_add(&self, name: &str, content: &[u8]) -> i64 {
        // SAFETY: as above.
        self.named(name, content, |name, content, len| unsafe {
            (self.library.blosc2_vlmeta_add)(self.raw, name, content, len, null_mut())
        })
    }

    /// Calls `blosc2_vlmeta_update` with the default parameters.
    pub fn vlmeta_update(&self, name: &str, content: &[u8]) -> i64 {
        // SAFETY: as above.
        self.named(name, content, |name, content, len| unsafe {
            (self.library.blosc2_vlmeta_update)(self.raw, name, content, len, null_mut())
        })
    }

    /// Calls `blosc2_vlmeta_exists`.
    pub fn vlmeta_exists(&self, name: &str) -> i64 {
        // SAFETY: as above.
        self.named(name, &[], |name, _, _| unsafe {
            (self.library.blosc2_vlmeta_exists)(self.raw, name)
        })
    }

    /// Calls `blosc2_vlmeta_delete`.
    pub fn vlmeta_delete(&self, name: &str) -> i64 {
        // SAFETY: as above.
        self.named(name, &[], |name, _, _| unsafe {
            (self.library.blosc2_vlmeta_delete)(self.raw, name)
        })
    }

    /// Calls `blosc2_vlmeta_get`.
    pub fn vlmeta(&self, name: &str) -> CallResult {
        let (mut content, mut len) = (null_mut(), 0);
        // SAFETY: as above; the returned bytes have the stored length and must be freed.
        let code = self.named(name, &[], |name, _, _| unsafe {
            (self.library.blosc2_vlmeta_get)(self.raw, name, &mut content, &mut len)
        });
        let mut bytes = Vec::new();
        if !content.is_null() {
            // SAFETY: as above.
            unsafe {
                bytes = (*slice_from_raw_parts(content, len as usize)).to_vec();
                libc::free(content.cast());
            }
        }
        (code, bytes)
    }

    /// Calls `blosc2_vlmeta_get_names`.
    pub fn vlmeta_names(&self) -> Vec<String> {
        // SAFETY: the array has an entry per name; the names are NUL-terminated.
        unsafe {
            let count = usize::try_from((*self.raw).nvlmetalayers).expect("a count");
            let mut names = vec![null_mut(); count + 1];
            let code = (self.library.blosc2_vlmeta_get_names)(self.raw, names.as_mut_ptr());
            assert_eq!(usize::try_from(code), Ok(count));
            names[..count]
                .iter()
                .map(|&name| CStr::from_ptr(name).to_string_lossy().into_owned())
                .collect()
        }
    }
}

/// Returns a frame's files with their contents by name; for a frame in memory, its bytes.
///
/// # Panics
/// Panics if the files cannot be read.
pub fn stored(handle: &Handle, kind: Kind, path: &Path) -> Vec<(String, Vec<u8>)> {
    match kind {
        Kind::Sparse => Vec::new(),
        Kind::Frame => vec![(String::new(), handle.to_buffer().1)],
        Kind::File | Kind::Mapped => {
            vec![(String::new(), std::fs::read(path).expect("a file"))]
        }
        Kind::Directory => {
            let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(path)
                .expect("a directory")
                .map(|entry| {
                    let entry = entry.expect("an entry");
                    let name = entry.file_name().to_string_lossy().into_owned();
                    (name, std::fs::read(entry.path()).expect("a file"))
                })
                .collect();
            files.sort();
            files
        }
    }
}
