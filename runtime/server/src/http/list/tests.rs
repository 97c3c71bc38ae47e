//! Tests of list composition.
use std::task::Waker;

use serde_json::{Value, json};

use super::*;
use crate::{Resource, builtin::ConfigMap, http::sample, meta::Revision, widget::Widget};

fn list(kind: &Kind, count: usize) -> verbs::List {
    let items = (0..count).map(|n| sample::object(kind, &format!("ns/o{n}"), 5, json!({"data": {"n": n.to_string()}})));
    let items = verbs::Items::of(Revision(1), items.collect());
    verbs::List { revision: Revision(9), items, continue_token: None, remaining: None }
}

fn body(kind: &Kind, list: verbs::List) -> ListBody {
    ListBody::new(kind, Part::of(kind, ResponseFormat::default()), list)
}

fn chunks(mut body: ListBody) -> Vec<Bytes> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut found = Vec::new();
    while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) {
        found.push(frame.into_data().unwrap());
    }
    assert!(body.is_end_stream());
    found
}

#[test]
fn items_of_compiled_kinds_have_no_type_meta() {
    let kind = ConfigMap::kind();
    let all: Value = serde_json::from_slice(&chunks(body(&kind, list(&kind, 2))).concat()).unwrap();
    assert_eq!(all["kind"], "ConfigMapList");
    assert_eq!(all["apiVersion"], "v1");
    assert_eq!(all["metadata"], json!({"resourceVersion": "9"}));
    let metadata = json!({"resourceVersion": "5", "name": "o1", "namespace": "ns"});
    assert_eq!(all["items"][1], json!({"metadata": metadata, "data": {"n": "1"}}));
}

#[test]
fn items_of_declared_kinds_have_it() {
    let kind = Widget::kind();
    let all: Value = serde_json::from_slice(&chunks(body(&kind, list(&kind, 1))).concat()).unwrap();
    assert_eq!(all["items"][0]["kind"], "Widget");
    assert_eq!(all["items"][0]["apiVersion"], "conformance.example.com/v1");
}

#[test]
fn lengths_are_exact_whatever_the_number_of_chunks() {
    for kind in [ConfigMap::kind(), Widget::kind()] {
        for count in [0, 1, 2, 5_000] {
            let body = body(&kind, list(&kind, count));
            let announced = body.size_hint().exact().unwrap();
            let pieces = chunks(body);
            let all: Vec<u8> = pieces.concat();
            assert_eq!(announced, all.len() as u64, "{count}");
            assert_eq!(pieces.len() > 1, all.len() > CHUNK, "{count}");
            assert!(pieces.iter().all(|piece| piece.as_ptr().addr() % PAGE == PAGE / 2), "{count}");
            let parsed: Value = serde_json::from_slice(&all).unwrap();
            assert_eq!(parsed["items"].as_array().unwrap().len(), count);
        }
    }
}

#[test]
fn the_rest_of_a_list() {
    let kind = Widget::kind();
    let page = || verbs::List { continue_token: Some("t\"".to_owned()), remaining: Some(3), ..list(&kind, 1) };
    let all: Value = serde_json::from_slice(&chunks(body(&kind, page())).concat()).unwrap();
    assert_eq!(all["metadata"], json!({"resourceVersion": "9", "continue": "t\"", "remainingItemCount": 3}));
    let alone: Value =
        serde_json::from_slice(&chunks(ListBody::new(&kind, Part::Partial("meta.k8s.io/v1"), page())).concat())
            .unwrap();
    assert_eq!(alone["kind"], "PartialObjectMetadataList");
    assert_eq!(alone["metadata"], all["metadata"]);
    let item = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "5", "name": "o0", "namespace": "ns"}});
    assert_eq!(alone["items"], json!([item]));
}
