//! Contexts: the parameters and the engine of compression or decompression.

use super::engines::SpareEngines;
use super::origin::{CompressionOrigin, DecompressionOrigin, OwnCopy};
use super::params::{core_cparams, store_cparams};
use super::parent::CParent;
use super::plugins;
use super::prefilter::{CPostfilter, CPrefilter};
use super::tuner::{self, CTuner};
use crate::defaults;
use crate::types::context::blosc2_context;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::{Error, Result, cancellation, trace_error};
use ferroblosc_capi_common::pointers;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use try_lock::{Locked, TryLock};

/// The contents of a [`blosc2_context`], at the same address.
///
/// State that callbacks may query during a call is outside of the lock; the engine is inside. Calls
/// never wait for the lock, so using a context twice at once is an error instead of a deadlock.
/// Concurrent calls of a super-chunk use a spare engine.
pub enum Context {
    /// A context for compression.
    Compression {
        /// The parameters that the context was created with.
        origin: Arc<CompressionOrigin>,
        /// The block size of the last compression in bytes.
        blocksize: AtomicI32,
        /// The context's own engine.
        engine: TryLock<CompressionEngine>,
        /// Engines for concurrent calls.
        spares: SpareEngines<CParams, Compressor>,
    },
    /// A context for decompression.
    Decompression {
        /// The parameters that the context was created with.
        origin: Arc<DecompressionOrigin>,
        /// The context's own engine.
        engine: TryLock<Decompressor>,
        /// Engines for concurrent calls.
        spares: SpareEngines<DParams, Decompressor>,
    },
}

/// The compressor and the reader of single items of a context.
pub struct CompressionEngine {
    compressor: Compressor,
    reader: Decompressor,
}

/// Locks the engine, which fails if it is in use. The next call reinitialises the buffers that a
/// panicking call left.
fn engine<T>(engine: &TryLock<T>) -> Result<Locked<'_, T>> {
    engine.try_lock().ok_or_else(|| Error::InvalidParam.because("the context is in use"))
}

impl Context {
    /// Returns the contents of a context.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for NULL.
    ///
    /// # Safety
    /// `context` is NULL or a context that outlives the result.
    pub unsafe fn of<'a>(context: *const blosc2_context) -> Result<&'a Context> {
        // SAFETY: guaranteed by the caller; all contexts are made by `into_raw`.
        unsafe { pointers::reference(context.cast()) }
    }

    fn into_raw(self) -> *mut blosc2_context {
        Box::into_raw(Box::new(self)).cast()
    }

    /// Frees a context; NULL is allowed.
    ///
    /// # Safety
    /// `context` is NULL or a context that is not used again.
    pub unsafe fn free(context: *mut blosc2_context) {
        if !context.is_null() {
            // SAFETY: a context of `into_raw`, which the caller frees once.
            drop(unsafe { Box::from_raw(context.cast::<Context>()) });
        }
    }

    /// Creates a context for compression, which the caller frees with [`Context::free`].
    ///
    /// # Errors
    /// [`Error::FilterPipeline`], [`Error::CodecSupport`], [`Error::Tuner`] or
    /// [`Error::InvalidParam`] for invalid parameters.
    ///
    /// # Safety
    /// The pointers in `cparams` are valid or NULL and, except `preparams`, outlive the context.
    pub unsafe fn for_compression(mut cparams: blosc2_cparams) -> Result<*mut blosc2_context> {
        // SAFETY: guaranteed by the caller.
        let (mut core, preparams) =
            unsafe { (core_cparams(&cparams), OwnCopy::of(cparams.preparams)) };
        core.apply_environment()?;
        store_cparams(&core, &mut cparams);
        cparams.preparams = preparams.as_ptr();
        let origin = Arc::new(CompressionOrigin::new(cparams, preparams));
        core.user_data = Some(Arc::clone(&origin) as _);
        if let Some(function) = cparams.prefilter {
            if cparams.preparams.is_null() {
                return Err(Error::InvalidParam);
            }
            core.prefilter = Some(Arc::new(CPrefilter { function, origin: Arc::clone(&origin) }));
        }
        if cparams.tuner_id > 0 {
            core.tuner =
                Some(Arc::new(CTuner { id: cparams.tuner_id, origin: Arc::clone(&origin) }));
        }
        let spares = SpareEngines::new(core.clone());
        let engine = CompressionEngine {
            compressor: Compressor::new(core)?,
            reader: Decompressor::new(DParams::default()),
        };
        let context = Context::Compression {
            origin: Arc::clone(&origin),
            blocksize: AtomicI32::new(cparams.blocksize),
            engine: TryLock::new(engine),
            spares,
        }
        .into_raw();
        origin.set_context(context);
        if cparams.tuner_id > 0 {
            // SAFETY: the context is complete and only this call has its address; the tuner's
            // parameters are the user's.
            unsafe {
                tuner::initialize(cparams.tuner_id, cparams.tuner_params, context, cparams.schunk)
                    .inspect_err(|_| Context::free(context))?;
            }
        }
        Ok(context)
    }

    /// Creates a context for decompression, which the caller frees with [`Context::free`].
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a postfilter without parameters.
    ///
    /// # Safety
    /// The pointers in `dparams` are valid or NULL and, except `postparams`, outlive the context.
    pub unsafe fn for_decompression(mut dparams: blosc2_dparams) -> Result<*mut blosc2_context> {
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
        let origin = Arc::new(DecompressionOrigin::new(dparams, postparams));
        core.user_data = Some(Arc::clone(&origin) as _);
        if let Some(function) = dparams.postfilter {
            if dparams.postparams.is_null() {
                return Err(Error::InvalidParam);
            }
            core.postfilter = Some(Arc::new(CPostfilter { function, origin: Arc::clone(&origin) }));
        }
        let spares = SpareEngines::new(core.clone());
        let engine = TryLock::new(Decompressor::new(core));
        let context =
            Context::Decompression { origin: Arc::clone(&origin), engine, spares }.into_raw();
        origin.set_context(context);
        Ok(context)
    }

    /// Returns the current compression parameters.
    pub fn cparams(&self) -> blosc2_cparams {
        match self {
            Context::Compression { origin, blocksize, .. } => {
                blosc2_cparams { blocksize: blocksize.load(Ordering::Relaxed), ..origin.params }
            }
            Context::Decompression { origin, .. } => {
                blosc2_cparams { nthreads: origin.params.nthreads, ..defaults::CPARAMS }
            }
        }
    }

    /// Returns the current decompression parameters.
    pub fn dparams(&self) -> blosc2_dparams {
        match self {
            Context::Compression { origin, .. } => blosc2_dparams {
                nthreads: origin.params.nthreads,
                typesize: origin.params.typesize,
                ..defaults::DPARAMS
            },
            Context::Decompression { origin, .. } => origin.params,
        }
    }

    /// Runs `work` with the compressor, then records the block size it used.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context for decompression or in use; the errors of `work`.
    pub fn compress_with<T>(&self, work: impl FnOnce(&mut Compressor) -> Result<T>) -> Result<T> {
        let Context::Compression { blocksize, engine: cell, .. } = self else {
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
        let Context::Decompression { origin, engine: cell, .. } = self else {
            return Err(Error::InvalidParam);
        };
        // The lazy chunks of a super-chunk are read from files.
        let _deferred = (!origin.params.schunk.is_null()).then(cancellation::defer);
        work(&mut *engine(cell)?)
    }

    /// Whether the context calls a prefilter, a postfilter or a tuner of the program.
    pub fn calls_program(&self) -> bool {
        match self {
            Context::Compression { origin, .. } => {
                origin.params.prefilter.is_some() || origin.params.tuner_id > 0
            }
            Context::Decompression { origin, .. } => origin.params.postfilter.is_some(),
        }
    }

    /// Runs `work` with a compressor, like [`Context::compress_with`], but allows concurrent calls
    /// with the context.
    ///
    /// # Errors
    /// Returns the errors of [`Context::compress_with`], but a context in use fails only if it has
    /// a prefilter or a tuner, since these receive the number of one chunk.
    pub fn compress_shared(
        &self,
        work: impl FnOnce(&mut Compressor) -> Result<usize>,
    ) -> Result<usize> {
        let Context::Compression { blocksize, engine: cell, spares, .. } = self else {
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

    /// Runs `work` with a decompressor, like [`Context::decompress_with`], but allows concurrent
    /// calls with the context. `is_nested` is set if a callback of the same super-chunk makes the
    /// call.
    ///
    /// # Errors
    /// Returns the errors of [`Context::decompress_with`], but a context in use fails only for
    /// nested calls, which could recurse without end.
    pub fn decompress_shared(
        &self,
        is_nested: bool,
        work: impl FnOnce(&mut Decompressor) -> Result<usize>,
    ) -> Result<usize> {
        let Context::Decompression { engine: cell, spares, .. } = self else {
            return Err(Error::InvalidParam);
        };
        if (is_nested || spares.prefers_own())
            && let Some(mut engine) = cell.try_lock()
        {
            return work(&mut engine);
        }
        if is_nested {
            trace_error!(
                "a callback of a decompression cannot read the super-chunk that is being decompressed"
            );
            return Err(Error::InvalidParam);
        }
        spares.work(|params| Ok(Decompressor::new(params.clone())), work)
    }

    /// Sets the blocks to skip in the next decompression.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context in use.
    pub fn set_maskout(&self, mask: Vec<bool>) -> Result<()> {
        if let Context::Decompression { spares, .. } = self {
            spares.claim_own();
        }
        self.read_with(|decompressor| {
            decompressor.set_maskout(mask);
            Ok(())
        })
    }

    /// Runs `work` with the reader of single items, which contexts for compression have, too.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a context in use; the errors of `work`.
    pub fn read_with<T>(&self, work: impl FnOnce(&mut Decompressor) -> Result<T>) -> Result<T> {
        match self {
            Context::Compression { engine: cell, .. } => work(&mut engine(cell)?.reader),
            Context::Decompression { .. } => self.decompress_with(work),
        }
    }
}
