//! Human-readable sizes, and their parser.

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

/// The letters of the units that are read, in increasing order.
const LETTERS: [char; 7] = ['b', 'k', 'm', 'g', 't', 'p', 'e'];

/// Parses a size: a number, which may have a fraction, and an optional unit in any case. `4M`,
/// `4MB`, `4MiB` and `4 m` are all 4 · 1024² bytes.
///
/// # Errors
/// The reason.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    if text.starts_with('-') {
        return Err("a size cannot be negative".to_owned());
    }
    if !number.contains(|c: char| c.is_ascii_digit()) {
        return Err("a size is a number with an optional unit, such as 4M".to_owned());
    }
    let unknown = || {
        format!(
            "the unit '{unit}' is unknown; the units are B, K, M, G, T, P and E, also KB and KiB"
        )
    };
    let lower = unit.to_ascii_lowercase();
    let mut letters = lower.chars();
    let power = match letters.next() {
        None => 0,
        Some(letter) => LETTERS.iter().position(|&known| known == letter).ok_or_else(unknown)?,
    };
    let is_known = matches!((power, letters.as_str()), (_, "") | (1.., "b" | "i" | "ib"));
    if !is_known {
        return Err(unknown());
    }
    let factor = 1_u128 << (10 * power);
    let digits = number.replace('_', "");
    let too_large = || "the size is too large".to_owned();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole: u128 = match whole {
        "" => 0,
        whole => whole.parse().map_err(|_| too_large())?,
    };
    // More digits change the size by less than a byte.
    let fraction = &fraction[..fraction.len().min(18)];
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("the number has two decimal points".to_owned());
    }
    let scale = 10_u128.pow(fraction.len() as u32);
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().unwrap_or(0) };
    let whole = whole.checked_mul(factor);
    let bytes = whole.and_then(|whole| whole.checked_add(fraction * factor / scale));
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_all_common_forms() {
        for text in ["4M", "4m", "4MB", "4mb", "4MiB", "4mib", "4Mi", "4 MB", " 4.0M ", "4096K"] {
            assert_eq!(parse(text), Ok(4 << 20), "{text}");
        }
        for (text, size) in [
            ("0", 0),
            ("1_000", 1000),
            ("1b", 1),
            ("1.5K", 1536),
            (".5k", 512),
            ("0.1B", 0),
            ("1.000000000000000000000000001K", 1024),
            ("15E", 15 << 60),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(size), "{text}");
        }
        for (text, reason) in [
            ("1Q", "the unit 'Q' is unknown"),
            ("1KK", "the unit 'KK' is unknown"),
            ("1BiB", "the unit 'BiB' is unknown"),
            ("1é", "the unit 'é' is unknown"),
            ("0x10", "the unit 'x10' is unknown"),
            ("-1", "a size cannot be negative"),
            ("", "a size is a number"),
            ("M", "a size is a number"),
            (".", "a size is a number"),
            ("1.2.3", "the number has two decimal points"),
            ("16E", "the size is too large"),
            ("340282366920938463463374607431768211455E", "the size is too large"),
            ("9999999999999999999999999999999999999999999", "the size is too large"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }

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
