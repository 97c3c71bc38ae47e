//! Decimal numbers of any length: sums, order, and conversion from text and to `double`.
use std::cmp::Ordering;

/// `± digits × 10^-scale`. Sums keep the greater scale, by which [`Decimal::approximate`] differs.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    /// From 0 to 9, the most significant first and not 0. Zero has none.
    digits: Vec<u8>,
    scale: i64,
}

/// The digits that a number may have before it is refused. kube-apiserver has no limit, and computes for hours.
const MOST_DIGITS: i64 = 1 << 16;

impl Decimal {
    /// The number of a text: an optional sign, digits, and a fraction. `None` without digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = whole.bytes().chain(fraction.bytes()).map(|digit| digit.wrapping_sub(b'0'));
        if unsigned.bytes().all(|byte| byte == b'.') {
            return None;
        }
        let digits = digits.skip_while(|digit| *digit == 0).collect();
        Some(Self { negative: text.starts_with('-'), digits, scale: i64::try_from(fraction.len()).ok()? })
    }

    /// `number × 10^exponent`.
    pub(super) fn new(number: i64, exponent: i32) -> Self {
        let digits = match number {
            0 => Vec::new(),
            _ => number.unsigned_abs().to_string().bytes().map(|digit| digit - b'0').collect(),
        };
        Self { negative: number < 0, digits, scale: -i64::from(exponent) }
    }

    /// How many digits it has.
    pub(super) fn length(&self) -> usize {
        self.digits.len()
    }

    /// -1, 0 or 1.
    pub(super) fn sign(&self) -> i64 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// The number times a power of ten.
    pub(super) fn shifted(self, exponent: i32) -> Self {
        Self { scale: self.scale - i64::from(exponent), ..self }
    }

    /// The number times a factor.
    pub(super) fn times(mut self, factor: u64) -> Self {
        let mut carry = 0;
        for digit in self.digits.iter_mut().rev() {
            carry += u128::from(*digit) * u128::from(factor);
            *digit = low_digit(&mut carry);
        }
        let mut front = Vec::new();
        while carry > 0 && !self.digits.is_empty() {
            front.push(low_digit(&mut carry));
        }
        front.reverse();
        front.append(&mut self.digits);
        Self { digits: front, ..self }
    }

    /// The number with a number of places, rounded away from zero; as it is if it is zero. `None` if it is too long.
    pub(super) fn rounded(mut self, places: i64) -> Option<Self> {
        if self.digits.is_empty() {
            return Some(self);
        }
        if self.scale <= places {
            return self.rescaled(places);
        }
        let cut = usize::try_from(self.scale - places).unwrap_or(usize::MAX);
        let keep = self.digits.len().saturating_sub(cut);
        let is_exact = self.digits[keep..].iter().all(|digit| *digit == 0);
        self.digits.truncate(keep);
        self.scale = places;
        if !is_exact {
            self.increase();
        }
        Some(self)
    }

    /// Adds one to the last digit.
    fn increase(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    /// The same number with a greater scale. `None` if it is too long.
    fn rescaled(mut self, scale: i64) -> Option<Self> {
        if !self.digits.is_empty() {
            let zeros = usize::try_from((scale - self.scale).min(MOST_DIGITS)).ok()?;
            let length = self.digits.len() + zeros;
            if length >= usize::try_from(MOST_DIGITS).unwrap_or(usize::MAX) && zeros > 0 {
                return None;
            }
            self.digits.resize(length, 0);
        }
        self.scale = scale;
        Some(self)
    }

    /// The sum. `None` if it is too long.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let (left, right) = (self.rescaled(scale)?, other.rescaled(scale)?);
        if left.negative == right.negative {
            return Some(Self { digits: sum(&left.digits, &right.digits), ..left });
        }
        let (great, small) = match compare(&left.digits, &right.digits) {
            Ordering::Less => (right, left),
            _ => (left, right),
        };
        Some(Self { digits: difference(&great.digits, &small.digits), ..great })
    }

    /// The negative number.
    pub(super) fn negated(self) -> Self {
        Self { negative: !self.negative, ..self }
    }

    /// The number, or a most if it is greater.
    pub(super) fn capped(self, most: Self) -> Self {
        if self.order(&most) == Ordering::Greater { most } else { self }
    }

    /// Compares numbers.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let magnitude = || {
            // The exponents of the first digits.
            let first = |number: &Self| i64::try_from(number.digits.len()).unwrap_or(i64::MAX) - number.scale;
            let length = self.digits.len().max(other.digits.len());
            first(self).cmp(&first(other)).then_with(|| self.padded(length).cmp(other.padded(length)))
        };
        self.sign().cmp(&other.sign()).then_with(|| match self.sign() {
            0 => Ordering::Equal,
            1 => magnitude(),
            _ => magnitude().reverse(),
        })
    }

    /// The digits, with zeros after them up to a length.
    fn padded(&self, length: usize) -> impl Iterator<Item = &u8> {
        self.digits.iter().chain(std::iter::repeat(&0)).take(length)
    }

    /// The number as Kubernetes approximates it: the digits as a `double`, times a power of ten.
    pub(super) fn approximate(&self) -> f64 {
        let digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let base = if digits.is_empty() { 0.0 } else { digits.parse().unwrap_or(f64::INFINITY) };
        scaled(if self.negative { -base } else { base }, -self.scale)
    }
}

/// A number times a power of ten, as Go's `math.Pow10` has it: not always the nearest.
pub(super) fn scaled(base: f64, exponent: i64) -> f64 {
    let ten = |power: i64| format!("1e{power}").parse::<f64>().unwrap_or(f64::NAN);
    match exponent {
        0 => base,
        1..=308 => base * (ten(exponent / 32 * 32) * ten(exponent % 32)),
        -323..=-1 => base * (ten(exponent / 32 * 32) / ten(-exponent % 32)),
        309.. => base * f64::INFINITY,
        _ => base * 0.0,
    }
}

/// Takes the last digit of a number.
fn low_digit(number: &mut u128) -> u8 {
    let digit = u8::try_from(*number % 10).unwrap_or_default();
    *number /= 10;
    digit
}

/// Compares digits without zeros before them.
fn compare(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

fn sum(left: &[u8], right: &[u8]) -> Vec<u8> {
    let length = left.len().max(right.len());
    let (mut left, mut right, mut carry) = (left.iter().rev(), right.iter().rev(), 0);
    let mut digits: Vec<u8> = (0..length)
        .map(|_| {
            let digit = left.next().unwrap_or(&0) + right.next().unwrap_or(&0) + carry;
            carry = digit / 10;
            digit % 10
        })
        .collect();
    if carry > 0 {
        digits.push(carry);
    }
    digits.reverse();
    digits
}

/// The difference of digits and others that are not greater.
fn difference(great: &[u8], small: &[u8]) -> Vec<u8> {
    let (mut small, mut borrow) = (small.iter().rev(), 0);
    let mut digits: Vec<u8> = great
        .iter()
        .rev()
        .map(|digit| {
            let taken = small.next().unwrap_or(&0) + borrow;
            borrow = u8::from(*digit < taken);
            digit + 10 * borrow - taken
        })
        .collect();
    while digits.last() == Some(&0) {
        digits.pop();
    }
    digits.reverse();
    digits
}
