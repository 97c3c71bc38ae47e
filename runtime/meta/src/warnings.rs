//! Warnings for the client of a request, collected while it is processed.
use std::sync::{Mutex, PoisonError};

/// Texts for the client, which are sent as `Warning` headers with the answer, whether the request succeeds or not.
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Adds a text. A repeated text is sent once.
    pub fn add(&self, text: impl Into<String>) {
        let (text, mut all) = (text.into(), self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// Removes all texts and returns them.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
