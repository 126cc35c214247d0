//! Input for the benchmarks of `benches/`.

#![forbid(unsafe_code)]

/// Returns the same endless sequence of pseudo-random numbers each time.
pub fn random() -> impl Iterator<Item = u32> {
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    })
}
