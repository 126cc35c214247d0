//! The Zstandard decoder in Rust, which builds without the C library use.

use std::cell::RefCell;

use ferroblosc::ErrorKind;
use ferroblosc::codec::{Workspace, ZstdRustDecoder, id};

use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The maximum length of input and output in bytes.
const MAX_LEN: usize = 1 << 16;

/// A decoder that is used for all inputs, and the memory for input and output.
struct Bench {
    decoder: ZstdRustDecoder,
    input: Guarded,
    output: Guarded,
}

thread_local! {
    static BENCH: RefCell<Bench> = RefCell::new(Bench {
        decoder: ZstdRustDecoder::default(),
        input: Guarded::new(MAX_LEN),
        output: Guarded::new(MAX_LEN),
    });
}

/// Checks a stream: the decoder refuses it or returns the same bytes as a new decoder does. Of some
/// inputs it also checks that the C library compresses them to a frame that decodes to them.
pub fn stream(bytes: &[u8]) {
    if bytes.is_empty() || bytes.len() > MAX_LEN {
        return;
    }
    BENCH.with_borrow_mut(|bench| {
        let draw = &mut Draw::new(bytes);
        let dest = bench.output.slice(draw.below(MAX_LEN), Side::draw(draw));
        let stream = bench.input.copy(bytes, Side::draw(draw));
        // The last part of the input as a dictionary, so that both can be changed.
        let dict = (draw.below(4) == 0).then(|| &bytes[draw.below(bytes.len())..]);
        let first = decoded(&mut bench.decoder, dict, stream, dest);
        let again = decoded(&mut ZstdRustDecoder::default(), dict, stream, dest);
        assert!(first == again, "the result depends on earlier streams");

        if draw.below(8) != 0 {
            return;
        }
        let mut frame = vec![0; bytes.len() + 512];
        let level = draw.below(6) as u8;
        let len = Workspace::new().encode(id::ZSTD, level, None, bytes, &mut frame).unwrap();
        if len > 0 {
            let dest = bench.output.slice(bytes.len(), Side::draw(draw));
            let found = decoded(&mut bench.decoder, None, &frame[..len], dest);
            assert!(
                found.as_deref() == Some(bytes),
                "a frame of level {level} decodes to other bytes"
            );
        }
    });
}

/// Decodes a stream; returns `None` if it or the dictionary is refused.
fn decoded(
    decoder: &mut ZstdRustDecoder,
    dict: Option<&[u8]>,
    stream: &[u8],
    dest: &mut [u8],
) -> Option<Vec<u8>> {
    match decoder.decode(dict, stream, dest) {
        Ok(len) => Some(dest[..len].to_vec()),
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Data | ErrorKind::CodecDict), "{error}");
            None
        }
    }
}
