//! The definition of bytedelta.

/// Writes the difference of each byte and the preceding one; 0 precedes the first.
pub(super) fn encode(src: &[u8], dest: &mut [u8]) {
    let mut before = 0;
    for (to, &from) in dest.iter_mut().zip(src) {
        *to = from.wrapping_sub(before);
        before = from;
    }
}

/// Writes the running sum.
pub(super) fn decode(src: &[u8], dest: &mut [u8]) {
    let mut sum: u8 = 0;
    for (to, &from) in dest.iter_mut().zip(src) {
        sum = sum.wrapping_add(from);
        *to = sum;
    }
}

/// Writes the byte-wise differences `src - earlier`.
pub(super) fn subtract(src: &[u8], earlier: &[u8], dest: &mut [u8]) {
    for ((to, from), earlier) in dest.iter_mut().zip(src).zip(earlier) {
        *to = from.wrapping_sub(*earlier);
    }
}

/// Replaces `items` by their running byte-wise sums, starting from the item `before`.
pub(super) fn decode_items_in_place(before: &[u8], items: &mut [u8]) {
    for i in 0..items.len() {
        let earlier = match i.checked_sub(before.len()) {
            Some(earlier) => items[earlier],
            None => before[i],
        };
        items[i] = items[i].wrapping_add(earlier);
    }
}
