//! Kinds before they are registered: their objects can be loaded before there is a cache.

use std::sync::Arc;

use super::reader::{KindReader, Transformer};
use crate::{
    cache,
    kind::{Kind, Versions},
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
        let reader = KindReader::new(versions, self.transformer.clone());
        PreparedKind { records: Arc::new(reader.with_webhooks(self.webhooks)) }
    }
}
