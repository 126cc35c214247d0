//! Parameters of compression and decompression.
//!
//! Values are checked on use, with the error code that C callers expect, so any combination can be
//! stored.

use std::sync::Arc;

use super::callbacks::{Postfilter, Prefilter, Tuner};
use super::format::lazy::LazySource;
use crate::codec;
use crate::filter::{self, SLOTS, Slot};
use crate::{Parent, UserData};

/// The mode of splitting blocks into one stream per byte of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMode(
    /// The number in the C interface. Numbers without a constant mean [`SplitMode::FORWARD_COMPAT`]
    /// for chunks of Blosc2, and [`SplitMode::ALWAYS`] for chunks of Blosc 1.x.
    pub i32,
);

impl SplitMode {
    /// Always splits.
    pub const ALWAYS: SplitMode = SplitMode(1);
    /// Never splits.
    pub const NEVER: SplitMode = SplitMode(2);
    /// Splits if that tends to improve compression.
    pub const AUTO: SplitMode = SplitMode(3);
    /// Equals [`SplitMode::AUTO`] for chunks of Blosc2. For chunks of Blosc 1.x, splits with every
    /// codec except Zstd.
    pub const FORWARD_COMPAT: SplitMode = SplitMode(4);
}

/// The header that the encoder writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderForm {
    /// 32 bytes: filter pipeline, runs, special chunks.
    #[default]
    Extended,
    /// The 16 bytes of Blosc 1.x, but with the Blosc2 version byte (`BLOSC_BLOSC1_COMPAT`). It
    /// cannot represent dictionaries, measurements, variable-length blocks, user codecs, or
    /// pipelines other than DELTA in slot 4 and one of the shuffles in slot 5; compression refuses
    /// them.
    Short,
    /// The 16 bytes and all rules of Blosc 1.x, so that C-Blosc 1.3 and later can read the chunk.
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
#[must_use]
#[non_exhaustive]
pub struct CParams {
    /// The codec's compcode ([`codec::id`]). An unknown number fails when the first stream is
    /// compressed.
    pub compcode: i32,
    /// The codec's parameter.
    pub compcode_meta: u8,
    /// The compression level, from 0 (store) to 9 (densest).
    pub clevel: i32,
    /// Whether to build a dictionary for each chunk and store it in the chunk (LZ4, LZ4HC and
    /// Zstd).
    pub use_dict: bool,
    /// The item size in bytes.
    pub typesize: i32,
    /// The number of threads per call; below 2, only the calling thread works.
    pub nthreads: i16,
    /// The block size in bytes, or 0 to choose it by data size and codec.
    pub blocksize: i32,
    /// The mode of splitting blocks.
    pub splitmode: SplitMode,
    /// The filter pipeline.
    pub filters: [Slot; SLOTS],
    /// A callback for each block before the filters.
    pub prefilter: Option<Arc<dyn Prefilter>>,
    /// A callback that chooses block sizes instead of the built-in rule.
    pub tuner: Option<Arc<dyn Tuner>>,
    /// Whether to store measurements instead of data.
    pub instrument: bool,
    /// The form of the header.
    pub header: HeaderForm,
    /// The super-chunk to which the chunks belong.
    pub parent: Option<Arc<dyn Parent>>,
    /// User data for callbacks.
    pub user_data: Option<Arc<UserData>>,
}

impl Default for CParams {
    /// Returns the defaults: BloscLZ, level 5, byte shuffle, items of 8 bytes, one thread.
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
    /// Sets the codec by its number in [`codec::id`].
    pub fn codec(mut self, compcode: u8) -> Self {
        self.compcode = i32::from(compcode);
        self
    }

    /// Sets the compression level, `0..=9`: 0 stores the data, 9 is the densest. Each codec maps it
    /// to its own levels: Zstandard to 1, 3 … 15 for the levels 1 to 8 and to 22, its slowest, for
    /// 9; LZ4HC and Zlib to the same number.
    pub fn level(mut self, clevel: u8) -> Self {
        self.clevel = i32::from(clevel);
        self
    }

    /// Sets the item size in bytes, `1..=`[`MAX_BLOCKSIZE`](super::MAX_BLOCKSIZE).
    pub fn typesize(mut self, typesize: i32) -> Self {
        self.typesize = typesize;
        self
    }

    /// Sets the number of threads per call, the calling thread included; below 2, only that thread
    /// works.
    pub fn threads(mut self, nthreads: i16) -> Self {
        self.nthreads = nthreads;
        self
    }

    /// Sets the block size in bytes; 0 selects the automatic choice.
    pub fn blocksize(mut self, blocksize: i32) -> Self {
        self.blocksize = blocksize;
        self
    }

    /// Sets the mode of splitting blocks.
    pub fn splitmode(mut self, splitmode: SplitMode) -> Self {
        self.splitmode = splitmode;
        self
    }

    /// Sets the filters, in the order of their application; at most six.
    ///
    /// # Panics
    /// If there are more than six filters.
    pub fn filters(mut self, filters: &[Slot]) -> Self {
        assert!(filters.len() <= SLOTS, "a pipeline has {SLOTS} slots");
        self.filters = [Slot::default(); SLOTS];
        self.filters[SLOTS - filters.len()..].copy_from_slice(filters);
        self
    }

    /// Sets whether each chunk has a dictionary, which LZ4, LZ4HC and Zstd support.
    pub fn use_dict(mut self, use_dict: bool) -> Self {
        self.use_dict = use_dict;
        self
    }

    /// Sets the prefilter, which clones of the parameters share. Several threads may call it at the
    /// same time.
    pub fn prefilter(mut self, prefilter: Arc<dyn Prefilter>) -> Self {
        self.prefilter = Some(prefilter);
        self
    }

    /// Whether compression runs user code: a prefilter, a tuner, a user-registered codec or filter.
    pub fn has_callbacks(&self) -> bool {
        self.prefilter.is_some()
            || self.tuner.is_some()
            || self.compcode >= i32::from(codec::id::FIRST_USER)
            || self.filters.iter().any(|slot| slot.id >= filter::id::FIRST_USER)
    }

    /// Warns about a shuffle filter before a codec for which it is harmful.
    pub(super) fn warn_about_shuffle(&self) {
        let warning = codec::info(self.compcode).and_then(|codec| codec.shuffle_warning);
        let is_shuffle = |slot: &Slot| {
            filter::info(slot.id).is_some_and(|filter| {
                matches!(filter.order, filter::Order::Bytes | filter::Order::Bits)
            })
        };
        if let Some(warning) = warning
            && self.filters.iter().any(is_shuffle)
        {
            crate::trace_warning!("{warning}");
        }
    }
}

/// Parameters of decompression.
///
/// ```
/// use std::sync::Arc;
/// use ferroblosc::chunk::{
///     CParams, Compressor, DParams, Decompressor, Postfilter, PostfilterCall, Refused,
/// };
///
/// /// Adds 1 to each byte.
/// struct Increment;
///
/// impl Postfilter for Increment {
///     fn apply(&self, call: &mut PostfilterCall<'_>) -> Result<(), Refused> {
///         for (out, byte) in call.output.iter_mut().zip(call.input) {
///             *out = byte + 1;
///         }
///         Ok(())
///     }
/// }
///
/// let chunk = Compressor::new(CParams::default())?.compress_to_vec(&[1; 1000])?;
/// let params = DParams::default().threads(2).postfilter(Arc::new(Increment));
/// let mut data = [0; 1000];
/// Decompressor::new(params).decompress(&chunk, &mut data)?;
/// assert_eq!(data, [2; 1000]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
#[non_exhaustive]
pub struct DParams {
    /// The number of threads per call; below 2, only the calling thread works.
    pub nthreads: i16,
    /// A callback for each block after the filters.
    pub postfilter: Option<Arc<dyn Postfilter>>,
    /// Whether to apply the rules of Blosc 1.x, whose flags support only its own filters.
    pub blosc1: bool,
    /// The source of the blocks of lazy chunks.
    #[doc(hidden)]
    pub lazy: Option<Arc<dyn LazySource>>,
    /// The super-chunk to which the chunks belong.
    pub parent: Option<Arc<dyn Parent>>,
    /// User data for callbacks.
    pub user_data: Option<Arc<UserData>>,
}

impl DParams {
    /// Sets the number of threads per call, the calling thread included; below 2, only that thread
    /// works.
    pub fn threads(mut self, nthreads: i16) -> Self {
        self.nthreads = nthreads;
        self
    }

    /// Sets the postfilter, which clones of the parameters share. Several threads may call it at
    /// the same time.
    pub fn postfilter(mut self, postfilter: Arc<dyn Postfilter>) -> Self {
        self.postfilter = Some(postfilter);
        self
    }

    /// Sets the source of the blocks of lazy chunks (`make_lazy`), which clones
    /// of the parameters share.
    #[doc(hidden)]
    pub fn lazy(mut self, source: Arc<dyn LazySource>) -> Self {
        self.lazy = Some(source);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_and_filters_of_the_user_are_callbacks_and_registered_ones_are_not() {
        let of_codec = |id| CParams::default().codec(id).has_callbacks();
        assert!([codec::id::BLOSCLZ, codec::id::ZSTD, 159].iter().all(|&id| !of_codec(id)));
        assert!([codec::id::FIRST_USER, 255].iter().all(|&id| of_codec(id)));
        let of_filter = |id| CParams::default().filters(&[Slot { id, meta: 0 }]).has_callbacks();
        assert!([filter::id::NONE, filter::id::SHUFFLE, 159].iter().all(|&id| !of_filter(id)));
        assert!([filter::id::FIRST_USER, 255].iter().all(|&id| of_filter(id)));
    }
}
