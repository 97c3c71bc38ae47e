//! Kinds before they are registered: their objects can be loaded before there is a cache.

use std::sync::Arc;

use super::reader::{KindReader, Transformer};
use crate::{
    cache,
    kind::{Kind, Versions, convert::Answers},
    webhook::Webhooks,
};

/// A kind in all of its versions, before it is registered.
#[derive(Clone)]
pub struct PreparedKind {
    pub(super) records: Arc<KindReader>,
}

impl PreparedKind {
    /// The prefix of its keys in the store, and the reader of its objects.
    pub fn resource(&self) -> (String, cache::SharedReader) {
        (self.records.stored().shared.prefix(), self.records.clone())
    }
}

/// Prepares kinds for a registry with the same transformer and webhooks.
pub(crate) struct Preparer<'p> {
    /// Transforms stored bytes.
    pub transformer: &'p Arc<dyn Transformer>,
    /// Converts objects.
    pub webhooks: &'p Arc<Webhooks>,
}

impl Preparer<'_> {
    /// Prepares a kind.
    ///
    /// # Errors
    /// Versions that do not belong together, or an invalid schema.
    pub(crate) fn prepare(&self, versions: impl IntoIterator<Item = Kind>) -> Result<PreparedKind, String> {
        Ok(self.with(Versions::new(versions)?))
    }

    pub(super) fn with(&self, versions: Versions) -> PreparedKind {
        PreparedKind { records: Arc::new(self.reader(versions)) }
    }

    /// The same for objects that are loaded with these answers of webhooks.
    pub(super) fn loading_with(&self, versions: Versions, answers: Answers) -> PreparedKind {
        PreparedKind { records: Arc::new(self.reader(versions).loading_with(answers)) }
    }

    fn reader(&self, versions: Versions) -> KindReader {
        KindReader::new(versions, self.transformer.clone()).with_webhooks(self.webhooks)
    }
}
