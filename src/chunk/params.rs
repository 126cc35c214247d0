//! What a compression or decompression is asked to do.
//!
//! The values are judged when they are used, with the error code C callers expect, so that any
//! combination can be held here.

use std::sync::Arc;

use super::lazy::LazySource;
use super::prefilter::{Postfilter, Prefilter};
use super::tuner::Tuner;
use crate::codec;
use crate::filter::{self, SLOTS, Slot};
use crate::{CallContext, Parent, UserData};

/// Whether blocks are split into one stream per byte of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMode(
    /// The number the C interface uses; numbers other than the constants below mean
    /// [`SplitMode::FORWARD_COMPAT`].
    pub i32,
);

impl SplitMode {
    /// Always.
    pub const ALWAYS: SplitMode = SplitMode(1);
    /// Never.
    pub const NEVER: SplitMode = SplitMode(2);
    /// Where it tends to pay.
    pub const AUTO: SplitMode = SplitMode(3);
    /// As [`SplitMode::AUTO`]; kept as a choice of its own for old programs.
    pub const FORWARD_COMPAT: SplitMode = SplitMode(4);
}

/// Which header the encoder writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderForm {
    /// 32 bytes: filter pipeline, run-length streams, special chunks.
    #[default]
    Extended,
    /// 16 bytes, as Blosc 1.x has them, but with today's version byte (`BLOSC_BLOSC1_COMPAT`). It has no
    /// room for dictionaries, measurements, variable-length blocks, user codecs, and pipelines other than
    /// DELTA in slot 4 and one of the shuffles in slot 5: compression refuses them.
    Short,
    /// 16 bytes and all the rules of Blosc 1.x, so that each of its versions can read the chunk.
    Blosc1,
}

/// Parameters of compression.
///
/// ```
/// use ferroblosc::chunk::{CParams, Compressor};
/// use ferroblosc::codec;
///
/// let params = CParams::default().codec(codec::id::ZSTD).level(7).typesize(4).threads(2);
/// let mut compressor = Compressor::new(params)?;
/// let data: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = compressor.compress_to_vec(&data)?;
/// assert!(chunk.len() < data.len() / 10);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone)]
pub struct CParams {
    /// The codec's API number ([`codec::id`]); a number that no codec has (negative ones too) fails
    /// when the first stream is compressed.
    pub compcode: i32,
    /// A parameter for the codec.
    pub compcode_meta: u8,
    /// 0 (store) to 9 (densest).
    pub clevel: i32,
    /// Whether a dictionary is made and stored with each chunk (LZ4, LZ4HC and Zstd).
    pub use_dict: bool,
    /// Bytes of an item.
    pub typesize: i32,
    /// Threads per call; less than 2 means the caller's alone.
    pub nthreads: i16,
    /// Bytes of a block, or 0 to choose by data size and codec.
    pub blocksize: i32,
    /// Splitting of blocks.
    pub splitmode: SplitMode,
    /// The filter pipeline.
    pub filters: [Slot; SLOTS],
    /// Called for each block before the filters.
    pub prefilter: Option<Arc<dyn Prefilter>>,
    /// Picks block sizes in place of the built-in rule.
    pub tuner: Option<Arc<dyn Tuner>>,
    /// Whether measurements are stored instead of data.
    pub instrument: bool,
    /// The form of the header.
    pub header: HeaderForm,
    /// The super-chunk the chunks are for.
    pub parent: Option<Arc<dyn Parent>>,
    /// Handed back in callbacks.
    pub user_data: Option<Arc<UserData>>,
}

impl Default for CParams {
    /// BloscLZ, level 5, byte shuffle, items of 8 bytes, one thread.
    fn default() -> CParams {
        let mut filters = [Slot::default(); SLOTS];
        filters[SLOTS - 1].id = filter::id::SHUFFLE;
        CParams {
            compcode: i32::from(codec::id::BLOSCLZ),
            compcode_meta: 0,
            clevel: 5,
            use_dict: false,
            typesize: 8,
            nthreads: 1,
            blocksize: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            filters,
            prefilter: None,
            tuner: None,
            instrument: false,
            header: HeaderForm::Extended,
            parent: None,
            user_data: None,
        }
    }
}

impl CParams {
    /// Chooses the codec by its number in [`codec::id`].
    pub fn codec(mut self, compcode: u8) -> Self {
        self.compcode = i32::from(compcode);
        self
    }

    /// Chooses the level, 0 to 9.
    pub fn level(mut self, clevel: u8) -> Self {
        self.clevel = i32::from(clevel);
        self
    }

    /// Sets the bytes of an item.
    pub fn typesize(mut self, typesize: i32) -> Self {
        self.typesize = typesize;
        self
    }

    /// Sets the number of threads per call.
    pub fn threads(mut self, nthreads: i16) -> Self {
        self.nthreads = nthreads;
        self
    }

    /// Sets the bytes of a block; 0 lets the library choose.
    pub fn blocksize(mut self, blocksize: i32) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Chooses how blocks are split.
    pub fn splitmode(mut self, splitmode: SplitMode) -> Self {
        self.splitmode = splitmode;
        self
    }

    /// Sets the pipeline to these filters, in the order they are applied; at most six.
    ///
    /// # Panics
    /// With more than six filters.
    pub fn filters(mut self, filters: &[Slot]) -> Self {
        assert!(filters.len() <= SLOTS, "a pipeline has {SLOTS} slots");
        self.filters = [Slot::default(); SLOTS];
        self.filters[SLOTS - filters.len()..].copy_from_slice(filters);
        self
    }

    /// Chooses whether each chunk gets a dictionary.
    pub fn use_dict(mut self, use_dict: bool) -> Self {
        self.use_dict = use_dict;
        self
    }

    /// Sets the prefilter.
    pub fn prefilter(mut self, prefilter: Arc<dyn Prefilter>) -> Self {
        self.prefilter = Some(prefilter);
        self
    }

    /// Whether code of a user's takes part in compression: a prefilter, a tuner, a registered codec or filter.
    pub fn has_callbacks(&self) -> bool {
        self.prefilter.is_some()
            || self.tuner.is_some()
            || self.compcode >= i32::from(codec::FIRST_USER_ID)
            || self
                .filters
                .iter()
                .any(|slot| slot.id >= filter::id::FIRST_USER)
    }

    /// Tells of ZFP behind a shuffle: it is for floats as they are. It works, but what it leaves out then is
    /// not what it is meant to leave out.
    pub(super) fn warn_of_shuffled_floats(&self) {
        let zfp = codec::id::ZFP_ACCURACY..=codec::id::ZFP_RATE;
        let is_zfp = u8::try_from(self.compcode).is_ok_and(|compcode| zfp.contains(&compcode));
        let is_shuffle =
            |slot: &Slot| matches!(slot.id, filter::id::SHUFFLE | filter::id::BITSHUFFLE);
        if is_zfp && self.filters.iter().any(is_shuffle) {
            crate::trace_warning!("ZFP stands behind a shuffle, which makes its errors large");
        }
    }

    pub(super) fn call_context<'a>(
        &'a self,
        chunk: &'a [u8],
        typesize: usize,
        blocksize: usize,
    ) -> CallContext<'a> {
        CallContext {
            parent: self.parent.as_deref(),
            user_data: self.user_data.as_deref(),
            chunk,
            typesize,
            blocksize,
        }
    }
}

/// Parameters of decompression.
#[derive(Clone, Default)]
pub struct DParams {
    /// Threads per call; less than 2 means the caller's alone.
    pub nthreads: i16,
    /// Called for each block after the filters.
    pub postfilter: Option<Arc<dyn Postfilter>>,
    /// Whether the flags of chunks are taken as Blosc 1.x takes them, which knows no filters but its own.
    pub blosc1: bool,
    /// Where the blocks of lazy chunks are.
    pub lazy: Option<Arc<dyn LazySource>>,
    /// The super-chunk the chunks are from.
    pub parent: Option<Arc<dyn Parent>>,
    /// Handed back in callbacks.
    pub user_data: Option<Arc<UserData>>,
}

impl DParams {
    /// Sets the number of threads per call.
    pub fn threads(mut self, nthreads: i16) -> Self {
        self.nthreads = nthreads;
        self
    }

    /// Sets the postfilter.
    pub fn postfilter(mut self, postfilter: Arc<dyn Postfilter>) -> Self {
        self.postfilter = Some(postfilter);
        self
    }

    /// Sets where the blocks of lazy chunks are.
    pub fn lazy(mut self, source: Arc<dyn LazySource>) -> Self {
        self.lazy = Some(source);
        self
    }

    pub(super) fn call_context<'a>(
        &'a self,
        chunk: &'a [u8],
        typesize: usize,
        blocksize: usize,
    ) -> CallContext<'a> {
        CallContext {
            parent: self.parent.as_deref(),
            user_data: self.user_data.as_deref(),
            chunk,
            typesize,
            blocksize,
        }
    }
}
