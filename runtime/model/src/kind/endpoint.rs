//! The endpoints of a kind, as data. Routing, the methods in `Allow`, both forms of discovery and OpenAPI all derive
//! from them. The object itself comes first, then the subresources in discovery order.

use std::sync::Arc;

use super::{Changes, Kind, model::Path};
use crate::{meta::GroupVersion, schema::Schema};

/// Names of subresources that are declared in other ways.
pub const RESERVED: [&str; 3] = ["status", "scale", "finalize"];

/// An endpoint: the objects of a kind, or one of their subresources.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// The last segment of the path; empty for the objects themselves and their collection.
    pub subresource: Arc<str>,
    /// The group and version of its documents.
    pub group_version: GroupVersion,
    /// The kind of its documents in discovery; the parent's if it has none.
    pub kind: String,
    /// The supported operations, one per verb.
    pub operations: Vec<Operation>,
    /// The part of the stored object that a write may change.
    pub changes: Changes,
    /// Query options in addition to the common ones.
    pub options: Option<Arc<Schema>>,
    /// True if paths below it belong to it, as for a proxy.
    pub takes_paths: bool,
}

/// One verb of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The verb.
    pub verb: Verb,
    /// Its request body.
    pub body: Body,
    /// Its answer.
    pub answer: Answer,
    /// True for a connection, whose OpenAPI action is `connect`.
    pub connects: bool,
}

/// A verb on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read an object.
    Get,
    /// List a collection.
    List,
    /// Watch a collection.
    Watch,
    /// Create an object, or run an action.
    Create,
    /// Replace an object.
    Update,
    /// Patch an object.
    Patch,
    /// Delete an object.
    Delete,
    /// Delete the objects of a collection.
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
    /// The schema of a kind's documents.
    pub fn of(kind: &Kind) -> Self {
        Self {
            group_version: kind.group_version.clone(),
            kind: kind.names().kind.clone(),
            package: kind.policy().package(&kind.group_version).map(str::to_owned),
            schema: kind.version.schema.clone(),
        }
    }
}

/// The type of a request body.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// No body.
    None,
    /// An object of the kind.
    Own,
    /// A Scale.
    Scale,
    /// Optional DeleteOptions.
    DeleteOptions,
    /// A document of this kind.
    Document(DocumentSchema),
    /// A patch of one of these types.
    Patch(Vec<PatchType>),
}

/// The type of an answer.
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
    /// Streamed text.
    Text,
}

/// A type of patch.
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
    /// All verbs by name, which is mostly the order of discovery.
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

    /// The verb's name for authorizers and discovery.
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

    /// Its HTTP method, as in OpenAPI.
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
    /// All types.
    pub const ALL: [Self; 5] = [Self::Strategic, Self::Json, Self::Merge, Self::ApplyYaml, Self::ApplyCbor];

    /// The types supported for documents of a kind. Apply needs field owners, which only stored objects have.
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

    /// True for an apply, which declares owned fields instead of changes.
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
    /// True if its documents are Scales, views of the objects.
    pub fn is_scale(&self) -> bool {
        self.operation(Verb::Get).is_some_and(|operation| matches!(operation.answer, Answer::Scale))
    }

    /// The operation of a verb; `None` if it is not supported.
    pub fn operation(&self, verb: Verb) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.verb == verb)
    }

    /// The supported types of patches.
    pub fn patch_types(&self) -> &[PatchType] {
        match self.operation(Verb::Patch).map(|operation| &operation.body) {
            Some(Body::Patch(types)) => types,
            _ => &[],
        }
    }

    /// This endpoint as other versions of the kind serve it: objects of the kind are documents of the given version.
    #[must_use]
    pub fn in_terms_of(mut self, kind: &Kind) -> Self {
        for operation in &mut self.operations {
            if operation.body == Body::Own {
                operation.body = Body::Document(DocumentSchema::of(kind));
            }
            if operation.answer == Answer::Own {
                operation.answer = Answer::Document(DocumentSchema::of(kind));
            }
        }
        self
    }

    /// The kinds of its documents other than the kind itself.
    pub fn documents(&self) -> impl Iterator<Item = &DocumentSchema> {
        self.operations.iter().flat_map(|operation| {
            let body = if let Body::Document(kind) = &operation.body { Some(kind) } else { None };
            let answer = if let Answer::Document(kind) = &operation.answer { Some(kind) } else { None };
            body.into_iter().chain(answer)
        })
    }
}

/// All declared endpoints of a kind.
pub fn of(kind: &Kind) -> Vec<Endpoint> {
    let endpoint = |subresource: &str, changes, operations| Endpoint {
        subresource: subresource.into(),
        group_version: kind.group_version.clone(),
        kind: kind.names().kind.clone(),
        operations,
        changes,
        options: None,
        takes_paths: false,
    };
    let patch = |answer| Operation::new(Verb::Patch, Body::Patch(PatchType::of(kind, true)), answer);
    let part = |body, answer: Answer| {
        let get = Operation::new(Verb::Get, Body::None, answer.clone());
        vec![get, Operation::new(Verb::Update, body, answer.clone()), patch(answer)]
    };
    let status = || Path::from(&["status"][..]);
    // Status can only be written through its subresource.
    let main = Changes::AllBut(if kind.version.status { vec![status()] } else { Vec::new() });
    if !kind.shared.stored {
        return vec![endpoint("", main, vec![Operation::new(Verb::Create, Body::Own, Answer::Own)])];
    }
    let deleted = if kind.version.returns_deleted { Answer::Own } else { Answer::Status };
    let mut whole = part(Body::Own, Answer::Own);
    whole.extend([
        Operation::new(Verb::List, Body::None, Answer::List),
        Operation::new(Verb::Watch, Body::None, Answer::List),
        Operation::new(Verb::Create, Body::Own, Answer::Own),
        Operation::new(Verb::Delete, Body::DeleteOptions, deleted),
    ]);
    if kind.policy().deletes_collections() {
        whole.push(Operation::new(Verb::DeleteCollection, Body::DeleteOptions, Answer::Status));
    }
    if let Some(verbs) = &kind.version.verbs {
        whole.retain(|operation| verbs.contains(&operation.verb));
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
