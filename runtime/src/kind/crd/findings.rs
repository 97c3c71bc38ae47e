//! Findings about a definition: errors, which keep it from being served, and warnings.
use super::place::Place;
use crate::{
    kind::budget::Usage,
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
    pub(super) fn error(&mut self, place: &Place<'_>, kind: FieldErrorKind, detail: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            self.add(Fault { pointer: place.pointer(), error: FieldError::new(&place.path(), kind, detail) });
        }
    }

    /// Adds an error, unless it is known or there are too many. Kube-apiserver reports equal errors once.
    pub(super) fn add(&mut self, fault: Fault) {
        if self.errors.len() < MOST_ERRORS && !self.errors.iter().any(|other| other.error == fault.error) {
            self.errors.push(fault);
        }
    }

    pub(super) fn required(&mut self, place: &Place<'_>, detail: impl Into<String>) {
        self.error(place, FieldErrorKind::Required, detail);
    }

    pub(super) fn forbidden(&mut self, place: &Place<'_>, detail: impl Into<String>) {
        self.error(place, FieldErrorKind::Forbidden, detail);
    }

    pub(super) fn invalid(&mut self, place: &Place<'_>, value: impl Into<Document>, detail: impl Into<String>) {
        self.error(place, FieldErrorKind::Invalid(value.into()), detail);
    }

    /// Adds the bounds that a definition exceeds.
    pub(super) fn excess(&mut self, usage: &Usage) {
        let spec = Place::known("spec", "/spec");
        usage.excess().for_each(|excess| self.forbidden(&spec.field("versions"), excess.to_string()));
    }

    pub(super) fn unsupported(&mut self, place: &Place<'_>, given: &str, supported: &[&str]) {
        let supported = supported.iter().map(|text| format!("{text:?}")).collect();
        self.error(place, FieldErrorKind::NotSupported { given: given.into(), supported }, "");
    }

    pub(super) fn warning(&mut self, place: &Place<'_>, text: impl Into<String>) {
        self.warn(Warning { pointer: place.pointer(), text: text.into(), is_unknown_field: false });
    }

    pub(super) fn unknown_field(&mut self, place: &Place<'_>) {
        let text = format!("unknown field {:?}", place.path().as_str());
        self.warn(Warning { pointer: place.pointer(), text, is_unknown_field: true });
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < MOST_ERRORS {
            self.warnings.push(warning);
        }
    }
}
