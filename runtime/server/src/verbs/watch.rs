//! watch: changes as they happen, from a revision or after the current state.
use super::{Error, Items, Request, Verbs, Watch, WatchResult, revisions::unreachable, selection::Selection};
use crate::{
    cache::WatchError,
    meta::{Revision, options::ListOptions},
};

impl Verbs {
    /// Watches the selected objects.
    ///
    /// Without a version, or from version zero, the watch starts with the current state. From another version it starts
    /// with the later changes; for a future version it waits without a limit.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an invalid selector, [`Error::Expired`] if changes after the version are gone,
    /// [`Error::TooLargeRevision`] if the initial events must not be older than a version that is not reached in time,
    /// [`Error::Timeout`] if the store does not answer, [`Error::StoreRead`] if objects cannot be read.
    pub async fn watch(&self, request: &Request, options: &ListOptions) -> Result<WatchResult, Error> {
        let selection = Selection::new(request, options)?;
        let objects = &request.resource.objects;
        let asked = options.resource_version.filter(|revision| *revision != Revision(0));

        let wants_state = options.initial_events.unwrap_or(asked.is_none());
        // Later changes arrive as events, so that a watch from a version need not wait for it.
        if wants_state || options.resource_version.is_none() {
            self.recent(options.resource_version).await?;
        }
        let snapshot = objects.snapshot();
        let (initial, after) = if wants_state {
            (Items::select(request, &snapshot, &selection, None, 0)?, snapshot.revision())
        } else {
            (Items::of(snapshot.revision(), Vec::new()), asked.unwrap_or_else(|| snapshot.revision()))
        };
        let subscription = selection.subscription();
        let watch = objects
            .watch(after, subscription, selection.filter)
            .await
            .map_err(|error| refused(request, &error, after))?;
        let wants_end = options.initial_events == Some(true) && options.bookmarks;
        let (initial, watch) = (initial.converted(request).await?, Watch::new(&request.resource, watch));
        Ok(WatchResult { initial, initial_bookmark: wants_end.then_some(after), bookmarks: options.bookmarks, watch })
    }
}

fn refused(request: &Request, error: &WatchError, asked: Revision) -> Error {
    match error {
        WatchError::Expired(oldest) => {
            Error::Expired { message: format!("too old resource version: {asked} ({oldest})"), continue_token: None }
        }
        WatchError::Lagged => Error::Unavailable("the server is stopping".to_owned()),
        // Only a running watch gets this error.
        WatchError::Unreadable { key, reason } => Error::Internal(format!("{key}: {reason}")),
        WatchError::Unconverted(reason) => Error::Internal(reason.to_string()),
        WatchError::Read(error) => unreachable(request, error, asked),
    }
}
