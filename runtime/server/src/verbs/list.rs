//! list: the objects of a kind at one revision, all or one page at a time.
use super::{
    Error, List, Request, Verbs, continue_token::Position, items::Items, revisions::unreachable, selection::Selection,
};
use crate::{
    cache::Snapshot,
    meta::{
        Revision,
        options::{ListOptions, VersionMatch},
    },
    storage::ReadError,
};

impl Verbs {
    /// The selected objects, in key order.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for invalid selectors and tokens, [`Error::Expired`] if the requested state is gone,
    /// [`Error::TooLargeRevision`] if it is not reached in time, [`Error::Timeout`] if the store does not answer,
    /// [`Error::StoreRead`] if objects cannot be read: it is unknown whether they are selected, and a list without them would
    /// mean that they were deleted.
    pub async fn list(&self, request: &Request, options: &ListOptions) -> Result<List, Error> {
        let selection = Selection::new(request, options)?;
        let (snapshot, after) = self.state(request, options).await?;
        // For version zero any state will do, and kube-apiserver then ignores the limit.
        let limit = if options.resource_version == Some(Revision(0)) { 0 } else { options.limit };
        let list = page(request, &snapshot, &selection, after.as_deref(), limit)?;
        if list.continue_token.is_some() && after.is_none() {
            request.resource.objects.keep(&snapshot);
        }
        Ok(list)
    }

    /// The snapshot to list, and the key below the prefix after which to continue.
    async fn state(&self, request: &Request, options: &ListOptions) -> Result<(Snapshot, Option<String>), Error> {
        if !options.continue_token.is_empty() {
            if options.resource_version.is_some_and(|revision| revision != Revision(0)) {
                let message = "specifying resource version is not allowed when using continue";
                return Err(Error::BadRequest(message.to_owned()));
            }
            return self.continued(request, Position::decode(&options.continue_token)?).await;
        }
        self.recent(options.resource_version).await?;
        let objects = &request.resource.objects;
        let Some(asked) = options.resource_version.filter(|revision| *revision != Revision(0)) else {
            return Ok((objects.snapshot(), None));
        };
        // With a limit, a version without a match is exact: otherwise the pages would have different states.
        let exact = match options.resource_version_match {
            Some(how) => how == VersionMatch::Exact,
            None => options.limit > 0,
        };
        if !exact {
            return Ok((objects.snapshot(), None));
        }
        let snapshot = objects.snapshot_at(asked).await.map_err(|error| unreachable(request, &error, asked))?;
        Ok((snapshot, None))
    }

    async fn continued(&self, request: &Request, from: Position) -> Result<(Snapshot, Option<String>), Error> {
        self.recent(from.revision).await?;
        let objects = &request.resource.objects;
        let Some(revision) = from.revision else { return Ok((objects.snapshot(), Some(from.after))) };
        match objects.snapshot_at(revision).await {
            Ok(snapshot) => Ok((snapshot, Some(from.after))),
            Err(ReadError::Compacted(_)) => Err(Error::Expired {
                message: TOO_OLD_TO_CONTINUE.to_owned(),
                continue_token: Some(Position { revision: None, ..from }.encode()),
            }),
            Err(error) => Err(unreachable(request, &error, revision)),
        }
    }
}

/// kube-apiserver's message, which describes both ways to continue.
pub(crate) const TOO_OLD_TO_CONTINUE: &str = "The provided continue parameter is too old to display a consistent list result. \
You can start a new list without the continue parameter, or use the continue token in this response to retrieve the \
remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were \
created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// At most `limit` selected objects after a key; zero means no limit. Fails for unreadable objects.
fn page(
    request: &Request,
    snapshot: &Snapshot,
    selection: &Selection,
    after: Option<&str>,
    limit: usize,
) -> Result<List, Error> {
    let revision = snapshot.revision();
    let after = after.map(|after| format!("{}{after}", selection.prefix));
    let items = Items::select(request, snapshot, selection, after.as_deref(), limit)?;
    let rest = items.rest();
    let is_page = limit > 0 && items.len() == limit && rest > 0 && selection.key.is_none();
    let Some(last) = items.last_key().filter(|_| is_page) else {
        return Ok(List { revision, items, continue_token: None, remaining: None });
    };
    // With a selector, the number of remaining items is unknown without examining them.
    let remaining = selection.filter.is_none().then_some(rest);
    let after = last[selection.prefix.len()..].to_owned();
    let continue_token = Some(Position { revision: Some(revision), after }.encode());
    Ok(List { revision, items, continue_token, remaining })
}
