//! What the servers publish of their kinds: discovery and OpenAPI.
use serde_json::Value;

use super::{
    inlined,
    pair::{Pair, Request},
};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A discovery document whose lists are in the order of their names: kinds are served in the order of the files, or of the code.
fn sorted(mut document: Value) -> Value {
    fn sort(value: &mut Value) {
        match value {
            Value::Array(items) => {
                items.iter_mut().for_each(sort);
                items.sort_by_key(|item| ["name", "resource", "subresource"].map(|key| item[key].to_string()));
            }
            Value::Object(fields) => {
                fields.values_mut().for_each(sort);
                if let Some(name) = fields.get("metadata").and_then(|metadata| metadata.get("name")).cloned() {
                    fields.insert("name".to_owned(), name);
                }
            }
            _ => {}
        }
    }
    // Twice, since names are found on the way.
    sort(&mut document);
    sort(&mut document);
    document
}

/// The index of OpenAPI without the hashes of the documents.
fn unhashed(mut index: Value) -> Value {
    for path in index["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut()) {
        let url =
            path["serverRelativeURL"].as_str().and_then(|url| url.split_once("?hash=")).map(|(url, _)| url.to_owned());
        path["serverRelativeURL"] = url.into();
    }
    index
}

pub(super) async fn ask(pair: &mut Pair) {
    let mut paths: Vec<String> = ["/api", "/apis", "/version"].map(str::to_owned).into();
    for group in pair.read("/apis").await["groups"].as_array().into_iter().flatten() {
        paths.push(format!("/apis/{}", group["name"].as_str().expect("a name")));
        let versions = group["versions"].as_array().into_iter().flatten();
        paths.extend(versions.map(|version| format!("/apis/{}", version["groupVersion"].as_str().expect("a version"))));
    }
    for version in pair.read("/api").await["versions"].as_array().into_iter().flatten() {
        paths.push(format!("/api/{}", version.as_str().expect("a version")));
    }
    for path in paths {
        pair.compare_part(Request::get(&path), sorted).await;
    }
    for path in ["/api", "/apis"] {
        pair.compare_part(Request::get(path).accept(AGGREGATED), sorted).await;
    }
    pair.compare_part(Request::get("/openapi/v3"), unhashed).await;
    let index = pair.read("/openapi/v3").await;
    for (path, _) in index["paths"].as_object().into_iter().flatten() {
        pair.compare_part(Request::get(format!("/openapi/v3/{path}")), inlined::document).await;
    }
    pair.compare_part(Request::get("/openapi/v2"), inlined::document).await;
}
