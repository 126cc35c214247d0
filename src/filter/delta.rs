//! DELTA: XOR with the word before in the first block, with the first block in all others.
//!
//! Words have the item size when that is 1, 2, 4 or 8; otherwise 8 bytes if the item size is a multiple
//! of 8, else 1. Bytes behind the last whole word are stored as they are.

use super::{Filter, FilterCall, InParts, Reference};
use crate::kernels::delta::MAX_WORD;
use crate::{Error, Result, kernels};
use std::ops::Range;

pub(super) struct Delta;

/// What the first word has before it, if it is one of the longest.
const NOTHING: [u8; MAX_WORD] = [0; MAX_WORD];

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
        self.forward_part(call, src, 0, dest)
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let word = word_size(call.ctx.typesize);
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

    fn in_parts(&self) -> Option<&dyn InParts> {
        Some(self)
    }
}

impl InParts for Delta {
    fn forward_part(
        &self,
        call: &FilterCall<'_>,
        src: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let word = word_size(call.ctx.typesize);
        let part = &src[from..][..dest.len()];
        match call.reference {
            Reference::Own if from == 0 => kernels::delta::encode_first(word, part, dest),
            Reference::Own => kernels::delta::encode_against(word, part, &src[from - word..], dest),
            Reference::Block(block) => {
                let against = &against(block, src.len())?[from..];
                kernels::delta::encode_against(word, part, against, dest);
            }
        }
        Ok(())
    }

    fn backward_part(
        &self,
        call: &FilterCall<'_>,
        block: &mut [u8],
        part: Range<usize>,
    ) -> Result<()> {
        let word = word_size(call.ctx.typesize);
        let len = block.len();
        let (done, rest) = block.split_at_mut(part.start);
        let buffer = &mut rest[..part.len()];
        match call.reference {
            Reference::Own => {
                let before = done.last_chunk().unwrap_or(&NOTHING);
                kernels::delta::decode_first_in_place(&before[MAX_WORD - word..], buffer);
            }
            Reference::Block(block) => {
                let against = &against(block, len)?[part];
                kernels::delta::decode_against_in_place(word, buffer, against);
            }
        }
        Ok(())
    }
}
