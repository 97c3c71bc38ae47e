//! Requests about objects: authorization, refusals, and forms of answers.
use super::*;
use crate::kind::endpoint::{self, Verb};

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
    let rig = Rig::with([builtin::kinds(), vec![Widget::kind()]].concat()).await;
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
    for path in ["/api/v9", "/api/v9/pods", "/apis/events.k8s.io/v1beta9/events", "/apis/events.k8s.io/v1beta9"] {
        let (code, status) = rig.get(path).await;
        assert_eq!((code, status["reason"].as_str()), (404, Some("NotFound")), "{path}");
        assert_eq!(status["message"], "the server could not find the requested resource");
    }
    for path in [
        "/apis/conformance.example.com/v9/widgets",
        "/apis/no.such.group/v1/things",
        "/apis/no.such.group",
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
async fn the_body_of_a_custom_resource_says_its_type() {
    let defined = Widget::kind().with(|_, _, binding| binding.keeps_unknown = false);
    let rig = Rig::with(vec![Namespace::kind(), ConfigMap::kind(), defined]).await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/widgets";
    let typed = |api_version: Value, kind: Value| {
        let body = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": {"size": 1}});
        let Value::Object(members) = body else { unreachable!() };
        members.into_iter().filter(|(_, value)| !value.is_null()).collect::<Value>()
    };
    let (version, no_kind) = ("conformance.example.com/v1", "Object 'Kind' is missing in '{\"");
    let no_text = |name: &str, kind: &str| {
        format!("json: cannot unmarshal {kind} into Go struct field .{name} of type string ({{\"")
    };
    let other_version =
        "the API version in the data () does not match the expected API version (conformance.example.com/v1)";
    let cased = json!({"ApiVersion": version, "Kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}});
    for (body, want) in [
        (typed(json!(version), Value::Null), no_kind.to_owned()),
        (typed(json!(version), json!("")), no_kind.to_owned()),
        (typed(Value::Null, Value::Null), no_kind.to_owned()),
        (cased, no_kind.to_owned()),
        (typed(Value::Null, json!("Widget")), other_version.to_owned()),
        (typed(json!(""), json!("Widget")), other_version.to_owned()),
        (typed(json!(version), json!(5)), no_text("kind", "number")),
        (typed(json!([]), json!("Widget")), no_text("apiVersion", "array")),
    ] {
        let json = [("content-type", "application/json")];
        let (code, status) = rig.json("POST", path, &json, &body.to_string()).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 400 && message.contains(&want), "{body}: {code} {message}");
    }
    let yaml = "metadata: {name: a}\nspec: {size: 1}\n";
    let (code, status) = rig.json("POST", path, &[("content-type", "application/yaml")], yaml).await;
    assert_eq!(code, 400);
    let message = status["message"].as_str().unwrap();
    assert!(message.ends_with("(6d657461646174613a207b6e616d653a20617d0a737065633a207b73697a ...)"), "{message}");
    let made = rig.post(path, &typed(json!(version), json!("Widget"))).await;
    assert_eq!(made.0, 201);
    let mut bare = made.1;
    bare.as_object_mut().unwrap().remove("kind");
    for path in [format!("{path}/a"), format!("{path}/a/status")] {
        let (code, _) = rig.json("PUT", &path, &[("content-type", "application/json")], &bare.to_string()).await;
        assert_eq!(code, 400, "{path}");
    }
    let merge = [("content-type", "application/merge-patch+json")];
    for (patch, want) in [
        (json!({"kind": null}), "patch: Invalid value: \"\": Object 'Kind' is missing"),
        (json!({"apiVersion": null}), "apiVersion: Invalid value: \"\": must be conformance.example.com/v1"),
    ] {
        let (code, status) = rig.json("PATCH", &format!("{path}/a"), &merge, &patch.to_string()).await;
        assert!(code == 422 && status["message"].as_str().unwrap().contains(want), "{patch}: {status}");
    }
    let typed = Rig::new().await;
    for (path, spec) in [(CONFIG_MAPS, json!(null)), (path, json!({"size": 1}))] {
        let body = json!({"metadata": {"name": "b"}, "spec": spec}).to_string();
        let (code, made) = typed.json("POST", path, &[("content-type", "application/json")], &body).await;
        assert!(code == 201 && made["kind"].is_string(), "what is compiled in has a default: {made}");
    }
}

#[tokio::test]
async fn a_panic_in_a_hook_is_an_answer() {
    let rig = Rig::new().await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/fragiles";
    let (code, status) = rig.post(path, &json!({"metadata": {"name": "a"}, "spec": {"size": 1}})).await;
    assert_eq!((code, status["reason"].as_str()), (500, Some("InternalError")));
    let body = r#"{"metadata": {"name": "a"}, "spec": {"size": 1}}"#;
    let headers = [("content-type", "application/json"), ("accept", "application/yaml"), ("audit-id", "seven")];
    let answer = rig.answer("POST", path, &headers, body).await;
    let header = |name| header(answer.headers(), name);
    assert_eq!((header("content-type"), header("audit-id")), ("application/yaml".into(), "seven".into()));
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
    for path in [&*path, CONFIG_MAPS, "/api", "/apis", "/api/v1", "/nothing", "/api/v1/namespaces/x/pods"] {
        // Paths without a Table refuse it with an indented Status.
        let table = (path == CONFIG_MAPS || path.ends_with("/a")).then_some(TABLE);
        for accept in ["application/json", "application/yaml"].into_iter().chain(table) {
            let answer = rig.answer("GET", path, &[("accept", accept)], "").await;
            let compact = text(answer).await;
            assert!(compact.ends_with('\n') && !compact.ends_with("\n\n"), "{path} as {accept}: {compact}");
        }
        let pretty = text(rig.answer("GET", path, &[("user-agent", "curl/8")], "").await).await;
        assert!(pretty.ends_with("\n}") || pretty == "404 page not found\n", "{path}: {pretty}");
    }
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
async fn a_deletion_answers_with_the_object_where_the_kind_says_so() {
    let widget = Widget::kind().with(|_, version, _| version.returns_deleted = true);
    let rig = Rig::with(vec![Namespace::kind(), ConfigMap::kind(), widget]).await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/widgets";
    let one = format!("{path}/a");
    let (_, made) = rig.post(path, &json!({"metadata": {"name": "a"}, "spec": {"size": 1}})).await;
    let (code, tried) = rig.json("DELETE", &format!("{one}?dryRun=All"), &[], "").await;
    assert_eq!((code, &tried), (200, &made), "a dry run");
    let (code, mut deleted) = rig.json("DELETE", &one, &[], "").await;
    let version = |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(version(&deleted) > version(&made), "it has the revision of its deletion");
    deleted["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    assert_eq!((code, &deleted), (200, &made));
    assert_eq!(rig.get(&one).await.0, 404);
    let (_, v3) = rig.get("/openapi/v3/apis/conformance.example.com/v1").await;
    let at = "/paths/~1apis~1conformance.example.com~1v1~1namespaces~1{namespace}~1widgets~1{name}/delete/responses";
    let answer = v3.pointer(&format!("{at}/200/content/application~1json/schema/$ref"));
    assert_eq!(answer, Some(&json!("#/components/schemas/com.example.conformance.v1.Widget")));
}

#[tokio::test]
async fn paths_below_a_subresource_are_its_own_where_it_takes_them() {
    let widget = Widget::kind().with(|_, version, _| {
        let get = endpoint::Operation {
            verb: Verb::Get,
            body: endpoint::Body::None,
            answer: endpoint::Answer::Text,
            connects: true,
        };
        let proxy = |name: &str, takes_paths| endpoint::Endpoint {
            subresource: name.into(),
            group_version: version.group_version(&Widget::kind().shared),
            kind: "Widget".to_owned(),
            operations: vec![get.clone()],
            changes: crate::kind::Changes::AllBut(Vec::new()),
            options: None,
            takes_paths,
        };
        version.subresources = vec![proxy("proxy", true), proxy("attach", false)];
    });
    let rig = Rig::with(vec![Namespace::kind(), widget]).await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/widgets";
    assert_eq!(rig.post(path, &json!({"metadata": {"name": "a"}, "spec": {"size": 1}})).await.0, 201);
    for (below, code) in
        [("proxy", 501), ("proxy/a", 501), ("proxy/a/b", 501), ("attach", 501), ("attach/a", 404), ("status/a", 404)]
    {
        assert_eq!(rig.get(&format!("{path}/a/{below}")).await.0, code, "{below}");
    }
    let (code, missing) = rig.get(&format!("{path}/b/proxy")).await;
    assert_eq!((code, &missing["details"]["name"]), (404, &json!("b")), "a missing object is what is said first");
}

#[tokio::test]
async fn a_field_is_selected_by_its_aliases() {
    let widget = Widget::kind().with(|_, version, _| {
        let path = version.selectable[0].clone();
        version.selector_aliases = vec![("status.other".to_owned(), path)];
    });
    let rig = Rig::with(vec![Namespace::kind(), widget]).await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/widgets";
    for (name, color) in [("a", "Red"), ("b", "Blue")] {
        let body = json!({"metadata": {"name": name}, "spec": {"size": 1, "color": color}});
        assert_eq!(rig.post(path, &body).await.0, 201);
    }
    let field = Widget::kind().version.selectable[0].to_string();
    for selector in [field.as_str(), "status.other"] {
        let (code, list) = rig.get(&format!("{path}?fieldSelector={selector}%3DBlue")).await;
        assert_eq!((code, &list["items"][0]["metadata"]["name"]), (200, &json!("b")), "{selector}");
        assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(rig.get(&format!("{path}?fieldSelector=status.another%3DBlue")).await.0, 400);
}

#[tokio::test]
async fn the_state_of_a_request_stays_small() {
    let rig = Rig::new().await;
    let request = Request::builder().uri("/").body(Body::empty()).unwrap();
    let handler = dispatch::receive(rig.0.clone(), request);
    // It is copied several times on its way to the heap: at 9 KB that was a tenth of the cost of a get.
    assert!(size_of_val(&handler) < 4_000, "{} bytes", size_of_val(&handler));
}
