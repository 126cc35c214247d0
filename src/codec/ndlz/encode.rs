//! The encoder, with hash tables of the literal cells in the stream.
//!
//! The tables hold the last position of each whole cell, of three consecutive rows, and of two. The
//! sets of rows in a layout are looked up in one of them. The candidate is compared in the stream,
//! so a wrong entry only costs size.

use super::layout::{
    Cell, HEADER_LEN, LITERAL, Layout, NDIM, Side, UNIFORM, WHOLE, cells, rows_of,
};
use crate::{Error, Result};

const HASH_BITS: u32 = 12;
/// The largest offset: older decoders add up to 5 to an offset, in 16 bits.
const MAX_OFFSET: usize = 65_530;
/// Positions in the stream by hash; 0 means none, as no cell can be there.
type Table = [u32; 1 << HASH_BITS];

/// The rows in the stream so far.
struct Tables {
    whole: Table,
    triples: Table,
    pairs: Table,
}

/// The rows of a cell, each as an integer.
type Rows<const SIDE: usize> = [u64; SIDE];

fn word<const SIDE: usize>(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..SIDE].copy_from_slice(&bytes[..SIDE]);
    u64::from_le_bytes(word)
}

fn hash(rows: impl Iterator<Item = u64>) -> usize {
    /// The golden ratio in 64 bits, an odd number.
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, row: u64| (hash.rotate_left(29) ^ row).wrapping_mul(MULTIPLIER);
    (rows.fold(0, mix) >> (u64::BITS - HASH_BITS)) as usize
}

/// Encodes a block of `height` × `width` bytes in cells of `SIDE` × `SIDE`; returns the length, or
/// 0 if it does not fit.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub(super) fn encode<const SIDE: usize>(
    src: &[u8],
    height: usize,
    width: usize,
    dest: &mut [u8],
) -> Result<usize>
where
    Cell: Side<SIDE>,
{
    let full_cell = SIDE * SIDE;
    // The shortest possible stream: one literal cell and an offset for each other cell.
    let shortest = 17 + (src.len() / full_cell).saturating_sub(1) * 2;
    if src.len() < full_cell || dest.len() < shortest {
        return Ok(0);
    }
    let extents = [height, width].map(|extent| (extent as i32).to_le_bytes());
    dest[0] = NDIM;
    dest[1..HEADER_LEN].copy_from_slice(extents.as_flattened());
    let mut tables = Vec::new();
    tables.try_reserve_exact(1)?;
    tables.resize_with(1, || Tables {
        whole: [0; 1 << HASH_BITS],
        triples: [0; 1 << HASH_BITS],
        pairs: [0; 1 << HASH_BITS],
    });
    let mut encoder = Encoder::<SIDE> {
        dest,
        at: HEADER_LEN,
        tables: tables.first_mut().ok_or(Error::MemoryAlloc)?,
    };
    for (at, cell_height, cell_width) in cells(height, width, SIDE) {
        if encoder.dest.len() - encoder.at < full_cell + 1 {
            return Ok(0);
        }
        let rows = &src[at..];
        if cell_height == SIDE && cell_width == SIDE {
            let cell = std::array::from_fn(|row| word::<SIDE>(&rows[row * width..]));
            encoder.put_cell(&cell);
        } else {
            encoder.put(&[LITERAL]);
            for row in rows.chunks(width).take(cell_height) {
                encoder.put(&row[..cell_width]);
            }
        }
    }
    Ok(encoder.at)
}

struct Encoder<'a, const SIDE: usize> {
    dest: &'a mut [u8],
    at: usize,
    tables: &'a mut Tables,
}

impl<const SIDE: usize> Encoder<'_, SIDE>
where
    Cell: Side<SIDE>,
{
    /// Writes bytes; the caller has checked the capacity.
    fn put(&mut self, bytes: &[u8]) {
        self.dest[self.at..][..bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn put_row(&mut self, row: u64) {
        self.put(&row.to_le_bytes()[..SIDE]);
    }

    fn put_cell(&mut self, cell: &Rows<SIDE>) {
        let value = cell[0] as u8;
        let uniform = word::<SIDE>(&[value; 8]);
        // Row by row: wider loads would wait for the preceding stores of the rows.
        if cell.iter().fold(0, |other, row| other | (row ^ uniform)) == 0 {
            return self.put(&[UNIFORM, value]);
        }
        let found =
            Cell::LAYOUTS.iter().find_map(|layout| Some((layout, self.offsets(cell, layout)?)));
        match found {
            Some((layout, offsets)) => self.put_references(cell, layout, offsets),
            None => self.put_literal(cell),
        }
    }

    /// Returns the offsets of a layout's sets, if all are found.
    fn offsets(&self, cell: &Rows<SIDE>, layout: &Layout) -> Option<[u16; 2]> {
        let first = self.offset(cell, layout.token, layout.sets[0])?;
        let second = match layout.sets[1] {
            0 => 0,
            set => self.offset(cell, layout.token, set)?,
        };
        Some([first, second])
    }

    /// Returns the offset of these rows, if found.
    fn offset(&self, cell: &Rows<SIDE>, token: u8, set: u8) -> Option<u16> {
        let table = match (token, set.count_ones()) {
            (WHOLE, _) => &self.tables.whole,
            (_, 3) => &self.tables.triples,
            _ => &self.tables.pairs,
        };
        let rows = || rows_of(set).take_while(|&row| row < SIDE).map(|row| cell[row]);
        let start = table[hash(rows())] as usize;
        let offset = self.at - start;
        if start == 0 || offset > MAX_OFFSET {
            return None;
        }
        let candidate = self.dest[start..].chunks_exact(SIDE).map(word::<SIDE>);
        rows().eq(candidate.take(set.count_ones() as usize)).then_some(offset as u16)
    }

    /// Writes the offsets of a layout and its literal rows.
    fn put_references(&mut self, cell: &Rows<SIDE>, layout: &Layout, offsets: [u16; 2]) {
        self.put(&[layout.token]);
        for (set, offset) in layout.sets.into_iter().zip(offsets) {
            if set != 0 {
                self.put(&offset.to_le_bytes());
            }
        }
        let referenced = layout.sets[0] | layout.sets[1];
        for row in rows_of(!referenced).take_while(|&row| row < SIDE) {
            self.put_row(cell[row]);
        }
    }

    /// Writes a literal cell and inserts its rows into the tables.
    fn put_literal(&mut self, cell: &Rows<SIDE>) {
        self.put(&[LITERAL]);
        let start = self.at as u32;
        for &row in cell {
            self.put_row(row);
        }
        let position = |row: usize| start + (row * SIDE) as u32;
        self.tables.whole[hash(cell.iter().copied())] = start;
        for (row, rows) in cell.windows(3).enumerate() {
            self.tables.triples[hash(rows.iter().copied())] = position(row);
        }
        for (row, rows) in cell.windows(2).enumerate() {
            self.tables.pairs[hash(rows.iter().copied())] = position(row);
        }
    }
}
