//! What is served of a kind, as data: its endpoints. Routing, the methods that `Allow` names, both forms of discovery and
//! OpenAPI are made from them and from nothing else. Guarantees that the object itself comes first, then the
//! subresources in discovery's order.

use std::sync::Arc;

use super::{Changes, Kind, model::Path};
use crate::{meta::GroupVersion, schema::Schema};

/// Names of subresources that a kind declares in other ways.
pub const RESERVED: [&str; 3] = ["status", "scale", "finalize"];

/// What can be asked of the objects of a kind, or of one of their subresources.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// The last segment of the path; empty for the objects themselves and their collection.
    pub subresource: Arc<str>,
    /// The group and version of its documents.
    pub group_version: GroupVersion,
    /// The kind of its documents, as discovery names it; the parent's own where it has none.
    pub kind: String,
    /// What can be asked, each verb once.
    pub operations: Vec<Operation>,
    /// What of the stored object a write through it may change.
    pub changes: Changes,
    /// Options in the query beside those that every request has.
    pub options: Option<Arc<Schema>>,
}

/// One verb of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The verb.
    pub verb: Verb,
    /// What its body is.
    pub body: Body,
    /// What it answers.
    pub answer: Answer,
    /// A connection rather than a document: `connect` is its action.
    pub connects: bool,
}

/// What is done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// One object.
    Get,
    /// A collection.
    List,
    /// Changes of a collection.
    Watch,
    /// A new object, or an action.
    Create,
    /// An object as a whole.
    Update,
    /// A change to an object.
    Patch,
    /// The end of an object.
    Delete,
    /// The end of what a collection holds.
    DeleteCollection,
}

/// Documents of another kind than the endpoint's own.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSchema {
    /// Their group and version.
    pub group_version: GroupVersion,
    /// Their kind.
    pub kind: String,
    /// The package of their group among those of Kubernetes, by which definitions are named.
    pub package: Option<String>,
    /// Their schema.
    pub schema: Arc<Schema>,
}

impl DocumentSchema {
    /// That of a kind's documents.
    pub fn of(kind: &Kind) -> Self {
        Self {
            group_version: kind.group_version.clone(),
            kind: kind.names().kind.clone(),
            package: kind.policy().package(&kind.group_version).map(str::to_owned),
            schema: kind.version.schema.clone(),
        }
    }
}

/// What the body of a request is.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// There is none.
    None,
    /// An object of the kind.
    Own,
    /// A Scale.
    Scale,
    /// DeleteOptions, which may be left out.
    DeleteOptions,
    /// A document of this kind.
    Document(DocumentSchema),
    /// A patch of one of these types.
    Patch(Vec<PatchType>),
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// An object of the kind.
    Own,
    /// A list of objects of the kind, or a watch of them.
    List,
    /// A Scale.
    Scale,
    /// A Status.
    Status,
    /// A document of this kind.
    Document(DocumentSchema),
    /// Text, as it comes.
    Text,
}

/// A way of saying what is to change in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// A strategic merge patch.
    Strategic,
    /// A JSON patch.
    Json,
    /// A JSON merge patch.
    Merge,
    /// Apply, of YAML or JSON.
    ApplyYaml,
    /// Apply, of CBOR.
    ApplyCbor,
}

impl Verb {
    /// All of them by name, the order in which discovery mostly lists them.
    pub const BY_NAME: [Self; 8] = [
        Self::Create,
        Self::Delete,
        Self::DeleteCollection,
        Self::Get,
        Self::List,
        Self::Patch,
        Self::Update,
        Self::Watch,
    ];

    /// The verb as authorizers and discovery name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// The HTTP method that asks for it, as OpenAPI writes it.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Get | Self::List | Self::Watch => "get",
            Self::Create => "post",
            Self::Update => "put",
            Self::Patch => "patch",
            Self::Delete | Self::DeleteCollection => "delete",
        }
    }
}

impl PatchType {
    /// Those taken for documents of a kind. Applying needs fields that have owners, as those of stored objects have.
    pub fn of(kind: &Kind, owned: bool) -> Vec<Self> {
        let mut types = vec![Self::Json, Self::Merge];
        if kind.takes_strategic_patches() {
            types.insert(0, Self::Strategic);
        }
        if owned {
            types.extend([Self::ApplyYaml, Self::ApplyCbor]);
        }
        types
    }

    /// The media type of its bodies.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::ApplyYaml => "application/apply-patch+yaml",
            Self::ApplyCbor => "application/apply-patch+cbor",
        }
    }

    /// It says what a manager wants to own, rather than what is to change.
    pub const fn applies(self) -> bool {
        matches!(self, Self::ApplyYaml | Self::ApplyCbor)
    }
}

impl Operation {
    const fn new(verb: Verb, body: Body, answer: Answer) -> Self {
        Self { verb, body, answer, connects: false }
    }
}

impl Endpoint {
    /// Its documents are Scales, views of the objects.
    pub fn is_scale(&self) -> bool {
        self.operation(Verb::Get).is_some_and(|operation| matches!(operation.answer, Answer::Scale))
    }

    /// What a verb means here; `None` for one that is not served.
    pub fn operation(&self, verb: Verb) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.verb == verb)
    }

    /// The types of patches that are taken.
    pub fn patch_types(&self) -> &[PatchType] {
        match self.operation(Verb::Patch).map(|operation| &operation.body) {
            Some(Body::Patch(types)) => types,
            _ => &[],
        }
    }

    /// The kinds of its documents that are not the kind's own.
    pub fn documents(&self) -> impl Iterator<Item = &DocumentSchema> {
        self.operations.iter().flat_map(|operation| {
            let body = if let Body::Document(kind) = &operation.body { Some(kind) } else { None };
            let answer = if let Answer::Document(kind) = &operation.answer { Some(kind) } else { None };
            body.into_iter().chain(answer)
        })
    }
}

/// All that is served of a kind as it is declared.
pub fn of(kind: &Kind) -> Vec<Endpoint> {
    let endpoint = |subresource: &str, changes, operations| Endpoint {
        subresource: subresource.into(),
        group_version: kind.group_version.clone(),
        kind: kind.names().kind.clone(),
        operations,
        changes,
        options: None,
    };
    let patch = |answer| Operation::new(Verb::Patch, Body::Patch(PatchType::of(kind, true)), answer);
    let part = |body, answer: Answer| {
        let get = Operation::new(Verb::Get, Body::None, answer.clone());
        vec![get, Operation::new(Verb::Update, body, answer.clone()), patch(answer)]
    };
    let status = || Path::from(&["status"][..]);
    // Status is for its own subresource alone.
    let main = Changes::AllBut(if kind.version.status { vec![status()] } else { Vec::new() });
    if !kind.shared.stored {
        return vec![endpoint("", main, vec![Operation::new(Verb::Create, Body::Own, Answer::Own)])];
    }
    let mut whole = part(Body::Own, Answer::Own);
    whole.extend([
        Operation::new(Verb::List, Body::None, Answer::List),
        Operation::new(Verb::Watch, Body::None, Answer::List),
        Operation::new(Verb::Create, Body::Own, Answer::Own),
        Operation::new(Verb::Delete, Body::DeleteOptions, Answer::Status),
    ]);
    if kind.policy().deletes_collections() {
        whole.push(Operation::new(Verb::DeleteCollection, Body::DeleteOptions, Answer::Status));
    }
    let mut all = vec![endpoint("", main, whole)];
    if let Some(finalizers) = kind.policy().finalizers() {
        let update = Operation::new(Verb::Update, Body::Own, Answer::Own);
        all.push(endpoint("finalize", Changes::Only(finalizers.into()), vec![update]));
    }
    if kind.version.status {
        all.push(endpoint("status", Changes::Only(status()), part(Body::Own, Answer::Own)));
    }
    if let Some(scale) = &kind.version.scale {
        all.push(Endpoint {
            group_version: GroupVersion { group: "autoscaling".to_owned(), version: "v1".to_owned() },
            kind: "Scale".to_owned(),
            ..endpoint("scale", Changes::Only(scale.replicas.clone()), part(Body::Scale, Answer::Scale))
        });
    }
    all.extend(kind.version.subresources.iter().cloned());
    all
}
