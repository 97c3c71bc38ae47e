//! The loading of a resource's objects: which of them do not fit the schema, and what webhooks have answered.
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{InvalidObjects, KindReader, Validity};
use crate::{
    kind::convert::{Answers, Question},
    registry::record::{self, Record},
    schema::{Document, Meter},
};

impl KindReader {
    /// The same reader for objects that are loaded with these answers of webhooks.
    #[must_use]
    pub fn loading_with(self, answers: Answers) -> Self {
        Self { loading: Mutex::new(Some(answers)), ..self }
    }

    /// Ends the loading. Returns the conversions that it lacked, if there are any, and the answers that it had.
    pub fn end_loading(&self) -> Option<(Vec<Question>, Answers)> {
        let mut answers = self.loading().take()?;
        let open = answers.take_open();
        (!open.is_empty()).then_some((open, answers))
    }

    pub(super) fn loading(&self) -> MutexGuard<'_, Option<Answers>> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The invalid objects found while loading. Ends the counting.
    pub fn take_invalid_objects(&self) -> Option<InvalidObjects> {
        self.invalid_objects().take().filter(|invalid_objects| invalid_objects.count > 0)
    }

    /// True until the objects of the resource are loaded.
    pub(super) fn is_loading(&self) -> bool {
        self.invalid_objects().is_some()
    }

    fn invalid_objects(&self) -> MutexGuard<'_, Option<InvalidObjects>> {
        self.invalid_objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a body with the same structure but other rules.
    pub(super) fn check(&self, key: &str, record: &Record<'_>) {
        let fingerprint = record.fingerprint;
        let known = fingerprint == self.structure || fingerprint & 0xffff_ffff == u64::from(self.rules);
        if known || self.invalid_objects().is_none() {
            return;
        }
        if let Ok(document) = record::parse(&record.body.json()) {
            self.count_invalid(key, &document);
        }
    }

    pub(super) fn count_invalid(&self, key: &str, document: &Document) {
        if self.invalid_objects().is_none()
            || Validity::of(&self.stored().version.schema, document, &Meter::stored()) == Validity::Checked
        {
            return;
        }
        if let Some(invalid_objects) = self.invalid_objects().as_mut() {
            invalid_objects.count += 1;
            if invalid_objects.example.is_empty() {
                key.clone_into(&mut invalid_objects.example);
            }
        }
    }

    /// Counts an object that a webhook could not convert. Past states do not count.
    pub(super) fn count_while_loading(&self) {
        if self.versions.webhook().is_some() && self.invalid_objects().is_some() {
            self.count_unread();
        }
    }
}
