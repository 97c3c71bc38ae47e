//! Protobuf compared with kube-apiserver: its recorded answers in both encodings are the same document and the same
//! bytes.
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::*;
use crate::codec::{
    self, Limits,
    protobuf::{self, Message},
};

/// A role, declared here because no built-in kind of it is served.
#[derive(crate::Resource, Clone, Debug, Default, PartialEq)]
#[resource(group = "rbac.authorization.k8s.io", version = "v1", builtin)]
struct Role {
    #[serde(default)]
    #[api(proto = 1)]
    metadata: crate::meta::ObjectMeta,
    #[serde(default)]
    #[api(proto = 2)]
    rules: Vec<PolicyRule>,
}

#[derive(crate::ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicyRule {
    #[api(proto = 1)]
    verbs: Vec<String>,
    #[serde(default)]
    #[api(proto = 2)]
    api_groups: Vec<String>,
    #[serde(default)]
    #[api(proto = 3)]
    resources: Vec<String>,
    #[serde(default)]
    #[api(proto = 4)]
    resource_names: Vec<String>,
    #[serde(default, rename = "nonResourceURLs")]
    #[api(proto = 5)]
    non_resource_urls: Vec<String>,
}

/// The recorded answers: a name, the documents, the bytes.
fn rows() -> Vec<(String, Vec<Value>, Vec<u8>)> {
    let rows = codec::fixture::rows().into_iter();
    let rows: Vec<_> = rows.filter_map(|row| Some((row.name, row.documents, row.protobuf?))).collect();
    assert_eq!(rows.len(), 15);
    rows
}

fn messages(kind: &Kind) -> Message {
    Message::of_object(&kind.version.schema).expect("built-in kinds are numbered")
}

/// The message of a kind or of an answer.
fn message(kind: &str) -> Message {
    match kind {
        "Status" => protobuf::STATUS.clone(),
        "PartialObjectMetadata" => protobuf::PARTIAL_OBJECT_METADATA.clone(),
        "APIResourceList" => protobuf::API_RESOURCE_LIST.clone(),
        kind => {
            let kinds = [kinds(), vec![Role::kind()]].concat();
            messages(
                kinds.iter().find(|known| known.names().kind == kind).unwrap_or_else(|| panic!("{kind} is not known")),
            )
        }
    }
}

fn kind_of(document: &Value) -> &str {
    document["kind"].as_str().expect("a kind")
}

/// The encoded document: a list by its items, everything else by its message.
fn encoded(document: &Value) -> Vec<u8> {
    let Some(item) = kind_of(document).strip_suffix("List").filter(|kind| *kind != "APIResource") else {
        return protobuf::encode(&message(kind_of(document)), document).expect("a message");
    };
    let message = message(item);
    let items: Vec<Vec<u8>> = document["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| {
            let mut bytes = Vec::new();
            message.encode(item, &mut bytes).expect("a message");
            bytes
        })
        .collect();
    let (mut out, api_version) = (Vec::new(), document["apiVersion"].as_str().expect("an apiVersion"));
    let length = items.iter().map(|item| protobuf::list_item_length(item.len())).sum();
    protobuf::list_start(api_version, kind_of(document), &document["metadata"], length, &mut out).expect("metadata");
    for item in &items {
        protobuf::list_item(item, &mut out);
    }
    protobuf::list_end(&mut out);
    out
}

fn assert_same(found: &[u8], recorded: &[u8], name: &str) {
    assert_eq!(found.escape_ascii().to_string(), recorded.escape_ascii().to_string(), "{name}");
}

#[test]
fn documents_encode_to_the_bytes_that_kube_apiserver_sends() {
    for (name, documents, bytes) in rows() {
        let is_watch = name.starts_with("watch");
        let found: Vec<u8> = documents
            .iter()
            .flat_map(|document| match document["type"].as_str().filter(|_| is_watch) {
                Some(event_type) => protobuf::watch_frame(event_type, &encoded(&document["object"])),
                None => encoded(document),
            })
            .collect();
        assert_same(&found, &bytes, &name);
    }
}

/// The fields of a message that contains only texts and messages.
fn fields(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut all = Vec::new();
    while let Some((&tag, mut rest)) = bytes.split_first() {
        assert_eq!(tag & 7, 2, "a text or a message");
        let (mut length, mut shift) = (0, 0);
        loop {
            let (&part, after) = rest.split_first().expect("a length");
            rest = after;
            length |= usize::from(part & 0x7f) << shift;
            shift += 7;
            if part < 0x80 {
                break;
            }
        }
        let (content, after) = rest.split_at(length);
        all.push((tag >> 3, content));
        bytes = after;
    }
    all
}

/// Decodes the document in an envelope; a list is assembled from its parts.
fn decoded(body: &[u8]) -> Value {
    let limits = Limits::default();
    let envelope = protobuf::open(body).expect("an envelope");
    let Some(item) = envelope.kind.strip_suffix("List").filter(|kind| *kind != "APIResource") else {
        return protobuf::object(&message(envelope.kind), &envelope, &limits).expect("a message");
    };
    let message = message(item);
    let mut list = json!({"apiVersion": envelope.api_version, "kind": envelope.kind, "items": []});
    for (number, content) in fields(envelope.message) {
        match number {
            1 => list["metadata"] = protobuf::LIST_META.decode(content, &limits).expect("metadata"),
            2 => {
                let item = message.decode(content, &limits).expect("an item");
                list["items"].as_array_mut().expect("a list").push(item);
            }
            _ => panic!("a list has no field {number}"),
        }
    }
    list
}

/// The events of a watch: length-prefixed frames of a type and an object.
fn events(mut frames: &[u8]) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some((length, rest)) = frames.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*length)).expect("a length");
        let (frame, rest) = rest.split_at(length);
        frames = rest;
        let [(1, event_type), (2, raw)] = fields(frame)[..] else { panic!("an event has two fields") };
        let [(1, object)] = fields(raw)[..] else { panic!("raw bytes have one field") };
        let event_type = std::str::from_utf8(event_type).expect("a type");
        events.push(json!({"type": event_type, "object": decoded(object)}));
    }
    events
}

#[test]
fn messages_of_kube_apiserver_decode_to_its_documents() {
    for (name, mut documents, bytes) in rows() {
        for document in &mut documents {
            // List items have no type of their own in Protobuf.
            for item in document.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
                item.as_object_mut().expect("an object").retain(|name, _| name != "apiVersion" && name != "kind");
            }
        }
        let found = if name.starts_with("watch") { events(&bytes) } else { vec![decoded(&bytes)] };
        assert_eq!(found, documents, "{name}");
    }
}

#[test]
fn all_built_in_kinds_and_answers_have_messages() {
    for kind in kinds() {
        messages(&kind);
    }
    for answer in [
        &*protobuf::LIST_META,
        &protobuf::STATUS,
        &protobuf::DELETE_OPTIONS,
        &protobuf::PARTIAL_OBJECT_METADATA,
        &protobuf::SCALE,
        &protobuf::API_RESOURCE_LIST,
        &protobuf::API_GROUP,
        &protobuf::API_GROUP_LIST,
        &protobuf::API_VERSIONS,
    ] {
        assert!(answer.encode(&serde_json::json!({}), &mut Vec::new()).is_ok());
    }
}

/// Go holds these times without a pointer, so the message of an event contains them even if they are not set.
#[test]
fn an_event_without_times_has_fields_for_them() {
    let event = serde_json::json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": {}, "source": {},
    });
    let mut bytes = Vec::new();
    message("Event").encode(&event, &mut bytes).expect("a message");
    let metadata = b"\n\x15\n\x01e\x12\0\x1a\0\"\0*\x002\x008\0B\0";
    let rest = b"\x12\x0e\n\0\x12\0\x1a\0\"\0*\x002\0:\0\x1a\0\"\0*\x04\n\0\x12\x002\0:\0@\0J\0R\0b\0r\0z\0";
    let metadata = [&metadata[..1], &[u8::try_from(metadata.len() - 2).expect("short")], &metadata[2..]].concat();
    assert_same(&bytes, &[&metadata, &rest[..]].concat(), "Event");
    let decoded = message("Event").decode(&bytes, &Limits::default()).expect("an event");
    assert_eq!(decoded["metadata"], event["metadata"]);
    assert_eq!(decoded.as_object().map(serde_json::Map::len), Some(3), "{decoded}");
}

/// Truncated messages and messages with a changed byte are at most refused.
#[test]
fn broken_messages_do_no_harm() {
    let kinds: Vec<_> =
        [kinds(), vec![Role::kind()]].concat().into_iter().map(|k| (k.names().kind.clone(), messages(&k))).collect();
    for (_, _, whole) in rows() {
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            for body in [&whole[..at], &changed] {
                let Ok(envelope) = protobuf::open(body) else { continue };
                for (_, message) in kinds.iter().filter(|(name, _)| name == envelope.kind) {
                    let _ = protobuf::object(message, &envelope, &Limits::default());
                }
            }
        }
    }
}
