//! DELTA: XOR with the preceding word in the first block, and with the first block in all others.
//!
//! Words have the item size if that is 1, 2, 4 or 8; otherwise 8 bytes if the item size is a
//! multiple of 8, else 1. Bytes after the last whole word are copied.

use super::{Filter, FilterCall, FilterInfo, Fusion, PartialFilter, Reference, id};
use crate::kernels::delta::MAX_WORD;
use crate::{Error, Result, kernels};
use std::ops::Range;

struct Delta;

/// The filter's row.
pub(super) const INFO: FilterInfo =
    FilterInfo { needs_reference: true, ..FilterInfo::new(id::DELTA, "delta", &Delta) };

/// The predecessor of the first word, for any word size.
const ZEROS: [u8; MAX_WORD] = [0; MAX_WORD];

fn word_size(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        n if n % 8 == 0 => 8,
        _ => 1,
    }
}

/// Returns the bytes of the reference block that a block of `len` bytes is XORed with.
fn reference_prefix(reference: &[u8], len: usize) -> Result<&[u8]> {
    reference.get(..len).ok_or(Error::Data)
}

impl Filter for Delta {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        self.forward_range(call, src, 0, dest)
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let word = word_size(call.ctx.typesize);
        match call.reference {
            Reference::Own => kernels::delta::decode_first(word, src, dest),
            Reference::Block(block) => {
                kernels::delta::decode_against(
                    word,
                    src,
                    reference_prefix(block, src.len())?,
                    dest,
                );
            }
        }
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }

    fn fusion(&self, _call: &FilterCall<'_>) -> Fusion<'_> {
        Fusion::Items(self)
    }
}

impl PartialFilter for Delta {
    fn forward_range(
        &self,
        call: &FilterCall<'_>,
        src: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let word = word_size(call.ctx.typesize);
        let range = &src[from..][..dest.len()];
        match call.reference {
            Reference::Own if from == 0 => kernels::delta::encode_first(word, range, dest),
            Reference::Own => {
                kernels::delta::encode_against(word, range, &src[from - word..], dest);
            }
            Reference::Block(block) => {
                let prefix = &reference_prefix(block, src.len())?[from..];
                kernels::delta::encode_against(word, range, prefix, dest);
            }
        }
        Ok(())
    }

    fn backward_range(
        &self,
        call: &FilterCall<'_>,
        block: &mut [u8],
        range: Range<usize>,
    ) -> Result<()> {
        let word = word_size(call.ctx.typesize);
        let len = block.len();
        let (done, rest) = block.split_at_mut(range.start);
        let buffer = &mut rest[..range.len()];
        match call.reference {
            Reference::Own => {
                let before = done.last_chunk().unwrap_or(&ZEROS);
                kernels::delta::decode_first_in_place(&before[MAX_WORD - word..], buffer);
            }
            Reference::Block(block) => {
                let prefix = &reference_prefix(block, len)?[range];
                kernels::delta::decode_against_in_place(word, buffer, prefix);
            }
        }
        Ok(())
    }
}
