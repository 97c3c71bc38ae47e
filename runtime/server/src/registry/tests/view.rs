//! Tests of views: what they show of stored objects, and how often they are made.
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{Registry, View};
use crate::{
    cache::{Body, Cache, DecodedValue, EventType, Limits, Object, Renderings, Texts},
    codec,
    kind::fixture::{RenamingConversion, gears, gears_v2},
    meta::Revision,
    storage::Memory,
};

fn view(budget_bytes: usize) -> (View, Arc<RenamingConversion>) {
    let renamed = Arc::default();
    let kind = Arc::new(gears_v2(&renamed));
    (View::new(kind, Arc::new(Renderings::new(budget_bytes)), 1), renamed)
}

fn stored(name: &str, color: &str) -> Arc<Object> {
    let document = json!({
        "metadata": {
            "name": name, "namespace": "ns", "uid": "u", "labels": {"a": "1"},
            "managedFields": [{"manager": "m", "apiVersion": "example.com/v1"}],
        },
        "spec": {"teeth": 7, "color": color},
        "status": {"phase": "Turning"},
    });
    let (mut text, mut managed) = (Vec::new(), Vec::new());
    let places = codec::canonical(&document, &mut text);
    codec::managed_fields(&document, &mut managed);
    let body = Body::new(text.into(), places.metadata_end, places.managed_at, managed.into()).expect("a body");
    let decoded = DecodedValue { texts: Texts::new([("a", "1")], ["Turning"]), ..DecodedValue::plain(Ok(body)) };
    let type_meta = r#""kind":"Gear","apiVersion":"example.com/v1","#;
    Arc::new(Object::compose_as(EventType::Modified, &format!("ns/{name}"), Revision(12), type_meta, decoded))
}

fn json_of(object: &Object) -> Value {
    serde_json::from_slice(object.json_bytes()).expect("JSON")
}

#[test]
fn a_view_is_the_object_in_its_version_pruned_and_not_defaulted() {
    let (view, _) = view(1 << 20);
    let stored = stored("a", "red");
    let shown = view.of(&stored).expect("a view");
    let expected = json!({
        "kind": "Gear", "apiVersion": "example.com/v2",
        "metadata": json_of(&stored)["metadata"],
        "spec": {"dents": 7, "paint": {"color": "red"}},
        "status": {"phase": "Turning"},
    });
    assert_eq!(json_of(&shown), expected);
    assert_eq!((shown.key(), shown.revision()), ("ns/a", Revision(12)));
    assert_eq!(shown.frame(), shown.frame_as(EventType::Modified));
    assert_eq!((shown.label("a"), shown.field(0)), (Some("1"), "Turning"));
    assert_eq!(shown.managed_fields(), stored.managed_fields());
    assert_eq!(
        json_of(&view.of(&Arc::new(stored.deleted_at(Revision(20)))).unwrap())["metadata"]["resourceVersion"],
        "20"
    );
}

#[test]
fn a_view_is_made_once_and_again_where_it_was_not_kept() {
    let (kept, renamed) = view(1 << 20);
    let object = stored("a", "red");
    let first = kept.of(&object).expect("a view");
    assert!(Arc::ptr_eq(&first, &kept.of(&object).unwrap()) && Arc::ptr_eq(&first, &kept.passing(&object).unwrap()));
    assert_eq!(renamed.reads(), 1);

    let (unkept, renamed) = view(0);
    for _ in 0..3 {
        assert_eq!(unkept.of(&object).unwrap().json(), first.json());
    }
    assert_eq!(renamed.reads(), 3);

    let other = stored("b", "red");
    kept.passing(&other).expect("a view");
    assert!(!Arc::ptr_eq(&kept.passing(&other).unwrap(), &kept.of(&other).unwrap()), "what is passed is not kept");
}

#[test]
fn what_has_no_form_is_an_error_that_is_found_once() {
    let (view, renamed) = view(1 << 20);
    for (color, reason) in
        [("unpaintable", "v2 has no such paint"), ("slippery", "the conversion panicked: it slipped")]
    {
        let object = stored("a", color);
        for _ in 0..3 {
            assert_eq!(view.of(&object).unwrap_err(), reason);
        }
        assert_eq!(renamed.reads(), 1);
    }
}

#[test]
fn what_cannot_be_read_stays_unreadable() {
    let (view, renamed) = view(1 << 20);
    let decoded =
        DecodedValue { texts: Texts::new([("a", "1")], []), ..DecodedValue::plain(Err("garbage".to_owned())) };
    let shown = view.of(&Arc::new(Object::compose("ns/a", Revision(3), "", decoded))).expect("a view");
    assert_eq!((shown.unreadable(), shown.label("a"), renamed.reads()), (Some("garbage"), Some("1"), 0));
    assert_eq!(json_of(&shown)["apiVersion"], "example.com/v2");
}

#[tokio::test]
async fn the_stored_version_shows_objects_as_they_are() {
    let cache = Cache::new(Arc::new(Memory::new()), Limits::default());
    let (registry, renamed, object) = (Registry::new(cache), Arc::default(), stored("a", "unpaintable"));
    let resource = registry.register([gears(), gears_v2(&renamed)]).expect("a kind");
    let v2 = registry.find("example.com", "v2", "gears").expect("v2 is served");
    assert!(Arc::ptr_eq(&object, &resource.show(&object).await.unwrap()));
    assert_eq!((v2.show(&object).await.unwrap_err(), renamed.reads()), ("v2 has no such paint".to_owned(), 1));
}
