//! Bytedelta of one channel by its definition.

/// The difference of each byte to the one before it; before the first one is 0.
pub(super) fn encode(src: &[u8], dest: &mut [u8]) {
    let mut before = 0;
    for (to, &from) in dest.iter_mut().zip(src) {
        *to = from.wrapping_sub(before);
        before = from;
    }
}

/// The running sum.
pub(super) fn decode(src: &[u8], dest: &mut [u8]) {
    let mut sum: u8 = 0;
    for (to, &from) in dest.iter_mut().zip(src) {
        sum = sum.wrapping_add(from);
        *to = sum;
    }
}
