//! Half- and single-precision floats. Conversions keep the sign and the payload of NaNs.

/// Rounds to the nearest half float, ties to even. Of the payload of a NaN, the upper bits remain.
pub fn half_of(number: f64) -> u16 {
    let bits = number.to_bits();
    let sign = ((bits >> 63) as u16) << 15;
    let size = number.abs();
    if number.is_nan() {
        let payload = (bits >> 42) as u16 & 0x3FF;
        return sign | 0x7C00 | if payload == 0 { 0x200 } else { payload };
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
        0x1F => {
            let bits = u64::from(half & 0x8000) << 48 | 0x7FF << 52 | u64::from(half & 0x3FF) << 42;
            return f64::from_bits(bits);
        }
        _ => (1024.0 + fraction) * f64::powi(2.0, exponent - 25),
    };
    sign * size
}

/// Returns the bits of the nearest single-precision float. Of the payload of a NaN, the upper bits
/// remain.
pub fn single_of(number: f64) -> u32 {
    if !number.is_nan() {
        return (number as f32).to_bits();
    }
    let bits = number.to_bits();
    let payload = (bits >> 29) as u32 & 0x7F_FFFF;
    let payload = if payload == 0 { 0x40_0000 } else { payload };
    ((bits >> 63) as u32) << 31 | 0x7F80_0000 | payload
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
            assert_eq!(half_of(half_to(half)), half);
        }
    }

    #[test]
    fn nans_keep_their_sign_and_payload() {
        for (bits, single) in [
            (0x7FF8_0000_0000_0000, 0x7FC0_0000),
            (0xFFF8_0000_2000_0000, 0xFFC0_0001),
            (0x7FF0_0000_2000_0000, 0x7F80_0001),
            (0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF),
        ] {
            assert_eq!(single_of(f64::from_bits(bits)), single, "{bits:016x}");
        }
        assert_eq!((single_of(f64::NAN), half_of(f64::NAN)), (0x7FC0_0000, 0x7E00));
        // Without its lower bits, the payload would be that of an infinity.
        let signalling = f64::from_bits(0x7FF0_0000_0000_07A2);
        assert_eq!((single_of(signalling), half_of(signalling)), (0x7FC0_0000, 0x7E00));
    }
}
