//! `/metrics` on the wire: who may read it, exact numbers after a known set of requests, and how many series there can be.

mod text;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use http_body_util::Full;
use hyper::{Request, body::Bytes};
use kindsmith::{
    ApiType, ObjectMeta, Resource, Server,
    auth::{Authenticate, Credentials, Identity, Soon, User},
    prometheus::{IntCounterVec, Opts},
    server::TestServer,
};
use kindsmith_tests::{Client, Events, Folder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use text::Page;

/// A lamp, in a version that is deprecated.
#[derive(Resource, Clone, Debug)]
#[resource(group = "metrics.example.com", version = "v1beta1", deprecated, status)]
struct Lamp {
    metadata: ObjectMeta,
    spec: LampSpec,
    status: Option<LampStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct LampSpec {
    watts: i32,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct LampStatus {
    lit: Option<bool>,
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const LAMPS: &str = "/apis/metrics.example.com/v1beta1/namespaces/default/lamps";

async fn page(client: &mut Client) -> Page {
    let answer = client.get("/metrics").await.expect("an answer");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    Page::read(std::str::from_utf8(&answer.body).expect("UTF-8"))
}

/// The requests of a page, as `VERB scope group/version/resource/subresource dry_run code`.
fn requests(page: &Page) -> BTreeMap<String, u64> {
    let samples = &page.0["apiserver_request_total"].samples;
    let named = samples.iter().map(|((_, labels), count)| {
        let of = |name: &str| labels[name].as_str();
        let what = [of("group"), of("version"), of("resource"), of("subresource")].join("/");
        let name = format!("{} {} {what} {} {}", of("verb"), of("scope"), of("dry_run"), of("code"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        (name, *count as u64)
    });
    named.collect()
}

async fn send(client: &mut Client, method: &str, path: &str, kind: &'static str, body: Value) -> u16 {
    client.typed(method, path, kind, &body).await.expect("an answer").status
}

const JSON: &str = "application/json";

/// The requests whose numbers are known. Gives a watch that has had all of its events.
async fn send_all(server: &TestServer, client: &mut Client) -> Events {
    let map =
        |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}});
    let lamp = json!({"metadata": {"name": "desk"}, "spec": {"watts": 40}});

    let mut events = client.watch(&format!("{MAPS}?watch=1")).await.expect("a watch");
    assert_eq!(send(client, "POST", MAPS, JSON, map("a")).await, 201);
    assert_eq!(send(client, "POST", MAPS, JSON, map("a")).await, 409);
    assert_eq!(send(client, "POST", &format!("{MAPS}?dryRun=All"), JSON, map("b")).await, 201);
    for _ in 0..3 {
        assert_eq!(client.get(&format!("{MAPS}/a")).await.expect("an answer").status, 200);
    }
    assert_eq!(client.get(&format!("{MAPS}/no")).await.expect("an answer").status, 404);
    assert_eq!(client.get(MAPS).await.expect("an answer").status, 200);
    assert_eq!(client.get("/api/v1/configmaps").await.expect("an answer").status, 200);
    let merge = "application/merge-patch+json";
    assert_eq!(send(client, "PATCH", &format!("{MAPS}/a"), merge, json!({"data": {"c": "d"}})).await, 200);
    let apply = format!("{MAPS}/c?fieldManager=m");
    assert_eq!(send(client, "PATCH", &apply, "application/apply-patch+yaml", map("c")).await, 201);
    assert_eq!(send(client, "PUT", &format!("{MAPS}/a"), JSON, map("a")).await, 200);
    assert_eq!(send(client, "DELETE", &format!("{MAPS}/a"), JSON, Value::Null).await, 200);
    assert_eq!(send(client, "DELETE", MAPS, JSON, Value::Null).await, 200);
    assert_eq!(send(client, "POST", LAMPS, JSON, lamp).await, 201);
    assert_eq!(
        send(client, "PATCH", &format!("{LAMPS}/desk/status"), merge, json!({"status": {"lit": true}})).await,
        200
    );
    assert_eq!(client.get(&format!("{LAMPS}/desk/nothing")).await.expect("an answer").status, 404);
    assert_eq!(client.get("/healthz").await.expect("an answer").status, 200);
    assert_eq!(client.get("/apis").await.expect("an answer").status, 200);
    assert_eq!(client.get("/nothing/here").await.expect("an answer").status, 404);
    let mut stranger = Client::new(server.url(), "");
    assert_eq!(stranger.get("/metrics").await.expect("an answer").status, 403);
    let mut forger = Client::new(server.url(), "forged");
    assert_eq!(forger.get("/metrics").await.expect("an answer").status, 401);

    for want in ["ADDED", "MODIFIED", "ADDED", "MODIFIED", "DELETED", "DELETED"] {
        assert_eq!(events.next().await.expect("an event").expect("an event")["type"], want);
    }
    events
}

/// The expected counters after these requests, without the watch.
fn expected() -> BTreeMap<String, u64> {
    let map = |rest: &str, name: &str, code: u16| rest.replace('@', &format!("/v1/configmaps/ {name} {code}"));
    let lamps = "metrics.example.com/v1beta1/lamps";
    [
        (map("POST resource @", "", 201), 1),
        (map("POST resource @", "", 409), 1),
        (map("POST resource @", "All", 201), 1),
        (map("GET resource @", "", 200), 3),
        (map("GET resource @", "", 404), 1),
        (map("LIST namespace @", "", 200), 1),
        (map("LIST cluster @", "", 200), 1),
        (map("PATCH resource @", "", 200), 1),
        (map("APPLY resource @", "", 201), 1),
        (map("PUT resource @", "", 200), 1),
        (map("DELETE resource @", "", 200), 1),
        (map("DELETE namespace @", "", 200), 1),
        (format!("POST resource {lamps}/  201"), 1),
        (format!("PATCH resource {lamps}/status  200"), 1),
        ("GET  ///  404".to_owned(), 2),
        ("GET  ////healthz  200".to_owned(), 1),
        ("GET  ////apis  200".to_owned(), 1),
        ("GET  ////metrics  401".to_owned(), 1),
        ("GET  ////metrics  403".to_owned(), 1),
    ]
    .into()
}

#[tokio::test]
async fn a_known_set_of_requests_gives_exact_numbers() {
    let server = Server::test().kind::<Lamp>().start().await;
    let mut client = Client::new(server.url(), server.token());
    let events = send_all(&server, &mut client).await;
    let before = page(&mut client).await;
    drop(events);
    let after = loop {
        // The server learns that the connection is gone in its own time.
        let page = page(&mut client).await;
        if requests(&page).keys().any(|name| name.starts_with("WATCH")) {
            break page;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };

    assert_eq!(requests(&before), expected());
    assert_eq!(requests(&after)["WATCH namespace /v1/configmaps/  200"], 1);
    check_requests(&before, &after);
    check_state(&before);
}

/// The numbers of requests other than how many there were.
fn check_requests(before: &Page, after: &Page) {
    let at = [("group", ""), ("version", "v1"), ("resource", "configmaps")];
    let labels = |verb, scope| {
        let rest = [("verb", verb), ("scope", scope), ("subresource", ""), ("component", "apiserver")];
        [&at[..], &rest[..]].concat()
    };
    let open = |page: &Page| page.value("apiserver_longrunning_requests", &labels("WATCH", "namespace"));
    assert_eq!((open(before), open(after)), (Some(1.0), Some(0.0)));
    assert_eq!(before.value("apiserver_watch_events_total", &at), Some(6.0));
    assert_eq!(before.value("apiserver_watch_events_sizes_count", &at), Some(6.0));
    let timed = |verb, le| {
        let labels = [&labels(verb, "resource")[..], &[("dry_run", ""), ("le", le)]].concat();
        before.value("apiserver_request_duration_seconds_bucket", &labels)
    };
    assert_eq!((timed("GET", "60"), timed("GET", "+Inf")), (Some(4.0), Some(4.0)));
    let sizes = before.value("apiserver_response_sizes_count", &labels("GET", "resource"));
    assert_eq!(sizes, Some(4.0), "of reads the sizes are known");
    assert_eq!(before.value("apiserver_response_sizes_count", &labels("POST", "resource")), None);
    let group = ("group", "metrics.example.com");
    let deprecated = |subresource| {
        let rest = [("resource", "lamps"), ("subresource", subresource), ("removed_release", "")];
        let labels = [&[group, ("version", "v1beta1")], &rest[..]].concat();
        before.value("apiserver_requested_deprecated_apis", &labels)
    };
    assert_eq!((deprecated(""), deprecated("status")), (Some(1.0), Some(1.0)));
}

/// The numbers of the server's state.
fn check_state(before: &Page) {
    assert_eq!(before.value("apiserver_storage_objects", &[("resource", "configmaps")]), Some(0.0));
    assert_eq!(before.value("apiserver_storage_objects", &[("resource", "lamps.metrics.example.com")]), Some(1.0));
    let group = ("group", "metrics.example.com");
    assert_eq!(before.value("apiserver_resource_objects", &[group, ("resource", "lamps")]), Some(1.0));
    let result = |name, result| before.value(name, &[("result", result)]);
    let of = "authentication_attempts";
    assert_eq!((result(of, "failure"), result(of, "error")), (Some(0.0), Some(1.0)));
    let of = "authorization_attempts_total";
    assert_eq!((result(of, "no-opinion"), result(of, "denied")), (Some(1.0), Some(0.0)));
    assert_eq!(before.value("apiserver_current_inflight_requests", &[("request_kind", "readOnly")]), Some(1.0));
    assert_eq!(before.value("apiserver_current_inflight_requests", &[("request_kind", "mutating")]), Some(0.0));
    assert!(before.value("process_resident_memory_bytes", &[]).expect("memory") > 1e6);
    assert!(before.value("process_open_fds", &[]).expect("files") > 3.0);
    let started = before.value("process_start_time_seconds", &[]).expect("a start");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_secs_f64();
    assert!(now - started < 600.0 && now > started - 1.0, "{started} {now}");
}

#[tokio::test]
async fn whatever_clients_invent_makes_no_series() {
    let server = Server::test().start().await;
    let mut client = Client::new(server.url(), server.token());
    client.get("/nothing").await.expect("an answer");
    let invent = |path: String, method: &str| {
        let request = Request::builder().method(method).uri(path).header("host", "x");
        let request = request.header("authorization", format!("Bearer {}", server.token()));
        request.body(Full::new(Bytes::new())).expect("a request")
    };
    page(&mut client).await;
    // Each kind of request once, so that the series which there may be are there.
    let kinds = |n: u32| {
        [
            (format!("/x{n}"), "GET".to_owned()),
            (format!("/apis/g{n}.example.com/v1/things"), "GET".to_owned()),
            (format!("/apis/g{n}.example.com"), "GET".to_owned()),
            (format!("/api/v1/namespaces/default/things{n}"), "GET".to_owned()),
            (format!("/api/v1/namespaces/default/configmaps/a/sub{n}"), "GET".to_owned()),
            (format!("/api/v1/namespaces/n{n}/configmaps/a{n}"), "GET".to_owned()),
            (format!("/healthz/check{n}"), "GET".to_owned()),
            (format!("{MAPS}?dryRun=d{n}"), "POST".to_owned()),
            (format!("/%{n}"), "GET".to_owned()),
            (MAPS.to_owned(), format!("VERB{n}")),
        ]
    };
    let mut all = 0;
    for (path, method) in kinds(0) {
        client.send(invent(path, &method)).await.expect("an answer");
        all += 1;
    }
    let count = |page: &Page| requests(page).into_iter().filter(|(name, _)| !name.contains("/metrics"));
    let total = |page: &Page| count(page).map(|(_, count)| count).sum::<u64>();
    let first = page(&mut client).await;
    assert_eq!(total(&first), all + 1);
    for n in 1..=1_000 {
        for (path, method) in kinds(n) {
            client.send(invent(path, &method)).await.expect("an answer");
            all += 1;
        }
    }
    let last = page(&mut client).await;
    assert_eq!(total(&last), all + 1, "each was counted");
    let names = |page: &Page| requests(page).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&last), names(&first));
    assert_eq!(last.len(), first.len(), "no metric has more series");
}

/// Everyone is a developer who may do nothing.
struct Developers;

impl Authenticate for Developers {
    fn authenticate<'a>(&'a self, _: &'a Credentials<'a>) -> Soon<'a, Identity> {
        Soon::now(Ok(Some(User::new("dev", &["developers"]).into())))
    }
}

#[tokio::test]
async fn who_has_no_right_to_the_path_is_refused() {
    let server = Server::test().configure(|server| server.authenticator(Developers)).start().await;
    let answer = Client::new(server.url(), "x").get("/metrics").await.expect("an answer");
    assert_eq!(answer.status, 403);
    let message = answer.json()["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(message, "forbidden: User \"dev\" cannot get path \"/metrics\"");
}

#[tokio::test]
async fn the_store_says_how_it_groups_commits_and_what_the_disk_takes() {
    let folder = Folder::new("metrics");
    let server = Server::test().data_dir(folder.path()).start().await;
    let mut client = Client::new(server.url(), server.token());
    let before = page(&mut client).await;
    for name in ["a", "b", "c"] {
        assert_eq!(send(&mut client, "POST", MAPS, JSON, json!({"metadata": {"name": name}})).await, 201);
    }
    let after = page(&mut client).await;
    let grown = |name: &str| after.value(name, &[]).expect(name) - before.value(name, &[]).expect(name);
    assert!(grown("kindsmith_store_commit_group_size_sum") >= 3.0);
    assert!(grown("kindsmith_store_commit_group_size_count") >= 3.0, "one waits for the other");
    assert!(grown("kindsmith_store_revision") >= 3.0);
    for name in ["kindsmith_store_commit_duration_seconds", "kindsmith_store_fsync_duration_seconds"] {
        assert!(grown(&format!("{name}_count")) >= 3.0, "{name}");
        assert!(grown(&format!("{name}_sum")) > 0.0, "{name}");
    }
    for name in ["refuses_writes", "damaged_values"] {
        assert_eq!(after.value(&format!("kindsmith_store_{name}"), &[]), Some(0.0), "{name}");
    }
    // The server itself writes, too.
    let (start, mut length) = (Instant::now(), after.value("kindsmith_store_queue_length", &[]));
    while length != Some(0.0) {
        assert!(start.elapsed() < Duration::from_secs(20), "{length:?}");
        length = page(&mut client).await.value("kindsmith_store_queue_length", &[]);
    }
    let maps = [("group", ""), ("resource", "configmaps")];
    assert_eq!(after.value("kindsmith_watch_cache_changes", &maps), Some(3.0));
    let bytes = after.value("kindsmith_watch_cache_bytes", &maps).expect("bytes");
    let of_all = |name: &str| after.value(&format!("kindsmith_watch_cache_{name}_bytes"), &[]).expect(name);
    assert!(0.0 < bytes && bytes <= of_all("used") && of_all("used") <= of_all("capacity"), "{bytes}");
}

async fn with_counter(name: &'static str) -> (IntCounterVec, kindsmith::Result<TestServer>) {
    let orders = IntCounterVec::new(Opts::new(name, "Orders, by \\ and\nmore."), &["shop"]).expect("a metric");
    let shown = orders.clone();
    let server = Server::test().configure(|server| server.metrics(move |all| all.register(Box::new(shown))));
    (orders, server.try_start().await)
}

#[tokio::test]
async fn users_add_metrics_of_their_own() {
    let (orders, server) = with_counter("shop_orders_total").await;
    let server = server.expect("a server");
    orders.with_label_values(&["a \"quoted\"\nline \\"]).inc_by(7);
    let page = page(&mut Client::new(server.url(), server.token())).await;
    assert_eq!(page.value("shop_orders_total", &[("shop", "a \"quoted\"\nline \\")]), Some(7.0));
}

#[tokio::test]
async fn the_servers_own_names_are_taken() {
    let (_, server) = with_counter("apiserver_request_total").await;
    let error = server.err().expect("a server that does not start").to_string();
    assert!(error.contains("cannot be registered"), "{error}");
}
