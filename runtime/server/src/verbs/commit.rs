//! Commits: from a document that has passed the pipeline to the object that readers see.
use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::timeout;

use super::{
    Error, Request, Verbs,
    lifecycle::{check_creation, hold_namespace},
    retry::{Retry, WriteFailure},
    waiting::Permits,
    write::Write,
};
use crate::{
    cache::{Object, Reader},
    kind::convert::Answers,
    meta::Revision,
    registry::reader::{StoredRecord, Validity, Values},
    schema::Document,
    storage::{Commit, CommitError, Damage, Expect, Hold, Op},
    tasks,
};

/// The maximum size of a stored object. Requests are limited to the same size, but patches may grow an object.
const MAX_OBJECT_BYTES: usize = 3 << 20;

/// How long a write waits for a changed definition to be read again, which converts all of its objects if the storage version
/// changes.
const CONFIRMED_WITHIN: Duration = if cfg!(test) { Duration::from_millis(500) } else { Duration::from_secs(10) };

/// An object to be stored, in the storage version.
#[derive(Clone, Copy)]
pub(super) struct New<'d> {
    pub document: &'d Document,
    pub validity: Validity,
    pub values: Values,
}

/// The place of an object in the store, for a request that writes there.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub api: &'a Verbs,
    pub request: &'a Request,
    /// What the request holds that others wait for.
    pub permits: Permits<'a>,
    /// The object's key, below the resource's prefix.
    pub key: &'a str,
}

impl Row<'_> {
    /// Stores an object, or would store it if this were no dry run, and returns it from the cache. Fails with
    /// [`Error::TooLarge`]; [`Error::TooManyRequests`] if too many other writes wait for the store;
    /// [`Error::Unavailable`] while the server stops, if its disk fails, or if the definition of
    /// the resource has changed; [`Error::NotServed`] if the resource was removed; [`Error::InsufficientStorage`] if
    /// the disk is full; [`Error::StoreRead`] if the replaced object cannot be read; [`Error::Unknowable`] if the
    /// outcome is unknown; [`Error::Timeout`] and [`Error::TooLargeRevision`] if the state of a lost race is not seen in
    /// time.
    pub(super) async fn store(self, new: New<'_>, expect: Expect, dry_run: bool) -> Result<Arc<Object>, WriteFailure> {
        // Results of walks that ended early are not stored.
        self.request.meter.check().map_err(Error::from)?;
        let objects = &self.request.resource.objects;
        if dry_run {
            return match expect {
                Expect::At(revision) => Ok(self.preview(revision, new).await?),
                _ if objects.snapshot().get(self.key).is_some() => Err(WriteFailure::Lost),
                _ => Ok(self.preview(Revision(0), new).await?),
            };
        }
        let Some(value) = self.record_to_store(new, expect).await? else {
            let current = objects.snapshot().get(self.key).ok_or(WriteFailure::Lost)?;
            return self.api.unchanged(self.request, current).await;
        };
        let revision = self.commit(Some(value.clone()), expect).await?;
        // The cache has rendered it already, unless a later write has replaced it there.
        let newest = objects.snapshot().get(self.key).filter(|object| object.revision() == revision);
        Ok(newest.unwrap_or_else(|| self.render(revision, &value)))
    }

    /// The record to store; `None` if the stored one stays as it is. Of a kind that is declared in Rust, fields stay that this
    /// program does not know. They are only in the store, whose objects of older and newer programs the cache has as renewed.
    async fn record_to_store(self, new: New<'_>, expect: Expect) -> Result<Option<Bytes>, WriteFailure> {
        let (resource, full_key) = (&self.request.resource, self.full_key());
        let now = resource.objects.snapshot().get(self.key).filter(|now| now.is_renewed());
        let (Some(now), Expect::At(revision), true) = (now, expect, resource.stored().kind.binding.keeps_unknown)
        else {
            return Ok(Some(self.record(new).await?));
        };
        let (store, at) = (self.api.store.clone(), full_key.clone());
        let stored =
            tasks::blocking(move || store.get(&at)).await.map_err(|error| Error::Internal(error.to_string()))?;
        let stored = stored.map_err(|error| Error::Timeout(format!("the stored object could not be read: {error}")))?;
        let newest = stored.as_ref().map(|stored| stored.revision);
        let Some(stored) = stored.filter(|stored| stored.revision == revision && now.revision() == revision) else {
            self.seen(newest).await?;
            return Err(WriteFailure::Lost);
        };
        let unreadable =
            |damage: Damage| self.request.unreadable(vec![(full_key.to_string(), damage.to_string())], false, false);
        let stored = stored.value.map_err(unreadable)?;
        let write = |answers: &Answers| {
            let new_state = (new.document, new.validity);
            resource.records.write_over(&full_key, new_state, new.values, &stored, answers)
        };
        let record = self.make_record(new.values, write).await.map_err(Error::Internal)?;
        record.map(|record| checked(self.request, record)).transpose().map_err(WriteFailure::from)
    }

    /// Deletes an object that is still at a revision. Returns the revision of the deletion.
    pub(super) async fn remove(self, at: Revision) -> Result<Revision, WriteFailure> {
        self.commit(None, Expect::At(at)).await
    }

    async fn commit(self, value: Option<Bytes>, expect: Expect) -> Result<Revision, WriteFailure> {
        let lifetime = value.as_ref().and(self.request.resource.kind.shared.lifetime);
        let op = Op { key: self.full_key(), value, expect, lifetime };
        let mut retry = Retry::alone();
        loop {
            let definition_row = self.request.resource.definition_row.as_ref();
            let hold = definition_row.map(|row| row.hold());
            let mut holds: Vec<Hold> = hold.as_deref().cloned().into_iter().collect();
            if op.expect == Expect::Absent {
                let name = op.key.rsplit('/').next().unwrap_or_default();
                check_creation(self.request, name)?;
                holds.extend(hold_namespace(self.api, self.request, name)?);
            }
            let error = match self.api.store.commit(Commit { ops: vec![op.clone()], holds }).await {
                Ok(revisions) => return Ok(*revisions.first().expect("a revision for each operation")),
                Err(error) => error,
            };
            let refused = match error {
                CommitError::Conflict { current, .. } => {
                    self.seen(current).await?;
                    self.is_served_still()?;
                    return Err(WriteFailure::Lost);
                }
                CommitError::Unmet { current, index } => {
                    self.seen(current).await?;
                    self.is_served_still()?;
                    let confirmed = match hold.filter(|_| index == 0) {
                        Some(tried) => self.permits.outside(self.is_confirmed(&tried)).await,
                        None => true,
                    };
                    if confirmed && retry.again().await {
                        continue;
                    }
                    self.is_served_still()?;
                    if confirmed {
                        self.request.conflict("its namespace is modified again and again; please try again later")
                    } else {
                        definition_changed(self.request)
                    }
                }
                CommitError::Damaged { key, damage } => {
                    self.request.unreadable(vec![(key.to_string(), damage.to_string())], false, false)
                }
                CommitError::Busy => Error::TooManyRequests,
                CommitError::Refused { full: true, .. } => Error::InsufficientStorage(error.to_string()),
                CommitError::Closed | CommitError::Refused { .. } => Error::Unavailable(error.to_string()),
                CommitError::TooLarge(message) => Error::TooLarge(message),
                CommitError::Unknown(_) => Error::Unknowable(error.to_string()),
            };
            return Err(refused.into());
        }
    }

    /// Checks that the resource of a request is still served as when the request began. Otherwise the request has read
    /// outdated objects, which must not be the basis of a write. Fails with [`Error::Unavailable`] if it was replaced,
    /// [`Error::NotServed`] if it was removed.
    fn is_served_still(self) -> Result<(), Error> {
        if !self.request.resource.objects.has_ended() {
            return Ok(());
        }
        let now = self.api.registry.resource(&self.request.resource.kind.shared.group_resource());
        Err(now.map_or(Error::NotServed, |_| definition_changed(self.request)))
    }

    /// Waits for the definition of a resource, whose row has changed, to be read again. Returns true if it still defines the same, so
    /// that the write may be tried again; false, too, if many others wait.
    async fn is_confirmed(self, tried: &Arc<Hold>) -> bool {
        let permit = self.request.resource.definition_row.as_ref().map(|row| row.waiting_permit());
        if permit.as_ref().is_some_and(Option::is_none) {
            return false;
        }
        let read_again = self.api.registry.until(|| {
            let now = self.request.resource.definition_row.as_ref().map(|row| row.hold());
            let confirmed = now.is_some_and(|now| !Arc::ptr_eq(tried, &now));
            (confirmed || self.request.resource.objects.has_ended()).then_some(confirmed)
        });
        timeout(CONFIRMED_WITHIN, read_again).await.unwrap_or(false)
    }

    /// Waits until readers see the state that caused a conflict: a newer revision of a key, or its deletion. The changes of
    /// other servers may be late, or not arrive at all. Fails like [`Verbs::reach`] and [`Verbs::confirm`].
    async fn seen(self, current: Option<Revision>) -> Result<(), Error> {
        match current {
            Some(current) if self.api.store.is_shared() => self.api.reach(current).await,
            None if self.api.store.is_shared() => self.api.confirm().await,
            current => {
                self.api.cache.reached(current.unwrap_or_else(|| self.api.store.head())).await;
                Ok(())
            }
        }
    }

    /// The object that a dry run would store. Revision zero omits the resourceVersion. Fails with [`Error::TooLarge`];
    /// [`Error::Internal`] if the record could not be built.
    pub(super) async fn preview(self, revision: Revision, new: New<'_>) -> Result<Arc<Object>, Error> {
        let value = self.record(New { validity: Validity::Checked, ..new }).await?;
        Ok(self.render(revision, &value))
    }

    /// The record of an object. It has selectable values of other versions, to which a webhook may convert.
    async fn record(self, New { document, validity, values }: New<'_>) -> Result<Bytes, Error> {
        let (records, full_key) = (&self.request.resource.records, self.full_key());
        let write = |answers: &Answers| records.write(&full_key, document, validity, values, answers);
        checked(self.request, self.make_record(values, write).await.map_err(Error::Internal)?)
    }

    /// Makes a record. If its values are optional, a webhook that does not answer soon is not waited for.
    async fn make_record<T>(self, values: Values, write: impl Fn(&Answers) -> T) -> T {
        let converting = self.request.resource.converting(&write);
        match values {
            Values::Optional if self.request.resource.webhooks.is_some() => {
                self.permits.unneeded(converting).await.unwrap_or_else(|| write(&Answers::none()))
            }
            _ => self.permits.outside(converting).await,
        }
    }

    fn render(self, revision: Revision, value: &Bytes) -> Arc<Object> {
        let records = &*self.request.resource.records;
        let reading = records.read(&self.full_key(), value);
        Arc::new(Object::compose(self.key, revision, records.type_meta(), reading))
    }

    fn full_key(self) -> Arc<str> {
        [self.request.resource.objects.prefix(), self.key].concat().into()
    }
}

impl Write<'_> {
    /// The place of an object in the store.
    pub(super) fn row<'k>(&'k self, key: &'k str) -> Row<'k> {
        Row { api: self.api, request: self.request, permits: self.permits, key }
    }
}

fn definition_changed(request: &Request) -> Error {
    let resource = request.resource.kind.group_resource();
    Error::Unavailable(format!("the definition of {resource} has changed; please try again"))
}

/// A record that is not too large.
fn checked(request: &Request, StoredRecord { value, size, lacks }: StoredRecord) -> Result<Bytes, Error> {
    check_size(size)?;
    if lacks {
        request.resource.records.count_unread();
    }
    Ok(value)
}

/// Checks the size of an object. Fails with [`Error::TooLarge`].
pub(super) fn check_size(size: usize) -> Result<(), Error> {
    if size <= MAX_OBJECT_BYTES {
        return Ok(());
    }
    let message = format!("the object would take {size} bytes, and the limit of an object is {MAX_OBJECT_BYTES}");
    Err(Error::TooLarge(message))
}
