//! The decoder. It accepts any stream and needs no state.
//!
//! Offsets may refer to any bytes inside the stream. Clipped cells are literal or uniform; encoders
//! never write references for them.

use super::layout::{
    Cell, HEADER_LEN, LITERAL, Layout, NDIM, OFFSET_LEN, Side, UNIFORM, WHOLE, cells, rows_of,
};
use crate::{Error, Result};

/// The tokens of 4×4 cells whose lowest three bits are ignored: the first of each eight.
const IGNORED_LOW_BITS: [u8; 12] =
    [0x28, 0x30, 0x38, 0x88, 0x90, 0x98, 0xB0, 0xB8, 0xE0, 0xE8, 0xF0, 0xF8];
const IGNORED_VALUES: usize = 8;

/// The referenced sets of rows of each token; empty for invalid tokens.
type Table = [[u8; 2]; 256];

const fn table(layouts: &[Layout]) -> Table {
    let mut table = [[0; 2]; 256];
    let mut i = 0;
    while i < layouts.len() {
        table[layouts[i].token as usize] = layouts[i].sets;
        i += 1;
    }
    table
}

const fn with_ignored_bits(mut table: Table) -> Table {
    let mut i = 0;
    while i < IGNORED_LOW_BITS.len() * IGNORED_VALUES {
        let first = IGNORED_LOW_BITS[i / IGNORED_VALUES] as usize;
        table[first + i % IGNORED_VALUES] = table[first];
        i += 1;
    }
    table
}

/// The token table of a cell size.
pub(super) trait Tokens<const SIDE: usize>: Side<SIDE> {
    const TABLE: &'static Table;
}

impl Tokens<4> for Cell {
    const TABLE: &'static Table = &with_ignored_bits(table(<Cell as Side<4>>::LAYOUTS));
}

impl Tokens<8> for Cell {
    const TABLE: &'static Table = &table(<Cell as Side<8>>::LAYOUTS);
}

struct Reader<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let bytes = self.src.get(self.at..).and_then(|rest| rest.get(..len));
        self.at += len;
        bytes.ok_or(Error::Data)
    }

    fn extent(&mut self) -> Result<usize> {
        let bytes = self.take(4)?.try_into().map_err(|_| Error::Data)?;
        usize::try_from(i32::from_le_bytes(bytes)).map_err(|_| Error::Data)
    }

    /// Reads an offset and returns the `len` bytes there, relative to the token at `origin`.
    fn referenced(&mut self, origin: usize, len: usize) -> Result<&'a [u8]> {
        let offset = self.take(OFFSET_LEN)?.try_into().map_err(|_| Error::Data)?;
        let offset = usize::from(u16::from_le_bytes(offset));
        let start = origin.checked_sub(offset).ok_or(Error::Data)?;
        let bytes = self.src.get(start..).and_then(|rest| rest.get(..len));
        bytes.ok_or(Error::Data)
    }
}

/// Decodes a stream of cells of `SIDE` × `SIDE` bytes into the beginning of `dest`; returns the
/// number of bytes produced.
///
/// # Errors
/// [`Error::Data`] if the stream is invalid or decodes to more bytes than `dest` has.
pub(super) fn decode<const SIDE: usize>(src: &[u8], dest: &mut [u8]) -> Result<usize>
where
    Cell: Tokens<SIDE>,
{
    let mut reader = Reader { src, at: 0 };
    if src.len() < HEADER_LEN || reader.take(1)? != [NDIM] {
        return Err(Error::Data);
    }
    let (height, width) = (reader.extent()?, reader.extent()?);
    let nbytes = height.checked_mul(width).ok_or(Error::Data)?;
    let dest = dest.get_mut(..nbytes).ok_or(Error::Data)?;
    if nbytes == 0 {
        return Ok(0);
    }
    for (at, cell_height, cell_width) in cells(height, width, SIDE) {
        let rows = &mut dest[at..];
        if cell_height == SIDE && cell_width == SIDE {
            decode_cell::<SIDE>(&mut reader, rows, width)?;
        } else {
            decode_clipped(&mut reader, rows, width, cell_height, cell_width)?;
        }
    }
    Ok(nbytes)
}

/// Decodes a full cell to the beginning of rows with a stride of `width` bytes.
fn decode_cell<const SIDE: usize>(
    reader: &mut Reader<'_>,
    rows: &mut [u8],
    width: usize,
) -> Result<()>
where
    Cell: Tokens<SIDE>,
{
    let origin = reader.at;
    let [token] = *reader.take(1)? else {
        return Err(Error::Data);
    };
    let mut put = |row: usize, bytes: &[u8; SIDE]| {
        rows[row * width..][..SIDE].copy_from_slice(bytes);
    };
    match token {
        LITERAL => {
            let (bytes, _) = reader.take(SIDE * SIDE)?.as_chunks::<SIDE>();
            for (row, bytes) in bytes.iter().enumerate() {
                put(row, bytes);
            }
        }
        UNIFORM => {
            let value = reader.take(1)?[0];
            for row in 0..SIDE {
                put(row, &[value; SIDE]);
            }
        }
        WHOLE => {
            let (bytes, _) = reader.referenced(origin, SIDE * SIDE)?.as_chunks::<SIDE>();
            for (row, bytes) in bytes.iter().enumerate() {
                put(row, bytes);
            }
        }
        _ => {
            let sets = <Cell as Tokens<SIDE>>::TABLE[usize::from(token)];
            if sets == [0; 2] {
                return Err(Error::Data);
            }
            let mut literal = !0u8 >> (8 - SIDE);
            for set in sets.into_iter().filter(|&set| set != 0) {
                let len = set.count_ones() as usize * SIDE;
                let (bytes, _) = reader.referenced(origin, len)?.as_chunks::<SIDE>();
                for (row, bytes) in rows_of(set).zip(bytes) {
                    put(row, bytes);
                }
                literal &= !set;
            }
            let len = literal.count_ones() as usize * SIDE;
            let (bytes, _) = reader.take(len)?.as_chunks::<SIDE>();
            for (row, bytes) in rows_of(literal).zip(bytes) {
                put(row, bytes);
            }
        }
    }
    Ok(())
}

/// Decodes a clipped cell at an edge.
fn decode_clipped(
    reader: &mut Reader<'_>,
    rows: &mut [u8],
    width: usize,
    cell_height: usize,
    cell_width: usize,
) -> Result<()> {
    let rows = rows.chunks_mut(width).take(cell_height);
    match *reader.take(1)? {
        [LITERAL] => {
            for row in rows {
                row[..cell_width].copy_from_slice(reader.take(cell_width)?);
            }
        }
        [UNIFORM] => {
            let value = reader.take(1)?[0];
            for row in rows {
                row[..cell_width].fill(value);
            }
        }
        _ => return Err(Error::Data),
    }
    Ok(())
}
