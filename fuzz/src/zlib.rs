//! The zlib decoder compared with that of zlib-rs.

use std::cell::RefCell;

use ferroblosc::codec::{Workspace, format};
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The maximum length of input and output in bytes.
const MAX_LEN: usize = 1 << 16;
/// A header without a dictionary, and the largest window.
const HEADER: [u8; 2] = [0x78, 0x01];

thread_local! {
    static BENCH: RefCell<(Guarded, Guarded)> =
        RefCell::new((Guarded::new(MAX_LEN), Guarded::new(MAX_LEN)));
}

/// Checks the blocks of a stream: both decoders refuse them or return the same bytes, for any
/// output length. The stream gets the checksum of these bytes.
pub fn blocks(blocks: &[u8]) {
    if blocks.is_empty() || blocks.len() > MAX_LEN / 2 {
        return;
    }
    BENCH.with_borrow_mut(|(input, output)| {
        let draw = &mut Draw::new(blocks);
        let whole = peer(blocks, MAX_LEN);
        let enough = whole.as_ref().map_or(draw.below(500), |(_, bytes)| bytes.len());
        let dest_len = match draw.below(3) {
            0 => enough,
            1 => enough + draw.below(300),
            _ => enough.saturating_sub(draw.below(20)),
        };
        let dest_len = dest_len.min(MAX_LEN);
        let used = whole.as_ref().map_or(blocks.len(), |&(used, _)| used);
        let checksum = whole.map_or(1, |(_, bytes)| zlib_rs::adler32::adler32(1, &bytes));
        let stream = [&HEADER, &blocks[..used], &checksum.to_be_bytes()].concat();

        let dest = output.slice(dest_len, Side::draw(draw));
        let stream = input.copy(&stream, Side::draw(draw));
        let produced = Workspace::new().decode(format::ZLIB, None, stream, dest);
        let ours = produced.ok().map(|produced| &dest[..produced]);
        let theirs = peer(blocks, dest_len).map(|(_, bytes)| bytes);
        assert!(ours == theirs.as_deref(), "unlike zlib-rs into {dest_len} bytes");
    });
}

/// Returns the number of bytes that zlib-rs reads, and its output.
fn peer(blocks: &[u8], dest_len: usize) -> Option<(usize, Vec<u8>)> {
    let mut inflate = Inflate::new(false, 15);
    let mut dest = vec![0; dest_len];
    let status = inflate.decompress(blocks, &mut dest, InflateFlush::Finish).ok()?;
    dest.truncate(inflate.total_out() as usize);
    (status == Status::StreamEnd).then_some((inflate.total_in() as usize, dest))
}
