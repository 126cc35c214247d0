//! The calls without context: persistent settings, modified by environment variables.
//!
//! The shared library keeps one process-wide [`Settings`] and one [`Engines`], each under a lock.
//! A call copies the settings and then works with the engines. With `BLOSC_NOLOCK` set it works
//! with engines of its own instead, so that calls do not wait for one another.

use super::decode::decompressor::Decompressor;
use super::encode::block::Source;
use super::encode::compressor::Compressor;
use super::overrides::{self, Shuffle};
use super::params::{CParams, DParams, HeaderForm, SplitMode};
use crate::codec::{self, id};
use crate::filter::{self, SLOTS, Slot};
use crate::{Error, Result};

pub use super::overrides::nolock;
pub use crate::environment::Variables;

/// The settings of the calls without context.
#[derive(Clone, Copy)]
pub struct Settings {
    /// The codec, or `None` after an unknown one was chosen.
    compressor: Option<u8>,
    nthreads: i16,
    blocksize: i32,
    delta: bool,
    splitmode: SplitMode,
}

/// The engines of the calls without context, which reuse codec states and buffers.
pub struct Engines {
    encoder: Option<Compressor>,
    decoder: Option<Decompressor>,
    decoder_threads: i16,
}

/// The arguments of a compression without context.
pub struct Request<'a> {
    /// The compression level, `0..=9`.
    pub clevel: i32,
    /// The filter.
    pub shuffle: Shuffle,
    /// The item size in bytes.
    pub typesize: i32,
    /// The data.
    pub source: Source<'a>,
}

impl Settings {
    /// Creates the initial settings: BloscLZ, one thread, automatic block size.
    pub const fn new() -> Settings {
        Settings {
            compressor: Some(id::BLOSCLZ),
            nthreads: 1,
            blocksize: 0,
            delta: false,
            splitmode: SplitMode::FORWARD_COMPAT,
        }
    }

    /// Applies the environment for decompression to the settings, permanently, and returns a copy.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if `BLOSC_NTHREADS` is not a valid number of threads.
    pub fn snapshot_for_decompression(&mut self, variables: Variables) -> Result<Settings> {
        if let Some(nthreads) = overrides::nthreads_strict(variables)? {
            self.nthreads = nthreads;
        }
        Ok(*self)
    }

    /// Applies the environment for compression to the settings, permanently, and returns a copy.
    pub fn snapshot_for_compression(&mut self, variables: Variables) -> Settings {
        self.apply_environment(variables);
        *self
    }

    /// Returns the codec, or `None` after an unknown one was chosen.
    pub fn compressor(&self) -> Option<u8> {
        self.compressor
    }

    /// Sets the codec by name; returns its number.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] for a registered codec; the setting is unchanged. [`Error::Failure`]
    /// for an unknown one; compressions then fail until another is chosen.
    pub fn set_compressor(&mut self, name: &[u8]) -> Result<u8> {
        match codec::compname_to_compcode(name) {
            Some(compcode) if codec::is_built_in(compcode) => {
                self.compressor = Some(compcode);
                Ok(compcode)
            }
            Some(_) => Err(Error::CodecSupport),
            None => {
                self.compressor = None;
                Err(Error::Failure)
            }
        }
    }

    /// Returns the number of threads.
    pub fn nthreads(&self) -> i16 {
        self.nthreads
    }

    /// Sets the number of threads; returns the previous one.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a number below 1.
    pub fn set_nthreads(&mut self, nthreads: i16) -> Result<i16> {
        if nthreads <= 0 {
            return Err(Error::InvalidParam);
        }
        Ok(std::mem::replace(&mut self.nthreads, nthreads))
    }

    /// Returns the forced block size in bytes, or 0.
    pub fn blocksize(&self) -> i32 {
        self.blocksize
    }

    /// Forces a block size in bytes; 0 selects the automatic choice.
    pub fn set_blocksize(&mut self, blocksize: i32) {
        self.blocksize = blocksize;
    }

    /// Sets whether DELTA is applied before the shuffle.
    pub fn set_delta(&mut self, delta: bool) {
        self.delta = delta;
    }

    /// Sets the mode of splitting blocks.
    pub fn set_splitmode(&mut self, splitmode: SplitMode) {
        self.splitmode = splitmode;
    }

    /// Applies the environment to the settings, permanently.
    fn apply_environment(&mut self, variables: Variables) {
        if !variables.is_any_set() {
            return;
        }
        match overrides::compressor(variables) {
            Some(overrides::Compressor::BuiltIn(compcode)) => self.compressor = Some(compcode),
            Some(overrides::Compressor::Unknown) => self.compressor = None,
            Some(overrides::Compressor::Registered) | None => {}
        }
        if let Some(delta) = overrides::delta(variables) {
            self.delta = delta;
        }
        if let Some(blocksize) = overrides::blocksize(variables) {
            self.blocksize = blocksize;
        }
        if let Some(nthreads) = overrides::nthreads(variables) {
            self.nthreads = nthreads;
        }
        if let Some(splitmode) = overrides::splitmode(variables) {
            self.splitmode = splitmode;
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new()
    }
}

impl Engines {
    /// Creates engines without codec states and buffers.
    pub const fn new() -> Engines {
        Engines { encoder: None, decoder: None, decoder_threads: 1 }
    }

    /// Frees codec states and buffers.
    pub fn release(&mut self) {
        *self = Engines::new();
    }

    /// Compresses with these settings, overridden by the environment; returns the size of the
    /// chunk, or 0 if it does not fit.
    ///
    /// # Errors
    /// Returns the errors of [`Compressor::compress`]; [`Error::CodecSupport`] if no codec is
    /// chosen.
    pub fn compress(
        &mut self,
        settings: &Settings,
        variables: Variables,
        request: Request<'_>,
        dest: &mut [u8],
    ) -> Result<usize> {
        let header = if overrides::blosc1_compat(variables) {
            HeaderForm::Short
        } else {
            HeaderForm::Extended
        };
        self.compress_as(settings, variables, request, header, Slot::default(), dest)
    }

    /// Compresses like [`Engines::compress`], with the peculiarities of `BLOSC_NOLOCK`: the header
    /// is always extended, and byte shuffle replaces a filter that does not apply.
    ///
    /// # Errors
    /// Returns the errors of [`Engines::compress`].
    pub fn compress_nolock(
        &mut self,
        settings: &Settings,
        variables: Variables,
        request: Request<'_>,
        dest: &mut [u8],
    ) -> Result<usize> {
        let default = Slot { id: filter::id::SHUFFLE, meta: 0 };
        self.compress_as(settings, variables, request, HeaderForm::Extended, default, dest)
    }

    fn compress_as(
        &mut self,
        settings: &Settings,
        variables: Variables,
        request: Request<'_>,
        header: HeaderForm,
        default: Slot,
        dest: &mut [u8],
    ) -> Result<usize> {
        let typesize = overrides::typesize(variables).unwrap_or(request.typesize);
        let mut filters = [Slot::default(); SLOTS];
        filters[SLOTS - 1] = match overrides::shuffle(variables).unwrap_or(request.shuffle) {
            Shuffle::None => Slot::default(),
            Shuffle::Bytes if typesize > 1 => Slot { id: filter::id::SHUFFLE, meta: 0 },
            Shuffle::Bits => Slot { id: filter::id::BITSHUFFLE, meta: 0 },
            Shuffle::Bytes | Shuffle::Unknown => default,
        };
        if settings.delta {
            filters[SLOTS - 2].id = filter::id::DELTA;
        }
        let compcode = settings.compressor.ok_or(Error::CodecSupport)?;
        let params = CParams {
            compcode: i32::from(compcode),
            clevel: overrides::clevel(variables).unwrap_or(request.clevel),
            typesize,
            nthreads: settings.nthreads,
            blocksize: settings.blocksize,
            splitmode: settings.splitmode,
            filters,
            header,
            ..CParams::default()
        };
        let encoder = match &mut self.encoder {
            Some(encoder) => {
                encoder.set_params(params)?;
                encoder
            }
            none => none.insert(Compressor::new(params)?),
        };
        encoder.compress_source(request.source, dest)
    }

    /// Decompresses with these settings; returns the uncompressed size.
    ///
    /// # Errors
    /// Returns the errors of [`Decompressor::decompress`].
    pub fn decompress(
        &mut self,
        settings: &Settings,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if self.decoder_threads != settings.nthreads {
            self.decoder = None;
            self.decoder_threads = settings.nthreads;
        }
        let params = DParams::default().threads(settings.nthreads);
        self.decoder.get_or_insert_with(|| Decompressor::new(params)).decompress(src, dest)
    }
}

impl Default for Engines {
    fn default() -> Engines {
        Engines::new()
    }
}
