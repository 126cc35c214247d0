//! Process-wide settings.
//!
//! They are never reset, and access to them never blocks: each setting is an independent atomic
//! number, so all threads, and child processes forked at any time, see a consistent state.

use std::sync::atomic::{AtomicI32, AtomicU8, Ordering::Relaxed};

use super::error::{Error, Result};
use super::{MAX_BLOCKSIZE, environment, names};
use crate::chunk::SplitMode;
use crate::codec::id;
use crate::environment::Variables;

/// The codec number after an unknown codec was set.
const NO_CODEC: u8 = u8::MAX;

/// The settings of a process.
pub struct Settings {
    compressor: AtomicU8,
    nthreads: AtomicI32,
    blocksize: AtomicI32,
    splitmode: AtomicI32,
}

/// The parameters that the caller passes with each compression.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The compression level, 0 (no compression) to 9 (best ratio).
    pub clevel: i32,
    /// The filter: 0 for none, 1 for byte shuffle, 2 for bit shuffle.
    pub shuffle: i32,
    /// The item size in bytes.
    pub typesize: usize,
}

/// The parameters of a compression.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The caller's parameters, with overrides from the environment.
    pub call: Call,
    /// The codec, or `None` if unknown.
    pub compressor: Option<u8>,
    /// The forced block size in bytes, or 0 for an automatic one.
    pub blocksize: i32,
    /// The split mode.
    pub splitmode: SplitMode,
    /// The number of threads; 1 is the calling thread alone.
    pub nthreads: i32,
}

/// Converts a forced block size, limited to the maximum.
pub fn forced_blocksize(blocksize: usize) -> i32 {
    i32::try_from(blocksize).map_or(MAX_BLOCKSIZE, |size| size.min(MAX_BLOCKSIZE))
}

// `Relaxed` suffices, as each setting is independent and guards no other memory.
impl Settings {
    /// Returns the initial settings of a process: BloscLZ, one thread, automatic block size.
    pub const fn new() -> Settings {
        Settings {
            compressor: AtomicU8::new(id::BLOSCLZ),
            nthreads: AtomicI32::new(1),
            blocksize: AtomicI32::new(0),
            splitmode: AtomicI32::new(SplitMode::FORWARD_COMPAT.0),
        }
    }

    /// Returns the codec, or `None` after an unknown one was set.
    pub fn compressor(&self) -> Option<u8> {
        Some(self.compressor.load(Relaxed)).filter(|&code| code != NO_CODEC)
    }

    /// Sets the codec by name; returns its number.
    ///
    /// # Errors
    /// [`Error::Failure`] for an unknown codec: compression then fails until another one is set.
    pub fn set_compressor(&self, name: &[u8]) -> Result<u8> {
        let code = names::compname_to_compcode(name);
        self.compressor.store(code.unwrap_or(NO_CODEC), Relaxed);
        code.ok_or(Error::Failure)
    }

    /// Returns the number of threads, which may be invalid.
    pub fn nthreads(&self) -> i32 {
        self.nthreads.load(Relaxed)
    }

    /// Sets the number of threads; returns the previous one. An invalid number fails only calls
    /// that need threads.
    pub fn set_nthreads(&self, nthreads: i32) -> i32 {
        self.nthreads.swap(nthreads, Relaxed)
    }

    /// Returns the forced block size in bytes, or 0.
    pub fn blocksize(&self) -> i32 {
        self.blocksize.load(Relaxed)
    }

    /// Forces a block size; 0 selects it automatically.
    pub fn set_blocksize(&self, blocksize: usize) {
        self.blocksize.store(forced_blocksize(blocksize), Relaxed);
    }

    /// Returns the split mode.
    pub fn splitmode(&self) -> SplitMode {
        SplitMode(self.splitmode.load(Relaxed))
    }

    /// Sets the split mode; an unknown number means always.
    pub fn set_splitmode(&self, splitmode: SplitMode) {
        self.splitmode.store(splitmode.0, Relaxed);
    }

    /// Returns the parameters of a compression: those of the call and the settings, overridden by
    /// the environment. Overrides of settings are permanent.
    ///
    /// # Errors
    /// [`Error::Failure`] if the environment specifies an unknown codec or split mode.
    pub fn params(&self, call: Call) -> Result<Params> {
        let variables = Variables::scan();
        let call = Call {
            clevel: environment::clevel(variables).unwrap_or(call.clevel),
            shuffle: environment::shuffle(variables).unwrap_or(call.shuffle),
            typesize: environment::typesize(variables).unwrap_or(call.typesize),
        };
        if let Some(name) = environment::compressor(variables) {
            self.set_compressor(name.as_encoded_bytes())?;
        }
        if let Some(blocksize) = environment::blocksize(variables) {
            self.set_blocksize(blocksize);
        }
        let nthreads = self.overridden_threads(variables);
        if let Some(splitmode) = environment::splitmode(variables)? {
            self.set_splitmode(splitmode);
        }
        Ok(Params {
            call,
            compressor: self.compressor(),
            blocksize: self.blocksize(),
            splitmode: self.splitmode(),
            nthreads,
        })
    }

    /// Returns the number of threads. The environment overrides it permanently.
    pub fn threads(&self) -> i32 {
        self.overridden_threads(Variables::scan())
    }

    fn overridden_threads(&self, variables: Variables) -> i32 {
        if let Some(nthreads) = environment::nthreads(variables) {
            self.set_nthreads(nthreads);
        }
        self.nthreads()
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new()
    }
}
