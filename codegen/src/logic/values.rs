//! The values that an operand may have, and how they compare.
use std::cmp::Ordering;

use kindsmith::schema::Document;

/// Numbers up to here are exact, both as integers and as floating point numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
/// The most pairs of values that are compared.
const MOST_PAIRS: usize = 4096;

/// The values that an operand may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// Any.
    Any,
    /// One of these; none is an operand that only fails.
    Only(Vec<Document>),
    /// A number between two others, or one of them.
    Between(f64, f64),
}

/// A comparison; others are made of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equals,
    Less,
    LessEquals,
}

impl Values {
    pub(super) fn one(value: impl Into<Document>) -> Self {
        Self::Only(vec![value.into()])
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::Only(values) if values.is_empty())
    }

    /// The least and the greatest, if they are numbers.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Any => None,
            Self::Between(least, most) => Some((*least, *most)),
            Self::Only(values) => {
                let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
                let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
                let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                Some((least, numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)))
            }
        }
    }

    /// True if it may be a value.
    fn may_be(&self, value: &Document) -> bool {
        match (self, number(value)) {
            (Self::Any, _) => true,
            (Self::Only(values), _) => values.iter().any(|own| Comparison::Equals.of(own, value) != Some(false)),
            (Self::Between(least, most), Some(number)) => *least <= number && number <= *most,
            (Self::Between(..), None) => value.is_number(),
        }
    }

    /// The values that are also among others.
    #[must_use]
    pub(super) fn narrowed(self, by: Self) -> Self {
        match (self, by) {
            (Self::Any, other) | (other, Self::Any) => other,
            (Self::Only(values), other) | (other, Self::Only(values)) => {
                Self::Only(values.into_iter().filter(|value| other.may_be(value)).collect())
            }
            (Self::Between(a, b), Self::Between(c, d)) => {
                let (least, most) = (a.max(c), b.min(d));
                if least > most { Self::Only(Vec::new()) } else { Self::Between(least, most) }
            }
        }
    }

    /// The values without one.
    #[must_use]
    pub(super) fn without(self, value: &Document) -> Self {
        match self {
            Self::Only(values) => {
                Self::Only(values.into_iter().filter(|own| Comparison::Equals.of(own, value) != Some(true)).collect())
            }
            other => other,
        }
    }
}

impl Comparison {
    /// Whether a comparison of values may be true, and whether it may be false.
    pub(super) fn outcomes(self, one: &Values, other: &Values) -> (bool, bool) {
        if let (Values::Only(one), Values::Only(other)) = (one, other)
            && one.len().saturating_mul(other.len()) <= MOST_PAIRS
        {
            let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
            return pairs.map(|(one, other)| self.of(one, other)).fold((false, false), |(holds, is_false), result| {
                (holds || result != Some(false), is_false || result != Some(true))
            });
        }
        if one.is_none() || other.is_none() {
            return (false, false);
        }
        let (Some((a, b)), Some((c, d))) = (one.range(), other.range()) else { return (true, true) };
        match self {
            Self::Less => (a < d, b >= c),
            Self::LessEquals => (a <= d, b > c),
            Self::Equals => (a <= d && c <= b, !(a >= b && c >= d && a >= c && a <= c)),
        }
    }

    /// The result for two values, if it is known.
    fn of(self, one: &Document, other: &Document) -> Option<bool> {
        let order = match (one, other) {
            (Document::Number(_), Document::Number(_)) => number(one)?.partial_cmp(&number(other)?)?,
            (Document::String(one), Document::String(other)) => one.cmp(other),
            (Document::Bool(one), Document::Bool(other)) => one.cmp(other),
            (Document::Null, Document::Null) => Ordering::Equal,
            (Document::Array(_) | Document::Object(_), _) | (_, Document::Array(_) | Document::Object(_)) => {
                return None;
            }
            _ => return (self == Self::Equals).then_some(false),
        };
        Some(match self {
            Self::Equals => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessEquals => order.is_le(),
        })
    }
}

/// A number that is exact.
fn number(value: &Document) -> Option<f64> {
    value.as_f64().filter(|number| number.abs() < MOST_EXACT)
}
