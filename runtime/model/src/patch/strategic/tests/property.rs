//! Any difference between any two documents of any schema, said as a patch, leads from the one to the other.
use std::collections::BTreeMap;

use proptest::{prelude::*, sample::subsequence};
use serde_json::{Map, json};

use super::{super::apply, diff::diff};
use crate::{
    patch::PatchError,
    schema::{
        Document, Schema,
        fixture::documents,
        model::{PatchStrategy, Type},
    },
};

const KEY: &str = "id";

/// A schema, and what two documents of it may be.
#[derive(Clone, Debug)]
enum Shape {
    Text,
    Number,
    /// Fields that are merged; if the flag says so, only named keys are kept.
    Struct(BTreeMap<String, Shape>, bool),
    Map(Box<Shape>),
    /// Replaced as a whole.
    List(Box<Shape>),
    /// Merged as a set.
    Set,
    /// Merged by key; the flag as with structs.
    Keyed(BTreeMap<String, Shape>, bool),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![Just(Shape::Text), Just(Shape::Number), Just(Shape::Set)];
    leaf.prop_recursive(4, 30, 5, |inner| {
        let fields = || prop::collection::btree_map("[a-e]", inner.clone(), 0..5);
        prop_oneof![
            3 => (fields(), any::<bool>()).prop_map(|(fields, retain)| Shape::Struct(fields, retain)),
            3 => (fields(), any::<bool>()).prop_map(|(fields, retain)| Shape::Keyed(fields, retain)),
            1 => inner.clone().prop_map(|values| Shape::Map(Box::new(values))),
            1 => inner.clone().prop_map(|items| Shape::List(Box::new(items))),
        ]
    })
}

fn schema(shape: &Shape) -> Schema {
    let fields =
        |fields: &BTreeMap<String, Shape>| fields.iter().map(|(name, at)| (name.clone(), schema(at))).collect();
    let strategy =
        |merge, retain_keys, key: Option<&str>| PatchStrategy { merge, retain_keys, merge_key: key.map(str::to_owned) };
    match shape {
        Shape::Text => Schema { kind: Type::String, ..Schema::default() },
        Shape::Number => Schema { kind: Type::Integer, ..Schema::default() },
        Shape::Struct(at, retain) => Schema {
            kind: Type::Object,
            properties: fields(at),
            patch: strategy(false, *retain, None),
            ..Schema::default()
        },
        Shape::Map(values) => {
            Schema { kind: Type::Object, additional: Some(schema(values).into()), ..Schema::default() }
        }
        Shape::List(items) => Schema { kind: Type::Array, items: Some(schema(items).into()), ..Schema::default() },
        Shape::Set => Schema {
            kind: Type::Array,
            items: Some(schema(&Shape::Text).into()),
            patch: strategy(true, false, None),
            ..Schema::default()
        },
        Shape::Keyed(at, retain) => Schema {
            kind: Type::Array,
            items: Some(Schema { kind: Type::Object, properties: fields(at), ..Schema::default() }.into()),
            patch: strategy(true, *retain, Some(KEY)),
            ..Schema::default()
        },
    }
}

/// Documents of a shape. `$` and `null` mean something to patches and are left out.
fn values(shape: &Shape) -> BoxedStrategy<Document> {
    match shape {
        Shape::Text => "[a-c]{0,2}".prop_map(Document::from).boxed(),
        Shape::Number => (-2i64..3).prop_map(Document::from).boxed(),
        Shape::Struct(fields, _) => structs(fields).prop_map(Document::Object).boxed(),
        Shape::Map(values_of) => prop::collection::btree_map("[a-c]", values(values_of), 0..4)
            .prop_map(|entries| entries.into_iter().collect())
            .boxed(),
        Shape::List(items) => prop::collection::vec(values(items), 0..4).prop_map(Document::from).boxed(),
        Shape::Set => subsequence(vec!["a", "b", "c", "d", "e"], 0..=5).prop_shuffle().prop_map(Document::from).boxed(),
        Shape::Keyed(fields, _) => {
            let items = prop::collection::vec(structs(fields), 6);
            (subsequence((0..6).collect::<Vec<i64>>(), 0..=6).prop_shuffle(), items)
                .prop_map(|(keys, mut items)| {
                    let keyed = |key: i64| {
                        let mut item = items.pop().unwrap_or_default();
                        item.insert(KEY.to_owned(), json!(key));
                        Document::Object(item)
                    };
                    keys.into_iter().map(keyed).collect()
                })
                .boxed()
        }
    }
}

fn structs(fields: &BTreeMap<String, Shape>) -> BoxedStrategy<Map<String, Document>> {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, at)| {
            prop::option::of(values(at)).prop_map({
                let name = name.clone();
                move |value| value.map(|value| (name.clone(), value))
            })
        })
        .collect();
    fields.prop_map(|fields| fields.into_iter().flatten().collect()).boxed()
}

/// A schema and three documents of it.
fn cases() -> impl Strategy<Value = (Shape, Document, Document, Document)> {
    let roots = prop::collection::btree_map("[a-e]", shapes(), 1..6).prop_map(|fields| Shape::Struct(fields, false));
    roots.prop_flat_map(|root| {
        let documents = values(&root);
        (Just(root), documents.clone(), documents.clone(), documents)
    })
}

/// Any patch, most of it directives.
fn patches() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(json!("replace")),
        Just(json!("delete")),
        Just(json!("merge")),
        Just(Document::Null),
        Just(json!([])),
        "[a-c]".prop_map(Document::from),
        (0i64..6).prop_map(Document::from),
    ];
    let names = prop_oneof![
        4 => "[a-e]",
        3 => Just(KEY.to_owned()),
        2 => Just("$patch".to_owned()),
        1 => Just("$retainKeys".to_owned()),
        2 => "\\$setElementOrder/[a-e]",
        2 => "\\$deleteFromPrimitiveList/[a-e]",
        1 => "\\$(setElementOrder|deleteFromPrimitiveList)[a/]?",
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Document::from),
            prop::collection::btree_map(names.clone(), inner, 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_patch_made_of_the_differences_leads_there((shape, from, to, other) in cases()) {
        let root = schema(&shape);
        let patch = diff(&root, &from, &to).expect("documents of the schema");
        prop_assert_eq!(&apply(&root, &from, &patch), &Ok(to.clone()), "{}", &patch);
        prop_assert_eq!(&apply(&root, &to, &patch), &Ok(to.clone()), "a second time {}", &patch);
        prop_assert_eq!(diff(&root, &to, &to), Ok(json!({})));
        // On an object that has moved on, the patch still applies, and again changes nothing the second time.
        let moved = apply(&root, &other, &patch).expect("a patch that fits the schema");
        prop_assert_eq!(apply(&root, &moved, &patch), Ok(moved), "{}", patch);
    }

    #[test]
    fn any_patch_is_applied_or_refused((shape, document, _, _) in cases(), patch in patches()) {
        let before = document.clone();
        match apply(&schema(&shape), &document, &patch) {
            Ok(result) => prop_assert!(result.is_object()),
            Err(PatchError::Malformed(_) | PatchError::TooLarge(_)) => prop_assert!(false, "not an error of this patch"),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        prop_assert_eq!(document, before);
    }

    #[test]
    fn documents_of_any_form_are_met_safely((shape, _, _, _) in cases(), document in documents(), patch in patches()) {
        let _ = apply(&schema(&shape), &document, &patch);
        let _ = diff(&schema(&shape), &document, &patch);
    }
}
