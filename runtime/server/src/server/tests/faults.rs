//! Tests of faults over the service: which requests meet them, and what they are answered.
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Server, server::TestServer};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn server() -> TestServer {
    let server = Server::test().without_listener().start().await;
    server.call("POST", MAPS, json!({"metadata": {"name": "a"}})).await;
    server
}

/// The code of an answer, its reason and its message.
async fn refusal(server: &TestServer, method: &str, path: &str) -> (u16, String, String) {
    let (code, body) = server.call(method, path, json!({})).await;
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    (code, text("reason"), text("message"))
}

#[tokio::test]
async fn answers_are_those_of_kube_apiserver() {
    let server = server().await;
    let (faults, object) = (server.faults(), format!("{MAPS}/a"));
    faults.conflict().on("PUT", "/api/v1/namespaces/*/configmaps/*").once();
    let (code, status) = server.call("PUT", &object, json!({})).await;
    let expected = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the \
                    latest version and try again",
        "reason": "Conflict", "details": {"name": "a", "kind": "configmaps"}, "code": 409,
    });
    assert_eq!((code, status), (409, expected));
    faults.too_many_requests(Duration::from_millis(2_500)).once();
    let (code, status) = server.call("GET", &object, Value::Null).await;
    assert_eq!(
        (code, &status["details"]["retryAfterSeconds"], &status["reason"]),
        (429, &json!(3), &json!("TooManyRequests"))
    );
    faults.gone().times(2);
    let (code, event) = server.call("GET", &format!("{MAPS}?watch=true&resourceVersion=5"), Value::Null).await;
    let status = &event["object"];
    assert_eq!(
        (code, &event["type"], &status["code"], &status["reason"]),
        (200, &json!("ERROR"), &json!(410), &json!("Expired"))
    );
    assert_eq!(status["message"], "too old resource version: 5 (6)");
    let (code, reason, message) = refusal(&server, "GET", &format!("{MAPS}?limit=1&continue=abc")).await;
    assert!(code == 410 && reason == "Expired" && message.starts_with("The provided continue parameter is too old"));
    faults.timeout().once();
    assert_eq!(refusal(&server, "GET", &object).await.0, 504);
    assert_eq!(server.call("GET", &object, Value::Null).await.0, 200, "nothing is left");
}

#[tokio::test]
async fn a_fault_is_met_by_what_it_is_on_as_often_as_said() {
    let server = server().await;
    let (faults, object) = (server.faults(), format!("{MAPS}/a"));
    for (method, target, meets) in [
        ("GET", "/api/v1/namespaces/default/configmaps/a", true),
        ("get", "configmaps", true),
        ("*", "/api/v1/**", true),
        ("*", "/**", true),
        ("GET", "/api/v1/namespaces/*/configmaps/*", true),
        ("GET", "/api/v1/namespaces/*/configmaps", false),
        ("list", "configmaps", false),
        ("get", "configmaps/status", false),
        ("get", "configmaps.example.com", false),
        ("PUT", "configmaps", false),
    ] {
        let fault = faults.unavailable().on(method, target).once();
        let codes =
            [server.call("GET", &object, Value::Null).await.0, server.call("GET", &object, Value::Null).await.0];
        let expected = if meets { [503, 200] } else { [200, 200] };
        assert_eq!((codes, fault.count()), (expected, u64::from(meets)), "{method} {target}");
        fault.remove();
    }
    faults.unavailable().by("someone").always();
    faults.unavailable().always().remove();
    assert_eq!(server.call("GET", &object, Value::Null).await.0, 200);
    faults.unavailable().always();
    faults.clear();
    assert_eq!(server.call("GET", &object, Value::Null).await.0, 200);
}

#[tokio::test]
async fn an_operation_may_be_carried_out_though_its_answer_is_another() {
    let server = server().await;
    let create = async |name: &str| server.call("POST", MAPS, json!({"metadata": {"name": name}})).await.0;
    server.faults().timeout().on("create", "configmaps").once();
    assert_eq!((create("b").await, create("b").await), (504, 201), "it was not carried out");
    server.faults().timeout().carried_out().on("create", "configmaps").once();
    assert_eq!((create("c").await, create("c").await), (504, 409), "it was carried out");
}
