//! What of a stored object a write may change, as data: an endpoint carries it, and the verbs hold every write to it,
//! whoever made the change.
use std::mem;

use super::model::Path;
use crate::schema::{At, Document, Schema};

/// What of a stored object the writes through an endpoint may change. No endpoint changes the fields of
/// metadata that the server sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Everything but the values at these paths.
    AllBut(Vec<Path>),
    /// The value at this path and nothing else, not even metadata.
    Only(Path),
}

impl Changes {
    /// Resets what a write may not change to what it is in `base`: the object before the write, or null where there is none.
    pub fn confine(&self, document: &mut Document, base: &Document) {
        match self {
            Self::AllBut(paths) => {
                for path in paths {
                    path.put(document, path.at(base).cloned());
                }
            }
            Self::Only(path) => {
                let mut written = mem::replace(document, base.clone());
                path.put(document, path.take(&mut written));
            }
        }
    }

    /// The paths of what a write may not change, metadata's among them where that is all of it. No field below them comes to
    /// be owned by the writer.
    pub fn reset<'p>(&'p self, schema: &'p Schema) -> Vec<Vec<&'p str>> {
        match self {
            Self::AllBut(paths) => paths.iter().map(|path| path.0.iter().map(String::as_str).collect()).collect(),
            Self::Only(path) => {
                let mut beside = vec![vec!["metadata"]];
                let mut at = Some(At::of(schema));
                for (depth, name) in path.0.iter().enumerate() {
                    let above = || path.0[..depth].iter().map(String::as_str);
                    let others = at.into_iter().flat_map(At::properties).filter(|(other, _)| *other != name);
                    beside.extend(others.map(|(other, _)| above().chain([other.as_str()]).collect()));
                    at = at.and_then(|at| at.property(name));
                }
                beside
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::fixture::schema;

    #[test]
    fn what_a_write_may_not_change_is_as_it_was() {
        let old =
            json!({"metadata": {"name": "a"}, "spec": {"finalizers": ["x"], "size": 1}, "status": {"phase": "Old"}});
        let new = json!({"metadata": {"name": "b"}, "spec": {"finalizers": [], "size": 2}, "more": true});
        let confined = |changes: &Changes, base: &Document| {
            let mut document = new.clone();
            changes.confine(&mut document, base);
            document
        };
        let main = Changes::AllBut(vec![Path::from("status")]);
        let mut expected = new.clone();
        assert_eq!(confined(&main, &Document::Null), expected, "nothing is there yet");
        expected["status"] = old["status"].clone();
        assert_eq!(confined(&main, &old), expected);
        let mut expected = old.clone();
        expected["spec"]["finalizers"] = json!([]);
        assert_eq!(confined(&Changes::Only(Path::from("spec.finalizers")), &old), expected);
        expected = old.clone();
        expected.as_object_mut().unwrap().remove("status");
        assert_eq!(confined(&Changes::Only(Path::from("status")), &old), expected, "taken away");
    }

    #[test]
    fn a_missing_parent_is_made_for_a_value_and_not_for_none() {
        let only = Changes::Only(Path::from("spec.replicas"));
        let mut document = json!({"spec": {"replicas": 3}});
        only.confine(&mut document, &json!({"metadata": {}}));
        assert_eq!(document, json!({"metadata": {}, "spec": {"replicas": 3}}));
        let mut document = json!({});
        only.confine(&mut document, &json!({"metadata": {}}));
        assert_eq!(document, json!({"metadata": {}}));
    }

    #[test]
    fn fields_beside_the_one_that_may_change_are_reset() {
        let text = json!({"type": "string"});
        let schema = schema(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"finalizers": text, "size": text}},
            "status": {"type": "object", "properties": {"phase": text}},
        }}));
        let reset = |changes: Changes| {
            changes.reset(&schema).into_iter().map(|path| path.join(".")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(reset(Changes::AllBut(vec![Path::from("status")])), "status");
        assert_eq!(reset(Changes::AllBut(Vec::new())), "");
        assert_eq!(reset(Changes::Only(Path::from("status"))), "metadata spec");
        assert_eq!(reset(Changes::Only(Path::from("spec.finalizers"))), "metadata status spec.size");
    }
}
