//! Lists of typed objects.
use super::{Object, backend::Items, typed::decode_json};
use crate::meta::object::ListMeta;

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
pub struct InvalidObject {
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The decoding error.
    pub reason: String,
}

impl<K: Object> List<K> {
    pub(super) fn of(Items { metadata, objects }: Items) -> Self {
        let (mut items, mut invalid) = (Vec::with_capacity(objects.size_hint().0), Vec::new());
        for object in objects {
            match object.and_then(|json| decode_json(&json)) {
                Ok(item) => items.push(item),
                Err(object) => invalid.push(object),
            }
        }
        Self { metadata, items, invalid }
    }
}
