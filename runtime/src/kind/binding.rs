//! What a kind does: the policy it is served by, its hooks, its conversion, the cells it computes. And the [`Kind`], which
//! is both: what it is, as data, and what it does.
use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{
    Convert, Policy,
    model::{Column, Names, Path, Shared, Version},
};
use crate::{
    auth::User,
    meta::{FieldError, GroupKind, GroupResource, GroupVersion},
    schema::Document,
};

/// The request that a hook runs in.
pub struct HookContext<'a> {
    /// The previous object, on an update.
    pub old: Option<&'a Document>,
    /// Who asks.
    pub user: &'a User,
    /// True if nothing will be stored.
    pub dry_run: bool,
    /// The written subresource, such as `status`; empty for the object itself.
    pub subresource: &'a str,
}

/// Code of a kind's own that runs in writes, on documents. The derive adapts the user's typed functions. `Err` is always a
/// value that the type of the hooks does not decode.
pub trait DocumentHooks: Send + Sync {
    /// Whether [`DocumentHooks::fill_in`] does something.
    fn fills_in(&self) -> bool {
        false
    }

    /// Whether [`DocumentHooks::validate`] does something.
    fn validates(&self) -> bool {
        false
    }

    /// Fills in what declared defaults cannot say.
    ///
    /// # Errors
    /// Why the object could not be decoded.
    fn fill_in(&self, _object: &mut Document, _context: &HookContext<'_>) -> Result<(), String> {
        Ok(())
    }

    /// Checks what the schema cannot say.
    ///
    /// # Errors
    /// Why the object could not be decoded.
    fn validate(&self, _object: &Document, _context: &HookContext<'_>) -> Result<Vec<FieldError>, String> {
        Ok(Vec::new())
    }

    /// Makes a name out of `metadata.generateName`. Without one, five random characters are appended.
    ///
    /// # Errors
    /// Why the object could not be decoded.
    fn generate_name(&self, _object: &Document, _base: &str) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// Changes the object when its deletion is first requested, before that is stored: a namespace becomes terminating.
    /// Called in the version that is stored.
    fn on_delete(&self, _object: &mut Document) {}

    /// Whether something besides finalizers and grace still holds a deleted object. Called in the version that is stored.
    fn holds_deletion(&self, _object: &Document) -> bool {
        false
    }
}

/// No hooks.
#[derive(Clone, Copy, Debug)]
pub struct NoHooks;

impl DocumentHooks for NoHooks {}

/// Computes a cell of a Table from an object; null where there is nothing to show.
pub type Compute = fn(&Document) -> Document;

/// What a kind does in one of its versions.
#[derive(Clone)]
pub struct Binding {
    /// How it is served where kinds differ.
    pub policy: &'static dyn Policy,
    /// Code of its own that runs in writes.
    pub hooks: Arc<dyn DocumentHooks>,
    /// The conversion to the storage version and back; `None` in that version.
    pub conversion: Option<Arc<dyn Convert>>,
    /// What computes the cells of a column, by the column's name.
    pub cells: BTreeMap<String, Compute>,
}

impl Binding {
    /// The behaviour of the stored version of a kind without code of its own.
    pub fn new(policy: &'static dyn Policy) -> Self {
        Self { policy, hooks: Arc::new(NoHooks), conversion: None, cells: BTreeMap::new() }
    }
}

/// A kind in one of its versions: what it is and what it does. Kinds may come and change while the server runs; code that
/// uses one holds it as `Arc<Kind>`.
#[derive(Clone)]
pub struct Kind {
    /// The group and version.
    pub group_version: GroupVersion,
    /// What it has in common with the other versions.
    pub shared: Arc<Shared>,
    /// What it is in this version.
    pub version: Arc<Version>,
    /// What it does.
    pub binding: Binding,
}

impl Kind {
    /// A version of a resource.
    pub fn new(shared: impl Into<Arc<Shared>>, version: impl Into<Arc<Version>>, binding: Binding) -> Self {
        let (shared, version) = (shared.into(), version.into());
        let group_version = GroupVersion { group: shared.group.clone(), version: version.name.clone() };
        Self { group_version, shared, version, binding }
    }

    /// The same with changes.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Shared, &mut Version, &mut Binding)) -> Self {
        change(Arc::make_mut(&mut self.shared), Arc::make_mut(&mut self.version), &mut self.binding);
        Self::new(self.shared, self.version, self.binding)
    }

    /// The names.
    pub fn names(&self) -> &Names {
        &self.shared.names
    }

    /// How it is served where kinds differ.
    pub fn policy(&self) -> &'static dyn Policy {
        self.binding.policy
    }

    /// Type meta of the kind's objects, as JSON members with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    pub fn type_meta(&self) -> String {
        format!(r#""kind":"{}","apiVersion":"{}","#, self.names().kind, self.group_version)
    }

    /// The resource and its group, as NotFound and Conflict name it.
    pub fn group_resource(&self) -> GroupResource {
        self.shared.group_resource()
    }

    /// The kind and its group, as Invalid names it.
    pub fn group_kind(&self) -> GroupKind {
        self.shared.group_kind()
    }

    /// True if the kind declares all of its columns, including the name (Event).
    pub fn names_itself(&self) -> bool {
        self.version.columns.iter().any(|column| column.name == "Name")
    }

    /// True if strategic merge patches are supported.
    pub fn takes_strategic_patches(&self) -> bool {
        self.policy().takes_strategic_patches(&self.version.schema)
    }

    /// What a computed column shows of an object.
    pub fn compute(&self, column: &Column, object: &Document) -> Document {
        self.binding.cells.get(&column.name).map_or(Document::Null, |compute| compute(object))
    }

    /// True if something besides `metadata.finalizers` and the grace period still holds a deleted object.
    pub fn holds(&self, document: &Document) -> bool {
        let finalizers = self.policy().finalizers().and_then(|path| Path::from(path).of(document)?.as_array());
        finalizers.is_some_and(|finalizers| !finalizers.is_empty()) || self.binding.hooks.holds_deletion(document)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({} {})", self.group_version, self.names().kind)
    }
}
