//! The value that a patch gives to a field that the object lacks.
use super::{DELETE_FROM_LIST, DIRECTIVE, RETAIN_KEYS, SET_ORDER};
use crate::schema::Document;

/// The value without parts that only have a meaning in patches: fields that are `null`, directives, and objects with
/// the directive `$patch`. Returns `None` if the value itself is an object with `$patch`.
///
/// kube-apiserver leaves some directives in, as unknown fields that are dropped later.
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

/// The items that contain no directive.
pub(super) fn list(items: &[Document]) -> Vec<Document> {
    items.iter().filter_map(value).collect()
}

fn is_directive(name: &str) -> bool {
    let prefixed = |prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
    name == RETAIN_KEYS || prefixed(SET_ORDER) || prefixed(DELETE_FROM_LIST)
}
