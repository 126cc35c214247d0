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
//! a token represents one or two sets of rows ([`Layout`]), which is the only difference between
//! the two cell sizes.

mod decode;
mod encode;

use super::{Codec, CodecCall, CodecInfo, id};
use crate::blockshape::BlockShape;
use crate::{Error, Result};

struct Ndlz;

/// The codec's row.
pub(super) const INFO: CodecInfo = CodecInfo::plugin(id::NDLZ, c"ndlz", &Ndlz);

/// The first byte of a stream.
const NDIM: u8 = 2;
/// The bytes before the first cell: the number of dimensions and the two extents.
const HEADER_LEN: usize = 9;
const OFFSET_LEN: usize = 2;

const LITERAL: u8 = 0x00;
const UNIFORM: u8 = 0x40;
const WHOLE: u8 = 0xC0;

/// The sets of rows of a cell that are each copied from one offset, as bit masks; an empty set has
/// no offset. All other rows are literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    token: u8,
    sets: [u8; 2],
}

const fn one(token: u8, set: u8) -> Layout {
    Layout { token, sets: [set, 0] }
}

/// The layouts with references, in the order in which the encoder tries them: those with more rows
/// first.
trait Side<const SIDE: usize> {
    const LAYOUTS: &'static [Layout];
}

struct Cell;

impl Side<4> for Cell {
    const LAYOUTS: &'static [Layout] = &[
        one(WHOLE, 0b1111),
        Layout { token: 0x28, sets: [0b0011, 0b1100] },
        Layout { token: 0x30, sets: [0b0101, 0b1010] },
        Layout { token: 0x38, sets: [0b1001, 0b0110] },
        one(0xE0, 0b1110),
        one(0xE8, 0b0111),
        one(0xF0, 0b1011),
        one(0xF8, 0b1101),
        one(0x88, 0b0011),
        one(0x90, 0b0101),
        one(0x98, 0b1001),
        one(0xB0, 0b0110),
        one(0xB8, 0b1010),
        one(0x80, 0b1100),
    ];
}

impl Side<8> for Cell {
    const LAYOUTS: &'static [Layout] = &[
        one(WHOLE, 0xFF),
        one(0xA8, 0b111),
        one(0xA9, 0b111 << 1),
        one(0xAA, 0b111 << 2),
        one(0xAB, 0b111 << 3),
        one(0xAC, 0b111 << 4),
        one(0xAD, 0b111 << 5),
        one(0x88, 0b11),
        one(0x89, 0b11 << 1),
        one(0x8A, 0b11 << 2),
        one(0x8B, 0b11 << 3),
        one(0x8C, 0b11 << 4),
        one(0x8D, 0b11 << 5),
        one(0x8E, 0b11 << 6),
    ];
}

/// Returns the rows of a set in ascending order.
fn rows_of(mut set: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let row = (set != 0).then_some(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(row)
    })
}

/// Returns the position, height and width of each cell of a block, in order.
fn cells(height: usize, width: usize, side: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let rows = (0..height).step_by(side);
    rows.flat_map(move |y| {
        let columns = (0..width).step_by(side);
        columns.map(move |x| (y * width + x, side.min(height - y), side.min(width - x)))
    })
}

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
