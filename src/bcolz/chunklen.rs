//! How many rows make a chunk, unless a caller says so.

use super::error::{Error, Result};
use crate::blpk::MAX_NBYTES;

/// Bytes of the chunks of the smallest arrays, at the exponent that stands for them.
const BASE: u64 = 4096;
/// Bytes in the unit that sizes are counted in.
const UNIT: u128 = 1 << 20;

/// Rows of a chunk of an array of `expected` rows of `row_bytes` bytes: chunks grow with the array, by a power of two
/// for each power of ten.
///
/// # Errors
/// [`Error::Argument`] for rows of no bytes or more than a chunk can hold.
pub fn automatic(expected: u64, row_bytes: u64) -> Result<u64> {
    check_row(row_bytes)?;
    let bytes = u128::from(expected) * u128::from(row_bytes);
    // The power of ten of the size in MiB, cut towards zero, from 10^-4 to 10^4.
    let exponent = if bytes >= UNIT {
        let mut exponent = 0;
        while exponent < 4 && bytes >= UNIT * 10_u128.pow(exponent + 1) {
            exponent += 1;
        }
        exponent as i32
    } else {
        let mut exponent = 0;
        while exponent < 4 && bytes * 10_u128.pow(exponent + 1) <= UNIT {
            exponent += 1;
        }
        -(exponent as i32)
    };
    let chunk = BASE << (exponent + 6);
    Ok((chunk / row_bytes).max(1))
}

/// Judges a number of rows per chunk.
///
/// # Errors
/// [`Error::Argument`]
pub fn check(chunklen: u64, row_bytes: u64) -> Result<()> {
    check_row(row_bytes)?;
    if chunklen == 0 {
        return Err(Error::Argument("chunklen must be a positive integer"));
    }
    match chunklen.checked_mul(row_bytes) {
        Some(bytes) if bytes <= u64::from(MAX_NBYTES) => Ok(()),
        _ => Err(Error::Argument("a chunk can't be so large")),
    }
}

fn check_row(row_bytes: u64) -> Result<()> {
    match row_bytes {
        0 => Err(Error::Argument("atomic size cannot be zero")),
        bytes if bytes > u64::from(MAX_NBYTES) => Err(Error::Argument("a row can't be so large")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_the_lengths_of_bcolz() {
        for (expected, row, rows) in [
            (10, 8, 2048),
            (1, 300, 109),
            (1, 400, 81),
            (10_000_000, 8, 65536),
            (3, 800_000, 1),
            (40_000, 8, 32768),
            (0, 24, 682),
            (u64::MAX, 8, 524_288),
        ] {
            // A row of 800000 bytes and more is a chunk of its own.
            assert_eq!(
                automatic(expected, row).unwrap(),
                rows,
                "{expected} of {row}"
            );
        }
        assert!(automatic(1, 0).is_err());
        assert!(automatic(1, 1 << 31).is_err());
    }

    #[test]
    fn the_borders_are_those_of_bcolz() {
        const MIB: u64 = 1 << 20;
        for (bytes, kib) in [
            (0, 16),
            (MIB / 10_000, 16),
            (MIB / 10_000 + 1, 32),
            (MIB / 1000, 32),
            (MIB / 1000 + 1, 64),
            (MIB / 100, 64),
            (MIB / 100 + 1, 128),
            (MIB / 10, 128),
            (MIB / 10 + 1, 256),
            (10 * MIB - 1, 256),
            (10 * MIB, 512),
            (100 * MIB, 1024),
            (1000 * MIB - 1, 1024),
            (1000 * MIB, 2048),
            (10_000 * MIB, 4096),
            (100_000 * MIB, 4096),
        ] {
            assert_eq!(automatic(bytes, 1).unwrap(), kib * 1024, "{bytes}");
        }
    }

    #[test]
    fn given_lengths_are_judged() {
        assert!(check(1, 8).is_ok());
        assert!(check(0, 8).is_err());
        assert!(check(u64::MAX, 8).is_err());
        assert!(check(u64::from(MAX_NBYTES), 1).is_ok());
        assert!(check(u64::from(MAX_NBYTES) + 1, 1).is_err());
    }
}
