//! Watches of large objects that are converted, or written in another form than they are stored in.

use std::cell::Cell;

use super::*;
use crate::kind::{
    Convert,
    fixture::{RenamingConversion, gears, gears_v2},
    model,
};

const V1: &str = "/apis/example.com/v1/namespaces/default/gears";
const V2: &str = "/apis/example.com/v2/namespaces/default/gears";

thread_local! {
    /// How often the kind's code ran on this thread.
    static HERE: Cell<usize> = const { Cell::new(0) };
}

/// Counts conversions to v2 on their thread.
#[derive(Debug, Default)]
struct Counted(RenamingConversion);

impl Convert for Counted {
    fn write(&self, document: Document) -> Result<Document, String> {
        self.0.write(document)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        HERE.set(HERE.get() + 1);
        self.0.read(document)
    }
}

/// A computed cell, counted on its thread.
fn size(document: &Document) -> Document {
    HERE.set(HERE.get() + 1);
    document["spec"]["color"].as_str().map_or(0, str::len).into()
}

async fn rig() -> Rig {
    let limits = Limits { body_bytes: 1 << 20, ..Limits::default() };
    let sized = gears().with(|_, version, binding| {
        version.columns = vec![model::Column::new("Size", "string", model::Cell::Computed)];
        binding.cells.insert("Size".to_owned(), size);
    });
    let converted =
        gears_v2(&Arc::default()).with(|_, _, binding| binding.conversion = Some(Arc::new(Counted::default())));
    Rig::limited(vec![Namespace::kind(), sized, converted], default_roles(), limits).await
}

/// The next events, up to this many, and how often the kind's code ran on this thread.
async fn next(body: &mut Body, count: usize) -> (Vec<Value>, usize) {
    HERE.set(0);
    let mut text = Vec::new();
    loop {
        let data = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await.unwrap().unwrap().into_data().unwrap();
        text.extend_from_slice(&data);
        let events: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&text).into_iter().collect();
        if let Ok(events) = events
            && events.len() >= count
        {
            return (events, HERE.get());
        }
    }
}

#[tokio::test]
async fn large_events_are_prepared_on_other_threads_and_stay_in_order() {
    let rig = rig().await;
    let gear = |name: &str, bytes: usize| json!({"metadata": {"name": name}, "spec": {"teeth": 7, "color": "x".repeat(bytes)}});
    let sizes = [("a", 1), ("b", offload::LARGE), ("c", 2), ("d", offload::LARGE + 1), ("e", offload::LARGE + 2)];
    for (name, bytes) in sizes {
        assert_eq!(rig.post(V1, &gear(name, bytes)).await.0, 201);
    }
    let query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watches = Vec::new();
    for (path, accept) in [(V1, TABLE), (V2, "application/json"), (V2, TABLE)] {
        let answer = rig.answer("GET", &format!("{path}?{query}"), &[("accept", accept)], "").await;
        let mut body = answer.into_body();
        let (events, here) = next(&mut body, 6).await;
        assert_eq!(events[5]["type"], "BOOKMARK");
        // Two small objects, and the row of the bookmark.
        assert!(here <= 3 && (path == V2 || here == 3), "{path} {accept}: {here}");
        check(&events[..5], &sizes, accept);
        let defined = events.iter().filter(|event| !event["object"]["columnDefinitions"].is_null()).count();
        assert_eq!(defined, usize::from(accept == TABLE), "columns are sent once");
        watches.push((body, path, accept));
    }
    for (name, bytes) in [("f", offload::LARGE), ("g", 3)] {
        assert_eq!(rig.post(V1, &gear(name, bytes)).await.0, 201);
    }
    for (body, path, accept) in &mut watches {
        let (events, here) = next(body, 2).await;
        check(&events, &[("f", offload::LARGE), ("g", 3)], accept);
        assert!(here <= 1 && events.len() == 2, "{path} {accept}: {here}");
    }
}

/// Checks that the events are about these objects.
fn check(events: &[Value], objects: &[(&str, usize)], accept: &str) {
    for (event, (name, bytes)) in events.iter().zip(objects) {
        let object = &event["object"];
        let seen = if accept == TABLE { &object["rows"][0]["object"] } else { object };
        assert_eq!((&event["type"], &seen["metadata"]["name"]), (&json!("ADDED"), &json!(name)));
        if accept != TABLE {
            assert_eq!(object["spec"]["paint"]["color"].as_str().map(str::len), Some(*bytes));
        }
    }
}
