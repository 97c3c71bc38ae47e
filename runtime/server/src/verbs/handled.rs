//! Support for handlers of virtual kinds and subresources: the first half of the pipeline for documents that are not
//! stored, and changes of stored objects by code.
use std::sync::Arc;

use super::{
    Answer, Error, Request, Verbs,
    commit::check_size,
    metadata,
    stored::current,
    versions::{compose, shown},
    write::{Subject, Write},
};
use crate::{
    cache::Object,
    codec::DecodedDocument,
    kind::{Kind, convert::Answers},
    meta::{Revision, options::WriteOptions},
    schema::{self, Document},
};

impl Verbs {
    /// Prepares the body of a request, a document of this kind, for a handler: decode checks, name and namespace,
    /// defaults, admission, validation. For a subresource, admission sees its subject. Also returns warnings for the client.
    ///
    /// # Errors
    /// Like [`Verbs::create`], without those of a commit.
    pub async fn prepare(
        &self,
        request: &Request,
        kind: &Kind,
        body: impl Into<DecodedDocument>,
        options: &WriteOptions,
        subject: Option<&Subject>,
    ) -> Result<(Document, Vec<String>), Error> {
        let DecodedDocument { mut document, faults, pruned } = body.into();
        let write = Write { kind, pruned, subject, ..Write::of_body(self, request, options, &faults) };
        let mut warnings = write.decode(&mut document)?;
        warnings.extend(write.complete_unstored(&mut document).await?);
        Ok((document, warnings))
    }

    /// Changes an object by code, which runs again on the newer object if another write came first. A resourceVersion
    /// that the code does not change is not a precondition.
    ///
    /// # Errors
    /// Those of the code and of the pipeline; [`Error::NotFound`].
    pub async fn change(
        &self,
        request: &Request,
        options: &WriteOptions,
        change: impl Fn(&mut Document) -> Result<(), Error> + Send + Sync,
    ) -> Result<Arc<Object>, Error> {
        let write = Write::of_body(self, request, options, &[]);
        let changed = |old: &Document, _: &Answers| {
            let mut new = old.clone();
            change(&mut new)?;
            let warnings = write.decode(&mut new)?;
            Ok((new, warnings))
        };
        let (write, changed) = (&write, &changed);
        let attempt = |()| async move {
            // Code sees whole objects only, not the metadata of one that cannot be converted.
            shown(request, write.permits, &current(request)?).await?;
            self.rewrite_object(write, changed).await.map(|done| done.object)
        };
        self.again_if_stale((request, &request.name), options.dry_run, (), attempt).await
    }
}

/// A document of a kind that is not stored, as the answer to a request. Disallowed nulls are removed, as in stored
/// objects. Fails with [`Error::TooLarge`].
pub(crate) fn show(request: &Request, kind: &Kind, mut document: Document) -> Result<Answer, Error> {
    schema::normalise(&kind.version.schema, &mut document);
    let revision = metadata::text(&document, "resourceVersion").parse().unwrap_or(Revision(0));
    let key = request.key_of(metadata::text(&document, "name"));
    let object = compose(kind, &key, revision, &document);
    check_size(object.json_bytes().len())?;
    Ok(Answer::Object(Arc::new(object)))
}
