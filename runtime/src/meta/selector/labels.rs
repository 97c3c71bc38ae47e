//! Label selectors: `app=web,tier in (1,2),!old`.
use std::fmt;

/// How a requirement compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is absent.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    Absent,
    /// The label is a whole number greater than the value.
    Greater,
    /// The label is a whole number less than the value.
    Less,
}

/// One requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRequirement {
    /// The label's key.
    pub key: Box<str>,
    /// How to compare.
    pub operator: Operator,
    /// The values; empty for `Exists` and `Absent`, one for `Greater` and `Less`, otherwise sorted.
    pub values: Vec<Box<str>>,
}

/// A label selector: all requirements must hold. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<LabelRequirement>);

impl Labels {
    /// Parses a selector.
    ///
    /// # Errors
    /// The message for the client.
    pub fn parse(_text: &str) -> Result<Self, String> {
        todo!()
    }

    /// Selects everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The requirements, sorted by key.
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.0
    }

    /// Whether an object with these labels (sorted by key or not) is selected.
    pub fn matches(&self, _labels: &[(Box<str>, Box<str>)]) -> bool {
        todo!()
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
