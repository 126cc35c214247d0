//! Contexts: parameters and working memory of compressions or decompressions.

use crate::bridge::origin::{CompressionOrigin, DecompressionOrigin, OwnCopy};
use crate::bridge::parent::CParent;
use crate::bridge::prefilter::{CPostfilter, CPrefilter};
use crate::bridge::tuner::CTuner;
use crate::buffers::{chunk_apart, destination, nullable_dest, source};
use crate::defaults;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::{plugins, tuners};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, SplitMode};
use ferroblosc::filter::Slot;
use ferroblosc::{Error, Result, cancellation, trace_error};
use ferroblosc_capi_common::pointers::Apart;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use try_lock::{Locked, TryLock};

/// Parameters and working memory of compressions or decompressions, one at a time: a second call in another
/// thread gives BLOSC2_ERROR_INVALID_PARAM.
pub struct blosc2_context {
    role: Role,
}

/// What a context is for.
///
/// What callbacks may ask for while the context is at work stands beside the lock; what is at work
/// is behind it. A context serves one call at a time: the lock is only ever tried, and turns the
/// mistake of using a context twice at once into an error. The calls of a super-chunk take a spare
/// engine then.
enum Role {
    Compression {
        origin: Arc<CompressionOrigin>,
        blocksize: AtomicI32,
        engine: TryLock<CompressionEngine>,
        spares: Spares<CParams, Compressor>,
    },
    Decompression {
        origin: Arc<DecompressionOrigin>,
        engine: TryLock<Decompressor>,
        spares: Spares<DParams, Decompressor>,
    },
}

/// The number of slots for spare engines.
const SLOTS: usize = 16;

/// Engines for calls of one super-chunk in several threads, beside the context's own. A thread gets the same
/// engine again, which knows the block that was last read.
struct Spares<P, T> {
    params: Box<P>,
    /// NULL until a spare engine is needed. No thread waits for another that makes them, which a fork may leave
    /// behind.
    slots: AtomicPtr<[Spare<T>; SLOTS]>,
    /// The thread that last used the context's own engine.
    owner: AtomicUsize,
}

/// A slot of its own cache lines.
#[repr(align(128))]
struct Spare<T>(TryLock<Option<T>>);

/// The number of this thread, from 1 on.
fn thread_number() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: the numbers only have to differ.
        static NUMBER: usize = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    }
    NUMBER.with(|number| *number)
}

impl<P, T> Spares<P, T> {
    fn new(params: P) -> Spares<P, T> {
        Spares {
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

    /// All slots, which are made unless they are there.
    fn all_slots(&self) -> &[Spare<T>; SLOTS] {
        let (release, acquire) = (Ordering::AcqRel, Ordering::Acquire);
        let mut slots = self.slots.load(acquire);
        if slots.is_null() {
            let made = Box::new(std::array::from_fn(|_| Spare(TryLock::new(None))));
            let made = Box::into_raw(made);
            slots = match (self.slots).compare_exchange(null_mut(), made, release, acquire) {
                Ok(_) => made,
                Err(first) => {
                    // SAFETY: it was just made, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(made) });
                    first
                }
            };
        }
        // SAFETY: not NULL, and a box that lives as long as `self`.
        unsafe { &*slots }
    }

    /// Whether a call of this thread should take the context's own engine, if it is idle: unless another thread
    /// used it last and this one has an engine.
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

    /// Notes that the next call of this thread needs the context's own engine.
    fn claim_own(&self) {
        self.owner.store(thread_number(), Ordering::Relaxed);
    }

    /// Lets the spare engine of this thread work, which is made unless it is there.
    fn work<R>(
        &self,
        make: impl FnOnce(&P) -> Result<T>,
        work: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        let slot = &self.all_slots()[thread_number() % SLOTS].0;
        let Some(mut slot) = slot.try_lock() else {
            // Another thread of this slot is at work.
            return work(&mut make(&self.params)?);
        };
        let engine = match &mut *slot {
            Some(engine) => engine,
            none => none.insert(make(&self.params)?),
        };
        work(engine)
    }
}

impl<P, T> Drop for Spares<P, T> {
    fn drop(&mut self) {
        let slots = *self.slots.get_mut();
        if !slots.is_null() {
            // SAFETY: the box of `all_slots`, dropped once.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}

/// What compresses, and what reads single items for the same context.
struct CompressionEngine {
    compressor: Compressor,
    reader: Decompressor,
}

/// The engine, unless it is at work. A call that panicked leaves buffers that the next one sets up anew.
fn engine<T>(engine: &TryLock<T>) -> Result<Locked<'_, T>> {
    engine.try_lock().ok_or(Error::InvalidParam)
}

/// Defers cancellation if the context has a super-chunk, whose lazy chunks are read from files.
fn deferred_for_files(origin: &DecompressionOrigin) -> Option<cancellation::Deferred> {
    (!origin.dparams.schunk.is_null()).then(cancellation::defer)
}

/// The parameters of the core, of those of C but for callbacks and tuner.
///
/// # Safety
/// `cparams.schunk` is NULL or a super-chunk that outlives the result.
pub unsafe fn core_cparams(cparams: &blosc2_cparams) -> CParams {
    plugins::install();
    let slot = |i| Slot {
        id: cparams.filters[i],
        meta: cparams.filters_meta[i],
    };
    CParams {
        compcode: c_int::from(cparams.compcode),
        compcode_meta: cparams.compcode_meta,
        clevel: c_int::from(cparams.clevel),
        use_dict: cparams.use_dict != 0,
        typesize: cparams.typesize,
        nthreads: cparams.nthreads,
        blocksize: cparams.blocksize,
        splitmode: SplitMode(cparams.splitmode),
        filters: std::array::from_fn(slot),
        instrument: cparams.instr_codec,
        parent: CParent::behind(cparams.schunk).map(|parent| parent as _),
        ..CParams::default()
    }
}

/// Writes the parameters of the core that the environment may have changed back to those of C.
fn store_cparams(core: &CParams, cparams: &mut blosc2_cparams) {
    // A codec nobody has is -1 in the core; the byte of C holds its lowest bits.
    cparams.compcode = core.compcode as u8;
    cparams.clevel = core.clevel as u8;
    cparams.typesize = core.typesize;
    cparams.nthreads = core.nthreads;
    cparams.blocksize = core.blocksize;
    cparams.splitmode = core.splitmode.0;
    cparams.filters = core.filters.map(|slot| slot.id);
}

impl blosc2_context {
    /// A context that compresses.
    ///
    /// # Errors
    /// [`Error::FilterPipeline`], [`Error::CodecSupport`], [`Error::Tuner`] or
    /// [`Error::InvalidParam`] for parameters that no context can have.
    ///
    /// # Safety
    /// The pointers in `cparams` are valid or NULL, and but for `preparams` outlive the context.
    pub unsafe fn for_compression(mut cparams: blosc2_cparams) -> Result<Box<blosc2_context>> {
        // SAFETY: promised by the caller.
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
        let spares = Spares::new(core.clone());
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
        // Relaxed, here and below: whoever uses the context got it from this thread.
        origin.context.store(&mut *context, Ordering::Relaxed);
        if cparams.tuner_id > 0 {
            // SAFETY: the context is complete; the tuner's parameters are the user's.
            unsafe { tuners::initialise(cparams.tuner_id, cparams.tuner_params, &mut *context) }?;
        }
        Ok(context)
    }

    /// A context that decompresses.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a postfilter without parameters.
    ///
    /// # Safety
    /// The pointers in `dparams` are valid or NULL, and but for `postparams` outlive the context.
    pub unsafe fn for_decompression(mut dparams: blosc2_dparams) -> Result<Box<blosc2_context>> {
        plugins::install();
        let schunk = CParent::behind(dparams.schunk);
        let mut core = DParams {
            nthreads: dparams.nthreads,
            parent: schunk.clone().map(|parent| parent as _),
            lazy: schunk.map(|parent| parent as _),
            ..DParams::default()
        };
        core.apply_environment();
        dparams.nthreads = core.nthreads;
        // SAFETY: promised by the caller.
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
        let spares = Spares::new(core.clone());
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

    /// The parameters of now.
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

    /// The parameters of now.
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

    /// Lets the compressor work, and notes the block size it took.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context that decompresses or is at work; those of `work`.
    pub fn compress_with<T>(&self, work: impl FnOnce(&mut Compressor) -> Result<T>) -> Result<T> {
        let Role::Compression {
            blocksize,
            engine: behind,
            ..
        } = &self.role
        else {
            return Err(Error::InvalidParam);
        };
        let mut engine = engine(behind)?;
        let result = work(&mut engine.compressor);
        blocksize.store(engine.compressor.blocksize(), Ordering::Relaxed);
        result
    }

    /// Lets the decompressor work.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context that compresses or is at work; those of `work`.
    pub fn decompress_with<T>(
        &self,
        work: impl FnOnce(&mut Decompressor) -> Result<T>,
    ) -> Result<T> {
        match &self.role {
            Role::Compression { .. } => Err(Error::InvalidParam),
            Role::Decompression {
                origin,
                engine: behind,
                ..
            } => {
                let _deferred = deferred_for_files(origin);
                work(&mut *engine(behind)?)
            }
        }
    }

    /// Whether it runs a prefilter, a postfilter or a tuner of the program.
    pub(crate) fn calls_program(&self) -> bool {
        match &self.role {
            Role::Compression { origin, .. } => {
                origin.cparams.prefilter.is_some() || origin.cparams.tuner_id > 0
            }
            Role::Decompression { origin, .. } => origin.dparams.postfilter.is_some(),
        }
    }

    /// As [`blosc2_context::compress_with`], beside other calls that use the context.
    ///
    /// # Errors
    /// The same, but for a context at work only when it runs a prefilter or a tuner: those are told the
    /// number of one chunk.
    pub fn compress_beside(
        &self,
        work: impl FnOnce(&mut Compressor) -> Result<usize>,
    ) -> Result<usize> {
        let Role::Compression {
            blocksize,
            engine: behind,
            spares,
            ..
        } = &self.role
        else {
            return Err(Error::InvalidParam);
        };
        if let Some(mut engine) = behind.try_lock() {
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

    /// As [`blosc2_context::decompress_with`], beside other calls that use the context. `is_nested` says that
    /// a callback of the same super-chunk makes the call.
    ///
    /// # Errors
    /// The same, but for a context at work only when the call is nested: it could go on without end.
    pub fn decompress_beside(
        &self,
        is_nested: bool,
        work: impl FnOnce(&mut Decompressor) -> Result<usize>,
    ) -> Result<usize> {
        let Role::Decompression {
            engine: behind,
            spares,
            ..
        } = &self.role
        else {
            return Err(Error::InvalidParam);
        };
        if (is_nested || spares.prefers_own())
            && let Some(mut engine) = behind.try_lock()
        {
            return work(&mut engine);
        }
        if is_nested {
            trace_error!("a callback reads the super-chunk that is decompressed with its help");
            return Err(Error::InvalidParam);
        }
        spares.work(|params| Ok(Decompressor::new(params.clone())), work)
    }

    /// Lets whatever reads single items work, which contexts of both kinds have.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context at work; those of `work`.
    pub fn read_with<T>(&self, work: impl FnOnce(&mut Decompressor) -> Result<T>) -> Result<T> {
        match &self.role {
            Role::Compression { engine: behind, .. } => work(&mut engine(behind)?.reader),
            Role::Decompression {
                origin,
                engine: behind,
                ..
            } => {
                let _deferred = deferred_for_files(origin);
                work(&mut *engine(behind)?)
            }
        }
    }
}

/// Creates a context that compresses, or gives NULL for parameters no context can have: an unknown
/// filter or tuner. Everything else is judged when something is compressed.
///
/// The parameters are copied, and so is what preparams points to. Environment variables
/// (BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_DELTA, BLOSC_BLOCKSIZE,
/// BLOSC_NTHREADS, BLOSC_SPLITMODE) take precedence. Free it with blosc2_free_ctx().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context {
    boundary!(blosc2_create_cctx, {
        // SAFETY: the caller gives valid parameters.
        Ok(Box::into_raw(unsafe {
            blosc2_context::for_compression(cparams)
        }?))
    })
}

/// Creates a context that decompresses, or gives NULL.
///
/// The parameters are copied, and so is what postparams points to. The environment variable
/// BLOSC_NTHREADS takes precedence. Free it with blosc2_free_ctx().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context {
    boundary!(blosc2_create_dctx, {
        // SAFETY: the caller gives valid parameters.
        Ok(Box::into_raw(unsafe {
            blosc2_context::for_decompression(dparams)
        }?))
    })
}

/// Frees a context and all it owns; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_ctx(context: *mut blosc2_context) {
    boundary!(blosc2_free_ctx, always, {
        if !context.is_null() {
            // SAFETY: the caller gives a context that a function of this file made, once.
            drop(unsafe { Box::from_raw(context) });
        }
        Ok(())
    })
}

/// Stores the parameters of a context that compresses in *cparams, but for tuner_params and
/// filter_params. The block size is the one of the last compression. Gives 0 or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_cparams(
    ctx: *mut blosc2_context,
    cparams: *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_ctx_get_cparams, in_memory, {
        // SAFETY: the caller gives a context and a struct, or NULL. All-zero bytes are a valid value of it.
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

/// Stores the parameters of a context that decompresses in *dparams. Gives 0 or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_dparams(
    ctx: *mut blosc2_context,
    dparams: *mut blosc2_dparams,
) -> c_int {
    boundary!(blosc2_ctx_get_dparams, in_memory, {
        // SAFETY: the caller gives a context and a struct, or NULL. All-zero bytes are a valid value of it.
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

/// Leaves out the blocks marked in maskout when the context decompresses the next chunk, and only
/// then: their bytes stay as they are. nblocks must be the number of blocks of that chunk. The
/// marks are copied. Gives 0 or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_maskout(
    ctx: *mut blosc2_context,
    maskout: *mut bool,
    nblocks: c_int,
) -> c_int {
    boundary!(blosc2_set_maskout, in_memory, {
        // SAFETY: the caller gives a context, or NULL.
        let context = unsafe { pointers::reference(ctx) }?;
        if nblocks < 0 {
            return Err(Error::MemoryAlloc);
        }
        // SAFETY: the caller gives that many marks, each a byte.
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

/// Compresses srcsize bytes at src into a chunk at dest.
///
/// Gives the size of the chunk, 0 when it is larger than destsize, or an error code. A destination
/// that is BLOSC2_MAX_OVERHEAD bytes larger than the source is always large enough. src may be NULL
/// when the context has a prefilter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_compress_ctx, in_memory, {
        // SAFETY: the caller gives a context, a source and a destination of these sizes, or NULL.
        let (context, apart) = unsafe {
            let apart = Apart::from((src, srcsize), (dest, destsize))?;
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

/// Decompresses the chunk at src, of at most srcsize bytes, to dest.
///
/// Gives the bytes the chunk holds, or an error code. dest may be NULL when it holds none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_decompress_ctx, in_memory, {
        // SAFETY: the caller gives a context, a chunk and a destination of these sizes, or NULL.
        let (context, chunk, dest) = unsafe {
            let context = pointers::reference(context)?;
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (context, chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size = context
            .decompress_with(|decompressor| dest.fill(|dest| decompressor.decompress(src, dest)))?;
        Ok(size as c_int)
    })
}

/// Decompresses nitems items of the chunk at src, from item start on, to dest.
///
/// Gives the bytes written, or an error code. Contexts of both kinds can be used.
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
        // SAFETY: the caller gives a context, a chunk and a destination of these sizes, or NULL.
        let (context, chunk, dest) = unsafe {
            let context = pointers::reference(context)?;
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (context, chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size = context.read_with(|decompressor| {
            dest.fill(|dest| decompressor.getitem(src, start, nitems, dest))
        })?;
        Ok(size as c_int)
    })
}

/// Decompresses nbytes bytes of the chunk at src, from byte start on, to dest. Both must be
/// multiples of the typesize of the chunk.
///
/// Gives the bytes written, or an error code. Contexts of both kinds can be used.
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
        // SAFETY: the caller gives a context, a chunk and a destination of these sizes, or NULL.
        let (context, chunk, dest) = unsafe {
            let context = pointers::reference(context)?;
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (context, chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size = context.read_with(|decompressor| {
            dest.fill(|dest| decompressor.getitem_bytes(src, start, nbytes, dest))
        })?;
        Ok(size as c_int)
    })
}
