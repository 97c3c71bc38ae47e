//! Answers and bodies in the other encodings: objects, lists, partial metadata, Statuses, discovery, watches.
use super::*;
use crate::codec::{self, Encoding, cbor, protobuf, yaml};

const PROTOBUF: &str = protobuf::MEDIA_TYPE;
const CBOR: &str = "application/cbor";
const YAML: &str = "application/yaml";
const WIDGETS: &str = "/apis/conformance.example.com/v1/namespaces/default/widgets";

async fn rig() -> Rig {
    Rig::with([crate::builtin::kinds(), vec![Widget::kind()]].concat()).await
}

/// The status, the media type and the body of an answer.
async fn get(rig: &Rig, path: &str, accept: &str) -> (u16, String, Vec<u8>) {
    let answer = rig.answer("GET", path, &[("accept", accept)], "").await;
    (answer.status().as_u16(), header(answer.headers(), "content-type"), collect(answer).await)
}

fn of_cbor(body: &[u8]) -> Value {
    assert!(body.starts_with(&cbor::MARK));
    cbor::decode(body, &codec::Limits::default()).expect("CBOR").document
}

fn of_yaml(body: &[u8]) -> Value {
    assert!(!body.starts_with(b"{"), "JSON is YAML, and not what was asked for");
    yaml::decode(body, &codec::Limits::default()).expect("YAML").document
}

/// The document in an envelope.
fn of_protobuf(message: &protobuf::Message, body: &[u8]) -> Value {
    let envelope = protobuf::open(body).expect("an envelope");
    protobuf::object(message, &envelope, &codec::Limits::default()).expect("a message")
}

fn messages(kind: &str) -> protobuf::Message {
    let kind = crate::builtin::kinds().into_iter().find(|known| known.names().kind == kind).expect("a built-in kind");
    protobuf::Message::of_object(&kind.version.schema).expect("built-in kinds are numbered")
}

/// The metadata and the items of a list's message.
fn parts(list: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let (mut rest, mut found) = (protobuf::open(list).expect("an envelope").message, (&[][..], Vec::new()));
    let number = |rest: &mut &[u8]| {
        let end = rest.iter().position(|byte| byte & 0x80 == 0).expect("a number ends");
        let (digits, after) = rest.split_at(end + 1);
        *rest = after;
        digits.iter().rev().fold(0usize, |all, digit| all << 7 | usize::from(digit & 0x7f))
    };
    while !rest.is_empty() {
        let tag = number(&mut rest);
        let length = number(&mut rest);
        let (value, after) = rest.split_at(length);
        rest = after;
        match tag {
            0x0a => found.0 = value,
            0x12 => found.1.push(value),
            other => panic!("the tag {other} in a list"),
        }
    }
    found
}

/// The items of a list's message.
fn items(list: &[u8]) -> Vec<&[u8]> {
    parts(list).1
}

#[test]
fn every_encoding_is_found_by_its_name() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::of_media_type(encoding.media_type()), Some(encoding));
    }
}

mod answers;
mod bodies;
mod matrix;
mod unwritable;
mod watches;
