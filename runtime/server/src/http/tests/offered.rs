//! Requests with each media type that OpenAPI lists succeed, and those with others do not.
use std::collections::BTreeSet;

use super::*;
use crate::codec::Encoding;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
const BODIES: [&str; 10] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/cbor",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
    "text/plain",
];

fn keys(content: &Value) -> BTreeSet<String> {
    content.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

fn texts(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// The media types of an operation in version 3.
struct Listed {
    method: String,
    path: String,
    bodies: Option<BTreeSet<String>>,
    answers: BTreeSet<String>,
    watches: bool,
}

/// The operations of all groups, on which versions 2 and 3 must agree.
async fn operations(rig: &Rig) -> Vec<Listed> {
    let (_, index) = rig.get("/openapi/v3").await;
    let (_, v2) = rig.get("/openapi/v2").await;
    let mut found = Vec::new();
    for place in index["paths"].as_object().unwrap().keys() {
        let (_, document) = rig.get(&format!("/openapi/v3/{place}")).await;
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                let bodies = operation.get("requestBody").map(|body| keys(&body["content"]));
                let answers = keys(&operation["responses"]["200"]["content"]);
                let older = &v2["paths"][path][method];
                assert_eq!(texts(&older["produces"]), answers, "{method} {path}");
                if let Some(bodies) = &bodies {
                    assert_eq!(texts(&older["consumes"]), *bodies, "{method} {path}");
                }
                let watches = operation["x-kubernetes-action"] == "list";
                let method = method.to_uppercase();
                let path = path.replace("{namespace}", "default").replace("{name}", "default");
                found.push(Listed { method, path, bodies, answers, watches });
            }
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn exactly_the_media_types_in_openapi_are_served() {
    let rig = Rig::with([crate::builtin::kinds(), vec![Widget::kind()]].concat()).await;
    let all = operations(&rig).await;
    assert!(all.len() > 60, "{}", all.len());
    for Listed { method, path, bodies, answers, watches } in all {
        let dry = format!("{path}?dryRun=All");
        for body in BODIES {
            let Some(bodies) = &bodies else { break };
            let headers = [("content-type", body)];
            let refused = rig.answer(&method, &dry, &headers, "{}").await.status() == 415;
            assert_eq!(refused, !bodies.contains(body), "{method} {path} of {body}");
        }
        for encoding in Encoding::ALL {
            let media_type = encoding.media_type();
            let refused = rig.answer(&method, &dry, &[("accept", media_type)], "{}").await.status() == 406;
            assert_eq!(refused, !answers.contains(media_type), "{method} {path} as {media_type}");
            let Some(stream) = encoding.listed_stream() else { continue };
            let watch = format!("{path}?watch=1&timeoutSeconds=1");
            let is_served = watches && rig.answer("GET", &watch, &[("accept", stream)], "").await.status() == 200;
            assert_eq!(is_served, answers.contains(stream), "{path} as {stream}");
        }
    }
    assert_eq!(rig.get("/api/v1/namespaces/default").await.0, 200, "nothing was deleted");
}
