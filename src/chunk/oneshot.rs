//! The calls without context: persistent settings, modified by environment variables.
//!
//! The shared library keeps one process-wide [`SharedSettings`], and one [`Engines`] under a lock.
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
use std::sync::atomic::{AtomicU64, Ordering};

pub use super::overrides::nolock;
pub use crate::environment::Variables;

/// The settings of the calls without context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The codec, or `None` after an unknown one was chosen.
    compressor: Option<u8>,
    nthreads: i16,
    blocksize: i32,
    delta: bool,
    splitmode: SplitMode,
}

/// Settings that threads read and change without a lock, which a `fork` could copy while it is held.
#[derive(Debug)]
pub struct SharedSettings(AtomicU64);

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

/// The positions of the settings in a word: the codec, or [`NO_CODEC`]; the mode of splitting; delta;
/// the number of threads; the block size.
const CODEC: u32 = 0;
const SPLITMODE: u32 = 9;
const DELTA: u32 = 12;
const NTHREADS: u32 = 16;
const BLOCKSIZE: u32 = 32;

/// No codec: a number beyond those of codecs.
const NO_CODEC: u64 = 1 << 8;

impl Settings {
    /// Returns the settings as a word. Numbers without a mode of splitting become 0.
    const fn to_word(self) -> u64 {
        let codec = match self.compressor {
            Some(code) => code as u64,
            None => NO_CODEC,
        };
        let splitmode = match self.splitmode.0 {
            known @ 1..=4 => known as u64,
            _ => 0,
        };
        (codec << CODEC)
            | (splitmode << SPLITMODE)
            | ((self.delta as u64) << DELTA)
            | ((self.nthreads as u16 as u64) << NTHREADS)
            | ((self.blocksize as u32 as u64) << BLOCKSIZE)
    }

    /// Returns the settings of [`Settings::to_word`].
    const fn from_word(word: u64) -> Settings {
        let codec = (word >> CODEC) & (2 * NO_CODEC - 1);
        Settings {
            compressor: if codec < NO_CODEC { Some(codec as u8) } else { None },
            nthreads: (word >> NTHREADS) as i16,
            blocksize: (word >> BLOCKSIZE) as i32,
            delta: (word >> DELTA) & 1 != 0,
            splitmode: SplitMode(((word >> SPLITMODE) & 7) as i32),
        }
    }
}

impl SharedSettings {
    /// Creates the initial settings, those of [`Settings::new`].
    pub const fn new() -> SharedSettings {
        SharedSettings(AtomicU64::new(Settings::new().to_word()))
    }

    /// Returns a copy of the settings.
    pub fn get(&self) -> Settings {
        // Relaxed, here and below: the word is all that threads share.
        Settings::from_word(self.0.load(Ordering::Relaxed))
    }

    /// Changes the settings, and returns the result of `change`. It is called again if another
    /// thread has changed them meanwhile.
    pub fn update<T>(&self, mut change: impl FnMut(&mut Settings) -> T) -> T {
        let mut former = self.0.load(Ordering::Relaxed);
        loop {
            let mut settings = Settings::from_word(former);
            let result = change(&mut settings);
            let word = settings.to_word();
            match self.0.compare_exchange_weak(former, word, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return result,
                Err(found) => former = found,
            }
        }
    }

    /// Applies the environment for compression to the settings, permanently, and returns a copy.
    pub fn for_compression(&self, variables: Variables) -> Settings {
        if !variables.is_any_set() {
            return self.get();
        }
        self.update(|settings| {
            settings.apply_environment(variables);
            *settings
        })
    }

    /// Applies the environment for decompression to the settings, permanently, and returns a copy.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if `BLOSC_NTHREADS` is not a valid number of threads.
    pub fn for_decompression(&self, variables: Variables) -> Result<Settings> {
        match overrides::nthreads_strict(variables)? {
            None => Ok(self.get()),
            Some(nthreads) => Ok(self.update(|settings| {
                settings.nthreads = nthreads;
                *settings
            })),
        }
    }
}

impl Default for SharedSettings {
    fn default() -> SharedSettings {
        SharedSettings::new()
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
    /// is always extended, byte shuffle replaces a filter that does not apply, and
    /// `BLOSC_COMPRESSOR` cannot name a registered codec.
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
        if overrides::is_registered_codec(variables) {
            return Err(Error::CodecSupport);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        let shared = SharedSettings::new();
        assert_eq!(shared.get(), Settings::new());
        for compressor in [None, Some(0), Some(255)] {
            for nthreads in [1, i16::MAX] {
                for blocksize in [0, 1, i32::MAX] {
                    for (delta, splitmode) in [(false, 1), (true, 4), (true, 0)] {
                        let splitmode = SplitMode(splitmode);
                        let settings =
                            Settings { compressor, nthreads, blocksize, delta, splitmode };
                        shared.update(|shared| *shared = settings);
                        assert_eq!(shared.get(), settings);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_without_a_mode_of_splitting_become_zero() {
        let shared = SharedSettings::new();
        for number in [i32::MIN, -1, 5, 8, 12, i32::MAX] {
            shared.update(|settings| settings.set_splitmode(SplitMode(number)));
            let expected = Settings { splitmode: SplitMode(0), ..Settings::new() };
            assert_eq!(shared.get(), expected, "{number}");
        }
    }

    #[test]
    fn threads_lose_no_change() {
        let shared = SharedSettings::new();
        std::thread::scope(|scope| {
            for part in 0..2 {
                let shared = &shared;
                scope.spawn(move || {
                    for _ in 0..1000 {
                        shared.update(|settings| match part {
                            0 => settings.blocksize += 1,
                            _ => settings.nthreads += 1,
                        });
                    }
                });
            }
        });
        assert_eq!((shared.get().blocksize, shared.get().nthreads), (1000, 1001));
    }
}
