//! Comparisons of values with constants, exact for integers and floats of any size.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::filter::Comparison;
use crate::numpy::{Dtype, Kind, half_to};
use crate::store::value::Value;

/// A number.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    /// Returns the number of a value; `None` for other values.
    pub fn of(value: &Value) -> Option<Number> {
        Some(match value {
            Value::Int(number) => Number::Whole((*number).into()),
            Value::UInt(number) => Number::Whole((*number).into()),
            Value::Bool(truth) => Number::Whole((*truth).into()),
            Value::Float(number) => Number::Float(*number),
            _ => return None,
        })
    }

    /// Returns the order; `None` if one of them is NaN.
    pub fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Whole(one), Number::Whole(other)) => Some(one.cmp(&other)),
            (Number::Float(one), Number::Float(other)) => one.partial_cmp(&other),
            (Number::Whole(one), Number::Float(other)) => whole_to_float(one, other),
            (Number::Float(one), Number::Whole(other)) => {
                whole_to_float(other, one).map(Ordering::reverse)
            }
        }
    }
}

/// Compares an integer of at most 65 bits with a float.
fn whole_to_float(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // The conversion saturates beyond the range of the integers.
    let floor = float.floor();
    let order = whole.cmp(&(floor as i128));
    Some(if order == Ordering::Equal && float > floor { Ordering::Less } else { order })
}

impl Comparison {
    /// Whether the comparison holds for an order; `None` is that of NaN.
    pub fn holds(self, order: Option<Ordering>) -> bool {
        let Some(order) = order else {
            return self == Comparison::Ne;
        };
        match self {
            Comparison::Eq => order.is_eq(),
            Comparison::Ne => order.is_ne(),
            Comparison::Lt => order.is_lt(),
            Comparison::Le => order.is_le(),
            Comparison::Gt => order.is_gt(),
            Comparison::Ge => order.is_ge(),
        }
    }

    /// Whether the comparison can hold for numbers from `min` to `max`.
    pub fn can_hold(self, min: Number, max: Number, constant: Number) -> bool {
        let (low, high) = (min.compare(constant), max.compare(constant));
        let (Some(low), Some(high)) = (low, high) else {
            return true;
        };
        match self {
            Comparison::Eq => low.is_le() && high.is_ge(),
            Comparison::Ne => low.is_ne() || high.is_ne(),
            Comparison::Lt => low.is_lt(),
            Comparison::Le => low.is_le(),
            Comparison::Gt => high.is_gt(),
            Comparison::Ge => high.is_ge(),
        }
    }
}

/// Whether a value compares with a constant of the same type. Nulls do not.
pub fn holds(value: &Value, comparison: Comparison, constant: &Value) -> bool {
    match (value, constant) {
        (Value::Nil, _) => false,
        (Value::Str(one), Value::Str(other)) => comparison.holds(Some(one.cmp(other))),
        (Value::Bytes(one), Value::Bytes(other)) => comparison.holds(Some(one.cmp(other))),
        (one, other) => match (Number::of(one), Number::of(other)) {
            (Some(one), Some(other)) => comparison.holds(one.compare(other)),
            _ => false,
        },
    }
}

/// Calls `each` with the numbers in items of a dtype. Returns `false` for other dtypes.
pub fn each_number(dtype: &Dtype, bytes: &[u8], mut each: impl FnMut(Number)) -> bool {
    macro_rules! each {
        ($type:ty, $size:literal, $number:expr) => {
            for item in bytes.chunks_exact($size) {
                let mut array = [0; $size];
                array.copy_from_slice(item);
                if dtype.is_big_endian() {
                    array.reverse();
                }
                each($number(<$type>::from_le_bytes(array)));
            }
        };
    }
    let whole = |number: i128| Number::Whole(number);
    match (dtype.kind(), dtype.itemsize()) {
        (Kind::Bool, 1) => bytes.iter().for_each(|&byte| each(whole((byte != 0).into()))),
        (Kind::Int, 1) => each!(i8, 1, |number: i8| whole(number.into())),
        (Kind::Int, 2) => each!(i16, 2, |number: i16| whole(number.into())),
        (Kind::Int, 4) => each!(i32, 4, |number: i32| whole(number.into())),
        (Kind::Int, 8) => each!(i64, 8, |number: i64| whole(number.into())),
        (Kind::Uint, 1) => each!(u8, 1, |number: u8| whole(number.into())),
        (Kind::Uint, 2) => each!(u16, 2, |number: u16| whole(number.into())),
        (Kind::Uint, 4) => each!(u32, 4, |number: u32| whole(number.into())),
        (Kind::Uint, 8) => each!(u64, 8, |number: u64| whole(number.into())),
        (Kind::Float, 2) => each!(u16, 2, |half: u16| Number::Float(half_to(half))),
        (Kind::Float, 4) => each!(f32, 4, |number: f32| Number::Float(number.into())),
        (Kind::Float, 8) => each!(f64, 8, Number::Float),
        _ => return false,
    }
    true
}

/// Returns the integers that compare with a constant, and whether they are those that do not.
fn matching_integers(comparison: Comparison, constant: Number) -> (RangeInclusive<i128>, bool) {
    let (floor, has_fraction) = match constant {
        Number::Whole(whole) => (whole, false),
        // Nothing compares with NaN, but all numbers differ.
        Number::Float(float) if float.is_nan() => {
            return (RangeInclusive::new(1, 0), comparison == Comparison::Ne);
        }
        // The conversion saturates beyond the range of the integers.
        Number::Float(float) => (float.floor() as i128, float > float.floor()),
    };
    let next = floor.saturating_add(1);
    // The first integer that is not below the constant.
    let ceiling = if has_fraction { next } else { floor };
    match comparison {
        Comparison::Eq => (ceiling..=floor, false),
        Comparison::Ne => (ceiling..=floor, true),
        Comparison::Lt => (i128::MIN..=ceiling.saturating_sub(1), false),
        Comparison::Le => (i128::MIN..=floor, false),
        Comparison::Gt => (next..=i128::MAX, false),
        Comparison::Ge => (ceiling..=i128::MAX, false),
    }
}

/// Adds to `holds` whether each item of a dtype compares with a constant. Returns `false` for
/// non-numeric dtypes.
pub fn compare_items(
    dtype: &Dtype,
    bytes: &[u8],
    (comparison, constant): (Comparison, Number),
    holds: &mut Vec<bool>,
) -> bool {
    macro_rules! integers {
        ($type:ty) => {{
            let (range, is_negated) = matching_integers(comparison, constant);
            let (least, most) = (i128::from(<$type>::MIN), i128::from(<$type>::MAX));
            let (low, high) = (*range.start().max(&least), *range.end().min(&most));
            // The range is inside that of the type, unless it is empty.
            let range = if low <= high { (low as $type, high as $type) } else { (1, 0) };
            holds.extend(bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().map(|item| {
                let number = <$type>::from_le_bytes(*item);
                ((range.0 <= number) & (number <= range.1)) != is_negated
            }));
        }};
    }
    macro_rules! floats {
        ($type:ty, $constant:expr) => {{
            let constant = $constant;
            let items = bytes.as_chunks::<{ size_of::<$type>() }>().0.iter();
            let numbers = items.map(|item| f64::from(<$type>::from_le_bytes(*item)));
            match comparison {
                Comparison::Eq => holds.extend(numbers.map(|number| number == constant)),
                Comparison::Ne => holds.extend(numbers.map(|number| number != constant)),
                Comparison::Lt => holds.extend(numbers.map(|number| number < constant)),
                Comparison::Le => holds.extend(numbers.map(|number| number <= constant)),
                Comparison::Gt => holds.extend(numbers.map(|number| number > constant)),
                Comparison::Ge => holds.extend(numbers.map(|number| number >= constant)),
            }
        }};
    }
    let float = match constant {
        Number::Float(float) => Some(float),
        // Other integers may have no equal float.
        Number::Whole(whole) => (whole.abs() <= 1 << 53).then_some(whole as f64),
    };
    match (dtype.kind(), dtype.itemsize(), float) {
        _ if dtype.is_big_endian() => {
            return compare_each(dtype, bytes, comparison, constant, holds);
        }
        (Kind::Int, 1, _) => integers!(i8),
        (Kind::Int, 2, _) => integers!(i16),
        (Kind::Int, 4, _) => integers!(i32),
        (Kind::Int, 8, _) => integers!(i64),
        (Kind::Uint, 1, _) => integers!(u8),
        (Kind::Uint, 2, _) => integers!(u16),
        (Kind::Uint, 4, _) => integers!(u32),
        (Kind::Uint, 8, _) => integers!(u64),
        (Kind::Float, 4, Some(constant)) => floats!(f32, constant),
        (Kind::Float, 8, Some(constant)) => floats!(f64, constant),
        _ => return compare_each(dtype, bytes, comparison, constant, holds),
    }
    true
}

/// As [`compare_items`], for all dtypes of numbers.
fn compare_each(
    dtype: &Dtype,
    bytes: &[u8],
    comparison: Comparison,
    constant: Number,
    holds: &mut Vec<bool>,
) -> bool {
    each_number(dtype, bytes, |number| holds.push(comparison.holds(number.compare(constant))))
}

/// Returns the least and the greatest of items of a dtype, and whether there are NaNs; `None`
/// instead of the bounds if there are no other items.
pub fn extrema(dtype: &Dtype, bytes: &[u8]) -> (Option<(Number, Number)>, bool) {
    macro_rules! integers {
        ($type:ty) => {{
            let items = bytes.as_chunks::<{ size_of::<$type>() }>().0.iter();
            let numbers = items.map(|item| <$type>::from_le_bytes(*item));
            let (low, high) = numbers.fold((<$type>::MAX, <$type>::MIN), |(low, high), number| {
                (low.min(number), high.max(number))
            });
            let whole = |number: $type| Number::Whole(number.into());
            return ((low <= high).then(|| (whole(low), whole(high))), false);
        }};
    }
    macro_rules! floats {
        ($type:ty) => {{
            let items = bytes.as_chunks::<{ size_of::<$type>() }>().0.iter();
            let numbers = items.map(|item| <$type>::from_le_bytes(*item));
            let start = (<$type>::INFINITY, <$type>::NEG_INFINITY, false, true);
            // Comparisons with NaN are false.
            let (low, high, has_nan, is_nan) =
                numbers.fold(start, |(low, high, has_nan, is_nan), number| {
                    let low = if number < low { number } else { low };
                    let high = if number > high { number } else { high };
                    (low, high, has_nan | number.is_nan(), is_nan & number.is_nan())
                });
            let float = |number: $type| Number::Float(number.into());
            return ((!is_nan).then(|| (float(low), float(high))), has_nan);
        }};
    }
    match (dtype.kind(), dtype.itemsize()) {
        _ if dtype.is_big_endian() => {}
        (Kind::Int, 1) => integers!(i8),
        (Kind::Int, 2) => integers!(i16),
        (Kind::Int, 4) => integers!(i32),
        (Kind::Int, 8) => integers!(i64),
        (Kind::Uint, 1) => integers!(u8),
        (Kind::Uint, 2) => integers!(u16),
        (Kind::Uint, 4) => integers!(u32),
        (Kind::Uint, 8) => integers!(u64),
        (Kind::Float, 4) => floats!(f32),
        (Kind::Float, 8) => floats!(f64),
        _ => {}
    }
    let (mut bounds, mut has_nan) = (None, false);
    each_number(dtype, bytes, |number| match (bounds, number) {
        (_, Number::Float(float)) if float.is_nan() => has_nan = true,
        (None, _) => bounds = Some((number, number)),
        (Some((min, max)), _) => {
            let is_less = number.compare(min).is_some_and(Ordering::is_lt);
            let is_greater = number.compare(max).is_some_and(Ordering::is_gt);
            bounds =
                Some((if is_less { number } else { min }, if is_greater { number } else { max }));
        }
    });
    (bounds, has_nan)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPARISONS: [Comparison; 6] = [
        Comparison::Eq,
        Comparison::Ne,
        Comparison::Lt,
        Comparison::Le,
        Comparison::Gt,
        Comparison::Ge,
    ];

    #[test]
    fn integers_and_floats_are_compared_exactly() {
        let order = |whole: i128, float: f64| Number::Whole(whole).compare(Number::Float(float));
        let large = (1i128 << 53) + 1;
        assert_eq!(order(large, large as f64), Some(Ordering::Greater));
        assert_eq!(order(2, 2.5), Some(Ordering::Less));
        assert_eq!(order(3, 2.5), Some(Ordering::Greater));
        assert_eq!(order(-3, -2.5), Some(Ordering::Less));
        assert_eq!(order(-2, -2.5), Some(Ordering::Greater));
        assert_eq!(order(u64::MAX.into(), 18_446_744_073_709_551_616.0), Some(Ordering::Less));
        assert_eq!(order(i64::MIN.into(), f64::NEG_INFINITY), Some(Ordering::Greater));
        assert_eq!(order(0, f64::NAN), None);
        let reversed = Number::Float(2.5).compare(Number::Whole(2));
        assert_eq!(reversed, Some(Ordering::Greater));
        assert!(Comparison::Ne.holds(None) && !Comparison::Eq.holds(None));
    }

    #[test]
    fn items_are_compared_like_single_numbers() {
        let mut constants: Vec<Number> = [0, 1, -1, 127, -128, 255, 1 << 40, (1 << 53) + 1]
            .into_iter()
            .chain([i64::MIN.into(), i64::MAX.into(), u64::MAX.into()])
            .map(Number::Whole)
            .collect();
        let floats = [0.0, -0.0, 0.5, -0.5, 127.5, 1e300, -1e300, f64::NAN, f64::INFINITY];
        constants.extend(floats.map(Number::Float));
        constants.push(Number::Float(f64::NEG_INFINITY));
        let mut bytes: Vec<u8> = (0..=255).collect();
        for float in floats.iter().chain(&[-1.0, 9_007_199_254_740_992.0, f64::MIN]) {
            bytes.extend(float.to_le_bytes());
            bytes.extend((*float as f32).to_le_bytes().repeat(2));
        }
        for dtype in [
            "|i1", "|u1", "|b1", "<i2", "<u2", ">i2", "<i4", "<u4", "<i8", "<u8", ">u8", "<f2",
            "<f4", "<f8", ">f8",
        ] {
            let dtype = Dtype::parse(dtype).unwrap();
            for &constant in &constants {
                for comparison in COMPARISONS {
                    let (mut found, mut wanted) = (Vec::new(), Vec::new());
                    assert!(compare_items(&dtype, &bytes, (comparison, constant), &mut found));
                    compare_each(&dtype, &bytes, comparison, constant, &mut wanted);
                    assert_eq!(found, wanted, "{dtype:?} {comparison:?} {constant:?}");
                }
            }
        }
        let text = Dtype::parse("<U1").unwrap();
        let test = (Comparison::Eq, Number::Whole(1));
        assert!(!compare_items(&text, &bytes, test, &mut Vec::new()));
    }

    #[test]
    fn extrema_are_those_of_single_numbers() {
        let check = |dtype: &str, bytes: &[u8]| {
            let dtype = Dtype::parse(dtype).unwrap();
            let mut numbers = Vec::new();
            each_number(&dtype, bytes, |number| numbers.push(number));
            let is_nan = |number: &Number| number.compare(*number).is_none();
            let has_nan = numbers.iter().any(is_nan);
            numbers.retain(|number| !is_nan(number));
            let order = |one: &&Number, other: &&Number| one.compare(**other).unwrap();
            let least = numbers.iter().min_by(order);
            let greatest = numbers.iter().max_by(order);
            let (bounds, found_nan) = extrema(&dtype, bytes);
            assert_eq!(found_nan, has_nan, "{dtype:?}");
            assert_eq!(bounds.is_some(), least.is_some(), "{dtype:?}");
            if let (Some((low, high)), Some(least), Some(greatest)) = (bounds, least, greatest) {
                assert_eq!(low.compare(*least), Some(Ordering::Equal), "{dtype:?}");
                assert_eq!(high.compare(*greatest), Some(Ordering::Equal), "{dtype:?}");
            }
        };
        let bytes: Vec<u8> = (0u32..512).map(|number| (number * 37 % 251) as u8).collect();
        for dtype in ["|i1", "|u1", "|b1", "<i2", "<u4", "<i8", ">i8", "<f2", "<f4", "<f8", ">f4"] {
            check(dtype, &bytes);
            check(dtype, &[]);
        }
        let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5, 2.5];
        for first in floats {
            for second in floats {
                check("<f8", &[first.to_le_bytes(), second.to_le_bytes()].concat());
                let singles = [first as f32, second as f32].map(f32::to_le_bytes);
                check("<f4", &singles.concat());
            }
        }
    }

    #[test]
    fn segments_are_skipped_only_if_no_value_can_match() {
        let whole = |number| Number::Whole(number);
        for constant in -1..8 {
            for comparison in COMPARISONS {
                for (min, max) in [(2, 5), (3, 3)] {
                    let holds = |number| comparison.holds(whole(number).compare(whole(constant)));
                    let can = comparison.can_hold(whole(min), whole(max), whole(constant));
                    // Segments with all values between the extrema.
                    assert_eq!(can, (min..=max).any(holds), "{comparison:?} {constant}");
                }
            }
        }
    }
}
