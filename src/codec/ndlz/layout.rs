//! The layouts of cells, and the order of the cells in a block.

/// The first byte of a stream.
pub(super) const NDIM: u8 = 2;
/// The bytes before the first cell: the number of dimensions and the two extents.
pub(super) const HEADER_LEN: usize = 9;
pub(super) const OFFSET_LEN: usize = 2;

pub(super) const LITERAL: u8 = 0x00;
pub(super) const UNIFORM: u8 = 0x40;
pub(super) const WHOLE: u8 = 0xC0;

/// The sets of rows of a cell that are each copied from one offset, as bit masks; an empty set has
/// no offset. All other rows are literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) token: u8,
    pub(super) sets: [u8; 2],
}

const fn one(token: u8, set: u8) -> Layout {
    Layout { token, sets: [set, 0] }
}

/// The layouts with references, in the order in which the encoder tries them: those with more rows
/// first.
pub(super) trait Side<const SIDE: usize> {
    const LAYOUTS: &'static [Layout];
}

pub(super) struct Cell;

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
pub(super) fn rows_of(mut set: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let row = (set != 0).then_some(set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(row)
    })
}

/// Returns the position, height and width of each cell of a block, in order.
pub(super) fn cells(
    height: usize,
    width: usize,
    side: usize,
) -> impl Iterator<Item = (usize, usize, usize)> {
    let rows = (0..height).step_by(side);
    rows.flat_map(move |y| {
        let columns = (0..width).step_by(side);
        columns.map(move |x| (y * width + x, side.min(height - y), side.min(width - x)))
    })
}
