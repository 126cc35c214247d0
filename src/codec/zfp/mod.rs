//! ZFP: lossy compression of floating-point blocks with one to four dimensions. (Source: the ZFP
//! codecs of C-Blosc2.)
//!
//! A stream is the ZFP library's output for the block as a contiguous array, without ZFP's own
//! header, in 64-bit words. Three codecs differ in the bound of the loss, which the meta byte sets:
//!
//! | codec | meta *m* |
//! |---|---|
//! | accuracy | the absolute error is at most 10^m, m signed |
//! | precision | m bit planes and a few more, by number of dimensions |
//! | rate | m hundredths of the size of the items |
//!
//! The shape of a block comes from the array and is unrelated to the stream. For any combination of
//! the two, `stream.rs` passes a buffer that the library cannot overrun. Blocks that do not become
//! smaller are stored raw, and so without loss.

mod stream;

use std::ffi::CStr;

use self::stream::{Field, Mode};
use super::{Codec, CodecCall, CodecInfo, id};
use crate::{Error, Result};

/// The codec for each kind of bound.
enum Zfp {
    Accuracy,
    Precision,
    Rate,
}

/// The rows of the three codecs.
pub(super) const INFO_ACCURACY: CodecInfo = row(id::ZFP_ACCURACY, c"zfp_acc", &Zfp::Accuracy);
pub(super) const INFO_PRECISION: CodecInfo = row(id::ZFP_PRECISION, c"zfp_prec", &Zfp::Precision);
pub(super) const INFO_RATE: CodecInfo = row(id::ZFP_RATE, c"zfp_rate", &Zfp::Rate);

/// Returns the row of one of the codecs, whose error bounds are meant for the original floats.
const fn row(id: u8, name: &'static CStr, codec: &'static Zfp) -> CodecInfo {
    CodecInfo {
        shuffle_warning: Some("ZFP follows a shuffle filter, which makes its errors large"),
        ..CodecInfo::plugin(id, name, codec)
    }
}

/// The minimum extent of an array: ZFP compresses cells of 4 items along each dimension, and an
/// array must contain a whole cell.
const MIN_EXTENT: usize = 4;
/// Bit planes added to the meta byte, by number of dimensions minus one.
const BASE_PRECISION: [u32; stream::MAX_DIM] = [5, 7, 9, 11];
const MAX_PRECISION: u32 = 64;

impl Zfp {
    fn mode(&self, meta: u8, field: &Field) -> Mode {
        match self {
            Zfp::Accuracy => Mode::Accuracy(10f64.powi(i32::from(meta as i8))),
            Zfp::Precision => {
                let planes = u32::from(meta) + BASE_PRECISION[field.ndim() - 1];
                Mode::Precision(planes.min(MAX_PRECISION))
            }
            Zfp::Rate => {
                let bits = 8 * field.typesize();
                Mode::Rate(f64::from(meta) / 100.0 * bits as f64)
            }
        }
    }

    /// Returns the array to decode, whose items have the super-chunk's typesize.
    fn stored_field(&self, call: &CodecCall<'_>, nbytes: usize) -> Result<Field> {
        let typesize = call.ctx.parent_typesize().ok_or(Error::Data)?;
        let field = Field::from_context(&call.ctx, typesize).ok_or(Error::Data)?;
        if field.nbytes() <= nbytes { Ok(field) } else { Err(Error::Data) }
    }
}

impl Codec for Zfp {
    fn encode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        if call.ctx.parent.is_none() {
            return Ok(0);
        }
        let field = Field::from_context(&call.ctx, call.ctx.typesize).ok_or(Error::Data)?;
        if field.extents().iter().any(|&extent| extent < MIN_EXTENT) {
            return Err(Error::Data);
        }
        // A stream of a split block is not an array.
        if field.nbytes() != src.len() {
            return Ok(0);
        }
        let len = stream::compress(&self.mode(call.meta, &field), &field, src, dest)?;
        Ok(if len < src.len() { len } else { 0 })
    }

    fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let field = self.stored_field(call, dest.len())?;
        let (array, rest) = dest.split_at_mut(field.nbytes());
        stream::decompress(&self.mode(call.meta, &field), &field, src, array)?;
        rest.fill(0);
        Ok(dest.len())
    }

    fn decode_part(
        &self,
        call: &CodecCall<'_>,
        src: &[u8],
        len: usize,
        from: usize,
        part: &mut [u8],
    ) -> Option<Result<()>> {
        let Zfp::Rate = self else {
            return None;
        };
        let field = self.stored_field(call, len).ok()?;
        let typesize = field.typesize();
        let is_whole = field.nbytes() == len;
        if !is_whole || !from.is_multiple_of(typesize) || !part.len().is_multiple_of(typesize) {
            return None;
        }
        let mode = self.mode(call.meta, &field);
        stream::decompress_row(&mode, &field, src, from / typesize, part)
    }
}

#[cfg(test)]
mod tests;
