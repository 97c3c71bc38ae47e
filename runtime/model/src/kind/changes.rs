//! The part of a stored object that a write may change, as data: endpoints contain it, and the verbs enforce it for
//! every write.
use std::mem;

use super::model::Path;
use crate::schema::{At, Document, Schema};

/// The part of a stored object that writes through an endpoint may change. No endpoint changes the metadata that the
/// server sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Everything except the values at these paths.
    AllBut(Vec<Path>),
    /// Only the value at this path, not even metadata.
    Only(Path),
}

impl Changes {
    /// Resets the parts that a write may not change to those of `base`, the object before the write, or null.
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

    /// The paths that a write may not change, including metadata's if it changes none of that. The writer never owns
    /// fields below them.
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
    fn parts_that_a_write_may_not_change_are_restored() {
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
    fn a_missing_parent_is_created_only_for_a_value() {
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
