//! The operations of a kind: paths, methods, parameters, bodies and answers, before they take the form of a version of
//! OpenAPI. Only what is served is listed, since clients choose by it: kubectl picks its patch type and where it
//! validates from these documents.

use serde_json::{Value, json};

use super::{
    definitions::{self, META, SCALE},
    parameters::{
        CREATE, DELETE, DELETE_COLLECTION, LIST, PATCH, Parameter, UPDATE, name_parameter, namespace_parameter, pretty,
    },
    subresources,
};
use crate::{
    codec::{Encoding, protobuf},
    http::{
        methods::{has_delete_collection, has_finalize},
        resource::patch_types,
    },
    kind::{
        Kind,
        model::{Scope, Style},
    },
};

/// One operation on one path.
pub struct Operation {
    /// The HTTP method, lower case.
    pub method: &'static str,
    /// What `x-kubernetes-action` says.
    pub action: &'static str,
    /// The operation's unique id.
    pub id: String,
    /// What it does.
    pub description: String,
    /// Parameters beside those of the path.
    pub parameters: Vec<Parameter>,
    /// The definition of the body and its media types.
    pub body: Option<(String, Vec<&'static str>)>,
    /// The body may be left out.
    pub body_optional: bool,
    /// The statuses of success.
    pub codes: &'static [(&'static str, &'static str)],
    /// The definition of the answer; empty for text.
    pub answer: String,
    /// The media types of the answer.
    pub produces: Vec<&'static str>,
    /// Group, version and kind of what it is about.
    pub kind: Value,
}

/// A path and its operations.
pub struct PathItem {
    /// The path, with placeholders.
    pub path: String,
    /// Parameters of all its operations.
    pub parameters: Vec<Parameter>,
    /// The operations.
    pub operations: Vec<Operation>,
}

pub(super) const OK: &[(&str, &str)] = &[("200", "OK")];
pub(super) const OK_CREATED: &[(&str, &str)] = &[("200", "OK"), ("201", "Created")];
pub(super) const OK_CREATED_ACCEPTED: &[(&str, &str)] = &[("200", "OK"), ("201", "Created"), ("202", "Accepted")];
const OK_ACCEPTED: &[(&str, &str)] = &[("200", "OK"), ("202", "Accepted")];

/// The media types of a kind's documents.
pub(super) fn encodings(kind: &Kind) -> Vec<&'static str> {
    let numbered = protobuf::Message::of_object(&kind.schema).is_some();
    let offered = Encoding::ALL.into_iter().filter(|encoding| numbered || *encoding != Encoding::Protobuf);
    offered.map(Encoding::media_type).collect()
}

/// The media types of documents that have messages of their own, whatever kind they are about: Scale and DeleteOptions.
fn all_encodings() -> Vec<&'static str> {
    Encoding::ALL.map(Encoding::media_type).to_vec()
}

/// Everything that is served of a kind.
pub fn of(kind: &Kind) -> Vec<PathItem> {
    Operations::new(kind).all()
}

/// What is needed to name the operations of a kind.
#[derive(Clone)]
pub(super) struct Operations<'k> {
    pub kind: &'k Kind,
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
            // The reference leaves the common suffix of its own groups out.
            group if kind.style == Style::Builtin => {
                (format!("/apis/{group}/{}", at.version), group.trim_end_matches(".k8s.io"))
            }
            group => (format!("/apis/{group}/{}", at.version), group),
        };
        let id_root = format!("{}{}", camel(group), camel(&at.version));
        let encodings = encodings(kind);
        Self { kind, root, id_root, namespaced: kind.scope == Scope::Namespaced, encodings }
    }

    /// The media types of lists, and of watches on the same path.
    fn streams(&self) -> Vec<&'static str> {
        let streams =
            self.encodings.iter().filter_map(|media_type| Encoding::of_media_type(media_type)?.listed_stream());
        self.encodings.iter().copied().chain(streams).collect()
    }

    fn all(&self) -> Vec<PathItem> {
        let plural = &self.kind.plural;
        let scoped =
            if self.namespaced { format!("{}/namespaces/{{namespace}}", self.root) } else { self.root.clone() };
        if !self.kind.stored {
            return vec![self.path(format!("{scoped}/{plural}"), false, vec![self.create()])];
        }
        let mut paths = vec![
            self.path(format!("{scoped}/{plural}"), false, self.collection()),
            self.path(format!("{scoped}/{plural}/{{name}}"), true, self.object()),
        ];
        if self.namespaced {
            let list = self.list("ForAllNamespaces");
            let path = format!("{}/{plural}", self.root);
            paths.push(PathItem { path, parameters: vec![pretty()], operations: vec![list] });
        }
        let own = definitions::name(self.kind);
        let own_kind = definitions::group_version_kind(self.kind, &self.kind.kind);
        if self.kind.status {
            let path = format!("{scoped}/{plural}/{{name}}/status");
            paths.push(self.path(path, true, self.subresource("status", &own, &own_kind)));
        }
        if self.kind.scale.is_some() {
            let path = format!("{scoped}/{plural}/{{name}}/scale");
            let scale = json!({"group": "autoscaling", "kind": "Scale", "version": "v1"});
            let of = Operations { encodings: all_encodings(), ..self.clone() };
            paths.push(self.path(path, true, of.subresource("scale", SCALE, &scale)));
        }
        if has_finalize(self.kind) {
            let path = format!("{scoped}/{plural}/{{name}}/finalize");
            let operations = self.subresource("finalize", &own, &own_kind);
            let update = operations.into_iter().filter(|operation| operation.method == "put").collect();
            paths.push(self.path(path, true, update));
        }
        let own = self.kind.subresources.iter();
        paths.extend(own.map(|own| subresources::path(self, own, format!("{scoped}/{plural}/{{name}}/{}", own.name))));
        paths
    }

    /// A path below the kind's.
    pub fn path(&self, path: String, named: bool, operations: Vec<Operation>) -> PathItem {
        let mut parameters = Vec::new();
        if named {
            parameters.push(name_parameter());
        }
        if self.namespaced {
            parameters.push(namespace_parameter());
        }
        parameters.push(pretty());
        PathItem { path, parameters, operations }
    }

    /// An operation's unique id.
    pub fn id(&self, verb: &str, rest: &str) -> String {
        self.id_of(verb, "", rest)
    }

    /// The id of a connection: there, the method stands after the group and version.
    pub fn connect_id(&self, method: &str, rest: &str) -> String {
        self.id_of("connect", method, rest)
    }

    fn id_of(&self, verb: &str, method: &str, rest: &str) -> String {
        let scope = if self.namespaced { "Namespaced" } else { "" };
        format!("{verb}{}{method}{scope}{}{rest}", self.id_root, self.kind.kind)
    }

    /// An operation that gives an object of the kind.
    pub fn operation(&self, method: &'static str, action: &'static str, id: String, description: String) -> Operation {
        Operation {
            method,
            action,
            id,
            description,
            parameters: Vec::new(),
            body: None,
            body_optional: false,
            codes: OK,
            answer: definitions::name(self.kind),
            produces: self.encodings.clone(),
            kind: definitions::group_version_kind(self.kind, &self.kind.kind),
        }
    }

    fn list(&self, suffix: &str) -> Operation {
        let kind = &self.kind.kind;
        let id = match suffix {
            "" => self.id("list", ""),
            suffix => format!("list{}{kind}{suffix}", self.id_root),
        };
        Operation {
            parameters: LIST.to_vec(),
            answer: definitions::list_name(self.kind),
            produces: self.streams(),
            ..self.operation("get", "list", id, format!("list or watch objects of kind {kind}"))
        }
    }

    fn create(&self) -> Operation {
        let kind = &self.kind.kind;
        Operation {
            parameters: CREATE.to_vec(),
            body: Some((definitions::name(self.kind), self.encodings.clone())),
            codes: OK_CREATED_ACCEPTED,
            ..self.operation("post", "post", self.id("create", ""), format!("create {}", article(kind)))
        }
    }

    fn collection(&self) -> Vec<Operation> {
        let kind = &self.kind.kind;
        let mut operations = vec![self.list(""), self.create()];
        if has_delete_collection(self.kind) {
            let id = self.id("deleteCollection", "");
            let collection = Operation {
                parameters: DELETE_COLLECTION.to_vec(),
                body: Some((format!("{META}.DeleteOptions"), all_encodings())),
                body_optional: true,
                answer: format!("{META}.Status"),
                ..self.operation("delete", "deletecollection", id, format!("delete collection of {kind}"))
            };
            operations.push(collection);
        }
        operations
    }

    fn object(&self) -> Vec<Operation> {
        let what = article(&self.kind.kind);
        let own = definitions::name(self.kind);
        vec![
            self.operation("get", "get", self.id("read", ""), format!("read the specified {}", self.kind.kind)),
            Operation {
                parameters: UPDATE.to_vec(),
                body: Some((own, self.encodings.clone())),
                codes: OK_CREATED,
                ..self.operation(
                    "put",
                    "put",
                    self.id("replace", ""),
                    format!("replace the specified {}", self.kind.kind),
                )
            },
            self.patch(self.id("patch", ""), format!("partially update the specified {}", self.kind.kind)),
            Operation {
                parameters: DELETE.to_vec(),
                body: Some((format!("{META}.DeleteOptions"), all_encodings())),
                body_optional: true,
                codes: OK_ACCEPTED,
                answer: format!("{META}.Status"),
                ..self.operation("delete", "delete", self.id("delete", ""), format!("delete {what}"))
            },
        ]
    }

    /// A PATCH.
    pub fn patch(&self, id: String, description: String) -> Operation {
        Operation {
            parameters: PATCH.to_vec(),
            body: Some((format!("{META}.Patch"), patch_types(self.kind).to_vec())),
            codes: OK_CREATED,
            ..self.operation("patch", "patch", id, description)
        }
    }

    fn subresource(&self, name: &str, definition: &str, kind: &Value) -> Vec<Operation> {
        let suffix = camel(name);
        let of = |verb: &str| format!("{verb} {name} of the specified {}", self.kind.kind);
        let mut operations = vec![
            self.operation("get", "get", self.id("read", &suffix), of("read")),
            Operation {
                parameters: UPDATE.to_vec(),
                body: Some((definition.to_owned(), self.encodings.clone())),
                codes: OK_CREATED,
                ..self.operation("put", "put", self.id("replace", &suffix), of("replace"))
            },
            self.patch(self.id("patch", &suffix), of("partially update")),
        ];
        for operation in &mut operations {
            definition.clone_into(&mut operation.answer);
            operation.kind = kind.clone();
        }
        operations
    }
}

/// The kind with its article.
pub(super) fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['A', 'E', 'I', 'O', 'U']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

/// `library.example.com` as `LibraryExampleCom`.
pub(super) fn camel(text: &str) -> String {
    text.split(['.', '-'])
        .map(|part| {
            let mut chars = part.chars();
            chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
        })
        .collect()
}
