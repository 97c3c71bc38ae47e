//! Indexes: the values that selectors compare, extracted when a document is stored.
use std::borrow::Cow;

use crate::{
    kind::model::Path,
    schema::{Document, fingerprint},
};

/// The selectable fields of a version.
pub(crate) struct Indexes {
    paths: Vec<Path>,
    fingerprint: u64,
}

impl Indexes {
    /// Indexes the fields at these paths.
    pub(crate) fn new(selectable: &[Path]) -> Self {
        let texts: Vec<String> = selectable.iter().map(|path| path.0.join("\0")).collect();
        Self { paths: selectable.to_vec(), fingerprint: fingerprint::texts(texts.iter().map(String::as_str)) }
    }

    /// The number of fields.
    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    /// A hash of the paths: values with the same hash belong to the same fields.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The text of each selectable field for field selectors; empty if it is absent.
    pub(crate) fn values<'d>(&self, document: &'d Document) -> impl Iterator<Item = Cow<'d, str>> {
        self.paths.iter().map(|path| path.of(document).map_or(Cow::Borrowed(""), text))
    }
}

/// The labels of an object.
pub(crate) fn labels(document: &Document) -> impl Iterator<Item = (&str, &str)> {
    let labels = document.get("metadata").and_then(|metadata| metadata.get("labels")).and_then(Document::as_object);
    labels.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
}

fn text(value: &Document) -> Cow<'_, str> {
    match value {
        Document::String(text) => Cow::Borrowed(text),
        Document::Bool(value) => value.to_string().into(),
        Document::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.to_string().into(),
            (None, Some(double)) => double.to_string().into(),
            (None, None) => number.to_string().into(),
        },
        Document::Null | Document::Array(_) | Document::Object(_) => Cow::Borrowed(""),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_and_fields_are_extracted() {
        let indexes = Indexes::new(&[
            Path::from("spec.color"),
            Path::from("spec.size"),
            Path::from("status.phase"),
            Path::from("type"),
        ]);
        let document = json!({
            "metadata": {"annotations": {"labels": "no"}, "labels": {"a": "1", "b": "2", "odd": 3}, "name": "x"},
            "spec": {"color": "Red", "nested": {"color": "no"}, "size": 7, "list": [{"color": "no"}]}, "type": true,
        });
        assert_eq!(labels(&document).collect::<Vec<_>>(), [("a", "1"), ("b", "2")]);
        assert_eq!(indexes.values(&document).collect::<Vec<_>>(), ["Red", "7", "", "true"]);
    }

    #[test]
    fn what_stands_where_an_object_is_looked_for_is_skipped() {
        let indexes = Indexes::new(&[Path::from("spec.color.deep")]);
        for value in [json!(1), json!("x"), json!(null), json!([1]), json!(1.5), json!(true), json!({"color": [{}]})] {
            let document = json!({"metadata": {"name": "x", "labels": value}, "spec": value});
            assert_eq!(indexes.values(&document).collect::<Vec<_>>(), [""], "{value}");
            assert_eq!(labels(&document).count(), 0, "{value}");
        }
    }

    #[test]
    fn lists_of_paths_have_fingerprints_of_their_own() {
        let lists: [&[Path]; 7] = [
            &[],
            &[Path::from("a")],
            &[Path::from("a.b")],
            &[Path::from("a"), Path::from("b")],
            &[Path::from("b"), Path::from("a")],
            &[Path(vec!["a.b".to_owned()])],
            &[Path::from("ab")],
        ];
        let mut found: Vec<_> = lists.iter().map(|list| Indexes::new(list).fingerprint()).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), lists.len());
    }
}
