//! Tests of messages that are made here, byte by byte. Those recorded of kube-apiserver are tested with the kinds.
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::{
    Scalar, Schema,
    fixture::{form, form_as_said, schema},
    model::Type,
};

mod parts;

/// A field of wire type 2.
fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("short content");
    assert!(length < 0x80 && number < 16, "one byte each");
    [&[number << 3 | 2, length], content].concat()
}

/// A field of wire type 0.
fn number(field: u8, mut value: u64) -> Vec<u8> {
    let mut out = vec![field << 3];
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).expect("seven bits") | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).expect("seven bits"));
    out
}

/// A field that is no container. That of a text's zero is its absence.
fn leaf(number: u32, kind: Type, format: &str) -> Schema {
    let format = (!format.is_empty()).then(|| format.to_owned());
    let zero_is_absent = kind == Type::String && format.is_none();
    Schema { kind, format, protobuf: Some(number), zero_is_absent, ..Schema::default() }
}

/// An item or a value of a map: it has no number.
fn item(schema: Schema) -> Schema {
    Schema { protobuf: None, zero_is_absent: false, ..schema }
}

fn list(number: u32, items: Schema) -> Schema {
    Schema { items: Some(item(items).into()), ..leaf(number, Type::Array, "") }
}

fn map(number: u32, values: Schema) -> Schema {
    Schema { additional: Some(item(values).into()), ..leaf(number, Type::Object, "") }
}

fn structure(fields: Vec<(&str, Schema)>) -> Schema {
    let properties = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    Schema { kind: Type::Object, properties, ..Schema::default() }
}

/// A schema with every type of value.
fn every() -> Schema {
    let point = structure(vec![("x", leaf(1, Type::Integer, "int32")), ("name", leaf(2, Type::String, ""))]);
    structure(vec![
        ("text", leaf(2, Type::String, "")),
        ("yes", leaf(3, Type::Boolean, "")),
        ("count", leaf(4, Type::Integer, "int64")),
        ("ratio", leaf(5, Type::Number, "double")),
        ("raw", leaf(6, Type::String, "byte")),
        ("at", leaf(7, Type::String, "date-time")),
        ("exactly", Schema { scalar: Some(Scalar::MicroTime), ..leaf(8, Type::String, "date-time") }),
        ("port", leaf(9, Type::IntOrString, "")),
        ("size", Schema { scalar: Some(Scalar::Quantity), ..leaf(10, Type::String, "quantity") }),
        ("points", list(11, point.clone())),
        ("numbers", list(12, leaf(0, Type::Integer, "int32"))),
        ("extra", map(13, list(0, leaf(0, Type::String, "")))),
        ("any", leaf(14, Type::Any, "")),
        ("point", Schema { protobuf: Some(15), ..point }),
    ])
}

fn messages() -> Message {
    Message::of_object(&every()).expect("all is numbered")
}

fn read(given: &[Vec<u8>]) -> Result<Document, String> {
    let message = Message::of(&every()).expect("all is numbered");
    message.decode(&given.concat(), &Limits::default()).map_err(|error| error.to_string())
}

#[test]
fn every_type_of_value() {
    let entry = |key: &[u8], value: &[u8]| [bytes(1, key), bytes(2, value)].concat();
    for (given, want) in [
        (bytes(2, "日本".as_bytes()), json!({"text": "日本"})),
        (number(3, 1), json!({"yes": true})),
        (number(3, 0), json!({"yes": false})),
        (number(4, u64::MAX), json!({"count": -1})),
        ([&[5 << 3 | 1][..], &1.5f64.to_le_bytes()].concat(), json!({"ratio": 1.5})),
        ([&[5 << 3 | 5][..], &2f32.to_le_bytes()].concat(), json!({"ratio": 2})),
        (bytes(6, &[0, 1, 255]), json!({"raw": "AAH/"})),
        (bytes(7, &[number(1, 1_704_067_200), number(2, 5_000)].concat()), json!({"at": "2024-01-01T00:00:00Z"})),
        (bytes(7, b""), json!({})),
        (bytes(7, &number(1, 0)), json!({"at": "1970-01-01T00:00:00Z"})),
        (
            bytes(8, &[number(1, 1_704_067_200), number(2, 5_000)].concat()),
            json!({"exactly": "2024-01-01T00:00:00.000005Z"}),
        ),
        (bytes(9, &[number(1, 0), number(2, 80), bytes(3, b"")].concat()), json!({"port": 80})),
        (bytes(9, &[number(1, 1), number(2, 0), bytes(3, b"http")].concat()), json!({"port": "http"})),
        (bytes(10, &bytes(1, b"1500m")), json!({"size": "1500m"})),
        (bytes(13, &entry(b"k", &[bytes(1, b"a"), bytes(1, b"b")].concat())), json!({"extra": {"k": ["a", "b"]}})),
        (bytes(13, &bytes(1, b"k")), json!({"extra": {"k": []}})),
        (bytes(14, &bytes(1, br#"{"a":[1]}"#)), json!({"any": {"a": [1]}})),
    ] {
        assert_eq!(read(std::slice::from_ref(&given)), Ok(want), "{given:?}");
    }
}

#[test]
fn fields_given_again() {
    let point = |x: u64, name: &[u8]| [number(1, x), bytes(2, name)].concat();
    assert_eq!(read(&[bytes(2, b"a"), bytes(2, b"b")]), Ok(json!({"text": "b"})), "the last counts");
    let merged = [bytes(15, &number(1, 1)), bytes(15, &bytes(2, b"n"))];
    assert_eq!(read(&merged), Ok(json!({"point": {"x": 1, "name": "n"}})), "messages are merged");
    let points = [bytes(11, &point(1, b"")), bytes(11, &point(2, b"n"))];
    assert_eq!(read(&points), Ok(json!({"points": [{"x": 1}, {"x": 2, "name": "n"}]})), "lists grow");
    let numbers = [number(12, 1), bytes(12, &[2, 0x80, 1]), number(12, 3)];
    assert_eq!(read(&numbers), Ok(json!({"numbers": [1, 2, 128, 3]})), "packed or not");
}

#[test]
fn what_is_skipped() {
    let group = [vec![1 << 3 | 3, 1 << 3 | 3], bytes(2, b"inner"), vec![1 << 3 | 4, 1 << 3 | 4]].concat();
    let unknown = [number(1, 300), bytes(1, b"x"), vec![1 << 3 | 1; 9], vec![1 << 3 | 5; 5]].concat();
    assert_eq!(read(&[unknown, group, bytes(2, b"t")]), Ok(json!({"text": "t"})));
    assert_eq!(read(&[bytes(2, b""), bytes(15, b"")]), Ok(json!({"point": {}})), "empty and optional");
}

#[test]
fn what_is_refused() {
    for (given, why) in [
        (vec![2 << 3 | 2, 9, b'a'], "unexpected EOF"),
        (vec![2 << 3], "unexpected EOF"),
        ([vec![4 << 3], vec![0xff; 11]].concat(), "proto: integer overflow"),
        (vec![0, 0], "proto: illegal tag 0"),
        (vec![2 << 3 | 7], "proto: illegal wireType 7"),
        (vec![1 << 3 | 4], "proto: illegal wireType 4"),
        (vec![1 << 3 | 3], "unexpected EOF"),
        (number(2, 1), "text: proto: wrong wireType = 0"),
        (bytes(4, b"1"), "count: proto: wrong wireType = 2"),
        (bytes(2, &[0xff]), "text: the text is not UTF-8"),
        (bytes(15, &bytes(1, b"1")), "point.x: proto: wrong wireType = 2"),
        (bytes(7, &number(1, 1 << 60)), "at: the time is not within the years 0 to 9999"),
        ([&[5 << 3 | 1][..], &f64::NAN.to_le_bytes()].concat(), "ratio: the number is infinite or none at all"),
        (bytes(14, &bytes(1, b"{")), "any: unexpected end of JSON input (line 1, column 2)"),
    ] {
        assert_eq!(read(std::slice::from_ref(&given)), Err(why.to_owned()), "{given:?}");
    }
}

/// Small messages that would become large documents, deep ones, and lengths of what is not there.
#[test]
fn bombs_are_refused_at_once() {
    let long = |number: u8, content: &[u8]| {
        let mut out = Vec::new();
        wire::write_bytes(u32::from(number), content, &mut out);
        out
    };
    let megabytes = 3 << 20;
    let points = bytes(11, &number(1, 1)).repeat(megabytes / 4);
    let numbers = long(12, &vec![1; megabytes]);
    for bomb in [points, numbers] {
        let started = std::time::Instant::now();
        let refused = read(std::slice::from_ref(&bomb)).expect_err("a bomb");
        assert!(refused.contains("too many values"), "{refused}");
        assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
    }
    let nested = [b"[".repeat(2_000), b"]".repeat(2_000)].concat();
    assert!(read(&[long(14, &long(1, &nested))]).is_err(), "raw JSON is as deep as other JSON may be");
    let groups = [vec![1 << 3 | 3; megabytes], vec![1 << 3 | 4; megabytes]].concat();
    assert_eq!(read(&[groups]), Ok(json!({})), "groups are skipped, however deep");
    for length in [u64::from(u32::MAX), u64::MAX, 1 << 63] {
        let field = [&[2 << 3 | 2][..], &number(0, length)[1..]].concat();
        assert_eq!(read(&[field]), Err("unexpected EOF".to_owned()));
    }
}

#[test]
fn what_documents_always_have_is_put_back() {
    let chapter = structure(vec![("title", leaf(1, Type::String, "")), ("tags", list(2, leaf(0, Type::String, "")))]);
    let chapter = Schema { required: vec!["title".to_owned(), "tags".to_owned()], ..chapter };
    let book = structure(vec![("chapters", list(1, chapter)), ("extra", map(2, leaf(0, Type::String, "")))]);
    let book = Schema { required: vec!["chapters".to_owned(), "extra".to_owned()], ..book };
    let message = Message::of(&book).expect("numbered");
    let decoded = |given: &[u8]| message.decode(given, &Limits::default());
    assert_eq!(decoded(b""), Ok(json!({"chapters": [], "extra": {}})));
    let whole = json!({"chapters": [{"title": "", "tags": []}], "extra": {}});
    assert_eq!(decoded(&bytes(1, b"")), Ok(whole.clone()), "a required zero that a client left out is there");
    let mut bytes = Vec::new();
    message.encode(&whole, &mut bytes).expect("a message");
    assert_eq!(decoded(&bytes), Ok(whole));
}

#[test]
fn what_cannot_be_written_says_where() {
    let message = Message::of(&every()).expect("numbered");
    let refused = |document: Document| message.encode(&document, &mut Vec::new()).expect_err("no message").to_string();
    for (document, place) in [
        (json!({"text": 1}), "text: "),
        (json!({"points": [{"x": "1"}]}), "points.x: "),
        (json!({"extra": {"k": [1]}}), "extra.k: "),
        (json!({"at": "soon"}), "at: "),
        (json!({"raw": "?"}), "raw: "),
        (json!({"port": 1.5}), "port: "),
        (json!([]), ": "),
    ] {
        let why = refused(document);
        assert!(why.starts_with(place), "{why}");
    }
}

#[test]
fn times_before_1970_count_forward() {
    let message = Message::of(&every()).expect("numbered");
    for at in ["1969-12-31T23:59:59.999999Z", "0000-01-01T00:00:00.000001Z", "9999-12-30T22:00:00.999999Z"] {
        let document = json!({"exactly": at});
        let mut bytes = Vec::new();
        message.encode(&document, &mut bytes).expect("a message");
        assert_eq!(message.decode(&bytes, &Limits::default()), Ok(document));
    }
}

#[test]
fn answers_are_numbered_as_in_the_reference() {
    let fields = include_str!("../../../../../server/src/builtin/tests/protobuf_fields.json");
    let reference: serde_json::Value = serde_json::from_str(fields).expect("recorded fields");
    for (name, message) in [
        ("apimachinery.pkg.apis.meta.v1.ListMeta", &*LIST_META),
        ("apimachinery.pkg.apis.meta.v1.Status", &STATUS),
        ("apimachinery.pkg.apis.meta.v1.DeleteOptions", &DELETE_OPTIONS),
        ("apimachinery.pkg.apis.meta.v1.PartialObjectMetadata", &PARTIAL_OBJECT_METADATA),
        ("api.autoscaling.v1.Scale", &SCALE),
        ("apimachinery.pkg.apis.meta.v1.APIResourceList", &API_RESOURCE_LIST),
        ("apimachinery.pkg.apis.meta.v1.APIGroup", &API_GROUP),
        ("apimachinery.pkg.apis.meta.v1.APIGroupList", &API_GROUP_LIST),
        ("apimachinery.pkg.apis.meta.v1.APIVersions", &API_VERSIONS),
    ] {
        numbered_as(&reference, &format!("k8s.io.{name}"), message);
    }
}

/// The fields of a message, and of those in it, are kube-apiserver's; of lists' metadata ours lacks one of 1.36's.
fn numbered_as(reference: &Document, name: &str, message: &Message) {
    let (package, _) = name.rsplit_once('.').expect("a full name");
    for field in &message.fields {
        let known = &reference[name][&field.name];
        assert_eq!(known[0], field.number, "{name}.{}", field.name);
        let declared = known[1].as_str().expect("a type").split(' ').next_back().expect("a word");
        let inner = declared.strip_prefix('.').map_or_else(|| format!("{package}.{declared}"), str::to_owned);
        match &field.value {
            layout::Value::Message(message) => numbered_as(reference, &inner, message),
            layout::Value::List(items) => {
                if let layout::Value::Message(message) = &**items {
                    numbered_as(reference, &inner, message);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn envelopes() {
    let type_meta = [bytes(1, b"v1"), bytes(2, b"Point")].concat();
    let body = |more: &[u8]| [b"k8s\0", &*bytes(1, &type_meta), &*bytes(2, &bytes(2, b"t")), more].concat();
    let whole = body(&[bytes(3, b""), bytes(4, b"")].concat());
    let envelope = open(&whole).expect("an envelope");
    assert_eq!((envelope.api_version, envelope.kind, envelope.message), ("v1", "Point", &*bytes(2, b"t")));
    let object = object(&messages(), &envelope, &Limits::default());
    assert_eq!(object, Ok(json!({"apiVersion": "v1", "kind": "Point", "metadata": {}, "text": "t"})));
    let refused = |body: &[u8]| open(body).expect_err("no envelope").to_string();
    assert_eq!(refused(&body(&bytes(3, b"gzip"))), "contentEncoding: the contentEncoding \"gzip\" is not read here");
    assert!(refused(&body(&bytes(4, b"application/json"))).starts_with("contentType: "));
    assert!(refused(b"{}").ends_with("expected prefix [107 56 115 0]"), "{}", refused(b"{}"));
}

#[test]
fn which_schemas_are_numbered() {
    assert!(Message::of_object(&every()).is_some());
    assert!(Message::of_object(&structure(vec![])).is_none(), "nothing is known of its messages");
    assert!(
        Message::of_object(&structure(vec![("a", leaf(1, Type::String, ""))])).is_none(),
        "that number is the metadata's"
    );
    let without = Schema { protobuf: None, ..leaf(2, Type::String, "") };
    assert!(Message::of_object(&structure(vec![("a", without.clone())])).is_none());
    assert!(Message::of_object(&structure(vec![("a", list(2, structure(vec![("b", without)])))])).is_none());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(given in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = messages().decode(&given, &Limits::default());
        let envelope = Envelope { message: &given, ..Envelope::default() };
        let _ = object(&messages(), &envelope, &Limits::default());
        let _ = open(&[b"k8s\0", &*given].concat());
    }

    /// Bytes that begin as fields of the schema get further in.
    #[test]
    fn any_contents_of_fields_are_read_or_refused(
        fields in prop::collection::vec((2u8..16, prop::collection::vec(any::<u8>(), 0..60)), 0..8),
    ) {
        let given: Vec<u8> = fields.iter().flat_map(|(number, content)| bytes(*number, content)).collect();
        let _ = messages().decode(&given, &Limits::default());
    }
}

#[test]
fn unknown_fields_are_told_by_their_numbers() {
    let places = map(16, structure(vec![("x", leaf(1, Type::Integer, "int32"))]));
    let mut root = every();
    root.properties.insert("places".to_owned(), places);
    let message = Message::of_object(&root).expect("all is numbered");
    let field = |number: u32, content: &[u8]| {
        let mut out = Vec::new();
        wire::write_bytes(number, content, &mut out);
        out
    };
    let stranger = |number: u32| field(number, b"?");
    let point = |strangers: &[u32]| strangers.iter().flat_map(|number| stranger(*number)).collect::<Vec<u8>>();
    let entry = [field(1, b"a.b"), field(2, &point(&[7]))].concat();
    let given = [
        stranger(99),
        field(11, &point(&[])),
        field(11, &point(&[30, 31, 30])),
        field(15, &point(&[40])),
        field(16, &entry),
        stranger(99),
        // client-go of before 1.24 writes `metadata.clusterName` into every object, empty.
        field(98, b""),
    ];
    let given = given.concat();
    let envelope = Envelope { api_version: "v1", kind: "X", message: &given };
    let decoded = decode_strict(&message, &envelope, &Limits::default()).expect("a message");
    let faults = ["99", "points[1].30", "points[1].31", "point.40", "places.a.b.7"];
    assert_eq!(decoded.faults, faults.map(|path| format!("unknown field \"{path}\"")));
    assert_eq!(decoded.document["points"], json!([{}, {}]), "and are not in the document");
    let many: Vec<u8> = (100..100_000).flat_map(stranger).collect();
    let envelope = Envelope { message: &many, ..envelope };
    assert_eq!(decode_strict(&message, &envelope, &Limits::default()).expect("a message").faults.len(), 100);
    // A key as long as a body, with as many faults as are reported, takes little memory.
    let entry = [field(1, "k".repeat(2 << 20).as_bytes()), field(2, &point(&(100..200).collect::<Vec<_>>()))].concat();
    let long = field(16, &entry);
    let envelope = Envelope { message: &long, ..envelope };
    assert!(decode_strict(&message, &envelope, &Limits::default()).is_err());
}

#[test]
fn recursive_messages_nest_as_deep_as_json() {
    let message = Message::of_object(&form()).expect("all is numbered").clone();
    let written = |document: &Document| {
        let mut bytes = Vec::new();
        message.encode(document, &mut bytes).expect("a message");
        bytes
    };
    let props = json!({"type": "object", "properties": {"a": {"items": {"maxLength": 1}}, "b": {}},
        "allOf": [{"id": "x"}], "parts": [{"name": "p", "props": {"tags": ["t"], "parts": [{"name": "q"}]}}]});
    let document = json!({"metadata": {}, "spec": {"name": "f", "props": props}});
    assert_eq!(message.decode(&written(&document), &Limits::default()).as_ref(), Ok(&document));
    let nested = |depth: usize| {
        let props = (0..depth).fold(json!({"id": "x"}), |inner, _| json!({ "items": inner }));
        json!({"metadata": {}, "spec": {"props": props}})
    };
    assert_eq!(message.decode(&written(&nested(250)), &Limits::default()), Ok(nested(250)));
    let refused = message.decode(&written(&nested(260)), &Limits::default()).expect_err("too deep");
    assert_eq!(refused.message, "exceeded max depth of 256");
    let mut said = form_as_said();
    said["definitions"][0]["properties"]["new"] = json!({"type": "string"});
    assert!(Message::of_object(&schema(&said)).is_none(), "a field has no number");
}
