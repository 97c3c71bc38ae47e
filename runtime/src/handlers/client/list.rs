//! Lists of typed objects.
use super::typed::decode_object;
use crate::{
    cache,
    handlers::Object,
    meta::object::ListMeta,
    verbs::{self, Request},
};

/// The objects of a list, or of one page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct List<K> {
    /// The version of the list, from which a watch can continue, and the token for the next page.
    pub metadata: ListMeta,
    /// The objects, sorted by name.
    pub items: Vec<K>,
    /// Objects that the type cannot decode. They exist, so callers that act on absence must check them, too.
    pub invalid: Vec<InvalidObject>,
}

/// A stored object that its Rust type cannot decode, for example because it was stored when the type was different.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InvalidObject {
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The decoding error.
    pub reason: String,
}

impl<K: Object> List<K> {
    pub(super) fn of(request: &Request, list: verbs::List) -> Self {
        let metadata = ListMeta {
            resource_version: list.revision.to_string(),
            continue_token: list.continue_token.unwrap_or_default(),
            remaining_item_count: list.remaining.and_then(|count| i64::try_from(count).ok()),
        };
        let (mut items, mut invalid) = (Vec::with_capacity(list.items.len()), Vec::new());
        for object in &list.items {
            match decode_object(&request.served, object, list.items.json_bytes()) {
                Ok(item) => items.push(item),
                Err(object) => invalid.push(object),
            }
        }
        Self { metadata, items, invalid }
    }
}

impl InvalidObject {
    pub(super) fn of(object: &cache::Object, reason: String) -> Self {
        Self { namespace: object.namespace().to_owned(), name: object.name().to_owned(), reason }
    }
}
