//! update: replaces an object, or a subresource of it.
use super::{
    Error, Request, Verbs, WriteResult, metadata,
    preconditions::check_uid,
    stored::{current, document_of},
    versions::shown,
    write::Write,
};
use crate::{codec::DecodedDocument, meta::options::UpdateOptions, schema::Document};

impl Verbs {
    /// Replaces an object, or a subresource of it. For some kinds it creates a missing object.
    ///
    /// # Errors
    /// [`Error`]: errors of the object, [`Error::Conflict`] if its resourceVersion is outdated.
    pub async fn update(
        &self,
        request: &Request,
        body: impl Into<DecodedDocument>,
        options: &UpdateOptions,
    ) -> Result<WriteResult, Error> {
        let update = |body| self.update_once(request, body, options);
        self.again_if_stale((request, &request.name), options.dry_run, body.into(), update).await
    }

    async fn update_once(
        &self,
        request: &Request,
        body: DecodedDocument,
        options: &UpdateOptions,
    ) -> Result<WriteResult, Error> {
        let DecodedDocument { mut document, faults, pruned } = body;
        let write = Write { pruned, ..Write::of_body(self, request, options, &faults) };
        // The first attempt drops unknown fields, which the second must find again.
        let given = (!pruned).then(|| document.clone());
        // Errors in the body are reported even if there is no object to update.
        let mut warnings = match write.decode_named(&mut document) {
            Ok(warnings) => warnings,
            Err(refusal) if request.is_scale() => return Err(refusal),
            Err(refusal) => {
                let Ok(live) = current(request) else { return Err(refusal) };
                let Ok(live) = shown(request, write.permits, &live).await else { return Err(refusal) };
                let Ok(live) = document_of(&live) else { return Err(refusal) };
                document = given.unwrap_or(document);
                write.over(&live).decode_named(&mut document)?
            }
        };
        let replace = |old: Option<&Document>| {
            check_uid(request, &document, old)?;
            let mut new = document.clone();
            if old.is_none() {
                // kube-apiserver ignores the version of a created object.
                metadata::of(&mut new).remove("resourceVersion");
            }
            Ok((new, Vec::new()))
        };
        let mut written = if request.resource.kind.version.create_on_update {
            self.rewrite_or_create(&write, |old, _| replace(old)).await?
        } else {
            self.rewrite(&write, |old, _| replace(Some(old))).await?
        };
        warnings.append(&mut written.warnings);
        Ok(WriteResult { warnings, ..written })
    }
}
