//! What a patch says of a field that the object does not have yet.
use super::{DELETE_FROM_LIST, DIRECTIVE, RETAIN_KEYS, SET_ORDER};
use crate::schema::Document;

/// The value without what only a patch says: fields that are `null`, directives, and all of an object that holds the
/// directive `$patch`. Gives nothing where the value itself is one.
///
/// kube-apiserver leaves some directives in, as fields that no kind knows and that are dropped after.
pub(super) fn value(change: &Document) -> Option<Document> {
    match change {
        Document::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Document::Object(fields) => {
            let kept = fields.iter().filter(|(name, field)| !field.is_null() && !is_directive(name));
            Some(kept.filter_map(|(name, field)| Some((name.clone(), value(field)?))).collect())
        }
        Document::Array(items) => Some(Document::Array(list(items))),
        scalar => Some(scalar.clone()),
    }
}

/// The items without those that hold a directive.
pub(super) fn list(items: &[Document]) -> Vec<Document> {
    items.iter().filter_map(value).collect()
}

fn is_directive(name: &str) -> bool {
    let prefixed = |prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
    name == RETAIN_KEYS || prefixed(SET_ORDER) || prefixed(DELETE_FROM_LIST)
}
