//! A server in front of others: another server of this kind, and one that records what it gets.
mod behind;
mod recorder;

use std::{collections::BTreeMap, pin::Pin, sync::Arc};

use axum_core::{body::Body, extract::Request, response::Response};
use http_body_util::BodyExt;
use tower_service::Service as _;

use self::recorder::Recorder;
use super::*;
use crate::{builtin::APIService, server::TestServer};

/// A server in front, whose services are all on this machine at the port that they name.
async fn front() -> TestServer {
    let builder = Server::test().configure(|builder| {
        let builder = builder.aggregation();
        builder.webhook_services(|service| Some(format!("127.0.0.1:{}", service.port)))
    });
    builder.start().await
}

/// Registers `example.com/v1`, or another version, with the service `b` in the namespace `a`.
async fn register(front: &TestServer, group: &str, port: u16, authority: &str) {
    let bundle = crate::meta::ByteString(authority.as_bytes().to_vec()).to_base64();
    let service = json!({
        "metadata": {"name": format!("v1.{group}")},
        "spec": {"group": group, "version": "v1", "groupPriorityMinimum": 2_000, "versionPriority": 10, "caBundle": bundle,
                 "service": {"namespace": "a", "name": "b", "port": port}},
    });
    let (code, answer) = front.call("POST", "/apis/apiregistration.k8s.io/v1/apiservices", service).await;
    assert_eq!(code, 201, "{answer}");
}

/// Waits until the condition of a service has a reason, and returns its status and message.
async fn wait_for(front: &TestServer, group: &str, reason: &str) -> (String, String) {
    let client = front.client();
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let service = client.of::<APIService>("").get(&format!("v1.{group}")).await.expect("the service");
        let condition = service.status.conditions.first().cloned().unwrap_or_default();
        if condition.reason == reason {
            return (condition.status, condition.message);
        }
        assert!(Instant::now() < end, "{reason} expected: {condition:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// A user with everything that headers name.
fn alice() -> User {
    User {
        name: "alice".to_owned(),
        uid: "7".to_owned(),
        groups: ["system:masters", "readers", "system:authenticated"].map(str::to_owned).into(),
        extra: [("example.com/scope%".to_owned(), vec!["view".to_owned(), "edit".to_owned()])].into(),
    }
}

/// Sends a request to the front as a user in the process.
async fn send(front: &TestServer, user: &User, request: hyper::http::request::Builder, body: Body) -> Response {
    let mut request: Request = request.body(body).expect("a request");
    request.extensions_mut().insert(Arc::new(user.clone()));
    front.service().call(request).await.expect("an answer")
}

async fn text(answer: Response) -> (u16, String) {
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    (code, String::from_utf8(body.to_vec()).expect("text"))
}

/// The next piece of a body.
async fn piece(body: &mut Body) -> Option<String> {
    let frame = timeout(
        Duration::from_secs(30),
        std::future::poll_fn(|cx| http_body::Body::poll_frame(Pin::new(&mut *body), cx)),
    );
    let frame = frame.await.expect("a piece in time")?.ok()?;
    Some(String::from_utf8(frame.into_data().ok()?.to_vec()).expect("text"))
}

#[tokio::test]
async fn the_server_behind_sees_the_user_of_the_front_and_no_credentials() {
    let (front, behind) = (front().await, Recorder::start().await);
    register(&front, "example.com", behind.port, &behind.authority).await;
    let passed = ("True".to_owned(), "all checks passed".to_owned());
    assert_eq!(wait_for(&front, "example.com", "Passed").await, passed);
    let checked = behind.last_check();
    assert_eq!(checked.values("x-remote-user"), ["system:kube-aggregator"]);
    assert_eq!(checked.values("x-remote-group"), ["system:masters"]);
    assert_eq!(checked.client, "front-proxy-client", "the name in its certificate");

    let request = hyper::Request::post("/apis/example.com/v1/namespaces/a/things/x?dryRun=All&x=%20")
        .header("authorization", "Bearer secret")
        .header("connection", "x-hop, keep-alive")
        .header("x-hop", "1")
        .header("x-remote-user", "forged")
        .header("X_Remote_User", "forged")
        .header("x-remote-group", "forged")
        .header("x-remote-extra-forged", "forged")
        .header("x-remote-uid", "forged")
        .header("impersonate-extra", "")
        .header("audit-id", "5")
        .header("content-type", "application/json");
    let answer = send(&front, &alice(), request, Body::from("{\"a\":1}")).await;
    assert_eq!((answer.status().as_u16(), &answer.headers()["x-behind"]), (200, &"yes".parse().unwrap()));
    assert!(!answer.headers().contains_key("keep-alive"));
    let seen = behind.last();
    assert_eq!(seen.line, "POST /apis/example.com/v1/namespaces/a/things/x?dryRun=All&x=%20");
    assert_eq!(seen.body, "{\"a\":1}");
    assert_eq!(seen.values("x-remote-user"), ["alice"]);
    assert_eq!(seen.values("x-remote-uid"), ["7"]);
    assert_eq!(seen.values("x-remote-group"), ["system:masters", "readers", "system:authenticated"]);
    assert_eq!(seen.values("x-remote-extra-example.com%2fscope%25"), ["view", "edit"]);
    assert_eq!((seen.values("audit-id"), seen.values("content-type")), (vec!["5"], vec!["application/json"]));
    assert_eq!(seen.values("host"), [format!("b.a.svc:{}", behind.port)]);
    for gone in ["authorization", "x-hop", "x_remote_user", "x-remote-extra-forged", "impersonate-extra"] {
        assert!(seen.values(gone).is_empty(), "{gone}");
    }
}

#[tokio::test]
async fn the_front_authorizes_and_impersonates_before_a_request_goes_on() {
    let (front, behind) = (front().await, Recorder::start().await);
    register(&front, "example.com", behind.port, &behind.authority).await;
    wait_for(&front, "example.com", "Passed").await;
    let nobody = User { name: "nobody".to_owned(), ..User::default() };
    let path = "/apis/example.com/v1/things";
    let (code, answer) = front.call_as(&nobody, "GET", path, Value::Null).await;
    assert_eq!(code, 403);
    let why = "things.example.com is forbidden: User \"nobody\" cannot list resource \"things\" in API group \"example.com\" at the cluster scope";
    assert_eq!(answer["message"], why);
    assert_eq!(behind.last().line, "", "it has not arrived");

    let request =
        hyper::Request::get(path).header("impersonate-user", "bob").header("impersonate-group", "system:masters");
    assert_eq!(send(&front, &alice(), request, Body::empty()).await.status(), 200);
    let seen = behind.last();
    assert_eq!(seen.values("x-remote-user"), ["bob"]);
    assert_eq!(seen.values("x-remote-group"), ["system:masters", "system:authenticated"]);
    assert!(seen.values("impersonate-user").is_empty() && seen.values("x-remote-uid").is_empty());
}

#[tokio::test]
async fn a_watch_is_passed_on_piece_by_piece_and_ends_with_the_client() {
    let (front, behind) = (front().await, Recorder::start().await);
    register(&front, "example.com", behind.port, &behind.authority).await;
    wait_for(&front, "example.com", "Passed").await;
    let request = hyper::Request::get("/apis/example.com/v1/things?watch=true");
    let mut body = send(&front, &alice(), request, Body::empty()).await.into_body();
    assert_eq!(piece(&mut body).await.as_deref(), Some("first\n"));
    behind.say("second\n").await;
    assert_eq!(piece(&mut body).await.as_deref(), Some("second\n"));
    drop(body);
    timeout(Duration::from_secs(30), behind.watch_ended()).await.expect("the watch behind ends with the client");

    let request = hyper::Request::get("/apis/example.com/v1/things?watch=true");
    let mut body = send(&front, &alice(), request, Body::empty()).await.into_body();
    assert_eq!(piece(&mut body).await.as_deref(), Some("first\n"));
    let stopping = std::thread::spawn(move || front.stop());
    assert_eq!(piece(&mut body).await, None, "the server in front stops");
    tokio::task::spawn_blocking(move || stopping.join().unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_unavailable() {
    let front = front().await;
    let stranger = Recorder::start().await;
    let behind = Recorder::start().await;
    register(&front, "example.com", behind.port, &stranger.authority).await;
    let (status, message) = wait_for(&front, "example.com", "FailedDiscoveryCheck").await;
    assert_eq!(status, "False");
    let url = format!("https://b.a.svc:{}/apis/example.com/v1", behind.port);
    let expected = format!("failing or missing response from {url}: Get \"{url}\": tls: ");
    assert!(message.starts_with(&expected), "{message}");
    let request = hyper::Request::get("/apis/example.com/v1/things");
    let answer = send(&front, &alice(), request, Body::empty()).await;
    assert_eq!(answer.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(text(answer).await, (503, "service unavailable\n".to_owned()));
}

#[tokio::test]
async fn the_authority_and_the_headers_are_published() {
    let front = front().await;
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    let (_, map) = front.call("GET", path, Value::Null).await;
    let data = &map["data"];
    assert!(data["requestheader-client-ca-file"].as_str().unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    assert_eq!(data["requestheader-allowed-names"], "[\"front-proxy-client\"]");
    assert_eq!(data["requestheader-username-headers"], "[\"X-Remote-User\"]");
    assert_eq!(data["requestheader-uid-headers"], "[\"X-Remote-Uid\"]");
    assert_eq!(data["requestheader-group-headers"], "[\"X-Remote-Group\"]");
    assert_eq!(data["requestheader-extra-headers-prefix"], "[\"X-Remote-Extra-\"]");
}

/// The condition of discovery: a version of a group with its resources and its freshness.
async fn discovered(front: &TestServer, group: &str) -> (Vec<String>, Value) {
    let request = hyper::Request::get("/apis")
        .header("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let (_, list) = text(send(front, &alice(), request, Body::empty()).await).await;
    let list: Value = serde_json::from_str(&list).unwrap();
    let items = list["items"].as_array().unwrap();
    let names = items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    let found = items.iter().find(|item| item["metadata"]["name"] == group);
    (names, found.map_or(Value::Null, |item| item["versions"][0].clone()))
}

/// The reason of the condition of each service, by name.
async fn services(front: &TestServer) -> BTreeMap<String, (String, String)> {
    let list = front.client().of::<APIService>("").list(&crate::meta::options::ListOptions::default()).await.unwrap();
    let label =
        |service: &APIService| service.metadata.labels.get("kube-aggregator.kubernetes.io/automanaged").cloned();
    let entry = |service: APIService| {
        let reason = service.status.conditions.first().map(|condition| condition.reason.clone());
        (service.metadata.name.clone(), (label(&service).unwrap_or_default(), reason.unwrap_or_default()))
    };
    list.items.into_iter().map(entry).collect()
}

#[tokio::test]
async fn local_groups_have_services_of_their_own() {
    let builder =
        Server::test().kind::<crate::widget::Widget>().configure(|builder| builder.aggregation().definitions());
    let front = builder.start().await;
    let expected = |label: &str| (label.to_owned(), "Local".to_owned());
    until("the services of all groups", || async {
        let services = services(&front).await;
        services.get("v1.") == Some(&expected("onstart"))
            && services.get("v1.rbac.authorization.k8s.io") == Some(&expected("onstart"))
            && services.get("v1.conformance.example.com") == Some(&expected("true"))
    })
    .await;
    assert!(!services(&front).await.contains_key("v1.apiregistration.k8s.io"));
    let delete = async |name: &str| {
        let path = format!("/apis/apiregistration.k8s.io/v1/apiservices/{name}");
        assert_eq!(front.call("DELETE", &path, Value::Null).await.0, 200);
    };
    delete("v1.coordination.k8s.io").await;
    delete("v1.conformance.example.com").await;
    until("the service of a declared group again", || async {
        services(&front).await.contains_key("v1.conformance.example.com")
    })
    .await;
    assert!(
        !services(&front).await.contains_key("v1.coordination.k8s.io"),
        "that of Kubernetes comes at the next start"
    );
    let definition = json!({
        "metadata": {"name": "gears.example.org"},
        "spec": {"group": "example.org", "scope": "Cluster", "names": {"plural": "gears", "kind": "Gear"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(front.call("POST", definitions, definition).await.0, 201);
    until("the service of a defined group", || async { services(&front).await.contains_key("v1.example.org") }).await;
    assert_eq!(front.call("DELETE", &format!("{definitions}/gears.example.org"), Value::Null).await.0, 200);
    until("no service of it", || async { !services(&front).await.contains_key("v1.example.org") }).await;
}

#[tokio::test]
async fn an_upgraded_connection_goes_both_ways_without_the_token_of_a_browser() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (front, behind) = (front().await, Recorder::start().await);
    register(&front, "example.com", behind.port, &behind.authority).await;
    wait_for(&front, "example.com", "Passed").await;
    let mut socket = tokio::net::TcpStream::connect(("127.0.0.1", front.port())).await.unwrap();
    let token = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, front.token());
    let head = format!(
        "POST /apis/example.com/v1/namespaces/a/pods/x/exec?command=sh HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-protocol: base64url.bearer.authorization.k8s.io.{token}, v5.channel.k8s.io\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(timeout(Duration::from_secs(30), socket.read_u8()).await.unwrap().unwrap());
    }
    let answer = String::from_utf8(answer).unwrap().to_ascii_lowercase();
    assert!(answer.starts_with("http/1.1 101 ") && answer.contains("upgrade: websocket\r\n"), "{answer}");
    let seen = behind.last();
    assert_eq!(seen.values("x-remote-user"), ["admin"]);
    assert_eq!(seen.values("sec-websocket-protocol"), ["v5.channel.k8s.io"]);
    for text in ["hello", "again"] {
        socket.write_all(text.as_bytes()).await.unwrap();
        let mut echo = [0; 5];
        timeout(Duration::from_secs(30), socket.read_exact(&mut echo)).await.unwrap().unwrap();
        assert_eq!(echo, text.as_bytes());
    }
    tokio::task::spawn_blocking(move || front.stop()).await.unwrap();
    assert_eq!(socket.read(&mut [0; 1]).await.unwrap_or_default(), 0, "the connection ends with the server");
}

#[tokio::test]
async fn a_server_that_does_not_answer_in_time_is_unavailable() {
    let (front, stranger) = (front().await, Recorder::start().await);
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    register(&front, "example.com", silent.local_addr().unwrap().port(), &stranger.authority).await;
    let (status, message) = wait_for(&front, "example.com", "FailedDiscoveryCheck").await;
    assert_eq!(status, "False");
    assert!(message.ends_with(": context deadline exceeded"), "{message}");
}
