//! The kind's own hooks in a write, and what of their answers counts: as with the schema, a write that keeps what they find
//! fault with is not refused for it. A stored object need not be of the type that the hooks have today.
//!
//! - Errors about a value that is as it was do not count, where the hook says the same of the old object by itself.
//! - An object that their type does not decode is let through where all but its metadata and its status is as it was. So
//!   finalizers can be removed, labels, annotations and owner references changed, and the status written.
use super::{Error, pipeline::Write, system};
use crate::{
    auth::User,
    kind::{Kind, binding::HookContext},
    meta::{FieldError, FieldErrorKind, FieldPath},
    schema::{self, Document},
};

impl Write<'_> {
    /// The kind's own defaults. A new object whose name was made up after them has them once more: some carry the name.
    ///
    /// # Errors
    /// A hook that could not make sense of an object that the schema allows.
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

    /// The kind's own defaults of an object that is as it was but for its metadata and its status. They do not stop the
    /// write, and an object that does not fit gets none but in its metadata.
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

    /// Whether an object fits the schema, and the kind's own hook finds nothing wrong with it by itself.
    fn is_sound(&self, document: &Document) -> bool {
        let kind = &*self.request.served.kind;
        schema::validate(&kind.version.schema, document).is_empty()
            && by_itself(kind, document).is_some_and(|errors| errors.is_empty())
    }

    /// A default hook could not read the object. Where the schema finds fault with it, too, validation tells that better.
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

    /// What the kind's own validation finds, as far as it counts.
    pub(super) fn hook_errors(&self, document: &Document, old: Option<&Document>) -> Vec<FieldError> {
        let kind = &*self.request.served.kind;
        match (kind.binding.hooks.validate(document, &self.context(old)), old) {
            (Ok(found), Some(old)) if !found.is_empty() => self.brought_about(found, document, old),
            (Ok(found), _) => found,
            (Err(_), Some(old)) if schema::rest_is_kept(&kind.version.schema, document, old) => Vec::new(),
            (Err(why), _) => faults_or(schema::validate(&kind.version.schema, document), &why),
        }
    }

    /// The errors of a validate hook that a write brings about.
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

/// Whether an error is about a value that is as it was, and known of the old object.
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

/// What a validate hook says of an object by itself: as if the server had just made it. Rules about changes, and about who
/// makes them, are silent. `None` where its type does not decode the object.
fn by_itself(kind: &Kind, document: &Document) -> Option<Vec<FieldError>> {
    let user = User::system();
    let context = HookContext { old: None, user: &user, dry_run: true, subresource: "" };
    kind.binding.hooks.validate(document, &context).ok()
}

/// What the schema finds in an object that the type of the kind's hooks does not decode: it names the places. Where that is
/// nothing, that the type does not decode it.
fn faults_or(faults: Vec<FieldError>, why: &str) -> Vec<FieldError> {
    if !faults.is_empty() {
        return faults;
    }
    vec![fault_of_object(format!("the kind's hooks cannot decode the object: {why}"))]
}

/// What is wrong with an object as a whole.
pub(super) fn fault_of_object(detail: String) -> FieldError {
    FieldError::new(&FieldPath::root(), FieldErrorKind::Invalid("object".into()), detail)
}
