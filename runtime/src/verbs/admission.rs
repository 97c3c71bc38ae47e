//! Admission: what may change or refuse a write between decoding and storing it.
use super::{Api, Error, Request};
use crate::schema::Document;

/// A write on its way to the store.
pub struct Attempt<'a> {
    /// Who asks for what.
    pub request: &'a Request,
    /// The object as it is; `None` where the write creates it.
    pub old: Option<&'a Document>,
    /// Nothing will be stored.
    pub dry_run: bool,
}

/// A step of admission. Steps run in order: all of them may change the object, then all of them may refuse the result.
pub trait Admission: Send + Sync {
    /// May change the object, or refuse it.
    ///
    /// # Errors
    /// Why the write is refused.
    fn admit(&self, api: &Api, attempt: &Attempt<'_>, object: &mut Document) -> Result<(), Error> {
        let _ = (api, attempt, object);
        Ok(())
    }

    /// May refuse the object as it will be stored.
    ///
    /// # Errors
    /// Why the write is refused.
    fn validate(&self, api: &Api, attempt: &Attempt<'_>, object: &Document) -> Result<(), Error> {
        let _ = (api, attempt, object);
        Ok(())
    }
}

/// Refuses new objects in a namespace that is missing or terminating.
pub struct NamespaceExists;

impl Admission for NamespaceExists {}
