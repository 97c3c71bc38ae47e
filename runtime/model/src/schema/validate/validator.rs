//! What a walk over a document has found so far, within the limits of errors and their texts.
use super::wording::subject;
use crate::{
    meta::{
        FieldError, FieldErrorKind,
        field::{MOST_ERROR_BYTES, MOST_ERRORS, MOST_REPEATED, beginning},
        go,
    },
    schema::{At, Document, Meter, correlate::Before, location::Location},
};

/// The steps that an error takes, whether it is reported or not.
const STEPS_OF_ERROR: usize = 64;

/// The results of a walk so far.
pub(super) struct Validator<'m> {
    pub(super) meter: &'m Meter,
    pub(super) errors: Vec<FieldError>,
    /// The room for texts of errors in bytes.
    room: usize,
    /// Errors that were found when there was no room any more.
    omitted: usize,
    /// The errors of embedded objects, which an update reports whether it changes them or not.
    pub(super) embedded: Vec<FieldError>,
    pub(super) duplicates: Vec<FieldError>,
    /// The number of checks, as kube-openapi counts them (`MatchCount`): shows the failed branch of a junctor that came closest.
    pub(super) checks: u64,
}

impl<'m> Validator<'m> {
    pub(super) fn new(meter: &'m Meter) -> Self {
        let room = MOST_ERROR_BYTES;
        Self { meter, errors: Vec::new(), room, omitted: 0, embedded: Vec::new(), duplicates: Vec::new(), checks: 0 }
    }

    /// A separate walk over one value, without a counterpart.
    pub(super) fn alone(&self, at: At<'_>, value: &Document, location: &Location<'_>) -> Self {
        let mut validator = Self::new(self.meter);
        validator.value(at, value, location, Before::NOTHING);
        validator
    }

    /// The errors, and how many more there are.
    pub(super) fn finish(mut self) -> Vec<FieldError> {
        if self.omitted > 0 {
            self.errors.push(FieldError::omitted(self.omitted));
        }
        self.errors
    }

    /// True if there are no errors so far.
    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// True if no further errors are reported.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MOST_ERRORS || self.room == 0
    }

    /// Adds the results of another walk.
    pub(super) fn take(&mut self, other: Self) {
        self.checks += other.checks;
        self.omitted += other.omitted;
        other.errors.into_iter().for_each(|error| self.push(error));
    }

    /// Adds an error whose message contains the path: `spec.size in body should be …`.
    pub(super) fn invalid(&mut self, location: &Location<'_>, value: Document, what: &str) {
        self.add(location, || (FieldErrorKind::Invalid(value), format!("{} {what}", subject(location))));
    }

    /// Adds an error that kube-apiserver reports without a field.
    pub(super) fn invalid_nowhere(&mut self, detail: String) {
        self.add(&Location::Root, || (FieldErrorKind::Invalid("".into()), detail));
    }

    pub(super) fn add(&mut self, location: &Location<'_>, error: impl FnOnce() -> (FieldErrorKind, String)) {
        self.meter.step(STEPS_OF_ERROR);
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        let (kind, detail) = error();
        self.push(FieldError::new(&location.path(), kind, detail));
    }

    /// Adds an error unless it exists already: a branch may report an error of another branch or of the schema around
    /// it.
    pub(super) fn push(&mut self, error: FieldError) {
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        self.meter.step(self.errors.len());
        if !self.errors.contains(&error) {
            self.room = self.room.saturating_sub(error.size());
            self.errors.push(error);
        }
    }

    pub(super) fn type_invalid(&mut self, location: &Location<'_>, expected: &str, given: &str) {
        self.add(location, || {
            let given = beginning(given, MOST_REPEATED);
            let detail = format!("{} must be of type {expected}: {}", subject(location), go::quoted(&given));
            (FieldErrorKind::TypeInvalid(given.into()), detail)
        });
    }
}
