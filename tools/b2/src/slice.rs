//! Slices of arrays: a range or an index for each dimension, as in NumPy.

use crate::error::Failure;
use crate::plural::counted;

/// The selected indices of a dimension: `count` indices from `first`, at a distance of `step`,
/// which may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    pub first: u64,
    pub step: i64,
    pub count: u64,
}

impl Axis {
    /// Returns the axis of all indices of a dimension.
    pub fn whole(len: u64) -> Axis {
        Axis { first: 0, step: 1, count: len }
    }

    /// Returns the index with this number.
    pub fn at(&self, number: u64) -> u64 {
        let distance = number.wrapping_mul(self.step.unsigned_abs());
        if self.step < 0 { self.first - distance } else { self.first + distance }
    }

    /// Returns `count` indices from that with the number `from`.
    pub fn part(&self, from: u64, count: u64) -> Axis {
        Axis { first: self.at(from), step: self.step, count: count.min(self.count - from) }
    }

    /// Returns the smallest index and the index after the largest one.
    pub fn bounds(&self) -> (u64, u64) {
        match self.count {
            0 => (self.first, self.first),
            count => {
                let last = self.at(count - 1);
                (self.first.min(last), self.first.max(last) + 1)
            }
        }
    }
}

/// Parses a slice of an array of this shape. Returns the axis of each dimension. Dimensions that
/// are missing or replaced by `...` are complete. Negative numbers count from the end. Ranges are
/// clipped to the shape.
pub fn parse(text: &str, shape: &[u64]) -> Result<Vec<Axis>, Failure> {
    let invalid = |reason: String| Err(Failure::usage(format!("--slice '{text}': {reason}")));
    let entries: Vec<&str> = match text.trim() {
        "" => Vec::new(),
        text => text.split(',').map(str::trim).collect(),
    };
    let ellipses = entries.iter().filter(|&&entry| entry == "...").count();
    if ellipses > 1 {
        return invalid("'...' is allowed only once".to_owned());
    }
    if entries.len() - ellipses > shape.len() {
        return invalid(format!("the array has {}", counted(shape.len(), "dimension")));
    }
    let missing = shape.len() - (entries.len() - ellipses);
    let mut axes = Vec::new();
    for entry in &entries {
        if *entry == "..." {
            axes.extend(
                shape[axes.len()..axes.len() + missing].iter().map(|&len| Axis::whole(len)),
            );
            continue;
        }
        let len = shape[axes.len()];
        let Some(axis) = parse_entry(entry, len) else {
            return invalid(format!("'{entry}' is neither START:STOP:STEP nor an index"));
        };
        if !entry.contains(':') && axis.count == 0 {
            return invalid(format!("index {entry} is out of range for {len} items"));
        }
        axes.push(axis);
    }
    axes.extend(shape[axes.len()..].iter().map(|&len| Axis::whole(len)));
    Ok(axes)
}

/// Returns whether each dimension is selected by an index, which removes it from the result as in
/// NumPy. `text` must be a valid slice of an array with this number of dimensions.
pub fn indexed(text: &str, ndim: usize) -> Vec<bool> {
    let entries: Vec<&str> = match text.trim() {
        "" => Vec::new(),
        text => text.split(',').map(str::trim).collect(),
    };
    let ellipses = entries.iter().filter(|&&entry| entry == "...").count();
    let missing = ndim.saturating_sub(entries.len() - ellipses);
    let mut indexed = Vec::new();
    for entry in entries {
        match entry {
            "..." => indexed.extend(vec![false; missing]),
            entry => indexed.push(!entry.contains(':')),
        }
    }
    indexed.resize(ndim, false);
    indexed
}

/// Parses a range or an index of a dimension of `len` items. An index out of range has no items.
fn parse_entry(text: &str, len: u64) -> Option<Axis> {
    let mut parts = text.split(':').map(str::trim);
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(Some),
    };
    let first = number(parts.next()?)?;
    let Some(last) = parts.next() else {
        let index = position(first?, len);
        let count = u64::from((0..i128::from(len)).contains(&index));
        return Some(Axis { first: u64::try_from(index).unwrap_or(0), step: 1, count });
    };
    let last = number(last)?;
    let step = parts.next().map_or(Some(None), number)?.unwrap_or(1);
    if parts.next().is_some() || step == 0 || step == i64::MIN {
        return None;
    }
    // The bounds of a descending range are one lower: it may end before index 0.
    let (low, high) = if step > 0 { (0, i128::from(len)) } else { (-1, i128::from(len) - 1) };
    let bound = |given: Option<i64>, default: i128| {
        given.map_or(default, |index| position(index, len).clamp(low, high))
    };
    let (start, stop) = if step > 0 {
        (bound(first, low), bound(last, high))
    } else {
        (bound(first, high), bound(last, low))
    };
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = distance.max(0).unsigned_abs().div_ceil(u128::from(step.unsigned_abs()));
    Some(Axis { first: u64::try_from(start).unwrap_or(0), step, count: u64::try_from(count).ok()? })
}

/// Returns the index for an index that may count from the end.
fn position(index: i64, len: u64) -> i128 {
    if index < 0 { i128::from(index) + i128::from(len) } else { i128::from(index) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(axis: &Axis) -> Vec<u64> {
        (0..axis.count).map(|number| axis.at(number)).collect()
    }

    #[test]
    fn ranges_are_those_of_numpy() {
        for (text, expected) in [
            ("", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9][..]),
            ("2:4", &[2, 3]),
            (":3", &[0, 1, 2]),
            ("-3:", &[7, 8, 9]),
            ("-1", &[9]),
            ("5:100", &[5, 6, 7, 8, 9]),
            ("-100:2", &[0, 1]),
            ("7:3", &[]),
            ("100:", &[]),
            ("::4", &[0, 4, 8]),
            ("1:8:3", &[1, 4, 7]),
            (" 1 : 2 : 100 ", &[1]),
            ("::-1", &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
            ("8:1:-3", &[8, 5, 2]),
            ("2::-1", &[2, 1, 0]),
            (":7:-1", &[9, 8]),
            ("100::-5", &[9, 4]),
            ("-100::-1", &[]),
            ("3:5:-1", &[]),
        ] {
            let axes = parse(text, &[10]).unwrap();
            assert_eq!(indices(&axes[0]), expected, "{text}");
            if let (Some(least), Some(most)) = (expected.iter().min(), expected.iter().max()) {
                assert_eq!(axes[0].bounds(), (*least, most + 1), "{text}");
            }
        }
        let texts = [
            "x", "1:2:3:4", "1,2,3", "10", "-11", "1.5", "a:b", "::0", ":::", ".", "....",
            "...,...",
        ];
        for text in texts {
            assert!(parse(text, &[10, 5]).is_err(), "{text}");
        }
    }

    #[test]
    fn indices_remove_their_dimension() {
        for (text, expected) in [
            ("", [false, false, false]),
            ("1", [true, false, false]),
            ("...,1", [false, false, true]),
            ("1:2,0", [false, true, false]),
            ("0,...,-1", [true, false, true]),
            ("0,1,2", [true, true, true]),
            ("0,1,2,...", [true, true, true]),
        ] {
            assert_eq!(indexed(text, 3), expected, "{text}");
        }
        assert!(indexed("...", 0).is_empty());
    }

    #[test]
    fn missing_dimensions_are_complete() {
        let whole = Axis::whole;
        let one = Axis { first: 1, step: 1, count: 1 };
        let shape = [4, 5, 6];
        for (text, axes) in [
            ("1", [one, whole(5), whole(6)]),
            ("...", [whole(4), whole(5), whole(6)]),
            ("1,...", [one, whole(5), whole(6)]),
            ("...,1", [whole(4), whole(5), one]),
            ("1, ... ,1", [one, whole(5), one]),
            ("1,1,1,...", [one, one, one]),
            ("...,1,1,1", [one, one, one]),
        ] {
            assert_eq!(parse(text, &shape).unwrap(), axes, "{text}");
        }
        assert_eq!(parse("...", &[]).unwrap(), []);
        assert_eq!(parse("0:0", &[0]).unwrap()[0].count, 0);
        assert_eq!(parse("::-1", &[0]).unwrap()[0].count, 0);
        let long = parse("::9223372036854775807", &[u64::MAX]).unwrap()[0];
        assert_eq!((long.count, long.at(2)), (3, u64::MAX - 1));
    }
}
