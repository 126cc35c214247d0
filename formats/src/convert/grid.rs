//! Grids: the chunks of an array, numbered in C order.

/// Returns the number of chunks of an array in each dimension.
pub fn grid_of(shape: &[u64], chunks: &[u64]) -> Vec<u64> {
    shape.iter().zip(chunks).map(|(len, chunk)| len.div_ceil(*chunk)).collect()
}

/// Returns the number of chunks of a grid, at most `u64::MAX`.
pub fn count_of(grid: &[u64]) -> u64 {
    if grid.contains(&0) { 0 } else { grid.iter().fold(1, |count, &len| count.saturating_mul(len)) }
}

/// Returns the index of a chunk in a grid from its number in C order.
pub fn index_of(grid: &[u64], number: u64) -> Vec<u64> {
    let mut rest = number;
    let mut index = vec![0; grid.len()];
    for dim in (0..grid.len()).rev() {
        index[dim] = rest % grid[dim];
        rest /= grid[dim];
    }
    index
}

/// Returns the indices of all chunks of a grid in C order.
pub fn indices_of(grid: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let grid = grid.to_vec();
    (0..count_of(&grid)).map(move |number| index_of(&grid, number))
}

/// Returns the number of a chunk in a grid in C order from its index.
pub fn number_of(grid: &[u64], index: &[u64]) -> u64 {
    index.iter().zip(grid).fold(0, |number, (at, len)| number * len + at)
}
