//! What a write answers for. A stored object need not fit the schema of today, or the Rust type of the kind's hooks: both
//! may have changed since it was stored. Such an object can still be written, as far as that leaves alone what does not fit:
//!
//! - Errors that the schema finds below a top-level field that the write leaves as it is stored do not count.
//! - A write that changes nothing but metadata is not refused for what the hooks say of the object anyway, or because
//!   their type does not decode it; and where the object does not fit, a default hook changes its metadata only.
//!
//! So finalizers can be removed, labels, annotations and owner references changed, and the status written, whatever became
//! of the schema. What such a write stores is marked as not checked.
use super::pipeline::Write;
use crate::{
    auth::User,
    kind::model::{HookContext, ValidateHook},
    meta::{FieldError, field::MOST_ERRORS},
    schema::{self, Document},
};

/// Whether a document differs from another in nothing but metadata. Type meta is the request's, not the object's.
pub(super) fn only_metadata_differs(new: &Document, old: &Document) -> bool {
    let others = |document| Document::as_object(document).into_iter().flatten().filter(|(name, _)| is_own(name));
    others(new).eq(others(old))
}

/// Whether a top-level field is the kind's own.
fn is_own(name: &str) -> bool {
    !matches!(name, "apiVersion" | "kind" | "metadata")
}

/// Puts the fields of the kind's own in a document back to what they are in another.
pub(super) fn restore(document: &mut Document, old: &Document) {
    let (Some(new), Some(old)) = (document.as_object_mut(), old.as_object()) else { return };
    new.retain(|name, _| !is_own(name));
    new.extend(old.iter().filter(|(name, _)| is_own(name)).map(|(name, value)| (name.clone(), value.clone())));
}

/// The errors of a schema that a write brings about. A list that was cut off says nothing about what comes after it, so
/// that all of it counts.
pub(super) fn brought_about(errors: Vec<FieldError>, new: &Document, old: &Document) -> Vec<FieldError> {
    if errors.is_empty() || only_metadata_differs(new, old) {
        return Vec::new();
    }
    if errors.len() >= MOST_ERRORS {
        return errors;
    }
    let changed = |error: &FieldError| {
        let path = error.path.as_str();
        let field = &path[..path.find(['.', '[']).unwrap_or(path.len())];
        field.is_empty() || new.get(field) != old.get(field)
    };
    errors.into_iter().filter(changed).collect()
}

impl Write<'_> {
    /// The kind's own defaults for a write that changes nothing but metadata. They do not stop it: where the hook's type
    /// does not decode the object, it is not run, and an object that does not fit keeps all but its metadata as it is.
    pub(super) fn default_metadata(&self, document: &mut Document, old: &Document) {
        let Some(hook) = self.request.served.kind.hooks.default else { return };
        let mut defaulted = document.clone();
        if hook(&mut defaulted, &self.context(Some(old))).is_err() {
            return;
        }
        super::decode::normalise(&self.request.served.kind, &mut defaulted);
        if !only_metadata_differs(&defaulted, old) && !self.is_sound(&defaulted) {
            restore(&mut defaulted, old);
        }
        *document = defaulted;
    }

    /// Whether an object fits the schema, and the kind's own hook finds nothing wrong with it by itself.
    fn is_sound(&self, document: &Document) -> bool {
        let kind = &*self.request.served.kind;
        let checked = |hook: ValidateHook| by_itself(hook, document).is_some_and(|errors| errors.is_empty());
        schema::validate(&kind.schema, document).is_empty() && kind.hooks.validate.is_none_or(checked)
    }
}

/// What a validate hook says of an object by itself: as if the server had just made it. Rules about changes, and about who
/// makes them, are silent. `None` where its type does not decode the object.
fn by_itself(hook: ValidateHook, document: &Document) -> Option<Vec<FieldError>> {
    let user = User::system();
    hook(document, &HookContext { old: None, user: &user, dry_run: true, subresource: "" }).ok()
}

/// What of a validate hook's errors about a write that changes nothing but metadata counts: what it does not say of the
/// object as it is stored.
pub(super) fn hook_errors(hook: ValidateHook, found: Vec<FieldError>, old: &Document) -> Vec<FieldError> {
    if found.is_empty() {
        return found;
    }
    let Some(known) = by_itself(hook, old) else { return Vec::new() };
    found.into_iter().filter(|error| !known.contains(error)).collect()
}
