//! Requests about objects: authorization, refusals, and forms of answers.
use super::*;

#[tokio::test]
async fn who_may_ask() {
    let rig = Rig::new().await;
    for (authorization, code) in
        [("Bearer admintoken", 200), ("Bearer wrong", 401), ("Bearer alicetoken", 403), ("", 403)]
    {
        let headers = [("authorization", authorization)];
        assert_eq!(rig.json("GET", CONFIG_MAPS, &headers, "").await.0, code, "{authorization}");
    }
    let (_, status) = rig.json("GET", &format!("{CONFIG_MAPS}/a"), &[("authorization", "")], "").await;
    let recorded = "configmaps \"a\" is forbidden: User \"system:anonymous\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\"";
    assert_eq!(status["message"], recorded);
    // Users without permission do not learn whether something exists.
    assert_eq!(rig.json("GET", "/apis/no/such/thing", &[("authorization", "")], "").await.0, 403);
    assert_eq!(rig.json("PUT", CONFIG_MAPS, &[("authorization", "Bearer alicetoken")], "").await.0, 403);
}

#[tokio::test]
async fn missing_objects_and_resources() {
    let rig = Rig::new().await;
    for (path, want) in [
        ("/api/v1/namespaces/default/nothings", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/configmaps/a/status", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/namespaces", "the server could not find the requested resource"),
        ("/api/v1/configmaps/a", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/configmaps/a/b/c", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/configmaps/a", "configmaps \"a\" not found"),
        (
            "/apis/conformance.example.com/v1/namespaces/default/widgets/w/nothing",
            "widgets.conformance.example.com \"w\" not found",
        ),
    ] {
        let (code, status) = rig.get(path).await;
        assert_eq!((code, status["message"].as_str()), (404, Some(want)), "{path}");
    }
    for path in [
        "/apis/no.such.group/v1/things",
        "/apis/no.such.group",
        "/api/v9",
        "/nothing",
        "/readyz/nothing",
        "/openapi/v4",
    ] {
        let answer = rig.answer("GET", path, &[], "").await;
        assert_eq!(answer.status(), 404, "{path}");
        assert_eq!(header(answer.headers(), "content-type"), "text/plain; charset=utf-8");
        assert_eq!(text(answer).await, "404 page not found\n");
    }
    assert_eq!(rig.answer("GET", "/api/v1/%zz", &[], "").await.status(), 400);
}

#[tokio::test]
async fn methods_that_do_not_apply() {
    let rig = Rig::new().await;
    let widget = "/apis/conformance.example.com/v1/namespaces/default/widgets/w";
    for (method, path) in [
        ("POST", format!("{CONFIG_MAPS}/a")),
        ("PUT", CONFIG_MAPS.to_owned()),
        ("PATCH", CONFIG_MAPS.to_owned()),
        ("POST", "/api/v1/configmaps".to_owned()),
        ("DELETE", "/api/v1/configmaps".to_owned()),
        ("DELETE", "/api/v1/namespaces".to_owned()),
        ("POST", format!("{widget}/status")),
        ("DELETE", format!("{widget}/status")),
        ("GET", "/api/v1/namespaces/default/finalize".to_owned()),
        ("DELETE", "/api/v1/watch/namespaces/default/configmaps".to_owned()),
        ("POST", "/version".to_owned()),
    ] {
        let answer = rig.answer(method, &path, &[], "{}").await;
        assert_eq!(answer.status(), 405, "{method} {path}");
    }
}

#[tokio::test]
async fn bodies_that_are_refused() {
    let rig = Rig::new().await;
    let with = |media_type: &'static str| [("content-type", media_type)];
    let big = format!("{{\"a\":\"{}\"}}", "x".repeat(10_000));
    let (code, status) = rig.json("POST", CONFIG_MAPS, &with("application/json"), &big).await;
    assert_eq!((code, status["message"].as_str()), (413, Some("Request entity too large: limit is 10000")));
    assert_eq!(rig.json("POST", CONFIG_MAPS, &with("text/plain"), "{}").await.0, 415);
    assert_eq!(rig.json("PATCH", &format!("{CONFIG_MAPS}/a"), &with("application/json"), "{}").await.0, 415);
    for body in ["", "{not json", "[]", "{} {}", "\u{0}"] {
        let (code, status) = rig.json("POST", CONFIG_MAPS, &with("application/json"), body).await;
        assert_eq!((code, status["reason"].as_str()), (400, Some("BadRequest")), "{body}");
    }
    let twice = r#"{"metadata":{"name":"a","name":"b"}}"#;
    let strict = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let (code, status) = rig.json("POST", &strict, &with("application/json"), twice).await;
    assert_eq!(code, 400);
    assert!(status["message"].as_str().unwrap().ends_with("strict decoding error: duplicate field \"metadata.name\""));
    let answer = rig.answer("POST", CONFIG_MAPS, &with("application/json; charset=utf-8"), twice).await;
    assert_eq!(
        (answer.status().as_u16(), header(answer.headers(), "warning")),
        (201, r#"299 - "duplicate field \"metadata.name\"""#.to_owned())
    );
}

#[tokio::test]
async fn a_panic_in_a_hook_is_an_answer() {
    let rig = Rig::new().await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/fragiles";
    let (code, status) = rig.post(path, &json!({"metadata": {"name": "a"}, "spec": {"size": 1}})).await;
    assert_eq!((code, status["reason"].as_str()), (500, Some("InternalError")));
    assert_eq!(rig.get(path).await.0, 200, "the server lives on");
}

#[tokio::test]
async fn objects_and_lists_in_every_form() {
    let rig = Rig::new().await;
    let made = rig.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let answer = rig.answer("GET", &path, &[], "").await;
    assert_eq!(header(answer.headers(), "content-type"), "application/json");
    assert_eq!(header(answer.headers(), "cache-control"), "no-cache, private");
    assert!(!header(answer.headers(), "audit-id").is_empty());
    let exact = answer.body().size_hint().exact();
    let bytes = collect(answer).await;
    assert_eq!(exact, Some(bytes.len() as u64));
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), made);
    let pretty = text(rig.answer("GET", &path, &[("user-agent", "curl/8")], "").await).await;
    assert!(pretty.starts_with("{\n  \"kind\": \"ConfigMap\",\n"), "{pretty}");
    let (_, list) = rig.get(CONFIG_MAPS).await;
    assert_eq!((list["kind"].as_str(), list["items"][0].get("kind")), (Some("ConfigMapList"), None));
    assert_eq!(list["items"][0]["metadata"], made["metadata"]);
    let form = |name: &str| format!("application/json;as={name};g=meta.k8s.io;v=v1");
    for (path, accept, want) in [
        (&*path, TABLE.to_owned(), "Table"),
        (&*path, form("PartialObjectMetadata"), "PartialObjectMetadata"),
        (CONFIG_MAPS, TABLE.to_owned(), "Table"),
        (CONFIG_MAPS, form("PartialObjectMetadataList"), "PartialObjectMetadataList"),
    ] {
        let (code, shaped) = rig.json("GET", path, &[("accept", &accept)], "").await;
        assert_eq!((code, shaped["kind"].as_str()), (200, Some(want)), "{accept}");
    }
    for (path, accept) in [
        (&*path, form("PartialObjectMetadataList")),
        (CONFIG_MAPS, form("PartialObjectMetadata")),
        (CONFIG_MAPS, "text/html".to_owned()),
    ] {
        assert_eq!(rig.json("GET", path, &[("accept", &accept)], "").await.0, 406, "{accept}");
    }
}

#[tokio::test]
async fn deletions() {
    let rig = Rig::new().await;
    let made = rig.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let wrong = json!({"preconditions": {"uid": "other"}}).to_string();
    assert_eq!(rig.json("DELETE", &path, &[], &wrong).await.0, 409, "options of the body count");
    let (code, status) = rig.json("DELETE", &path, &[], "").await;
    let details = json!({"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]});
    assert_eq!((code, &status["status"], &status["details"]), (200, &json!("Success"), &details));
    rig.config_map("b").await;
    let (code, list) = rig.json("DELETE", CONFIG_MAPS, &[], "").await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(1)));
}

#[tokio::test]
async fn the_state_of_a_request_stays_small() {
    let rig = Rig::new().await;
    let request = Request::builder().uri("/").body(Body::empty()).unwrap();
    let mut slot = None;
    let mut asked = None;
    let handler = dispatch::handle(&rig.0, request, &mut slot, &mut asked);
    // It is copied several times on its way to the heap: at 9 KB that was a tenth of the cost of a get.
    assert!(size_of_val(&handler) < 4_000, "{} bytes", size_of_val(&handler));
}
