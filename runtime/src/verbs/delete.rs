//! delete: at once, or in two phases where finalizers hold the object.
use std::sync::Arc;

use super::{
    Api, Deleted, Error, Request,
    admission::is_namespace,
    commit::{Outcome, preview},
    get::current,
    rewrite::{MODIFIED, conflict, document_of, is_deleted},
    system::{self, text},
};
use crate::{
    cache::Object,
    meta::{
        GroupResource, Time,
        options::{DeleteOptions, Preconditions, Propagation},
    },
    schema::Document,
    storage::Expect,
};

/// The finalizer that waits until dependents have forgotten their owner.
const ORPHAN: &str = "orphan";
/// The finalizer that waits until dependents are gone.
const FOREGROUND: &str = "foregroundDeletion";
/// How often a deletion is tried anew after other writes came first.
const TRIES: usize = 64;

impl Api {
    /// Deletes an object, or marks it for deletion.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] where a precondition does not hold.
    pub async fn delete(&self, request: &Request, options: &DeleteOptions) -> Result<Deleted, Error> {
        self.admission.iter().try_for_each(|step| step.delete(self, request))?;
        // No object may be created in a namespace once it is marked.
        let _closed =
            if is_namespace(&request.served.kind) { Some(self.gates.close(&request.name).await) } else { None };
        for _ in 0..TRIES {
            let object = current(request)?;
            let old = document_of(&object)?;
            check(request, &options.preconditions, &old)?;
            let mut new = old.clone();
            mark(request, options, &mut new);
            if let Outcome::Done(deleted) = self.finish(request, options, object, (&old, &new)).await? {
                return Ok(deleted);
            }
        }
        Err(conflict(request, MODIFIED))
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
        Ok(match self.store(request, object.key(), new, Expect::At(object.revision())).await? {
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

/// Makes of an object what it is once its deletion has been asked for.
fn mark(request: &Request, options: &DeleteOptions, object: &mut Document) {
    let kind = &*request.served.kind;
    let finalizers = finalizers(options.propagation, object);
    let metadata = system::metadata(object);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
    metadata.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
    if metadata.contains_key("deletionTimestamp") {
        return;
    }
    metadata.insert("deletionTimestamp".to_owned(), Time::now().to_string().into());
    if let Some(generation) = metadata.get("generation").and_then(Document::as_i64) {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
    if let Some(hook) = kind.hooks.on_delete {
        hook(object);
    }
}

/// The finalizers of an object that is being deleted: its own, and the one that stands for the propagation policy. What
/// the client asks for comes before what the object says.
fn finalizers(asked: Option<Propagation>, object: &Document) -> Vec<String> {
    let given = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    let given: Vec<&str> = given.filter_map(Document::as_str).collect();
    let policy = match asked {
        Some(Propagation::Orphan) => Some(ORPHAN),
        Some(Propagation::Foreground) => Some(FOREGROUND),
        Some(Propagation::Background) => None,
        None => [ORPHAN, FOREGROUND].into_iter().find(|policy| given.contains(policy)),
    };
    let stays = |finalizer: &&str| ![ORPHAN, FOREGROUND].contains(finalizer);
    // A policy that the object carries already keeps its place, so that asking again changes nothing.
    if policy.is_some_and(|policy| given.contains(&policy)) {
        return given.into_iter().filter(|f| stays(f) || Some(*f) == policy).map(str::to_owned).collect();
    }
    given.into_iter().filter(stays).chain(policy).map(str::to_owned).collect()
}
