//! Indexes: the values that selectors compare, extracted when a document is stored.
use std::borrow::Cow;

use crate::{
    kind::{Kind, model::Path},
    schema::{At, Document, fingerprint, model::Type},
};

/// The selectable fields of a version.
pub(crate) struct Indexes {
    fields: Vec<Field>,
    fingerprint: u64,
}

/// A selectable field.
struct Field {
    path: Path,
    /// Its text in an object without it.
    absent: &'static str,
}

impl Indexes {
    /// Indexes the selectable fields of a kind. An absent one has the text of the type's zero value if the kind is compiled
    /// into kube-apiserver, whose types always have a value there.
    pub(crate) fn new(kind: &Kind) -> Self {
        let is_typed = kind.policy().decodes_into_types();
        let field = |path: &Path| {
            let at = path.0.iter().try_fold(At::of(&kind.version.schema), |at, name| at.property(name));
            let absent = match at.filter(|_| is_typed).map(|at| at.kind) {
                Some(Type::Boolean) => "false",
                Some(Type::Integer) => "0",
                _ => "",
            };
            Field { path: path.clone(), absent }
        };
        Self::of(kind.version.selectable.iter().map(field).collect())
    }

    /// The fields at these paths, with nothing for absent ones.
    #[cfg(test)]
    pub(crate) fn of_paths(paths: &[Path]) -> Self {
        Self::of(paths.iter().map(|path| Field { path: path.clone(), absent: "" }).collect())
    }

    fn of(fields: Vec<Field>) -> Self {
        let text = |Field { path, absent }: &Field| {
            let path = path.0.join("\0");
            if absent.is_empty() { path } else { format!("{path}\0\0{absent}") }
        };
        let texts: Vec<String> = fields.iter().map(text).collect();
        Self { fields, fingerprint: fingerprint::texts(texts.iter().map(String::as_str)) }
    }

    /// The number of fields.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A hash of the paths and of what absent fields have: values with the same hash belong to the same fields.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The text of each selectable field for field selectors.
    pub(crate) fn values<'d>(&self, document: &'d Document) -> impl Iterator<Item = Cow<'d, str>> {
        self.fields.iter().map(|Field { path, absent }| path.of(document).map_or(Cow::Borrowed(*absent), text))
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
    use crate::{
        Resource,
        kind::{Custom, Described, Policy, model::Version},
        schema::Schema,
        widget::Widget,
    };

    #[test]
    fn absent_fields_have_the_zero_of_their_type_in_kinds_of_kubernetes_alone() {
        let of = |kind| Schema::of(kind);
        let spec = of(Type::Object).with(|spec| {
            let fields =
                [("on", Type::Boolean), ("count", Type::Integer), ("name", Type::String), ("list", Type::Array)];
            spec.properties = fields.map(|(name, kind)| (name.to_owned(), of(kind))).into();
        });
        let schema = of(Type::Object).with(|schema| schema.properties = [("spec".to_owned(), spec)].into());
        let paths = ["spec.on", "spec.count", "spec.name", "spec.list", "status.unknown"].map(Path::from);
        let indexes = |policy: &'static dyn Policy| {
            Indexes::new(&Widget::kind().with(|_, version, binding| {
                *version = Version { selectable: paths.to_vec(), ..Version::new("v1", schema.clone()) };
                binding.policy = policy;
            }))
        };
        let (typed, custom) = (indexes(&Described), indexes(&Custom));
        for absent in [json!({}), json!({"spec": {}}), json!({"spec": {"on": null}})] {
            assert_eq!(typed.values(&absent).collect::<Vec<_>>(), ["false", "0", "", "", ""], "{absent}");
            assert_eq!(custom.values(&absent).collect::<Vec<_>>(), [""; 5], "{absent}");
        }
        let given = json!({"spec": {"on": true, "count": 5, "name": "n", "list": [1]}});
        for indexes in [&typed, &custom] {
            assert_eq!(indexes.values(&given).collect::<Vec<_>>(), ["true", "5", "n", "", ""]);
        }
        assert_ne!(typed.fingerprint(), custom.fingerprint(), "stored values are those of one of them");
    }

    #[test]
    fn labels_and_fields_are_extracted() {
        let indexes = Indexes::of_paths(&[
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
        let indexes = Indexes::of_paths(&[Path::from("spec.color.deep")]);
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
        let mut found: Vec<_> = lists.iter().map(|list| Indexes::of_paths(list).fingerprint()).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), lists.len());
    }
}
