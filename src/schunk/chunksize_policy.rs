//! Fixed and variable chunk sizes.
//!
//! The first chunk sets the chunk size. While only the last chunk is shorter, chunks are found by
//! division. The first chunk that breaks this rule makes the size variable, permanently.

use crate::frame::Counters;
use crate::{Error, ErrorKind, Result};

/// The chunk size of a super-chunk whose chunks have different sizes.
pub const VARIABLE: i32 = 0;
/// The chunk size of a super-chunk that never had a chunk.
pub const UNSET: i32 = -1;

/// Returns the chunk size after a chunk of `n` bytes is inserted at `at`, or appended if `None`.
/// `last` is the size of the current last chunk.
///
/// # Errors
/// `refused` if the first chunk is longer than the preset chunk size.
pub fn after_adding(
    counters: &Counters,
    at: Option<i64>,
    n: i32,
    last: i32,
    refused: ErrorKind,
) -> Result<i32> {
    let c = counters.chunksize;
    if c == UNSET {
        return Ok(n);
    }
    if c <= 0 {
        return Ok(VARIABLE);
    }
    if counters.nchunks == 0 {
        if n > c {
            let text = format!("the first chunk has {n} bytes, more than the chunk size {c}");
            return Err(Error::from(refused).because(text));
        }
        return Ok(c);
    }
    let inside = at.is_some_and(|at| at != counters.nchunks);
    let differs = last < c || n > c || (inside && n != c);
    Ok(if differs { VARIABLE } else { c })
}

/// Returns the chunk size after chunk `at` is replaced by one of `n` bytes.
pub fn after_update(counters: &Counters, at: i64, n: i32) -> i32 {
    let c = counters.chunksize;
    if c == UNSET {
        return n;
    }
    if c <= 0 {
        return VARIABLE;
    }
    let is_last = at == counters.nchunks - 1;
    let differs = n > c || (!is_last && n != c);
    if differs { VARIABLE } else { c }
}

/// Returns the chunk size after `nbytes` bytes are appended to an empty super-chunk in chunks of
/// `n` bytes; the last may be shorter.
///
/// # Errors
/// Returns the same errors as [`after_adding`].
pub fn after_filling(before: &Counters, n: i32, nbytes: i64, refused: ErrorKind) -> Result<i32> {
    let at_most_n = |nbytes: i64| i32::try_from(nbytes).unwrap_or(n).min(n);
    let first = at_most_n(nbytes);
    let chunksize = after_adding(before, None, first, 0, refused)?;
    if nbytes <= i64::from(n) {
        return Ok(chunksize);
    }
    let with_first = Counters { chunksize, nchunks: 1, ..*before };
    // The second chunk decides: all chunks between it and the last are as long as the first.
    let second = at_most_n(nbytes - i64::from(n));
    after_adding(&with_first, None, second, first, refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(chunksize: i32, nchunks: i64) -> Counters {
        Counters { chunksize, nchunks, ..Counters::empty(0) }
    }

    fn append(chunksize: i32, nchunks: i64, n: i32, last: i32) -> Result<i32> {
        after_adding(&counters(chunksize, nchunks), None, n, last, ErrorKind::ChunkAppend)
    }

    #[test]
    fn the_first_chunk_sets_the_size() {
        assert_eq!(append(UNSET, 0, 400, 0), Ok(400));
        assert_eq!(append(1000, 0, 400, 0), Ok(1000));
        assert_eq!(append(300, 0, 400, 0), Err(Error::ChunkAppend));
        assert_eq!(append(VARIABLE, 0, 400, 0), Ok(VARIABLE));
    }

    #[test]
    fn only_the_last_chunk_may_be_short() {
        assert_eq!(append(400, 2, 100, 400), Ok(400));
        assert_eq!(append(400, 3, 400, 100), Ok(VARIABLE));
        assert_eq!(append(400, 2, 401, 400), Ok(VARIABLE));
        let insert =
            |at, n| after_adding(&counters(400, 3), Some(at), n, 400, ErrorKind::ChunkInsert);
        assert_eq!(insert(1, 400), Ok(400));
        assert_eq!(insert(1, 100), Ok(VARIABLE));
        assert_eq!(insert(3, 100), Ok(400));
        assert_eq!(after_update(&counters(400, 3), 2, 100), 400);
        assert_eq!(after_update(&counters(400, 3), 1, 100), VARIABLE);
        assert_eq!(after_update(&counters(400, 3), 2, 500), VARIABLE);
    }

    #[test]
    fn filling_equals_appending_chunk_by_chunk() {
        let fill = |chunksize, nbytes| {
            after_filling(&counters(chunksize, 0), 1600, nbytes, ErrorKind::SchunkSpecial)
        };
        assert_eq!(fill(UNSET, 8000), Ok(1600));
        assert_eq!(fill(UNSET, 800), Ok(800));
        assert_eq!(fill(VARIABLE, 8000), Ok(VARIABLE));
        assert_eq!(fill(800, 8000), Err(Error::SchunkSpecial));
        assert_eq!(fill(800, 800), Ok(800));
        assert_eq!(fill(2400, 1600), Ok(2400));
        assert_eq!(fill(2400, 2000), Ok(VARIABLE));
        assert_eq!(fill(1600, 2000), Ok(1600));
    }
}
