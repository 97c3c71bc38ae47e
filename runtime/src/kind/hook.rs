//! Adapters between a kind's hooks, which work on its Rust type, and the server, which works on documents.
//!
//! Only the changes that a hook makes are applied: the document is decoded, the hook runs, the type is encoded before
//! and after, and the difference is applied. Fields that the type does not know are kept.
use serde::{Serialize, de::DeserializeOwned};

use super::binding::{DocumentHooks, HookContext};
use crate::{
    auth::User,
    meta::FieldError,
    schema::{Document, declare::checks::Cell},
};

/// The request that a hook runs in.
#[derive(Debug)]
pub struct Context<'a, T> {
    /// The object before the request; `None` on creation. An error means that the type cannot decode it, because it was
    /// stored when the type was different. A write that fixes such an object is validated, but `default` hooks do not
    /// run for it, because the change is unknown.
    pub old: Option<Result<T, String>>,
    /// The requesting user.
    pub user: &'a User,
    /// True if nothing will be stored.
    pub dry_run: bool,
    /// The written subresource, such as `status`; empty for the object itself.
    pub subresource: &'a str,
}

impl<T> Context<'_, T> {
    /// The object before the request, if there is one that the type can decode.
    pub fn old(&self) -> Option<&T> {
        self.old.as_ref()?.as_ref().ok()
    }
}

fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, String> {
    T::deserialize(document).map_err(|e| e.to_string())
}

fn encode<T: Serialize>(value: &T) -> Result<Document, String> {
    serde_json::to_value(value).map_err(|e| e.to_string())
}

fn typed<'a, T: DeserializeOwned>(context: &HookContext<'a>) -> Context<'a, T> {
    let HookContext { old, user, dry_run, subresource } = *context;
    Context { old: old.map(decode), user, dry_run, subresource }
}

/// A default hook as declared.
pub type Default<T> = fn(&mut T, &Context<'_, T>);
/// A validate hook as declared.
pub type Validate<T> = fn(&T, &Context<'_, T>) -> Vec<FieldError>;

/// The hooks that a kind's attributes name.
pub struct Functions<T> {
    default: Option<Default<T>>,
    validate: Option<Validate<T>>,
    generate_name: Option<fn(&T, &str) -> String>,
    on_delete: Option<fn(&mut T)>,
    holds_deletion: Option<fn(&T) -> bool>,
}

impl<T> Functions<T> {
    /// None of them.
    pub const NONE: Self =
        Self { default: None, validate: None, generate_name: None, on_delete: None, holds_deletion: None };

    /// With a function that fills in what declared defaults cannot say.
    #[must_use]
    pub fn default(self, hook: Default<T>) -> Self {
        Self { default: Some(hook), ..self }
    }

    /// With a function that checks what the schema cannot say.
    #[must_use]
    pub fn validate(self, hook: Validate<T>) -> Self {
        Self { validate: Some(hook), ..self }
    }

    /// With a function that makes a name from a base.
    #[must_use]
    pub fn generate_name(self, hook: fn(&T, &str) -> String) -> Self {
        Self { generate_name: Some(hook), ..self }
    }

    /// With a function that changes an object whose deletion begins.
    #[must_use]
    pub fn on_delete(self, hook: fn(&mut T)) -> Self {
        Self { on_delete: Some(hook), ..self }
    }

    /// With a function that says whether a deleted object is still held.
    #[must_use]
    pub fn holds_deletion(self, hook: fn(&T) -> bool) -> Self {
        Self { holds_deletion: Some(hook), ..self }
    }
}

impl<T: Serialize + DeserializeOwned> DocumentHooks for Functions<T> {
    fn fills_in(&self) -> bool {
        self.default.is_some()
    }

    fn validates(&self) -> bool {
        self.validate.is_some()
    }

    fn fill_in(&self, object: &mut Document, context: &HookContext<'_>) -> Result<(), String> {
        let Some(hook) = self.default else { return Ok(()) };
        let mut value: T = decode(object)?;
        let context = typed(context);
        if matches!(context.old, Some(Err(_))) {
            return Ok(());
        }
        let before = encode(&value)?;
        hook(&mut value, &context);
        apply_difference(object, &before, encode(&value)?);
        Ok(())
    }

    fn validate(&self, object: &Document, context: &HookContext<'_>) -> Result<Vec<FieldError>, String> {
        let Some(hook) = self.validate else { return Ok(Vec::new()) };
        Ok(hook(&decode(object)?, &typed(context)))
    }

    fn generate_name(&self, object: &Document, base: &str) -> Result<Option<String>, String> {
        let Some(hook) = self.generate_name else { return Ok(None) };
        Ok(Some(hook(&decode(object)?, base)))
    }

    /// An object that the type does not decode stays as it is.
    fn on_delete(&self, object: &mut Document) {
        let Some(hook) = self.on_delete else { return };
        let Ok(mut value) = decode::<T>(object) else { return };
        let Ok(before) = encode(&value) else { return };
        hook(&mut value);
        if let Ok(after) = encode(&value) {
            apply_difference(object, &before, after);
        }
    }

    /// One that the type does not decode is not held.
    fn holds_deletion(&self, object: &Document) -> bool {
        self.holds_deletion.is_some_and(|hook| decode(object).is_ok_and(|value| hook(&value)))
    }
}

/// Runs a column's function. A document that the type cannot decode has an empty cell.
pub fn cell<T: DeserializeOwned, R: Cell + Serialize>(document: &Document, function: fn(&T) -> R) -> Document {
    decode(document).and_then(|value| encode(&function(&value))).unwrap_or(Document::Null)
}

/// Applies the difference between two documents to a third one.
pub(crate) fn apply_difference(document: &mut Document, before: &Document, after: Document) {
    if *before == after {
        return;
    }
    match (document, before, after) {
        (Document::Object(document), Document::Object(before), Document::Object(after)) => {
            for key in before.keys().filter(|key| !after.contains_key(*key)) {
                document.remove(key);
            }
            for (key, value) in after {
                match (document.get_mut(&key), before.get(&key)) {
                    (_, Some(old)) if *old == value => {}
                    (Some(at), Some(old)) => apply_difference(at, old, value),
                    _ => {
                        document.insert(key, value);
                    }
                }
            }
        }
        (Document::Array(document), Document::Array(before), Document::Array(after))
            if document.len() == before.len() =>
        {
            *document = items(document, before, after);
        }
        (document, _, after) => *document = after,
    }
}

/// The items of a changed list: an unchanged item keeps its unknown fields wherever it moves, and an item that was
/// changed in place has its difference applied.
fn items(document: &[Document], before: &[Document], after: Vec<Document>) -> Vec<Document> {
    let in_place = before.len() == after.len();
    let item = |(at, value): (usize, Document)| {
        if let Some(same) = before.iter().position(|old| *old == value) {
            return document[if before[at.min(before.len() - 1)] == value { at.min(before.len() - 1) } else { same }]
                .clone();
        }
        if !in_place {
            return value;
        }
        let mut changed = document[at].clone();
        apply_difference(&mut changed, &before[at], value);
        changed
    };
    after.into_iter().enumerate().map(item).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::apply_difference;

    #[test]
    fn fields_that_a_hook_does_not_change_are_kept() {
        let mut document =
            json!({"spec": {"a": 1, "unknown": {"x": 1}, "gone": 1, "list": [{"n": "p", "u": 1}, {"n": "q"}]}});
        let before = json!({"spec": {"a": 1, "gone": 1, "list": [{"n": "p"}, {"n": "q"}]}});
        let after = json!({"spec": {"a": 2, "list": [{"n": "p"}, {"n": "q", "v": 3}], "new": true}});
        apply_difference(&mut document, &before, after);
        let list = json!([{"n": "p", "u": 1}, {"n": "q", "v": 3}]);
        assert_eq!(document, json!({"spec": {"a": 2, "unknown": {"x": 1}, "list": list, "new": true}}));
    }

    #[test]
    fn items_that_moved_keep_their_unknown_fields() {
        let mut document = json!([{"n": "p", "u": 1}, {"n": "q", "u": 2}]);
        let (before, after) = (json!([{"n": "p"}, {"n": "q"}]), json!([{"n": "q"}]));
        apply_difference(&mut document, &before, after);
        assert_eq!(document, json!([{"n": "q", "u": 2}]));
    }
}
