//! For tests of programs that declare kinds: documents generated from a schema, a check that a type and its schema
//! agree, and a check that a conversion between versions loses nothing.
//!
//! ```
//! # extern crate kindsmith_model as kindsmith;
//! use kindsmith::{ApiType, ObjectMeta, Resource, testing};
//! # use serde::{Deserialize, Serialize};
//! # #[derive(Resource, Clone, Debug)]
//! # #[resource(group = "library.example.com", version = "v1")]
//! # pub struct Book { pub metadata: ObjectMeta, pub spec: BookSpec }
//! # #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
//! # pub struct BookSpec { pub genre: String }
//!
//! testing::schema_and_type_agree::<Book>();
//! let books: Vec<_> = testing::documents(&Book::kind(), 1).take(10).collect();
//! assert_eq!((&books[9]["kind"], &books[9]["metadata"]["name"]), (&"Book".into(), &"object-9".into()));
//! ```
use serde_json::{Map, json};

use crate::{
    codec,
    kind::{Kind, model::Scope},
    schema::{self, Document, Meter, Schema, rules::RuleSet},
};

mod agree;
mod conversion;
mod example;
mod make;
mod pattern;
mod random;
mod variant;

#[cfg(test)]
mod tests;

pub use conversion::conversion_loses_nothing;
pub use example::example;
use make::Maker;

/// The number of documents that [`schema_and_type_agree`] checks.
const ROUNDS: u64 = 500;
/// The maximum number of consecutive documents that may fail their schema.
const PATIENCE: usize = 2_000;
/// The number of documents that are made for one that meets the rules of its kind.
const ROUNDS_OF_RULES: usize = 50;

/// An endless sequence of documents that the schema of a kind accepts, with defaults filled in. The same seed gives the
/// same sequence. The names are `object-0`, `object-1` and so on; the namespace is `default`. A document has at most about
/// 2,000 values and nests 32 deep, also where types are recursive.
///
/// Rules in CEL say nothing that documents could be made from: documents that violate them are made again. A document violates the
/// rules of its kind if the next 50 do, too.
///
/// # Panics
/// If no valid document could be generated, because the schema requires too much, such as text that matches a pattern
/// and is also long.
pub fn documents(kind: &Kind, seed: u64) -> impl Iterator<Item = Document> {
    let kind = kind.clone();
    let mut maker = Maker::new(seed);
    (0u64..).map(move |number| {
        let mut document = named(&mut maker, &kind, number);
        for _ in 0..ROUNDS_OF_RULES {
            if meets_rules(&kind, &document) {
                break;
            }
            document = named(&mut maker, &kind, number);
        }
        document
    })
}

/// A whole document that the schema of a kind accepts.
fn named(maker: &mut Maker, kind: &Kind, number: u64) -> Document {
    let mut document = accepted(maker, &kind.version.schema);
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), format!("object-{number}").into());
    if kind.shared.scope == Scope::Namespaced {
        metadata.insert("namespace".to_owned(), "default".into());
    }
    document["apiVersion"] = kind.group_version.to_string().into();
    document["kind"] = kind.names().kind.as_str().into();
    document["metadata"] = metadata.into();
    document
}

/// True if a new object meets the rules of its kind.
fn meets_rules(kind: &Kind, object: &Document) -> bool {
    let evaluated = |rules: &RuleSet| rules.evaluate(object, None, &Meter::default());
    kind.rules().is_none_or(|rules| evaluated(rules).is_ok_and(|outcome| outcome.errors.is_empty()))
}

/// A document that the schema accepts. Some are valid documents with one change that the schema also accepts: there a
/// type and its schema disagree most easily.
fn accepted(maker: &mut Maker, schema: &Schema) -> Document {
    try_accepted(maker, schema, PATIENCE).unwrap_or_else(|last| {
        panic!("the schema accepted none of {PATIENCE} documents; the errors of the last one:\n{last}")
    })
}

/// The same, or the errors of the last document that it refused.
fn try_accepted(maker: &mut Maker, schema: &Schema, patience: usize) -> Result<Document, String> {
    let mut last = String::new();
    for _ in 0..patience {
        let mut document = maker.document(schema).filter(Document::is_object).unwrap_or_else(|| json!({}));
        if maker.random.one_in(2) {
            maker.change(&mut document);
        }
        for reserved in ["apiVersion", "kind", "metadata"] {
            document.as_object_mut().and_then(|fields| fields.remove(reserved));
        }
        let errors = settle(schema, &mut document);
        if errors.is_empty() && document.is_object() {
            return Ok(document);
        }
        last = errors.join("\n");
    }
    Err(last)
}

/// True if objects of the kind are found easily: some schemas contradict themselves, and others ask for what is hardly ever made at
/// random. Such a kind would fail [`schema_and_type_agree`], whatever its type.
pub fn has_documents(kind: &Kind) -> bool {
    let mut maker = Maker::new(0x6b69_6e64);
    (0..20).all(|_| try_accepted(&mut maker, &kind.version.schema, PATIENCE / 20).is_ok())
}

/// Treats a document like the write pipeline, and returns the validation errors.
fn settle(schema: &Schema, document: &mut Document) -> Vec<String> {
    schema::prune(schema, document);
    let meter = Meter::default();
    let filled = schema::default(schema, document, &meter);
    schema::normalise(schema, document);
    match filled.and_then(|()| schema::validate(schema, document, &meter)) {
        Ok(errors) => errors.iter().map(ToString::to_string).collect(),
        Err(exceeded) => vec![exceeded.to_string()],
    }
}

/// Checks that `T` decodes every document that its schema accepts, and that the schema accepts what `T` encodes, with
/// the same meaning.
///
/// Two documents have the same meaning if they differ only in ways that Rust does not distinguish. An omitted field may
/// get the empty value of its Rust type (`[]`, `{}`, `""`, `0`, `false`, `null`), and an empty one may be omitted.
/// Times are compared to the second in any zone, and bytes by their decoded value. A schema default that differs from
/// Rust's empty value must be kept, because omitting it would change it.
///
/// # Panics
/// If the check fails. The message shows the document.
pub fn schema_and_type_agree<T>()
where
    T: crate::Resource + serde::Serialize + serde::de::DeserializeOwned,
{
    type_agrees_with::<T>(&T::kind());
}

/// The same with another number of documents, for tests of many kinds.
///
/// # Panics
/// If the check fails.
#[doc(hidden)]
pub fn schema_and_type_agree_on<T>(documents: u64)
where
    T: crate::Resource + serde::Serialize + serde::de::DeserializeOwned,
{
    agrees_on::<T>(&T::kind(), documents);
}

/// The check of [`schema_and_type_agree`] for the type of a kind that was not derived.
///
/// # Panics
/// If the check fails.
pub fn type_agrees_with<T>(kind: &Kind)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    agrees_on::<T>(kind, ROUNDS);
}

fn agrees_on<T>(kind: &Kind, documents: u64)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let mut maker = Maker::new(0x6b69_6e64);
    for number in 0..documents {
        let document = named(&mut maker, kind, number);
        let decoded: T = match serde_json::from_value(document.clone()) {
            Ok(decoded) => decoded,
            Err(error) => panic!(
                "the schema of {} accepts a document that the type does not decode: {error}\n{document:#}",
                kind.names().kind
            ),
        };
        if let Err(why) = comes_back(kind, &document, &decoded) {
            panic!("{} decodes a document and encodes another: {why}\ndecoded: {document:#}", kind.names().kind);
        }
    }
}

fn comes_back<T: serde::Serialize>(kind: &Kind, document: &Document, decoded: &T) -> Result<(), String> {
    let mut encoded = codec::from_typed(decoded)?;
    let report = |what: &str, encoded: &Document| format!("{what}\nencoded: {encoded:#}");
    for name in ["apiVersion", "kind"] {
        if encoded.get(name) != document.get(name) {
            return Err(report(&format!("{name} is another"), &encoded));
        }
    }
    let unknown = schema::prune(&kind.version.schema, &mut encoded);
    if let Some(field) = unknown.first() {
        return Err(report(&format!("the schema does not know the field {field}"), &encoded));
    }
    let errors = settle(&kind.version.schema, &mut encoded);
    if !errors.is_empty() {
        return Err(report(&format!("the schema refuses it: {}", errors.join("; ")), &encoded));
    }
    match agree::difference(&kind.version.schema, document, &encoded) {
        None => Ok(()),
        Some(path) => Err(report(&format!("{path} is another"), &encoded)),
    }
}
