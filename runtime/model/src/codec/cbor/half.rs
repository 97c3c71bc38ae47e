//! 16-bit floating-point numbers, which stable Rust does not have yet.

/// The value of a half, including signed zeros, infinities and NaN.
pub(super) fn value(bits: u16) -> f64 {
    let exponent = (bits >> 10) & 0x1f;
    let fraction = f64::from(bits & 0x3ff);
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// The half with exactly this value, if there is one.
pub(super) fn exactly(double: f64) -> Option<u16> {
    let sign = if double.is_sign_negative() { 0x8000 } else { 0 };
    let size = double.abs();
    if !(size == 0.0 || (2f64.powi(-24)..=65_504.0).contains(&size)) {
        return None;
    }
    // The exponent of the double; subnormal halves, which are below 2^-14, share the least one.
    let exponent = u16::try_from((size.to_bits() >> 52).saturating_sub(1023 - 14)).ok()?;
    // With the bit that normal halves do not store, and which counts up their exponent.
    let fraction = size * 2f64.powi(24 - i32::from(exponent));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and below 2048")]
    (fraction.fract() == 0.0).then(|| sign | ((exponent << 10) + fraction as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_round_trips() {
        for bits in 0..=u16::MAX {
            let double = value(bits);
            if double.is_finite() {
                assert_eq!(exactly(double), Some(bits), "{double}");
            } else {
                assert_eq!(exactly(double), None);
            }
        }
        assert_eq!((value(0x3c00), value(0xc000), value(0x0001)), (1.0, -2.0, 2f64.powi(-24)));
    }

    #[test]
    fn values_without_a_half_are_refused() {
        for double in
            [65_505.0, 1.0 / 3.0, 2f64.powi(-25), 1.0 + 2f64.powi(-11), 2f64.powi(-24) * 1.5, f64::MIN_POSITIVE]
        {
            assert_eq!(exactly(double), None, "{double}");
        }
    }
}
