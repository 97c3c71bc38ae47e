//! Errors and warnings about documents, with their locations: the document and a JSON pointer into it.
use std::fmt;

use crate::{
    meta::field::{MOST_ERRORS, beginning},
    schema::Document,
};

/// How much of a wrong value a message shows.
const MOST_OF_A_VALUE: usize = 80;

/// Where the schemas of a document are.
pub(super) const SCHEMAS_POINTER: &str = "/components/schemas";

/// A location in one of the documents, linked to the location around it.
#[derive(Clone, Copy)]
pub(super) struct Location<'p> {
    /// The index of the document.
    pub document: usize,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    /// A JSON pointer.
    Pointer(&'p str),
    Key(&'p Location<'p>, &'p str),
    Index(&'p Location<'p>, usize),
}

impl<'p> Location<'p> {
    /// The whole document.
    pub(super) fn of(document: usize) -> Self {
        Self::known(document, "")
    }

    /// The schemas of a document.
    pub(super) fn of_schemas(document: usize) -> Self {
        Self::known(document, SCHEMAS_POINTER)
    }

    /// A location with this JSON pointer.
    pub(super) fn known(document: usize, pointer: &'p str) -> Self {
        Self { document, step: Step::Pointer(pointer) }
    }

    /// A member of the object here.
    pub(super) fn key(&'p self, key: &'p str) -> Self {
        Self { document: self.document, step: Step::Key(self, key) }
    }

    /// An item of the list here.
    pub(super) fn index(&'p self, index: usize) -> Self {
        Self { document: self.document, step: Step::Index(self, index) }
    }
}

/// The location as a JSON pointer.
impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Step::Pointer(pointer) => f.write_str(pointer),
            Step::Key(around, key) => write!(f, "{around}/{}", key.replace('~', "~0").replace('/', "~1")),
            Step::Index(around, index) => write!(f, "{around}/{index}"),
        }
    }
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The index of the document.
    pub document: usize,
    /// Where in it, as a JSON pointer.
    pub pointer: String,
    /// Its line, where the pointer does not say it.
    pub line: Option<usize>,
    /// The message.
    pub message: String,
}

/// Everything found in the documents, as far as there is room for it.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
}

impl Findings {
    /// Notes an error, which keeps the documents from being served.
    pub(super) fn error(&mut self, location: &Location<'_>, message: impl Into<String>) {
        note(&mut self.errors, location, message.into());
    }

    /// Notes an error on a line of a document that pointers do not lead into.
    pub(super) fn error_at_line(&mut self, location: &Location<'_>, line: usize, message: impl Into<String>) {
        self.error(location, message);
        if let Some(noted) = self.errors.last_mut() {
            noted.line = Some(line);
        }
    }

    /// Notes a warning: a part of a document has no effect, or another one than its author may expect.
    pub(super) fn warning(&mut self, location: &Location<'_>, message: impl Into<String>) {
        note(&mut self.warnings, location, message.into());
    }

    /// Notes a value that is not of the expected type.
    pub(super) fn wrong_type(&mut self, location: &Location<'_>, value: &Document, expected: &str) {
        self.error(location, format!("expected {expected}, found {}", shown(value)));
    }
}

fn note(all: &mut Vec<Finding>, location: &Location<'_>, message: String) {
    if all.len() < MOST_ERRORS {
        all.push(Finding { document: location.document, pointer: location.to_string(), line: None, message });
    }
}

/// A value as messages show it.
pub(super) fn shown(value: &Document) -> String {
    beginning(&value.to_string(), MOST_OF_A_VALUE)
}
