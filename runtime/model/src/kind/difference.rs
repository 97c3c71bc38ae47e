//! The difference that code made to a document, applied to another one, which may have more fields.
//!
//! Items that stay in a list keep the fields that the code does not know. Items of a map list stay as long as their keys do. In
//! other lists, items that are equal before and after stay, wherever they move. If the number of other items stays the
//! same, they are matched in order, as items that were changed. Otherwise it is unknown which was changed, and all are new.
use std::collections::HashMap;

use crate::schema::{At, Document, Schema, keys_of};

/// Applies the difference between two objects, which have this schema, to a third one.
pub fn apply_difference(schema: &Schema, document: &mut Document, before: &Document, after: Document) {
    apply(At::object(schema), document, before, after);
}

fn apply(at: At<'_>, document: &mut Document, before: &Document, after: Document) {
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
                    (Some(item), Some(old)) => {
                        apply(at.field(&key).unwrap_or_else(At::anything), item, old, value);
                    }
                    _ => {
                        document.insert(key, value);
                    }
                }
            }
        }
        (Document::Array(document), Document::Array(before), Document::Array(after))
            if document.len() == before.len() =>
        {
            let counterparts = match at.keys() {
                Some(keys) => by_keys(keys, before, &after),
                None => by_value(before, &after),
            };
            let item = |(value, counterpart): (Document, Option<usize>)| {
                let Some(place) = counterpart else { return value };
                let mut item = document[place].take();
                apply(at.item(), &mut item, &before[place], value);
                item
            };
            *document = after.into_iter().zip(counterparts).map(item).collect();
        }
        (document, _, after) => *document = after,
    }
}

/// The places in a map list of the items with the same keys, each once.
fn by_keys(keys: &[String], before: &[Document], after: &[Document]) -> Vec<Option<usize>> {
    let mut places: HashMap<_, _> =
        before.iter().enumerate().rev().map(|(place, item)| (keys_of(keys, item), place)).collect();
    after.iter().map(|item| places.remove(&keys_of(keys, item))).collect()
}

/// The places in a list of equal items, each once. Other items are matched in order if their number stays the same.
fn by_value(before: &[Document], after: &[Document]) -> Vec<Option<usize>> {
    let first = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let rest = before[first..].iter().rev().zip(after[first..].iter().rev());
    let last = rest.take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (before.len() - last, after.len() - last);
    let mut equal: HashMap<&Document, Vec<usize>> = HashMap::new();
    for place in (first..old_end).rev() {
        equal.entry(&before[place]).or_default().push(place);
    }
    let middle = after[first..new_end].iter().map(|item| equal.get_mut(item)?.pop());
    let mut places: Vec<_> = (0..first).map(Some).chain(middle).chain((old_end..before.len()).map(Some)).collect();
    let mut left: Vec<usize> = equal.into_values().flatten().collect();
    let open: Vec<_> = places.iter_mut().filter(|place| place.is_none()).collect();
    if left.len() == open.len() {
        left.sort_unstable();
        open.into_iter().zip(left).for_each(|(open, place)| *open = Some(place));
    }
    places
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::apply_difference;
    use crate::schema::fixture::schema;

    /// Applies the difference between two lists to one whose items have unknown fields: `u` is the place before.
    fn applied(list_type: &str, before: &Value, after: &Value) -> Value {
        let list = json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": list_type,
            "x-kubernetes-list-map-keys": ["n"]});
        let mut given = before.clone();
        for (place, item) in given.as_array_mut().expect("a list").iter_mut().enumerate() {
            item["u"] = json!(place);
        }
        let object = |list: &Value| json!({"spec": {"list": list}});
        let spec = json!({"type": "object", "properties": {"list": list}});
        let schema = schema(&json!({"type": "object", "properties": {"spec": spec}}));
        let mut document = object(&given);
        apply_difference(&schema, &mut document, &object(before), object(after));
        document["spec"]["list"].take()
    }

    #[test]
    fn fields_that_a_hook_does_not_change_are_kept() {
        let mut document = json!({"spec": {"a": 1, "unknown": {"x": 1}, "gone": 1}});
        let before = json!({"spec": {"a": 1, "gone": 1}});
        let after = json!({"spec": {"a": 2, "new": true}});
        apply_difference(&schema(&json!({"type": "object"})), &mut document, &before, after);
        assert_eq!(document, json!({"spec": {"a": 2, "unknown": {"x": 1}, "new": true}}));
    }

    #[test]
    fn items_of_a_map_list_keep_their_unknown_fields_whatever_changes_around_them() {
        let before = json!([{"n": "p"}, {"n": "q"}, {"n": "r"}]);
        let after = json!([{"n": "s"}, {"n": "r", "v": 1}, {"n": "q", "v": 2}, {"n": "q", "v": 3}]);
        let expected = json!([{"n": "s"}, {"n": "r", "v": 1, "u": 2}, {"n": "q", "v": 2, "u": 1}, {"n": "q", "v": 3}]);
        assert_eq!(applied("map", &before, &after), expected);
    }

    #[test]
    fn items_of_other_lists_keep_their_unknown_fields_if_it_is_known_what_became_of_them() {
        let before = json!([{"n": "p"}, {"n": "q"}, {"n": "r"}]);
        for (after, expected, what) in [
            (json!([{"n": "r"}, {"n": "p"}]), json!([{"n": "r", "u": 2}, {"n": "p", "u": 0}]), "moved"),
            (
                json!([{"n": "s"}, {"n": "p"}, {"n": "q"}, {"n": "r"}]),
                json!([{"n": "s"}, {"n": "p", "u": 0}, {"n": "q", "u": 1}, {"n": "r", "u": 2}]),
                "inserted at the front",
            ),
            (
                json!([{"n": "P"}, {"n": "q"}, {"n": "R"}]),
                json!([{"n": "P", "u": 0}, {"n": "q", "u": 1}, {"n": "R", "u": 2}]),
                "changed in place",
            ),
            (
                json!([{"n": "Q"}, {"n": "r"}]),
                json!([{"n": "Q"}, {"n": "r", "u": 2}]),
                "removed and changed: not the fields of another item",
            ),
            (json!([{"n": "r"}, {"n": "r"}]), json!([{"n": "r"}, {"n": "r", "u": 2}]), "repeated"),
            (json!([]), json!([]), "removed"),
        ] {
            assert_eq!(applied("atomic", &before, &after), expected, "{what}");
        }
    }

    #[test]
    fn long_lists_take_linear_time() {
        let list = |name: &dyn Fn(usize) -> String| (0..100_000).map(|n| json!({"n": name(n)})).collect::<Value>();
        let (before, after) = (list(&|n| format!("{n}")), list(&|n| format!("{}", 99_999 - n)));
        for list_type in ["map", "atomic"] {
            let begun = std::time::Instant::now();
            assert_eq!(applied(list_type, &before, &after)[7]["u"], 99_992);
            assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
        }
    }
}
