//! Inputs that are the same on all targets.

/// Returns 32-bit numbers that increase with some noise, in the byte order of `to_bytes`.
pub fn numbers(len: usize, to_bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mut noise = 1_u32;
    let numbers = (0..).flat_map(|i: u32| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        to_bytes(i * 3 + (noise >> 28))
    });
    numbers.take(len).collect()
}

/// Returns text with repeated words.
pub fn text(len: usize) -> Vec<u8> {
    const WORDS: [&str; 8] = ["chunk", "frame", "block", "filter", "array", "of", "the", "\n"];
    let mut state = 7_u32;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        WORDS[(state >> 29) as usize].bytes().chain([b' '])
    });
    words.flatten().take(len).collect()
}

/// Returns floats of a smooth curve. Sums and products of small integers are exact, so that they
/// are the same on all targets.
pub fn curve(count: usize) -> Vec<f64> {
    (0..count)
        .map(|i| {
            let x = (i % 512) as f64 - 256.0;
            x * x / 64.0 + (i / 512) as f64 / 8.0
        })
        .collect()
}
