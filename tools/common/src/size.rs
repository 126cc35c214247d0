//! Human-readable sizes.

/// The units; each is 1024 times the preceding one.
const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Formats a size with one decimal, in the largest unit that is not larger than it.
pub fn human(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 and more would be shown as 1024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Formats a size like [`human`], followed by the number of bytes if it is at least 1 KiB.
pub fn exact(bytes: u64) -> String {
    match bytes {
        0..1024 => human(bytes),
        _ => format!("{} ({bytes} B)", human(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_use_the_largest_unit_and_never_show_1024() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"),
            (1 << 30, "1.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(human(bytes), shown);
        }
        assert_eq!(exact(2048), "2.0 KiB (2048 B)");
        assert_eq!(exact(12), "12 B");
    }
}
