//! Checks of objects, and of what an update changes.
use std::collections::HashSet;

use super::{
    defaults::{When, is_zero},
    expression::{Budget, Expression, Scope},
    path::{Path, Place},
};
use crate::{
    meta::{FieldError, FieldErrorKind, FieldPath, Quantity, User, field::MOST_ERRORS},
    schema::Document,
};

/// A part of objects that an update may not change, other than by a subresource. What is absent, null or empty is the same, and so are
/// quantities of one amount.
#[derive(Clone, Debug)]
pub struct Immutable {
    /// The part. Paths with `[*]` and `.*` compare what is at the same place.
    pub path: Path,
    /// Parts of it that may change, by paths from there.
    pub except: Vec<Path>,
    /// The error.
    pub reason: Reason,
    /// The detail of the error.
    pub message: String,
}

/// A check of each value at a place.
#[derive(Clone, Debug)]
pub struct Check {
    /// The place.
    pub path: Path,
    /// What must hold.
    pub test: Test,
    /// The field of the error, from the place: `.clusterIPs[0]`.
    pub field_path: String,
    /// The error.
    pub reason: Reason,
    /// The detail of the error.
    pub message: Text,
    /// The value in the error, if it is not that of the field.
    pub shown: Option<Document>,
    /// The writes in which it is made.
    pub on: When,
    /// The subresource in whose writes alone it is made.
    pub subresource: Option<String>,
    /// The number of steps to the part that the rule is of.
    pub part: usize,
}

/// What must hold.
#[derive(Clone, Debug)]
pub enum Test {
    /// An expression is true. With `oldSelf`, it is evaluated where there is an old value.
    Rule {
        /// The expression.
        rule: Expression,
        /// True if it is about a change.
        of_change: bool,
    },
    /// The items of a list differ in what is at these paths together.
    Unique {
        /// The paths, from an item.
        by: Vec<Path>,
        /// Items without a value there do not count.
        ignore_empty: bool,
        /// The field of the error, from the item.
        field_path: String,
    },
}

/// The detail of an error.
#[derive(Clone, Debug)]
pub enum Text {
    /// This text.
    Fixed(String),
    /// The text that an expression gives.
    Computed(Expression),
}

/// The kind of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The value is wrong.
    Invalid,
    /// The value may not be there.
    Forbidden,
    /// The value is missing.
    Required,
    /// The value is there twice.
    Duplicate,
    /// The value names something that is not there.
    NotFound,
    /// The value is another one than these.
    NotSupported(Vec<String>),
}

impl Reason {
    /// The names of reasons in documents, without that of values that are not supported.
    pub const BY_NAME: [(&'static str, Self); 5] = [
        ("FieldValueDuplicate", Self::Duplicate),
        ("FieldValueForbidden", Self::Forbidden),
        ("FieldValueInvalid", Self::Invalid),
        ("FieldValueNotFound", Self::NotFound),
        ("FieldValueRequired", Self::Required),
    ];

    fn error(&self, path: &FieldPath, value: Document, detail: &str) -> FieldError {
        let kind = match self {
            Self::Invalid => FieldErrorKind::Invalid(value),
            Self::Forbidden => FieldErrorKind::Forbidden,
            Self::Required => FieldErrorKind::Required,
            Self::Duplicate => FieldErrorKind::Duplicate(value),
            Self::NotFound => FieldErrorKind::NotFound(value),
            Self::NotSupported(supported) => {
                let supported = supported.iter().map(|one| format!("{one:?}")).collect();
                FieldErrorKind::NotSupported { given: value, supported }
            }
        };
        FieldError::new(path, kind, detail)
    }
}

impl Immutable {
    pub(super) fn check(&self, object: &Document, old: &Document, errors: &mut Vec<FieldError>) {
        let mut places = self.path.places(object);
        if places.is_empty() {
            places = self.path.places(old);
        }
        for place in places {
            let (mut new, mut known) = (place.get(object).cloned(), place.get(old).cloned());
            for path in &self.except {
                new.iter_mut().chain(known.iter_mut()).for_each(|value| path.remove(value));
            }
            if !is_same(new.as_ref(), known.as_ref()) {
                let value = place.get(object).cloned().unwrap_or_default();
                errors.push(self.reason.error(&place.field_path(), value, &self.message));
            }
        }
    }
}

/// True if two values are the same to Kubernetes: absent, null and empty ones are.
fn is_same(one: Option<&Document>, other: Option<&Document>) -> bool {
    let is_empty = |value: &Document| {
        value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(|members| members.values().all(|value| is_same(Some(value), None)))
    };
    match (one.filter(|value| !is_empty(value)), other.filter(|value| !is_empty(value))) {
        (Some(Document::Object(one)), Some(Document::Object(other))) => {
            let same = |(name, value): (&String, &Document)| is_same(Some(value), other.get(name));
            one.iter().all(same)
                && other.iter().all(|(name, value)| one.contains_key(name) || is_same(Some(value), None))
        }
        (Some(Document::Array(one)), Some(Document::Array(other))) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(Some(one), Some(other)))
        }
        (Some(Document::String(one)), Some(Document::String(other))) => one == other || is_same_amount(one, other),
        (one, other) => one == other,
    }
}

/// True for quantities such as `1Gi` and `1024Mi`.
fn is_same_amount(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(str::parse::<Quantity>);
    matches!((one, other), (Ok(one), Ok(other)) if one.compare(&other).is_eq())
}

impl Check {
    pub(super) fn run(
        &self,
        object: &Document,
        (old, user): (Option<&Document>, &User),
        budget: &Budget,
        errors: &mut Vec<FieldError>,
    ) {
        let places = self.path.places(object);
        if !budget.spend(places.len()) {
            return;
        }
        for place in places {
            if errors.len() >= MOST_ERRORS {
                return;
            }
            match &self.test {
                Test::Rule { rule, of_change } => {
                    let before = old.and_then(|old| place.get(old));
                    let Some(value) = place.get(object).filter(|_| !of_change || before.is_some()) else { continue };
                    let scope = Scope {
                        value,
                        object,
                        old: before,
                        old_object: old,
                        place: &place,
                        part: self.part,
                        user,
                        budget,
                    };
                    if rule.evaluate(scope) == Some(false.into()) {
                        errors.push(self.error(&place, scope));
                    }
                }
                Test::Unique { by, ignore_empty, field_path } => {
                    self.unique((by, *ignore_empty, field_path), &place, object, errors);
                }
            }
        }
    }

    fn error(&self, place: &Place, scope: Scope<'_>) -> FieldError {
        let detail = match &self.message {
            Text::Fixed(text) => text.clone(),
            Text::Computed(expression) => {
                let text = expression.evaluate(scope);
                text.and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
            }
        };
        let value = self.shown.clone().unwrap_or_else(|| {
            let field = Path::parse(&self.field_path).unwrap_or_default();
            let places = field.places(scope.value);
            places.first().and_then(|place| place.get(scope.value)).cloned().unwrap_or_else(|| "".into())
        });
        self.reason.error(&below(&place.field_path(), &self.field_path), value, &detail)
    }

    fn unique(
        &self,
        (by, ignore_empty, field_path): (&[Path], bool, &str),
        place: &Place,
        object: &Document,
        errors: &mut Vec<FieldError>,
    ) {
        let Some(Document::Array(items)) = place.get(object) else { return };
        let mut known = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let values: Vec<Document> = by
                .iter()
                .map(|path| path.places(item).first().and_then(|place| place.get(item)).cloned().unwrap_or_default())
                .collect();
            if ignore_empty && values.iter().any(is_zero) {
                continue;
            }
            if !known.insert(Document::from(values.clone()).to_string()) {
                let path = below(&place.field_path().index(index), field_path);
                let value = if let [only] = &values[..] { only.clone() } else { item.clone() };
                let detail = if let Text::Fixed(text) = &self.message { text } else { "" };
                errors.push(self.reason.error(&path, value, detail));
            }
        }
    }
}

/// A path below another one.
fn below(path: &FieldPath, text: &str) -> FieldPath {
    let text = format!("{}{text}", path.as_str());
    FieldPath::new(text.trim_start_matches('.'))
}
