//! Plain watches over WebSocket: one message per event, in the requested encoding.

use kindsmith::{Server, server::TestServer};
use serde_json::{Value, json};

use crate::socket::{Message, Socket};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn make(server: &TestServer, name: &str) -> Value {
    let (code, made) = server.call("POST", MAPS, json!({"metadata": {"name": name}})).await;
    assert_eq!(code, 201, "{made}");
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_is_a_text_message_and_the_end_is_announced() {
    let server = Server::test().start().await;
    let mut made = Vec::new();
    for name in ["a", "b", "c"] {
        made.push(make(&server, name).await);
    }
    let query = "watch=1&timeoutSeconds=3&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                 &allowWatchBookmarks=true";
    let mut socket = Socket::open(&server, &format!("{MAPS}?{query}"), &[]).await.expect("a watch");
    assert_eq!(socket.protocol, None);
    for made in &made {
        assert_eq!(socket.json().await, Some(json!({"type": "ADDED", "object": made})));
    }
    let bookmark = socket.json().await.expect("the end of the beginning");
    assert_eq!(bookmark["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    // Messages from the client are ignored.
    socket.send(Message::Text("hello".into())).await;
    server.call("PATCH", &format!("{MAPS}/a"), json!({"data": {"k": "v"}})).await;
    server.call("DELETE", &format!("{MAPS}/b"), Value::Null).await;
    let changed = socket.json().await.expect("a change");
    assert_eq!((&changed["type"], &changed["object"]["data"]["k"]), (&json!("MODIFIED"), &json!("v")));
    assert_eq!(socket.json().await.expect("an end")["type"], "DELETED");
    assert_eq!(socket.json().await.expect("a last bookmark")["type"], "BOOKMARK");
    assert_eq!(socket.closed().await, Some((1000, String::new())), "three seconds are over");
}

#[tokio::test(flavor = "multi_thread")]
async fn binary_encodings_come_in_binary_messages() {
    let server = Server::test().start().await;
    let made = make(&server, "a").await;
    let uid = made["metadata"]["uid"].as_str().expect("a uid").as_bytes();
    for (accept, beginning) in [
        ("application/vnd.kubernetes.protobuf;stream=watch", b"\x0a\x05ADDED".as_slice()),
        ("application/cbor", b"\xd9\xd9\xf7\xa2\x44typeEADDED"),
        ("application/cbor-seq", b"\xd9\xd9\xf7\xa2\x44typeEADDED"),
    ] {
        let path = format!("{MAPS}?watch=1&timeoutSeconds=30&resourceVersion=0");
        let opened = Socket::open(&server, &path, &[("accept", accept)]).await;
        let Some(Message::Binary(event)) = opened.expect("a watch").next().await else { panic!("{accept}: no bytes") };
        assert!(event.starts_with(beginning), "{accept}: {event:?}");
        assert!(event.windows(uid.len()).any(|found| found == uid), "{accept}: the object is in it");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_watch_gets_an_error_in_its_stream() {
    let server = Server::test().configure(|server| server.limits(|all| all.cache.history_bytes = 1)).start().await;
    let first = make(&server, "a").await;
    for name in ["b", "c", "d", "e"] {
        make(&server, name).await;
    }
    server.store().compact(server.store().head()).expect("memory forgets");
    let version = first["metadata"]["resourceVersion"].as_str().expect("a version");
    let path = format!("{MAPS}?watch=1&resourceVersion={version}");
    let mut socket = Socket::open(&server, &path, &[]).await.expect("a watch");
    let event = socket.json().await.expect("an event");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)), "{event}");
    assert_eq!(event["object"]["reason"], "Expired");
    assert_eq!(socket.closed().await, Some((1000, String::new())));
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_and_single_objects_are_watched_alike() {
    let server = Server::test().start().await;
    make(&server, "a").await;
    make(&server, "b").await;
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let path = format!("{MAPS}?watch=1&resourceVersion=0");
    let mut socket = Socket::open(&server, &path, &[("accept", table)]).await.expect("a watch");
    let rows = [socket.json().await.expect("a row"), socket.json().await.expect("a row")];
    let names: Vec<_> = rows.iter().map(|event| &event["object"]["rows"][0]["cells"][0]).collect();
    assert_eq!(names, ["a", "b"]);
    let single = MAPS.replacen("/v1/", "/v1/watch/", 1);
    let mut socket = Socket::open(&server, &format!("{single}/b?resourceVersion=0"), &[]).await.expect("a watch");
    assert_eq!(socket.json().await.expect("an event")["object"]["metadata"]["name"], "b");
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_name_a_subprotocol_and_send_their_token_as_another() {
    let server = Server::test().start().await;
    make(&server, "a").await;
    let path = format!("{MAPS}?watch=1&resourceVersion=0");
    let mut socket = Socket::speaking(&server, &path, "my.own.protocol").await;
    assert_eq!(socket.json().await.expect("an event")["type"], "ADDED");
    let token = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, server.token());
    let protocols = format!("base64url.bearer.authorization.k8s.io.{token}, my.own.protocol");
    let mut socket = Socket::open_as(&server, &path, &[("sec-websocket-protocol", &protocols)]).await.expect("a watch");
    assert_eq!(socket.protocol.as_deref(), Some("my.own.protocol"), "the token is not sent back");
    assert_eq!(socket.json().await.expect("an event")["type"], "ADDED");
    for (protocols, code) in [("", 403), ("base64url.bearer.authorization.k8s.io.bm9uZQ, x", 401)] {
        let refused = Socket::open_as(&server, &path, &[("sec-websocket-protocol", protocols)]).await;
        assert_eq!(refused.err().map(|(code, _)| code), Some(code), "{protocols}");
    }
    let (code, body) =
        Socket::open(&server, &path, &[("sec-websocket-protocol", "one, two")]).await.err().expect("a refusal");
    assert!(code == 403 && body.contains("any one"), "{code} {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_the_server_ends_watches() {
    let server = Server::test().start().await;
    let mut socket = Socket::open(&server, &format!("{MAPS}?watch=1"), &[]).await.expect("a watch");
    let stopping = tokio::task::spawn_blocking(move || {
        let begun = std::time::Instant::now();
        server.stop();
        begun.elapsed()
    });
    let closed = socket.closed().await;
    assert!(matches!(closed, Some((1000 | 1001, _))), "{closed:?}");
    let took = stopping.await.expect("it stops");
    assert!(took < std::time::Duration::from_secs(8), "{took:?}");
}
