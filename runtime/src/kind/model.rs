//! The model of a kind: everything the server must know of it, declared in Rust or not.
use std::{fmt, sync::Arc};

use super::{convert::Convert, endpoint::Endpoint, jsonpath::JsonPath, policy::Policy};
use crate::{
    auth::User,
    meta::{FieldError, GroupKind, GroupResource, GroupVersion},
    schema::{Document, Schema},
};

/// Whether objects live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Objects live in a namespace.
    Namespaced,
    /// Objects belong to the cluster.
    Cluster,
}

/// How object names of the kind are checked.
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
    /// The value at the path, if it is there and not null.
    pub fn of<'d>(&self, document: &'d Document) -> Option<&'d Document> {
        self.at(document).filter(|value| !value.is_null())
    }

    /// The value at the path, null or not.
    pub fn at<'d>(&self, document: &'d Document) -> Option<&'d Document> {
        self.0.iter().try_fold(document, |at, name| at.get(name))
    }

    /// Removes the value at the path, and gives it, null or not.
    pub fn remove(&self, document: &mut Document) -> Option<Document> {
        let (last, above) = self.0.split_last()?;
        above.iter().try_fold(document, |at, name| at.get_mut(name))?.as_object_mut()?.remove(last)
    }

    /// Takes the value at the path out of a document, which is not needed any more.
    pub fn take(&self, document: &mut Document) -> Option<Document> {
        self.0.iter().try_fold(document, |at, name| at.get_mut(name)).map(Document::take)
    }

    /// Sets the value at the path, making the objects on the way, or removes it.
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

#[cfg(test)]
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

/// Where a column's cell comes from.
#[derive(Clone)]
pub enum Cell {
    /// The value at a path.
    Path(Path),
    /// The first value that a JSONPath finds.
    JsonPath(JsonPath),
    /// What a function makes of the object; null where there is nothing to show.
    Computed(fn(&Document) -> Document),
}

/// One column of the kind's Table beyond the name.
#[derive(Clone)]
pub struct Column {
    /// The header.
    pub name: String,
    /// `integer`, `number`, `string`, `boolean` or `date`.
    pub kind: &'static str,
    /// The format, such as `int32`; may be empty.
    pub format: &'static str,
    /// What the column shows.
    pub description: String,
    /// 0 is always shown, above it only in wide output.
    pub priority: i32,
    /// Where cells come from.
    pub cell: Cell,
}

/// Paths of the scale subresource.
#[derive(Clone, Debug)]
pub struct ScalePaths {
    /// Desired replicas, such as `spec.replicas`.
    pub replicas: Path,
    /// Observed replicas, such as `status.replicas`.
    pub status_replicas: Path,
    /// The serialized label selector, such as `status.selector`.
    pub selector: Option<Path>,
}

/// How long a deleted object of a kind that ends gracefully is given, where the client does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grace {
    /// So many seconds.
    Seconds(i64),
    /// As many seconds as a field of the object says; none where it says nothing.
    Path(Path),
}

impl Grace {
    /// The seconds that an object is given.
    pub fn seconds(&self, object: &Document) -> i64 {
        match self {
            Self::Seconds(seconds) => *seconds,
            Self::Path(path) => path.of(object).and_then(Document::as_i64).unwrap_or(0),
        }
    }
}

/// What a hook is told about the request it runs in.
pub struct HookContext<'a> {
    /// The object as it was, on an update.
    pub old: Option<&'a Document>,
    /// Who asks.
    pub user: &'a User,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// The subresource that is written, such as `status`; empty for the object itself.
    pub subresource: &'a str,
}

/// Changes a document. `Err` is a value that the type could not decode.
pub type DefaultHook = fn(&mut Document, &HookContext<'_>) -> Result<(), String>;
/// Checks a document. `Err` is a value that the type could not decode.
pub type ValidateHook = fn(&Document, &HookContext<'_>) -> Result<Vec<FieldError>, String>;
/// Makes a name from a base. `Err` is a value that the type could not decode.
pub type NameHook = fn(&Document, base: &str) -> Result<String, String>;

/// Hooks of a kind, as functions on documents; the derive adapts the user's typed ones.
#[derive(Clone, Copy, Default)]
pub struct Hooks {
    /// Fills in what static defaults cannot say.
    pub default: Option<DefaultHook>,
    /// Checks what the schema cannot say.
    pub validate: Option<ValidateHook>,
    /// Makes a name out of `metadata.generateName`; without it five random characters are appended.
    pub generate_name: Option<NameHook>,
    /// Changes the object when its deletion is first asked for, before it is stored so: a namespace becomes terminating.
    pub on_delete: Option<fn(&mut Document)>,
    /// Whether something besides finalizers and grace still holds a deleted object.
    pub holds_deletion: Option<fn(&Document) -> bool>,
}

impl Hooks {
    /// No hooks.
    pub const NONE: Hooks =
        Hooks { default: None, validate: None, generate_name: None, on_delete: None, holds_deletion: None };
}

/// A kind in one of its versions, as data. Kinds may come and change while the server runs; whoever uses one holds it as
/// `Arc<Kind>`.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // independent properties of a kind, not states of a machine
pub struct Kind {
    /// The group and version.
    pub group_version: GroupVersion,
    /// It is served; a version that is not can still be the one in which objects lie in the store.
    pub served: bool,
    /// The warning that answers of a deprecated version carry, but for those that refuse who asks.
    pub deprecated: Option<String>,
    /// How objects of this version become those of the version that is stored, and back; `None` in that version itself.
    pub conversion: Option<Arc<dyn Convert>>,
    /// The kind, CamelCase.
    pub kind: String,
    /// The kind of lists, usually `<Kind>List`.
    pub list_kind: String,
    /// The plural, lower case: the resource's name in paths.
    pub plural: String,
    /// The singular, lower case.
    pub singular: String,
    /// Short names for command lines.
    pub short_names: Vec<String>,
    /// Groups of resources such as `all`.
    pub categories: Vec<String>,
    /// Namespaced or not.
    pub scope: Scope,
    /// How it is served where kinds differ.
    pub policy: &'static dyn Policy,
    /// How names are checked.
    pub names: NameRule,
    /// The object's schema: properties beside apiVersion, kind and metadata.
    pub schema: Arc<Schema>,
    /// Strategic merge patches are taken.
    pub strategic: bool,
    /// There is a status subresource, and writes of the object itself leave status alone.
    pub status: bool,
    /// `metadata.generation` counts changes of what is not metadata or status.
    pub generation: bool,
    /// The scale subresource.
    pub scale: Option<ScalePaths>,
    /// Columns beyond the name; an Age column is among them where the kind wants one.
    pub columns: Vec<Column>,
    /// Selectable fields beyond metadata.name and metadata.namespace.
    pub selectable: Vec<Path>,
    /// An update may leave out `metadata.resourceVersion`.
    pub update_without_version: bool,
    /// A PUT to a name that does not exist creates it.
    pub create_on_update: bool,
    /// Objects are kept. A kind that is not stored answers POST and nothing else.
    pub stored: bool,
    /// Subresources of its own, beside status, scale and finalize.
    pub subresources: Vec<Endpoint>,
    /// Objects end gracefully: a deleted one is marked and stays for so long, or until whoever ends it deletes it once
    /// more with a grace of zero. At the deadline the server ends it; finalizers hold it longer. Without it they are gone at once, whatever grace the client asks for.
    pub grace: Option<Grace>,
    /// Hooks.
    pub hooks: Hooks,
}

impl Kind {
    /// Type meta of the kind's objects, as JSON members with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    pub fn type_meta(&self) -> String {
        format!(r#""kind":"{}","apiVersion":"{}","#, self.kind, self.group_version)
    }

    /// The resource and its group, as NotFound and Conflict name it.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group_version.group.clone(), resource: self.plural.clone() }
    }

    /// The kind declares all of its columns, the name among them: none is put before or after them (Event).
    pub fn names_itself(&self) -> bool {
        self.columns.iter().any(|column| column.name == "Name")
    }

    /// Whether anything besides `metadata.finalizers` and grace still holds a deleted object.
    pub fn holds(&self, document: &Document) -> bool {
        let finalizers = self.policy.finalizers().and_then(|path| Path::from(path).of(document)?.as_array());
        finalizers.is_some_and(|finalizers| !finalizers.is_empty())
            || self.hooks.holds_deletion.is_some_and(|holds| holds(document))
    }

    /// The kind and its group, as Invalid names it.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group_version.group.clone(), kind: self.kind.clone() }
    }

    /// The prefix of the resource's keys in the store: `/registry/configmaps/`, `/registry/example.com/widgets/`.
    pub fn prefix(&self) -> String {
        match self.group_version.group.as_str() {
            "" => format!("/registry/{}/", self.plural),
            group => format!("/registry/{group}/{}/", self.plural),
        }
    }
}
