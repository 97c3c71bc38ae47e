//! create: a new object.
use super::{
    Answer, Error, Request, Verbs, WriteResult, commit::New, error::Occupant, metadata, retry::WriteFailure,
    stored::document_of, versions::PreparedAnswer, write::Write,
};
use crate::{
    codec::DecodedDocument,
    kind::model::Scope,
    meta::{Revision, options::CreateOptions},
    registry::reader::Values,
    schema::Document,
    storage::Expect,
};

/// The maximum number of generated names that are tried.
const NAMES_TRIED: usize = 8;

impl Verbs {
    /// Creates an object.
    ///
    /// # Errors
    /// [`Error`]: errors of the object, [`Error::AlreadyExists`], or errors about its namespace.
    pub async fn create(
        &self,
        request: &Request,
        body: impl Into<DecodedDocument>,
        options: &CreateOptions,
    ) -> Result<WriteResult, Error> {
        if !request.subresource.is_empty() {
            return Err(Error::MethodNotAllowed);
        }
        if request.resource.kind.shared.scope == Scope::Namespaced && request.namespace.is_empty() {
            return Err(Error::BadRequest("an empty namespace may not be set during creation".to_owned()));
        }
        let body = body.into();
        let name = metadata::text(&body.document, "name").to_owned();
        let create = |body| self.create_once(request, body, options);
        self.again_if_stale((request, &name), options.dry_run, body, create).await
    }

    async fn create_once(
        &self,
        request: &Request,
        body: DecodedDocument,
        options: &CreateOptions,
    ) -> Result<WriteResult, Error> {
        let DecodedDocument { mut document, faults, pruned } = body;
        let write = Write { pruned, ..Write::of_body(self, request, options, &faults) };
        let warnings = write.decode(&mut document)?;
        self.create_new(&write, document, warnings).await
    }

    /// Passes a decoded new object through the rest of the pipeline and stores it.
    pub(super) async fn create_new(
        &self,
        write: &Write<'_>,
        mut document: Document,
        mut warnings: Vec<String>,
    ) -> Result<WriteResult, Error> {
        warnings.extend(write.complete(&mut document).await?);
        let answer = self.create_named(write, document).await?;
        Ok(WriteResult { answer, created: true, warnings })
    }

    /// Stores a complete object under its name, or under a generated one.
    async fn create_named(&self, write: &Write<'_>, mut document: Document) -> Result<Answer, Error> {
        let kind = &*write.request.resource.kind;
        let base = metadata::text(&document, "generateName").to_owned();
        let generates = metadata::text(&document, "name").is_empty() && !base.is_empty();
        for _ in 0..if generates { NAMES_TRIED } else { 1 } {
            if generates {
                let name = write.make_name(&document, &base).await?;
                metadata::set(&mut document, "name", name);
                write.run_default(&mut document).await?;
            }
            let validity = write.validate(&document).await?;
            // kube-apiserver takes zero, and a text that is no number, as unset.
            if metadata::text(&document, "resourceVersion").parse::<Revision>().is_ok_and(|version| version.0 != 0) {
                let message = "resourceVersion should not be set on objects to be created";
                return Err(Error::Unknown(message.to_owned()));
            }
            let (stored, validity) = write.stored_form((&document, validity), None).await?;
            let answer = PreparedAnswer::of(write, &stored).await?;
            let key = write.request.key_of(metadata::text(&stored, "name"));
            let new = New { document: &stored, validity, values: Values::Required };
            match write.row(&key).store(new, Expect::Absent, write.options.dry_run).await {
                Ok(object) => return Ok(Answer::Object(answer.with(write.request, object))),
                Err(WriteFailure::Refused(error)) => return Err(error),
                Err(WriteFailure::Lost) => {}
            }
        }
        let name = metadata::text(&document, "name").to_owned();
        let holder = write.request.resource.objects.snapshot().get(&write.request.key_of(&name));
        let occupant = match holder.and_then(|holder| document_of(&holder).ok()) {
            Some(holder) if !metadata::text(&holder, "deletionTimestamp").is_empty() => Occupant::Terminating,
            _ => Occupant::Staying,
        };
        // kube-apiserver checks only generateName here, even if the client also set a name.
        let refuse = if base.is_empty() { Error::AlreadyExists } else { Error::GeneratedNameTaken };
        Err(refuse(kind.group_resource(), name, occupant))
    }
}
