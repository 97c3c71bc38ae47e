//! The difference that code made to a document, applied to another one.
use crate::schema::Document;

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
