//! DELTA: XOR with the word before in the first block, with the first block in all others.
//!
//! Words have the item size when that is 1, 2, 4 or 8; otherwise 8 bytes if the item size is a multiple
//! of 8, else 1. Bytes behind the last whole word are stored as they are.

use super::{Filter, FilterCall, Reference};
use crate::{Error, Result, kernels};

pub(super) struct Delta;

fn word_size(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        n if n % 8 == 0 => 8,
        _ => 1,
    }
}

/// The part of the reference block that stands against a block of `len` bytes.
fn against(reference: &[u8], len: usize) -> Result<&[u8]> {
    reference.get(..len).ok_or(Error::Data)
}

impl Filter for Delta {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let word = word_size(call.around.typesize);
        match call.reference {
            Reference::Own => kernels::delta::encode_first(word, src, dest),
            Reference::Block(block) => {
                kernels::delta::encode_against(word, src, against(block, src.len())?, dest);
            }
        }
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let word = word_size(call.around.typesize);
        match call.reference {
            Reference::Own => kernels::delta::decode_first(word, src, dest),
            Reference::Block(block) => {
                kernels::delta::decode_against(word, src, against(block, src.len())?, dest);
            }
        }
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }
}
