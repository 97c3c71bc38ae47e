//! The pipeline of a write: the steps from decoding a document to its commit, in one order for all verbs.
//!
//! decode checks → name and namespace → defaults (declared, then the kind's hook) → normalise → ownership → mutating
//! admission → reset of fields that the writer may not set → generation → validation (metadata, schema, immutable
//! fields, rules, the kind's hook) → validating admission. A writer therefore owns the defaults that its write caused, as in
//! kube-apiserver, and changes by admission are unowned.
//!
//! Fields that the client may not set are already reset before defaulting, for hooks and admission, except that a
//! changed immutable field of metadata is kept for validation to refuse. The reset after admission limits admission to
//! the fields that the write may change.
use serde_json::json;

use super::{
    Error,
    admission::{Attributes, Options},
    bind,
    decode::{decode, wrong_types},
    lifecycle::{check_creation, hold_namespace},
    metadata, owners, ownership, scale,
    system::{self, Nameless},
    write::{Origin, Shape, Write},
};
use crate::{
    codec,
    kind::{
        convert::Answers,
        model::{NameRule, Scope},
    },
    meta::{FieldError, FieldPath, validate},
    patch::apply,
    registry::reader::Validity,
    schema::{self, Decoder, Document, Meter, rules},
};

impl Write<'_> {
    /// Decode checks, name and namespace. Returns warnings about unknown fields. Fails with [`Error::BadRequest`], or
    /// errors of the patch.
    pub(super) fn decode(&self, document: &mut Document) -> Result<Vec<String>, Error> {
        let warnings = decode(self, document)?;
        system::place(self.request, document, Nameless::Named)?;
        Ok(warnings)
    }

    /// The same for the new state of an object or of its scale, which must contain its name.
    pub(super) fn decode_named(&self, document: &mut Document) -> Result<Vec<String>, Error> {
        let warnings = decode(self, document)?;
        system::place(self.request, document, Nameless::Refused)?;
        Ok(warnings)
    }

    /// The steps from defaults to generation: the result is the object to store, not yet validated. Returns warnings.
    pub(super) async fn complete(&self, document: &mut Document) -> Result<Vec<String>, Error> {
        self.check_dry_run()?;
        system::begin(self, document)?;
        self.fill_in(document).await?;
        let mut warnings = Vec::new();
        if self.origin == Origin::Body && !self.request.is_scale() {
            warnings.extend(owners::dedup(document, false));
        }
        if self.request.resource.webhooks.is_some() {
            let owned = |answers: &Answers| {
                let mut owned = document.clone();
                self.own(&mut owned, answers).map(|()| owned)
            };
            *document = self.converting(owned).await?;
        } else {
            self.own(document, &Answers::none())?;
        }
        warnings.extend(self.admit(document).await?);
        warnings.extend(owners::dedup(document, true));
        warnings.extend(self.finalizer_warnings(document));
        if let Some(old) = self.old {
            system::count_generation(&self.request.resource.kind, document, old);
            apply::keep_times(old, document);
        }
        Ok(warnings)
    }

    /// Warnings about new finalizers of a custom resource. kube-apiserver refuses such ones of its own kinds.
    fn finalizer_warnings(&self, document: &Document) -> Vec<String> {
        if self.kind.policy().decodes_into_types() {
            return Vec::new();
        }
        validate::finalizer_warnings(&document["metadata"], self.old.map(|old| &old["metadata"]))
    }

    /// The same for a document that is not stored and has no field owners, with validation. It needs no name.
    pub(super) async fn complete_unstored(&self, document: &mut Document) -> Result<Vec<String>, Error> {
        self.check_dry_run()?;
        self.fill_in(document).await?;
        let warning = self.admit(document).await?;
        let mut errors = schema::validate(&self.kind.version.schema, document, &self.request.meter)?;
        self.check_rules(document, &mut errors)?;
        self.judge(document, errors).await?;
        Ok(warning.into_iter().collect())
    }

    /// Defaults: the declared ones, then the hook's.
    async fn fill_in(&self, document: &mut Document) -> Result<(), Error> {
        schema::default(&self.kind.version.schema, document, &self.request.meter)?;
        schema::normalise(&self.kind.version.schema, document);
        self.run_default(document).await
    }

    /// Mutating admission, and the reset of changes that it may not make. Drops unknown fields and sets declared defaults
    /// again. Restores invalid managed fields, and returns a warning about them.
    async fn admit(&self, document: &mut Document) -> Result<Option<String>, Error> {
        let kind = self.kind;
        let creates = self.old.is_none() && self.subject.is_none();
        if creates {
            check_creation(self.request, metadata::text(document, "name"))?;
        }
        if creates && kind.policy().needs_namespace() {
            // The commit checks the namespace again, and makes it a condition.
            hold_namespace(self.api, self.request, metadata::text(document, "name"))?;
        }
        if !self.api.admits(self.operation()) {
            return Ok(None);
        }
        let before = document.clone();
        let name = self.name(document).to_owned();
        if let Some((mut scale, old_scale)) = self.scales(document)? {
            self.api.admit(&self.attributes(&name, Some(&old_scale)), &mut scale).await?;
            check_admitted(&self.shape(), &scale, None, &self.request.meter)?;
            let replicas = scale::replicas(self.request, &scale, document)?;
            scale::paths(kind)?.replicas.put(document, Some(replicas.into()));
        } else {
            self.api.admit(&self.attributes(&name, self.old), document).await?;
        }
        if *document == before {
            return Ok(None);
        }
        system::reset(self, document, &before)?;
        let warning = ownership::restore(document, metadata::managed_fields(&before));
        check_admitted(&Shape::from(kind), document, self.old, &self.request.meter)?;
        codec::drop_unknown(document, &kind.version.schema, kind.policy().fault_order());
        schema::default(&kind.version.schema, document, &self.request.meter)?;
        schema::normalise(&kind.version.schema, document);
        Ok(warning)
    }

    /// Validating admission.
    async fn admit_result(&self, document: &Document) -> Result<(), Error> {
        if !self.api.admits(self.operation()) {
            return Ok(());
        }
        let name = self.name(document);
        if let Some((scale, old_scale)) = self.scales(document)? {
            return self.api.validate_by_admission(&self.attributes(name, Some(&old_scale)), &scale).await;
        }
        self.api.validate_by_admission(&self.attributes(name, self.old), document).await
    }

    /// What admission decides about in a write of the scale: the Scale and the old one.
    fn scales(&self, document: &Document) -> Result<Option<(Document, Document)>, Error> {
        let Some(old) = self.old.filter(|_| self.request.is_scale()) else { return Ok(None) };
        let kind = &*self.request.resource.kind;
        Ok(Some((scale::of_document(kind, document, None)?, scale::of_document(kind, old, Some(0))?)))
    }

    /// The name that admission sees.
    fn name<'c>(&'c self, document: &'c Document) -> &'c str {
        if self.subject.is_some() { &self.request.name } else { metadata::text(document, "name") }
    }

    /// The attributes for admission.
    fn attributes<'c>(&'c self, name: &'c str, old: Option<&'c Document>) -> Attributes<'c> {
        let operation = (self.operation(), Options::Write(self.options));
        let kind = if self.request.is_scale() {
            (&*scale::VERSION, "Scale")
        } else {
            (&self.kind.group_version, self.kind.names().kind.as_str())
        };
        let old = self.subject.map_or(old, |subject| subject.old.as_ref());
        let attributes = Attributes::new(self.api, self.request, kind, operation, (name, old));
        Attributes { subresource: self.subresource(), permits: self.permits, ..attributes }
    }

    /// Validation, then validating admission. Returns whether the object fits the schema, which unchanged values of a
    /// stored object may violate. Fails with [`Error::Invalid`] with all errors; those of admission.
    pub(super) async fn validate(&self, document: &Document) -> Result<Validity, Error> {
        let (kind, meter) = (self.kind, &self.request.meter);
        let schema = &kind.version.schema;
        let mut errors = self.metadata_errors(document);
        errors.extend(self.name_errors(document)?);
        let mut found = schema::validate(schema, document, meter)?;
        let validity = if found.is_empty() { Validity::Checked } else { Validity::Unchecked };
        if let Some(old) = self.old {
            found = schema::validate_change(schema, found, document, old, meter)?;
        }
        errors.extend(found);
        // Types that objects are decoded into have numbers that fit.
        if let Some(paths) = kind.version.scale.as_ref().filter(|_| !kind.policy().decodes_into_types()) {
            errors.extend(scale::field_errors(paths, document, self.subresource() == "status"));
        }
        self.check_rules(document, &mut errors)?;
        self.judge(document, errors).await?;
        Ok(validity)
    }

    /// Evaluates the kind's rules in CEL if the errors so far allow that, and adds their errors. Rules that unchanged values violate are
    /// warned of.
    fn check_rules(&self, document: &Document, errors: &mut Vec<FieldError>) -> Result<(), Error> {
        let Some(rules) = self.kind.rules().filter(|_| !bind::is_of(self.kind, &self.request.subresource)) else {
            return Ok(());
        };
        if let Some(not_checked) = rules::not_checked(errors) {
            errors.push(not_checked);
            return Ok(());
        }
        let outcome = rules.evaluate(document, self.old, &self.request.meter)?;
        outcome.warnings.into_iter().for_each(|warning| self.request.warnings.add(warning));
        errors.extend(outcome.errors);
        Ok(())
    }

    /// Runs the kind's validate hook if there are no other errors, fails if there are any, and then asks the hook and the
    /// plugins that decide about valid objects.
    async fn judge(&self, document: &Document, mut errors: Vec<FieldError>) -> Result<(), Error> {
        // The hook decodes the object into its type, which usually succeeds if the schema allows the object.
        if errors.is_empty() {
            errors = self.hook_errors(document).await?;
        }
        if !errors.is_empty() {
            return Err(Error::invalid(self.kind, document, errors));
        }
        self.run_admit(self.operation(), document).await?;
        self.admit_result(document).await
    }

    fn metadata_errors(&self, document: &Document) -> Vec<FieldError> {
        let kind = self.kind;
        let (path, metadata) = (FieldPath::new("metadata"), &document["metadata"]);
        if let Some(old) = self.old {
            // kube-apiserver checks immutable fields twice, for all kinds and for this one, and reports both.
            let errors = validate::object_meta_update(metadata, &old["metadata"], &path);
            if !errors.is_empty() {
                return [errors.clone(), errors].concat();
            }
        }
        let names = match kind.shared.name_rule {
            NameRule::Subdomain => validate::subdomain,
            NameRule::Label => validate::label,
            NameRule::PathSegment => validate::path_segment,
        };
        let mut errors = validate::object_meta(metadata, kind.shared.scope == Scope::Namespaced, names, &path);
        errors.extend(kind.policy().metadata_errors(metadata, &path));
        errors
    }

    /// The errors of the type and the names by the kind's schema of them. Names do not change, and unchanged values have no errors, but the
    /// type, which the client does not see change with the version, is checked in each write of the object itself.
    fn name_errors(&self, document: &Document) -> Result<Vec<FieldError>, Error> {
        let Some(names) = self.kind.version.names.as_ref().filter(|_| self.subresource() != "status") else {
            return Ok(Vec::new());
        };
        if self.old.is_none() {
            return Ok(schema::validate(names, document, &self.request.meter)?);
        }
        let type_meta = json!({"apiVersion": document["apiVersion"], "kind": document["kind"]});
        Ok(schema::validate(names, &type_meta, &self.request.meter)?)
    }
}

/// Checks the types of what mutating admission has left. Fails with [`Error::Internal`], as kube-apiserver answers if a
/// webhook's patch cannot be decoded.
fn check_admitted(shape: &Shape<'_>, document: &Document, old: Option<&Document>, meter: &Meter) -> Result<(), Error> {
    let wrong = wrong_types(Decoder::Json, shape, document, old, meter)?;
    wrong.map_or(Ok(()), |why| Err(Error::Internal(format!("admission has left an invalid {}: {why}", shape.kind))))
}
