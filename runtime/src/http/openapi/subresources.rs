//! The operations of a kind's own subresources.

use serde_json::{Value, json};

use super::{
    definitions::{self, META},
    operations::{OK, OK_CREATED, OK_CREATED_ACCEPTED, Operation, Operations, PathItem, article, camel, encodings},
    parameters::{CREATE, Parameter, UPDATE},
};
use crate::{
    http::resource::unstored_patch_types,
    kind::subresource::{self as model, Answer, Method, Subresource},
};

const TEXT: &[&str] = &["text/plain"];
const ANYTHING: &[&str] = &["*/*"];

/// The path of a subresource.
pub fn path(of: &Operations<'_>, own: &Subresource, path: String) -> PathItem {
    let operations = own.operations.iter().map(|operation| self::operation(of, own, operation)).collect();
    let mut item = of.path(path, true, operations);
    if let Some(options) = &own.options {
        let parameters = options.properties.iter().map(|(name, schema)| Parameter::option(name, schema));
        item.parameters.extend(parameters);
    }
    item
}

fn operation(of: &Operations<'_>, own: &Subresource, asked: &model::Operation) -> Operation {
    let (kind, suffix, name) = (&of.kind.kind, camel(own.name), own.name);
    let method = asked.method.lower_case();
    let shown: Value =
        json!({"group": own.group_version.group, "kind": own.kind, "version": own.group_version.version});
    let mut operation = if asked.connects {
        let upper = method.to_ascii_uppercase();
        let id = of.connect_id(&camel(method), &suffix);
        Operation {
            produces: ANYTHING.to_vec(),
            ..of.operation(method, "connect", id, format!("connect {upper} requests to {name} of {kind}"))
        }
    } else {
        let the = |verb: &str| format!("{verb} {name} of the specified {kind}");
        match asked.method {
            Method::Get => of.operation(method, "get", of.id("read", &suffix), the("read")),
            Method::Put => Operation {
                parameters: UPDATE.to_vec(),
                codes: OK_CREATED,
                ..of.operation(method, "put", of.id("replace", &suffix), the("replace"))
            },
            Method::Patch => Operation {
                body: Some((
                    format!("{META}.Patch"),
                    unstored_patch_types(asked.body.as_deref().unwrap_or(of.kind)).to_vec(),
                )),
                ..of.patch(of.id("patch", &suffix), the("partially update"))
            },
            Method::Post => Operation {
                parameters: CREATE.to_vec(),
                codes: OK_CREATED_ACCEPTED,
                ..of.operation(method, "post", of.id("create", &suffix), format!("create {name} of {}", article(kind)))
            },
        }
    };
    operation.kind = shown;
    if let Answer::Document(kind) = &asked.answer {
        operation.produces = encodings(kind);
    }
    operation.answer = match &asked.answer {
        Answer::Document(kind) => definitions::name(kind),
        Answer::Status => format!("{META}.Status"),
        Answer::Text => String::new(),
    };
    if matches!(asked.answer, Answer::Text) {
        operation.codes = OK;
        operation.produces = if asked.connects { ANYTHING } else { TEXT }.to_vec();
    }
    if let (Some(body), false) = (&asked.body, asked.method == Method::Patch) {
        operation.body = Some((definitions::name(body), encodings(body)));
    }
    operation
}
