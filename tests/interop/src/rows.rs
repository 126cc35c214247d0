//! Known defects of the reference, and the comparisons that remain valid.
//!
//! Each entry names the project's decision row (`C1` and so on) that describes the defect.

use crate::cell::{Cell, DELTA, INT_TRUNC, TRUNC_PREC};

/// The reliability of a chunk written by the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It contains the data, and both decoders read it.
    Good,
    /// It contains the data, but only our decoder reads them.
    OnlyWeRead(&'static str),
    /// It contains other data than the source; both decoders must return the same.
    SameForBoth(&'static str),
    /// It cannot be read, or reads differ.
    Broken(&'static str),
}

/// The header fields that the functions of this module depend on.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The uncompressed size in bytes.
    pub nbytes: usize,
    /// The block size that the data are divided by, in bytes.
    pub blocksize: usize,
    /// Whether the data are stored without filters and codec.
    pub memcpyed: bool,
    /// Whether the chunk is a special value without blocks.
    pub special: bool,
}

impl Facts {
    fn blocks(&self) -> usize {
        self.nbytes.div_ceil(self.blocksize)
    }

    /// Whether some block is not a multiple of `word` bytes.
    fn has_tail(&self, word: usize) -> bool {
        self.nbytes > 0
            && !(self.blocksize.is_multiple_of(word)
                && (self.nbytes % self.blocksize).is_multiple_of(word))
    }
}

/// Returns the unit of the delta filter in bytes.
fn delta_word(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

fn loses_tails(cell: &Cell, facts: &Facts) -> bool {
    let typesize = cell.stored_typesize();
    cell.filters().iter().any(|&filter| match filter {
        DELTA => facts.has_tail(delta_word(typesize)),
        TRUNC_PREC | INT_TRUNC => facts.has_tail(typesize),
        _ => false,
    })
}

fn lossy_before_delta(cell: &Cell) -> bool {
    let filters = cell.filters();
    let lossy = filters.iter().position(|&f| f == TRUNC_PREC || f == INT_TRUNC);
    let delta = filters.iter().rposition(|&f| f == DELTA);
    matches!((lossy, delta), (Some(lossy), Some(delta)) if lossy < delta)
}

/// Whether the reference splits blocks into more streams than they have bytes.
fn has_empty_streams(cell: &Cell, facts: &Facts) -> bool {
    cell.always_split() && facts.blocksize < cell.stored_typesize()
}

/// Whether the reference's buffer rotation writes to the caller's source.
pub fn writes_into_source(cell: &Cell) -> bool {
    cell.filters().len() >= 3
}

/// Whether the reference may corrupt its heap in this cell, so that it must not compress.
pub fn reference_must_not_compress(cell: &Cell, nbytes: usize) -> bool {
    // C20: a dictionary for less than 32 bytes; C21: a destination too small to collect samples in;
    // C33: scratch and source confused in two passes.
    cell.dictionary() && (nbytes < 32 || cell.tight() || writes_into_source(cell))
}

/// Returns the reliability of the reference's chunk of this cell; `facts` are those of that chunk.
pub fn trust_in_reference_chunk(cell: &Cell, facts: &Facts) -> Trust {
    if writes_into_source(cell) {
        return Trust::Broken("C33");
    }
    if cell.dictionary() && facts.memcpyed {
        return Trust::OnlyWeRead("C19");
    }
    if facts.memcpyed {
        return Trust::Good;
    }
    if !facts.special && has_empty_streams(cell, facts) {
        return Trust::Broken("C5");
    }
    if !facts.special && cell.has_ragged_blocksize(facts.nbytes) {
        // Without a whole item, or without the typesize in the header, the block size cannot be
        // recovered.
        return if facts.nbytes < cell.typesize()
            || cell.typesize() != cell.stored_typesize()
            || loses_tails(cell, facts)
            || lossy_before_delta(cell)
        {
            Trust::Broken("C3")
        } else {
            Trust::OnlyWeRead("C4")
        };
    }
    if lossy_before_delta(cell) && facts.blocks() > 1 {
        return Trust::SameForBoth("C32");
    }
    // A special chunk may also result from the loss of a nonzero tail.
    if loses_tails(cell, facts) {
        return Trust::SameForBoth("C31");
    }
    Trust::Good
}

/// Whether the reference decodes valid chunks of this pipeline.
pub fn reference_can_decode(cell: &Cell) -> bool {
    // C33: its decoder fails in pipelines of three and more stages with DELTA.
    !(cell.filters().contains(&DELTA) && cell.filters().len() >= 3)
}

/// Whether the reference decodes valid chunks of this pipeline with several threads.
pub fn reference_can_decode_threaded(cell: &Cell) -> bool {
    // C28: filters in slots before DELTA race with the other blocks.
    let delta = cell.filters().iter().rposition(|&f| f == DELTA);
    delta.is_none_or(|slot| slot == 0)
}

/// Whether the two encoders should write the same bytes, given a reliable chunk of the reference.
/// Only for serial encoders: the reference's threads write blocks in the order they finish (C18).
pub fn encoders_agree(cell: &Cell, ours: &Facts, theirs: &Facts) -> bool {
    let codec = cell.codec_name();
    let same_codec = match codec {
        // The zlib versions differ; only the format is shared.
        "zlib" => false,
        "zstd" => !may_have_noise(cell, theirs),
        _ => true,
    };
    // The reference corrupts four bytes of an LZ4 dictionary, and never makes special chunks with a
    // dictionary (C22).
    let same_dictionary = !cell.dictionary() || (codec == "zstd" && !ours.special);
    // The block size in the header differs (C3), even if it has no effect.
    let same_header = !cell.has_ragged_blocksize(theirs.nbytes);
    let same_streams = !has_empty_streams(cell, theirs);
    cell.threads() == 1 && same_codec && same_dictionary && same_header && same_streams
}

/// Whether Zstd may skip incompressible data: in shuffled streams of at least 16 KiB without a
/// dictionary.
fn may_have_noise(cell: &Cell, facts: &Facts) -> bool {
    let is_shuffle = |id: &u8| [1, 2].contains(id);
    let shuffled = cell.stored_typesize() > 1 && cell.filters().iter().any(is_shuffle);
    shuffled && !cell.dictionary() && facts.blocksize >= 4 * 4096
}

/// Whether compressed sizes may be compared.
pub fn sizes_comparable(cell: &Cell, facts: &Facts) -> bool {
    // C18: a dictionary made by several threads depends on their timing.
    let timing = cell.dictionary() && cell.threads() > 1;
    !(timing || has_empty_streams(cell, facts))
}

/// Whether the reference may fail when our library stores the data without filters. The reference
/// filters samples for a dictionary before it detects that the block starts do not fit.
pub fn reference_filters_too_early(cell: &Cell) -> bool {
    cell.dictionary()
}
