//! Conversions lose nothing for random documents of both versions, and report what they cannot convert.
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::{
    ApiType, ObjectMeta, Resource,
    kind::{Kind, convert::run, model::Path},
    meta::GroupVersion,
    schema::{self, fixture},
    testing::documents,
};

mod places;

#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", status)]
struct Book {
    metadata: ObjectMeta,
    spec: BookSpec,
    status: Option<BookStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookSpec {
    author: String,
    place: Option<Place>,
    #[api(default = 1, minimum = 0)]
    copies: i32,
    first: Option<i32>,
    second: Option<i32>,
    #[serde(default)]
    #[api(list = map(key = name))]
    chapters: Vec<Chapter>,
    rights: Option<Rights>,
    holder: Option<String>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    shelf: Option<String>,
    #[api(default = 2)]
    floor: i32,
    near: Option<Near>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Near {
    door: Option<bool>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Chapter {
    name: String,
    #[api(default = 3)]
    pages: i32,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Rights {
    owner: Option<String>,
    #[api(default = 70)]
    years: i32,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookStatus {
    lent: Option<i32>,
}

#[derive(Resource, Clone, Debug)]
#[resource(version = "v1beta1", storage = Book, status, deprecated)]
#[resource(convert(
    renamed(spec.writer = spec.author, spec.first = spec.second, spec.second = spec.first),
    moved(spec.shelf = spec.place.shelf, spec.old.holder = spec.holder),
    moved(spec.terms = spec.rights, spec.terms.holder = spec.rights.owner),
    moved(status.out = status.lent),
    added(spec.place.floor, spec.place.near, spec.copies),
    removed(spec.note, spec.weight, spec.old.years),
))]
struct OldBook {
    metadata: ObjectMeta,
    spec: OldSpec,
    status: Option<OldStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldSpec {
    writer: String,
    shelf: Option<String>,
    first: Option<i32>,
    second: Option<i32>,
    note: Option<String>,
    #[api(default = 300)]
    weight: i32,
    #[serde(default)]
    #[api(list = map(key = name))]
    chapters: Vec<Chapter>,
    terms: Option<Terms>,
    old: Option<Old>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Terms {
    holder: Option<String>,
    #[api(default = 70)]
    years: i32,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Old {
    holder: Option<String>,
    #[api(default = 5)]
    years: i32,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct OldStatus {
    out: Option<i32>,
}

fn conversion<T: Resource>() -> (Kind, std::sync::Arc<dyn Convert>) {
    let kind = T::kind();
    let conversion = kind.binding.conversion.clone().expect("a version that is not stored");
    (kind, conversion)
}

/// The normalized form of a document written in a version.
fn settled(kind: &Kind, mut document: Document) -> Document {
    schema::prune(&kind.version.schema, &mut document);
    schema::default(&kind.version.schema, &mut document, &schema::Meter::default()).unwrap();
    schema::normalise(&kind.version.schema, &mut document);
    document
}

/// Random objects of a kind, some of them with an annotation.
fn objects(kind: &Kind, seed: u64) -> impl Iterator<Item = Document> {
    documents(kind, seed).take(3_000).enumerate().map(|(index, mut document)| {
        for name in ["apiVersion", "kind"] {
            document.as_object_mut().and_then(|fields| fields.remove(name));
        }
        if index % 2 == 0 {
            document["metadata"]["annotations"] = json!({"example.com/mine": "1"});
        }
        document
    })
}

#[test]
fn documents_read_and_written_back_are_unchanged() {
    let (here, conversion) = conversion::<OldBook>();
    let stored = Book::kind();
    for document in objects(&stored, 1) {
        let mut read = conversion.read(document.clone()).expect("it can be read");
        assert_eq!(schema::prune(&here.version.schema, &mut read), [], "{read:#}");
        assert_eq!(settled(&here, read.clone()), read, "nothing is left to fill in");
        let written = settled(&stored, conversion.write(read.clone()).expect("it can be written"));
        assert_eq!(written, document, "through {read:#}");
    }
}

#[test]
fn written_documents_are_read_unchanged() {
    let (here, conversion) = conversion::<OldBook>();
    let stored = Book::kind();
    for document in objects(&here, 2) {
        let mut written = conversion.write(document.clone()).expect("it can be written");
        assert_eq!(schema::prune(&stored.version.schema, &mut written), [], "{written:#}");
        let written = settled(&stored, written);
        let mut read = conversion.read(written.clone()).expect("it can be read");
        schema::prune(&here.version.schema, &mut read);
        assert_eq!(read, document, "through {written:#}");
    }
}

#[test]
fn annotations_keep_only_values_that_would_be_lost() {
    let (_, conversion) = conversion::<OldBook>();
    let spec = json!({"author": "A", "copies": 1, "chapters": [], "place": {"shelf": "s", "floor": 2}});
    let read = conversion.read(json!({"metadata": {"name": "a"}, "spec": spec})).expect("it can be read");
    let spec = json!({"writer": "A", "shelf": "s", "chapters": [], "weight": 300});
    assert_eq!(read, json!({"metadata": {"name": "a"}, "spec": spec}));

    let spec = json!({"author": "A", "copies": 4, "place": {"floor": 2, "near": {}}});
    let read = conversion.read(json!({"metadata": {"name": "a"}, "spec": spec})).expect("it can be read");
    let annotations = json!({
        "library.example.com/v1.spec.copies": "4",
        "library.example.com/v1.spec.place.near": "{}",
    });
    assert_eq!(read["metadata"]["annotations"], annotations, "the floor comes back with what is beside it");

    let spec = json!({"writer": "A", "note": "n\"", "weight": 300});
    let written = conversion.write(json!({"metadata": {"name": "a"}, "spec": spec})).expect("it can be written");
    let annotations = json!({"library.example.com/v1beta1.spec.note": "\"n\\\"\""});
    assert_eq!(written["metadata"]["annotations"], annotations);
}

#[test]
fn an_annotation_that_was_removed_gives_the_default() {
    let (_, conversion) = conversion::<OldBook>();
    let stored = json!({"metadata": {"name": "a"}, "spec": {"author": "A", "copies": 4}});
    let mut read = conversion.read(stored).expect("it can be read");
    read["metadata"].as_object_mut().and_then(|metadata| metadata.remove("annotations")).expect("the copies");
    let written = conversion.write(read).expect("it can be written");
    assert_eq!(written["spec"], json!({"author": "A", "copies": 1}));
}

#[test]
fn an_annotation_is_validated_like_the_field() {
    let (_, conversion) = conversion::<OldBook>();
    let key = "library.example.com/v1.spec.copies";
    for (text, why) in
        [("x", "not the JSON of spec.copies"), ("-1", "greater than or equal to 0"), ("\"1\"", "integer")]
    {
        let document = json!({"metadata": {"name": "a", "annotations": {key: text}}, "spec": {"writer": "A"}});
        let error = conversion.write(document).expect_err("it is no number of copies");
        assert!(error.contains(key) && error.contains(why), "{error}");
    }
    // Readers of this version do not depend on the other version's annotations.
    let key = "library.example.com/v1beta1.spec.note";
    let document = json!({"metadata": {"name": "a", "annotations": {key: "x"}}, "spec": {"author": "A"}});
    let read = conversion.read(document).expect("it can be read");
    assert_eq!(read, json!({"metadata": {"name": "a"}, "spec": {"writer": "A", "weight": 300}}));
}

#[test]
fn an_annotation_of_a_field_that_the_version_has_is_dropped() {
    let (_, conversion) = conversion::<OldBook>();
    let annotations = json!({"library.example.com/v1.spec.copies": "9"});
    let document = json!({"metadata": {"name": "a", "annotations": annotations}, "spec": {"author": "A", "copies": 1}});
    assert_eq!(conversion.read(document).expect("it can be read")["metadata"], json!({"name": "a"}));
}

/// The errors of changes between specs with these schemas; empty if they are valid.
fn faults(here: Document, stored: Document, changes: &[Change]) -> String {
    let name = |version: &str| GroupVersion { group: "example.com".to_owned(), version: version.to_owned() };
    let schema = |spec: Document| fixture::schema(&object(&json!({"spec": spec})));
    let (here, stored) = (schema(here), schema(stored));
    let (v1, v2) = (name("v1"), name("v2"));
    let (here, stored) = (Version { name: &v1, schema: &here }, Version { name: &v2, schema: &stored });
    DeclaredConversion::new(here, stored, changes).err().unwrap_or_default()
}

fn object(properties: &Document) -> Document {
    json!({"type": "object", "properties": properties})
}

fn renamed(here: &str, stored: &str) -> Change {
    Change::Renamed(here.into(), stored.into())
}

#[test]
fn differences_that_no_change_covers_are_named() {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let one = || object(&json!({"a": text, "b": text}));
    assert_eq!(faults(one(), one(), &[]), "");
    assert_eq!(
        faults(one(), object(&json!({"a": text, "c": text})), &[]),
        "only example.com/v1 has the field spec.b; declare `removed(spec.b)`, or where it is else; \
         only example.com/v2 has the field spec.c; declare `added(spec.c)`, or where it is else"
    );
    assert_eq!(faults(one(), object(&json!({"a": text, "c": text})), &[renamed("spec.b", "spec.c")]), "");
    assert_eq!(
        faults(one(), object(&json!({"a": text, "c": number})), &[renamed("spec.b", "spec.c")]),
        "spec.b of example.com/v1 and spec.c of example.com/v2 have different types; write the conversion in Rust"
    );
    let twice = [Change::Removed(Path::from("spec.b")), Change::Removed(Path::from("spec.b"))];
    assert_eq!(
        faults(one(), object(&json!({"a": text})), &twice),
        "two changes name the field spec.b of example.com/v1"
    );
    let gone = [Change::Added(Path::from("spec.x"))];
    assert_eq!(faults(one(), one(), &gone), "example.com/v2 has no field spec.x");
}

#[test]
fn changes_that_lead_nowhere_or_lose_something_are_named() {
    let text = json!({"type": "string"});
    let one = || object(&json!({"a": text, "b": text}));
    let list = |items: Document| object(&json!({"a": {"type": "array", "items": items}}));
    assert_eq!(
        faults(list(one()), list(object(&json!({"a": text}))), &[]),
        "only example.com/v1 has the field spec.a.*.b, and changes do not lead into lists and maps; \
         write the conversion in Rust"
    );
    let nested = object(&json!({"a": text, "in": object(&json!({"b": text, "c": text}))}));
    assert_eq!(
        faults(one(), nested, &[renamed("spec.b", "spec.in.b")]),
        "only example.com/v2 has the field spec.in.c; declare `added(spec.in.c)`, or where it is else"
    );
    let crossing = [renamed("spec.in", "spec.on"), renamed("spec.b", "spec.on.c")];
    assert_eq!(
        faults(
            object(&json!({"b": text, "in": object(&json!({"d": text}))})),
            object(&json!({"on": object(&json!({"c": text, "d": text}))})),
            &crossing
        ),
        "spec.b goes into spec.on, which is spec.in in example.com/v1; write the conversion in Rust"
    );
    let demanding = json!({"type": "object", "properties": {"a": text, "b": text}, "required": ["a"]});
    assert_eq!(
        faults(one(), demanding.clone(), &[]),
        "spec.a is required in example.com/v2, and an object in example.com/v1 may have no spec.a; \
         write the conversion in Rust"
    );
    let removed = [Change::Removed(Path::from("spec.a"))];
    assert_eq!(
        faults(demanding, object(&json!({"b": text})), &removed),
        "spec.a is required in example.com/v1, and objects that come from example.com/v2 have none; \
         write the conversion in Rust"
    );
    let long = "x".repeat(70);
    let fault = faults(
        object(&json!({long.as_str(): text})),
        object(&json!({})),
        &[Change::Removed(Path(vec!["spec".to_owned(), long]))],
    );
    assert!(fault.contains("cannot be kept in the annotation") && fault.ends_with("in Rust"), "{fault}");
}

#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1")]
struct Poem {
    metadata: ObjectMeta,
    spec: PoemSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct PoemSpec {
    author: String,
}

#[derive(Resource, Clone, Debug)]
#[resource(version = "v1alpha1", storage = Poem, unserved, deprecated = "write v1", convert = from)]
struct FirstPoem {
    metadata: ObjectMeta,
    spec: FirstPoemSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct FirstPoemSpec {
    authors: Vec<String>,
}

impl TryFrom<FirstPoem> for Poem {
    type Error = String;

    fn try_from(first: FirstPoem) -> Result<Self, String> {
        let [author] = first.spec.authors.try_into().map_err(|authors: Vec<_>| format!("{} authors", authors.len()))?;
        let mut metadata = first.metadata;
        metadata.labels.insert("from".to_owned(), "v1alpha1".to_owned());
        metadata.name = "another".to_owned();
        Ok(Self { metadata, spec: PoemSpec { author } })
    }
}

impl From<Poem> for FirstPoem {
    fn from(poem: Poem) -> Self {
        Self { metadata: poem.metadata, spec: FirstPoemSpec { authors: vec![poem.spec.author] } }
    }
}

#[test]
fn a_conversion_in_rust_changes_labels_and_annotations_and_no_other_metadata() {
    let (kind, conversion) = conversion::<FirstPoem>();
    assert_eq!((kind.version.served, kind.version.deprecated.as_deref()), (false, Some("write v1")));
    assert_eq!((kind.names().kind.as_str(), kind.names().plural.as_str()), ("Poem", "poems"));
    let metadata = json!({"name": "a", "x": [1], "managedFields": [{"manager": "m", "unknown": 1}]});
    let document = json!({"metadata": metadata, "spec": {"authors": ["A"]}});
    let written = run(document, |document| conversion.write(document)).expect("it can be written");
    let mut expected = metadata.clone();
    expected["labels"] = json!({"from": "v1alpha1"});
    assert_eq!(written["metadata"], expected);
    assert_eq!(written["spec"]["author"], "A");
    let read = run(written, |document| conversion.read(document)).expect("it can be read");
    assert_eq!(read, json!({"metadata": expected, "spec": {"authors": ["A"]}}));
    let error = conversion.write(json!({"metadata": metadata, "spec": {"authors": []}})).expect_err("no author");
    assert_eq!(error, "0 authors");
}

#[test]
fn a_version_has_the_settings_of_the_storage_version() {
    let kind = OldBook::kind();
    assert_eq!(kind.group_version.to_string(), "library.example.com/v1beta1");
    assert_eq!(kind.version.deprecated.as_deref(), Some("library.example.com/v1beta1 Book is deprecated"));
    assert_eq!(
        (kind.shared.prefix(), kind.names().list_kind.clone()),
        (Book::kind().shared.prefix(), "BookList".to_owned())
    );
    assert!(
        kind.version.served && Book::kind().binding.conversion.is_none() && Book::kind().version.deprecated.is_none()
    );
}
