//! The definition of delta. All slices are whole words of `word` bytes.

/// XORs every word with the preceding one.
pub(super) fn encode_first(word: usize, src: &[u8], dest: &mut [u8]) {
    for i in 0..src.len() {
        dest[i] = src[i] ^ if i < word { 0 } else { src[i - word] };
    }
}

/// XORs every word with the preceding result.
pub(super) fn decode_first(word: usize, src: &[u8], dest: &mut [u8]) {
    for i in 0..src.len() {
        dest[i] = src[i] ^ if i < word { 0 } else { dest[i - word] };
    }
}

/// Runs [`decode_first`] in place; `before` is the decoded preceding word.
pub(super) fn decode_first_in_place(before: &[u8], buffer: &mut [u8]) {
    for i in 0..buffer.len() {
        buffer[i] ^= match i.checked_sub(before.len()) {
            Some(earlier) => buffer[earlier],
            None => before[i],
        };
    }
}

/// XORs with the reference.
pub(super) fn against(src: &[u8], reference: &[u8], dest: &mut [u8]) {
    for ((to, from), with) in dest.iter_mut().zip(src).zip(reference) {
        *to = from ^ with;
    }
}

/// Runs [`against`] in place.
pub(super) fn against_in_place(buffer: &mut [u8], reference: &[u8]) {
    for (byte, with) in buffer.iter_mut().zip(reference) {
        *byte ^= with;
    }
}
