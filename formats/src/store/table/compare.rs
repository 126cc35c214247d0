//! Comparisons of values with constants, exact for integers and floats of any size.

use std::cmp::Ordering;

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
    // The conversion saturates, at values that no integer here has.
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn segments_are_left_out_only_if_no_value_can_match() {
        let whole = |number| Number::Whole(number);
        for constant in -1..8 {
            for comparison in [
                Comparison::Eq,
                Comparison::Ne,
                Comparison::Lt,
                Comparison::Le,
                Comparison::Gt,
                Comparison::Ge,
            ] {
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
