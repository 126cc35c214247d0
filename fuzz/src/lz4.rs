//! The LZ4 decoder compared with that of liblz4.

use std::cell::RefCell;

use ferroblosc::codec::{Workspace, format};
use lz4_sys::LZ4_decompress_safe;

use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The maximum length of input and output in bytes.
const MAX_BLOCK: usize = 1 << 16;

thread_local! {
    static BENCH: RefCell<(Guarded, Guarded)> =
        RefCell::new((Guarded::new(MAX_BLOCK), Guarded::new(MAX_BLOCK)));
}

/// Checks an LZ4 block: both decoders refuse it or return the same bytes, for any output length.
pub fn block(block: &[u8]) {
    if block.is_empty() || block.len() > MAX_BLOCK {
        return;
    }
    BENCH.with_borrow_mut(|(input, output)| {
        let draw = &mut Draw::new(block);
        // The rules depend on the distance to the end of the output, so the output length is mostly
        // exact.
        let enough = peer(block, MAX_BLOCK).map_or(draw.below(500), |bytes| bytes.len());
        let dest_len = match draw.below(3) {
            0 => enough,
            1 => enough + draw.below(80),
            _ => enough.saturating_sub(draw.below(20)),
        };
        let dest_len = dest_len.min(MAX_BLOCK);
        let side = Side::draw(draw);
        let dest = output.slice(dest_len, side);
        let block = input.copy(block, Side::draw(draw));
        let produced = Workspace::new().decode(format::LZ4, None, block, dest);
        let ours = produced.ok().map(|produced| &dest[..produced]);
        assert!(ours == peer(block, dest_len).as_deref(), "unlike liblz4 into {dest_len} bytes");
    });
}

/// Returns the output of liblz4's decoder.
fn peer(block: &[u8], dest_len: usize) -> Option<Vec<u8>> {
    let mut dest = vec![0; dest_len];
    // SAFETY: the pointers and sizes are those of live buffers of less than 2 GiB.
    let produced = unsafe {
        LZ4_decompress_safe(
            block.as_ptr().cast(),
            dest.as_mut_ptr().cast(),
            block.len() as i32,
            dest_len as i32,
        )
    };
    dest.truncate(usize::try_from(produced).ok()?);
    Some(dest)
}
