//! Field selectors: `metadata.name=a,status.phase!=Ready`.
use std::fmt;

/// One term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// The field, such as `metadata.name`.
    pub field: Box<str>,
    /// The field must equal the value, rather than differ from it.
    pub equal: bool,
    /// The value.
    pub value: Box<str>,
}

/// A field selector: all terms must hold. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<FieldTerm>);

impl Fields {
    /// Parses a selector.
    ///
    /// # Errors
    /// The message for the client.
    pub fn parse(_text: &str) -> Result<Self, String> {
        todo!()
    }

    /// A selector of these terms.
    pub fn new(terms: Vec<FieldTerm>) -> Self {
        Self(terms)
    }

    /// Selects everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The terms, as given.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.0
    }

    /// The value that a field must have for any object to be selected, if there is such a value.
    pub fn pins(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|t| t.equal && &*t.field == field).map(|t| &*t.value)
    }

    /// Whether an object is selected; the closure gives the value of a field, empty where it is absent.
    pub fn matches<'a>(&self, value_of: impl Fn(&str) -> &'a str) -> bool {
        self.0.iter().all(|term| (value_of(&term.field) == &*term.value) == term.equal)
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
