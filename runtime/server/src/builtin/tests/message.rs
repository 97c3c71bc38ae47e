//! Types and the server must encode the same objects to the same bytes, and decode each other's.
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

use kindsmith_model::message::{
    OpenError, open,
    prost::{self, Message as _},
    seal,
};

use crate::{
    ApiType, Message, Resource,
    builtin::{ConfigMap, Event, Lease, Namespace, Secret, ServiceAccount},
    codec::{self, Limits, protobuf},
    meta::{
        ByteString, Condition, IntOrString, LabelSelector, MicroTime, ObjectMeta, ObjectReference, OwnerReference,
        Quantity, RawJson, Time,
    },
    schema::Document,
    testing,
};

/// A kind with every type of field.
#[derive(crate::Resource, Message, Clone, Debug, Default, PartialEq)]
#[resource(group = "message.example.com", version = "v1", status)]
struct Sample {
    #[api(proto = 1)]
    metadata: ObjectMeta,
    #[api(proto = 2)]
    spec: SampleSpec,
    #[api(proto = 3)]
    status: Option<SampleStatus>,
}

#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SampleSpec {
    #[api(proto = 30)]
    text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    skipped: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 3)]
    maybe: Option<String>,
    #[api(proto = 4)]
    count: i32,
    #[api(proto = 5)]
    long: Option<i64>,
    #[api(proto = 6)]
    on: bool,
    #[api(proto = 7)]
    colour: Colour,
    #[api(proto = 8)]
    bytes: ByteString,
    #[api(proto = 9)]
    at: Option<Time>,
    #[api(proto = 10)]
    exactly: Option<MicroTime>,
    #[api(proto = 11)]
    size: Quantity,
    #[api(proto = 12)]
    port: Option<IntOrString>,
    #[api(proto = 13)]
    raw: Option<RawJson>,
    #[api(proto = 14)]
    tags: Vec<String>,
    #[api(proto = 15)]
    numbers: Vec<i64>,
    #[api(proto = 16)]
    grid: Vec<Vec<i32>>,
    #[api(proto = 17)]
    by_name: BTreeMap<String, Part>,
    #[api(proto = 18)]
    words: HashMap<String, Vec<String>>,
    #[api(proto = 19)]
    parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 20)]
    selector: Option<LabelSelector>,
    #[api(proto = 21)]
    probe: Option<Probe>,
    #[api(proto = 22)]
    probes: Vec<Probe>,
    #[serde(default)]
    #[api(proto = 23)]
    reference: ObjectReference,
    #[api(proto = 24)]
    boxed: Box<Part>,
    #[api(proto = 25)]
    sizes: BTreeMap<String, Quantity>,
    #[api(proto = 26)]
    colours: Vec<Colour>,
}

#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Part {
    #[api(proto = 1)]
    name: String,
    #[serde(default)]
    #[api(proto = 2)]
    pages: i32,
}

#[derive(ApiType, Message, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Colour {
    #[default]
    Red,
    #[serde(rename = "dark-green")]
    Green,
}

#[derive(ApiType, Message, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Probe {
    #[api(proto = 1)]
    Part(Part),
    #[api(proto = 3)]
    Http {
        #[api(proto = 2)]
        path: String,
        #[api(proto = 1)]
        port: Option<i32>,
    },
}

#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SampleStatus {
    #[api(proto = 1, observed)]
    ratio: f64,
    #[serde(default)]
    #[api(proto = 2, list = map(key = kind))]
    conditions: Vec<Condition>,
}

/// Metadata with every field set, and with extreme times.
fn metadata() -> ObjectMeta {
    let text = |text: &str| text.to_owned();
    ObjectMeta {
        name: text("n"),
        generation: 3,
        creation_timestamp: Some("2024-01-01T00:00:00Z".parse().expect("a time")),
        deletion_timestamp: Some("1969-12-31T23:59:59Z".parse().expect("a time")),
        deletion_grace_period_seconds: Some(0),
        labels: [(text("b"), text("")), (text("a"), text("x"))].into(),
        owner_references: vec![OwnerReference { uid: text("u"), controller: Some(false), ..OwnerReference::default() }],
        finalizers: vec![text("f"), text("")],
        managed_fields: vec![crate::meta::ManagedFieldsEntry {
            manager: text("m"),
            fields_v1: Some(json!({"f:spec": {".": {}}}).into()),
            ..crate::meta::ManagedFieldsEntry::default()
        }],
        ..ObjectMeta::default()
    }
}

/// Checks that the server's encoding of a typed object equals the type's own, and that each decodes the other's.
fn assert_same<T>(object: &T, messages: &protobuf::Message)
where
    T: Resource + prost::Message + Default + Serialize + DeserializeOwned + PartialEq + fmt::Debug,
{
    let document = codec::from_typed(object).expect("a document");
    let (ours, mut theirs) = (object.encode_to_vec(), Vec::new());
    messages.encode(&document, &mut theirs).expect("a message");
    assert_eq!(ours.escape_ascii().to_string(), theirs.escape_ascii().to_string(), "{document}");
    assert_eq!(ours.len(), object.encoded_len());
    assert_eq!(T::decode(theirs.as_slice()).as_ref(), Ok(object), "{document}");
    let read = messages.decode(&ours, &Limits::default()).expect("a document");
    assert_eq!(serde_json::from_value::<T>(read.clone()).expect("the type"), *object, "{read}");
}

fn check<T>(with_metadata: impl Fn(&mut T, ObjectMeta))
where
    T: Resource + prost::Message + Default + Serialize + DeserializeOwned + PartialEq + fmt::Debug,
{
    let kind = T::kind();
    let messages = protobuf::Message::of_object(&kind.version.schema).expect("numbers");
    for document in testing::documents(&kind, 0x7072_6f74).take(300) {
        let mut object: T =
            serde_json::from_value(document.clone()).expect("what the schema accepts, the type decodes");
        assert_same(&object, &messages);
        with_metadata(&mut object, metadata());
        assert_same(&object, &messages);
        as_documents(&document, &messages);
    }
    // Schema defaults differ from Rust's, so this one is not decoded back into a document.
    let (empty, mut theirs) = (T::default(), Vec::new());
    messages.encode(&codec::from_typed(&empty).expect("a document"), &mut theirs).expect("a message");
    assert_eq!(empty.encode_to_vec(), theirs);
    assert_eq!(T::decode(theirs.as_slice()), Ok(empty));
}

/// Values that a message cannot hold are lost in the first round. Further rounds must change nothing.
fn as_documents(document: &Document, messages: &protobuf::Message) {
    let mut first = Vec::new();
    messages.encode(document, &mut first).expect("a message");
    let read = messages.decode(&first, &Limits::default()).expect("a document");
    let mut second = Vec::new();
    messages.encode(&read, &mut second).expect("a message");
    assert_eq!(first.escape_ascii().to_string(), second.escape_ascii().to_string(), "{document}");
}

#[test]
fn built_in_kinds_are_the_servers_bytes() {
    check::<ConfigMap>(|object, metadata| object.metadata = metadata);
    check::<Event>(|object, metadata| object.metadata = metadata);
    check::<Lease>(|object, metadata| object.metadata = metadata);
    check::<Namespace>(|object, metadata| object.metadata = metadata);
    check::<Secret>(|object, metadata| object.metadata = metadata);
    check::<ServiceAccount>(|object, metadata| object.metadata = metadata);
}

#[test]
fn a_declared_kind_is_the_servers_bytes() {
    check::<Sample>(|object, metadata| object.metadata = metadata);
}

#[test]
fn envelopes_name_their_type() {
    let map = ConfigMap { metadata: ObjectMeta::named("m"), ..ConfigMap::default() };
    let body = seal(&map);
    assert_eq!(open::<ConfigMap>(&body).expect("a ConfigMap"), map);
    assert!(matches!(open::<Lease>(&body), Err(OpenError::Type(wanted, found))
        if wanted == "coordination.k8s.io/v1 Lease" && found == "v1 ConfigMap"));
    assert!(matches!(open::<ConfigMap>(b"{}"), Err(OpenError::Envelope(_))));
    let broken = protobuf::seal("v1", "ConfigMap", b"\x0a\x7f");
    assert!(matches!(open::<ConfigMap>(&broken), Err(OpenError::Message(_))));
}

#[test]
fn a_value_that_a_type_cannot_hold_is_refused_with_its_path() {
    let refused = |spec: &[u8]| {
        let mut message = vec![0x12, u8::try_from(spec.len()).expect("short")];
        message.extend_from_slice(spec);
        Sample::decode(message.as_slice()).expect_err("no message").to_string()
    };
    let why = refused(b"\x3a\x04blue");
    assert!(why.contains("Sample.spec") && why.contains("SampleSpec.colour") && why.contains("\"blue\""), "{why}");
    assert!(refused(b"\x5a\x05\x0a\x03abc").contains("SampleSpec.size"), "a quantity");
    assert!(refused(b"\x6a\x03\x0a\x01{").contains("SampleSpec.raw"), "raw JSON");
    let skipped = b"\x08\x01\xc0\x3e\x07\x12\x01s";
    let spec = SampleSpec::decode(&skipped[2..]).expect("unknown fields are skipped");
    assert_eq!(spec.skipped, "s");
}
