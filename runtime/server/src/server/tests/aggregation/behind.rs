//! A server of this kind behind: objects and watches through the front, discovery, and what happens when it stops or is slow.
use std::{fs, path::PathBuf};

use super::*;
use crate::{
    auth::{AllowAll, Authenticate, Credentials, Identity},
    meta::ByteString,
    server::TestBuilder,
    widget::Widget,
};

/// Takes the user from the headers of the proxy.
struct FromHeaders;

impl Authenticate for FromHeaders {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> crate::auth::Soon<'a, Identity> {
        let user = credentials.headers.header("x-remote-user").map(|name| {
            let group = credentials.headers.header("x-remote-group").unwrap_or_default();
            Arc::new(User { name: name.to_owned(), groups: vec![group.to_owned()], ..User::default() })
        });
        crate::auth::Soon::now(Ok(user))
    }
}

/// A data directory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("kindsmith-behind-{}", crate::server::state::random_text(8));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn behind(folder: &Folder) -> TestBuilder {
    Server::test()
        .data_dir(&folder.0)
        .tls()
        .kind::<Widget>()
        .configure(|builder| builder.host_name("b.a.svc").authenticator(FromHeaders).authorizer(AllowAll))
}

const GROUP: &str = "conformance.example.com";
const WIDGETS: &str = "/apis/conformance.example.com/v1/namespaces/default/widgets";

async fn registered(front: &TestServer, behind: &TestServer) {
    let authority = fs::read_to_string(behind.authority()).unwrap();
    register(front, GROUP, behind.port(), &authority).await;
    wait_for(front, GROUP, "Passed").await;
}

#[tokio::test]
async fn objects_are_created_listed_watched_and_patched_through_the_front() {
    let folder = Folder::new();
    let (front, behind) = (front().await, behind(&folder).start().await);
    registered(&front, &behind).await;
    let watch = hyper::Request::get(format!("{WIDGETS}?watch=true"));
    let mut events = send(&front, &alice(), watch, Body::empty()).await.into_body();
    let widget = json!({"metadata": {"name": "w"}, "spec": {"size": 3}});
    let widget = json!({"apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": widget["metadata"], "spec": widget["spec"]});
    let (code, created) = front.call_as(&alice(), "POST", WIDGETS, widget).await;
    assert_eq!((code, &created["spec"]["color"]), (201, &json!("Red")), "{created}");
    let (code, patched) = front.call_as(&alice(), "PATCH", &format!("{WIDGETS}/w"), json!({"spec": {"size": 4}})).await;
    assert_eq!((code, &patched["spec"]["size"]), (200, &json!(4)), "{patched}");
    let (code, list) = front.call_as(&alice(), "GET", WIDGETS, Value::Null).await;
    assert_eq!((code, &list["items"][0]["spec"]["size"]), (200, &json!(4)), "{list}");
    let mut seen = String::new();
    while !seen.contains("MODIFIED") {
        seen += &piece(&mut events).await.expect("an event");
    }
    assert!(seen.starts_with("{\"type\":\"ADDED\""), "{seen}");
    let (code, found) = behind.call("GET", &format!("{WIDGETS}/w"), Value::Null).await;
    assert_eq!((code, &found["metadata"]["uid"]), (200, &created["metadata"]["uid"]));
    let (code, missing) = front.call_as(&alice(), "GET", &format!("{WIDGETS}/x"), Value::Null).await;
    assert_eq!((code, &missing["message"]), (404, &json!("widgets.conformance.example.com \"x\" not found")));
}

#[tokio::test]
async fn a_server_behind_that_stops_is_unavailable_until_it_is_back() {
    let folder = Folder::new();
    let (front, first) = (front().await, behind(&folder).start().await);
    registered(&front, &first).await;
    let port = first.port();
    first.stop();
    let request = hyper::Request::get(WIDGETS);
    let (code, message) = text(send(&front, &alice(), request, Body::empty()).await).await;
    assert_eq!(code, 503);
    assert!(message.starts_with("error trying to reach service: dial tcp 127.0.0.1:"), "{message}");
    // The failed request has it checked.
    wait_for(&front, GROUP, "FailedDiscoveryCheck").await;
    let request = hyper::Request::get(WIDGETS);
    let answer = send(&front, &alice(), request, Body::empty()).await;
    assert_eq!(text(answer).await, (503, "service unavailable\n".to_owned()));
    // Another server at its address, with an authority of its own.
    let folder = Folder::new();
    let second = behind(&folder).port(port).start().await;
    let authority = ByteString(fs::read(second.authority()).unwrap()).to_base64();
    let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.conformance.example.com";
    let (code, patched) = front.call("PATCH", path, json!({"spec": {"caBundle": authority}})).await;
    assert_eq!(code, 200, "{patched}");
    wait_for(&front, GROUP, "Passed").await;
    let (code, _) = front.call_as(&alice(), "GET", WIDGETS, Value::Null).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn discovery_and_openapi_have_the_groups_of_the_server_behind() {
    let folder = Folder::new();
    let (front, behind) = (front().await, behind(&folder).start().await);
    registered(&front, &behind).await;
    until("its resources", || async {
        let (_, version) = discovered(&front, GROUP).await;
        version["freshness"] == "Current" && version["resources"][0]["resource"] == "widgets"
    })
    .await;
    let (names, version) = discovered(&front, GROUP).await;
    let (_, own) = discovered(&behind, GROUP).await;
    assert_eq!(version, own);
    assert_eq!(names[0], "apiregistration.k8s.io");
    assert_eq!(names.last().map(String::as_str), Some(GROUP), "{names:?}");
    let (code, list) = front.call("GET", "/apis/conformance.example.com/v1", Value::Null).await;
    assert_eq!((code, &list["resources"][0]["name"]), (200, &json!("widgets")));
    let (_, group) = front.call("GET", "/apis/conformance.example.com", Value::Null).await;
    assert_eq!(group["preferredVersion"]["groupVersion"], "conformance.example.com/v1");
    let (_, groups) = front.call("GET", "/apis", Value::Null).await;
    let groups: Vec<_> =
        groups["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(groups, names);
    let (_, index) = front.call("GET", "/openapi/v3", Value::Null).await;
    let url = index["paths"]["apis/conformance.example.com/v1"]["serverRelativeURL"].as_str().expect("a path");
    let (code, document) = front.call("GET", url, Value::Null).await;
    assert_eq!(code, 200);
    assert!(document["paths"].as_object().unwrap().contains_key("/apis/conformance.example.com/v1/widgets"));
    let has_widgets = |document: &Value| {
        let has_path = document["paths"].get("/apis/conformance.example.com/v1/widgets").is_some();
        let has_definition = document["definitions"].get("com.example.conformance.v1.Widget").is_some();
        assert_eq!(has_path, has_definition);
        has_path
    };
    let (code, document) = front.call("GET", "/openapi/v2", Value::Null).await;
    assert!(code == 200 && has_widgets(&document) && document["paths"].get("/api/v1/namespaces").is_some());
    let names: Vec<_> =
        document["definitions"].as_object().unwrap().keys().filter(|name| name.ends_with("_v2")).collect();
    assert!(names.is_empty(), "both have the same shared definitions: {names:?}");
    behind.stop();
    front.call("GET", "/apis/conformance.example.com/v1/widgets", Value::Null).await;
    wait_for(&front, GROUP, "FailedDiscoveryCheck").await;
    assert!(!has_widgets(&front.call("GET", "/openapi/v2", Value::Null).await.1));
    let (_, stale) = discovered(&front, GROUP).await;
    assert_eq!((&stale["freshness"], &stale["resources"]), (&json!("Stale"), &version["resources"]));
}
