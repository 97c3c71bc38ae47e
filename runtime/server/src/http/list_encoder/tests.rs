//! Lists in pieces equal the output of the encoders of whole documents.
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    Resource,
    builtin::ConfigMap,
    cache::{self, Cache, Renderings},
    codec,
    http::{negotiate::Shape, sample, table::Include},
    kind::Kind,
    meta::Revision,
    registry::{Registry, ResourceEntry},
    storage::memory::Memory,
    verbs::Items,
    widget::Widget,
};

/// A compiled kind with numbered fields, and a declared kind.
static KINDS: LazyLock<[Arc<ResourceEntry>; 2]> = LazyLock::new(|| {
    let registry = Registry::new(Cache::new(Arc::new(Memory::new()), cache::Limits::default()));
    [ConfigMap::kind(), Widget::kind()].map(|kind| registry.register([kind]).expect("a kind"))
});

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,12}", "[ -~\n]{0,40}", "\\PC{0,20}", "[a-z ]{70,200}", Just("\u{85}\"\\ {[]}:,".to_owned())]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..5).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Bodies of objects: of config maps, which have a message, or arbitrary ones.
fn bodies(compiled: bool) -> BoxedStrategy<Vec<Value>> {
    let data = prop::collection::btree_map("[a-z]{1,8}", text(), 0..4).prop_map(|data| json!({ "data": data }));
    let body = if compiled { data.boxed() } else { value().prop_map(|value| json!({ "spec": value })).boxed() };
    prop::collection::vec(body, 0..12).boxed()
}

fn objects(kind: &Kind, bodies: Vec<Value>) -> Vec<Arc<Object>> {
    let labelled = |at: usize, mut body: Value| {
        body["metadata"] = json!({"labels": {"at": at.to_string()}, "creationTimestamp": "2020-01-01T00:00:00Z"});
        sample::object(kind, &format!("ns/o{at:05}"), 5, body)
    };
    bodies.into_iter().enumerate().map(|(at, body)| labelled(at, body)).collect()
}

fn list_of(objects: &[Arc<Object>]) -> List {
    let items = Items::of(Revision(1), objects.to_vec());
    List { revision: Revision(9), items, continue_token: Some("t\"".to_owned()), remaining: Some(3) }
}

fn written(mut encoder: ListEncoder, piece: usize) -> Vec<u8> {
    encoder.piece = piece;
    let mut all = Vec::new();
    loop {
        let left = encoder.left();
        match encoder.step().expect("objects that can be written") {
            Step::Measured => {}
            Step::Piece(bytes) => {
                assert!(bytes.len() > piece);
                all.extend_from_slice(&bytes);
                if let Some(left) = left.filter(|left| *left > 0 && all.len() > bytes.len()) {
                    assert_eq!(encoder.left(), Some(left - bytes.len()));
                }
            }
            Step::Last(bytes) => {
                all.extend_from_slice(&bytes);
                assert!(matches!(encoder.left(), None | Some(0)));
                return all;
            }
        }
    }
}

/// The document of a list.
fn document(served: &ResourceEntry, format: ResponseFormat, objects: &[Arc<Object>]) -> Value {
    let part = Part::of(&served.kind, format);
    let item = |object: &Arc<Object>| {
        let mut whole = render::read(object.json_bytes());
        match part {
            Part::Whole => whole,
            Part::Bare => {
                whole.as_object_mut().expect("an object").retain(|name, _| name != "kind" && name != "apiVersion");
                whole
            }
            Part::Partial(version) => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": whole["metadata"]})
            }
        }
    };
    let (kind, version) = match part {
        Part::Partial(version) => ("PartialObjectMetadataList", version.to_owned()),
        _ => (&*served.kind.names().list_kind, served.kind.group_version.to_string()),
    };
    let metadata = json!({"resourceVersion": "9", "continue": "t\"", "remainingItemCount": 3});
    json!({"kind": kind, "apiVersion": version, "metadata": metadata, "items": objects.iter().map(item).collect::<Vec<_>>()})
}

/// The list in an envelope, assembled independently.
fn envelope(served: &ResourceEntry, document: &Value) -> Vec<u8> {
    let own = served.kind.message().filter(|_| document["kind"] != "PartialObjectMetadataList");
    let message = own.unwrap_or(&protobuf::PARTIAL_OBJECT_METADATA);
    let field = |number: u8, bytes: &[u8], out: &mut Vec<u8>| {
        out.push(number << 3 | 2);
        let mut length = bytes.len();
        while length >= 0x80 {
            out.push(length.to_le_bytes()[0] | 0x80);
            length >>= 7;
        }
        out.push(length.to_le_bytes()[0]);
        out.extend_from_slice(bytes);
    };
    let (mut list, mut bytes) = (Vec::new(), Vec::new());
    protobuf::LIST_META.encode(&document["metadata"], &mut bytes).expect("metadata");
    field(1, &bytes, &mut list);
    for item in document["items"].as_array().expect("items") {
        bytes.clear();
        message.encode(item, &mut bytes).expect("a message");
        field(2, &bytes, &mut list);
    }
    protobuf::seal(document["apiVersion"].as_str().unwrap(), document["kind"].as_str().unwrap(), &list)
}

fn binary(served: &Arc<ResourceEntry>, format: ResponseFormat, list: List, budget: usize) -> ListEncoder {
    let renderer = Renderer::new(&served.kind, format, &Arc::new(Renderings::new(budget))).expect("a binary form");
    ListEncoder::binary(served, renderer, format, list)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_put_together_are_the_whole(
        (compiled, bodies) in any::<bool>().prop_flat_map(|compiled| (Just(compiled), bodies(compiled))),
        piece in prop_oneof![0usize..300, 300usize..20_000],
        whole in any::<bool>(),
        kept in any::<bool>(),
    ) {
        let served = &KINDS[usize::from(!compiled)];
        let objects = objects(&served.kind, bodies);
        let shape = if whole { Shape::Full } else { Shape::PartialList };
        let form = |encoding| ResponseFormat { encoding, shape, ..ResponseFormat::default() };
        let expected = document(served, form(Encoding::Json), &objects);

        let yaml = written(ListEncoder::text(served, form(Encoding::Yaml), None, list_of(&objects)), piece);
        let mut out = Vec::new();
        codec::yaml::encode(&expected, &mut out);
        prop_assert_eq!(String::from_utf8_lossy(&yaml), String::from_utf8_lossy(&out));

        let budget = if kept { 1 << 20 } else { 0 };
        let found = written(binary(served, form(Encoding::Cbor), list_of(&objects), budget), piece);
        out.clear();
        cbor::encode(&expected, &mut out);
        prop_assert_eq!(found, out);

        if compiled || !whole {
            // The second round uses known lengths.
            for _ in 0..2 {
                let found = written(binary(served, form(Encoding::Protobuf), list_of(&objects), budget), piece);
                prop_assert_eq!(found, envelope(served, &expected));
            }
        }

        let compact = |encoder| written(encoder, piece);
        let found = compact(ListEncoder::text(served, form(Encoding::Json), None, list_of(&objects)));
        prop_assert_eq!(&render::read(&found), &expected);
        let pretty = ResponseFormat { pretty: true, ..form(Encoding::Json) };
        let indented = compact(ListEncoder::text(served, pretty, None, list_of(&objects)));
        prop_assert_eq!(String::from_utf8_lossy(&indented), by_levels(&String::from_utf8_lossy(&found)));
        prop_assert_eq!(found.last(), Some(&b'\n'));
    }

    #[test]
    fn rows_of_tables_are_those_of_their_objects(bodies in bodies(false), piece in 0usize..20_000) {
        let served = &KINDS[1];
        let objects = objects(&served.kind, bodies);
        let table = || Table::new(served.kind.clone(), "meta.k8s.io/v1", Include::Object);
        let form = |encoding| ResponseFormat { encoding, shape: Shape::Table, ..ResponseFormat::default() };
        let list = |format| written(ListEncoder::text(served, format, Some(table()), list_of(&objects)), piece);
        let found = list(form(Encoding::Json));
        let mut expected: Value = serde_json::from_slice(&found).expect("JSON");
        let rows: Vec<Value> = objects
            .iter()
            .map(|object| serde_json::from_slice::<Value>(&table().of_event(object, true)).expect("JSON")["rows"][0].take())
            .collect();
        prop_assert_eq!(&expected["rows"], &Value::from(rows));
        let metadata = json!({"resourceVersion": "9", "continue": "t\"", "remainingItemCount": 3});
        prop_assert_eq!(&expected["metadata"], &metadata);
        prop_assert_eq!(expected["columnDefinitions"].as_array().map(Vec::len), Some(5));

        let pretty = list(ResponseFormat { pretty: true, ..form(Encoding::Json) });
        prop_assert_eq!(String::from_utf8_lossy(&pretty), by_levels(&String::from_utf8_lossy(&found)));
        // Parse numbers as the YAML encoder gets them.
        expected = render::read(&found);
        let mut yaml = Vec::new();
        codec::yaml::encode(&expected, &mut yaml);
        let found = list(form(Encoding::Yaml));
        prop_assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&yaml));
    }
}

/// Compact JSON, indented as a whole.
fn by_levels(json: &str) -> String {
    let (mut out, mut depth, mut characters) = (String::new(), 0, json.chars().peekable());
    let line = |out: &mut String, depth: usize| out.extend(["\n", &"  ".repeat(depth)]);
    // Only compact JSON ends with a newline.
    while let Some(character) = characters.next().filter(|character| *character != '\n') {
        let empty = characters.peek().is_some_and(|next| matches!(next, '}' | ']'));
        match character {
            '"' => {
                out.push('"');
                while let Some(character) = characters.next() {
                    out.push(character);
                    match character {
                        '\\' => out.extend(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' if empty => out.extend([character, characters.next().expect("a bracket")]),
            '{' | '[' => {
                depth += 1;
                out.push(character);
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out
}

#[test]
fn items_that_cannot_be_written_are_found_before_the_first_byte() {
    let served = &KINDS[0];
    let mut objects = objects(&served.kind, vec![json!({"data": {"k": "v"}}); 50]);
    objects.push(sample::object(&served.kind, "ns/z", 5, json!({"data": {"k": 5}})));
    for kept in [0, 1 << 20] {
        let format = ResponseFormat { encoding: Encoding::Protobuf, ..ResponseFormat::default() };
        let mut encoder = binary(served, format, list_of(&objects), kept);
        encoder.piece = 100;
        let error = loop {
            match encoder.step() {
                Ok(step) => assert_eq!(step, Step::Measured),
                Err(error) => break error.into_status_error(served).0,
            }
        };
        assert_eq!(error.code, 406);
        assert!(error.message.contains("\"z\""), "{}", error.message);
    }
}

#[test]
fn long_lists_are_the_whole_too_and_take_the_memory_of_a_piece() {
    let served = &KINDS[0];
    let bodies = vec![json!({"data": {"k": "x".repeat(250)}}); 10_000];
    let objects = objects(&served.kind, bodies);
    let largest = objects.iter().map(|object| object.json_bytes().len()).max().expect("an object");
    let form = |encoding| ResponseFormat { encoding, ..ResponseFormat::default() };
    let expected = document(served, form(Encoding::Json), &objects);
    let mut cbor = Vec::new();
    cbor::encode(&expected, &mut cbor);
    let table = || Table::new(served.kind.clone(), "meta.k8s.io/v1", Include::Metadata);
    let rows = ResponseFormat { shape: Shape::Table, ..form(Encoding::Json) };
    for (mut encoder, whole) in [
        (binary(served, form(Encoding::Protobuf), list_of(&objects), 1 << 20), Some(envelope(served, &expected))),
        (binary(served, form(Encoding::Cbor), list_of(&objects), 1 << 20), Some(cbor)),
        (ListEncoder::text(served, rows, Some(table()), list_of(&objects)), None),
    ] {
        let (mut all, mut pieces) = (Vec::new(), 0);
        loop {
            let step = encoder.step().expect("objects that can be written");
            let (Step::Piece(piece) | Step::Last(piece)) = &step else { continue };
            assert!(piece.capacity() <= 2 * (PIECE + largest), "{}", piece.capacity());
            all.extend_from_slice(piece);
            pieces += 1;
            if matches!(step, Step::Last(_)) {
                break;
            }
        }
        assert!(pieces > 5 && pieces >= all.len() / (PIECE + largest), "{pieces}");
        let Some(whole) = whole else {
            let found: Value = serde_json::from_slice(&all).expect("JSON");
            assert_eq!(found["rows"].as_array().map(Vec::len), Some(objects.len()));
            continue;
        };
        assert!(all == whole, "{} and {} bytes", all.len(), whole.len());
    }
}
