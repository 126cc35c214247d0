//! TRUNC_PREC and INT_TRUNC: zero the low bits of each word, so that the codec finds more to save.
//!
//! The meta is signed: positive, the bits that are kept (of the mantissa, or of the integer); negative,
//! the bits that are zeroed. Nothing is undone. A tail shorter than a word is copied.

use super::{Filter, FilterCall, InParts};
use crate::{Error, Result, kernels};
use std::ops::Range;

/// Zeroes bits of words.
pub(super) struct Truncation {
    /// The bits of an item of so many bytes that the meta is about; `None` if there are no such items.
    significant_bits: fn(typesize: usize) -> Option<i32>,
}

/// Floats: the bits of the mantissa; the sign and the exponent stay.
pub(super) static TRUNC_PREC: Truncation = Truncation {
    significant_bits: |typesize| match typesize {
        4 => Some(F32_MANTISSA),
        8 => Some(F64_MANTISSA),
        _ => None,
    },
};

/// Integers: all bits.
pub(super) static INT_TRUNC: Truncation = Truncation {
    significant_bits: |typesize| {
        matches!(typesize, 1 | 2 | 4 | 8).then_some(u8::BITS as i32 * typesize as i32)
    },
};

/// Mantissa bits of a 4-byte float.
const F32_MANTISSA: i32 = 23;
/// Mantissa bits of an 8-byte float.
const F64_MANTISSA: i32 = 52;

/// How many low bits of a word of `width` significant bits go.
fn zeroed_bits(meta: u8, width: i32) -> Result<u32> {
    let meta = i32::from(meta as i8);
    let zeroed = if meta >= 0 { width - meta } else { -meta };
    if (0..width).contains(&zeroed) {
        Ok(zeroed as u32)
    } else {
        Err(Error::FilterPipeline)
    }
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
        dest.copy_from_slice(src);
        Ok(())
    }

    fn is_undone(&self) -> bool {
        false
    }

    fn in_parts(&self) -> Option<&dyn InParts> {
        Some(self)
    }
}

impl InParts for Truncation {
    fn forward_part(
        &self,
        call: &FilterCall<'_>,
        src: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        self.forward(call, &src[from..][..dest.len()], dest)
    }

    fn backward_part(&self, _: &FilterCall<'_>, _: &mut [u8], _: Range<usize>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meta_keeps_or_zeroes_bits() {
        assert_eq!(zeroed_bits(10, F32_MANTISSA), Ok(13));
        assert_eq!(zeroed_bits(-10i8 as u8, F32_MANTISSA), Ok(10));
        assert_eq!(zeroed_bits(1, F32_MANTISSA), Ok(22));
        assert_eq!(zeroed_bits(23, F32_MANTISSA), Ok(0));
        assert_eq!(zeroed_bits(64, 64), Ok(0));
        assert_eq!(zeroed_bits(8, 8), Ok(0));
    }

    #[test]
    fn a_meta_that_keeps_nothing_or_more_than_all_is_refused() {
        for meta in [0i8, -23, 24, 127, -128] {
            assert_eq!(
                zeroed_bits(meta as u8, F32_MANTISSA),
                Err(Error::FilterPipeline),
                "{meta}"
            );
        }
        for meta in [0i8, -52, 53] {
            assert_eq!(
                zeroed_bits(meta as u8, F64_MANTISSA),
                Err(Error::FilterPipeline),
                "{meta}"
            );
        }
        for meta in [0i8, -32, 40] {
            assert_eq!(
                zeroed_bits(meta as u8, 32),
                Err(Error::FilterPipeline),
                "{meta}"
            );
        }
    }
}
