//! Whole documents of either version of OpenAPI.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    definitions::{self, Definitions},
    operations::{self, Operation, PathItem},
    parameters::Parameter,
};
use crate::{registry::Registered, schema::openapi::Version};

const TITLE: &str = "Kubernetes";

/// The OpenAPI 3 document of a group and version.
pub(super) fn v3(kinds: &[&Registered], server_version: &str) -> Value {
    let mut schemas = definitions::shared(Version::V3);
    let mut paths = Map::new();
    for served in kinds {
        definitions::add_all(&served.kind, &served.endpoints, Version::V3, &mut schemas);
        for item in operations::of(&served.kind, &served.endpoints) {
            let rendered = path_item(&item, Version::V3);
            paths.insert(item.path, rendered);
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": TITLE, "version": server_version},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

/// The OpenAPI 2 document of all kinds.
pub(super) fn v2(kinds: &[Arc<Registered>], server_version: &str) -> Value {
    let mut all: Definitions = definitions::shared(Version::V2);
    let mut paths = Map::new();
    for served in kinds {
        definitions::add_all(&served.kind, &served.endpoints, Version::V2, &mut all);
        for item in operations::of(&served.kind, &served.endpoints) {
            let rendered = path_item(&item, Version::V2);
            paths.insert(item.path, rendered);
        }
    }
    json!({
        "swagger": "2.0",
        "info": {"title": TITLE, "version": server_version},
        "paths": paths,
        "definitions": all,
    })
}

fn path_item(item: &PathItem, version: Version) -> Value {
    let mut members = Map::new();
    for operation in &item.operations {
        let rendered = match version {
            Version::V2 => operation_v2(operation),
            Version::V3 => operation_v3(operation),
        };
        members.insert(operation.method.to_owned(), rendered);
    }
    let parameters = item.parameters.iter().map(|parameter| match version {
        Version::V2 => parameter.v2(),
        Version::V3 => parameter.v3(),
    });
    members.insert("parameters".to_owned(), parameters.collect());
    Value::Object(members)
}

fn common(operation: &Operation) -> Value {
    let group = operation.kind["group"].as_str().filter(|group| !group.is_empty()).unwrap_or("core");
    let version = operation.kind["version"].as_str().unwrap_or_default();
    json!({
        "tags": [format!("{}_{version}", group.replace('.', "_"))],
        "description": operation.description,
        "operationId": operation.id,
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": operation.kind,
    })
}

/// The schema of an answer; one without a definition is text.
fn answer(version: Version, name: &str) -> Value {
    if name.is_empty() { json!({"type": "string"}) } else { version.reference(name) }
}

fn operation_v3(operation: &Operation) -> Value {
    let mut value = common(operation);
    if !operation.parameters.is_empty() {
        value["parameters"] = operation.parameters.iter().map(Parameter::v3).collect();
    }
    let content = |media_types: &[&str], name: &str| -> Value {
        let schema = json!({"schema": answer(Version::V3, name)});
        media_types.iter().map(|media_type| ((*media_type).to_owned(), schema.clone())).collect::<Map<_, _>>().into()
    };
    if let Some((name, media_types)) = &operation.body {
        value["requestBody"] = json!({"content": content(media_types, name), "required": !operation.body_optional});
    }
    let mut responses = Map::new();
    for (code, description) in operation.codes {
        let answer = json!({"description": description, "content": content(&operation.produces, &operation.answer)});
        responses.insert((*code).to_owned(), answer);
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    value["responses"] = responses.into();
    value
}

fn operation_v2(operation: &Operation) -> Value {
    let mut value = common(operation);
    let mut parameters: Vec<Value> = operation.parameters.iter().map(Parameter::v2).collect();
    match &operation.body {
        Some((name, media_types)) => {
            let mut body = json!({"name": "body", "in": "body", "schema": Version::V2.reference(name)});
            if !operation.body_optional {
                body["required"] = true.into();
            }
            parameters.push(body);
            value["consumes"] = json!(media_types);
        }
        None => value["consumes"] = json!(["*/*"]),
    }
    if !parameters.is_empty() {
        value["parameters"] = parameters.into();
    }
    value["produces"] = json!(operation.produces);
    value["schemes"] = json!(["https"]);
    let mut responses = Map::new();
    for (code, description) in operation.codes {
        let answer = json!({"description": description, "schema": answer(Version::V2, &operation.answer)});
        responses.insert((*code).to_owned(), answer);
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    value["responses"] = responses.into();
    value
}
