//! The built-in kinds out of Protobuf: objects that the reference answered in both encodings are equal documents.
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::*;
use crate::codec::{Limits, protobuf};

fn messages(kind: &Kind) -> protobuf::Message {
    protobuf::Message::of_object(&kind.schema).expect("built-in kinds are numbered")
}

#[test]
fn objects_are_the_same_in_both_encodings() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("protobuf_rows.json")).expect("recorded rows");
    for row in &rows {
        let body = STANDARD.decode(row["base64"].as_str().expect("text")).expect("base64");
        let envelope = protobuf::open(&body).expect("an envelope");
        let kind = kinds().into_iter().find(|kind| kind.kind == envelope.kind).expect("a built-in kind");
        assert_eq!(kind.group_version.to_string(), envelope.api_version);
        let decoded = protobuf::object(&messages(&kind), &envelope, &Limits::default());
        assert_eq!(decoded.as_ref(), Ok(&row["json"]), "{}", kind.kind);
        let encoded = protobuf::encode(&messages(&kind), &row["json"]).expect("a message");
        assert_eq!(encoded.escape_ascii().to_string(), body.escape_ascii().to_string(), "{}", kind.kind);
    }
    assert_eq!(rows.len(), 5);
}

#[test]
fn all_built_in_kinds_are_read() {
    for kind in kinds() {
        assert!(protobuf::Message::of_object(&kind.schema).is_some(), "{}", kind.kind);
    }
}

/// No part of a message, and no message with a byte changed, is more than refused.
#[test]
fn broken_messages_do_no_harm() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("protobuf_rows.json")).expect("recorded rows");
    let all = kinds();
    for row in &rows {
        let whole = STANDARD.decode(row["base64"].as_str().expect("text")).expect("base64");
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            for body in [&whole[..at], &changed] {
                let Ok(envelope) = protobuf::open(body) else { continue };
                let Some(kind) = all.iter().find(|kind| kind.kind == envelope.kind) else { continue };
                let _ = protobuf::object(&messages(kind), &envelope, &Limits::default());
            }
        }
    }
}
