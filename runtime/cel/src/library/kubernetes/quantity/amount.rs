//! Amounts as apimachinery has them: a 64-bit number times a power of ten while that is exact, or a decimal number.
//!
//! Which of both an amount is can be seen: only the former converts to an integer.
use std::cmp::Ordering;

use super::decimal::{Decimal, scaled};
use crate::Error;

/// An amount: `kubernetes.Quantity`.
#[derive(Clone, Debug)]
pub struct Amount(Form);

#[derive(Clone, Debug)]
enum Form {
    /// `value × 10^scale`
    Integer {
        value: i64,
        scale: i32,
    },
    Decimal(Decimal),
}

const FORMAT: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

/// The digits that a 64-bit number has for certain.
const INTEGER_DIGITS: i32 = 18;
/// The places of decimal amounts.
const PLACES: i64 = 9;

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// What a suffix multiplies with.
#[derive(Clone, Copy)]
enum Unit {
    /// A power of ten.
    Ten(i32),
    /// A power of two.
    Two(u32),
}

/// The parts of a quantity.
struct Parts<'t> {
    /// The number with its sign.
    number: &'t str,
    /// The digits before the point, without zeros at the beginning; at least one.
    whole: &'t str,
    /// The digits after the point.
    fraction: &'t str,
    suffix: &'t str,
}

/// Splits a quantity: a sign, digits with a point, letters of suffixes, and an exponent. Each may be absent.
fn split(text: &str) -> Option<Parts<'_>> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let significant = unsigned.trim_start_matches('0');
    if significant.is_empty() {
        return Some(Parts { number: "0", whole: "0", fraction: "", suffix: "" });
    }
    let (whole, mut rest) = significant.split_at(digits(significant));
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(digits(after));
    }
    let number = &text[..text.len() - rest.len()];
    let after = rest.trim_start_matches(['e', 'E', 'i', 'n', 'u', 'm', 'k', 'K', 'M', 'G', 'T', 'P']);
    let after = after.strip_prefix(['+', '-']).unwrap_or(after);
    let is_whole = after.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then_some(Parts { number, whole: if whole.is_empty() { "0" } else { whole }, fraction, suffix: rest })
}

fn unit(suffix: &str) -> Option<Unit> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some(Unit::Ten(*power));
    }
    if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some(Unit::Two(*power));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "exponents beyond 32 bits wrap, as in apimachinery")]
    Some(Unit::Ten(exponent as i32))
}

impl Parts<'_> {
    /// The amount as a 64-bit number, if that is exact.
    fn integer(&self, unit: Unit) -> Option<Form> {
        let length = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let (factor, scale, precision) = match unit {
            Unit::Ten(power) => (1, power, i64::from(INTEGER_DIGITS) - length(self.whole) - length(self.fraction)),
            Unit::Two(_) if !self.fraction.is_empty() => return None,
            Unit::Two(power) => (1i64 << power, 0, 14 - length(self.whole) - i64::from(power * 3 / 10)),
        };
        let scale = scale.wrapping_sub(i32::try_from(self.fraction.len()).ok()?);
        if precision < 0 || i64::from(scale) < -PLACES {
            return None;
        }
        let number: i64 = [self.whole, self.fraction].concat().parse().ok()?;
        let number = number.checked_mul(factor)?;
        Some(Form::Integer { value: if self.number.starts_with('-') { -number } else { number }, scale })
    }

    /// The amount as a decimal number, rounded away from zero to billionths. Binary ones have a maximum.
    fn decimal(&self, unit: Unit) -> Option<Decimal> {
        let number = Decimal::parse(self.number)?;
        let is_negative = number.sign() < 0;
        let number = if is_negative { number.negated() } else { number };
        let number = match unit {
            Unit::Ten(power) => number.shifted(power).rounded(PLACES)?,
            Unit::Two(power) => number.times(1 << power).rounded(PLACES)?.capped(Decimal::new(i64::MAX, 0)),
        };
        Some(if is_negative { number.negated() } else { number })
    }
}

impl Amount {
    /// Reads a quantity.
    ///
    /// # Errors
    /// What is wrong, in apimachinery's words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let parts = Some(text).filter(|text| !text.is_empty()).and_then(split).ok_or(Error::new(FORMAT))?;
        let unit = unit(parts.suffix).ok_or(Error::new(SUFFIX))?;
        let form = parts.integer(unit).or_else(|| parts.decimal(unit).map(Form::Decimal));
        form.map(Self).ok_or(Error::new(NUMERIC))
    }

    /// An amount of whole ones.
    pub fn of(value: i64) -> Self {
        Self(Form::Integer { value, scale: 0 })
    }

    /// How many digits it has if they may be many.
    pub(super) fn digits(&self) -> usize {
        match &self.0 {
            Form::Integer { .. } => 0,
            Form::Decimal(number) => number.length(),
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i64 {
        match &self.0 {
            Form::Integer { value, .. } => value.signum(),
            Form::Decimal(number) => number.sign(),
        }
    }

    /// The amount as an integer, if it is held as one.
    pub fn integer(&self) -> Option<i64> {
        match self.0 {
            Form::Integer { value, scale } => raised(value, scale),
            Form::Decimal(_) => None,
        }
    }

    /// The nearest `double`, about.
    pub fn approximate(&self) -> f64 {
        match &self.0 {
            #[expect(clippy::cast_precision_loss, reason = "an approximation")]
            Form::Integer { value, scale } => scaled(*value as f64, i64::from(*scale)),
            Form::Decimal(number) => number.approximate(),
        }
    }

    /// Compares amounts.
    pub fn order(&self, other: &Self) -> Ordering {
        self.integer_order(other).unwrap_or_else(|| self.decimal().order(&other.decimal()))
    }

    /// Compares 64-bit numbers whose scales are near each other.
    fn integer_order(&self, other: &Self) -> Option<Ordering> {
        let (Form::Integer { value: left, scale }, Form::Integer { value: right, scale: others }) = (&self.0, &other.0)
        else {
            return None;
        };
        let least = *scale.min(others);
        let raised = |value: i64, scale: i32| {
            let power = scale.checked_sub(least).filter(|power| *power <= INTEGER_DIGITS)?;
            Some(i128::from(value) * 10i128.pow(power.unsigned_abs()))
        };
        Some(raised(*left, *scale)?.cmp(&raised(*right, *others)?))
    }

    fn decimal(&self) -> Decimal {
        match &self.0 {
            Form::Integer { value, scale } => Decimal::new(*value, *scale),
            Form::Decimal(number) => number.clone(),
        }
    }

    /// The sum.
    ///
    /// # Errors
    /// It has too many digits.
    pub fn plus(&self, other: &Self) -> Result<Self, Error> {
        self.integer_sum(other)
            .map_or_else(|| self.decimal().plus(other.decimal()).map(Form::Decimal), Some)
            .map(Self)
            .ok_or(Error::new(NUMERIC))
    }

    /// The difference.
    ///
    /// # Errors
    /// It has too many digits.
    pub fn minus(&self, other: &Self) -> Result<Self, Error> {
        let negative = match &other.0 {
            // The least number stays as it is, as in apimachinery.
            Form::Integer { value, scale } => {
                self.integer_sum(&Self(Form::Integer { value: value.wrapping_neg(), scale: *scale }))
            }
            Form::Decimal(_) => None,
        };
        negative
            .map_or_else(|| self.decimal().plus(other.decimal().negated()).map(Form::Decimal), Some)
            .map(Self)
            .ok_or(Error::new(NUMERIC))
    }

    /// The sum of 64-bit numbers with the lesser of their scales, if it is one.
    fn integer_sum(&self, other: &Self) -> Option<Form> {
        let (Form::Integer { value: left, scale }, Form::Integer { value: right, scale: others }) = (&self.0, &other.0)
        else {
            return None;
        };
        if *right == 0 {
            return Some(self.0.clone());
        }
        if *left == 0 {
            return Some(other.0.clone());
        }
        let least = *scale.min(others);
        let (left, right) = (raised(*left, scale.checked_sub(least)?)?, raised(*right, others.checked_sub(least)?)?);
        Some(Form::Integer { value: left.checked_add(right)?, scale: least })
    }
}

/// A number times a power of ten that is not negative.
fn raised(value: i64, power: i32) -> Option<i64> {
    match u32::try_from(power).ok()? {
        _ if value == 0 && power >= 0 => Some(0),
        power => value.checked_mul(10i64.checked_pow(power)?),
    }
}
