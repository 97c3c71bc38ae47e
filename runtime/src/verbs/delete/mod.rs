//! delete: at once, or in two phases if finalizers or a grace period hold the object; forced if the object is
//! unreadable.

mod admission;
mod force;
mod mark;

use std::sync::Arc;

use super::{
    Deleted, Error, Request, Verbs,
    commit::{Outcome, preview},
    get::current,
    lifecycle::check_deletion,
    retry::Retry,
    rewrite::{MODIFIED, conflict, document_of, is_deleted},
    system::text,
    turns::Turn,
    versions::{shown_or_metadata, written_through},
    waiting,
};
use crate::{
    cache::Object,
    kind::binding::{Hook, HookError},
    meta::{
        GroupResource, Preconditions,
        options::DeleteOptions,
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
