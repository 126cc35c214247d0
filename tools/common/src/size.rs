//! Numbers of bytes, for people.

/// The units, each 1024 of the one before.
const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// So many bytes, in the unit that makes the number short.
pub fn human(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would be rounded to 1024 is 1 of the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// So many bytes in the short form and, where that says less, exactly.
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
    fn numbers_are_short_and_never_1024_of_a_unit() {
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
