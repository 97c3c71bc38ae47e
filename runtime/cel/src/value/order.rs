//! The order of values, and numbers of different types compared.
use std::cmp::Ordering;

use super::Value;
use crate::Error;

/// The first doubles beyond `int` and `uint`.
const INT_END: f64 = 9_223_372_036_854_775_808.0;
const UINT_END: f64 = 18_446_744_073_709_551_616.0;

impl Value<'_> {
    /// The order of two values that have one: numbers of all types, and booleans, strings, bytes, durations or timestamps among themselves.
    ///
    /// # Errors
    /// They have no order.
    pub fn compare(&self, other: &Self) -> Result<Ordering, Error> {
        Ok(match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Int(left), Self::Int(right)) => left.cmp(right),
            (Self::Uint(left), Self::Uint(right)) => left.cmp(right),
            (Self::String(left), Self::String(right)) => (**left).cmp(&**right),
            (Self::Bytes(left), Self::Bytes(right)) => (**left).cmp(&**right),
            (Self::Duration(left), Self::Duration(right)) => left.cmp(right),
            (Self::Timestamp(left), Self::Timestamp(right)) => {
                (left.seconds, left.nanoseconds).cmp(&(right.seconds, right.nanoseconds))
            }
            _ if self.is_number() && other.is_number() => {
                let nan = |value: &Self| matches!(value, Self::Double(double) if double.is_nan());
                if nan(self) || nan(other) {
                    return Err(Error::new("NaN values cannot be ordered"));
                }
                self.compare_numbers(other).ok_or_else(Error::no_such_overload)?
            }
            _ => return Err(Error::no_such_overload()),
        })
    }

    /// True for values of a type that has an order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.is_number()
            || matches!(self, Self::Bool(_) | Self::String(_) | Self::Bytes(_) | Self::Duration(_) | Self::Timestamp(_))
    }

    /// True for `int`, `uint` and `double`.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Double(_))
    }

    /// The order of two numbers; none for NaN, and for other values.
    pub fn compare_numbers(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(right)),
            (Self::Uint(left), Self::Uint(right)) => Some(left.cmp(right)),
            (Self::Double(left), Self::Double(right)) => left.partial_cmp(right),
            (Self::Int(left), Self::Uint(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
            (Self::Uint(left), Self::Int(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
            (Self::Double(left), Self::Int(right)) => with_int(*left, *right),
            (Self::Int(left), Self::Double(right)) => with_int(*right, *left).map(Ordering::reverse),
            (Self::Double(left), Self::Uint(right)) => with_uint(*left, *right),
            (Self::Uint(left), Self::Double(right)) => with_uint(*right, *left).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// Compared as doubles within the range of `int`, as cel-go does: 2⁵³ + 1 equals 2⁵³ as a double.
#[expect(clippy::cast_precision_loss, reason = "cel-go loses precision here, too")]
fn with_int(double: f64, int: i64) -> Option<Ordering> {
    match double {
        _ if double < -INT_END => Some(Ordering::Less),
        _ if double > INT_END => Some(Ordering::Greater),
        _ => double.partial_cmp(&(int as f64)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "cel-go loses precision here, too")]
fn with_uint(double: f64, uint: u64) -> Option<Ordering> {
    match double {
        _ if double < 0.0 => Some(Ordering::Less),
        _ if double > UINT_END => Some(Ordering::Greater),
        _ => double.partial_cmp(&(uint as f64)),
    }
}

/// The whole part of a double, if it is an `int`.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub(crate) fn int_of(double: f64) -> Option<i64> {
    (double > -INT_END && double < INT_END).then_some(double as i64)
}

/// The whole part of a double, if it is a `uint`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
pub(crate) fn uint_of(double: f64) -> Option<u64> {
    (0.0..UINT_END).contains(&double).then_some(double as u64)
}

/// A double as an `int` of the same value.
pub(crate) fn exact_int(double: f64) -> Option<i64> {
    int_of(double).filter(|_| double.fract() == 0.0)
}

/// A double as a `uint` of the same value.
pub(crate) fn exact_uint(double: f64) -> Option<u64> {
    uint_of(double).filter(|_| double.fract() == 0.0)
}
