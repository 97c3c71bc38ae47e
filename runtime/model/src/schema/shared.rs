//! Equal schemas once in memory. Definitions repeat most of their schemas: in each of their versions, and those of one
//! project in each of its kinds.
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use super::{Document, Pattern, Schema};

/// The shared schemas that are in use, by a hash. Schemas that are no longer in use are removed from time to time.
static ALL: LazyLock<Mutex<All>> = LazyLock::new(Mutex::default);

/// The number of schemas up to which none are removed.
const FEW: usize = 1_024;

/// With how many schemas of the same hash one is compared at most.
const MOST_COMPARED: usize = 16;

#[derive(Default)]
struct All {
    by_hash: HashMap<u64, Vec<Weak<Schema>>>,
    /// The number of entries, including schemas that are no longer in use.
    count: usize,
    /// How many were in use when they were last counted.
    used: usize,
}

/// A schema, which equal ones have in common. The schemas below it are to be shared first: then each is compared with few.
pub(crate) fn shared(schema: Schema) -> Arc<Schema> {
    let hash = hash_of(&schema);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let known = all.by_hash.get(&hash).into_iter().flat_map(|known| known.iter().rev().take(MOST_COMPARED));
    if let Some(known) = known.filter_map(Weak::upgrade).find(|known| **known == schema) {
        return known;
    }
    let schema = Arc::new(schema);
    all.by_hash.entry(hash).or_default().push(Arc::downgrade(&schema));
    all.count += 1;
    if all.count > FEW.max(2 * all.used) {
        all.by_hash.retain(|_, known| {
            known.retain(|schema| schema.strong_count() > 0);
            !known.is_empty()
        });
        all.count = all.by_hash.values().map(Vec::len).sum();
        all.used = all.count;
    }
    schema
}

/// A hash of the keywords that most schemas differ in. Of the schemas below it is where they are, since they are shared.
fn hash_of(schema: &Schema) -> u64 {
    let mut hasher = DefaultHasher::new();
    (schema.kind as u8, &schema.format, &schema.description, &schema.name, &schema.required).hash(&mut hasher);
    for (name, property) in &schema.properties {
        (name, std::ptr::from_ref(property)).hash(&mut hasher);
    }
    [&schema.items, &schema.additional].map(|below| below.as_ref().map(Arc::as_ptr)).hash(&mut hasher);
    schema.pattern.as_ref().map(Pattern::text).hash(&mut hasher);
    // Texts that errors repeat are no part of equality, but schemas with different ones are not shared.
    (schema.preserve_unknown, schema.nullable, schema.enumeration.len(), schema.either as u8).hash(&mut hasher);
    let counts = [
        (schema.min_length, schema.max_length),
        (schema.min_items, schema.max_items),
        (schema.min_properties, schema.max_properties),
    ];
    let numbers = [schema.minimum, schema.maximum, schema.multiple_of].map(|limit| limit.map(f64::to_bits));
    let limits = counts.into_iter().flat_map(|(least, most)| [least, most]).chain(numbers);
    for (keyword, limit) in limits.enumerate().filter(|(_, limit)| limit.is_some()) {
        (keyword, limit).hash(&mut hasher);
    }
    schema.default.as_ref().and_then(Document::as_str).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::model::Type;

    fn text(description: &str) -> Arc<Schema> {
        shared(Schema { kind: Type::String, description: description.to_owned(), ..Schema::default() })
    }

    fn list(items: Arc<Schema>, maximum: u64) -> Arc<Schema> {
        shared(Schema { kind: Type::Array, items: Some(items), max_items: Some(maximum), ..Schema::default() })
    }

    #[test]
    fn equal_schemas_are_one_and_others_are_not() {
        let lists = [list(text("a"), 1), list(text("a"), 1), list(text("b"), 1), list(text("a"), 2)];
        assert!(Arc::ptr_eq(&lists[0], &lists[1]));
        assert!(Arc::ptr_eq(lists[0].items.as_ref().unwrap(), lists[3].items.as_ref().unwrap()));
        assert!(lists[2..].iter().all(|other| **other != *lists[0]));
        let object = |name: &str, schema: &Arc<Schema>| {
            shared(Schema { properties: [(name.to_owned(), schema.clone())].into(), ..Schema::default() })
        };
        assert!(Arc::ptr_eq(&object("x", &lists[0]), &object("x", &lists[1])));
        assert!(!Arc::ptr_eq(&object("x", &lists[0]), &object("y", &lists[0])));
        assert!(!Arc::ptr_eq(&object("x", &lists[0]), &object("x", &lists[2])));
    }

    #[test]
    fn schemas_out_of_use_take_no_memory() {
        for n in 0..100 * FEW {
            text(&format!("used once: {n}"));
        }
        // Other tests share schemas at the same time.
        assert!(ALL.lock().unwrap().count < 50 * FEW);
    }
}
