//! The encoders of liblz4, and its decoder for blocks with a dictionary.

mod call;
mod fast;
pub(super) mod ffi;
mod high;

pub(in crate::codec) use fast::Lz4;

use crate::Result;
use crate::codec::dictionary::{Dictionaries, Prepared};
use crate::codec::{CodecInfo, id};

/// The row of the fast encoder.
pub(in crate::codec) const INFO: CodecInfo = CodecInfo {
    dictionaries: Some(Dictionaries {
        train: None,
        for_encoding: prepared_fast,
        for_decoding: None,
    }),
    ..super::row(|| Box::new(Lz4::default()))
};

/// The row of the high-compression encoder.
pub(in crate::codec) const INFO_HC: CodecInfo = CodecInfo {
    id: id::LZ4HC,
    name: c"lz4hc",
    title: "LZ4HC",
    has_large_blocks: true,
    dictionaries: Some(Dictionaries {
        train: None,
        for_encoding: prepared_high,
        for_decoding: None,
    }),
    max_split_level: None,
    has_large_state: true,
    ..super::row(|| Box::new(high::Lz4Hc::default()))
};

/// # Safety
/// The same conditions as for [`Dictionaries::for_encoding`].
unsafe fn prepared_fast(bytes: &[u8], _level: u8) -> Result<Prepared> {
    // SAFETY: the caller's contract.
    Ok(Box::new(unsafe { fast::FastDict::new(bytes) }?))
}

/// # Safety
/// The same conditions as for [`Dictionaries::for_encoding`].
unsafe fn prepared_high(bytes: &[u8], level: u8) -> Result<Prepared> {
    // SAFETY: the caller's contract.
    Ok(Box::new(unsafe { high::HighDict::new(bytes, level) }?))
}

#[cfg(test)]
mod tests {
    use super::call::decode_with;
    use super::*;
    use crate::codec::Dictionary;

    #[test]
    fn both_decoders_agree_about_blocks_with_a_dictionary() {
        let text: Vec<u8> = (0..3000u32).flat_map(|i| (i % 611).to_le_bytes()).collect();
        for window in [0, 1, 500, 6000] {
            let bytes = text[..window].to_vec();
            let dict = Dictionary::for_encoding(id::LZ4, 5, bytes).unwrap();
            let mut block = vec![0; 2 * text.len()];
            let len = {
                use crate::codec::StreamCodec;
                let mut encoder = Lz4::default();
                encoder.encode(5, Some(&dict), &text, &mut block).unwrap()
            };
            let block = &block[..len];
            let mut expected = vec![0; text.len()];
            assert_eq!(decode_with(&dict, block, &mut expected), Ok(text.len()));
            let mut decoded = vec![0; text.len()];
            let result = super::super::decode::decode_after(dict.bytes(), block, &mut decoded);
            assert_eq!(result, Ok(text.len()), "{window}");
            assert!(decoded == expected && decoded == text);
        }
    }

    #[test]
    fn both_decoders_agree_about_damaged_blocks_with_a_dictionary() {
        let text: Vec<u8> = (0..200u32).flat_map(|i| (i % 61).to_le_bytes()).collect();
        let dict = Dictionary::for_encoding(id::LZ4, 5, text[..150].to_vec()).unwrap();
        let mut block = vec![0; 2 * text.len()];
        let len = {
            use crate::codec::StreamCodec;
            let mut encoder = Lz4::default();
            encoder.encode(5, Some(&dict), &text, &mut block).unwrap()
        };
        let agree = |block: &[u8], capacity: usize| {
            let (mut expected, mut decoded) = (vec![0; capacity], vec![0; capacity]);
            let theirs = decode_with(&dict, block, &mut expected);
            let ours = super::super::decode::decode_after(dict.bytes(), block, &mut decoded);
            assert_eq!(ours, theirs, "{block:02x?} into {capacity}");
            if let Ok(len) = ours {
                assert_eq!(decoded[..len], expected[..len], "{block:02x?}");
            }
        };
        for end in 1..=len {
            agree(&block[..end], text.len());
        }
        for capacity in 1..text.len() {
            agree(&block[..len], capacity);
        }
        for at in 0..len {
            for byte in 0..=u8::MAX {
                let mut damaged = block[..len].to_vec();
                damaged[at] = byte;
                agree(&damaged, text.len());
            }
        }
    }
}
