//! Ranges of costs and sizes, and the constants of cel-go.

/// The cost of reading a character of a text.
pub(crate) const TRAVERSAL: f64 = 0.1;
/// The cost of a character of a regular expression, for each step through the text.
pub(crate) const PATTERN: f64 = 0.25;
/// The cost of making a list.
pub(crate) const LIST: u64 = 10;
/// The cost of making a map.
pub(crate) const MAP: u64 = 30;
/// The cost of making a message.
pub(crate) const STRUCT: u64 = 40;

/// A range of costs or sizes. Arithmetic saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

impl Range {
    /// Nothing.
    pub const ZERO: Self = Self::exactly(0);
    /// One.
    pub const ONE: Self = Self::exactly(1);
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { min: 0, max: u64::MAX };
    /// What contains no number: the beginning of a union.
    pub(crate) const EMPTY: Self = Self { min: u64::MAX, max: 0 };

    /// From a least to a most.
    pub const fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// One number.
    pub const fn exactly(number: u64) -> Self {
        Self { min: number, max: number }
    }

    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    /// The product of the least and of the most.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// The product with a factor, rounded up.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { min: scaled(self.min, factor), max: scaled(self.max, factor) }
    }

    /// The least range that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// The product of a number and a factor that is not negative, rounded up. It saturates.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "cel-go calculates in doubles; the cast back saturates"
)]
pub(crate) fn scaled(number: u64, factor: f64) -> u64 {
    (number as f64 * factor).ceil() as u64
}
