//! Contexts: parameters and working memory of compression or decompression.

use crate::bridge::origin::{CompressionOrigin, DecompressionOrigin, OwnCopy};
use crate::bridge::parent::CParent;
use crate::bridge::prefilter::{CPostfilter, CPrefilter};
use crate::bridge::tuner::CTuner;
use crate::buffers::{destination, nullable_dest, source, stable_chunk};
use crate::defaults;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::{plugins, tuners};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, SplitMode};
use ferroblosc::filter::Slot;
use ferroblosc::{Error, Result, cancellation, trace_error};
use ferroblosc_capi_common::pointers::StableSource;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use try_lock::{Locked, TryLock};

/// The parameters and working memory of compression or decompression. Only one call at a time may
/// use a context: a concurrent call from another thread returns BLOSC2_ERROR_INVALID_PARAM.
pub struct blosc2_context {
    role: Role,
}

/// Compression or decompression.
///
/// State that callbacks may query during a call is outside of the lock; the engine is inside. Calls
/// never wait for the lock, so using a context twice at once is an error instead of a deadlock.
/// Concurrent calls of a super-chunk use a spare engine.
enum Role {
    Compression {
        origin: Arc<CompressionOrigin>,
        blocksize: AtomicI32,
        engine: TryLock<CompressionEngine>,
        spares: SpareEngines<CParams, Compressor>,
    },
    Decompression {
        origin: Arc<DecompressionOrigin>,
        engine: TryLock<Decompressor>,
        spares: SpareEngines<DParams, Decompressor>,
    },
}

/// The number of slots for spare engines.
const SLOTS: usize = 16;

/// Engines for concurrent calls of one super-chunk, in addition to the context's own. A thread
/// reuses its engine, which caches the block that was read last.
struct SpareEngines<P, T> {
    params: Box<P>,
    /// NULL until a spare engine is needed. The initialisation does not wait for another thread,
    /// since that thread would not exist in a forked child.
    slots: AtomicPtr<[Spare<T>; SLOTS]>,
    /// The thread that last used the context's own engine.
    owner: AtomicUsize,
}

/// A slot with its own cache lines.
#[repr(align(128))]
struct Spare<T>(TryLock<Option<T>>);

/// Returns the number of this thread, from 1.
fn thread_number() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: the numbers only need to be distinct.
        static NUMBER: usize = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    NUMBER.with(|number| *number)
}

impl<P, T> SpareEngines<P, T> {
    fn new(params: P) -> SpareEngines<P, T> {
        SpareEngines {
            params: Box::new(params),
            slots: AtomicPtr::new(null_mut()),
            owner: AtomicUsize::new(0),
        }
    }

    fn slot(&self, thread: usize) -> Option<&TryLock<Option<T>>> {
        // SAFETY: NULL, or the box of `all_slots`, which lives as long as `self`.
        let slots = unsafe { self.slots.load(Ordering::Acquire).as_ref() }?;
        Some(&slots[thread % SLOTS].0)
    }

    /// Returns the slots, which are allocated on first use.
    fn all_slots(&self) -> &[Spare<T>; SLOTS] {
        let (release, acquire) = (Ordering::AcqRel, Ordering::Acquire);
        let mut slots = self.slots.load(acquire);
        if slots.is_null() {
            let made = Box::new(std::array::from_fn(|_| Spare(TryLock::new(None))));
            let made = Box::into_raw(made);
            slots = match (self.slots).compare_exchange(null_mut(), made, release, acquire) {
                Ok(_) => made,
                Err(first) => {
                    // SAFETY: it was just allocated, and no other thread has its address.
                    drop(unsafe { Box::from_raw(made) });
                    first
                }
            };
        }
        // SAFETY: not NULL, and a box that lives as long as `self`.
        unsafe { &*slots }
    }

    /// Whether a call of this thread should use the context's own engine if it is idle. False if
    /// another thread used it last and this thread has a spare engine.
    fn prefers_own(&self) -> bool {
        let thread = thread_number();
        // Relaxed: a hint.
        if self.owner.load(Ordering::Relaxed) == thread {
            return true;
        }
        let has_engine = self
            .slot(thread)
            .is_some_and(|slot| slot.try_lock().is_none_or(|engine| engine.is_some()));
        if !has_engine {
            self.owner.store(thread, Ordering::Relaxed);
        }
        !has_engine
    }

    /// Makes the next call of this thread use the context's own engine.
    fn claim_own(&self) {
        self.owner.store(thread_number(), Ordering::Relaxed);
    }

    /// Runs `work` with the spare engine of this thread, which `make` creates on first use.
    fn work<R>(
        &self,
        make: impl FnOnce(&P) -> Result<T>,
        work: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let slot = &self.all_slots()[thread_number() % SLOTS].0;
        let Some(mut slot) = slot.try_lock() else {
            // Another thread uses this slot.
            return work(&mut make(&self.params)?);
        };
        let engine = match &mut *slot {
            Some(engine) => engine,
            none => none.insert(make(&self.params)?),
        };
        work(engine)
    }
}

impl<P, T> Drop for SpareEngines<P, T> {
    fn drop(&mut self) {
        let slots = *self.slots.get_mut();
        if !slots.is_null() {
            // SAFETY: the box of `all_slots`, dropped once.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}

/// The compressor and the reader of single items of a context.
struct CompressionEngine {
    compressor: Compressor,
    reader: Decompressor,
}

/// Locks the engine, which fails if it is in use. The next call reinitialises the buffers that a
/// panicking call left.
fn engine<T>(engine: &TryLock<T>) -> Result<Locked<'_, T>> {
    engine
        .try_lock()
        .ok_or_else(|| Error::InvalidParam.because("the context is in use"))
}

/// Defers cancellation if the context has a super-chunk, whose lazy chunks are read from files.
fn deferred_for_files(origin: &DecompressionOrigin) -> Option<cancellation::Deferred> {
    (!origin.dparams.schunk.is_null()).then(cancellation::defer)
}

/// Converts C parameters to those of the core, without callbacks and tuner.
///
/// # Safety
/// `cparams.schunk` is NULL or a super-chunk that outlives the result.
pub unsafe fn core_cparams(cparams: &blosc2_cparams) -> CParams {
    plugins::install();
    let slot = |i| Slot {
        id: cparams.filters[i],
        meta: cparams.filters_meta[i],
    };
    let mut params = CParams::default();
    params.compcode = c_int::from(cparams.compcode);
    params.compcode_meta = cparams.compcode_meta;
    params.clevel = c_int::from(cparams.clevel);
    params.use_dict = cparams.use_dict != 0;
    params.typesize = cparams.typesize;
    params.nthreads = cparams.nthreads;
    params.blocksize = cparams.blocksize;
    params.splitmode = SplitMode(cparams.splitmode);
    params.filters = std::array::from_fn(slot);
    params.instrument = cparams.instr_codec;
    params.parent = CParent::from_schunk(cparams.schunk).map(|parent| parent as _);
    params
}

/// Copies the parameters that the environment may have changed to the C struct.
fn store_cparams(core: &CParams, cparams: &mut blosc2_cparams) {
    // An unknown codec is -1 in the core; the C field holds its low 8 bits.
    cparams.compcode = core.compcode as u8;
    cparams.clevel = core.clevel as u8;
    cparams.typesize = core.typesize;
    cparams.nthreads = core.nthreads;
    cparams.blocksize = core.blocksize;
    cparams.splitmode = core.splitmode.0;
    cparams.filters = core.filters.map(|slot| slot.id);
}

impl blosc2_context {
    /// Creates a context for compression.
    ///
    /// # Errors
    /// [`Error::FilterPipeline`], [`Error::CodecSupport`], [`Error::Tuner`] or
    /// [`Error::InvalidParam`] for invalid parameters.
    ///
    /// # Safety
    /// The pointers in `cparams` are valid or NULL and, except `preparams`, outlive the context.
    pub unsafe fn for_compression(mut cparams: blosc2_cparams) -> Result<Box<blosc2_context>> {
        // SAFETY: guaranteed by the caller.
        let (mut core, preparams) =
            unsafe { (core_cparams(&cparams), OwnCopy::of(cparams.preparams)) };
        core.apply_environment()?;
        store_cparams(&core, &mut cparams);
        cparams.preparams = preparams.as_ptr();
        let origin = Arc::new(CompressionOrigin {
            cparams,
            preparams,
            context: AtomicPtr::new(null_mut()),
        });
        core.user_data = Some(Arc::clone(&origin) as _);
        if let Some(function) = cparams.prefilter {
            if cparams.preparams.is_null() {
                return Err(Error::InvalidParam);
            }
            core.prefilter = Some(Arc::new(CPrefilter {
                function,
                origin: Arc::clone(&origin),
            }));
        }
        if cparams.tuner_id > 0 {
            core.tuner = Some(Arc::new(CTuner {
                id: cparams.tuner_id,
                origin: Arc::clone(&origin),
            }));
        }
        let spares = SpareEngines::new(core.clone());
        let engine = CompressionEngine {
            compressor: Compressor::new(core)?,
            reader: Decompressor::new(DParams::default()),
        };
        let role = Role::Compression {
            origin: Arc::clone(&origin),
            blocksize: AtomicI32::new(cparams.blocksize),
            engine: TryLock::new(engine),
            spares,
        };
        let mut context = Box::new(blosc2_context { role });
        // Relaxed, here and below: other threads receive the context from this one, which
        // synchronises.
        origin.context.store(&mut *context, Ordering::Relaxed);
        if cparams.tuner_id > 0 {
            // SAFETY: the context is complete; the tuner's parameters are the user's.
            unsafe { tuners::initialize(cparams.tuner_id, cparams.tuner_params, &mut *context) }?;
        }
        Ok(context)
    }

    /// Creates a context for decompression.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a postfilter without parameters.
    ///
    /// # Safety
    /// The pointers in `dparams` are valid or NULL and, except `postparams`, outlive the context.
    pub unsafe fn for_decompression(mut dparams: blosc2_dparams) -> Result<Box<blosc2_context>> {
        plugins::install();
        let schunk = CParent::from_schunk(dparams.schunk);
        let mut core = DParams::default();
        core.nthreads = dparams.nthreads;
        core.parent = schunk.clone().map(|parent| parent as _);
        core.lazy = schunk.map(|parent| parent as _);
        core.apply_environment();
        dparams.nthreads = core.nthreads;
        // SAFETY: guaranteed by the caller.
        let postparams = unsafe { OwnCopy::of(dparams.postparams) };
        dparams.postparams = postparams.as_ptr();
        let origin = Arc::new(DecompressionOrigin {
            dparams,
            postparams,
            context: AtomicPtr::new(null_mut()),
        });
        core.user_data = Some(Arc::clone(&origin) as _);
        if let Some(function) = dparams.postfilter {
            if dparams.postparams.is_null() {
                return Err(Error::InvalidParam);
            }
            core.postfilter = Some(Arc::new(CPostfilter {
                function,
                origin: Arc::clone(&origin),
            }));
        }
        let spares = SpareEngines::new(core.clone());
        let engine = TryLock::new(Decompressor::new(core));
        let role = Role::Decompression {
            origin: Arc::clone(&origin),
            engine,
            spares,
        };
        let mut context = Box::new(blosc2_context { role });
        origin.context.store(&mut *context, Ordering::Relaxed);
        Ok(context)
    }

    /// Returns the current compression parameters.
    pub(crate) fn cparams(&self) -> blosc2_cparams {
        match &self.role {
            Role::Compression {
                origin, blocksize, ..
            } => blosc2_cparams {
                blocksize: blocksize.load(Ordering::Relaxed),
                ..origin.cparams
            },
            Role::Decompression { origin, .. } => blosc2_cparams {
                nthreads: origin.dparams.nthreads,
                ..defaults::CPARAMS
            },
        }
    }

    /// Returns the current decompression parameters.
    pub(crate) fn dparams(&self) -> blosc2_dparams {
        match &self.role {
            Role::Compression { origin, .. } => blosc2_dparams {
                nthreads: origin.cparams.nthreads,
                typesize: origin.cparams.typesize,
                ..defaults::DPARAMS
            },
            Role::Decompression { origin, .. } => origin.dparams,
        }
    }

    /// Runs `work` with the compressor, then records the block size it used.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context for decompression or in use; the errors of `work`.
    pub fn compress_with<T>(&self, work: impl FnOnce(&mut Compressor) -> Result<T>) -> Result<T> {
        let Role::Compression {
            blocksize,
            engine: cell,
            ..
        } = &self.role
        else {
            return Err(Error::InvalidParam);
        };
        let mut engine = engine(cell)?;
        let result = work(&mut engine.compressor);
        blocksize.store(engine.compressor.blocksize(), Ordering::Relaxed);
        result
    }

    /// Runs `work` with the decompressor.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context for compression or in use; the errors of `work`.
    pub fn decompress_with<T>(
        &self,
        work: impl FnOnce(&mut Decompressor) -> Result<T>,
    ) -> Result<T> {
        match &self.role {
            Role::Compression { .. } => Err(Error::InvalidParam),
            Role::Decompression {
                origin,
                engine: cell,
                ..
            } => {
                let _deferred = deferred_for_files(origin);
                work(&mut *engine(cell)?)
            }
        }
    }

    /// Whether the context calls a prefilter, a postfilter or a tuner of the program.
    pub(crate) fn calls_program(&self) -> bool {
        match &self.role {
            Role::Compression { origin, .. } => {
                origin.cparams.prefilter.is_some() || origin.cparams.tuner_id > 0
            }
            Role::Decompression { origin, .. } => origin.dparams.postfilter.is_some(),
        }
    }

    /// Runs `work` with a compressor, like [`blosc2_context::compress_with`], but allows concurrent
    /// calls with the context.
    ///
    /// # Errors
    /// Those of [`blosc2_context::compress_with`], but a context in use fails only if it has a
    /// prefilter or a tuner, since these receive the number of one chunk.
    pub fn compress_shared(
        &self,
        work: impl FnOnce(&mut Compressor) -> Result<usize>,
    ) -> Result<usize> {
        let Role::Compression {
            blocksize,
            engine: cell,
            spares,
            ..
        } = &self.role
        else {
            return Err(Error::InvalidParam);
        };
        if let Some(mut engine) = cell.try_lock() {
            let result = work(&mut engine.compressor);
            blocksize.store(engine.compressor.blocksize(), Ordering::Relaxed);
            return result;
        }
        if self.calls_program() {
            trace_error!("the context runs a prefilter or a tuner for another call");
            return Err(Error::InvalidParam);
        }
        spares.work(
            |params| Compressor::new(params.clone()),
            |compressor| {
                let result = work(compressor);
                blocksize.store(compressor.blocksize(), Ordering::Relaxed);
                result
            },
        )
    }

    /// Runs `work` with a decompressor, like [`blosc2_context::decompress_with`], but allows
    /// concurrent calls with the context. `is_nested` is set if a callback of the same super-chunk
    /// makes the call.
    ///
    /// # Errors
    /// Those of [`blosc2_context::decompress_with`], but a context in use fails only for nested
    /// calls, which could recurse without end.
    pub fn decompress_shared(
        &self,
        is_nested: bool,
        work: impl FnOnce(&mut Decompressor) -> Result<usize>,
    ) -> Result<usize> {
        let Role::Decompression {
            engine: cell,
            spares,
            ..
        } = &self.role
        else {
            return Err(Error::InvalidParam);
        };
        if (is_nested || spares.prefers_own())
            && let Some(mut engine) = cell.try_lock()
        {
            return work(&mut engine);
        }
        if is_nested {
            trace_error!(
                "a callback of a decompression can't read the super-chunk that is being decompressed"
            );
            return Err(Error::InvalidParam);
        }
        spares.work(|params| Ok(Decompressor::new(params.clone())), work)
    }

    /// Runs `work` with the reader of single items, which contexts for compression have, too.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context in use; the errors of `work`.
    pub fn read_with<T>(&self, work: impl FnOnce(&mut Decompressor) -> Result<T>) -> Result<T> {
        match &self.role {
            Role::Compression { engine: cell, .. } => work(&mut engine(cell)?.reader),
            Role::Decompression { .. } => self.decompress_with(work),
        }
    }
}

/// Creates a context for compression.
///
/// The parameters are copied, including the struct at `preparams`. Environment variables override
/// them: BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_DELTA,
/// BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE.
///
/// - `cparams`: the compression parameters. An unknown filter or tuner is an error here; most other
///   invalid values make the compression fail.
///
/// Returns the context, which the caller frees with blosc2_free_ctx(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context {
    boundary!(blosc2_create_cctx, {
        // SAFETY: the caller passes valid parameters.
        Ok(Box::into_raw(unsafe {
            blosc2_context::for_compression(cparams)
        }?))
    })
}

/// Creates a context for decompression.
///
/// The parameters are copied, including the struct at `postparams`. The environment variable
/// BLOSC_NTHREADS overrides them.
///
/// - `dparams`: the decompression parameters.
///
/// Returns the context, which the caller frees with blosc2_free_ctx(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context {
    boundary!(blosc2_create_dctx, {
        // SAFETY: the caller passes valid parameters.
        Ok(Box::into_raw(unsafe {
            blosc2_context::for_decompression(dparams)
        }?))
    })
}

/// Frees a context and everything it owns.
///
/// - `context`: the context, or NULL to do nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_ctx(context: *mut blosc2_context) {
    boundary!(blosc2_free_ctx, always, {
        if !context.is_null() {
            // SAFETY: a function of this file made the context, and the caller passes it once.
            drop(unsafe { Box::from_raw(context) });
        }
        Ok(())
    })
}

/// Copies the parameters of a context for compression. The block size is that of the last
/// compression.
///
/// - `ctx`: the context.
/// - `cparams`: the destination. Its `tuner_params` and `filter_params` are not changed.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_cparams(
    ctx: *mut blosc2_context,
    cparams: *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_ctx_get_cparams, in_memory, {
        // SAFETY: the caller passes a context and a struct, or NULL; all-zero bytes are a valid
        // struct.
        unsafe {
            let Ok(context) = pointers::reference(ctx) else {
                pointers::write_if_given(cparams, std::mem::zeroed());
                return Err(Error::InvalidParam);
            };
            let made = context.cparams();
            let out = pointers::reference_mut(cparams)?;
            *out = blosc2_cparams {
                tuner_params: out.tuner_params,
                filter_params: out.filter_params,
                ..made
            };
        }
        Ok(0)
    })
}

/// Copies the parameters of a context for decompression.
///
/// - `ctx`: the context.
/// - `dparams`: the destination.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_dparams(
    ctx: *mut blosc2_context,
    dparams: *mut blosc2_dparams,
) -> c_int {
    boundary!(blosc2_ctx_get_dparams, in_memory, {
        // SAFETY: the caller passes a context and a struct, or NULL; all-zero bytes are a valid
        // struct.
        unsafe {
            let Ok(context) = pointers::reference(ctx) else {
                pointers::write_if_given(dparams, std::mem::zeroed());
                return Err(Error::InvalidParam);
            };
            *pointers::reference_mut(dparams)? = context.dparams();
        }
        Ok(0)
    })
}

/// Sets blocks to skip in the next decompression with a context. Their bytes in the destination are
/// not changed. Only the next decompression uses the mask.
///
/// - `ctx`: the context.
/// - `maskout`: one entry per block, true to skip it; copied.
/// - `nblocks`: the number of blocks of the chunk.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_maskout(
    ctx: *mut blosc2_context,
    maskout: *mut bool,
    nblocks: c_int,
) -> c_int {
    boundary!(blosc2_set_maskout, in_memory, {
        // SAFETY: the caller passes a context or NULL.
        let context = unsafe { pointers::reference(ctx) }?;
        if nblocks < 0 {
            return Err(Error::MemoryAlloc);
        }
        // SAFETY: the caller passes `nblocks` marks of one byte each, or NULL.
        let marks = unsafe { pointers::bytes(maskout.cast(), nblocks) }?;
        let mut mask = Vec::new();
        mask.try_reserve_exact(marks.len())?;
        mask.extend(marks.iter().map(|&mark| mark != 0));
        if let Role::Decompression { spares, .. } = &context.role {
            spares.claim_own();
        }
        context.read_with(|decompressor| {
            decompressor.set_maskout(mask);
            Ok(0)
        })
    })
}

/// Compresses a buffer into a chunk.
///
/// - `context`: the context.
/// - `src`: the data; may be NULL if the context has a prefilter.
/// - `srcsize`: the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes; `srcsize` + BLOSC2_MAX_OVERHEAD is always
///   sufficient.
///
/// Returns the size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
/// code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_compress_ctx, in_memory, {
        // SAFETY: the caller passes a context, a source and a destination of these sizes, or NULL.
        let (context, apart) = unsafe {
            let apart = StableSource::from((src, srcsize), (dest, destsize))?;
            (pointers::reference(context)?, apart)
        };
        // SAFETY: as above.
        let (source, dest) = unsafe {
            let dest = destination(dest, destsize)?;
            (source(apart.as_ptr().cast(), srcsize, dest.len())?, dest)
        };
        let size = context.compress_with(|compressor| compressor.compress_source(source, dest))?;
        Ok(size as c_int)
    })
}

/// Decompresses a chunk.
///
/// - `context`: the context.
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `dest`: the destination, owned by the caller; may be NULL if the chunk has no data.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_decompress_ctx, in_memory, {
        // SAFETY: the caller passes a context, a chunk and a destination of these sizes, or NULL.
        let (context, chunk, dest) = unsafe {
            let context = pointers::reference(context)?;
            let chunk = stable_chunk((src, srcsize), (dest, destsize))?;
            (context, chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size = context
            .decompress_with(|decompressor| dest.fill(|dest| decompressor.decompress(src, dest)))?;
        Ok(size as c_int)
    })
}

/// Decompresses a range of items of a chunk.
///
/// - `context`: a context for compression or decompression.
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `start`: the index of the first item.
/// - `nitems`: the number of items.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the number of bytes written, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_getitem_ctx, in_memory, {
        // SAFETY: the caller passes a context, a chunk and a destination of these sizes, or NULL.
        let (context, chunk, dest) = unsafe {
            let context = pointers::reference(context)?;
            let chunk = stable_chunk((src, srcsize), (dest, destsize))?;
            (context, chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size = context.read_with(|decompressor| {
            dest.fill(|dest| decompressor.getitem(src, start, nitems, dest))
        })?;
        Ok(size as c_int)
    })
}

/// Decompresses a range of bytes of a chunk.
///
/// - `context`: a context for compression or decompression.
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `start`: the offset of the first byte, a multiple of the typesize.
/// - `nbytes`: the number of bytes, a multiple of the typesize.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the number of bytes written, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_bytes_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    start: i32,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_getitem_bytes_ctx, in_memory, {
        // SAFETY: the caller passes a context, a chunk and a destination of these sizes, or NULL.
        let (context, chunk, dest) = unsafe {
            let context = pointers::reference(context)?;
            let chunk = stable_chunk((src, srcsize), (dest, destsize))?;
            (context, chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size = context.read_with(|decompressor| {
            dest.fill(|dest| decompressor.getitem_bytes(src, start, nbytes, dest))
        })?;
        Ok(size as c_int)
    })
}
