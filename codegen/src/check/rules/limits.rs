//! Limits: of numbers, and of how long or large a value is.
use std::fmt::{self, Display};

use kindsmith::schema::{Schema, Type};

use crate::check::rule::{Direction, Field};

/// The largest whole number that every double below it tells from its neighbours.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// A limit before and after, if it moved in this direction. `is_tighter` compares the new one with the old one.
fn moved<T: PartialEq + Display>(
    name: &str,
    (old, new): (Option<T>, Option<T>),
    direction: Direction,
    is_tighter: impl Fn(&T, &T) -> bool,
) -> Option<String> {
    let is_tighter = match (&new, &old) {
        (Some(new), Some(old)) => is_tighter(new, old),
        (new, _) => new.is_some(),
    };
    let shown = |limit: Option<T>| limit.map_or_else(|| "absent".to_owned(), |limit| limit.to_string());
    (old != new && is_tighter == (direction == Direction::Tighter))
        .then(|| format!("{name} was {}, is {}", shown(old), shown(new)))
}

/// Two limits, of values of the same type.
fn both(field: &Field<'_>, least: Option<String>, most: Option<String>) -> Option<String> {
    let changes: Vec<String> = [least, most].into_iter().flatten().filter(|_| field.has_same_type()).collect();
    (!changes.is_empty()).then(|| changes.join(", "))
}

/// Limits of a count.
fn counts(
    field: &Field<'_>,
    (least, most): (&str, &str),
    of: impl Fn(&Schema) -> (Option<u64>, Option<u64>),
    direction: Direction,
) -> Option<String> {
    let ((old_least, old_most), (new_least, new_most)) = (of(&field.old), of(&field.new));
    // A least of 0 is no limit.
    let [old_least, new_least] = [old_least, new_least].map(|limit| limit.filter(|limit| *limit > 0));
    let least = moved(least, (old_least, new_least), direction, |new, old| new > old);
    both(field, least, moved(most, (old_most, new_most), direction, |new, old| new < old))
}

pub(super) fn length(field: &Field<'_>, direction: Direction) -> Option<String> {
    counts(field, ("minLength", "maxLength"), |schema| (schema.min_length, schema.max_length), direction)
}

pub(super) fn items(field: &Field<'_>, direction: Direction) -> Option<String> {
    counts(field, ("minItems", "maxItems"), |schema| (schema.min_items, schema.max_items), direction)
}

pub(super) fn entries(field: &Field<'_>, direction: Direction) -> Option<String> {
    counts(
        field,
        ("minProperties", "maxProperties"),
        |schema| (schema.min_properties, schema.max_properties),
        direction,
    )
}

/// A bound of numbers.
#[derive(Clone, Copy, PartialEq)]
struct Bound {
    limit: f64,
    /// The limit itself is not allowed.
    is_exclusive: bool,
}

impl Bound {
    /// The bound of a schema. One of integers is the last of these that it allows.
    fn of(schema: &Schema, is_least: bool) -> Option<Self> {
        let (limit, is_exclusive) = if is_least {
            (schema.minimum?, schema.exclusive_minimum)
        } else {
            (schema.maximum?, schema.exclusive_maximum)
        };
        // Beyond it, doubles skip integers.
        if schema.kind != Type::Integer || limit.abs() >= SAFE {
            return Some(Self { limit, is_exclusive });
        }
        let last = if is_least { limit.ceil() } else { limit.floor() };
        let step = if is_least { 1.0 } else { -1.0 };
        let limit = if is_exclusive && last.to_bits() == limit.to_bits() { last + step } else { last };
        Some(Self { limit, is_exclusive: false })
    }

    /// It allows fewer numbers than the other.
    fn is_tighter(self, other: Self, is_least: bool) -> bool {
        if self.limit.to_bits() == other.limit.to_bits() {
            return self.is_exclusive;
        }
        (self.limit > other.limit) == is_least
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let excluded = if self.is_exclusive { " (excluded)" } else { "" };
        write!(f, "{}{excluded}", self.limit)
    }
}

pub(super) fn range(field: &Field<'_>, direction: Direction) -> Option<String> {
    let moved = |name: &str, is_least: bool| {
        let bounds = (Bound::of(&field.old, is_least), Bound::of(&field.new, is_least));
        moved(name, bounds, direction, |new, old| new.is_tighter(*old, is_least))
    };
    both(field, moved("minimum", true), moved("maximum", false))
}

pub(super) fn multiple(field: &Field<'_>, direction: Direction) -> Option<String> {
    let factors = (field.old.multiple_of, field.new.multiple_of);
    // Unless all multiples of the old number are multiples of the new one.
    both(field, moved("multipleOf", factors, direction, |new, old| (old / new).fract() != 0.0), None)
}
