//! Rules about limits: of numbers, and of how long or large a value is.
use std::fmt::{self, Display};

use kindsmith::schema::{Meter, Schema, Type, validate};

use super::{alternatives, enums, expressions, patterns, required};
use crate::check::rule::{
    Check, Field,
    Level::{Breaking, Warning},
    Notes,
    Party::{Json, Stored, Watchers},
    Rule, source,
};

const TIGHTER: &str =
    "requests beyond it are refused, and stored values beyond it cannot be changed to others like them";
/// The largest whole number that every double below it tells from its neighbours.
const SAFE: f64 = 9_007_199_254_740_991.0;
const ADMIT: &str = "Keep the limit, and warn of values beyond the new one in admission.";

pub(super) static RULES: [Rule; 11] = [
    Rule {
        name: "range-tightened",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "Fewer numbers are allowed.",
        harm: TIGHTER,
        instead: ADMIT,
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| outside_of_status(field, |field| range(field, Turn::Tighter), notes)),
    },
    Rule {
        name: "range-loosened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "More numbers are allowed.",
        harm: "readers that rely on the limit may meet numbers beyond it",
        instead: "Check that all readers handle them.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| notes.some(range(field, Turn::Looser))),
    },
    Rule {
        name: "multiple-tightened",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "Numbers have to be multiples of another one.",
        harm: "requests with other numbers are refused, and stored objects with them cannot be written",
        instead: ADMIT,
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| outside_of_status(field, |field| multiple(field, Turn::Tighter), notes)),
    },
    Rule {
        name: "multiple-loosened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "Numbers need no longer be multiples of one.",
        harm: "readers that rely on it may meet others",
        instead: "Check that all readers handle them.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| notes.some(multiple(field, Turn::Looser))),
    },
    Rule {
        name: "length-tightened",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "Text has to be longer or shorter.",
        harm: TIGHTER,
        instead: ADMIT,
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| outside_of_status(field, |field| length(field, Turn::Tighter), notes)),
    },
    Rule {
        name: "length-loosened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "Text may be longer or shorter.",
        harm: "readers that put the text where there is less room, or that expect some, may fail",
        instead: "Check that all readers handle it.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| notes.some(length(field, Turn::Looser))),
    },
    Rule {
        name: "items-tightened",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "A list has to have more or fewer items.",
        harm: TIGHTER,
        instead: ADMIT,
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| outside_of_status(field, |field| items(field, Turn::Tighter), notes)),
    },
    Rule {
        name: "items-loosened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "A list may have more or fewer items.",
        harm: "readers that rely on an item, or on few of them, may fail",
        instead: "Check that all readers handle it.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| notes.some(items(field, Turn::Looser))),
    },
    Rule {
        name: "entries-tightened",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "A map or struct has to have more or fewer entries.",
        harm: TIGHTER,
        instead: ADMIT,
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| outside_of_status(field, |field| entries(field, Turn::Tighter), notes)),
    },
    Rule {
        name: "entries-loosened",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "A map or struct may have more or fewer entries.",
        harm: "readers that rely on an entry, or on few of them, may fail",
        instead: "Check that all readers handle it.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| notes.some(entries(field, Turn::Looser))),
    },
    Rule {
        name: "status-tightened",
        level: Warning,
        breaks: &[Stored, Watchers],
        about: "Fewer values are allowed in the status, which only controllers write.",
        harm: "a controller that writes other values is refused, and so is every write of a status that has them",
        instead: "Make sure that no controller writes them, and that the old ones are gone.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            if field.is_status && !allows_all_values(field) {
                for find in TIGHTENED {
                    notes.some(find(field));
                }
            }
        }),
    },
];

/// All that narrows the values of a field.
const TIGHTENED: [fn(&Field<'_>) -> Option<String>; 12] = [
    |field| range(field, Turn::Tighter),
    |field| multiple(field, Turn::Tighter),
    |field| length(field, Turn::Tighter),
    |field| items(field, Turn::Tighter),
    |field| entries(field, Turn::Tighter),
    enums::removed,
    enums::closed,
    patterns::added,
    patterns::changed,
    alternatives::tightened,
    required::tightened,
    expressions::tightened,
];

/// Notes what narrows the values of a field, unless it is in the status.
pub(super) fn outside_of_status(field: &Field<'_>, find: impl Fn(&Field<'_>) -> Option<String>, notes: &mut Notes) {
    if !field.is_status && !allows_all_values(field) {
        notes.some(find(field));
    }
}

/// The old values are a closed set, and all of them are valid in the new schema.
fn allows_all_values(field: &Field<'_>) -> bool {
    let old = &field.old.enumeration;
    let is_valid = |value| validate(&field.new, value, &Meter::default()).is_ok_and(|errors| errors.is_empty());
    !old.is_empty() && old.iter().all(is_valid)
}

/// Which way a limit moved.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Tighter,
    Looser,
}

/// A limit before and after; `is_least` for a lower one.
fn moved<T: PartialOrd + Display>(
    name: &str,
    is_least: bool,
    (old, new): (Option<T>, Option<T>),
    turn: Turn,
) -> Option<String> {
    let is_tighter = match (&old, &new) {
        (None, None) => return None,
        (None, Some(_)) => true,
        (Some(_), None) => false,
        (Some(old), Some(new)) if old == new => return None,
        (Some(old), Some(new)) => (new > old) == is_least,
    };
    let shown = |limit: Option<T>| limit.map_or_else(|| "absent".to_owned(), |limit| limit.to_string());
    (is_tighter == (turn == Turn::Tighter)).then(|| format!("{name} was {}, is {}", shown(old), shown(new)))
}

fn joined(found: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let found: Vec<String> = found.into_iter().flatten().collect();
    (!found.is_empty()).then(|| found.join(", "))
}

fn limits(
    field: &Field<'_>,
    (least, most): (&str, &str),
    of: impl Fn(&Schema) -> (Option<u64>, Option<u64>),
    turn: Turn,
) -> Option<String> {
    if field.old.kind != field.new.kind {
        return None;
    }
    let ((old_least, old_most), (new_least, new_most)) = (of(&field.old), of(&field.new));
    // A least of 0 is no limit.
    let least_of = |limit: Option<u64>| limit.filter(|limit| *limit > 0);
    joined([
        moved(least, true, (least_of(old_least), least_of(new_least)), turn),
        moved(most, false, (old_most, new_most), turn),
    ])
}

fn length(field: &Field<'_>, turn: Turn) -> Option<String> {
    limits(field, ("minLength", "maxLength"), |schema| (schema.min_length, schema.max_length), turn)
}

fn items(field: &Field<'_>, turn: Turn) -> Option<String> {
    limits(field, ("minItems", "maxItems"), |schema| (schema.min_items, schema.max_items), turn)
}

fn entries(field: &Field<'_>, turn: Turn) -> Option<String> {
    limits(field, ("minProperties", "maxProperties"), |schema| (schema.min_properties, schema.max_properties), turn)
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

fn range(field: &Field<'_>, turn: Turn) -> Option<String> {
    if field.old.kind != field.new.kind {
        return None;
    }
    let moved = |name: &str, is_least: bool| {
        let [old, new] = [&field.old, &field.new].map(|schema| Bound::of(schema, is_least));
        let is_tighter = match (old, new) {
            (None, new) => new.is_some(),
            (Some(_), None) => false,
            (Some(old), Some(new)) => new.is_tighter(old, is_least),
        };
        let shown = |bound: Option<Bound>| bound.map_or_else(|| "absent".to_owned(), |bound| bound.to_string());
        (old != new && is_tighter == (turn == Turn::Tighter))
            .then(|| format!("{name} was {}, is {}", shown(old), shown(new)))
    };
    joined([moved("minimum", true), moved("maximum", false)])
}

fn multiple(field: &Field<'_>, turn: Turn) -> Option<String> {
    let pair = (field.old.multiple_of, field.new.multiple_of);
    if field.old.kind != field.new.kind || pair.0 == pair.1 {
        return None;
    }
    // All multiples of the old number are multiples of the new one.
    let is_looser = match pair {
        (Some(old), Some(new)) => (old / new).fract() == 0.0,
        (_, new) => new.is_none(),
    };
    let shown = |limit: Option<f64>| limit.map_or_else(|| "absent".to_owned(), |limit| limit.to_string());
    (is_looser == (turn == Turn::Looser)).then(|| format!("multipleOf was {}, is {}", shown(pair.0), shown(pair.1)))
}
