//! Forced deletion of an object whose stored bytes cannot be read, so that its content cannot be checked, or of one that is held
//! because the type of its kind's hooks cannot decode it.
use super::super::{
    Deleted, Error, Request, Verbs,
    commit::Outcome,
    get::find,
    rewrite::{document_of, hold, invalid_object},
    turns::Turn,
};
use crate::{cache::Object, kind::binding::HookError, meta::options::DeleteOptions};

impl Verbs {
    /// Deletes an unreadable object. Its finalizers and preconditions cannot be checked. The commit accepts only the
    /// checked revision, so the object is still unreadable when it is deleted. Of an object that only hooks cannot decode,
    /// finalizers and preconditions count.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] if the object can be read; those of admission, which sees no object, and
    /// of the commit.
    pub(super) async fn force(
        &self,
        request: &Request,
        options: &DeleteOptions,
        turn: &Turn,
    ) -> Result<Outcome<Deleted>, Error> {
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
}

fn warn(request: &Request, object: &Object, reason: &str) {
    let (resource, user) = (request.served.kind.group_resource(), &request.user.name);
    tracing::warn!(%resource, key = object.key(), user, reason, "deleting an object that cannot be read, by force");
}
