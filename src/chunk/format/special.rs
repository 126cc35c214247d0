//! The content of special chunks, which the header defines.

use super::header::{ChunkHeader, Special};
use crate::{Error, Result};

/// Fills `dest` with the content of a special chunk from `offset` on.
///
/// # Errors
/// [`Error::Data`] for NaNs whose item size is not that of a float, and for unknown types;
/// [`Error::ReadBuffer`] if the value is missing.
pub(crate) fn fill_special(
    src: &[u8],
    header: &ChunkHeader,
    offset: usize,
    dest: &mut [u8],
) -> Result<()> {
    /// The quiet NaNs of 4- and 8-byte floats of the machine.
    const F32_NAN: [u8; 4] = 0x7FC0_0000u32.to_ne_bytes();
    const F64_NAN: [u8; 8] = 0x7FF8_0000_0000_0000u64.to_ne_bytes();
    match header.special {
        Special::Zero => dest.fill(0),
        Special::Uninit => {}
        // The item size does not matter in an empty chunk.
        Special::Nan if dest.is_empty() => {}
        Special::Nan => match header.typesize() {
            4 => repeat(&F32_NAN, offset, dest),
            8 => repeat(&F64_NAN, offset, dest),
            _ => return Err(Error::Data),
        },
        Special::Value => {
            let value = src.get(header.header_len()..header.cbytes).ok_or(Error::ReadBuffer)?;
            repeat(value, offset, dest);
        }
        Special::None | Special::Unknown => return Err(Error::Data),
    }
    Ok(())
}

/// Fills `dest` with the bytes from `offset` on of an endless repetition of `value`.
fn repeat(value: &[u8], offset: usize, dest: &mut [u8]) {
    let phase = offset % value.len();
    let mut filled = dest.len().min(value.len());
    for (i, byte) in dest[..filled].iter_mut().enumerate() {
        *byte = value[(phase + i) % value.len()];
    }
    // Doubling a whole number of periods keeps the phase.
    while filled < dest.len() {
        let more = filled.min(dest.len() - filled);
        dest.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_value_keeps_its_phase() {
        for width in [1, 3, 8, 300] {
            let value: Vec<u8> = (0..width).map(|i| i as u8).collect();
            for offset in [0, 1, 5, 299, 1000] {
                let mut dest = vec![0; 2000];
                repeat(&value, offset, &mut dest);
                for (i, &byte) in dest.iter().enumerate() {
                    assert_eq!(byte, value[(offset + i) % width]);
                }
            }
        }
    }
}
