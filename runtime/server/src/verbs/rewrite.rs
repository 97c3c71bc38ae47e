//! Rewrites, the common part of update, patch and scale. A change is applied to the newest state, passed through the
//! pipeline, and committed if that state is still the newest; otherwise it is applied again to the newer one.
use std::{borrow::Cow, sync::Arc};

use super::{
    Answer, Error, Request, Verbs, WriteResult,
    commit::New,
    metadata,
    preconditions::check_version,
    retry::{Retry, WriteFailure},
    scale,
    stored::{current, document_of},
    turns::Turn,
    versions::{PreparedAnswer, in_stored_version, metadata_of, only_releases, shown, shown_or_metadata},
    waiting::Permits,
    write::{NewState, Write},
};
use crate::{
    cache::Object,
    kind::{
        Kind,
        binding::{Hook, HookError},
        convert::Answers,
    },
    registry::reader::{Validity, Values},
    schema::Document,
    storage::Expect,
};

/// A changed object, and warnings for the client.
pub(super) struct RewriteResult {
    pub object: Arc<Object>,
    warnings: Vec<String>,
}

impl Verbs {
    /// Changes an object, or creates a missing one. `change` gets the current object, if it exists, and returns its
    /// decoded new state and warnings.
    pub(super) async fn rewrite_or_create(
        &self,
        write: &Write<'_>,
        change: impl Fn(Option<&Document>, &Answers) -> Result<NewState, Error> + Send + Sync,
    ) -> Result<WriteResult, Error> {
        let mut retry = Retry::alone();
        loop {
            match self.rewrite(write, |old, answers| change(Some(old), answers)).await {
                Err(Error::NotFound(..)) if write.request.subresource.is_empty() && !write.options.must_exist => {}
                done => return done,
            }
            let (new, warnings) = write.converting(|answers| change(None, answers)).await?;
            match self.create_new(write, new, warnings).await {
                // Another client has created it meanwhile, so it can be changed.
                Err(Error::AlreadyExists(..)) => {}
                done => return done,
            }
            if !retry.again().await {
                return Err(write.request.modified());
            }
        }
    }

    /// Changes an object, or its scale. `change` gets the current one, and returns its decoded new state and warnings.
    ///
    /// # Errors
    /// Those of the change and of the pipeline; [`Error::Conflict`].
    pub(super) async fn rewrite(
        &self,
        write: &Write<'_>,
        change: impl Fn(&Document, &Answers) -> Result<NewState, Error> + Send + Sync,
    ) -> Result<WriteResult, Error> {
        let (answer, warnings) = if write.request.is_scale() {
            let change = |old: &Document, answers: &Answers| scale::change(write, old, |scale| change(scale, answers));
            let done = self.rewrite_object(write, change).await?;
            (Answer::Document(scale::of_object(write.kind, &done.object)?), done.warnings)
        } else {
            let done = self.rewrite_object(write, change).await?;
            (Answer::Object(done.object), done.warnings)
        };
        Ok(WriteResult { answer, created: false, warnings })
    }

    /// The same for an object.
    pub(super) async fn rewrite_object(
        &self,
        write: &Write<'_>,
        change: impl Fn(&Document, &Answers) -> Result<NewState, Error> + Send + Sync,
    ) -> Result<RewriteResult, Error> {
        let request = write.request;
        request.changes()?;
        let turn = self.turn(request);
        let (mut retry, write) =
            (Retry::in_turn(&turn).await, &Write { permits: write.permits.with_turn(&turn), ..*write });
        loop {
            let attempt = self.rewrite_once(write, current(request)?, &change);
            if let Some(result) = retry.run(request, attempt).await? {
                return Ok(result);
            }
        }
    }

    /// One try. The change is made in the request's version, and stored in the storage version.
    async fn rewrite_once(
        &self,
        write: &Write<'_>,
        stored: Arc<Object>,
        change: impl Fn(&Document, &Answers) -> Result<NewState, Error> + Send + Sync,
    ) -> Result<RewriteResult, WriteFailure> {
        let request = write.request;
        let old = match shown(request, write.permits, &stored).await {
            Ok(shown) => document_of(&shown)?,
            Err(error) => {
                let old = metadata_of(&request.resource.kind, &document_of(&stored)?);
                let Ok((mut new, warnings)) = write.converting(|answers| change(&old, answers)).await else {
                    Err(error)?
                };
                check_version(request, &mut new, &old)?;
                return self.release(write, stored, (&old, &new), warnings, error).await;
            }
        };
        let write = &write.over(&old);
        let (mut new, mut warnings) = write.converting(|answers| change(&old, answers)).await?;
        check_version(request, &mut new, &old)?;
        let converts = request.resource.stored.is_some();
        let asked = converts.then(|| new.clone());
        warnings.extend(write.complete(&mut new).await?);
        let validity = write.validate(&new).await?;
        let old_stored = if converts { Cow::Owned(document_of(&stored)?) } else { Cow::Borrowed(&old) };
        let converted = write.stored_form((&new, validity), Some(&old_stored)).await;
        let prepared = match converted {
            Ok((new, validity)) => PreparedAnswer::of(write, &new).await.map(|answer| (new, validity, answer)),
            Err(error) => Err(error),
        };
        let (new, validity, answer) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let mut asked = asked.unwrap_or_default();
                asked["metadata"] = new["metadata"].take();
                return self.release(write, stored, (&old, &asked), warnings, error).await;
            }
        };
        let object = self.replace(write, stored, &old_stored, (&new, validity)).await?;
        Ok(RewriteResult { object: answer.with(request, object), warnings })
    }

    /// Removes finalizers of an object that cannot be converted, with a write in the storage version, if the change
    /// does nothing else; otherwise returns the error. So an object can be released even if its conversion is broken.
    async fn release(
        &self,
        write: &Write<'_>,
        stored: Arc<Object>,
        (old, new): (&Document, &Document),
        mut warnings: Vec<String>,
        error: Error,
    ) -> Result<RewriteResult, WriteFailure> {
        if !write.request.subresource.is_empty() || !only_releases(old, new) {
            return Err(error.into());
        }
        let (request, old) = (in_stored_version(write.request), document_of(&stored)?);
        let in_stored =
            Write { permits: write.permits, ..Write::of_body(self, &request, write.options, &[]) }.over(&old);
        let mut left = old.clone();
        metadata::put(metadata::of(&mut left), "finalizers", new["metadata"].get("finalizers").cloned());
        warnings.extend(in_stored.complete(&mut left).await?);
        let validity = in_stored.validate(&left).await?;
        let object = self.replace(&in_stored, stored, &old, (&left, validity)).await?;
        Ok(RewriteResult { object: shown_or_metadata(write.request, write.permits, &object).await?, warnings })
    }

    /// The turn of a writer of the requested object.
    pub(super) fn turn(&self, request: &Request) -> Turn {
        self.turns.at(request.resource.objects.prefix(), &request.key())
    }

    /// Commits a change of an object, if there is one. Everything is in the storage version.
    async fn replace(
        &self,
        write: &Write<'_>,
        object: Arc<Object>,
        old: &Document,
        (document, validity): (&Document, Validity),
    ) -> Result<Arc<Object>, WriteFailure> {
        // Any write of an object that was stored under an older schema stores it in its current form.
        if document == old && !object.is_renewed() {
            return self.unchanged(write.request, object).await;
        }
        let (row, revision, dry_run) = (write.row(object.key()), object.revision(), write.options.dry_run);
        if is_deleted(write.request, write.permits, document, false).await? {
            // Nothing holds a deleted object any more, so it is removed, and the client gets its last state.
            let last = row.preview(revision, New { document, validity, values: Values::Unneeded }).await?;
            if !dry_run {
                row.remove(revision).await?;
            }
            return Ok(last);
        }
        // No webhook may hold an object.
        let values = if only_releases(old, document) { Values::Optional } else { Values::Required };
        row.store(New { document, validity, values }, Expect::At(revision), dry_run).await
    }
}

/// True if the object, given in the storage version, is marked for deletion and nothing holds it. If the kind's hook cannot
/// decode it, it is held unless the deletion is forced.
pub(super) async fn is_deleted(
    request: &Request,
    permits: Permits<'_>,
    document: &Document,
    forced: bool,
) -> Result<bool, Error> {
    let (metadata, kind) = (&document["metadata"], &*request.resource.stored().kind);
    let held = || {
        metadata["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
            || metadata["deletionGracePeriodSeconds"].as_i64().is_some_and(|seconds| seconds > 0)
            || kind.has_finalizers(document)
    };
    if !metadata["deletionTimestamp"].is_string() || held() {
        return Ok(false);
    }
    match hold(permits, kind, document).await {
        Ok(held) => Ok(!held),
        Err(HookError::Undecodable(_)) => Ok(forced),
        Err(HookError::Refused(refusal)) => Err(Error::refused(refusal, kind, metadata::text(document, "name"))),
    }
}

/// True if the kind's hook holds a deleted object, given in the storage version.
pub(super) async fn hold(permits: Permits<'_>, kind: &Kind, document: &Document) -> Result<bool, HookError> {
    let hooks = &kind.binding.hooks;
    if !hooks.runs(Hook::Hold) {
        return Ok(false);
    }
    permits.outside(hooks.holds_deletion(document)).await
}
