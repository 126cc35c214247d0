//! The automatic number of rows per chunk.

use super::error::{Error, Result};
use crate::blpk::MAX_NBYTES;

/// The chunk size in bytes for the smallest arrays.
const BASE: u64 = 4096;
/// The unit of array sizes, 1 MiB.
const UNIT: u128 = 1 << 20;

/// Returns the chunk length for an array of `expected` rows of `row_bytes` bytes. The chunk size
/// doubles for each factor of ten of the array's size.
///
/// # Errors
/// [`Error::Argument`] for rows of no bytes or more than a chunk can hold.
pub fn automatic(expected: u64, row_bytes: u64) -> Result<u64> {
    check_row(row_bytes)?;
    let bytes = u128::from(expected) * u128::from(row_bytes);
    // The decimal exponent of the size in MiB, rounded toward zero, from -4 to 4.
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

/// Validates a chunk length.
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
        _ => Err(Error::Argument("the chunks are too large")),
    }
}

fn check_row(row_bytes: u64) -> Result<()> {
    match row_bytes {
        0 => Err(Error::Argument("atomic size cannot be zero")),
        bytes if bytes > u64::from(MAX_NBYTES) => Err(Error::Argument("the rows are too large")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_lengths_match_bcolz() {
        for (expected, row, rows) in [
            (10, 8, 2048),
            (1, 300, 109),
            (1, 400, 81),
            (10_000_000, 8, 65536),
            // Rows larger than the chunk size are stored one per chunk.
            (3, 800_000, 1),
            (40_000, 8, 32768),
            (0, 24, 682),
            (u64::MAX, 8, 524_288),
        ] {
            assert_eq!(automatic(expected, row).unwrap(), rows, "{expected} of {row}");
        }
        assert!(automatic(1, 0).is_err());
        assert!(automatic(1, 1 << 31).is_err());
    }

    #[test]
    fn thresholds_match_bcolz() {
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
    fn invalid_chunk_lengths_are_rejected() {
        assert!(check(1, 8).is_ok());
        assert!(check(0, 8).is_err());
        assert!(check(u64::MAX, 8).is_err());
        assert!(check(u64::from(MAX_NBYTES), 1).is_ok());
        assert!(check(u64::from(MAX_NBYTES) + 1, 1).is_err());
    }
}
