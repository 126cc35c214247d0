//! The calls without context: settings that last from call to call, and the environment's say.
//!
//! A shared library keeps one [`Settings`] behind a lock for the whole process. With `BLOSC_NOLOCK` set a
//! call works on a copy instead, so that calls do not wait for one another.

use super::block_encoder::Source;
use super::decode::Decompressor;
use super::encode::Compressor;
use super::environment::{self, Shuffle};
use super::params::{CParams, DParams, HeaderForm, SplitMode};
use crate::codec::{self, id};
use crate::filter::{self, SLOTS, Slot};
use crate::{Error, Result};

pub use super::environment::nolock;

/// What the calls without context go by.
pub struct Settings {
    /// The codec, unless an unknown one has been chosen.
    compressor: Option<u8>,
    nthreads: i16,
    blocksize: i32,
    delta: bool,
    splitmode: SplitMode,
    /// Kept for what they keep: codec states and buffers.
    encoder: Option<Compressor>,
    decoder: Option<Decompressor>,
    decoder_threads: i16,
}

/// One compression without context.
pub struct Request<'a> {
    /// 0 to 9.
    pub clevel: i32,
    /// The filter.
    pub shuffle: Shuffle,
    /// Bytes of an item.
    pub typesize: i32,
    /// The data.
    pub source: Source<'a>,
}

impl Settings {
    /// What a process begins with: BloscLZ, one thread, automatic block size.
    pub const fn new() -> Settings {
        Settings {
            compressor: Some(id::BLOSCLZ),
            nthreads: 1,
            blocksize: 0,
            delta: false,
            splitmode: SplitMode::FORWARD_COMPAT,
            encoder: None,
            decoder: None,
            decoder_threads: 1,
        }
    }

    fn copy(&self) -> Settings {
        Settings {
            encoder: None,
            decoder: None,
            ..*self
        }
    }

    /// The settings as the environment changes them for decompressions, to be used apart; the change
    /// itself stays.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] when `BLOSC_NTHREADS` is no number of threads.
    pub fn apart_for_reading(&mut self) -> Result<Settings> {
        self.apply_nthreads()?;
        Ok(self.copy())
    }

    fn apply_nthreads(&mut self) -> Result<()> {
        if let Some(nthreads) = environment::nthreads_strict()? {
            self.nthreads = nthreads;
        }
        Ok(())
    }

    /// The settings as the environment changes them for compressions, to be used apart; the change itself
    /// stays.
    pub fn apart(&mut self) -> Settings {
        self.apply_environment();
        self.copy()
    }

    /// Drops codec states and buffers.
    pub fn release(&mut self) {
        self.encoder = None;
        self.decoder = None;
    }

    /// The codec; none after an unknown one has been chosen.
    pub fn compressor(&self) -> Option<u8> {
        self.compressor
    }

    /// Chooses the codec by name; returns its number.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] for a registered codec, and nothing changes. [`Error::Failure`] for an
    /// unknown one: compressions then fail until another is chosen.
    pub fn set_compressor(&mut self, name: &[u8]) -> Result<u8> {
        match codec::compname_to_compcode(name) {
            Some(compcode) if compcode < id::FIRST_REGISTERED => {
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

    /// The number of threads.
    pub fn nthreads(&self) -> i16 {
        self.nthreads
    }

    /// Sets the number of threads; returns the one before.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a number below 1.
    pub fn set_nthreads(&mut self, nthreads: i16) -> Result<i16> {
        if nthreads <= 0 {
            return Err(Error::InvalidParam);
        }
        Ok(std::mem::replace(&mut self.nthreads, nthreads))
    }

    /// The forced block size, or 0.
    pub fn blocksize(&self) -> i32 {
        self.blocksize
    }

    /// Forces a block size; 0 lets the library choose.
    pub fn set_blocksize(&mut self, blocksize: i32) {
        self.blocksize = blocksize;
    }

    /// Whether DELTA goes before the shuffle.
    pub fn set_delta(&mut self, delta: bool) {
        self.delta = delta;
    }

    /// Chooses how blocks are split.
    pub fn set_splitmode(&mut self, splitmode: SplitMode) {
        self.splitmode = splitmode;
    }

    /// Lets the environment change the settings, for good.
    fn apply_environment(&mut self) {
        if environment::is_silent() {
            return;
        }
        match environment::compressor() {
            Some(environment::Compressor::BuiltIn(compcode)) => self.compressor = Some(compcode),
            Some(environment::Compressor::Unknown) => self.compressor = None,
            Some(environment::Compressor::Registered) | None => {}
        }
        if let Some(delta) = environment::delta() {
            self.delta = delta;
        }
        if let Some(blocksize) = environment::blocksize() {
            self.blocksize = blocksize;
        }
        if let Some(nthreads) = environment::nthreads() {
            self.nthreads = nthreads;
        }
        if let Some(splitmode) = environment::splitmode() {
            self.splitmode = splitmode;
        }
    }

    /// Compresses as the request, the settings and the environment say; returns the size of the chunk, or
    /// 0 when it does not fit.
    ///
    /// # Errors
    /// Those of [`Compressor::compress`]; [`Error::CodecSupport`] when no codec is chosen.
    pub fn compress(&mut self, request: Request<'_>, dest: &mut [u8]) -> Result<usize> {
        let header = match environment::blosc1_compat() {
            true => HeaderForm::Short,
            false => HeaderForm::Extended,
        };
        self.compress_as(request, header, Slot::default(), dest)
    }

    /// As [`Settings::compress`], but with what is peculiar to `BLOSC_NOLOCK`: the header is always
    /// extended, and the default shuffle stays where the request's filter doesn't apply.
    ///
    /// # Errors
    /// Those of [`Settings::compress`].
    pub fn compress_nolock(&mut self, request: Request<'_>, dest: &mut [u8]) -> Result<usize> {
        let default = Slot {
            id: filter::id::SHUFFLE,
            meta: 0,
        };
        self.compress_as(request, HeaderForm::Extended, default, dest)
    }

    fn compress_as(
        &mut self,
        request: Request<'_>,
        header: HeaderForm,
        default: Slot,
        dest: &mut [u8],
    ) -> Result<usize> {
        self.apply_environment();
        let typesize = environment::typesize().unwrap_or(request.typesize);
        let mut filters = [Slot::default(); SLOTS];
        filters[SLOTS - 1] = match environment::shuffle().unwrap_or(request.shuffle) {
            Shuffle::None => Slot::default(),
            Shuffle::Bytes if typesize > 1 => Slot {
                id: filter::id::SHUFFLE,
                meta: 0,
            },
            Shuffle::Bits => Slot {
                id: filter::id::BITSHUFFLE,
                meta: 0,
            },
            Shuffle::Bytes | Shuffle::Unknown => default,
        };
        if self.delta {
            filters[SLOTS - 2].id = filter::id::DELTA;
        }
        let compcode = self.compressor.ok_or(Error::CodecSupport)?;
        let params = CParams {
            compcode: i32::from(compcode),
            clevel: environment::clevel().unwrap_or(request.clevel),
            typesize,
            nthreads: self.nthreads,
            blocksize: self.blocksize,
            splitmode: self.splitmode,
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

    /// Decompresses as the settings and the environment say; returns the uncompressed size.
    ///
    /// # Errors
    /// Those of [`Decompressor::decompress`]; [`Error::InvalidParam`] when `BLOSC_NTHREADS` is no number
    /// of threads.
    pub fn decompress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.apply_nthreads()?;
        if self.decoder_threads != self.nthreads {
            self.decoder = None;
            self.decoder_threads = self.nthreads;
        }
        let params = DParams::default().threads(self.nthreads);
        self.decoder
            .get_or_insert_with(|| Decompressor::new(params))
            .decompress(src, dest)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new()
    }
}
