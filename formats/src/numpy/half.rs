//! Half-precision floats.

/// Rounds to the nearest half float, ties to even.
pub fn half_of(number: f64) -> u16 {
    let bits = number.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let size = number.abs();
    if number.is_nan() {
        return sign | 0x7E00;
    }
    // Half a step above the largest finite value.
    if size >= 65520.0 {
        return sign | 0x7C00;
    }
    let exponent = ((bits >> 52) & 0x7FF) as i32 - 1023;
    // The distance between adjacent half floats, at least that of subnormals.
    let step = f64::powi(2.0, exponent.max(-14) - 10);
    let steps = (size / step).round_ties_even() as u16;
    let magnitude = match exponent.max(-14) {
        -14 => steps,
        exponent => steps + ((exponent + 14) as u16) * 1024,
    };
    sign | magnitude
}

/// Converts a half float to `f64`.
pub fn half_to(half: u16) -> f64 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 0x1F), f64::from(half & 0x3FF));
    let size = match exponent {
        0 => fraction * f64::powi(2.0, -24),
        0x1F if fraction == 0.0 => f64::INFINITY,
        0x1F => f64::NAN,
        _ => (1024.0 + fraction) * f64::powi(2.0, exponent - 25),
    };
    sign * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_floats_match_ieee_754() {
        for (number, half) in [
            (1.0, 0x3C00),
            (-2.0, 0xC000),
            (65504.0, 0x7BFF),
            (65519.0, 0x7BFF),
            (65520.0, 0x7C00),
            (0.333_251_953_125, 0x3555),
            (5.960_464_477_539_063e-8, 1),
            (2.98e-8, 0),
            (6.103_515_625e-5, 0x0400),
            (0.0, 0),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
        ] {
            assert_eq!(half_of(number), half, "{number}");
        }
        for half in 0..=u16::MAX {
            let number = half_to(half);
            if !number.is_nan() {
                assert_eq!(half_of(number), half);
            }
        }
    }
}
