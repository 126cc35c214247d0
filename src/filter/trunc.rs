//! TRUNC_PREC and INT_TRUNC: zero the low bits of each word to make it more compressible.
//!
//! The meta is signed: if positive, it is the number of bits that are kept (of the mantissa, or of
//! the integer); if negative, of bits that are zeroed. There is no backward step. A tail shorter
//! than a word is copied.

use super::{Filter, FilterCall, FilterInfo, Fusion, PartialFilter, id};
use crate::{Error, Result, kernels};
use std::ops::Range;

/// A filter that zeroes bits of words.
struct Truncation {
    /// The number of bits of an item that the meta applies to, or `None` for an unsupported size.
    significant_bits: fn(typesize: usize) -> Option<i32>,
}

/// The filter for floats, which zeroes mantissa bits. The sign and the exponent are kept.
static TRUNC_PREC: Truncation = Truncation {
    significant_bits: |typesize| match typesize {
        4 => Some(F32_MANTISSA),
        8 => Some(F64_MANTISSA),
        _ => None,
    },
};

/// The filter for integers.
#[cfg(feature = "plugins")]
static INT_TRUNC: Truncation = Truncation {
    significant_bits: |typesize| {
        matches!(typesize, 1 | 2 | 4 | 8).then_some(u8::BITS as i32 * typesize as i32)
    },
};

/// The row of the filter for floats.
pub(super) const INFO_FLOATS: FilterInfo =
    FilterInfo { needs_meta: true, ..FilterInfo::new(id::TRUNC_PREC, "trunc_prec", &TRUNC_PREC) };

/// The row of the filter for integers.
#[cfg(feature = "plugins")]
pub(super) const INFO_INTEGERS: FilterInfo =
    FilterInfo { needs_meta: true, ..FilterInfo::new(id::INT_TRUNC, "int_trunc", &INT_TRUNC) };

/// Mantissa bits of a 4-byte float.
const F32_MANTISSA: i32 = 23;
/// Mantissa bits of an 8-byte float.
const F64_MANTISSA: i32 = 52;

/// Returns the number of low bits to zero in a word of `width` significant bits.
fn zeroed_bits(meta: u8, width: i32) -> Result<u32> {
    let meta = i32::from(meta as i8);
    let zeroed = if meta >= 0 { width - meta } else { -meta };
    if (0..width).contains(&zeroed) { Ok(zeroed as u32) } else { Err(Error::FilterPipeline) }
}

impl Filter for Truncation {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let word = call.ctx.typesize;
        let significant = (self.significant_bits)(word).ok_or(Error::FilterPipeline)?;
        let zeroed = zeroed_bits(call.meta, significant)?;
        kernels::trunc_prec::truncate(word, zeroed, src, dest);
        Ok(())
    }

    fn backward(&self, _call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::copy::copy(src, dest);
        Ok(())
    }

    fn has_backward(&self) -> bool {
        false
    }

    fn fusion(&self, _call: &FilterCall<'_>) -> Fusion<'_> {
        Fusion::Items(self)
    }
}

impl PartialFilter for Truncation {
    fn forward_range(
        &self,
        call: &FilterCall<'_>,
        src: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        self.forward(call, &src[from..][..dest.len()], dest)
    }

    fn backward_range(&self, _: &FilterCall<'_>, _: &mut [u8], _: Range<usize>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meta_sets_kept_or_zeroed_bits() {
        assert_eq!(zeroed_bits(10, F32_MANTISSA), Ok(13));
        assert_eq!(zeroed_bits(-10i8 as u8, F32_MANTISSA), Ok(10));
        assert_eq!(zeroed_bits(1, F32_MANTISSA), Ok(22));
        assert_eq!(zeroed_bits(23, F32_MANTISSA), Ok(0));
        assert_eq!(zeroed_bits(64, 64), Ok(0));
        assert_eq!(zeroed_bits(8, 8), Ok(0));
    }

    #[test]
    fn an_out_of_range_meta_is_rejected() {
        for meta in [0i8, -23, 24, 127, -128] {
            assert_eq!(zeroed_bits(meta as u8, F32_MANTISSA), Err(Error::FilterPipeline), "{meta}");
        }
        for meta in [0i8, -52, 53] {
            assert_eq!(zeroed_bits(meta as u8, F64_MANTISSA), Err(Error::FilterPipeline), "{meta}");
        }
        for meta in [0i8, -32, 40] {
            assert_eq!(zeroed_bits(meta as u8, 32), Err(Error::FilterPipeline), "{meta}");
        }
    }
}
