//! How much memory a chunk may ask for.

/// More than this a filter never adds to a chunk, besides a part of it.
const FIXED: usize = 64 * 1024;
/// The part of a chunk that a filter may add.
const SHARE: usize = 4;

/// The most bytes that a chunk of a dataset, whose chunks have `chunksize` bytes, may have on its way through
/// the filters. Those in front of ours may have made it longer, by a checksum or because it can't be
/// compressed, but not much longer: what claims to be is broken, or wants to fill memory.
pub fn room_for_earlier_filters(chunksize: u32) -> usize {
    let chunksize = chunksize as usize;
    chunksize
        .saturating_add(chunksize / SHARE)
        .saturating_add(FIXED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_and_a_frame_that_is_no_smaller_have_room() {
        assert!(room_for_earlier_filters(1) >= 1 + 4 + 272);
        assert!(room_for_earlier_filters(1 << 30) >= (1 << 30) + (1 << 20));
    }
}
