//! Where the reference is known to be wrong, and what a comparison may still ask of it.
//!
//! Each answer names the project's decision row (`C1` and so on) that describes the defect.

use crate::cell::{Cell, DELTA, INT_TRUNC, TRUNC_PREC};

/// How far a chunk written by the reference can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It holds the data; everybody reads it.
    Good,
    /// It holds the data, but only our decoder gets it out.
    OnlyWeRead(&'static str),
    /// It holds other data than it was given; both decoders must see the same.
    SameForBoth(&'static str),
    /// It cannot be read, or not be read twice the same.
    Broken(&'static str),
}

/// The header facts the answers depend on.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Uncompressed bytes.
    pub nbytes: usize,
    /// The block size the data is really cut by.
    pub blocksize: usize,
    /// Stored without filters and codec.
    pub memcpyed: bool,
    /// A special value instead of blocks.
    pub special: bool,
}

impl Facts {
    fn blocks(&self) -> usize {
        self.nbytes.div_ceil(self.blocksize)
    }

    /// Whether some block is not a whole number of words.
    fn has_tail(&self, word: usize) -> bool {
        self.nbytes > 0
            && !(self.blocksize.is_multiple_of(word)
                && (self.nbytes % self.blocksize).is_multiple_of(word))
    }
}

/// The unit the delta filter works on.
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
    let lossy = filters
        .iter()
        .position(|&f| f == TRUNC_PREC || f == INT_TRUNC);
    let delta = filters.iter().rposition(|&f| f == DELTA);
    matches!((lossy, delta), (Some(lossy), Some(delta)) if lossy < delta)
}

/// Whether the reference splits blocks into more streams than they have bytes.
fn has_empty_streams(cell: &Cell, facts: &Facts) -> bool {
    cell.always_split() && facts.blocksize < cell.stored_typesize()
}

/// Whether the reference's buffer rotation writes into the caller's source.
pub fn writes_into_source(cell: &Cell) -> bool {
    cell.filters().len() >= 3
}

/// Whether the reference may spoil its own heap in this cell, so that it is not asked to compress.
pub fn reference_must_not_compress(cell: &Cell, nbytes: usize) -> bool {
    // C20: a dictionary for less than 32 bytes; C21: too little room to collect samples in; C33:
    // scratch and source mixed up in two passes.
    cell.dictionary() && (nbytes < 32 || cell.tight() || writes_into_source(cell))
}

/// How far the reference's chunk of this cell can be trusted. `facts` are those of that chunk.
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
    if !facts.special && cell.wants_ragged_blocks(facts.nbytes) {
        // Without one whole item, or with the typesize not in the header, there is no block size
        // to recover.
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
    // A special chunk, too, may be one only because a tail that is not zero was lost.
    if loses_tails(cell, facts) {
        return Trust::SameForBoth("C31");
    }
    Trust::Good
}

/// Whether the reference decodes a good chunk of this pipeline.
pub fn reference_can_decode(cell: &Cell) -> bool {
    // C33: its decoder goes wrong in pipelines of three and more stages with DELTA.
    !(cell.filters().contains(&DELTA) && cell.filters().len() >= 3)
}

/// Whether the reference decodes a good chunk of this pipeline with several threads.
pub fn reference_can_decode_threaded(cell: &Cell) -> bool {
    // C28: filters in slots before DELTA race with the other blocks.
    let delta = cell.filters().iter().rposition(|&f| f == DELTA);
    delta.is_none_or(|slot| slot == 0)
}

/// Whether the two encoders are meant to write the same bytes, given a chunk of the reference's
/// that can be trusted. Holds for serial encoders alone: the reference's threads write blocks in
/// the order they finish (C18).
pub fn encoders_agree(cell: &Cell, ours: &Facts, theirs: &Facts) -> bool {
    let codec = cell.codec_name();
    let same_codec = match codec {
        // Another zlib is linked; only the format is shared.
        "zlib" => false,
        "zstd" => !may_have_noise(cell, theirs),
        _ => true,
    };
    // The reference spoils four bytes of an LZ4 dictionary, and never makes a special chunk when
    // a dictionary is asked for (C22).
    let same_dictionary = !cell.dictionary() || (codec == "zstd" && !ours.special);
    // Another block size in the header (C3), even where it does not matter.
    let same_header = !cell.wants_ragged_blocks(theirs.nbytes);
    let same_streams = !has_empty_streams(cell, theirs);
    cell.threads() == 1 && same_codec && same_dictionary && same_header && same_streams
}

/// Whether Zstd may leave noise alone: of shuffled streams without a dictionary, at least four parts of 4 KiB.
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

/// Whether the reference may refuse what we store without filters. It looks for samples for a
/// dictionary, through the filters, before it sees that the block starts leave no room.
pub fn reference_filters_too_early(cell: &Cell) -> bool {
    cell.dictionary()
}
