//! Facts about the values of a place that a schema declares: which fields are there, and what they may be.
use kindsmith::schema::{Document, Type};
use kindsmith_model::schema::{At, rules::unescaped};

use super::values::Values;

/// The values of a place in a schema.
#[derive(Clone, Copy)]
pub(crate) struct Place<'s> {
    at: At<'s>,
    /// The schema that replaced this one. The values have none of the fields that it adds.
    newer: Option<At<'s>>,
    /// An old value, which need not fit the schema.
    is_old: bool,
    /// It is the value of the rule itself.
    is_self: bool,
}

/// What is known of a field.
#[derive(Clone, Copy)]
pub(super) enum Node<'s> {
    /// It has the values of a place.
    Place(Place<'s>),
    /// It has the default of a field that was added.
    Default(&'s Document),
    /// It has no value.
    Nothing,
    /// Nothing is known.
    Unknown,
}

impl<'s> Place<'s> {
    /// The values that a schema allows.
    pub(crate) fn of(at: At<'s>) -> Self {
        Self { at, newer: None, is_old: false, is_self: true }
    }

    /// The values that a schema allowed before it was replaced.
    pub(crate) fn before(old: At<'s>, new: At<'s>) -> Self {
        Self { newer: Some(new), ..Self::of(old) }
    }

    /// The value before an update.
    pub(super) fn old(self) -> Self {
        Self { is_old: true, ..self }
    }

    fn below(self, at: At<'s>, newer: Option<At<'s>>) -> Self {
        Self { at, newer, is_self: false, ..self }
    }

    /// A field by its name in expressions, and whether it is there, if that is known.
    pub(super) fn field(self, name: &str) -> (Node<'s>, Option<bool>) {
        let unknown = (Node::Unknown, None);
        let Some(name) = unescaped(name) else { return unknown };
        let newer = self.newer.and_then(|newer| newer.property(&name));
        match (self.at.property(&name), newer) {
            (Some(field), _) if field.boolean.is_some() => unknown,
            (Some(field), newer) => {
                let is_required = self.at.children().required.iter().any(|required| *required == *name);
                let has_default = field.default.as_ref().is_some_and(|default| !default.is_null());
                let is_present =
                    (is_required || has_default) && !field.nullable && !field.zero_is_absent && !self.is_old;
                (Node::Place(self.below(field, newer)), is_present.then_some(true))
            }
            (None, Some(_)) if self.at.preserve_unknown || self.at.kind == Type::Any || self.is_shared(&name) => {
                unknown
            }
            (None, Some(field)) => match &field.node().default {
                Some(default) if !default.is_null() && !self.is_old => (Node::Default(default), Some(true)),
                _ => (Node::Nothing, Some(false)),
            },
            (None, None) => match self.at.entry() {
                Some(entry) => (Node::Place(self.below(entry, self.newer.and_then(At::entry))), None),
                None => unknown,
            },
        }
    }

    /// True for a field that all objects have, whether or not it is declared.
    fn is_shared(self, name: &str) -> bool {
        let has_metadata = |at: At<'s>| at.property("metadata").is_some();
        let is_object = self.is_self && (has_metadata(self.at) || self.newer.is_some_and(has_metadata));
        is_object && matches!(name, "apiVersion" | "kind" | "metadata")
    }

    /// The items of a list, or the values of a map.
    pub(super) fn element(self) -> Option<Self> {
        let of = |at: At<'s>| at.items().or_else(|| at.entry());
        of(self.at).map(|at| self.below(at, self.newer.and_then(of)))
    }

    /// True for a list; a loop goes over its items, and over the keys of a map.
    pub(super) fn is_list(self) -> bool {
        self.at.kind == Type::Array
    }

    /// True for whole numbers.
    pub(super) fn is_integer(self) -> bool {
        self.at.kind == Type::Integer
    }

    /// The values.
    pub(super) fn values(self) -> Values {
        let at = self.at;
        let is_text = at.kind == Type::String
            && !matches!(at.format.as_deref(), Some("byte" | "duration" | "date" | "date-time"));
        match at.kind {
            Type::Boolean if self.is_old || at.enumeration.is_empty() => {
                Values::Only(vec![Document::Bool(false), Document::Bool(true)])
            }
            Type::Integer | Type::Number if self.is_old => Values::Between(f64::NEG_INFINITY, f64::INFINITY),
            _ if self.is_old => Values::Any,
            Type::Boolean | Type::Integer | Type::Number if !at.enumeration.is_empty() => self.listed(),
            Type::String if is_text && !at.enumeration.is_empty() => self.listed(),
            Type::Integer | Type::Number => self.bounds(),
            _ => Values::Any,
        }
    }

    fn listed(self) -> Values {
        Values::Only(self.at.enumeration.iter().filter(|value| !value.is_null()).cloned().collect())
    }

    fn bounds(self) -> Values {
        let at = self.at;
        let shift = |is_exclusive: bool| if is_exclusive && self.is_integer() { 1.0 } else { 0.0 };
        let (mut least, mut most) = (at.minimum.unwrap_or(f64::NEG_INFINITY), at.maximum.unwrap_or(f64::INFINITY));
        if self.is_integer() {
            (least, most) = (least.ceil(), most.floor());
            least += if at.minimum == Some(least) { shift(at.exclusive_minimum) } else { 0.0 };
            most -= if at.maximum == Some(most) { shift(at.exclusive_maximum) } else { 0.0 };
        }
        Values::Between(least, most)
    }

    /// The sizes of the values.
    pub(super) fn sizes(self) -> Values {
        let (least, most) = match self.at.kind {
            _ if self.is_old => (None, None),
            Type::String if matches!(self.at.format.as_deref(), None | Some("")) => {
                (self.at.min_length, self.at.max_length)
            }
            Type::Array => (self.at.min_items, self.at.max_items),
            Type::Object => (self.at.min_properties, self.at.max_properties),
            _ => (None, None),
        };
        #[expect(clippy::cast_precision_loss, reason = "larger ones than are exact count as no bound")]
        let size = |size: u64, otherwise: f64| if size < 1 << 53 { size as f64 } else { otherwise };
        let most = most.map_or(f64::INFINITY, |most| size(most, f64::INFINITY));
        Values::Between(least.map_or(0.0, |least| size(least, 0.0)), most)
    }
}
