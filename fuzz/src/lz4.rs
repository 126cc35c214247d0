//! Our LZ4 decoder against liblz4's.

use std::cell::RefCell;

use ferroblosc::codec::{Workspace, format};
use lz4_sys::LZ4_decompress_safe;

use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The largest input and output.
const MAX_BLOCK: usize = 1 << 16;

thread_local! {
    static BENCH: RefCell<(Guarded, Guarded)> =
        RefCell::new((Guarded::new(MAX_BLOCK), Guarded::new(MAX_BLOCK)));
}

/// An LZ4 block: refused by both decoders, or the same bytes from both, whatever the room.
pub fn block(block: &[u8]) {
    if block.is_empty() || block.len() > MAX_BLOCK {
        return;
    }
    BENCH.with_borrow_mut(|(input, output)| {
        let draw = &mut Draw::new(block);
        // The rules depend on how near the end of the room is, so mostly the room is just enough.
        let enough = peer(block, MAX_BLOCK).map_or(draw.below(500), |bytes| bytes.len());
        let room = match draw.below(3) {
            0 => enough,
            1 => enough + draw.below(80),
            _ => enough.saturating_sub(draw.below(20)),
        };
        let room = room.min(MAX_BLOCK);
        let side = Side::draw(draw);
        let dest = output.slice(room, side);
        let block = input.copy(block, Side::draw(draw));
        let produced = Workspace::new().decode(format::LZ4, None, block, dest);
        let ours = produced.ok().map(|produced| &dest[..produced]);
        assert!(
            ours == peer(block, room).as_deref(),
            "unlike liblz4 into {room} bytes"
        );
    });
}

/// What liblz4 makes of a block.
fn peer(block: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut dest = vec![0; room];
    // SAFETY: the pointers and sizes are those of live buffers of less than 2 GiB.
    let produced = unsafe {
        LZ4_decompress_safe(
            block.as_ptr().cast(),
            dest.as_mut_ptr().cast(),
            block.len() as i32,
            room as i32,
        )
    };
    dest.truncate(usize::try_from(produced).ok()?);
    Some(dest)
}
