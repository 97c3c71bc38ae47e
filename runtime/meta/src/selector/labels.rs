//! Label selectors: `app=web,tier in (1,2),!old`. A parsed selector prints to text that parses to the same selector.
use std::{cmp::Ordering, fmt};

use serde_json::json;

use super::{MAX_LENGTH, lexer};
use crate::{FieldError, FieldErrorKind, FieldPath, LabelSelector, go, validate};

/// The operator of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is absent.
    NotIn,
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The label is an integer greater than the value.
    GreaterThan,
    /// The label is an integer less than the value.
    LessThan,
}

/// One requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelRequirement {
    /// The label's key.
    pub key: Box<str>,
    /// The operator.
    pub operator: Operator,
    /// The values: none for `Exists` and `DoesNotExist`, one for `GreaterThan` and `LessThan`, otherwise sorted and
    /// unique.
    pub values: Vec<Box<str>>,
}

/// A label selector: all requirements must match. An empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<LabelRequirement>);

impl Labels {
    /// Parses a selector.
    ///
    /// # Errors
    /// The message for the client.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_LENGTH {
            return Err(super::too_long("label", text.len()));
        }
        Self::of(lexer::parse(text)?)
    }

    /// The selector that a `LabelSelector` field describes.
    ///
    /// # Errors
    /// The message for an invalid field value.
    pub fn from_field(selector: &LabelSelector) -> Result<Self, String> {
        let exact = selector.match_labels.iter().map(|(key, value)| (key.as_str(), Operator::In, vec![value.as_str()]));
        let mut requirements: Vec<LabelRequirement> = exact.map(requirement).collect();
        for expression in &selector.match_expressions {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => return Err(format!("{} is not a valid label selector operator", go::quoted(other))),
            };
            let values = expression.values.iter().map(String::as_str).collect();
            requirements.push(requirement((&expression.key, operator, values)));
        }
        Self::of(requirements)
    }

    /// A selector of these requirements, checked and sorted.
    fn of(mut requirements: Vec<LabelRequirement>) -> Result<Self, String> {
        for requirement in &requirements {
            check(requirement)?;
        }
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self(requirements))
    }

    /// True if the selector matches everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The requirements, sorted by key.
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.0
    }

    /// True if an object with these labels matches.
    pub fn matches(&self, labels: &[(Box<str>, Box<str>)]) -> bool {
        self.matches_by(|key| labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value))
    }

    /// True if an object matches; the closure returns the value of a label.
    pub fn matches_by<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| requirement.allows(value_of(&requirement.key)))
    }
}

/// A requirement with sorted, unique values.
pub(super) fn requirement((key, operator, mut values): (&str, Operator, Vec<&str>)) -> LabelRequirement {
    values.sort_unstable();
    values.dedup();
    LabelRequirement { key: key.into(), operator, values: values.into_iter().map(Into::into).collect() }
}

impl LabelRequirement {
    /// True if a label's value meets the requirement; `None` means that the object does not have the label.
    pub fn allows(&self, value: Option<&str>) -> bool {
        let named = |value: &str| self.values.iter().any(|one| **one == *value);
        match (self.operator, value) {
            (Operator::In, Some(value)) => named(value),
            (Operator::NotIn, Some(value)) => !named(value),
            (Operator::Exists, found) => found.is_some(),
            (Operator::DoesNotExist, found) => found.is_none(),
            (Operator::NotIn, None) => true,
            (Operator::In | Operator::GreaterThan | Operator::LessThan, None) => false,
            (Operator::GreaterThan, Some(value)) => self.compare(value) == Some(Ordering::Greater),
            (Operator::LessThan, Some(value)) => self.compare(value) == Some(Ordering::Less),
        }
    }

    fn compare(&self, value: &str) -> Option<Ordering> {
        let (value, bound) = (value.parse::<i64>().ok()?, self.values.first()?.parse::<i64>().ok()?);
        Some(value.cmp(&bound))
    }
}

/// Checks a requirement. The error is the API's message.
fn check(requirement: &LabelRequirement) -> Result<(), String> {
    let mut errors: Vec<FieldError> = Vec::new();
    let root = FieldPath::root();
    let values = root.child("values");
    let key = validate::qualified_name(&requirement.key);
    if !key.is_empty() {
        // The parser reports an invalid key first and without a path.
        let error = FieldError::new(&root, FieldErrorKind::Invalid(json!(&*requirement.key)), key.join("; "));
        return Err(format!("unable to parse requirement: {error}"));
    }
    let empty = requirement.values.is_empty();
    match requirement.operator {
        Operator::In | Operator::NotIn if empty => {
            let detail = "for 'in', 'notin' operators, values set can't be empty";
            errors.push(FieldError::new(&values, FieldErrorKind::Invalid(json!([])), detail));
        }
        Operator::Exists | Operator::DoesNotExist if !empty => {
            let detail = "values set must be empty for exists and does not exist";
            errors.push(FieldError::new(&values, FieldErrorKind::Invalid(json!(requirement.values)), detail));
        }
        Operator::GreaterThan | Operator::LessThan => {
            for (at, value) in requirement.values.iter().enumerate().filter(|(_, v)| v.parse::<i64>().is_err()) {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(FieldError::new(&values.index(at), FieldErrorKind::Invalid(json!(&**value)), detail));
            }
        }
        _ => {}
    }
    for (at, value) in requirement.values.iter().enumerate() {
        let wrong = validate::label_value(value);
        if !wrong.is_empty() {
            let path = values.index(at).key(&requirement.key);
            errors.push(FieldError::new(&path, FieldErrorKind::Invalid(json!(&**value)), wrong.join("; ")));
        }
    }
    let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match texts.len() {
        0 => Ok(()),
        1 => Err(format!("unable to parse requirement: {}", texts.remove(0))),
        _ => Err(format!("unable to parse requirement: [{}]", texts.join(", "))),
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, operator, values } = self;
        let joined = || values.join(",");
        match operator {
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{}", joined()),
            Operator::LessThan => write!(f, "{key}<{}", joined()),
            Operator::In if values.len() == 1 => write!(f, "{key}={}", joined()),
            Operator::NotIn if values.len() == 1 => write!(f, "{key}!={}", joined()),
            Operator::In => write!(f, "{key} in ({})", joined()),
            Operator::NotIn => write!(f, "{key} notin ({})", joined()),
        }
    }
}
