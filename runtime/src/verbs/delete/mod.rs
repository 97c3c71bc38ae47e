//! delete: at once, or in two phases where finalizers or a grace period hold the object; by force where it cannot be read.

mod force;
mod mark;

use std::sync::Arc;

use super::{
    Api, Deleted, Error, Request,
    admission::is_namespace,
    commit::{Outcome, preview},
    get::current,
    rewrite::{MODIFIED, conflict, document_of, is_deleted},
    system::text,
};
use crate::{
    cache::Object,
    kind::record::Fit,
    meta::{
        GroupResource,
        options::{DeleteOptions, Preconditions},
    },
    schema::Document,
    storage::Expect,
};

/// How often a deletion is tried anew after other writes came first.
const TRIES: usize = 64;

impl Api {
    /// Deletes an object, or marks it for deletion.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] where a precondition does not hold, and where an object that can be read is
    /// deleted by force; [`Error::StoreRead`] where it cannot be read and is not deleted by force.
    pub async fn delete(&self, request: &Request, options: &DeleteOptions) -> Result<Deleted, Error> {
        self.admission.iter().try_for_each(|step| step.delete(self, request))?;
        // No object may be created in a namespace once it is marked.
        let _closed =
            if is_namespace(&request.served.kind) { Some(self.gates.close(&request.name).await) } else { None };
        let mut turn = self.turn(request);
        turn.begin().await;
        for _ in 0..TRIES {
            let outcome = if options.ignore_read_errors {
                self.force(request).await?
            } else {
                self.end(request, options).await?
            };
            if let Outcome::Done(deleted) = outcome {
                return Ok(deleted);
            }
            turn.wait().await;
        }
        Err(conflict(request, MODIFIED))
    }

    /// Deletes the object as it stands now, or marks it.
    async fn end(&self, request: &Request, options: &DeleteOptions) -> Result<Outcome<Deleted>, Error> {
        let object = current(request)?;
        let old = document_of(&object)?;
        check(request, &options.preconditions, &old)?;
        let mut new = old.clone();
        mark::mark(&request.served.kind, options, &mut new);
        self.finish(request, options, object, (&old, &new)).await
    }

    /// Commits a deletion, or the mark of one.
    async fn finish(
        &self,
        request: &Request,
        options: &DeleteOptions,
        object: Arc<Object>,
        (old, new): (&Document, &Document),
    ) -> Result<Outcome<Deleted>, Error> {
        if is_deleted(request, new) {
            let uid = text(old, "uid").to_owned();
            if !options.dry_run
                && let Outcome::Lost = self.remove(request, object.key(), object.revision()).await?
            {
                return Ok(Outcome::Lost);
            }
            return Ok(Outcome::Done(Deleted::Gone { object, uid }));
        }
        if new == old {
            return Ok(Outcome::Done(Deleted::Marked(object)));
        }
        if options.dry_run {
            let object = preview(request, object.key(), object.revision(), new)?;
            return Ok(Outcome::Done(Deleted::Marked(object)));
        }
        // The mark is no reason to check the object, but only one that fits may be stored as checked.
        let fit = Fit::of(&request.served.kind.schema, new);
        Ok(match self.store(request, object.key(), (new, fit), Expect::At(object.revision())).await? {
            Outcome::Done(object) => Outcome::Done(Deleted::Marked(object)),
            Outcome::Lost => Outcome::Lost,
        })
    }
}

/// Holds the preconditions against the object. The reference names the kind in these conflicts.
fn check(request: &Request, preconditions: &Preconditions, object: &Document) -> Result<(), Error> {
    let kind = &*request.served.kind;
    let refuse = |message: String| {
        let named = GroupResource { group: kind.group_version.group.clone(), resource: kind.kind.clone() };
        Err(Error::Conflict(named, request.name.clone(), message))
    };
    let uid = text(object, "uid");
    if let Some(asked) = preconditions.uid.as_deref().filter(|asked| *asked != uid) {
        return refuse(format!(
            "the UID in the precondition ({asked}) does not match the UID in record ({uid}). The object might have been \
             deleted and then recreated"
        ));
    }
    let version = text(object, "resourceVersion");
    if let Some(asked) = preconditions.resource_version.as_deref().filter(|asked| *asked != version) {
        return refuse(format!(
            "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record ({version}). \
             The object might have been modified"
        ));
    }
    Ok(())
}
