//! Carrying over: a program stores an object that a newer version of it has written, with fields that the older schema does not
//! know. They stay, as far as what they are in stays.
use std::collections::HashMap;

use super::{
    At, Document, Schema,
    correlate::{Keys, keys_of},
    prune::pruned,
};

/// Adds the fields of a stored object that the schema does not know to the object's new state. Returns true if there were any.
///
/// Fields of structs stay with the struct, entries of maps with their key, and those of an item of a map list with the item's
/// keys. Items of other lists have no identity: their fields stay if the list is otherwise unchanged.
pub fn carry_over(schema: &Schema, stored: &Document, new: &mut Document) -> bool {
    walk(At::object(schema), stored, new)
}

fn walk(at: At<'_>, stored: &Document, new: &mut Document) -> bool {
    match (stored, new) {
        _ if at.is_anything() => false,
        (Document::Object(stored), Document::Object(new)) => {
            let mut carried = false;
            for (name, value) in stored {
                match (at.field(name), new.get_mut(name)) {
                    (Some(below), Some(new)) => carried |= walk(below, value, new),
                    (Some(_), None) => {}
                    (None, _) => {
                        new.insert(name.clone(), value.clone());
                        carried = true;
                    }
                }
            }
            carried
        }
        (Document::Array(stored), Document::Array(new)) => {
            if let Some(keys) = at.keys() {
                return walk_items(at.item(), keys, stored, new);
            }
            let is_same = |(old, new): (&Document, &Document)| pruned(at.item(), old) == *new;
            let unchanged = stored.len() == new.len() && stored.iter().zip(new.iter()).all(is_same);
            unchanged && stored.iter().zip(new).fold(false, |carried, (old, new)| walk(at.item(), old, new) | carried)
        }
        _ => false,
    }
}

/// Carries over in the items of a map list. Of items with the same keys, the first counts.
fn walk_items(at: At<'_>, keys: &[String], stored: &[Document], new: &mut [Document]) -> bool {
    let by_keys: HashMap<Keys<'_>, &Document> = stored.iter().rev().map(|item| (keys_of(keys, item), item)).collect();
    let mut carried = false;
    for item in new {
        let old = by_keys.get(&keys_of(keys, item)).copied();
        carried |= old.is_some_and(|old| walk(at, old, item));
    }
    carried
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::fixture::schema;

    fn check(stored: &Document, new: &Document, expected: &Document) {
        let schema = schema(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"},
                "parts": {
                    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}},
                },
                "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
                "map": {"type": "object", "additionalProperties": {
                    "type": "object", "properties": {"n": {"type": "integer"}},
                }},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }},
        }}));
        let (stored, mut new) = (json!({"spec": stored}), json!({"spec": new}));
        let carried = carry_over(&schema, &stored, &mut new);
        assert_eq!(new["spec"], *expected);
        let mut known = stored.clone();
        assert_eq!(carried, !crate::schema::prune(&schema, &mut known).is_empty() && stored != known && new != known);
    }

    #[test]
    fn unknown_fields_stay_with_what_they_are_in() {
        check(&json!({"size": 1, "tint": {"r": 1}}), &json!({"size": 2}), &json!({"size": 2, "tint": {"r": 1}}));
        let maps = json!({"map": {"a": {"n": 1, "x": 1}, "b": {"n": 2, "x": 2}}});
        check(&maps, &json!({"map": {"a": {"n": 9}}}), &json!({"map": {"a": {"n": 9, "x": 1}}}));
    }

    #[test]
    fn items_of_map_lists_keep_theirs_and_removed_ones_lose_them() {
        let stored = json!({"parts": [{"name": "a", "n": 1, "x": 1}, {"name": "b", "x": 2}]});
        let new = json!({"parts": [{"name": "c"}, {"name": "a", "n": 5}]});
        check(&stored, &new, &json!({"parts": [{"name": "c"}, {"name": "a", "n": 5, "x": 1}]}));
    }

    #[test]
    fn items_of_other_lists_keep_theirs_while_the_list_is_unchanged() {
        let stored = json!({"size": 1, "list": [{"n": 1, "x": 1}, {"n": 2}]});
        let kept = json!({"size": 2, "list": [{"n": 1, "x": 1}, {"n": 2}]});
        check(&stored, &json!({"size": 2, "list": [{"n": 1}, {"n": 2}]}), &kept);
        let changed = json!({"list": [{"n": 2}, {"n": 1}]});
        check(&json!({"list": [{"n": 1}, {"n": 2}]}), &changed, &changed);
    }

    #[test]
    fn fields_that_the_schema_keeps_are_the_writers() {
        check(&json!({"free": {"x": 1}}), &json!({"free": {"y": 1}}), &json!({"free": {"y": 1}}));
    }
}
