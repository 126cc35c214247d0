//! Which items are wanted: a range or an index for each dimension, as NumPy writes them.

use crate::voice::Failure;

/// Reads `text` for an array of this shape: the first index along each dimension and the one behind the last.
/// Dimensions that are not named are wanted whole; negative numbers count from the end; what is outside is left out.
pub fn parse(text: &str, shape: &[u64]) -> Result<(Vec<u64>, Vec<u64>), Failure> {
    let wrong = |why: String| Err(Failure::usage(format!("--slice '{text}': {why}")));
    let (mut start, mut stop) = (Vec::new(), Vec::new());
    let parts: Vec<&str> = match text.trim() {
        "" => Vec::new(),
        text => text.split(',').map(str::trim).collect(),
    };
    if parts.len() > shape.len() {
        return wrong(format!("there are {} dimensions", shape.len()));
    }
    for (part, &len) in parts.iter().zip(shape) {
        let Some(range) = part_of(part, len) else {
            return wrong(format!("'{part}' is neither START:STOP nor an index"));
        };
        if !part.contains(':') && range.0 >= len {
            return wrong(format!("there is no index {part} among {len}"));
        }
        start.push(range.0);
        stop.push(range.1.max(range.0));
    }
    for &len in &shape[parts.len()..] {
        start.push(0);
        stop.push(len);
    }
    Ok((start, stop))
}

/// A range of `len` items.
fn part_of(part: &str, len: u64) -> Option<(u64, u64)> {
    match part.split_once(':') {
        Some((first, last)) => {
            let bound = |text: &str, default| match text.trim() {
                "" => Some(default),
                text => Some(from_front(text.parse().ok()?, len).min(len)),
            };
            Some((bound(first, 0)?, bound(last, len)?))
        }
        None => {
            let index: i64 = part.parse().ok()?;
            let outside = index < 0 && index.unsigned_abs() > len;
            let first = if outside { len } else { from_front(index, len) };
            Some((first, first.saturating_add(1)))
        }
    }
}

/// An index that counts from the front.
fn from_front(index: i64, len: u64) -> u64 {
    match index {
        0.. => index.unsigned_abs(),
        _ => len.saturating_sub(index.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_what_numpy_makes_of_them() {
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
            assert_eq!(
                (found_start, found_stop),
                (start.to_vec(), stop.to_vec()),
                "{text}"
            );
        }
        for text in ["x", "1:2:3", "1,2,3", "10", "-11", "1.5", "a:b"] {
            assert!(parse(text, &shape).is_err(), "{text}");
        }
    }
}
