//! The operations of a kind, derived from its endpoints: paths, methods, parameters, bodies and answers, independent of the
//! version of OpenAPI. Lists only what is served, because clients depend on it: kubectl selects its patch type, and the
//! place of validation, by these documents.

use serde_json::{Value, json};

use super::{
    definitions::{self, META, SCALE},
    parameters::{CREATE, DELETE, DELETE_COLLECTION, LIST, NAME, NAMESPACE, PATCH, PRETTY, Parameter, UPDATE},
};
use crate::{
    codec::{Encoding, protobuf},
    kind::{
        Kind,
        endpoint::{self, Answer, Body, Endpoint, Verb},
        model::Scope,
    },
    meta::text::capitalized,
    schema::Schema,
};

/// One operation on one path.
pub(super) struct Operation {
    /// The HTTP method, lower case.
    pub method: &'static str,
    /// The value of `x-kubernetes-action`.
    pub action: &'static str,
    /// The operation's unique id.
    pub id: String,
    pub description: String,
    /// Parameters in addition to those of the path.
    pub parameters: Vec<Parameter>,
    /// The definition of the body and its media types.
    pub body: Option<(String, Vec<&'static str>)>,
    /// True if the body is optional.
    pub body_optional: bool,
    /// The statuses of success.
    pub codes: &'static [(&'static str, &'static str)],
    /// The definition of the answer; empty for text.
    pub answer: String,
    /// The media types of the answer.
    pub produces: Vec<&'static str>,
    /// The group, version and kind of its objects.
    pub kind: Value,
}

/// A path and its operations.
pub(super) struct PathItem {
    /// The path, with placeholders.
    pub path: String,
    /// Parameters of all its operations.
    pub parameters: Vec<Parameter>,
    pub operations: Vec<Operation>,
}

const OK: &[(&str, &str)] = &[("200", "OK")];
const OK_CREATED: &[(&str, &str)] = &[("200", "OK"), ("201", "Created")];
const OK_CREATED_ACCEPTED: &[(&str, &str)] = &[("200", "OK"), ("201", "Created"), ("202", "Accepted")];
const OK_ACCEPTED: &[(&str, &str)] = &[("200", "OK"), ("202", "Accepted")];

/// The media types of a kind's documents.
fn encodings(schema: &Schema) -> Vec<&'static str> {
    let numbered = protobuf::Message::of_object(schema).is_some();
    let offered = Encoding::ALL.into_iter().filter(|encoding| numbered || *encoding != Encoding::Protobuf);
    offered.map(Encoding::media_type).collect()
}

/// The media types of documents that have a Protobuf message for all kinds: Scale and DeleteOptions.
fn all_encodings() -> Vec<&'static str> {
    Encoding::ALL.map(Encoding::media_type).to_vec()
}

/// All paths of a kind.
pub(super) fn of(kind: &Kind, endpoints: &[Endpoint]) -> Vec<PathItem> {
    let operations = Operations::new(kind);
    endpoints.iter().flat_map(|endpoint| operations.paths(endpoint)).collect()
}

/// The properties of a kind that the names of operations need.
struct Operations<'k> {
    kind: &'k Kind,
    /// `/apis/group/version`.
    root: String,
    /// The group and version in operation ids: `LibraryExampleComV1`.
    id_root: String,
    namespaced: bool,
    /// The media types of documents.
    encodings: Vec<&'static str>,
}

impl<'k> Operations<'k> {
    fn new(kind: &'k Kind) -> Self {
        let at = &kind.group_version;
        let (root, group) = match at.group.as_str() {
            "" => (format!("/api/{}", at.version), "core"),
            // kube-apiserver omits the common suffix of its own groups.
            group if kind.policy().package(at).is_some() => {
                (format!("/apis/{group}/{}", at.version), group.trim_end_matches(".k8s.io"))
            }
            group => (format!("/apis/{group}/{}", at.version), group),
        };
        let id_root = format!("{}{}", camel(group), camel(&at.version));
        let encodings = encodings(&kind.version.schema);
        Self { kind, root, id_root, namespaced: kind.shared.scope == Scope::Namespaced, encodings }
    }

    /// The media types of lists, and of watches on the same path.
    fn streams(&self) -> Vec<&'static str> {
        let streams =
            self.encodings.iter().filter_map(|media_type| Encoding::of_media_type(media_type)?.listed_stream());
        self.encodings.iter().copied().chain(streams).collect()
    }

    /// The paths of an endpoint. The operation `list` includes watches on the same path.
    fn paths(&self, endpoint: &Endpoint) -> Vec<PathItem> {
        let plural = &self.kind.names().plural;
        let scope = if self.namespaced { "/namespaces/{namespace}" } else { "" };
        let collection = format!("{}{scope}/{plural}", self.root);
        let operations = endpoint.operations.iter().filter(|operation| operation.verb != Verb::Watch);
        let (on_collection, on_object): (Vec<_>, Vec<_>) = operations.partition(|operation| {
            matches!(operation.verb, Verb::List | Verb::Create | Verb::DeleteCollection)
                && endpoint.subresource.is_empty()
        });
        let below = match &*endpoint.subresource {
            "" => String::new(),
            name => format!("/{name}"),
        };
        let mut paths = Vec::new();
        if !on_collection.is_empty() {
            paths.push(self.path(collection.clone(), false, endpoint, &on_collection));
        }
        if !on_object.is_empty() {
            paths.push(self.path(format!("{collection}/{{name}}{below}"), true, endpoint, &on_object));
        }
        let list = on_collection.into_iter().find(|operation| operation.verb == Verb::List);
        paths.extend(list.filter(|_| self.namespaced).map(|list| {
            let id = format!("list{}{}ForAllNamespaces", self.id_root, self.kind.names().kind);
            let operation = Operation { id, ..self.operation(endpoint, list) };
            let path = format!("{}/{plural}", self.root);
            PathItem { path, parameters: vec![PRETTY], operations: vec![operation] }
        }));
        paths
    }

    /// A path and its operations.
    fn path(&self, path: String, named: bool, endpoint: &Endpoint, operations: &[&endpoint::Operation]) -> PathItem {
        let mut parameters: Vec<Parameter> = named.then_some(NAME).into_iter().collect();
        parameters.extend(self.namespaced.then_some(NAMESPACE));
        parameters.push(PRETTY);
        if let Some(options) = &endpoint.options {
            parameters.extend(options.properties.iter().map(|(name, schema)| Parameter::option(name, schema)));
        }
        let operations = operations.iter().map(|operation| self.operation(endpoint, operation)).collect();
        PathItem { path, parameters, operations }
    }

    fn operation(&self, endpoint: &Endpoint, operation: &endpoint::Operation) -> Operation {
        let (parameters, codes) = match operation.verb {
            _ if operation.connects => (Vec::new(), OK),
            Verb::Get => (Vec::new(), OK),
            Verb::List | Verb::Watch => {
                let watches = endpoint.operation(Verb::Watch).is_some();
                let is_served = |parameter: &&Parameter| watches || parameter.name != "watch";
                (LIST.iter().filter(is_served).cloned().collect(), OK)
            }
            Verb::Create => (CREATE.to_vec(), OK_CREATED_ACCEPTED),
            Verb::Update => (UPDATE.to_vec(), OK_CREATED),
            Verb::Patch => (PATCH.to_vec(), OK_CREATED),
            Verb::Delete => (DELETE.to_vec(), OK_ACCEPTED),
            Verb::DeleteCollection => (DELETE_COLLECTION.to_vec(), OK),
        };
        let (answer, produces) = self.answer(operation);
        let at = &endpoint.group_version;
        Operation {
            method: operation.verb.method(),
            action: action(operation),
            id: self.id(endpoint, operation),
            description: self.description(endpoint, operation),
            parameters,
            body: self.body(operation),
            body_optional: matches!(operation.body, Body::DeleteOptions),
            codes,
            answer,
            produces,
            kind: json!({"group": at.group, "kind": endpoint.kind, "version": at.version}),
        }
    }

    /// The definition of a body and its media types.
    fn body(&self, operation: &endpoint::Operation) -> Option<(String, Vec<&'static str>)> {
        match &operation.body {
            Body::None => None,
            Body::Own => Some((definitions::name(self.kind), self.encodings.clone())),
            Body::Scale => Some((SCALE.to_owned(), all_encodings())),
            Body::DeleteOptions => Some((format!("{META}.DeleteOptions"), all_encodings())),
            Body::Document(of) => Some((definitions::document_name(of), encodings(&of.schema))),
            Body::Patch(types) => Some((format!("{META}.Patch"), types.iter().map(|of| of.media_type()).collect())),
        }
    }

    /// The definition of an answer and its media types.
    fn answer(&self, operation: &endpoint::Operation) -> (String, Vec<&'static str>) {
        match &operation.answer {
            Answer::Own => (definitions::name(self.kind), self.encodings.clone()),
            Answer::List => (definitions::list_name(self.kind), self.streams()),
            Answer::Scale => (SCALE.to_owned(), all_encodings()),
            Answer::Status => (format!("{META}.Status"), self.encodings.clone()),
            Answer::Document(of) => (definitions::document_name(of), encodings(&of.schema)),
            Answer::Text => (String::new(), vec![if operation.connects { "*/*" } else { "text/plain" }]),
        }
    }

    /// An operation's unique id. For connections, the method follows the group and version.
    fn id(&self, endpoint: &Endpoint, operation: &endpoint::Operation) -> String {
        let (verb, method) = match operation.verb {
            verb if operation.connects => ("connect", camel(verb.method())),
            Verb::Get => ("read", String::new()),
            Verb::Update => ("replace", String::new()),
            Verb::DeleteCollection => ("deleteCollection", String::new()),
            verb => (verb.as_str(), String::new()),
        };
        let scope = if self.namespaced { "Namespaced" } else { "" };
        format!("{verb}{}{method}{scope}{}{}", self.id_root, self.kind.names().kind, camel(&endpoint.subresource))
    }

    fn description(&self, endpoint: &Endpoint, operation: &endpoint::Operation) -> String {
        let (kind, name) = (&self.kind.names().kind, &endpoint.subresource);
        let of = if name.is_empty() { String::new() } else { format!("{name} of ") };
        match operation.verb {
            verb if operation.connects => {
                format!("connect {} requests to {of}{kind}", verb.method().to_ascii_uppercase())
            }
            Verb::Get => format!("read {of}the specified {kind}"),
            Verb::List | Verb::Watch => format!("list or watch objects of kind {kind}"),
            Verb::Create => format!("create {of}{}", article(kind)),
            Verb::Update => format!("replace {of}the specified {kind}"),
            Verb::Patch => format!("partially update {of}the specified {kind}"),
            Verb::Delete => format!("delete {}", article(kind)),
            Verb::DeleteCollection => format!("delete collection of {kind}"),
        }
    }
}

/// The value of `x-kubernetes-action`.
const fn action(operation: &endpoint::Operation) -> &'static str {
    match operation.verb {
        _ if operation.connects => "connect",
        Verb::Create | Verb::Update => operation.verb.method(),
        verb => verb.as_str(),
    }
}

/// The kind with its article.
fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['A', 'E', 'I', 'O', 'U']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// `library.example.com` as `LibraryExampleCom`.
fn camel(text: &str) -> String {
    text.split(['.', '-']).map(capitalized).collect()
}
