//! delete: at once, or in two phases if finalizers or a grace period hold the object; forced if the object is
//! unreadable.

mod mark;

use std::sync::Arc;

use super::{
    Deleted, Error, Request, Verbs,
    commit::{Outcome, preview},
    get::{current, find},
    lifecycle::check_deletion,
    pipeline::Write,
    rewrite::{MODIFIED, conflict, document_of, hold, invalid_object, is_deleted},
    system::text,
    turns::{Retry, Turn},
    versions::{in_stored_version, shown_or_metadata, written_through},
    waiting,
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
    registry::reader::{Fit, Values},
    schema::Document,
    storage::Expect,
};

impl Verbs {
    /// Deletes an object, or marks it for deletion.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] if a precondition fails, or if a readable object is deleted by force;
    /// [`Error::StoreRead`] if it is unreadable and not deleted by force.
    pub async fn delete(&self, request: &Request, options: &DeleteOptions) -> Result<Deleted, Error> {
        check_deletion(request)?;
        let turn = self.turn(request);
        let mut retry = Retry::in_turn(&turn).await;
        loop {
            let outcome = if options.ignore_read_errors {
                self.force(request, options, &turn).await?
            } else {
                self.end(request, options, &turn).await?
            };
            if let Some(deleted) = outcome {
                return Ok(deleted);
            }
            if !retry.again().await {
                return Err(conflict(request, MODIFIED));
            }
        }
    }

    /// Deletes or marks the current object.
    async fn end(&self, request: &Request, options: &DeleteOptions, turn: &Turn) -> Result<Outcome<Deleted>, Error> {
        // In the storage version, so that an object that cannot be converted can be deleted.
        let object = current(request)?;
        let old = document_of(&object)?;
        check(request, &options.preconditions, &old)?;
        self.admit_end(request, options, turn, (&object, &old)).await?;
        let mut new = old.clone();
        let kind = &*request.served.stored().kind;
        let hooks = &kind.binding.hooks;
        if mark::mark(kind, options, &mut new) && hooks.runs(Hook::Deletion) {
            let done = waiting::outside(Some(turn), hooks.on_delete(&mut new, &kind.version.schema)).await;
            if let Err(HookError::Refused(refusal)) = done {
                return Err(Error::refused(refusal, kind, &request.name));
            }
        }
        self.finish(request, options, turn, object, (&old, &new)).await
    }

    /// Asks hooks and plugins whether an object may be deleted, which is `old` in the storage version. As in
    /// kube-apiserver, they see it in the version of the request; the hooks of the storage version see it as it is
    /// stored. Fails if one of them refuses, or has side effects and this is a dry run.
    async fn admit_end(
        &self,
        request: &Request,
        options: &DeleteOptions,
        turn: &Turn,
        (object, old): (&Arc<Object>, &Document),
    ) -> Result<(), Error> {
        let decides = |kind: &Kind| {
            let hooks = &kind.binding.hooks;
            hooks.runs(Hook::Admission) || options.dry_run && hooks.has_side_effects()
        };
        let own = decides(&request.served.kind);
        let stored = request.served.stored.as_ref().is_some_and(|stored| decides(&stored.kind));
        if !own && !stored && !self.admits(Operation::Delete) {
            return Ok(());
        }
        let seen = match &request.served.stored {
            Some(_) => Some(document_of(&*shown_or_metadata(request, Some(turn), object).await?)?),
            None => None,
        };
        let seen = seen.as_ref().unwrap_or(old);
        let write = WriteOptions { dry_run: options.dry_run, ..WriteOptions::default() };
        if own {
            let write = Write { turn: Some(turn), ..Write::of_body(self, request, &write, &[]) };
            write.check_dry_run()?;
            write.run_admit(Operation::Delete, seen, Some(seen)).await?;
        }
        if stored {
            let request = in_stored_version(request);
            let write = Write { turn: Some(turn), ..Write::of_body(self, &request, &write, &[]) };
            write.check_dry_run()?;
            write.run_admit(Operation::Delete, old, Some(old)).await?;
        }
        self.admit_deletion(request, options, turn, Some(seen)).await
    }

    /// Deletes an unreadable object. Its finalizers and preconditions cannot be checked. The commit accepts only the
    /// checked revision, so the object is still unreadable when it is deleted. Of an object that only hooks cannot
    /// decode, finalizers and preconditions count. Fails with [`Error::NotFound`]; [`Error::Conflict`] if the object
    /// can be read; those of admission, which sees no object, and of the commit.
    async fn force(&self, request: &Request, options: &DeleteOptions, turn: &Turn) -> Result<Outcome<Deleted>, Error> {
        let object = find(request)?;
        let Some(reason) = object.unreadable() else {
            let kind = &request.served.stored().kind;
            if let Err(HookError::Undecodable(reason)) = hold(kind, &document_of(&object)?, Some(turn)).await {
                warn(request, &object, &reason);
                return self.end(request, options, turn).await;
            }
            let why = "unsafe deletion is not allowed because the object is decodable from storage";
            return Err(invalid_object(request, object.key(), why));
        };
        self.admit_deletion(request, options, turn, None).await?;
        if options.dry_run {
            return Ok(Some(Deleted::Forced));
        }
        warn(request, &object, reason);
        Ok(self.remove(request, object.key(), object.revision()).await?.map(|()| Deleted::Forced))
    }

    /// Commits a deletion or a mark.
    async fn finish(
        &self,
        request: &Request,
        options: &DeleteOptions,
        turn: &Turn,
        object: Arc<Object>,
        (old, new): (&Document, &Document),
    ) -> Result<Outcome<Deleted>, Error> {
        if is_deleted(request, new, Some(turn), options.ignore_read_errors).await? {
            let uid = text(old, "uid").to_owned();
            if !options.dry_run && self.remove(request, object.key(), object.revision()).await?.is_none() {
                return Ok(None);
            }
            let object = shown_or_metadata(request, None, &object).await?;
            return Ok(Some(Deleted::Gone { object, uid }));
        }
        let marked = async |object| {
            let object = shown_or_metadata(request, Some(turn), &object).await?;
            Ok(Some(Deleted::Marked(object)))
        };
        if new == old {
            return marked(object).await;
        }
        // The mark is a normal write through the requested version.
        let new = &*written_through(request, Some(turn), new).await;
        let values = Values::Optional;
        if options.dry_run {
            return marked(preview(request, Some(turn), object.key(), object.revision(), (new, values)).await?).await;
        }
        // Deleting does not validate the object, but only an object that fits may be stored as validated.
        let fit = Fit::of(&request.served.stored().kind.version.schema, new);
        match self.store(request, Some(turn), object.key(), (new, fit, values), Expect::At(object.revision())).await? {
            Some(object) => marked(object).await,
            None => Ok(None),
        }
    }
}

/// Checks the preconditions. kube-apiserver names the kind in these conflicts.
fn check(request: &Request, preconditions: &Preconditions, object: &Document) -> Result<(), Error> {
    preconditions.check(Some(&object["metadata"])).map_err(|Mismatch { of, expected, found }| {
        let kind = &*request.served.kind;
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
    let (resource, user) = (request.served.kind.group_resource(), &request.user.name);
    tracing::warn!(%resource, key = object.key(), user, reason, "deleting an object that cannot be read, by force");
}
