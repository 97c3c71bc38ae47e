//! Documents about the served kinds.
use super::*;

#[tokio::test]
async fn discovery_and_openapi_have_etags() {
    let rig = Rig::new().await;
    let (_, groups) = rig.get("/apis").await;
    assert_eq!(groups["groups"][0]["preferredVersion"]["groupVersion"], "conformance.example.com/v1");
    assert_eq!(rig.get("/api").await.1["versions"], json!(["v1"]));
    assert_eq!(rig.get("/version").await.1["major"], "1");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let answer = rig.answer("GET", "/apis", &[("accept", accept)], "").await;
    let media_type = header(answer.headers(), "content-type");
    assert_eq!(media_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let etag = header(answer.headers(), "etag");
    let again = rig.answer("GET", "/apis", &[("accept", accept), ("if-none-match", &etag)], "").await;
    assert_eq!(again.status(), 304);
    let (_, index) = rig.get("/openapi/v3").await;
    let url = index["paths"]["apis/conformance.example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let answer = rig.answer("GET", url, &[], "").await;
    assert_eq!(header(answer.headers(), "cache-control"), "public, immutable");
    assert!(header(answer.headers(), "expires").ends_with(" GMT"));
    let stale = rig.answer("GET", "/openapi/v3/apis/conformance.example.com/v1?hash=AB", &[], "").await;
    assert_eq!((stale.status().as_u16(), header(stale.headers(), "location").as_str()), (301, url));
    let protobuf = [("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")];
    let answer = rig.answer("GET", "/openapi/v2", &protobuf, "").await;
    assert_eq!(
        header(answer.headers(), header::CONTENT_TYPE.as_str()),
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    assert_eq!(rig.answer("GET", "/openapi/v2", &[("accept", "text/html")], "").await.status(), 406);
}

#[tokio::test]
async fn openapi_lists_exactly_what_is_served() {
    let rig = Rig::new().await;
    let (_, document) = rig.get("/openapi/v3/apis/conformance.example.com/v1").await;
    let patch = &document["paths"]["/apis/conformance.example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"];
    let types: Vec<&String> = patch["requestBody"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(
        types,
        [
            "application/apply-patch+cbor",
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json"
        ]
    );
    let widget = &document["components"]["schemas"]["com.example.conformance.v1.Widget"];
    let gvk = json!([{"group": "conformance.example.com", "kind": "Widget", "version": "v1"}]);
    assert_eq!(widget["x-kubernetes-group-version-kind"], gvk);
    assert!(widget["properties"]["metadata"]["allOf"].is_array());
    let (_, v2) = rig.get("/openapi/v2").await;
    let paths = v2["paths"].as_object().unwrap();
    assert!(paths.contains_key("/api/v1/namespaces/{name}/finalize"));
    assert!(paths["/api/v1/namespaces"].get("delete").is_none(), "namespaces are not deleted as a collection");
    assert!(v2["definitions"].get("io.k8s.api.core.v1.ConfigMapList").is_some());
    let mut ids: Vec<&str> = Vec::new();
    for item in paths.values() {
        ids.extend(item.as_object().unwrap().values().filter_map(|operation| operation["operationId"].as_str()));
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
}

#[tokio::test]
async fn a_kind_that_is_added_while_running_is_served() {
    let rig = Rig::new().await;
    assert_eq!(rig.get("/apis/late.example.com/v1").await.0, 404);
    let late = Widget::kind().with(|shared, _, _| shared.group = "late.example.com".to_owned());
    rig.0.backend.api.registry.register([late]).unwrap();
    assert_eq!(rig.get("/apis/late.example.com/v1").await.0, 200);
    assert_eq!(rig.get("/apis/late.example.com/v1/widgets").await.0, 200);
    assert_eq!(rig.get("/openapi/v3/apis/late.example.com/v1").await.0, 200);
}

/// kubectl merges lists on the client, too, based on these documents.
#[tokio::test]
async fn openapi_says_how_lists_are_merged() {
    let rig = Rig::new().await;
    let (_, v2) = rig.get("/openapi/v2").await;
    let (_, v3) = rig.get("/openapi/v3/api/v1").await;
    for types in [&v2["definitions"], &v3["components"]["schemas"]] {
        let said = |of: &str, field: &str| {
            let field = &types[of]["properties"][field];
            let word = |name: &str| field[format!("x-kubernetes-{name}")].as_str().unwrap_or_default().to_owned();
            [word("patch-strategy"), word("patch-merge-key"), word("list-type")]
        };
        let meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
        assert_eq!(said(meta, "finalizers"), ["merge", "", "set"]);
        assert_eq!(said(meta, "ownerReferences"), ["merge", "uid", "map"]);
        assert_eq!(said(meta, "managedFields"), ["", "", "atomic"]);
    }
}

#[tokio::test]
async fn protobuf_definitions_are_served_with_all_that_they_import() {
    let rig = Rig::with(crate::builtin::kinds()).await;
    let (code, index) = rig.get("/openapi/proto").await;
    assert_eq!(code, 200);
    let paths: Vec<&str> = index["paths"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(paths.contains(&"k8s.io/api/coordination/v1/generated.proto"), "{paths:?}");
    for path in &paths {
        let answer = rig.answer("GET", &format!("/openapi/proto/{path}"), &[], "").await;
        assert_eq!(header(answer.headers(), "content-type"), "text/plain; charset=utf-8");
        let text = String::from_utf8(collect(answer).await).unwrap();
        assert!(text.contains("syntax = \"proto2\";"));
        for import in text.lines().filter_map(|line| line.strip_prefix("import \"")?.strip_suffix("\";")) {
            assert!(paths.contains(&import), "{path} imports {import}");
        }
    }
    assert_eq!(rig.get("/openapi/proto/../../secret").await.0, 400);
}

#[tokio::test]
async fn kubectl_gets_an_empty_list_of_definitions() {
    let rig = Rig::with(crate::builtin::kinds()).await;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (code, list) = rig.get(path).await;
    assert_eq!((code, &list["kind"], &list["items"]), (200, &json!("CustomResourceDefinitionList"), &json!([])));
    for other in ["/x", "?watch=1"] {
        assert_eq!(rig.answer("GET", &format!("{path}{other}"), &[], "").await.status(), 404, "{other}");
    }
    assert_eq!(rig.answer("POST", path, &[], "{}").await.status(), 404);
    assert_eq!(rig.answer("GET", "/apis/apiextensions.k8s.io/v1", &[], "").await.status(), 404);
}
