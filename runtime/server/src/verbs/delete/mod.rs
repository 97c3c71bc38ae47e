//! delete: at once, or in two phases if finalizers or a grace period hold the object; forced if the object is
//! unreadable.

mod mark;

use std::sync::Arc;

use super::{
    DeleteResult, Error, Request, Verbs,
    commit::{New, Row},
    lifecycle::check_deletion,
    metadata::text,
    preconditions::invalid_object,
    retry::{Retry, WriteFailure},
    rewrite::{hold, is_deleted},
    stored::{current, document_of, find},
    versions::{in_stored_version, shown_or_metadata, written_through},
    waiting::Permits,
    write::Write,
};
use crate::{
    cache::Object,
    kind::{
        Kind,
        binding::{Hook, HookError},
    },
    meta::{
        GroupResource, Operation, Preconditions,
        options::{DeleteOptions, WriteOptions},
        preconditions::{Identity, Mismatch},
    },
    registry::reader::{Validity, Values},
    schema::{Document, Meter},
    storage::Expect,
};

impl Verbs {
    /// Deletes an object, or marks it for deletion.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] if a precondition fails, or if a readable object is deleted by force;
    /// [`Error::StoreRead`] if it is unreadable and not deleted by force.
    pub async fn delete(&self, request: &Request, options: &DeleteOptions) -> Result<DeleteResult, Error> {
        check_deletion(request)?;
        let delete = |()| self.delete_once(request, options);
        self.again_if_stale((request, &request.name), options.dry_run, (), delete).await
    }

    async fn delete_once(&self, request: &Request, options: &DeleteOptions) -> Result<DeleteResult, Error> {
        let turn = self.turn(request);
        let deletion = Deletion { api: self, request, permits: request.permits().with_turn(&turn), options };
        let mut retry = Retry::in_turn(&turn).await;
        loop {
            let attempt =
                async { if options.ignore_read_errors { deletion.force().await } else { deletion.end().await } };
            if let Some(deleted) = retry.run(request, attempt).await? {
                return Ok(deleted);
            }
        }
    }
}

/// One try to delete an object.
struct Deletion<'a> {
    api: &'a Verbs,
    request: &'a Request,
    /// What it holds that others wait for.
    permits: Permits<'a>,
    options: &'a DeleteOptions,
}

impl Deletion<'_> {
    /// Deletes or marks the current object.
    async fn end(&self) -> Result<DeleteResult, WriteFailure> {
        // In the storage version, so that an object that cannot be converted can be deleted.
        let (request, object) = (self.request, current(self.request)?);
        let old = document_of(&object)?;
        check(request, &self.options.preconditions, &old)?;
        self.admit(&object, &old).await?;
        let mut new = old.clone();
        let kind = &*request.resource.stored().kind;
        let hooks = &kind.binding.hooks;
        if mark::mark(kind, self.options, &mut new) && hooks.runs(Hook::Deletion) {
            let done = self.permits.outside(hooks.on_delete(&mut new, &kind.version.schema)).await;
            if let Err(HookError::Refused(refusal)) = done {
                return Err(Error::refused(refusal, kind, &request.name).into());
            }
        }
        self.finish(object, &old, &new).await
    }

    /// Asks hooks and plugins whether an object may be deleted, which is `old` in the storage version. As in
    /// kube-apiserver, they see it in the version of the request; the hooks of the storage version see it as it is
    /// stored. Fails if one of them refuses, or has side effects and this is a dry run.
    async fn admit(&self, object: &Arc<Object>, old: &Document) -> Result<(), Error> {
        let (api, request, dry_run) = (self.api, self.request, self.options.dry_run);
        let decides = |kind: &Kind| {
            let hooks = &kind.binding.hooks;
            hooks.runs(Hook::Admission) || dry_run && hooks.has_side_effects()
        };
        let own = decides(&request.resource.kind);
        let stored = request.resource.stored.as_ref().is_some_and(|stored| decides(&stored.kind));
        if !own && !stored && !api.admits(Operation::Delete) {
            return Ok(());
        }
        let seen = match &request.resource.stored {
            Some(_) => Some(document_of(&*shown_or_metadata(request, self.permits, object).await?)?),
            None => None,
        };
        let seen = seen.as_ref().unwrap_or(old);
        let options = WriteOptions { dry_run, ..WriteOptions::default() };
        for (asked, request, seen) in [(own, request, seen), (stored, &in_stored_version(request), old)] {
            if asked {
                let write = Write { permits: self.permits, ..Write::of_body(api, request, &options, &[]) }.over(seen);
                write.check_dry_run()?;
                write.run_admit(Operation::Delete, seen).await?;
            }
        }
        api.admit_deletion(request, self.permits, self.options, Some(seen)).await
    }

    /// Deletes an unreadable object. Its finalizers and preconditions cannot be checked. The commit accepts only the
    /// checked revision, so the object is still unreadable when it is deleted. Of an object that only hooks cannot
    /// decode, finalizers and preconditions count. Fails with [`Error::NotFound`]; [`Error::Conflict`] if the object
    /// can be read; those of admission, which sees no object, and of the commit.
    async fn force(&self) -> Result<DeleteResult, WriteFailure> {
        let (request, object) = (self.request, find(self.request)?);
        let Some(reason) = object.unreadable() else {
            let kind = &request.resource.stored().kind;
            if let Err(HookError::Undecodable(reason)) = hold(self.permits, kind, &document_of(&object)?).await {
                warn(request, &object, &reason);
                return self.end().await;
            }
            let why = "unsafe deletion is not allowed because the object is decodable from storage";
            return Err(invalid_object(request, object.key(), why).into());
        };
        self.api.admit_deletion(request, self.permits, self.options, None).await?;
        if !self.options.dry_run {
            warn(request, &object, reason);
            self.row(&object).remove(object.revision()).await?;
        }
        Ok(DeleteResult::Forced)
    }

    fn row<'a>(&'a self, object: &'a Object) -> Row<'a> {
        Row { api: self.api, request: self.request, permits: self.permits, key: object.key() }
    }

    /// Commits a deletion or a mark.
    async fn finish(&self, object: Arc<Object>, old: &Document, new: &Document) -> Result<DeleteResult, WriteFailure> {
        let (request, dry_run, revision) = (self.request, self.options.dry_run, object.revision());
        if is_deleted(request, self.permits, new, self.options.ignore_read_errors).await? {
            let mut deletion = None;
            if !dry_run {
                deletion = Some(self.row(&object).remove(revision).await?);
            }
            let mut object = shown_or_metadata(request, self.permits, &object).await?;
            if let Some(deletion) = deletion.filter(|_| request.resource.kind.version.returns_deleted) {
                object = Arc::new(object.deleted_at(deletion));
            }
            return Ok(DeleteResult::Gone { object, uid: text(old, "uid").to_owned() });
        }
        if new == old {
            let marked = self.api.unchanged(request, object).await?;
            return Ok(DeleteResult::Marked(shown_or_metadata(request, self.permits, &marked).await?));
        }
        // The mark is a normal write through the requested version.
        let document = &*written_through(request, self.permits, new).await;
        // Deleting does not validate the object, but only an object that fits may be stored as validated.
        let validity = Validity::of(&request.resource.stored().kind.version.schema, document, &Meter::light(None));
        // Requests do not select objects of a resource that is being removed.
        let values = if request.resource.is_ending() { Values::Unneeded } else { Values::Optional };
        let new = New { document, validity, values };
        let marked = self.row(&object).store(new, Expect::At(revision), dry_run).await?;
        Ok(DeleteResult::Marked(shown_or_metadata(request, self.permits, &marked).await?))
    }
}

/// Checks the preconditions. kube-apiserver names the kind in these conflicts.
fn check(request: &Request, preconditions: &Preconditions, object: &Document) -> Result<(), Error> {
    preconditions.check(Some(&object["metadata"])).map_err(|Mismatch { of, expected, found }| {
        let kind = &*request.resource.kind;
        let named = GroupResource { group: kind.group_version.group.clone(), resource: kind.names().kind.clone() };
        let (what, happened) = match of {
            Identity::Uid => ("UID", "deleted and then recreated"),
            Identity::ResourceVersion => ("ResourceVersion", "modified"),
        };
        let message = format!(
            "the {what} in the precondition ({expected}) does not match the {what} in record ({found}). The object might \
             have been {happened}"
        );
        Error::Conflict(named, request.name.clone(), message)
    })
}

fn warn(request: &Request, object: &Object, reason: &str) {
    let (resource, user) = (request.resource.kind.group_resource(), &request.user.name);
    tracing::warn!(%resource, key = object.key(), user, reason, "deleting an object that cannot be read, by force");
}
