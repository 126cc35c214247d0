//! The core's super-chunk trait, implemented over the C struct that programs read and write.
//!
//! The struct holds the state: nothing is cached elsewhere between calls. Memory that the struct
//! points to and that may be freed elsewhere comes from `malloc`.
//!
//! Several threads may use one super-chunk. A call [enters](CSchunk::enter) it first: shared, to
//! inspect or read it, or exclusively, to change it. Readers also reload changes of its file, so
//! the fields that a reload sets are atomic, and [`Allocated::layers`] protects the metalayers.

use super::active_callbacks;
use super::context::Context;
use super::loans::Loans;
use super::metalayers::{MadeLayers, free_layer, new_layer};
use super::params::{cparams_of_stored, slots, stored_params};
use crate::constants::metalayers::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS};
use crate::defaults;
use crate::types::flag::flag;
use crate::types::params::blosc2_cparams;
use crate::types::schunk::{blosc2_frame, blosc2_metalayer, blosc2_schunk};
use ferroblosc::chunk::{BasicHeader, Compressor, Decompressor, MIN_HEADER_LENGTH};
use ferroblosc::frame::{Counters, Files, Frame, Loaded, Metalayer, StoredParams};
use ferroblosc::pool::gate::{Entry, Gate, Hold};
use ferroblosc::schunk::{Layer, Layers, State};
use ferroblosc::{Buffer, Error, Result, trace_error};
use std::alloc::{Layout, alloc_zeroed};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicPtr, AtomicU8, Ordering};

/// The number of bytes by which the array of chunks grows.
const CHUNKS_STEP: usize = 4096;
/// The size of an entry of that array in bytes.
const POINTER_LEN: usize = size_of::<*mut u8>();

/// The allocation of a super-chunk: the public struct, followed by private state.
#[repr(C)]
pub struct Allocated {
    schunk: blosc2_schunk,
    /// The super-chunk whose chunks a view shares; NULL unless this is a view.
    base: *mut blosc2_schunk,
    /// The lock that calls on the super-chunk and its views hold.
    gate: Gate,
    /// The lock of the metalayers, and of the shape of an array.
    layers: Gate,
    /// The pointers into the super-chunk that callers hold.
    loans: UnsafeCell<Loans>,
    /// The address of the frame's I/O backend; 0 without one. It is set before programs have the
    /// super-chunk.
    backend: usize,
    /// The super-chunks that the call reads which fills this one; NULL for none.
    sources: [AtomicPtr<blosc2_schunk>; 2],
}

impl Allocated {
    /// Allocates a struct of zeros and NULL.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn zeroed() -> Result<*mut blosc2_schunk> {
        let layout = Layout::new::<Allocated>();
        // SAFETY: the size of the struct is not 0.
        let made: *mut Allocated = unsafe { alloc_zeroed(layout) }.cast();
        if made.is_null() {
            return Err(Error::MemoryAlloc);
        }
        // SAFETY: `made` has the size of the struct. All-zero bytes are a valid value of the other
        // fields: numbers, NULL pointers and `false`.
        unsafe { (&raw mut (*made).loans).write(UnsafeCell::new(Loans::default())) };
        Ok(made.cast())
    }
}

/// What a call does with a super-chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Reads metalayers or chunks as they are stored.
    Inspect,
    /// Decompresses chunks.
    Read,
    /// Changes it.
    Change,
    /// Compresses data and changes it.
    Recompress,
}

/// An object that a call has entered. Dropping it leaves the object.
pub struct Entered<T> {
    object: T,
    _hold: Option<(Hold<'static>, active_callbacks::Use)>,
}

impl<T> Entered<T> {
    /// Replaces the object by another value that is valid while it is entered.
    pub fn map<U>(self, view: impl FnOnce(T) -> U) -> Entered<U> {
        Entered { object: view(self.object), _hold: self._hold }
    }
}

impl<T> Deref for Entered<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T> DerefMut for Entered<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

/// A C super-chunk that is alive for the duration of a call.
#[derive(Clone, Copy)]
pub struct CSchunk(NonNull<blosc2_schunk>);

// SAFETY: the struct belongs to no thread; the guarantees below hold for calls in all threads.
unsafe impl Send for CSchunk {}
// SAFETY: concurrent calls read fields that no call writes meanwhile, and write atomic fields, or
// hold the lock of the memory that they change.
unsafe impl Sync for CSchunk {}

// The unsafe code below relies on guarantees of C callers for the duration of a call: the library
// made the struct; its pointers were set by the library or in the documented ways; and programs
// write no field while another thread uses the super-chunk. Calls that change the struct have
// entered it exclusively.

impl CSchunk {
    /// Wraps a pointer to a super-chunk.
    ///
    /// # Errors
    /// [`Error::NullPointer`].
    ///
    /// # Safety
    /// `schunk` is NULL or a super-chunk that outlives the result.
    pub unsafe fn new(schunk: *mut blosc2_schunk) -> Result<CSchunk> {
        NonNull::new(schunk).map(CSchunk).ok_or(Error::NullPointer)
    }

    /// Enters a super-chunk for a purpose: shared for reads, exclusively for changes.
    ///
    /// # Errors
    /// [`Error::NullPointer`]; [`Error::InvalidParam`] if the call would have to wait for a
    /// callback of the program.
    ///
    /// # Safety
    /// The same conditions as for [`CSchunk::new`].
    pub unsafe fn enter(schunk: *mut blosc2_schunk, purpose: Purpose) -> Result<Entered<CSchunk>> {
        // SAFETY: guaranteed by the caller.
        unsafe { CSchunk::new(schunk) }?.entered(purpose)
    }

    /// Enters the super-chunk for a purpose, like [`CSchunk::enter`].
    pub fn entered(self, purpose: Purpose) -> Result<Entered<CSchunk>> {
        let owner = self.owner();
        let recursive = active_callbacks::is_callback();
        let served = recursive && owner.has_active_callback();
        if recursive && owner.is_doing_io(served) {
            trace_error!("a callback of an I/O backend can't use the super-chunk of the call");
            return Err(Error::InvalidParam);
        }
        // A call may also run callbacks for another super-chunk, such as its copy, and for none.
        let nested = served || recursive && active_callbacks::is_used(owner.as_ptr());
        let entry = Entry {
            exclusive: purpose >= Purpose::Change,
            calls: self.calls_program(purpose),
            recursive,
            nested,
        };
        let hold = owner.gate().enter(entry).map_err(|_| {
            if entry.nested {
                trace_error!(
                    "a callback cannot change the super-chunk that the calling function uses"
                );
            } else {
                trace_error!(
                    "another thread uses the super-chunk with a prefilter, postfilter or tuner, or in a callback"
                );
            }
            Error::InvalidParam
        })?;
        let record = active_callbacks::Use::new(owner.as_ptr()).ok_or(Error::InvalidParam)?;
        Ok(Entered { object: self, _hold: Some((hold, record)) })
    }

    /// Enters two super-chunks in the order of their addresses, so that concurrent calls cannot
    /// deadlock.
    pub fn both_entered(
        (first, purpose): (CSchunk, Purpose),
        (second, other): (CSchunk, Purpose),
    ) -> Result<(Entered<CSchunk>, Entered<CSchunk>)> {
        let (one, two) = (first.owner().as_ptr(), second.owner().as_ptr());
        if one == two {
            let first = first.entered(purpose.max(other))?;
            let second = Entered { object: second, _hold: None };
            return Ok((first, second));
        }
        if one < two {
            let first = first.entered(purpose)?;
            Ok((first, second.entered(other)?))
        } else {
            let second = second.entered(other)?;
            Ok((first.entered(purpose)?, second))
        }
    }

    /// Whether a call for this purpose may run a prefilter, postfilter or tuner of the program.
    fn calls_program(self, purpose: Purpose) -> bool {
        let calls = |context: Result<&Context>| context.is_ok_and(Context::calls_program);
        match purpose {
            Purpose::Inspect | Purpose::Change => false,
            Purpose::Read => calls(self.dctx()),
            Purpose::Recompress => calls(self.cctx()) || calls(self.dctx()),
        }
    }

    /// Returns the context for compression.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if the struct has none.
    pub fn cctx(&self) -> Result<&Context> {
        // SAFETY: the context is NULL or valid.
        unsafe { Context::of((*self.as_ptr()).cctx) }
    }

    /// Returns the context for decompression.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if the struct has none.
    pub fn dctx(&self) -> Result<&Context> {
        // SAFETY: the context is NULL or valid.
        unsafe { Context::of((*self.as_ptr()).dctx) }
    }

    /// Returns the parameters in the fields of the struct; the others have their defaults.
    pub fn stored_cparams(self) -> blosc2_cparams {
        cparams_of_stored(&self.recorded(), self.counters().blocksize)
    }

    /// Returns the default parameters of copies: those of the compression context, with its current
    /// block size and without callbacks. The thread count is 0, the default.
    pub fn cparams_of_copies(self) -> blosc2_cparams {
        let cparams = self.cctx().map_or_else(|_| self.stored_cparams(), Context::cparams);
        blosc2_cparams {
            typesize: self.recorded().typesize,
            nthreads: 0,
            schunk: null_mut(),
            prefilter: None,
            preparams: null_mut(),
            tuner_params: null_mut(),
            tuner_id: 0,
            instr_codec: flag(false),
            codec_params: null_mut(),
            filter_params: defaults::CPARAMS.filter_params,
            ..cparams
        }
    }

    /// Whether this thread is inside a callback for the super-chunk that owns the chunks, or for
    /// one that is filled from it.
    fn has_active_callback(self) -> bool {
        let owner = self.owner();
        active_callbacks::any_callback(|schunk| {
            // SAFETY: the super-chunk is alive, or NULL.
            unsafe { CSchunk::new(schunk) }.is_ok_and(|served| {
                let mut sources = served.sources().iter();
                served.owner().0 == owner.0
                    || sources.any(|it| it.load(Ordering::Relaxed) == owner.as_ptr())
            })
        })
    }

    /// Returns the super-chunks that the call reads which fills this one.
    fn sources(&self) -> &[AtomicPtr<blosc2_schunk>; 2] {
        // SAFETY: the library made the struct, so it is an `Allocated`, which outlives the call.
        unsafe { &(*self.as_ptr().cast::<Allocated>()).sources }
    }

    /// Records the super-chunks that the current call reads while it fills this one: a callback for
    /// this one must not wait for them. The call ends with [`CSchunk::clear_sources`].
    pub fn set_sources(self, sources: &[CSchunk]) {
        // Relaxed: the threads of the pool receive their jobs after this.
        for (source, slot) in sources.iter().zip(self.sources()) {
            slot.store(source.owner().as_ptr(), Ordering::Relaxed);
        }
    }

    /// Removes the records of [`CSchunk::set_sources`].
    pub fn clear_sources(self) {
        self.sources().iter().for_each(|slot| slot.store(null_mut(), Ordering::Relaxed));
    }

    /// Whether this thread is inside a callback of the I/O backend of the super-chunk that owns the
    /// chunks or, unless another callback serves it (`served`), of any backend that a call with it
    /// uses.
    fn is_doing_io(self, served: bool) -> bool {
        let owner = self.owner();
        // SAFETY: the library made the struct, so it is an `Allocated`, which outlives the call.
        let backend = unsafe { (*owner.as_ptr().cast::<Allocated>()).backend };
        active_callbacks::is_io_of(backend)
            || (!served && active_callbacks::is_used_outside_io(owner.as_ptr()))
    }

    /// Sets the frame, and its I/O backend if it is in files.
    ///
    /// # Safety
    /// The super-chunk was just created and has no frame.
    pub unsafe fn set_frame(self, frame: Frame) {
        let address = |files: &Arc<Files>| std::ptr::from_ref(files.backend()).cast::<()>().addr();
        let backend = frame.files().map_or(0, address);
        let frame = Box::into_raw(Box::new(blosc2_frame { frame }));
        let schunk = self.as_ptr();
        // SAFETY: the library made the struct, so it is an `Allocated`, and only the caller uses
        // it.
        unsafe {
            (*schunk).frame = frame;
            (*schunk.cast::<Allocated>()).backend = backend;
        }
    }

    /// Returns the frame, which a view shares with its base.
    pub fn shared_frame_mut(&mut self) -> Option<&mut Frame> {
        // SAFETY: the frame is NULL or valid, and only this call uses it.
        unsafe { (*self.as_ptr()).frame.as_mut() }.map(|frame| &mut frame.frame)
    }

    /// Returns the lock of the calls on the super-chunk.
    fn gate(self) -> &'static Gate {
        // SAFETY: the library made the struct, so it is an `Allocated`, which outlives every call
        // that uses it.
        unsafe { &(*self.as_ptr().cast::<Allocated>()).gate }
    }

    /// Locks the metalayers, and the shape of an array.
    pub(super) fn hold_layers(self, exclusive: bool) -> Option<Hold<'static>> {
        // SAFETY: as in `gate`.
        let layers = unsafe { &(*self.as_ptr().cast::<Allocated>()).layers };
        let entry = Entry { exclusive, recursive: true, ..Entry::default() };
        // No holder of this lock runs callbacks, so waiting for it always succeeds.
        layers.enter(entry).ok()
    }

    /// Turns the super-chunk into a view of the chunks of `base`, which must outlive it.
    pub fn set_view_of(self, base: CSchunk) {
        let base = base.owner();
        let schunk = self.as_ptr();
        // SAFETY: the library made the struct, so it is an `Allocated`.
        unsafe {
            (*schunk).view = true;
            (*schunk).data = (*base.as_ptr()).data;
            (*schunk).data_len = (*base.as_ptr()).data_len;
            (*schunk).frame = (*base.as_ptr()).frame;
            (*schunk.cast::<Allocated>()).base = base.as_ptr();
        }
    }

    /// Returns the super-chunk that owns the chunks: the base of a view, otherwise the super-chunk
    /// itself. The base may have moved the chunks after the view was created.
    pub(super) fn owner(self) -> CSchunk {
        let schunk = self.as_ptr();
        // SAFETY: the library made the struct, so it is an `Allocated`.
        let base =
            unsafe { if (*schunk).view { (*schunk.cast::<Allocated>()).base } else { null_mut() } };
        NonNull::new(base).map_or(self, CSchunk)
    }

    /// Returns the records of lent memory.
    pub(super) fn loans(&self) -> &UnsafeCell<Loans> {
        // SAFETY: the library made the struct, so it is an `Allocated`.
        unsafe { &(*self.as_ptr().cast::<Allocated>()).loans }
    }

    /// Returns the array of separately allocated chunks, or NULL.
    pub(super) fn data(self) -> *mut *mut u8 {
        // SAFETY: a field of the struct.
        unsafe { (*self.as_ptr()).data }
    }

    /// Returns the struct.
    pub fn as_ptr(self) -> *mut blosc2_schunk {
        self.0.as_ptr()
    }

    /// Returns the number of changes of the metalayers.
    pub fn current_version(&self) -> i64 {
        self.change_tick().load(Ordering::Relaxed)
    }

    /// Returns the array of metalayers of a kind, and the number of entries in use.
    pub(super) fn layers(&self, kind: Layers) -> (*mut *mut blosc2_metalayer, usize) {
        let schunk = self.as_ptr();
        // SAFETY: fields of the struct.
        unsafe {
            match kind {
                Layers::Fixed => (
                    (&raw mut (*schunk).metalayers).cast(),
                    usize::from((*schunk).nmetalayers).min(BLOSC2_MAX_METALAYERS),
                ),
                Layers::Variable => (
                    (&raw mut (*schunk).vlmetalayers).cast(),
                    usize::try_from((*schunk).nvlmetalayers)
                        .unwrap_or(0)
                        .min(BLOSC2_MAX_VLMETALAYERS),
                ),
            }
        }
    }

    fn set_layer_count(&self, kind: Layers, count: usize) {
        let schunk = self.as_ptr();
        // SAFETY: fields of the struct. The counts are at most the lengths of the arrays, which
        // fit.
        unsafe {
            match kind {
                Layers::Fixed => (*schunk).nmetalayers = count as u16,
                Layers::Variable => (*schunk).nvlmetalayers = count as i16,
            }
        }
    }

    /// Returns the addresses of the names of the variable-length metalayers.
    pub fn vlmetalayer_names(&self) -> Vec<*mut c_char> {
        let _held = self.hold_layers(false);
        let (array, count) = self.layers(Layers::Variable);
        (0..count)
            .map(|i| {
                // SAFETY: `i` is below the number of entries, which are valid.
                unsafe { (*array.add(i)).as_ref() }.map_or(null_mut(), |layer| layer.name)
            })
            .collect()
    }

    /// Frees the metalayers of a kind.
    pub fn free_layers(&self, kind: Layers) {
        let (array, count) = self.layers(kind);
        self.set_layer_count(kind, 0);
        for i in 0..count {
            // SAFETY: `i` is less than the number of entries, which are not used again.
            unsafe { free_layer(array.add(i).replace(null_mut())) }
        }
    }

    /// Replaces the metalayers of a kind.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]; the old metalayers are kept.
    pub fn replace_layers(&self, kind: Layers, layers: &[Metalayer]) -> Result<()> {
        let (array, _) = self.layers(kind);
        let most = match kind {
            Layers::Fixed => BLOSC2_MAX_METALAYERS,
            Layers::Variable => BLOSC2_MAX_VLMETALAYERS,
        };
        let mut made = MadeLayers(Vec::new());
        for layer in layers.iter().take(most) {
            let content = Buffer::copy_of(&layer.content)?;
            made.0.push(new_layer(&layer.name, content)?);
        }
        let _held = self.hold_layers(true);
        if kind == Layers::Fixed && self.overwrite_layers(layers) {
            return Ok(());
        }
        self.free_layers(kind);
        let made = std::mem::take(&mut made.0);
        for (i, layer) in made.iter().enumerate() {
            // SAFETY: `i` is below the length of the array.
            unsafe { array.add(i).write(*layer) }
        }
        self.set_layer_count(kind, made.len());
        Ok(())
    }

    /// Overwrites the contents of the fixed metalayers in place; returns whether the names and
    /// lengths allow it. The inline functions of the header read the contents without a lock.
    fn overwrite_layers(&self, layers: &[Metalayer]) -> bool {
        let (array, count) = self.layers(Layers::Fixed);
        // SAFETY: the entries below the count are valid, their names are NUL-terminated, and their
        // contents have `content_len` bytes.
        let entries = unsafe { std::slice::from_raw_parts(array, count) };
        let is_same = |(&entry, layer): (&*mut blosc2_metalayer, &Metalayer)| {
            // SAFETY: as above.
            let (name, len) =
                unsafe { (CStr::from_ptr((*entry).name).to_bytes(), (*entry).content_len) };
            name == layer.name && usize::try_from(len) == Ok(layer.content.len())
        };
        if count != layers.len() || !entries.iter().zip(layers).all(is_same) {
            return false;
        }
        for (&entry, layer) in entries.iter().zip(layers) {
            // SAFETY: as above; the old content has the length of the new one.
            unsafe {
                let content = (*entry).content;
                std::ptr::copy_nonoverlapping(layer.content.as_ptr(), content, layer.content.len());
            }
        }
        true
    }

    /// Sets the fields with the compression parameters.
    pub fn set_recorded(&self, recorded: &StoredParams) {
        let schunk = self.as_ptr();
        // SAFETY: fields of the struct.
        unsafe {
            (*schunk).compcode = recorded.compcode;
            (*schunk).compcode_meta = recorded.compcode_meta;
            (*schunk).clevel = recorded.clevel;
            (*schunk).splitmode = recorded.splitmode;
            (*schunk).typesize = recorded.typesize;
            (*schunk).use_dict = u8::from(recorded.use_dict);
            (*schunk).filters = recorded.filters.map(|slot| slot.id);
            (*schunk).filters_meta = recorded.filters.map(|slot| slot.meta);
        }
    }

    /// Sets the fields with the sizes.
    pub fn store_counters(&self, counters: Counters) {
        // Relaxed, here and elsewhere: the numbers do not publish other memory.
        self.chunksize().store(counters.chunksize, Ordering::Relaxed);
        self.blocksize().store(counters.blocksize, Ordering::Relaxed);
        self.flags2().store(counters.flags2, Ordering::Relaxed);
        self.nchunks().store(counters.nchunks, Ordering::Relaxed);
        self.nbytes().store(counters.nbytes, Ordering::Relaxed);
        self.cbytes().store(counters.cbytes, Ordering::Relaxed);
    }

    /// Returns the address of the pointer to a separately allocated chunk.
    fn slot(&self, nchunk: usize) -> *mut *mut u8 {
        // SAFETY: callers pass indices inside the array.
        unsafe { (*self.owner().as_ptr()).data.add(nchunk) }
    }
}

/// Defines a method for each field that concurrent readers may set. It returns the field as an
/// atomic number, since other calls may read and set it at the same time.
macro_rules! atomic_fields {
    ($($field:ident: $atomic:ty),* $(,)?) => {
        impl CSchunk {
            $(fn $field(&self) -> &$atomic {
                // SAFETY: an aligned field of the struct, which is alive; the library accesses it
                // only through this atomic.
                unsafe { <$atomic>::from_ptr(&raw mut (*self.as_ptr()).$field) }
            })*
        }
    };
}

atomic_fields! {
    chunksize: AtomicI32,
    blocksize: AtomicI32,
    flags2: AtomicU8,
    nchunks: AtomicI64,
    nbytes: AtomicI64,
    cbytes: AtomicI64,
    current_nchunk: AtomicI64,
    change_tick: AtomicI64,
}

/// Returns the length of a chunk in memory in bytes, from its header.
///
/// # Safety
/// `chunk` is NULL or a chunk.
unsafe fn chunk_len(chunk: *const u8) -> usize {
    if chunk.is_null() {
        return 0;
    }
    // SAFETY: a chunk has at least a header.
    let header = unsafe { std::slice::from_raw_parts(chunk, MIN_HEADER_LENGTH) };
    BasicHeader::parse(header).map_or(0, |header| header.cbytes.max(0) as usize)
}

impl State for CSchunk {
    fn recorded(&self) -> StoredParams {
        let schunk = self.as_ptr();
        // SAFETY: fields of the struct.
        unsafe {
            StoredParams {
                compcode: (*schunk).compcode,
                compcode_meta: (*schunk).compcode_meta,
                clevel: (*schunk).clevel,
                splitmode: (*schunk).splitmode,
                typesize: (*schunk).typesize,
                use_dict: (*schunk).use_dict != 0,
                filters: slots((*schunk).filters, (*schunk).filters_meta),
            }
        }
    }

    fn counters(&self) -> Counters {
        Counters {
            chunksize: self.chunksize().load(Ordering::Relaxed),
            blocksize: self.blocksize().load(Ordering::Relaxed),
            flags2: self.flags2().load(Ordering::Relaxed),
            nchunks: self.nchunks().load(Ordering::Relaxed),
            nbytes: self.nbytes().load(Ordering::Relaxed),
            cbytes: self.cbytes().load(Ordering::Relaxed),
        }
    }

    fn threads(&self) -> (i16, i16) {
        (
            self.cctx().map_or(0, |context| context.cparams().nthreads),
            self.dctx().map_or(0, |context| context.dparams().nthreads),
        )
    }

    fn used(&self) -> (StoredParams, i32) {
        let cparams = self.cparams_of_copies();
        (stored_params(&cparams), cparams.blocksize)
    }

    fn set_current(&self, nchunk: i64) {
        // Avoids writes to a cache line that concurrent readers of one chunk share.
        if self.current_nchunk().load(Ordering::Relaxed) != nchunk {
            self.current_nchunk().store(nchunk, Ordering::Relaxed);
        }
    }

    fn frame(&self) -> Option<&Frame> {
        // SAFETY: the frame is NULL or valid.
        unsafe { (*self.as_ptr()).frame.as_ref() }.map(|frame| &frame.frame)
    }

    fn chunk(&self, nchunk: usize) -> &[u8] {
        // The base may have fewer chunks than when the view was created.
        let owner = self.owner();
        let held = usize::try_from(owner.nchunks().load(Ordering::Relaxed)).unwrap_or(0);
        // SAFETY: the array has a chunk for each index less than the number of chunks, of the
        // length in its header.
        unsafe {
            if nchunk >= held || (*owner.as_ptr()).data.is_null() {
                return &[];
            }
            let chunk = *self.slot(nchunk);
            if chunk.is_null() {
                return &[];
            }
            std::slice::from_raw_parts(chunk, chunk_len(chunk))
        }
    }

    fn with_layers(&self, kind: Layers, f: &mut dyn FnMut(&[Layer<'_>])) {
        let _held = self.hold_layers(false);
        let (array, count) = self.layers(kind);
        let layers: Vec<Layer<'_>> = (0..count)
            .map(|i| {
                // SAFETY: the entries below the count are valid, their names are NUL-terminated,
                // and their contents have `content_len` bytes.
                unsafe {
                    let layer = &**array.add(i);
                    let len = usize::try_from(layer.content_len).unwrap_or(0);
                    let content: &[u8] = if layer.content.is_null() {
                        &[]
                    } else {
                        std::slice::from_raw_parts(layer.content, len)
                    };
                    (CStr::from_ptr(layer.name).to_bytes(), content)
                }
            })
            .collect();
        f(&layers);
    }

    /// Compares the names in place: a list of thousands of metalayers is expensive.
    fn find_layer(&self, kind: Layers, name: &[u8]) -> Option<usize> {
        // Names are C strings, so none contains a NUL.
        if name.contains(&0) {
            return None;
        }
        let _held = self.hold_layers(false);
        let (array, count) = self.layers(kind);
        (0..count).find(|&i| {
            // SAFETY: the entries below the count are valid, and their names are NUL-terminated.
            // The comparison ends at the NUL of a shorter name. `name` contains no NUL, so a name
            // that begins with all its bytes has a byte after them.
            unsafe {
                let own = (**array.add(i)).name;
                libc::strncmp(own, name.as_ptr().cast(), name.len()) == 0
                    && *own.add(name.len()) == 0
            }
        })
    }

    fn layer_count(&self, kind: Layers) -> usize {
        let _held = self.hold_layers(false);
        self.layers(kind).1
    }

    fn reload(&self, loaded: Loaded) {
        // The changes are those of the base's file; the view itself stays unchanged.
        let owner = self.owner();
        if owner.0 != self.0 {
            return owner.reload(loaded);
        }
        let replaced = self
            .replace_layers(Layers::Fixed, &loaded.metalayers)
            .and_then(|()| self.replace_layers(Layers::Variable, &loaded.vlmetalayers));
        if let Err(error) = replaced {
            trace_error!("the metalayers cannot be reloaded: {error}");
        }
        self.store_counters(loaded.counters);
        self.change_tick().fetch_add(1, Ordering::Relaxed);
    }

    fn compress_with(&self, f: &mut dyn FnMut(&mut Compressor) -> Result<usize>) -> Result<usize> {
        let context = self.cctx()?;
        let _calling = self.owner().gate().call_out();
        context.compress_shared(f)
    }

    fn decompress(&self, f: &mut dyn FnMut(&mut Decompressor) -> Result<usize>) -> Result<usize> {
        let context = self.dctx()?;
        let owner = self.owner();
        let _calling = owner.gate().call_out();
        let is_nested = owner.has_active_callback();
        context.decompress_shared(is_nested, f)
    }

    fn owns_chunks(&self) -> bool {
        self.owner().0 == self.0
    }

    fn frame_mut(&mut self) -> Option<&mut Frame> {
        // The base of a view would not notice a change of its frame, which also stores metalayers.
        if self.owns_chunks() { self.shared_frame_mut() } else { None }
    }

    fn set_counters(&mut self, counters: Counters) {
        self.store_counters(counters);
    }

    fn reserve_chunk(&mut self, held: usize) -> Result<()> {
        let schunk = self.as_ptr();
        if !self.owns_chunks() {
            return Err(Error::InvalidParam);
        }
        let wanted = (held + 1) * POINTER_LEN;
        // SAFETY: `data` is NULL or a block of `malloc` of `data_len` bytes.
        unsafe {
            if wanted <= (*schunk).data_len && !(*schunk).data.is_null() {
                return Ok(());
            }
            let len = wanted.next_multiple_of(CHUNKS_STEP);
            let data = libc::realloc((*schunk).data.cast(), len);
            if data.is_null() {
                return Err(Error::MemoryAlloc);
            }
            (*schunk).data = data.cast();
            (*schunk).data_len = len;
        }
        Ok(())
    }

    fn insert(&mut self, held: usize, at: usize, chunk: Buffer) {
        let slot = self.slot(at);
        // SAFETY: the array has space for `held + 1` pointers; those from `at` on move by one.
        unsafe {
            std::ptr::copy(slot, slot.add(1), held - at);
            slot.write(chunk.into_raw());
            Loans::record(self.owner().loans(), *slot);
        }
    }

    fn exchange(&mut self, at: usize, chunk: Buffer) -> Option<Buffer> {
        // SAFETY: `at` is the index of a chunk; chunks are blocks of `malloc`,
        // as long as their headers state.
        unsafe {
            let old = self.slot(at).replace(chunk.into_raw());
            let owner = self.owner();
            let is_unused = Loans::forget(owner.loans(), old, || chunk_len(old));
            Loans::record(owner.loans(), *self.slot(at));
            let old = NonNull::new(old).filter(|_| is_unused)?;
            Some(Buffer::from_raw(old, chunk_len(old.as_ptr())))
        }
    }

    fn release(&mut self, held: usize, gone: &[usize]) {
        let Some(&first) = gone.first() else {
            return;
        };
        let slots = self.slot(0);
        let mut filled = first;
        for (i, &at) in gone.iter().enumerate() {
            let next = gone.get(i + 1).copied().unwrap_or(held);
            // SAFETY: the indices are less than `held` and ascend, so the chunks between two of
            // them stay; they move to slots that are free already.
            unsafe {
                let old = *slots.add(at);
                Loans::free(self.owner().loans(), old, || chunk_len(old));
                let stay = next - at - 1;
                if stay > 0 {
                    std::ptr::copy(slots.add(at + 1), slots.add(filled), stay);
                    filled += stay;
                }
            }
        }
    }

    fn permute(&mut self, order: &[usize]) -> Result<()> {
        let mut old = Vec::new();
        old.try_reserve_exact(order.len())?;
        // SAFETY: `order` has one index for each chunk, and each is less than the number of chunks.
        unsafe {
            old.extend((0..order.len()).map(|i| *self.slot(i)));
            for (i, &from) in order.iter().enumerate() {
                self.slot(i).write(old[from]);
            }
        }
        Ok(())
    }

    fn add_layer(&mut self, kind: Layers, name: &[u8], content: Buffer) -> Result<()> {
        let (array, count) = self.layers(kind);
        let layer = new_layer(name, content)?;
        // SAFETY: the core does not add to a full array.
        unsafe { array.add(count).write(layer) };
        self.set_layer_count(kind, count + 1);
        Ok(())
    }

    fn edit_layer(&mut self, at: usize, content: &[u8]) {
        let (array, _) = self.layers(Layers::Fixed);
        // SAFETY: `at` is the index of a metalayer, and `content` has the length of its content.
        unsafe {
            let layer = *array.add(at);
            std::ptr::copy(content.as_ptr(), (*layer).content, content.len());
        }
    }

    fn set_layer(&mut self, at: usize, content: Buffer) {
        let (array, _) = self.layers(Layers::Variable);
        // SAFETY: `at` is the index of a metalayer; contents are blocks of `malloc`. The core's
        // contents are chunks, whose lengths fit in 32 bits.
        unsafe {
            let layer = *array.add(at);
            (*layer).content_len = content.len() as i32;
            let old = std::mem::replace(&mut (*layer).content, content.into_raw());
            libc::free(old.cast());
        }
    }

    fn remove_layer(&mut self, at: usize) {
        let (array, count) = self.layers(Layers::Variable);
        // SAFETY: `at` is less than `count`; the metalayers after it move by one.
        unsafe {
            let slot = array.add(at);
            free_layer(*slot);
            std::ptr::copy(slot.add(1), slot, count - at - 1);
            array.add(count - 1).write(null_mut());
        }
        self.set_layer_count(Layers::Variable, count - 1);
    }

    fn bump_version(&mut self) {
        self.change_tick().fetch_add(1, Ordering::Relaxed);
    }
}
