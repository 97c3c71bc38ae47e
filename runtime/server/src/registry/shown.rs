//! Stored objects in the version of a request.
use std::{borrow::Cow, slice, sync::Arc};

use super::{ResourceEntry, View};
use crate::{cache::Object, kind::convert::Answers, webhook::Webhooks};

impl ResourceEntry {
    /// Runs code that converts objects of this resource. If a webhook converts them, the code runs again with its answers, so
    /// it must be a pure function of them.
    pub async fn converting<T>(&self, mut work: impl FnMut(&Answers) -> T) -> T {
        match &self.webhooks {
            None => work(&Answers::none()),
            // Boxed to keep the state of other requests small.
            Some(webhooks) => Box::pin(webhooks.resolve(work)).await,
        }
    }

    /// True if a short request may wait for a webhook: a read in a version to which one converts, or any write. In the storage
    /// version, too, a write converts for field managers that wrote in another version, and for selectable values.
    pub fn may_wait(&self, reads: bool) -> bool {
        self.webhooks.is_some() && (!reads || self.kind.waits())
    }

    /// The view of this version, if a webhook converts to it.
    pub fn waiting_view(&self) -> Option<(&View, &Arc<Webhooks>)> {
        self.view.as_ref().filter(|_| self.kind.waits()).zip(self.webhooks.as_ref())
    }

    /// A stored object in this version. A new conversion is kept for other readers.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub async fn show(&self, object: &Arc<Object>) -> Result<Arc<Object>, String> {
        match (self.waiting_view(), &self.view) {
            (Some((view, webhooks)), _) => {
                let mut shown = Box::pin(view.of_all(webhooks, slice::from_ref(object))).await;
                shown.pop().expect("a result for each object")
            }
            (None, Some(view)) => view.of(object),
            (None, None) => Ok(object.clone()),
        }
    }

    /// An object for a reader of this many bytes of objects, in this version: conversions are kept only if all of them fit.
    /// Objects that a webhook converts are given in this version already.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn show_among<'o>(&self, object: &'o Arc<Object>, bytes: usize) -> Result<Cow<'o, Arc<Object>>, String> {
        match &self.view {
            Some(_) if self.kind.waits() => Ok(Cow::Borrowed(object)),
            Some(view) if view.keeps(bytes) => view.of(object).map(Cow::Owned),
            Some(view) => view.passing(object).map(Cow::Owned),
            None => Ok(Cow::Borrowed(object)),
        }
    }
}
