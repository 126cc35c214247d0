//! NDLZ: compresses two-dimensional blocks of bytes cell by cell. (Source: the NDLZ format of
//! C-Blosc2.)
//!
//! ```text
//! 02  height: int32  width: int32   cells of 4×4 or 8×8 bytes in row-major order
//! ```
//!
//! Cells at the far edges are clipped. A cell begins with a *token*, which determines which of its
//! rows are literal and which are references to an earlier literal cell:
//!
//! | token | 4×4 | 8×8 |
//! |---|---|---|
//! | `00` | all rows literal | same |
//! | `40` | one literal byte, the value of the whole cell | same |
//! | `C0` | all rows from one offset | same |
//! | `28` `30` `38` | rows 0 and 1, 2 or 3 from one offset, the two others from another | |
//! | `E0` `E8` `F0` `F8` | all rows but 0, 3, 2 or 1 from one offset | |
//! | `88` `90` `98` | rows 0 and 1, 2 or 3 from one offset | |
//! | `B0` `B8` `80` | rows 1 and 2, 1 and 3, 2 and 3 from one offset | |
//! | `A8`+i | | rows i, i+1 and i+2 from one offset |
//! | `88`+i | | rows i and i+1 from one offset |
//!
//! The token is followed by the offsets, 16 bits each: the distance back from the token to the
//! rows, in bytes of the *stream*. The literal rows follow. Rows are in ascending order in both. So
//! a token represents one or two sets of rows ([`layout::Layout`]), which is the only difference
//! between the two cell sizes.

mod decode;
mod encode;
mod layout;

use super::{Codec, CodecCall, CodecInfo, id};
use crate::blockshape::BlockShape;
use crate::{Error, Result};

struct Ndlz;

/// The codec's row.
pub(super) const INFO: CodecInfo = CodecInfo::plugin(id::NDLZ, c"ndlz", &Ndlz);

impl Codec for Ndlz {
    fn encode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let shape = BlockShape::from_context(&call.ctx).ok_or(Error::Data)?;
        let &[height, width] = shape.extents() else {
            return Err(Error::Data);
        };
        if height.checked_mul(width) != Some(src.len()) {
            return Err(Error::Data);
        }
        match call.meta {
            4 => encode::encode::<4>(src, height, width, dest),
            8 => encode::encode::<8>(src, height, width, dest),
            _ => Err(Error::Data),
        }
    }

    fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match call.meta {
            4 => decode::decode::<4>(src, dest),
            8 => decode::decode::<8>(src, dest),
            _ => Err(Error::Data),
        }
    }
}

#[cfg(test)]
mod tests;
