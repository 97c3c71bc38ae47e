//! Tests of messages that have a part of an object's fields.
use serde_json::json;

use super::{bytes, leaf, list, number, structure};
use crate::{
    codec::{
        Limits,
        protobuf::{Message, decode_strict, open, seal},
    },
    schema::{Schema, model::Type},
};

/// A struct that Go embeds is a message of its own, whose fields are those of the object around it.
#[test]
fn fields_of_embedded_structs_are_in_the_object_around_them() {
    let part = |parts: &[u32], schema: Schema| Schema { protobuf_parts: Some(parts.into()), ..schema };
    let volume = structure(vec![
        ("name", leaf(1, Type::String, "")),
        ("path", part(&[2], leaf(1, Type::String, ""))),
        ("deep", part(&[2, 3], leaf(1, Type::Integer, "int32"))),
        ("sizes", part(&[2, 3], list(2, leaf(0, Type::Integer, "int32")))),
    ]);
    let volume = Schema { required: vec!["sizes".to_owned()], ..volume };
    let message = Message::of(&volume).expect("all is numbered");
    let document = json!({"name": "a", "path": "/b", "deep": 7, "sizes": [1, 2]});
    let deep = [number(1, 7), number(2, 1), number(2, 2)].concat();
    let expected = [bytes(1, b"a"), bytes(2, &[bytes(1, b"/b"), bytes(3, &deep)].concat())].concat();
    let mut encoded = Vec::new();
    message.encode(&document, &mut encoded).expect("a valid document");
    assert_eq!(encoded, expected);
    assert_eq!(message.decode(&expected, &Limits::default()), Ok(document));
    // As Go writes it, the part is there, and required lists are.
    assert_eq!(message.decode(&bytes(2, b""), &Limits::default()), Ok(json!({"sizes": []})));
    let unknown = open_and_decode(&message, &bytes(2, &bytes(3, &bytes(9, b"x"))));
    assert_eq!(unknown, ["unknown field \"9\""]);
    let twice =
        structure(vec![("a", part(&[2], leaf(1, Type::String, ""))), ("b", part(&[2], leaf(1, Type::String, "")))]);
    assert!(Message::of(&twice).is_none(), "two fields of a part with one number");
}

/// The faults of a message in an envelope.
fn open_and_decode(message: &Message, content: &[u8]) -> Vec<String> {
    let sealed = seal("v1", "Volume", content);
    let envelope = open(&sealed).expect("an envelope");
    decode_strict(message, &envelope, &Limits::default()).expect("a message").faults
}
