//! What lasts from call to call, for the whole process.
//!
//! Nothing resets it, and nothing here waits: each setting is a number of its own, so that threads, and
//! children forked at any moment, always find it in order.

use std::sync::atomic::{AtomicI32, AtomicU8, Ordering::Relaxed};

use super::error::{Error, Result};
use super::{MAX_BLOCKSIZE, environment, names};
use crate::chunk::SplitMode;
use crate::codec::id;

/// Stands for the codec after an unknown one has been chosen.
const NO_CODEC: u8 = u8::MAX;

/// The settings of a process.
pub struct Settings {
    compressor: AtomicU8,
    nthreads: AtomicI32,
    blocksize: AtomicI32,
    splitmode: AtomicI32,
}

/// What the calls that go by the settings say themselves.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// 0 (store) to 9 (densest).
    pub clevel: i32,
    /// 0 for no filter, 1 for the byte shuffle, 2 for the bit shuffle.
    pub shuffle: i32,
    /// Bytes of an item.
    pub typesize: usize,
}

/// All that a compression goes by.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// What the caller says, or the environment instead.
    pub call: Call,
    /// The codec; none for one that is unknown.
    pub compressor: Option<u8>,
    /// The forced block size, or 0.
    pub blocksize: i32,
    /// Which blocks are split.
    pub splitmode: SplitMode,
    /// How many threads; 1 for the caller alone.
    pub nthreads: i32,
}

/// A block size that a caller forces; too large ones become the largest.
pub fn forced_blocksize(blocksize: usize) -> i32 {
    i32::try_from(blocksize).map_or(MAX_BLOCKSIZE, |size| size.min(MAX_BLOCKSIZE))
}

// Relaxed, all of them: each setting stands for itself and guards no other memory.
impl Settings {
    /// What a process begins with: BloscLZ, one thread, automatic block size.
    pub const fn new() -> Settings {
        Settings {
            compressor: AtomicU8::new(id::BLOSCLZ),
            nthreads: AtomicI32::new(1),
            blocksize: AtomicI32::new(0),
            splitmode: AtomicI32::new(SplitMode::FORWARD_COMPAT.0),
        }
    }

    /// The codec; none after an unknown one has been chosen.
    pub fn compressor(&self) -> Option<u8> {
        Some(self.compressor.load(Relaxed)).filter(|&code| code != NO_CODEC)
    }

    /// Chooses the codec by name; returns its number.
    ///
    /// # Errors
    /// [`Error::Failure`] for an unknown one: compressions then fail until another is chosen.
    pub fn set_compressor(&self, name: &[u8]) -> Result<u8> {
        let code = names::compname_to_compcode(name);
        self.compressor.store(code.unwrap_or(NO_CODEC), Relaxed);
        code.ok_or(Error::Failure)
    }

    /// The number of threads, sensible or not.
    pub fn nthreads(&self) -> i32 {
        self.nthreads.load(Relaxed)
    }

    /// Sets the number of threads; returns the one before. A number that can't be is an error only of
    /// calls that need threads.
    pub fn set_nthreads(&self, nthreads: i32) -> i32 {
        self.nthreads.swap(nthreads, Relaxed)
    }

    /// The forced block size, or 0.
    pub fn blocksize(&self) -> i32 {
        self.blocksize.load(Relaxed)
    }

    /// Forces a block size; 0 lets the library choose.
    pub fn set_blocksize(&self, blocksize: usize) {
        self.blocksize.store(forced_blocksize(blocksize), Relaxed);
    }

    /// Which blocks are split.
    pub fn splitmode(&self) -> SplitMode {
        SplitMode(self.splitmode.load(Relaxed))
    }

    /// Chooses which blocks are split; a number that is no mode means all.
    pub fn set_splitmode(&self, splitmode: SplitMode) {
        self.splitmode.store(splitmode.0, Relaxed);
    }

    /// What a compression goes by: the call and the settings, as the environment changes them; what it says
    /// of the settings stays.
    ///
    /// # Errors
    /// [`Error::Failure`] when the environment names an unknown codec or split mode.
    pub fn params(&self, call: Call) -> Result<Params> {
        let call = Call {
            clevel: environment::clevel().unwrap_or(call.clevel),
            shuffle: environment::shuffle().unwrap_or(call.shuffle),
            typesize: environment::typesize().unwrap_or(call.typesize),
        };
        if let Some(name) = environment::compressor() {
            self.set_compressor(name.as_encoded_bytes())?;
        }
        if let Some(blocksize) = environment::blocksize() {
            self.set_blocksize(blocksize);
        }
        let nthreads = self.threads();
        if let Some(splitmode) = environment::splitmode()? {
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

    /// The number of threads, which the environment may change for good.
    pub fn threads(&self) -> i32 {
        if let Some(nthreads) = environment::nthreads() {
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
