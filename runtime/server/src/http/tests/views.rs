//! Lists and watches in a version other than the storage version, in every form.
use std::sync::Arc;

use super::*;
use crate::{
    cache::{DecodedValue, EventType, Object, Renderings},
    codec::Encoding,
    http::{
        list_encoder::{ListEncoder, ListError, Step},
        negotiate::{ResponseFormat, Shape},
        render::Renderer,
        status::StatusError,
    },
    kind::fixture::{RenamingConversion, gears, gears_v2},
    meta::Revision,
    registry::ResourceEntry,
    verbs::{Items, List},
};

const V1: &str = "/apis/example.com/v1/namespaces/default/gears";
const V2: &str = "/apis/example.com/v2/namespaces/default/gears";
const CBOR: &str = "application/cbor";
const PARTIAL: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Gears in two versions.
async fn rig() -> (Rig, Arc<RenamingConversion>) {
    let renamed = Arc::default();
    (Rig::with(vec![Namespace::kind(), gears(), gears_v2(&renamed)]).await, renamed)
}

fn gear(name: &str, color: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"color": color}}, "spec": {"teeth": 7, "color": color}})
}

async fn create(rig: &Rig, name: &str, color: &str) -> Value {
    let (code, made) = rig.post(V1, &gear(name, color)).await;
    assert_eq!(code, 201, "{made}");
    made
}

/// An object in v2.
fn in_v2(stored: &Value) -> Value {
    let mut shown = stored.clone();
    shown["apiVersion"] = json!("example.com/v2");
    shown["spec"] = json!({"dents": stored["spec"]["teeth"], "paint": {"color": stored["spec"]["color"]}});
    shown
}

#[tokio::test]
async fn a_list_in_any_form_is_in_its_version_and_converts_each_object_once() {
    let (rig, renamed) = rig().await;
    let stored = [create(&rig, "a", "red").await, create(&rig, "b", "blue").await, create(&rig, "c", "red").await];
    rig.get(V1).await;
    assert_eq!(renamed.reads(), 0, "the stored version converts nothing");
    let shown: Vec<Value> = stored.iter().map(in_v2).collect();

    let answer = rig.answer("GET", V2, &[], "").await;
    let length = answer.body().size_hint().exact();
    let bytes = collect(answer).await;
    assert_eq!(length, Some(bytes.len() as u64));
    let list: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("GearList"), &json!("example.com/v2")));
    assert_eq!(list["items"], json!(shown));

    let (_, table) = rig.json("GET", V2, &[("accept", TABLE)], "").await;
    let cells: Vec<&Value> = table["rows"].as_array().unwrap().iter().map(|row| &row["cells"]).collect();
    assert_eq!(json!(cells), json!([["a", "7", "red"], ["b", "7", "blue"], ["c", "7", "red"]]));
    let (_, partial) = rig.json("GET", V2, &[("accept", PARTIAL)], "").await;
    assert_eq!(partial["items"][1]["metadata"], stored[1]["metadata"]);
    let yaml = text(rig.answer("GET", V2, &[("accept", "application/yaml")], "").await).await;
    assert!(yaml.contains("apiVersion: example.com/v2\n") && yaml.contains("    dents: 7\n"), "{yaml}");
    for _ in 0..2 {
        let cbor = collect(rig.answer("GET", V2, &[("accept", CBOR)], "").await).await;
        let decoded = crate::codec::cbor::decode(&cbor, &crate::codec::Limits::NONE).unwrap();
        assert_eq!(decoded.document["items"], json!(shown));
    }
    assert_eq!(renamed.reads(), 3);

    let (_, page) = rig.get(&format!("{V2}?limit=2")).await;
    assert_eq!((&page["items"], &page["metadata"]["remainingItemCount"]), (&json!(shown[..2]), &json!(1)));
    let rest = format!("{V2}?limit=2&continue={}", page["metadata"]["continue"].as_str().unwrap());
    assert_eq!(rig.get(&rest).await.1["items"], json!(shown[2..]));
    assert_eq!(rig.get(&format!("{V2}?labelSelector=color=blue")).await.1["items"], json!([shown[1]]));
    assert_eq!(renamed.reads(), 0);
}

#[tokio::test]
async fn a_list_with_an_unconvertible_object_is_refused_before_it_starts() {
    let (rig, renamed) = rig().await;
    for (name, color) in [("a", "red"), ("b", "unpaintable"), ("c", "slippery"), ("d", "red")] {
        create(&rig, name, color).await;
    }
    for accept in ["application/json", TABLE, PARTIAL, "application/yaml"] {
        let answer = rig.answer("GET", V2, &[("accept", accept)], "").await;
        let code = answer.status();
        // YAML wraps long lines.
        let said = text(answer).await.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, 500, "{accept}: {said}");
        for key in ["b", "c"] {
            assert!(said.contains(&format!("/registry/example.com/gears/default/{key}")), "{accept}: {said}");
        }
        assert!(said.contains("StoreReadError") && said.contains("v2 has no such paint"), "{accept}: {said}");
        assert!(said.contains("object not convertible to example.com/v2 revision="), "{accept}: {said}");
        assert!(said.contains("the conversion panicked: it slipped"), "{accept}: {said}");
    }
    assert_eq!(renamed.reads(), 4, "what has no form is found out once");
    let (code, page) = rig.get(&format!("{V2}?limit=1")).await;
    assert_eq!((code, page["items"].as_array().map(Vec::len)), (200, Some(1)), "a page before it can be read");
    assert_eq!(rig.get(&format!("{V2}?labelSelector=color=red")).await.0, 200);
    assert_eq!(rig.get(V1).await.0, 200);
}

#[tokio::test]
async fn a_collection_is_deleted_even_if_its_objects_cannot_be_shown() {
    let (rig, _) = rig().await;
    for (name, color) in [("a", "red"), ("b", "unpaintable")] {
        create(&rig, name, color).await;
    }
    let (code, shown) = rig.json("DELETE", &format!("{V2}?labelSelector=color=red"), &[], "").await;
    assert_eq!((code, &shown["items"][0]["spec"]["dents"]), (200, &json!(7)));
    let (code, status) = rig.json("DELETE", V2, &[], "").await;
    assert_eq!((code, &status["status"]), (200, &json!("Success")));
    let message = "all objects were deleted; those named in details cannot be converted to example.com/v2";
    assert_eq!(status["message"], message);
    let causes = status["details"]["causes"].as_array().unwrap();
    assert_eq!((causes.len(), &causes[0]["field"]), (1, &json!("/registry/example.com/gears/default/b")));
    assert!(causes[0]["message"].as_str().unwrap().ends_with("v2 has no such paint"), "{status}");
    assert_eq!(rig.get(V1).await.1["items"], json!([]));
}

/// The events of the next `count` frames.
async fn events(body: &mut Body, count: usize) -> Vec<Value> {
    let mut seen = Vec::new();
    while seen.len() < count {
        seen.extend(frame(body).await.expect("an event"));
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn two_hundred_watchers_see_each_change_in_their_version_and_it_is_converted_once() {
    let (rig, renamed) = rig().await;
    let first = create(&rig, "a", "red").await;
    let mut bodies = Vec::new();
    for at in 0..200 {
        let query = if at % 2 == 0 { "" } else { "&labelSelector=color=red" };
        bodies.push(rig.answer("GET", &format!("{V2}?watch=1{query}"), &[], "").await.into_body());
    }
    let second = create(&rig, "b", "red").await;
    let patch = json!({"metadata": {"labels": {"color": "blue"}}, "spec": {"color": "blue"}}).to_string();
    let merge = [("content-type", "application/merge-patch+json")];
    let (_, patched) = rig.json("PATCH", &format!("{V1}/b"), &merge, &patch).await;
    rig.json("DELETE", &format!("{V1}/a"), &[], "").await;
    let mut all = Vec::new();
    for body in &mut bodies {
        all.push(events(body, 4).await);
    }
    let gone = |object: &Value, revision: &Value| {
        let mut gone = in_v2(object);
        gone["metadata"]["resourceVersion"] = revision.clone();
        gone
    };
    let event = |what: &str, object: Value| json!({"type": what, "object": object});
    let deleted = event("DELETED", gone(&first, &all[0][3]["object"]["metadata"]["resourceVersion"]));
    let mut expected =
        [event("ADDED", in_v2(&first)), event("ADDED", in_v2(&second)), event("MODIFIED", in_v2(&patched)), deleted];
    assert_eq!(all[0], expected);
    expected[2] = event("DELETED", gone(&second, &patched["metadata"]["resourceVersion"]));
    assert_eq!(all[1], expected, "what leaves the selector is shown as it was");
    for seen in all.chunks(2) {
        assert_eq!(seen, &all[..2]);
    }
    assert_eq!(renamed.reads(), 5, "two that were created, one that changed, one that left, one that was deleted");
}

#[tokio::test(start_paused = true)]
async fn a_watch_in_other_forms_is_in_its_version_and_so_are_its_bookmarks() {
    let (rig, _) = rig().await;
    let made = create(&rig, "a", "red").await;
    let watch = format!("{V2}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true");
    let mut body = rig.answer("GET", &watch, &[("accept", TABLE)], "").await.into_body();
    let seen = events(&mut body, 1).await;
    assert_eq!(seen[0]["object"]["rows"][0]["cells"], json!(["a", "7", "red"]));
    let mut body = rig.answer("GET", &watch, &[], "").await.into_body();
    let seen = events(&mut body, 2).await;
    assert_eq!((&seen[0]["object"], &seen[1]["type"]), (&in_v2(&made), &json!("BOOKMARK")));
    assert_eq!(
        (&seen[1]["object"]["kind"], &seen[1]["object"]["apiVersion"]),
        (&json!("Gear"), &json!("example.com/v2"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_an_error_after_complete_frames_if_an_object_cannot_be_converted() {
    let (rig, renamed) = rig().await;
    create(&rig, "a", "red").await;
    let mut bodies = Vec::new();
    for _ in 0..10 {
        bodies.push(rig.answer("GET", &format!("{V2}?watch=1"), &[], "").await.into_body());
    }
    create(&rig, "b", "red").await;
    create(&rig, "c", "unpaintable").await;
    create(&rig, "d", "red").await;
    // A watch that finds it among the initial events.
    bodies.push(rig.answer("GET", &format!("{V2}?watch=1"), &[], "").await.into_body());
    for mut body in bodies {
        let seen = events(&mut body, 3).await;
        let types: Vec<&Value> = seen.iter().map(|event| &event["type"]).collect();
        assert_eq!(json!(types), json!(["ADDED", "ADDED", "ERROR"]));
        let status = &seen[2]["object"];
        assert_eq!((&status["code"], &status["reason"]), (&json!(500), &json!("StoreReadError")));
        assert_eq!(status["details"]["causes"][0]["field"], "/registry/example.com/gears/default/c");
        assert!(status["message"].as_str().unwrap().ends_with("v2 has no such paint"), "{status}");
        assert_eq!(frame(&mut body).await, None);
    }
    assert!(renamed.reads() <= 4, "converted objects are shared");
}

/// Stored gears of a size, and v2 with a budget for renderings.
fn many(
    count: usize,
    bytes: usize,
    budget_bytes: usize,
) -> (Arc<ResourceEntry>, Arc<RenamingConversion>, Vec<Arc<Object>>) {
    let limits = cache::Limits { rendering_bytes: budget_bytes, ..cache::Limits::default() };
    let registry = Registry::new(Cache::new(Arc::new(Memory::new()), limits));
    let renamed = Arc::default();
    registry.register([gears(), gears_v2(&renamed)]).unwrap();
    let served = registry.find("example.com", "v2", "gears").unwrap();
    let object = |at: usize| {
        let (name, color) = (format!("o{at:03}"), "x".repeat(bytes));
        let body = format!("{{\"metadata\":{{\"name\":{name:?}}},\"spec\":{{\"color\":{color:?},\"teeth\":{at}}}}}");
        let decoded = DecodedValue::plain(Ok(body.as_str().into()));
        Arc::new(Object::compose_as(EventType::Added, &format!("ns/{name}"), Revision(5), "", decoded))
    };
    (served, renamed, (0..count).map(object).collect())
}

fn list_of(objects: &[Arc<Object>]) -> List {
    List {
        revision: Revision(9),
        items: Items::of(Revision(9), objects.to_vec()),
        continue_token: None,
        remaining: None,
    }
}

/// The pieces of a list, and the number of remaining bytes after the first.
fn pieces(mut encoder: ListEncoder) -> Result<(Vec<Vec<u8>>, Option<usize>), ListError> {
    let (mut pieces, mut left) = (Vec::new(), None);
    loop {
        match encoder.step()? {
            Step::Measured => {}
            Step::Piece(piece) => {
                pieces.push(piece);
                left = left.or(encoder.left());
            }
            Step::Last(piece) => {
                pieces.push(piece);
                return Ok((pieces, left));
            }
        }
    }
}

#[test]
fn a_list_that_exceeds_the_budget_is_converted_at_the_pace_of_its_reader() {
    for (budget, conversions) in [(0, 2), (64 << 20, 1)] {
        let (served, renamed, objects) = many(300, 4_000, budget);
        let json = ResponseFormat::default();
        let (found, left) = pieces(ListEncoder::text(&served, json, None, list_of(&objects))).unwrap();
        assert!(found.len() > 3 && found.iter().all(|piece| piece.len() < 200_000));
        assert_eq!(left, Some(found[1..].iter().map(Vec::len).sum()), "the length was known when the answer began");
        let list: Value = serde_json::from_slice(&found.concat()).unwrap();
        let dents: Vec<u64> =
            list["items"].as_array().unwrap().iter().map(|item| item["spec"]["dents"].as_u64().unwrap()).collect();
        assert_eq!(dents, (0..300).collect::<Vec<_>>());
        assert_eq!(renamed.reads(), conversions * 300);

        let cbor = ResponseFormat { encoding: Encoding::Cbor, shape: Shape::Full, ..json };
        let renderer = Renderer::new(&served.kind, cbor, &Arc::new(Renderings::new(0))).unwrap();
        pieces(ListEncoder::binary(&served, renderer, cbor, list_of(&objects))).unwrap();
        assert_eq!(renamed.reads(), (conversions - 1) * 2 * 300, "what is kept serves all forms");
    }
}

#[test]
fn an_error_names_a_hundred_objects_and_mentions_more() {
    let (served, renamed, _) = many(0, 0, 1 << 20);
    let objects = many(150, 0, 0).2;
    let broken: Vec<_> = objects
        .iter()
        .map(|object| {
            let body = r#"{"metadata":{"name":"a"},"spec":{"color":"unpaintable"}}"#;
            Arc::new(Object::compose(object.key(), Revision(5), "", DecodedValue::plain(Ok(body.into()))))
        })
        .collect();
    let Err(error) = pieces(ListEncoder::text(&served, ResponseFormat::default(), None, list_of(&broken))) else {
        panic!("it is refused")
    };
    let StatusError(status) = error.into_status_error(&served);
    let details = status.details.as_ref().unwrap();
    assert_eq!((status.code, details.causes.len(), renamed.reads()), (500, 101, 101));
    assert_eq!(details.causes[100].reason, "FieldValueTooMany");
}
