//! Runs the kind's hooks in a write, with ratcheting as for the schema: errors about unchanged parts do not refuse the
//! write. A stored object may not decode into the current type of the hooks.
//!
//! - Errors about an unchanged value are ignored if the hook reports them for the old object, too.
//! - An object that does not decode is accepted if only its metadata and status change. So finalizers can be removed,
//!   labels, annotations and owner references changed, and the status written.
use super::{Error, pipeline::Write, system};
use crate::{
    auth::User,
    kind::{Kind, binding::HookContext},
    meta::{FieldError, FieldErrorKind, FieldPath},
    schema::{self, Document},
};

impl Write<'_> {
    /// Runs the default hook. A new object with a generated name gets the defaults again after its name: some contain
    /// it.
    ///
    /// # Errors
    /// If the hook cannot decode an object that the schema allows.
    pub fn run_default(&self, document: &mut Document, old: Option<&Document>) -> Result<(), Error> {
        let kind = &*self.request.served.kind;
        if !kind.binding.hooks.fills_in() {
            return Ok(());
        }
        if let Some(old) = old.filter(|old| schema::rest_is_kept(&kind.version.schema, document, old)) {
            self.default_kept(document, old);
            return Ok(());
        }
        kind.binding
            .hooks
            .fill_in(document, &self.context(old))
            .or_else(|why| self.undecodable(document, old, &why))?;
        schema::normalise(&kind.version.schema, document);
        Ok(())
    }

    /// Runs the default hook for an object of which only metadata and status change. Errors do not stop the write, and
    /// an object that violates its schema gets defaults only in its metadata.
    fn default_kept(&self, document: &mut Document, old: &Document) {
        let kind = &*self.request.served.kind;
        let status = document.get("status").cloned();
        if kind.binding.hooks.fill_in(document, &self.context(Some(old))).is_err() {
            return;
        }
        schema::normalise(&kind.version.schema, document);
        let changed =
            document.get("status") != status.as_ref() || !schema::rest_is_kept(&kind.version.schema, document, old);
        if changed && !self.is_sound(document) {
            schema::restore(document, old, status);
        }
    }

    /// True if an object fits the schema, and the hook reports no errors for it alone.
    fn is_sound(&self, document: &Document) -> bool {
        let kind = &*self.request.served.kind;
        schema::validate(&kind.version.schema, document).is_empty()
            && by_itself(kind, document).is_some_and(|errors| errors.is_empty())
    }

    /// The default hook could not decode the object. If the schema reports errors, too, validation describes them
    /// better.
    fn undecodable(&self, document: &Document, old: Option<&Document>, why: &str) -> Result<(), Error> {
        let kind = &*self.request.served.kind;
        let found = schema::validate(&kind.version.schema, document);
        let told = match old {
            Some(old) => schema::validate_change(&kind.version.schema, found.clone(), document, old),
            None => found.clone(),
        };
        if !told.is_empty() {
            return Ok(());
        }
        let name = system::text(document, "name").to_owned();
        Err(Error::Invalid(kind.group_kind(), name, faults_or(found, why)))
    }

    /// The errors of the validate hook that count.
    pub(super) fn hook_errors(&self, document: &Document, old: Option<&Document>) -> Vec<FieldError> {
        let kind = &*self.request.served.kind;
        match (kind.binding.hooks.validate(document, &self.context(old)), old) {
            (Ok(found), Some(old)) if !found.is_empty() => self.brought_about(found, document, old),
            (Ok(found), _) => found,
            (Err(_), Some(old)) if schema::rest_is_kept(&kind.version.schema, document, old) => Vec::new(),
            (Err(why), _) => faults_or(schema::validate(&kind.version.schema, document), &why),
        }
    }

    /// The errors of a validate hook that the write causes.
    fn brought_about(&self, mut found: Vec<FieldError>, document: &Document, old: &Document) -> Vec<FieldError> {
        let kind = &*self.request.served.kind;
        let schema = &kind.version.schema;
        match by_itself(kind, old) {
            Some(known) => found.retain(|error| !is_kept(schema, error, &known, document, old)),
            None if schema::rest_is_kept(schema, document, old) => found.clear(),
            None => {}
        }
        found
    }

    fn context<'c>(&'c self, old: Option<&'c Document>) -> HookContext<'c> {
        HookContext {
            old,
            user: &self.request.user,
            dry_run: self.options.dry_run,
            subresource: &self.request.subresource,
        }
    }
}

/// True if an error is about an unchanged value and was also reported for the old object.
fn is_kept(
    schema: &schema::Schema,
    error: &FieldError,
    known: &[FieldError],
    document: &Document,
    old: &Document,
) -> bool {
    let origin = schema::origin(schema, document, old, error.path.as_str());
    let is = |known: &FieldError| {
        known.path.as_str() == origin.path && known.kind == error.kind && known.detail == error.detail
    };
    origin.kept && known.iter().any(is)
}

/// The errors that a validate hook reports for an object alone, as if the server had just created it: rules about
/// changes and users do not apply. `None` if the object does not decode.
fn by_itself(kind: &Kind, document: &Document) -> Option<Vec<FieldError>> {
    let user = User::system();
    let context = HookContext { old: None, user: &user, dry_run: true, subresource: "" };
    kind.binding.hooks.validate(document, &context).ok()
}

/// The schema's errors for an object that does not decode into the hooks' type, because they have paths. If there are
/// none, the decoding error.
fn faults_or(faults: Vec<FieldError>, why: &str) -> Vec<FieldError> {
    if !faults.is_empty() {
        return faults;
    }
    vec![fault_of_object(format!("the kind's hooks cannot decode the object: {why}"))]
}

/// An error about the whole object.
pub(super) fn fault_of_object(detail: String) -> FieldError {
    FieldError::new(&FieldPath::root(), FieldErrorKind::Invalid("object".into()), detail)
}
