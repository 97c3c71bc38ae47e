//! How requests are counted that end otherwise than with an answer of 200.

use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use super::*;
use crate::metrics::Endpoint;

/// The requests to an endpoint, as `VERB scope dry_run code`.
fn counted(endpoint: &Endpoint) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (cell, series) in endpoint.all() {
        let mut total = 0;
        for (code, count) in series.codes() {
            total += count;
            let name = format!("{} {} {} {code}", cell.verb.as_str(), cell.scope.as_str(), cell.dry_run.as_str());
            all.insert(name, count);
        }
        assert_eq!(series.durations().count(), total, "each request has a duration: {cell:?}");
    }
    all
}

impl Rig {
    fn requests(&self, resource: &str, subresource: &str) -> Arc<Endpoint> {
        let found = self.0.backend.api.registry.requests().all().into_iter();
        let mut found = found.filter(|endpoint| endpoint.resource == resource && endpoint.subresource == subresource);
        found.next().expect("an endpoint")
    }

    fn assert_counted<const N: usize>(&self, resource: &str, want: [(&str, u64); N]) {
        let want = want.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(counted(&self.requests(resource, "")), BTreeMap::from(want));
    }
}

#[tokio::test]
async fn refusals_and_panics_are_counted_with_their_code() {
    let rig = Rig::new().await;
    let large = json!({"metadata": {"name": "large"}, "data": {"text": "x".repeat(20_000)}});
    assert_eq!(rig.post(CONFIG_MAPS, &large).await.0, 413);
    assert_eq!(rig.answer("GET", CONFIG_MAPS, &[("authorization", "Bearer alicetoken")], "").await.status(), 403);
    assert_eq!(rig.answer("GET", CONFIG_MAPS, &[("authorization", "Bearer nobody")], "").await.status(), 401);
    assert_eq!(rig.answer("PUT", CONFIG_MAPS, &[], "{}").await.status(), 405);
    assert_eq!(rig.answer("OPTIONS", CONFIG_MAPS, &[], "").await.status(), 204);
    assert_eq!(rig.answer("BREW", CONFIG_MAPS, &[], "").await.status(), 405);
    assert_eq!(rig.answer("HEAD", &format!("{CONFIG_MAPS}/no"), &[], "").await.status(), 404);
    assert_eq!(rig.answer("POST", &format!("{CONFIG_MAPS}?dryRun=Some"), &[], "{}").await.status(), 422);
    rig.assert_counted(
        "configmaps",
        [
            ("GET resource  404", 1),
            ("LIST namespace  401", 1),
            ("LIST namespace  403", 1),
            ("POST resource  413", 1),
            ("POST resource invalid 422", 1),
            ("PUT namespace  405", 1),
            ("other namespace  204", 1),
            ("other namespace  405", 1),
        ],
    );
    let fragile = json!({"metadata": {"name": "a"}, "spec": {"size": 1}});
    let (code, answer) = rig.post("/apis/conformance.example.com/v1/namespaces/default/fragiles", &fragile).await;
    assert_eq!(code, 500, "{answer}");
    rig.assert_counted("fragiles", [("POST resource  500", 1)]);
}

#[tokio::test]
async fn requests_past_a_limit_are_counted() {
    let limits = Limits { reads_in_flight: 0, ..Limits::default() };
    let rig = Rig::limited(vec![Namespace::kind(), ConfigMap::kind()], default_roles(), limits).await;
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 429);
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 429);
    rig.assert_counted("configmaps", [("LIST namespace  429", 2)]);
}

#[tokio::test]
async fn a_request_that_goes_away_is_counted_without_a_code() {
    let rig = Rig::new().await;
    let request = Request::builder().method("POST").uri(CONFIG_MAPS).header("authorization", "Bearer admintoken");
    let silent = Body::new(Silence);
    {
        let mut sending = pin!(rig.send(request, silent));
        assert!(poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx).is_pending())).await, "the body does not come");
    }
    rig.assert_counted("configmaps", [("POST resource  0", 1)]);
    assert_eq!(rig.requests("configmaps", "").all().next().unwrap().1.sizes().count(), 0);
}

/// A body that never comes.
struct Silence;

impl http_body::Body for Silence {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn a_watch_is_open_until_its_stream_is_dropped_and_counts_then() {
    let rig = Rig::new().await;
    let watch = rig.answer("GET", &format!("{CONFIG_MAPS}?watch=1&resourceVersion=0"), &[], "").await;
    let endpoint = rig.requests("configmaps", "");
    let open = || endpoint.all().map(|(_, series)| series.active()).sum::<i64>();
    assert_eq!(open(), 1);
    assert_eq!(counted(&endpoint), BTreeMap::new());
    rig.config_map("a").await;
    let mut body = watch.into_body();
    let events = frame(&mut body).await.unwrap();
    assert_eq!(events.len(), 1);
    drop(body);
    assert_eq!(open(), 0);
    rig.assert_counted("configmaps", [("POST resource  201", 1), ("WATCH namespace  200", 1)]);
    let sizes = endpoint.events().unwrap();
    let sent = serde_json::to_string(&events[0]).unwrap().len() as u64 + 1;
    assert_eq!((sizes.count(), sizes.sum), (1, sent));
}

#[tokio::test]
async fn the_size_of_a_long_answer_is_known_when_it_was_sent() {
    let limits = Limits::default();
    let rig = Rig::limited(vec![Namespace::kind(), ConfigMap::kind()], default_roles(), limits).await;
    let long = json!({"metadata": {"name": "long"}, "data": {"text": "x".repeat(100_000)}});
    assert_eq!(rig.post(CONFIG_MAPS, &long).await.0, 201);
    let answer = rig.answer("GET", CONFIG_MAPS, &[], "").await;
    rig.assert_counted("configmaps", [("POST resource  201", 1)]);
    let length = collect(answer).await.len() as u64;
    rig.assert_counted("configmaps", [("LIST namespace  200", 1), ("POST resource  201", 1)]);
    let endpoint = rig.requests("configmaps", "");
    let sizes: Vec<_> = endpoint.all().map(|(_, series)| series.sizes()).filter(|sizes| sizes.count() > 0).collect();
    assert_eq!((sizes.len(), sizes[0].count(), sizes[0].sum), (1, 1, length));
}
