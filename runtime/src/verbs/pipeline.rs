//! The pipeline of a write: what happens to a document between its decoding and its commit, in one order for all verbs.
//!
//! decode checks → the place in the path → defaults (declared, then the kind's hook) → normalise → ownership → mutating
//! admission → reset of what the writer may not set → generation → validation (metadata, schema, what may not change, the
//! kind's hook) → validating admission. So a writer owns the defaults that its write brought about, as in kube-apiserver,
//! and nobody what admission has changed.
//!
//! What the client may not set is reset before the defaults already, for hooks and admission, but for another value of an
//! immutable field of metadata, which validation refuses. The reset after admission holds admission itself to what the write
//! may change.
use super::{
    Api, Attempt, Error, Request,
    admission::hold_namespace,
    decode::{Origin, Shape, decode},
    owners, ownership,
    system::{self, Nameless},
};
use crate::{
    kind::{
        model::{NameRule, Scope},
        reader::Fit,
    },
    meta::{FieldError, FieldPath, options::WriteOptions, validate},
    metrics::{Operation, Step},
    patch::apply,
    schema::{self, Document},
};

/// What a write does to an object, as metrics name it.
fn operation(old: Option<&Document>) -> Operation {
    if old.is_none() { Operation::Create } else { Operation::Update }
}

/// A write on its way.
pub(super) struct Write<'a> {
    /// Who asks for what.
    pub request: &'a Request,
    /// How.
    pub options: &'a WriteOptions,
    /// Where its documents come from.
    pub origin: Origin,
    /// What the decoder found fault with.
    pub faults: &'a [String],
    /// The decoder has dropped unknown fields, and told them among the faults.
    pub pruned: bool,
}

impl<'a> Write<'a> {
    /// A write of what a request's body holds.
    pub fn of_body(request: &'a Request, options: &'a WriteOptions, faults: &'a [String]) -> Self {
        Self { request, options, origin: Origin::Body, faults, pruned: false }
    }
}

impl Write<'_> {
    /// Decode checks and the place in the path. Gives warnings about unknown fields.
    ///
    /// # Errors
    /// [`Error::BadRequest`], or what is wrong with the patch.
    pub fn decode(&self, document: &mut Document) -> Result<Vec<String>, Error> {
        let warnings = decode(self, &Shape::from(&*self.request.served.kind), document, None)?;
        system::place(self.request, document, Nameless::Named)?;
        Ok(warnings)
    }

    /// The same for what an object is to become: it says its name, and is not given the one in the path. What it has in
    /// common with the stored object need not have the types of today's schema.
    ///
    /// # Errors
    /// As [`Write::decode`].
    pub fn decode_named(&self, document: &mut Document, old: Option<&Document>) -> Result<Vec<String>, Error> {
        let warnings = decode(self, &Shape::from(&*self.request.served.kind), document, old)?;
        system::place(self.request, document, Nameless::Refused)?;
        Ok(warnings)
    }

    /// The same for a document that is another view of the object, such as its scale.
    ///
    /// # Errors
    /// As [`Write::decode`].
    pub fn decode_as(&self, shape: &Shape<'_>, document: &mut Document) -> Result<Vec<String>, Error> {
        let warnings = decode(self, shape, document, None)?;
        system::place(self.request, document, Nameless::Refused)?;
        Ok(warnings)
    }

    /// From the system fields on up to generation: the object as it would be stored, not yet validated. Gives warnings.
    ///
    /// # Errors
    /// What admission says; a hook that could not make sense of an object that the schema allows.
    pub fn complete(&self, api: &Api, document: &mut Document, old: Option<&Document>) -> Result<Vec<String>, Error> {
        system::begin(self, document, old)?;
        self.fill_in(document, old)?;
        let mut warnings = Vec::new();
        if self.origin == Origin::Body {
            warnings.extend(owners::dedup(document, false));
        }
        self.own(document, old)?;
        warnings.extend(self.admit(api, document, old)?);
        warnings.extend(owners::dedup(document, true));
        if let Some(old) = old {
            system::count_generation(&self.request.served.kind, document, old);
            apply::keep_times(old, document);
        }
        Ok(warnings)
    }

    /// The same for a document that is not stored, and its validation: nobody owns anything in it. It needs no name.
    ///
    /// # Errors
    /// As [`Write::complete`] and [`Write::validate`].
    pub fn complete_unstored(&self, api: &Api, document: &mut Document) -> Result<Vec<String>, Error> {
        let kind = &*self.request.served.kind;
        self.fill_in(document, None)?;
        // The documents of a subresource are about an object that is there: it is admitted again where it changes.
        let warning = if kind.shared.stored { None } else { self.admit(api, document, None)? };
        self.judge(document, None, schema::validate(&kind.version.schema, document))?;
        if !kind.shared.stored {
            self.admit_result(api, document, None)?;
        }
        Ok(warning.into_iter().collect())
    }

    /// Defaults: the declared ones, then the hook's.
    fn fill_in(&self, document: &mut Document, old: Option<&Document>) -> Result<(), Error> {
        let kind = &*self.request.served.kind;
        schema::default(&kind.version.schema, document);
        schema::normalise(&kind.version.schema, document);
        self.run_default(document, old)
    }

    /// Mutating admission, and the reset of what it may not change. It may not leave nonsense behind in who owns what.
    fn admit(&self, api: &Api, document: &mut Document, old: Option<&Document>) -> Result<Option<String>, Error> {
        let attempt = self.attempt(old);
        if old.is_none() {
            // The commit looks again, and holds what it sees.
            hold_namespace(api, self.request, system::text(document, "name"))?;
        }
        if api.admission.is_empty() {
            return Ok(None);
        }
        let before = document.clone();
        api.run_admission(Step::Admit, operation(old), |step| step.admit(api, &attempt, document))?;
        system::reset(self.request, document, &before)?;
        Ok(ownership::restore(document, ownership::entries(&before)))
    }

    /// Validating admission.
    fn admit_result(&self, api: &Api, document: &Document, old: Option<&Document>) -> Result<(), Error> {
        let attempt = self.attempt(old);
        api.run_admission(Step::Validate, operation(old), |step| step.validate(api, &attempt, document))
    }

    /// Validation, and validating admission after it. Tells whether the object fits the schema: what a write leaves as it
    /// is stored may not.
    ///
    /// # Errors
    /// [`Error::Invalid`] with everything that is wrong; what admission says.
    pub fn validate(&self, api: &Api, document: &Document, old: Option<&Document>) -> Result<Fit, Error> {
        let kind = &*self.request.served.kind;
        let mut errors = self.metadata_errors(document, old);
        let mut found = schema::validate(&kind.version.schema, document);
        let fit = if found.is_empty() { Fit::Checked } else { Fit::Unchecked };
        if let Some(old) = old {
            found = schema::validate_change(&kind.version.schema, found, document, old);
        }
        errors.extend(found);
        self.judge(document, old, errors)?;
        self.admit_result(api, document, old)?;
        Ok(fit)
    }

    /// The last word on a document: what was found so far, and what the kind's own hook finds where that is nothing.
    fn judge(&self, document: &Document, old: Option<&Document>, mut errors: Vec<FieldError>) -> Result<(), Error> {
        let kind = &*self.request.served.kind;
        // The kind's own hook reads the object as its type: what the schema allows mostly is one.
        if errors.is_empty() {
            errors = self.hook_errors(document, old);
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(Error::Invalid(kind.group_kind(), system::text(document, "name").to_owned(), errors))
    }

    fn metadata_errors(&self, document: &Document, old: Option<&Document>) -> Vec<FieldError> {
        let kind = &*self.request.served.kind;
        let (path, metadata) = (FieldPath::new("metadata"), &document["metadata"]);
        if let Some(old) = old {
            // kube-apiserver checks what an update may not change twice, for all kinds and for this one, and tells both.
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

    fn attempt<'c>(&'c self, old: Option<&'c Document>) -> Attempt<'c> {
        Attempt { request: self.request, old, dry_run: self.options.dry_run }
    }
}
