//! Tests of the helpers for tests of kinds.
use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{make::MOST_VALUES, *};
use crate::{
    ApiType, ByteString, ObjectMeta, Resource,
    kind::{
        Convert,
        model::Path,
        resource::{ConversionDecl, ResourceDecl, StorageDecl},
    },
    schema::{Meter, declare::TypeDecl, fixture, validate},
};

/// A kind of which other types claim to be the type.
#[derive(Resource, Clone, Debug)]
#[serde(rename_all = "camelCase")]
#[resource(group = "example.com", version = "v1", builtin)]
struct ConfigMap {
    metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    data: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    binary_data: BTreeMap<String, ByteString>,
    immutable: Option<bool>,
}

/// A type with the declaration of another type, so that the two may disagree.
macro_rules! claims_to_be_a_config_map {
    ($name:ident { $($fields:tt)* }) => {
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct $name {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            $($fields)*
        }
        impl ApiType for $name {
            type Inner = Self;
            const DECLARATION: &'static TypeDecl = ConfigMap::DECLARATION;
            const NESTING: usize = ConfigMap::NESTING;
        }
        impl Resource for $name {
            type Scope = crate::kind::resource::Namespaced;
            const RESOURCE: &'static ResourceDecl = ConfigMap::RESOURCE;
        }
    };
}

claims_to_be_a_config_map!(Demanding {
    data: BTreeMap<String, String>,
    #[serde(default)]
    binary_data: BTreeMap<String, String>,
    #[serde(default)]
    immutable: Option<bool>,
});
claims_to_be_a_config_map!(Forgetful {
    #[serde(default)]
    binary_data: BTreeMap<String, String>,
    #[serde(default)]
    immutable: Option<bool>,
});
claims_to_be_a_config_map!(Inventive {
    #[serde(default)]
    data: BTreeMap<String, String>,
    #[serde(default)]
    binary_data: BTreeMap<String, String>,
    #[serde(default)]
    immutable: Option<bool>,
    #[serde(default)]
    invented: bool,
});

#[test]
#[should_panic(
    expected = "the schema of ConfigMap accepts a document that the type does not decode: missing field `data`"
)]
fn a_type_that_requires_more_than_its_schema_is_found() {
    schema_and_type_agree::<Demanding>();
}

#[test]
#[should_panic(expected = "decodes a document and encodes another: data is another")]
fn a_type_that_loses_a_field_is_found() {
    schema_and_type_agree::<Forgetful>();
}

#[test]
#[should_panic(expected = "the schema does not know the field invented")]
fn a_type_that_writes_a_field_unknown_to_its_schema_is_found() {
    schema_and_type_agree::<Inventive>();
}

#[derive(Resource, Clone, Debug)]
#[resource(group = "example.com", version = "v1")]
struct Gear {
    metadata: ObjectMeta,
    spec: GearSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct GearSpec {
    #[api(default = 12)]
    teeth: i32,
    metal: Option<String>,
}

/// A version whose conversion to and from [`Gear`] a test defines.
macro_rules! version_of_gear {
    ($name:ident, $from:expr, $to:expr) => {
        struct $name;
        impl ApiType for $name {
            type Inner = Self;
            const DECLARATION: &'static TypeDecl = Gear::DECLARATION;
            const NESTING: usize = Gear::NESTING;
        }
        impl Resource for $name {
            type Scope = crate::kind::resource::Namespaced;
            const RESOURCE: &'static ResourceDecl = &ResourceDecl {
                version: "v1beta1",
                storage: Some(StorageDecl {
                    resource: Gear::RESOURCE,
                    root: Gear::DECLARATION,
                    conversion: ConversionDecl::Typed(|| Arc::new(Written($to, $from))),
                }),
                ..*Gear::RESOURCE
            };
        }
    };
}

type Step = fn(Document) -> Result<Document, String>;

struct Written(Step, Step);

impl Convert for Written {
    fn write(&self, document: Document) -> Result<Document, String> {
        self.0(document)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        self.1(document)
    }
}

fn without(path: &str, mut document: Document) -> Document {
    Path::from(path).put(&mut document, None);
    document
}

version_of_gear!(Faithful, Ok, Ok);
version_of_gear!(LosesWhenRead, |document| Ok(without("spec.metal", document)), Ok);
version_of_gear!(LosesWhenWritten, Ok, |document| Ok(without("spec.teeth", document)));
version_of_gear!(LosesLabels, |document| Ok(without("metadata.labels", document)), Ok);
version_of_gear!(RefusesAll, Ok, |_| Err("closed".to_owned()));
version_of_gear!(RefusesSome, Ok, |document| {
    if document["spec"]["metal"].is_null() { Err("no metal".to_owned()) } else { Ok(document) }
});

#[test]
fn a_conversion_that_loses_nothing_or_refuses_some_objects_passes() {
    conversion_loses_nothing::<Faithful>();
    conversion_loses_nothing::<RefusesSome>();
}

#[test]
#[should_panic(expected = "Gear loses spec.metal on the way from example.com/v1 through example.com/v1beta1")]
fn a_conversion_that_loses_a_field_when_it_reads_is_found() {
    conversion_loses_nothing::<LosesWhenRead>();
}

#[test]
#[should_panic(expected = "Gear loses spec.teeth on the way from")]
fn a_conversion_that_loses_a_field_when_it_writes_is_found() {
    conversion_loses_nothing::<LosesWhenWritten>();
}

#[test]
#[should_panic(expected = "Gear loses metadata.labels[example.com/kept] on the way from")]
fn a_conversion_that_loses_labels_is_found() {
    conversion_loses_nothing::<LosesLabels>();
}

/// Has the fields of [`Gear`], which the derive's own test checks.
#[derive(Resource, Clone, Debug)]
#[resource(version = "v1alpha2", storage = Gear)]
struct SameGear {
    metadata: ObjectMeta,
    spec: GearSpec,
}

#[derive(Resource, Clone, Debug)]
#[resource(version = "v1alpha1", storage = Gear, convert = none)]
struct PlainGear {
    metadata: ObjectMeta,
    spec: PlainGearSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct PlainGearSpec {
    #[api(default = 12)]
    teeth: i32,
}

#[test]
#[should_panic(expected = "Gear loses spec.metal on the way from example.com/v1 through example.com/v1alpha1")]
fn a_version_without_a_conversion_that_misses_a_field_is_found() {
    conversion_loses_nothing::<PlainGear>();
}

#[test]
#[should_panic(expected = "no Gear could be converted from example.com/v1 to example.com/v1beta1 and back: closed")]
fn a_conversion_that_refuses_everything_is_found() {
    conversion_loses_nothing::<RefusesAll>();
}

#[test]
fn documents_are_accepted_repeatable_and_of_many_forms() {
    let schema = fixture::widget();
    let make = || {
        let mut maker = Maker::new(7);
        (0..300).map(|_| accepted(&mut maker, &fixture::widget())).collect::<Vec<_>>()
    };
    let found = make();
    assert_eq!(make(), found);
    for document in &found {
        assert_eq!(validate(&schema, document, &Meter::default()).unwrap(), [], "{document}");
    }
    let some = |path: &str, holds: fn(&Document) -> bool| {
        let any = found.iter().filter_map(|document| document.pointer(path)).any(holds);
        assert!(any, "no document with the {path} that was looked for");
    };
    some("/spec/size", |size| size == 1);
    some("/spec/size", |size| size == 100);
    some("/spec/code", |code| code.as_str().is_some_and(|code| code.len() > 4));
    some("/spec/ports/1/protocol", |protocol| protocol == "UDP");
    some("/spec/args/4", Document::is_string);
    some("/spec/options", |options| options == &json!({}));
    some("/status/observedGeneration", |generation| generation == i64::MAX);
    assert!(found.iter().any(|document| document.get("status").is_none()));
}

fn count(document: &Document) -> usize {
    1 + match document {
        Document::Object(fields) => fields.values().map(count).sum(),
        Document::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// A struct with forty fields, each of which is the struct again, and one that it requires.
fn bushy() -> Schema {
    let again = json!({"type": "object", "definition": 0});
    let mut fields: Map<String, Document> = (0..40).map(|number| (format!("field{number}"), again.clone())).collect();
    fields.insert("list".to_owned(), json!({"type": "array", "items": again}));
    fields.insert("name".to_owned(), json!({"type": "string"}));
    let bush = json!({"type": "object", "title": "Bush", "properties": fields, "required": ["name"]});
    fixture::schema(&json!({"type": "object", "definitions": [bush], "properties": {"spec": again, "status": again}}))
}

#[test]
fn documents_of_recursive_types_are_bounded_and_have_all_their_fields() {
    let schema = bushy();
    let mut maker = Maker::new(1);
    let found: Vec<_> = (0..50).map(|_| accepted(&mut maker, &schema)).collect();
    let largest = found.iter().map(count).max().expect("some documents");
    // Each struct that is begun has its required field, and a change adds a few values.
    assert!((MOST_VALUES / 2..2 * MOST_VALUES).contains(&largest), "{largest}");
    let large = found.iter().filter(|document| ["spec", "status"].iter().all(|name| count(&document[name]) > 400));
    assert!(large.count() > 5, "the first field takes all values");
}

#[test]
fn texts_match_their_patterns() {
    let mut random = random::Random::new(1);
    for text in [
        "^[A-Z]{2}-[0-9]+$",
        "^(a|bc|[^d])*x?$",
        r"^\d{1,3}(\.\d{1,3}){3}$",
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "",
        r"^\w+ \S$",
    ] {
        let pattern = regex::Regex::new(text).expect("a pattern");
        for _ in 0..50 {
            let made = pattern::text(&mut random, text).expect("a text");
            assert!(pattern.is_match(&made), "{made:?} does not match {text}");
        }
    }
}

#[test]
fn random_numbers_stay_within_their_ends() {
    let mut random = random::Random::new(3);
    for _ in 0..100 {
        assert!((-2..=2).contains(&random.between(-2, 2)));
        random.between(i64::MIN, i64::MAX);
    }
    assert_eq!(random.between(5, 5), 5);
}

#[test]
fn documents_and_examples_meet_the_rules_of_their_kind() {
    let ruled = |rules: serde_json::Value| {
        let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": {
            "type": "object", "required": ["min", "max"], "x-kubernetes-validations": rules,
            "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}}},
        }}});
        let schema = crate::schema::keywords::read(&schema).unwrap();
        ConfigMap::kind().with(|_, version, _| version.schema = Arc::new(schema))
    };
    let kind = ruled(
        json!([{"rule": "self.min <= self.max"}, {"rule": "!has(self.names) || self.names.all(x, self.names.exists_one(y, x == y))"}]),
    );
    assert!(documents(&kind, 1).take(100).all(|document| meets_rules(&kind, &document)));
    assert!(meets_rules(&kind, &example(&kind).unwrap()));
    let kind = ruled(json!([{"rule": "self.min == 123456789"}]));
    assert!(documents(&kind, 1).take(2).all(|document| !meets_rules(&kind, &document)) && example(&kind).is_some());
}
