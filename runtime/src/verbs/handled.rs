//! What handlers build on, those who answer for virtual kinds and for a kind's own subresources: the first half of the
//! pipeline for documents that are not stored, and a change of a stored object made by code.
use std::sync::Arc;

use super::{
    Answer, Api, Error, Patch, Request, commit::check_size, patch::Parsed, pipeline::Write, system, versions::compose,
};
use crate::{
    cache::Object,
    codec::Decoded,
    meta::{Revision, options::WriteOptions},
    schema::{self, Document},
};

impl Api {
    /// Brings the body of a request to a handler into its kind's shape: decode checks, the place in the path, defaults,
    /// admission, validation. Gives warnings for the client, too.
    ///
    /// # Errors
    /// As [`Api::create`], but for those of a commit.
    pub fn prepare(
        &self,
        request: &Request,
        body: impl Into<Decoded>,
        options: &WriteOptions,
    ) -> Result<(Document, Vec<String>), Error> {
        let Decoded { mut document, faults, pruned } = body.into();
        let write = Write { pruned, ..Write::of_body(request, options, &faults) };
        let mut warnings = write.decode(&mut document)?;
        warnings.extend(write.complete_unstored(self, &mut document)?);
        Ok((document, warnings))
    }

    /// What a patch makes of a document of the request's kind that is not stored.
    ///
    /// # Errors
    /// What is wrong with the patch, or with its fit.
    pub fn patch_unstored(&self, request: &Request, patch: Patch, document: &Document) -> Result<Document, Error> {
        Parsed::read(patch)?.apply(&request.served.kind.version.schema, document)
    }

    /// A document of the request's kind as an answer, although it is not stored. What is null in it and has no business to
    /// be is left out, as it would be from a stored one.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn show(&self, request: &Request, mut document: Document) -> Result<Answer, Error> {
        let kind = &*request.served.kind;
        schema::normalise(&kind.version.schema, &mut document);
        let revision = system::text(&document, "resourceVersion").parse().unwrap_or(Revision(0));
        let key = request.key_of(system::text(&document, "name"));
        let object = compose(kind, &key, revision, &document);
        check_size(object.json_bytes().len())?;
        Ok(Answer::Object(Arc::new(object)))
    }

    /// Changes an object by code, which is run again on the newer object when another write came first. A
    /// resourceVersion that the code leaves as it was asks for nothing.
    ///
    /// # Errors
    /// What the code says; what the pipeline says; [`Error::NotFound`].
    pub async fn change(
        &self,
        request: &Request,
        options: &WriteOptions,
        change: impl Fn(&mut Document) -> Result<(), Error> + Send + Sync,
    ) -> Result<Arc<Object>, Error> {
        let write = Write::of_body(request, options, &[]);
        let changed = |old: &Document| {
            let mut new = old.clone();
            change(&mut new)?;
            let warnings = write.decode(&mut new)?;
            Ok((new, warnings))
        };
        self.rewrite(&write, changed).await.map(|done| done.object)
    }
}
