//! Requests are parsed once and strictly: no part of a query is dropped, and ambiguous paths are refused.
use std::sync::Mutex;

use super::*;
use crate::auth::{Attributes, Decision, Soon};

#[tokio::test]
async fn a_damaged_query_changes_nothing() {
    let rig = Rig::new().await;
    rig.config_map("a").await;
    let new = r#"{"metadata":{"name":"b"}}"#;
    for (method, query, body, named) in [
        ("DELETE", "labelSelector=a%3Dc%ff", "", "labelSelector"),
        ("DELETE", "labelSelector=a%3Dc%f", "", "labelSelector"),
        ("DELETE", "labelSelector=a%3Dc;", "", "labelSelector"),
        ("DELETE", "labelSelector=x&labelSelector=", "", "labelSelector"),
        ("DELETE", "fieldSelector=metadata.name%3Dx%zz", "", "fieldSelector"),
        ("DELETE", "dryRun=All%ff", "", "dryRun"),
        ("DELETE", "dryRun%ff=All", "", "dryRun%ff"),
        ("POST", "dryRun=All%ff", new, "dryRun"),
        ("POST", "dryRun=All;", new, "dryRun"),
        ("POST", "fieldValidation=Strict&fieldValidation=Ignore", new, "fieldValidation"),
        ("GET", "limit=1&limit=2", "", "limit"),
        ("GET", "watch=1&watch=0", "", "watch"),
        ("GET", "unknown=%ff", "", "unknown"),
        ("GET", "pretty=1&pretty=0", "", "pretty"),
    ] {
        let (code, status) = rig.json(method, &format!("{CONFIG_MAPS}?{query}"), &[], body).await;
        assert_eq!((code, status["reason"].as_str()), (400, Some("BadRequest")), "{method} {query}: {status}");
        let message = status["message"].as_str().unwrap();
        assert!(message.contains(&format!("{named:?}")), "{query}: {message}");
    }
    let (_, list) = rig.get(CONFIG_MAPS).await;
    let names: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, ["a"], "nothing was deleted or created");
    for path in ["/healthz?exclude=%zz", "/openapi/v3/api/v1?hash=a&hash=b", "/api?x=%ff", "/version?a;b"] {
        assert_eq!(rig.get(path).await.0, 400, "{path}");
    }
    let harmless = format!("{CONFIG_MAPS}?&&x=1&x=2&=&limit=5&");
    assert_eq!(rig.get(&harmless).await.0, 200, "what is well-formed and unknown is ignored");
}

/// Records all requests and allows them.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Authorize for Recorder {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'_>) -> Soon<'a, Decision> {
        let Attributes { verb, resource, subresource, namespace, name, path, .. } = attributes;
        self.0.lock().unwrap().push(format!("{verb} {namespace}/{resource}/{name}/{subresource} {path}"));
        Soon::now(Decision::ALLOW)
    }
}

#[tokio::test]
async fn authorizers_see_what_is_served() {
    let recorder = Arc::new(Recorder::default());
    let rig = Rig::authorized(vec![Namespace::kind(), ConfigMap::kind()], recorder.clone()).await;
    rig.config_map("a").await;
    let plain = [
        ("/api/v1/namespaces/default/configmaps/a", "get default/configmaps/a/ "),
        ("/api/v1/namespaces/default/configmaps", "list default/configmaps// "),
        ("/openapi/v2", "get /// "),
        ("/readyz/ping", "get /// "),
    ];
    for (path, want) in plain {
        let encoded: String = path.bytes().map(|b| if b == b'/' { "/".into() } else { format!("%{b:02x}") }).collect();
        for sent in [path.to_owned(), format!("{path}/"), encoded] {
            recorder.0.lock().unwrap().clear();
            assert_eq!(rig.answer("GET", &sent, &[], "").await.status(), 200, "{sent}");
            assert_eq!(*recorder.0.lock().unwrap(), [format!("{want}{path}")], "{sent}");
        }
    }
    recorder.0.lock().unwrap().clear();
    for path in [
        "/api/v1/namespaces/default/configmaps%2fa",
        "/api/v1/namespaces/default%00/configmaps",
        "/api/v1/namespaces/default/../../secrets",
        "/api/v1/namespaces/%2e%2e/configmaps",
        "/api/v1/namespaces//configmaps",
        "//api/v1/configmaps",
        "/openapi/./v2",
        "/api/v1/%zz",
        "/api/v1/%ff",
    ] {
        let (code, status) = rig.get(path).await;
        assert_eq!((code, status["reason"].as_str()), (400, Some("BadRequest")), "{path}: {status}");
    }
    assert!(recorder.0.lock().unwrap().is_empty(), "what has two readings reaches no authorizer");
}
