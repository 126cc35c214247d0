//! Slices of arrays: a range or an index for each dimension, as in NumPy.

use crate::error::Failure;

/// Parses a slice of an array of this shape. Returns the start and the stop index of each
/// dimension. Missing dimensions are complete. Negative numbers count from the end. Ranges are
/// clipped to the shape.
pub fn parse(text: &str, shape: &[u64]) -> Result<(Vec<u64>, Vec<u64>), Failure> {
    let invalid = |reason: String| Err(Failure::usage(format!("--slice '{text}': {reason}")));
    let (mut start, mut stop) = (Vec::new(), Vec::new());
    let entries: Vec<&str> = match text.trim() {
        "" => Vec::new(),
        text => text.split(',').map(str::trim).collect(),
    };
    if entries.len() > shape.len() {
        return invalid(format!("the array has {} dimensions", shape.len()));
    }
    for (entry, &len) in entries.iter().zip(shape) {
        let Some(range) = parse_range(entry, len) else {
            return invalid(format!("'{entry}' is neither START:STOP nor an index"));
        };
        if !entry.contains(':') && range.0 >= len {
            return invalid(format!("index {entry} is out of range for {len} items"));
        }
        start.push(range.0);
        stop.push(range.1.max(range.0));
    }
    for &len in &shape[entries.len()..] {
        start.push(0);
        stop.push(len);
    }
    Ok((start, stop))
}

/// Parses a range or an index of a dimension of `len` items.
fn parse_range(text: &str, len: u64) -> Option<(u64, u64)> {
    match text.split_once(':') {
        Some((first, last)) => {
            let bound = |text: &str, default| match text.trim() {
                "" => Some(default),
                text => Some(normalize(text.parse().ok()?, len).min(len)),
            };
            Some((bound(first, 0)?, bound(last, len)?))
        }
        None => {
            let index: i64 = text.parse().ok()?;
            let outside = index < 0 && index.unsigned_abs() > len;
            let first = if outside { len } else { normalize(index, len) };
            Some((first, first.saturating_add(1)))
        }
    }
}

/// Returns the non-negative index for an index that may count from the end.
fn normalize(index: i64, len: u64) -> u64 {
    match index {
        0.. => index.unsigned_abs(),
        _ => len.saturating_sub(index.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_numpy() {
        let shape = [10, 5];
        for (text, start, stop) in [
            ("", [0, 0], [10, 5]),
            ("2:4", [2, 0], [4, 5]),
            (":3,1", [0, 1], [3, 2]),
            ("-3:", [7, 0], [10, 5]),
            ("-1, -2", [9, 3], [10, 4]),
            ("5:100", [5, 0], [10, 5]),
            ("-100:2", [0, 0], [2, 5]),
            ("7:3", [7, 0], [7, 5]),
            (":", [0, 0], [10, 5]),
        ] {
            let (found_start, found_stop) = parse(text, &shape).unwrap();
            assert_eq!((found_start, found_stop), (start.to_vec(), stop.to_vec()), "{text}");
        }
        for text in ["x", "1:2:3", "1,2,3", "10", "-11", "1.5", "a:b"] {
            assert!(parse(text, &shape).is_err(), "{text}");
        }
    }
}
