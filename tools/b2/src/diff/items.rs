//! The comparison of the items of two arrays, by value.

use super::report::{Differences, First, Mismatch, Report};
use crate::cli::{Cli, DiffArgs};
use crate::error::Failure;
use crate::items;
use crate::scan::{Leaf, MAX_SEGMENT, Number, Scanned, segments};
use ferroblosc_formats::convert::Source;
use ferroblosc_formats::numpy::{Dtype, Kind};
use ferroblosc_tools_common::progress::bar;
use std::sync::atomic::{AtomicBool, Ordering};

/// Two scalar fields that are compared.
struct Pair {
    one: Leaf,
    other: Leaf,
}

/// The permitted difference of numbers: `absolute + relative * |other|`.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

impl Tolerance {
    pub fn of(args: &DiffArgs) -> Tolerance {
        Tolerance { absolute: args.tolerance, relative: args.relative }
    }

    /// Returns none for equal numbers, otherwise their distance.
    pub fn distance(self, one: Number, other: Number) -> Option<f64> {
        // Floats do not distinguish all integers.
        let (one, other) = match (one, other) {
            (Number::Int(_), Number::Float(_)) => (one, exact(other)),
            (Number::Float(_), Number::Int(_)) => (exact(one), other),
            both => both,
        };
        let distance = match (one, other) {
            (Number::Int(one), Number::Int(other)) if one == other => return None,
            (Number::Int(one), Number::Int(other)) => one.abs_diff(other) as f64,
            _ => {
                let (one, other) = (one.as_float(), other.as_float());
                if one == other || one.is_nan() && other.is_nan() {
                    return None;
                }
                (one - other).abs()
            }
        };
        let other = other.as_float();
        // An infinity is close to nothing else.
        let permitted =
            if other.is_finite() { self.absolute + self.relative * other.abs() } else { 0.0 };
        let is_close = distance.is_finite() && distance <= permitted;
        (!is_close).then_some(distance)
    }
}

/// Converts a float without a fraction to an integer, if it has at most 127 bits.
fn exact(number: Number) -> Number {
    match number {
        Number::Float(float) if float.fract() == 0.0 && float.abs() < 2f64.powi(127) => {
            Number::Int(float as i128)
        }
        number => number,
    }
}

/// Whether items of the two types can be equal.
fn are_comparable(one: &Dtype, other: &Dtype) -> bool {
    let is_number =
        |kind| matches!(kind, Kind::Bool | Kind::Int | Kind::Uint | Kind::Float | Kind::Complex);
    let is_text = |kind| matches!(kind, Kind::Bytes | Kind::Unicode);
    let (first, second) = (one.kind(), other.kind());
    match (first, second) {
        (Kind::Complex, Kind::Complex) => true,
        (Kind::Complex, _) | (_, Kind::Complex) => false,
        (Kind::Datetime, Kind::Datetime) | (Kind::Timedelta, Kind::Timedelta) => {
            one.unit() == other.unit()
        }
        (Kind::Void | Kind::Object, _) => first == second && one.itemsize() == other.itemsize(),
        _ => is_number(first) && is_number(second) || is_text(first) && is_text(second),
    }
}

/// Returns the pairs of fields to compare, or none if the types are not comparable.
fn pairs(one: &Dtype, other: &Dtype) -> Result<Option<Vec<Pair>>, Failure> {
    let (ones, others) = (Leaf::all(one)?, Leaf::all(other)?);
    if ones.len() != others.len() {
        return Ok(None);
    }
    let pairs = ones.into_iter().zip(others).map(|(one, other)| {
        let matches = one.name == other.name
            && one.count == other.count
            && are_comparable(&one.dtype, &other.dtype);
        matches.then_some(Pair { one, other })
    });
    Ok(pairs.collect())
}

/// Whether one of two different times is NaT, which is close to no time.
pub fn is_one_nat(one: Number, other: Number) -> bool {
    let is_nat = |number| matches!(number, Number::Int(time) if time == items::NOT_A_TIME.into());
    is_nat(one) != is_nat(other)
}

/// Returns whether two scalars differ, and their distance, if they are numbers or times.
fn compare(
    (dtype, one): (&Dtype, &[u8]),
    (other_dtype, other): (&Dtype, &[u8]),
    tolerance: Tolerance,
) -> (bool, Option<f64>) {
    if dtype.kind() == Kind::Complex {
        let halves = |bytes: &[u8], dtype: &Dtype| {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            let order = dtype.is_big_endian();
            [real, imaginary].map(|half| Number::Float(items::float_value(half, order)))
        };
        let both = halves(one, dtype).into_iter().zip(halves(other, other_dtype));
        let distances = both.filter_map(|(one, other)| tolerance.distance(one, other));
        let largest = distances.reduce(f64::max);
        return (largest.is_some(), largest);
    }
    let numbers = (Number::of(dtype, one), Number::of(other_dtype, other));
    let are_times = matches!(dtype.kind(), Kind::Datetime | Kind::Timedelta);
    match numbers {
        (Some(one), Some(other)) if are_times && is_one_nat(one, other) => (true, None),
        (Some(one), Some(other)) => {
            let distance = tolerance.distance(one, other);
            (distance.is_some(), distance)
        }
        _ if matches!(dtype.kind(), Kind::Bytes | Kind::Unicode) => {
            (items::units(dtype, one) != items::units(other_dtype, other), None)
        }
        _ => (one != other, None),
    }
}

/// Compares the items of two segments. `first` is the number of their first item.
fn compare_segment(
    pairs: &[Pair],
    (one, other): (&[u8], &[u8]),
    (size, other_size): (usize, usize),
    first: u64,
    tolerance: Tolerance,
) -> Differences {
    let mut found = Differences::default();
    let both = one.chunks_exact(size).zip(other.chunks_exact(other_size));
    for (number, (one, other)) in both.enumerate() {
        let mut is_different = false;
        for pair in pairs {
            let (of_one, of_other) = (pair.one.of(one), pair.other.of(other));
            if pair.one.dtype.text() == pair.other.dtype.text() && of_one == of_other {
                continue;
            }
            let (size, other_size) =
                (pair.one.dtype.itemsize() as usize, pair.other.dtype.itemsize() as usize);
            let scalars =
                of_one.chunks_exact(size.max(1)).zip(of_other.chunks_exact(other_size.max(1)));
            for (at, (one, other)) in scalars.enumerate() {
                let (differs, distance) =
                    compare((&pair.one.dtype, one), (&pair.other.dtype, other), tolerance);
                if !differs {
                    continue;
                }
                is_different = true;
                found.add_distance(distance.filter(|distance| !distance.is_nan()));
                found.first.get_or_insert_with(|| {
                    let texts = (
                        items::text(&pair.one.dtype, one, None),
                        items::text(&pair.other.dtype, other, None),
                    );
                    // Different items may have the same text, such as "\\n" and a line feed.
                    let (text, other_text) = if texts.0 == texts.1 {
                        (items::hex(one), items::hex(other))
                    } else {
                        texts
                    };
                    First {
                        item: first + number as u64,
                        column: match pair.one.count {
                            1 => pair.one.name.clone(),
                            _ => format!("{}[{at}]", pair.one.name),
                        },
                        one: text,
                        other: other_text,
                    }
                });
            }
        }
        found.items += u64::from(is_different);
    }
    found
}

/// The sources of both files in a thread, and the bytes of a segment of each.
type ScanState = (Box<dyn Source>, Box<dyn Source>, Vec<u8>, Vec<u8>);

/// Compares the items of two arrays.
pub fn compare_arrays(
    args: &DiffArgs,
    cli: &Cli,
    one: &Scanned,
    other: &Scanned,
) -> Result<Report, Failure> {
    let both = [one, other];
    let mut result = Report {
        names: both.map(|scanned| scanned.input.name().to_owned()),
        types: both.map(|scanned| scanned.info.dtype.text().to_owned()),
        shapes: both.map(|scanned| scanned.info.shape.clone()),
        ..Report::default()
    };
    let pairs = pairs(&one.info.dtype, &other.info.dtype);
    let Some(pairs) = pairs.map_err(|failure| one.input.error(failure))? else {
        result.mismatch = Some(Mismatch::Types);
        return Ok(result);
    };
    let is_untyped = !one.is_typed && !other.is_typed;
    if one.info.shape != other.info.shape {
        result.mismatch = Some(Mismatch::Shapes);
        // As in cmp, bytes are compared up to the end of the shorter data.
        if !is_untyped || args.silent {
            return Ok(result);
        }
    }
    result.compared = one.items().min(other.items());
    let tolerance = Tolerance::of(args);
    let sizes = (one.info.dtype.itemsize() as usize, other.info.dtype.itemsize() as usize);
    let is_same_type = one.info.dtype.text() == other.info.dtype.text();
    let bar = bar(!cli.quiet && !args.silent, Some(result.compared * sizes.0 as u64));
    let most = MAX_SEGMENT / sizes.0.max(sizes.1).max(1) as u64;
    let total = (result.compared, one.segment().max(other.segment()).clamp(1, most.max(1)));
    let nthreads = cli.nthreads();
    let inner = if total.0 <= total.1 { nthreads } else { 1 };
    let make = || Ok((one.source(inner)?, other.source(inner)?, Vec::new(), Vec::new()));
    let mut differences = Differences::default();
    let scan = |state: &mut ScanState, first, count, stop: &AtomicBool| {
        let (source, other_source, bytes, other_bytes) = state;
        one.read(source.as_mut(), first, count, bytes)?;
        other.read(other_source.as_mut(), first, count, other_bytes)?;
        bar.inc(bytes.len() as u64);
        if is_same_type && bytes == other_bytes {
            return Ok(Differences::default());
        }
        let found = compare_segment(&pairs, (bytes, other_bytes), sizes, first, tolerance);
        if args.silent && found.items > 0 {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(found)
    };
    let scanned = segments(total, nthreads, make, scan, |segment| differences.merge(segment));
    bar.finish_and_clear();
    scanned?;
    if let Some(first) = &differences.first {
        result.index = one.index_of(first.item);
    }
    result.differences = differences;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_with_a_tolerance() {
        let close = |one: f64, other: f64, absolute, relative| {
            let tolerance = Tolerance { absolute, relative };
            tolerance.distance(Number::Float(one), Number::Float(other)).is_none()
        };
        assert!(close(1.0, 1.0, 0.0, 0.0));
        assert!(close(0.0, -0.0, 0.0, 0.0));
        assert!(close(f64::NAN, f64::NAN, 0.0, 0.0));
        assert!(!close(f64::NAN, 1.0, 9.0, 9.0));
        assert!(close(f64::INFINITY, f64::INFINITY, 0.0, 0.0));
        assert!(!close(f64::INFINITY, f64::NEG_INFINITY, 9.0, 9.0));
        assert!(!close(1.0, f64::INFINITY, 9.0, 9.0));
        assert!(!close(f64::INFINITY, 1.0, 9.0, 9.0));
        assert!(close(1.0, 1.5, 0.5, 0.0));
        assert!(!close(1.0, 1.75, 0.5, 0.0));
        assert!(close(90.0, 100.0, 0.0, 0.1));
        assert!(!close(80.0, 100.0, 0.0, 0.1));
        let exact = Tolerance { absolute: 0.0, relative: 0.0 };
        let large = i128::from(u64::MAX);
        assert_eq!(exact.distance(Number::Int(large), Number::Int(large - 1)), Some(1.0));
        assert_eq!(exact.distance(Number::Int(3), Number::Float(3.0)), None);
        assert_eq!(exact.distance(Number::Int(3), Number::Float(3.5)), Some(0.5));
        let large = 1 << 53;
        assert_eq!(exact.distance(Number::Int(large + 1), Number::Float(large as f64)), Some(1.0));
        assert_eq!(exact.distance(Number::Float(large as f64), Number::Int(large + 1)), Some(1.0));
        assert_eq!(exact.distance(Number::Int(0), Number::Float(1e300)), Some(1e300));
        let infinite = exact.distance(Number::Int(0), Number::Float(f64::INFINITY));
        assert_eq!(infinite, Some(f64::INFINITY));
    }

    #[test]
    fn no_time_is_close_to_nat() {
        let dtype = Dtype::parse("<M8[s]").unwrap();
        let tolerance = Tolerance { absolute: 1e30, relative: 2.0 };
        let compared = |one: i64, other: i64| {
            let (one, other) = (one.to_le_bytes(), other.to_le_bytes());
            compare((&dtype, &one), (&dtype, &other), tolerance)
        };
        assert_eq!(compared(5, i64::MIN), (true, None));
        assert_eq!(compared(i64::MIN, 5), (true, None));
        assert_eq!(compared(i64::MIN, i64::MIN), (false, None));
        assert_eq!(compared(5, 6), (false, None));
    }

    #[test]
    fn texts_are_compared_by_their_characters() {
        let differ = |one: (&str, &[u8]), other: (&str, &[u8])| {
            let types = (Dtype::parse(one.0).unwrap(), Dtype::parse(other.0).unwrap());
            let tolerance = Tolerance { absolute: 0.0, relative: 0.0 };
            compare((&types.0, one.1), (&types.1, other.1), tolerance).0
        };
        let wide = |text: &str| -> Vec<u8> {
            text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect()
        };
        assert!(differ(("<U1", &wide("\u{1b}")), ("<U6", &wide("\\u{1b}"))));
        assert!(differ(("|S1", b"\xff"), ("|S4", b"\\xff")));
        assert!(differ(("|S4", b"\\xff"), ("|S1", b"\xff")));
        let invalid = (0x11_0000_u32.to_le_bytes(), 0xD800_u32.to_le_bytes());
        assert!(differ(("<U1", &invalid.0), ("<U1", &invalid.1)));
        assert!(differ(("<U1", &wide("\u{fffd}")), ("<U1", &invalid.1)));
        assert!(differ(("|S1", b"\xe9"), ("<U1", &wide("\u{e9}"))));
        assert!(!differ(("|S4", b"ab\0\0"), ("<U2", &wide("ab"))));
        assert!(!differ(("<U1", &wide("a")), (">U1", &u32::from('a').to_be_bytes())));
    }

    #[test]
    fn types_of_the_same_values_are_comparable() {
        let comparable = |one: &str, other: &str| {
            pairs(&Dtype::parse(one).unwrap(), &Dtype::parse(other).unwrap()).unwrap().is_some()
        };
        for (one, other) in [
            ("<i4", ">i8"),
            ("|b1", "<f4"),
            ("|S3", "<U5"),
            ("<c8", "<c16"),
            ("<M8[s]", ">M8[s]"),
            ("[('a', '<i4')]", "[('a', '<f8')]"),
        ] {
            assert!(comparable(one, other) && comparable(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("<i4", "|S4"),
            ("<f4", "<c8"),
            ("<M8[s]", "<M8[ms]"),
            ("<M8[s]", "<i8"),
            ("|V3", "|V4"),
            ("[('a', '<i4')]", "[('b', '<i4')]"),
            ("[('a', '<i4')]", "[('a', '<i4'), ('b', '<i4')]"),
            ("[('a', '<i4')]", "[('a', '<i4', (2,))]"),
        ] {
            assert!(!comparable(one, other) && !comparable(other, one), "{one} {other}");
        }
    }
}
