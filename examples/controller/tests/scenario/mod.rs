//! What is expected of the controller, wherever it runs.
use std::time::Duration;

use kindsmith::server::TestServer;
use serde_json::{Value, json};

const SITES: &str = "/apis/example.com/v1/namespaces/default/sites";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const RECORDS: &str = "/api/v1/namespaces/kube-public/configmaps";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// Publishes a site, changes it, loses its page, and deletes it.
pub(crate) async fn publishes(server: &TestServer) {
    let site = json!({"metadata": {"name": "home"}, "spec": {"title": "Welcome"}});
    assert_eq!(server.call("POST", SITES, site).await.0, 201);
    let home = format!("{SITES}/home");
    let published = until(server, &home, |site| site["status"]["conditions"][0]["status"] == "True").await;
    let condition = &published["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["observedGeneration"]), (&json!("Ready"), &json!(1)));
    assert_eq!(published["metadata"]["finalizers"], json!(["example.com/record"]));

    let (_, page) = server.call("GET", &format!("{MAPS}/home"), Value::Null).await;
    assert_eq!(page["data"]["index.html"], "<h1>Welcome</h1>");
    let owner = &page["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["uid"]), (&json!("Site"), &published["metadata"]["uid"]));
    let (_, record) = server.call("GET", &format!("{RECORDS}/default.home"), Value::Null).await;
    assert_eq!(record["data"], json!({"title": "Welcome"}));
    let events =
        until(server, EVENTS, |events| events["items"].as_array().is_some_and(|events| !events.is_empty())).await;
    let event = &events["items"][0];
    assert_eq!((&event["reason"], &event["message"]), (&json!("Published"), &json!("published \"Welcome\"")));
    assert_eq!(event["involvedObject"]["uid"], published["metadata"]["uid"]);

    server.call("PATCH", &home, json!({"spec": {"title": "Hello"}})).await;
    let again = until(server, &home, |site| site["status"]["conditions"][0]["observedGeneration"] == 2).await;
    let since = |site: &Value| site["status"]["conditions"][0]["lastTransitionTime"].clone();
    assert_eq!(since(&again), since(&published), "it was ready all the time");
    until(server, &format!("{MAPS}/home"), |page| page["data"]["index.html"] == "<h1>Hello</h1>").await;

    let (_, lost) = server.call("DELETE", &format!("{MAPS}/home"), Value::Null).await;
    assert_eq!(lost["status"], "Success");
    until(server, &format!("{MAPS}/home"), |page| page["data"]["index.html"] == "<h1>Hello</h1>").await;

    server.call("DELETE", &home, Value::Null).await;
    for path in [&home, &format!("{RECORDS}/default.home"), &format!("{MAPS}/home")] {
        until(server, path, |answer| answer["reason"] == "NotFound").await;
    }
}

/// The answer of a path, once it is as expected.
async fn until(server: &TestServer, path: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1_000 {
        let (_, answer) = server.call("GET", path, Value::Null).await;
        if is_expected(&answer) {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (_, answer) = server.call("GET", path, Value::Null).await;
    panic!("{path} is not as expected: {answer}");
}
