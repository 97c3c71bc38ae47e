//! Findings about a definition: errors, which keep it from being served, and warnings.
use super::location::Location;
use crate::{
    meta::{FieldError, FieldErrorKind, field::MOST_ERRORS},
    schema::Document,
};

/// Something wrong with a definition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fault {
    /// Where in the document, as a JSON pointer.
    pub pointer: String,
    /// The error, in kube-apiserver's words where it reports the same.
    pub error: FieldError,
}

/// A part of a definition that has no effect, or another one than its author may expect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Where in the document, as a JSON pointer.
    pub pointer: String,
    /// The message.
    pub text: String,
    /// True for an unknown field. Decoders of requests report unknown fields, too.
    pub is_unknown_field: bool,
}

/// Everything found in a definition.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The errors.
    pub errors: Vec<Fault>,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

impl Findings {
    /// Adds an error at a location. Beyond [`MOST_ERRORS`], errors are dropped.
    pub fn error(&mut self, location: &Location<'_>, kind: FieldErrorKind, detail: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            self.add(Fault { pointer: location.pointer(), error: FieldError::new(&location.path(), kind, detail) });
        }
    }

    /// Adds an error, unless it is known or there are too many. Kube-apiserver reports equal errors once.
    pub fn add(&mut self, fault: Fault) {
        if self.errors.len() < MOST_ERRORS && !self.errors.iter().any(|other| other.error == fault.error) {
            self.errors.push(fault);
        }
    }

    /// Adds the error of a missing field.
    pub fn required(&mut self, location: &Location<'_>, detail: impl Into<String>) {
        self.error(location, FieldErrorKind::Required, detail);
    }

    /// Adds the error of a field that must not be set.
    pub fn forbidden(&mut self, location: &Location<'_>, detail: impl Into<String>) {
        self.error(location, FieldErrorKind::Forbidden, detail);
    }

    /// Adds the error of an invalid value.
    pub fn invalid(&mut self, location: &Location<'_>, value: impl Into<Document>, detail: impl Into<String>) {
        self.error(location, FieldErrorKind::Invalid(value.into()), detail);
    }

    /// Adds the error of an unsupported value.
    pub fn unsupported(&mut self, location: &Location<'_>, given: &str, supported: &[&str]) {
        let supported = supported.iter().map(|text| format!("{text:?}")).collect();
        self.error(location, FieldErrorKind::NotSupported { given: given.into(), supported }, "");
    }

    /// Adds a warning about a location.
    pub fn warning(&mut self, location: &Location<'_>, text: impl Into<String>) {
        self.warn(Warning { pointer: location.pointer(), text: text.into(), is_unknown_field: false });
    }

    /// Adds the warning about an unknown field.
    pub fn unknown_field(&mut self, location: &Location<'_>) {
        let text = format!("unknown field {:?}", location.path().as_str());
        self.warn(Warning { pointer: location.pointer(), text, is_unknown_field: true });
    }

    /// Adds a warning. Beyond [`MOST_ERRORS`], warnings are dropped.
    pub fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < MOST_ERRORS {
            self.warnings.push(warning);
        }
    }
}
