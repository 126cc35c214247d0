//! Splits data into chunks; parses and prints human-readable sizes.

use super::error::{Error, Result};
use crate::blpk::{MAX_CHUNKS, MAX_NBYTES};
use crate::numpy::text_repr;

/// The default chunk size in bytes.
pub const DEFAULT_CHUNK_SIZE: u64 = 1 << 20;

/// The division of data into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunking {
    /// The number of chunks.
    pub nchunks: u64,
    /// The size of each chunk except the last, in bytes.
    pub chunk_size: u32,
    /// The size of the last chunk in bytes.
    pub last_chunk: u32,
}

/// Validates a chunk size.
///
/// # Errors
/// [`Error::ChunkSize`]
pub fn checked_chunk_size(requested: u64) -> Result<u32> {
    u32::try_from(requested)
        .ok()
        .filter(|size| (1..=MAX_NBYTES).contains(size))
        .ok_or(Error::ChunkSize(requested))
}

impl Chunking {
    /// Splits `size` bytes into chunks of `requested` bytes. The chunk size is reduced to the size
    /// of smaller data. Empty data are one empty chunk, for any requested size.
    ///
    /// # Errors
    /// [`Error::ChunkSize`], [`Error::TooManyChunks`].
    pub fn new(size: u64, requested: u64) -> Result<Chunking> {
        if size == 0 {
            return Ok(Chunking { nchunks: 1, chunk_size: 0, last_chunk: 0 });
        }
        let requested = checked_chunk_size(requested)?;
        let chunk_size = u32::try_from(size).map_or(requested, |size| size.min(requested));
        let (full, rest) = (size / u64::from(chunk_size), size % u64::from(chunk_size));
        let (nchunks, last_chunk) = match rest as u32 {
            0 => (full, chunk_size),
            rest => (full + 1, rest),
        };
        if nchunks > MAX_CHUNKS {
            return Err(Error::TooManyChunks(nchunks));
        }
        Ok(Chunking { nchunks, chunk_size, last_chunk })
    }
}

/// Units of sizes in decreasing order.
const UNITS: [(char, u64); 5] =
    [('T', 1 << 40), ('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10), ('B', 1)];

/// An error of [`parse_size`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeError {
    /// The size is negative.
    Negative,
    /// The text is not a number. Contains the message.
    Text(String),
}

/// Parses a size: `max`, an integer, or a decimal number with a suffix of `B K M G T`.
///
/// # Errors
/// [`SizeError`]
pub fn parse_size(text: &str) -> std::result::Result<u64, SizeError> {
    if text == "max" {
        return Ok(u64::from(MAX_NBYTES));
    }
    let last = text.chars().next_back();
    match UNITS.into_iter().find(|&(name, _)| Some(name) == last) {
        Some((_, unit)) => parse_float(&text[..text.len() - 1], unit),
        None => parse_int(text),
    }
}

/// Removes underscores between digits, which Python allows.
fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let is_valid = (0..bytes.len())
        .filter(|&at| bytes[at] == b'_')
        .all(|at| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    is_valid.then(|| text.replace('_', ""))
}

fn parse_int(text: &str) -> std::result::Result<u64, SizeError> {
    let invalid =
        || SizeError::Text(format!("invalid literal for int() with base 10: {}", text_repr(text)));
    let number = without_underscores(text.trim()).ok_or_else(invalid)?;
    match number.parse::<i128>() {
        Ok(number) if number < 0 => Err(SizeError::Negative),
        Ok(number) => Ok(u64::try_from(number).unwrap_or(u64::MAX)),
        Err(_) => Err(invalid()),
    }
}

fn parse_float(text: &str, unit: u64) -> std::result::Result<u64, SizeError> {
    let invalid =
        || SizeError::Text(format!("could not convert string to float: {}", text_repr(text)));
    let number = without_underscores(text.trim()).ok_or_else(invalid)?;
    let number: f64 = number.parse().map_err(|_| invalid())?;
    if !number.is_finite() {
        return Err(invalid());
    }
    // Units are powers of two, so the product is exact.
    let bytes = (number * unit as f64).trunc();
    if bytes < 0.0 {
        return Err(SizeError::Negative);
    }
    // The conversion saturates.
    Ok(bytes as u64)
}

/// Formats a size: `295.75K`.
pub fn pretty_size(size: u64) -> String {
    let Some((name, unit)) = UNITS.into_iter().find(|&(_, unit)| size >= unit) else {
        return "0B".to_owned();
    };
    let number = format!("{:.2}", size as f64 / unit as f64);
    let number = number.trim_end_matches('0');
    let zero = if number.ends_with('.') { "0" } else { "" };
    format!("{number}{zero}{name}")
}

/// Formats a size with its number of bytes: `295.75K (302848B)`.
pub fn double_pretty_size(size: u64) -> String {
    format!("{} ({size}B)", pretty_size(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(size: u64, requested: u64) -> (u64, u32, u32) {
        let chunking = Chunking::new(size, requested).unwrap();
        (chunking.nchunks, chunking.chunk_size, chunking.last_chunk)
    }

    #[test]
    fn data_are_split_as_documented() {
        for (requested, expected) in [
            (1, (9, 1, 1)),
            (2, (5, 2, 1)),
            (3, (3, 3, 3)),
            (4, (3, 4, 1)),
            (5, (2, 5, 4)),
            (8, (2, 8, 1)),
            (9, (1, 9, 9)),
        ] {
            assert_eq!(cut(9, requested), expected, "{requested}");
        }
        assert_eq!(cut(23, 24), (1, 23, 23));
        assert_eq!(cut(5_452_595, 1 << 20), (6, 1 << 20, 209_715));
        assert_eq!(cut(0, 0), (1, 0, 0));
        assert_eq!(cut(u64::from(MAX_NBYTES) + 1, u64::from(MAX_NBYTES)), (2, MAX_NBYTES, 1));
    }

    #[test]
    fn invalid_chunk_sizes_are_rejected() {
        for size in [0, u64::from(MAX_NBYTES) + 1, u64::MAX] {
            assert!(
                matches!(Chunking::new(9, size), Err(Error::ChunkSize(requested)) if requested == size)
            );
        }
        assert!(matches!(Chunking::new(u64::MAX, 1), Err(Error::TooManyChunks(_))));
    }

    #[test]
    fn sizes_are_formatted_as_documented() {
        for (size, text) in [
            (0, "0B"),
            (128, "128.0B"),
            (989_898, "966.7K"),
            (12_898_234, "12.3M"),
            (5_129_898_234, "4.78G"),
            (9_898_989_898_879, "9.0T"),
            (302_848, "295.75K"),
        ] {
            assert_eq!(pretty_size(size), text);
        }
        assert_eq!(double_pretty_size(1 << 20), "1.0M (1048576B)");
    }

    #[test]
    fn sizes_are_parsed_like_python() {
        for (text, size) in [
            ("max", 2_147_483_631),
            ("65536", 65_536),
            ("1_000", 1_000),
            (" 12 ", 12),
            ("64K", 65_536),
            ("1.5M", 1_572_864),
            ("0.5G", 1 << 29),
            ("1e3B", 1_000),
            (" 2 K", 2_048),
            ("1T", 1 << 40),
            ("0", 0),
            ("0.3B", 0),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for (text, error) in [
            ("abc", "invalid literal for int() with base 10: 'abc'"),
            ("1e6", "invalid literal for int() with base 10: '1e6'"),
            ("0x10", "invalid literal for int() with base 10: '0x10'"),
            ("10k", "invalid literal for int() with base 10: '10k'"),
            ("_1", "invalid literal for int() with base 10: '_1'"),
            ("1_", "invalid literal for int() with base 10: '1_'"),
            ("infK", "could not convert string to float: 'inf'"),
            ("nanB", "could not convert string to float: 'nan'"),
            ("1e400T", "could not convert string to float: '1e400'"),
            ("1__0", "invalid literal for int() with base 10: '1__0'"),
            ("", "invalid literal for int() with base 10: ''"),
            ("K", "could not convert string to float: ''"),
            ("xM", "could not convert string to float: 'x'"),
            ("1'M", "could not convert string to float: \"1'\""),
            ("1'", "invalid literal for int() with base 10: \"1'\""),
            ("1\"M", "could not convert string to float: '1\"'"),
            ("'\"M", "could not convert string to float: '\\'\"'"),
        ] {
            assert_eq!(parse_size(text), Err(SizeError::Text(error.into())), "{text}");
        }
        assert_eq!(parse_size("-1"), Err(SizeError::Negative));
        assert_eq!(parse_size("-1.5K"), Err(SizeError::Negative));
    }
}
