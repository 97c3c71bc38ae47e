//! Whole documents of either version of OpenAPI.

use serde_json::json;

use super::{
    definitions,
    operations::{self, Operation, PathItem},
    parameters::Parameter,
};
use crate::{
    registry::ResourceEntry,
    schema::openapi::{
        Definitions, Version,
        json::{Json, Members},
    },
};

/// The title of all documents.
pub(super) const TITLE: &str = "Kubernetes";

/// The parts of a document: each path and each definition as JSON.
pub(super) struct Parts {
    /// The operations by path.
    pub paths: Vec<(String, Vec<u8>)>,
    pub definitions: Definitions,
}

impl Parts {
    /// The parts for kinds.
    pub(super) fn of<'k>(kinds: impl IntoIterator<Item = &'k ResourceEntry>, version: Version) -> Self {
        let (mut paths, mut definitions) = (Vec::new(), definitions::shared(version));
        for served in kinds {
            definitions::add_all(&served.kind, &served.endpoints, version, &mut definitions);
            for item in operations::of(&served.kind, &served.endpoints) {
                let mut json = Json::default();
                path_item(&item, version, &mut json);
                paths.push((item.path, json.finish()));
            }
        }
        Self { paths, definitions }
    }

    /// Text with room for the document: one that grew would be in memory twice, beside the parts, and keep room that it does not need.
    fn room(&self, server_version: &str) -> Json {
        /// The bytes around the parts, and around each of them: quotes, a colon and a comma.
        const AROUND: (usize, usize) = (256, 4);
        let paths = self.paths.iter().map(|(path, text)| path.len() + text.len());
        let definitions = self.definitions.iter().map(|(name, text)| name.len() + text.len());
        let parts: usize = paths.chain(definitions).map(|bytes| bytes + AROUND.1).sum();
        Json::with_capacity(AROUND.0 + server_version.len() + parts)
    }

    /// The OpenAPI 3 document.
    pub(super) fn v3(self, server_version: &str) -> Vec<u8> {
        let mut json = self.room(server_version);
        json.object(|out| {
            out.put("openapi", "3.0.0");
            out.put("info", &json!({"title": TITLE, "version": server_version}));
            out.with("paths", |out| texts(self.paths, out));
            out.with("components", |out| {
                out.object(|out| out.with("schemas", |out| texts(self.definitions, out)));
            });
        });
        json.finish()
    }

    /// The OpenAPI 2 document.
    pub(super) fn v2(self, server_version: &str) -> Vec<u8> {
        let mut json = self.room(server_version);
        json.object(|out| {
            out.put("swagger", "2.0");
            out.put("info", &json!({"title": TITLE, "version": server_version}));
            out.with("paths", |out| texts(self.paths, out));
            out.with("definitions", |out| texts(self.definitions, out));
        });
        json.finish()
    }
}

/// Writes an object. Each text is dropped when it is written.
fn texts(members: impl IntoIterator<Item = (String, impl AsRef<[u8]>)>, out: &mut Json) {
    out.object(|out| {
        for (name, text) in members {
            out.with(&name, |out| out.text(text.as_ref()));
        }
    });
}

fn path_item(item: &PathItem, version: Version, out: &mut Json) {
    out.object(|out| {
        for operation in &item.operations {
            out.with(operation.method, |out| {
                out.object(|out| match version {
                    Version::V2 => operation_v2(operation, out),
                    Version::V3 => operation_v3(operation, out),
                });
            });
        }
        out.with("parameters", |out| out.list(&item.parameters, |out, parameter| parameter.write(version, out)));
    });
}

fn common(operation: &Operation, out: &mut Members<'_>) {
    let group = operation.kind["group"].as_str().filter(|group| !group.is_empty()).unwrap_or("core");
    let version = operation.kind["version"].as_str().unwrap_or_default();
    out.put("tags", &[format!("{}_{version}", group.replace('.', "_"))]);
    out.put("description", &operation.description);
    out.put("operationId", &operation.id);
    out.put("x-kubernetes-action", operation.action);
    out.put("x-kubernetes-group-version-kind", &operation.kind);
}

/// Writes the schema of a body or an answer; one without a definition is text.
fn schema(version: Version, name: &str, out: &mut Json) {
    if name.is_empty() { out.value(&json!({"type": "string"})) } else { version.reference(name, out) }
}

/// Writes the answers to an operation, each with what the caller adds.
fn responses(operation: &Operation, out: &mut Members<'_>, content: impl Fn(&mut Members<'_>)) {
    out.with("responses", |out| {
        out.object(|out| {
            for (code, description) in operation.codes {
                out.with(code, |out| {
                    out.object(|out| {
                        out.put("description", description);
                        content(out);
                    });
                });
            }
            out.put("401", &json!({"description": "Unauthorized"}));
        });
    });
}

/// Writes the content of a body or an answer in OpenAPI 3.
fn content(media_types: &[&str], name: &str, out: &mut Members<'_>) {
    out.with("content", |out| {
        out.object(|out| {
            for media_type in media_types {
                out.with(media_type, |out| {
                    out.object(|out| out.with("schema", |out| schema(Version::V3, name, out)));
                });
            }
        });
    });
}

fn operation_v3(operation: &Operation, out: &mut Members<'_>) {
    common(operation, out);
    if !operation.parameters.is_empty() {
        let write = |out: &mut Json, parameter: &Parameter| parameter.write(Version::V3, out);
        out.with("parameters", |out| out.list(&operation.parameters, write));
    }
    if let Some((name, media_types)) = &operation.body {
        out.with("requestBody", |out| {
            out.object(|out| {
                content(media_types, name, out);
                out.put("required", &!operation.body_optional);
            });
        });
    }
    responses(operation, out, |out| content(&operation.produces, &operation.answer, out));
}

fn operation_v2(operation: &Operation, out: &mut Members<'_>) {
    common(operation, out);
    let parameters = operation.parameters.iter().map(Ok).chain(operation.body.iter().map(Err));
    if parameters.clone().next().is_some() {
        let write = |out: &mut Json, parameter: Result<&Parameter, &(String, Vec<_>)>| match parameter {
            Ok(parameter) => parameter.write(Version::V2, out),
            Err((name, _)) => out.object(|out| {
                out.put("name", "body");
                out.put("in", "body");
                out.with("schema", |out| schema(Version::V2, name, out));
                out.put_some("required", (!operation.body_optional).then_some(true));
            }),
        };
        out.with("parameters", |out| out.list(parameters, write));
    }
    match &operation.body {
        Some((_, media_types)) => out.put("consumes", media_types),
        None => out.put("consumes", &["*/*"]),
    }
    out.put("produces", &operation.produces);
    out.put("schemes", &["https"]);
    responses(operation, out, |out| out.with("schema", |out| schema(Version::V2, &operation.answer, out)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_room_from_the_start_and_little_left_over() {
        let parts = || {
            let paths = (0..100).map(|number| (format!("/apis/example.com/v{number}"), b"{}".to_vec()));
            let definitions = (0..100).map(|number| (format!("com.example.V{number}"), b"{}"[..].into()));
            Parts { paths: paths.collect(), definitions: definitions.collect() }
        };
        let room = parts().room("v1.36.0").finish().capacity();
        for text in [parts().v2("v1.36.0"), parts().v3("v1.36.0")] {
            assert!(text.capacity() == room && text.len() + 256 > room, "{} of {room}", text.len());
        }
    }
}
