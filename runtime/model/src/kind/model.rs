//! The definition of a resource, as data that can be compared: the properties that all versions share, and those of each
//! version. The behaviour of a kind is its [`Binding`](super::Binding).
use std::{fmt, sync::Arc, time::Duration};

use super::{
    UserRoles,
    cells::Call,
    endpoint::{Endpoint, Verb},
    jsonpath::JsonPath,
};
use crate::{
    meta::{GroupKind, GroupResource},
    schema::{At, Document, Schema},
};

/// The scope of a kind's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects live in a namespace.
    Namespaced,
    /// Objects are cluster-scoped.
    Cluster,
}

/// The rule for object names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// A lower-case RFC 1123 subdomain of at most 253 characters.
    Subdomain,
    /// A lower-case RFC 1123 label of at most 63 characters (Namespace).
    Label,
    /// Any name that is safe in a path (roles).
    PathSegment,
}

/// A path to a field by wire names: `["spec", "pageCount"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(pub Vec<String>);

impl Path {
    /// True if a schema declares the field.
    pub fn is_in(&self, schema: &Schema) -> bool {
        self.0.iter().try_fold(At::of(schema), |at, name| at.property(name)).is_some()
    }

    /// The value at the path, if it exists and is not null.
    pub fn of<'d>(&self, document: &'d Document) -> Option<&'d Document> {
        self.at(document).filter(|value| !value.is_null())
    }

    /// The value at the path, null or not.
    pub fn at<'d>(&self, document: &'d Document) -> Option<&'d Document> {
        self.0.iter().try_fold(document, |at, name| at.get(name))
    }

    /// Removes and returns the value at the path, null or not.
    pub fn remove(&self, document: &mut Document) -> Option<Document> {
        let (last, above) = self.0.split_last()?;
        above.iter().try_fold(document, |at, name| at.get_mut(name))?.as_object_mut()?.remove(last)
    }

    /// Takes the value at the path out of a document that is no longer needed.
    pub fn take(&self, document: &mut Document) -> Option<Document> {
        self.0.iter().try_fold(document, |at, name| at.get_mut(name)).map(Document::take)
    }

    /// Sets the value at the path and creates missing parents, or removes it.
    pub fn put(&self, document: &mut Document, value: Option<Document>) {
        let Some(value) = value else {
            self.remove(document);
            return;
        };
        if self.0.is_empty() {
            return;
        }
        let mut at = document;
        for name in &self.0 {
            if !at.is_object() {
                *at = Document::Object(serde_json::Map::new());
            }
            at = &mut at[name];
        }
        *at = value;
    }
}

impl From<&str> for Path {
    /// The path of a text such as `spec.pageCount`.
    fn from(text: &str) -> Self {
        Self(text.split('.').map(str::to_owned).collect())
    }
}

impl From<&[&str]> for Path {
    fn from(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// The source of a column's cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The value at a path.
    Path(Path),
    /// The first value that a JSONPath finds.
    JsonPath(JsonPath),
    /// What a function makes of values that JSONPaths find.
    Call(Call),
    /// What the kind's [`Binding`](super::Binding) computes for the column of this name.
    Computed,
}

impl Cell {
    /// True if both show the same values, however their paths are written.
    #[must_use]
    pub fn shows_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::JsonPath(own), Self::JsonPath(other)) => own.is_same(other),
            (Self::Path(path), Self::JsonPath(json)) | (Self::JsonPath(json), Self::Path(path)) => {
                json.names().is_some_and(|names| names == path.0)
            }
            _ => self == other,
        }
    }
}

/// One column of the kind's Table beyond the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The header.
    pub name: String,
    /// `integer`, `number`, `string`, `boolean` or `date`.
    pub kind: String,
    /// The format, such as `int32`; may be empty.
    pub format: String,
    /// What the column shows.
    pub description: String,
    /// 0 is always shown, above it only in wide output.
    pub priority: i32,
    /// Where cells come from.
    pub cell: Cell,
}

impl Column {
    /// A column that is always shown, without a format and a description.
    pub fn new(name: impl Into<String>, kind: impl Into<String>, cell: Cell) -> Self {
        let (format, description) = (String::new(), String::new());
        Self { name: name.into(), kind: kind.into(), format, description, priority: 0, cell }
    }
}

/// Paths of the scale subresource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalePaths {
    /// Desired replicas, such as `spec.replicas`.
    pub replicas: Path,
    /// Observed replicas, such as `status.replicas`.
    pub status_replicas: Path,
    /// The label selector, such as `status.selector`: serialized, or as an object.
    pub selector: Option<Path>,
}

impl ScalePaths {
    /// The paths of desired and observed replicas, without a label selector.
    pub fn new(replicas: Path, status_replicas: Path) -> Self {
        Self { replicas, status_replicas, selector: None }
    }
}

/// The default grace period of a kind whose objects terminate gracefully.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grace {
    /// A number of seconds.
    Seconds(i64),
    /// The number of seconds in a field of the object; none if it is absent.
    Path(Path),
}

impl Grace {
    /// The grace period of an object in seconds.
    pub fn seconds(&self, object: &Document) -> i64 {
        match self {
            Self::Seconds(seconds) => *seconds,
            Self::Path(path) => path.of(object).and_then(Document::as_i64).unwrap_or(0),
        }
    }
}

/// The names of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The plural, lower case: the resource's name in paths.
    pub plural: String,
    /// The singular, lower case.
    pub singular: String,
    /// The kind, CamelCase.
    pub kind: String,
    /// The kind of lists, usually `<Kind>List`.
    pub list_kind: String,
    /// Short names for kubectl.
    pub short_names: Vec<String>,
    /// Groups of resources such as `all`.
    pub categories: Vec<String>,
}

impl Names {
    /// The names of a kind with this plural: its singular is the kind in lower case, and its lists are `<Kind>List`.
    pub fn new(kind: impl Into<String>, plural: impl Into<String>) -> Self {
        let kind = kind.into();
        Self {
            plural: plural.into(),
            singular: kind.to_lowercase(),
            list_kind: format!("{kind}List"),
            kind,
            ..Self::default()
        }
    }
}

/// The properties that all versions of a resource share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The group; empty for the core group.
    pub group: String,
    /// The names.
    pub names: Names,
    /// Namespaced or not.
    pub scope: Scope,
    /// How names of objects are checked.
    pub name_rule: NameRule,
    /// True if objects are stored. A kind that is not stored supports only POST.
    pub stored: bool,
    /// Graceful deletion: a deleted object is marked, and removed at its deadline or when it is deleted again with a grace
    /// period of zero. Finalizers keep it longer. If absent, objects are removed at once, whatever grace period the client
    /// requests. A path is that of a field of the storage version.
    pub grace: Option<Grace>,
    /// How long an object lives after its last write. The store deletes it then, whatever finalizers it has.
    pub lifetime: Option<Duration>,
    /// The least of the roles `view`, `edit` and `admin` that read and write objects.
    pub roles: UserRoles,
}

impl Shared {
    /// A namespaced, stored resource without grace and lifetime, whose objects' names are subdomains.
    pub fn new(group: impl Into<String>, names: Names) -> Self {
        Self {
            group: group.into(),
            names,
            scope: Scope::Namespaced,
            name_rule: NameRule::Subdomain,
            stored: true,
            grace: None,
            lifetime: None,
            roles: UserRoles::default(),
        }
    }

    /// The kind and its group, for Invalid.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.names.kind.clone() }
    }

    /// The resource and its group, for NotFound and Conflict.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group.clone(), resource: self.names.plural.clone() }
    }

    /// The prefix of the resource's keys in the store: `/registry/configmaps/`, `/registry/example.com/widgets/`.
    pub fn prefix(&self) -> String {
        match self.group.as_str() {
            "" => format!("/registry/{}/", self.names.plural),
            group => format!("/registry/{group}/{}/", self.names.plural),
        }
    }
}

/// One version of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a version, not states of a machine")]
pub struct Version {
    /// The name, such as `v1beta1`.
    pub name: String,
    /// The group that it is served in, if that is not the group of the resource: events are served in `v1` and in
    /// `events.k8s.io/v1`. Such a version is not the storage version.
    pub group: Option<String>,
    /// True if it is served. A version that is not can still be the storage version.
    pub served: bool,
    /// The warning in all answers of a deprecated version, except the answers to unauthorized requests.
    pub deprecated: Option<String>,
    /// The object's schema: properties beside apiVersion, kind and metadata.
    pub schema: Arc<Schema>,
    /// What the type and the names of new objects have to be besides [`NameRule`]: a schema of objects that declares `apiVersion`,
    /// `kind`, `metadata.name` and `metadata.generateName` alone.
    pub names: Option<Arc<Schema>>,
    /// Columns beyond the name; an Age column is among them where the kind has one.
    pub columns: Vec<Column>,
    /// Selectable fields beyond metadata.name and metadata.namespace.
    pub selectable: Vec<Path>,
    /// Further names of selectable fields: Kubernetes selects jobs by `status.successful`, which is `status.succeeded`.
    pub selector_aliases: Vec<(String, Path)>,
    /// True if there is a status subresource; writes of the object then do not change the status.
    pub status: bool,
    /// A create stores the status that it is given, as of Nodes, which register themselves with it.
    pub status_on_create: bool,
    /// `metadata.generation` counts changes outside of metadata and status.
    pub generation: bool,
    /// The scale subresource.
    pub scale: Option<ScalePaths>,
    /// An update may omit `metadata.resourceVersion`.
    pub update_without_version: bool,
    /// A PUT to a missing name creates the object.
    pub create_on_update: bool,
    /// A deletion answers with the deleted object, instead of a Status.
    pub returns_deleted: bool,
    /// The verbs on objects, if they are fewer than the policy allows.
    pub verbs: Option<Vec<Verb>>,
    /// Custom subresources, in addition to status, scale and finalize.
    pub subresources: Vec<Endpoint>,
}

impl Version {
    /// A served version that has a schema and nothing else.
    pub fn new(name: impl Into<String>, schema: Schema) -> Self {
        Self { name: name.into(), served: true, schema: Arc::new(schema), ..Self::default() }
    }
}
