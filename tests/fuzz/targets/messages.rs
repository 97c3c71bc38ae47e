//! Protobuf messages without a kind: options of deletions, Status, Scale, discovery; with and without an envelope.
use std::sync::LazyLock;

use kindsmith::schema::Document;
use kindsmith_model::codec::{
    Limits,
    protobuf::{self, Message},
};
use kindsmith_tests::Random;
use serde_json::json;

use super::decoders::form;
use crate::{engine::Target, json};

/// The first byte of an input selects the message.
pub(crate) struct Messages;

static ALL: [&LazyLock<Message>; 9] = [
    &protobuf::DELETE_OPTIONS,
    &protobuf::STATUS,
    &protobuf::SCALE,
    &protobuf::LIST_META,
    &protobuf::PARTIAL_OBJECT_METADATA,
    &protobuf::API_RESOURCE_LIST,
    &protobuf::API_GROUP,
    &protobuf::API_GROUP_LIST,
    &protobuf::API_VERSIONS,
];

fn example(which: usize, random: &mut Random) -> Document {
    let mut text = || json::text(random);
    let meta = json!({"resourceVersion": "5", "continue": text(), "remainingItemCount": 3});
    match which {
        0 => {
            json!({"gracePeriodSeconds": -1, "preconditions": {"uid": text()}, "propagationPolicy": text(), "dryRun": ["All"]})
        }
        1 => json!({"metadata": meta, "status": "Failure", "message": text(), "code": 404,
            "details": {"name": text(), "causes": [{"reason": text(), "field": text()}], "retryAfterSeconds": 1}}),
        2 => {
            json!({"metadata": {"name": text()}, "spec": {"replicas": 3}, "status": {"replicas": 2, "selector": text()}})
        }
        3 => meta,
        4 => {
            json!({"metadata": {"name": text(), "labels": {"a": text()}, "finalizers": [text()], "creationTimestamp": "2026-01-02T03:04:05Z",
            "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": text(), "uid": "u"}],
            "managedFields": [{"manager": text(), "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}]}})
        }
        5 => {
            json!({"groupVersion": "v1", "resources": [{"name": text(), "namespaced": true, "kind": text(), "verbs": ["get"], "singularName": ""}]})
        }
        6 => json!({"name": text(), "versions": [{"groupVersion": "a/v1", "version": "v1"}]}),
        7 => json!({"groups": [{"name": text(), "versions": []}]}),
        _ => json!({"versions": ["v1"], "serverAddressByClientCIDRs": [{"clientCIDR": "", "serverAddress": text()}]}),
    }
}

impl Target for Messages {
    const WORDS: &'static [&'static str] =
        &["k8s\0", "\n\u{2}", "\u{12}\0", "\u{1a}\u{7f}", "\u{8}\u{1}", "\u{7f}\u{7f}\u{7f}\u{7f}", "\u{b}", "\u{c}"];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let which = random.below(ALL.len());
        let mut input = vec![u8::try_from(which).expect("few messages")];
        // Values that these messages cannot represent are not a bug.
        let _ = ALL[which].encode(&example(which, random), &mut input);
        input
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Some((which, bytes)) = input.split_first() else { return String::new() };
        let which = usize::from(*which) % ALL.len();
        let message = ALL[which];
        let document = match message.decode(bytes, &Limits::default()) {
            Ok(document) => document,
            Err(error) => {
                assert!(error.to_string().len() < bytes.len() + 1_000);
                return error.to_string();
            }
        };
        let there_and_back = |document: &Document| {
            let mut bytes = Vec::new();
            message.encode(document, &mut bytes).expect("what was read is written");
            message.decode(&bytes, &Limits::default()).expect("what was written is read")
        };
        let again = there_and_back(&document);
        assert_eq!(there_and_back(&again), again, "message {which}");
        if bytes.starts_with(b"k8s\0")
            && let Ok(envelope) = protobuf::open(bytes)
        {
            let sealed = protobuf::seal(envelope.api_version, envelope.kind, envelope.message);
            assert_eq!(protobuf::open(&sealed).as_ref(), Ok(&envelope));
        }
        format!("{which}{}", form(&document))
    }
}
