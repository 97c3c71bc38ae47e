//! What a kind does: the policy it is served by, its hooks, its conversion, the cells it computes. And the [`Kind`], which
//! is both: what it is, as data, and what it does.
use std::{
    collections::BTreeMap,
    fmt,
    future::ready,
    ops::Deref,
    pin::Pin,
    sync::{Arc, OnceLock},
};

use super::{
    Convert, Policy,
    model::{Column, Names, Path, Shared, Version},
};
use crate::{
    codec::protobuf::Message,
    kind::client::Backend,
    meta::{FieldError, GroupKind, GroupResource, GroupVersion, Operation, Refusal, User, Warnings},
    schema::{Document, Schema, rules::RuleSet},
};

/// The request that a hook runs in.
#[derive(Clone, Copy)]
pub struct HookContext<'a> {
    /// The operation of the request.
    pub operation: Operation,
    /// The previous object, on an update.
    pub old: Option<&'a Document>,
    /// The schema of the kind.
    pub schema: &'a Schema,
    /// The requesting user.
    pub user: &'a Arc<User>,
    /// True if nothing will be stored.
    pub dry_run: bool,
    /// The written subresource, such as `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The field manager of the write.
    pub field_manager: &'a str,
    /// Warnings for the client.
    pub warnings: &'a Warnings,
    /// The server; `None` outside of one.
    pub server: Option<&'a dyn Backend>,
}

impl<'a> HookContext<'a> {
    /// The creation of an object by a user, outside of a server.
    pub fn new(schema: &'a Schema, user: &'a Arc<User>, warnings: &'a Warnings) -> Self {
        let (operation, subresource, field_manager) = (Operation::Create, "", "unknown");
        Self { operation, old: None, schema, user, dry_run: false, subresource, field_manager, warnings, server: None }
    }
}

/// A hook of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hook {
    /// `set_defaults`.
    Defaults,
    /// `validate`.
    Validation,
    /// `admit`.
    Admission,
    /// `generate_name`.
    Name,
    /// `on_delete`.
    Deletion,
    /// `holds_deletion`.
    Hold,
}

impl Hook {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Defaults, Self::Validation, Self::Admission, Self::Name, Self::Deletion, Self::Hold];
}

/// Why a hook failed.
#[derive(Debug)]
pub enum HookError {
    /// The type of the hooks cannot decode the object, for this reason.
    Undecodable(String),
    /// The hook refuses the request.
    Refused(Refusal),
}

/// The result of a hook.
pub type HookFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HookError>> + Send + 'a>>;

/// The hooks of a kind, on documents. [`hook::on_documents`](super::hook::on_documents) adapts typed hooks.
pub trait DocumentHooks: Send + Sync {
    /// True if a hook does something. Otherwise it need not be called.
    fn runs(&self, hook: Hook) -> bool;

    /// True if a hook changes something besides the object, so that it cannot be part of a dry run.
    fn has_side_effects(&self) -> bool {
        false
    }

    /// Sets defaults that the declaration cannot express.
    fn set_defaults<'a>(&'a self, _object: &'a mut Document, _context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }

    /// Checks what the schema cannot express.
    fn validate<'a>(&'a self, _object: &'a Document, _context: HookContext<'a>) -> HookFuture<'a, Vec<FieldError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Decides about a valid write, or about a deletion.
    fn admit<'a>(&'a self, _object: &'a Document, _context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }

    /// Generates a name from `metadata.generateName`. Without this hook, five random characters are appended.
    fn generate_name<'a>(&'a self, _object: &'a Document, _base: &'a str) -> HookFuture<'a, Option<String>> {
        Box::pin(ready(Ok(None)))
    }

    /// Changes the object when its deletion starts, before the mark is stored: a namespace becomes terminating. Called with
    /// the storage version and its schema.
    fn on_delete<'a>(&'a self, _object: &'a mut Document, _schema: &'a Schema) -> HookFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }

    /// True while a deleted object must be kept for another reason than finalizers and its grace period. Called with the
    /// storage version.
    fn holds_deletion<'a>(&'a self, _object: &'a Document) -> HookFuture<'a, bool> {
        Box::pin(ready(Ok(false)))
    }
}

/// No hooks.
#[derive(Clone, Copy, Debug)]
pub struct NoHooks;

impl DocumentHooks for NoHooks {
    fn runs(&self, _: Hook) -> bool {
        false
    }
}

/// Two sets of hooks, called in order.
struct Chain([Arc<dyn DocumentHooks>; 2]);

impl Chain {
    fn running(&self, hook: Hook) -> impl Iterator<Item = &Arc<dyn DocumentHooks>> {
        self.0.iter().filter(move |hooks| hooks.runs(hook))
    }
}

impl DocumentHooks for Chain {
    fn runs(&self, hook: Hook) -> bool {
        self.0.iter().any(|hooks| hooks.runs(hook))
    }

    fn has_side_effects(&self) -> bool {
        self.0.iter().any(|hooks| hooks.has_side_effects())
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(async move {
            for hooks in self.running(Hook::Defaults) {
                hooks.set_defaults(object, context).await?;
            }
            Ok(())
        })
    }

    fn validate<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, Vec<FieldError>> {
        Box::pin(async move {
            let mut errors = Vec::new();
            for hooks in self.running(Hook::Validation) {
                errors.extend(hooks.validate(object, context).await?);
            }
            Ok(errors)
        })
    }

    fn admit<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(async move {
            for hooks in self.running(Hook::Admission) {
                hooks.admit(object, context).await?;
            }
            Ok(())
        })
    }

    /// The later hooks have precedence.
    fn generate_name<'a>(&'a self, object: &'a Document, base: &'a str) -> HookFuture<'a, Option<String>> {
        Box::pin(async move {
            for hooks in self.0.iter().rev().filter(|hooks| hooks.runs(Hook::Name)) {
                if let Some(name) = hooks.generate_name(object, base).await? {
                    return Ok(Some(name));
                }
            }
            Ok(None)
        })
    }

    fn on_delete<'a>(&'a self, object: &'a mut Document, schema: &'a Schema) -> HookFuture<'a, ()> {
        Box::pin(async move {
            for hooks in self.running(Hook::Deletion) {
                hooks.on_delete(object, schema).await?;
            }
            Ok(())
        })
    }

    fn holds_deletion<'a>(&'a self, object: &'a Document) -> HookFuture<'a, bool> {
        Box::pin(async move {
            for hooks in self.running(Hook::Hold) {
                if hooks.holds_deletion(object).await? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

/// Computes a cell of a Table from an object; null for an empty cell.
pub type Compute = fn(&Document) -> Document;

/// The behaviour of a kind in one of its versions.
#[derive(Clone)]
#[non_exhaustive]
pub struct Binding {
    /// The policy, which decides where kinds differ.
    pub policy: &'static dyn Policy,
    /// The hooks.
    pub hooks: Arc<dyn DocumentHooks>,
    /// The conversion to the storage version and back; `None` in that version.
    pub conversion: Option<Arc<dyn Convert>>,
    /// The functions that compute cells, by the names of columns.
    pub cells: BTreeMap<String, Compute>,
    /// True for a kind that a program declares in Rust: fields of stored objects that its schema does not know stay, since a
    /// newer version of the program may have written them. Definitions can be changed instead, and drop them.
    pub keeps_unknown: bool,
}

impl Binding {
    /// The behaviour of the storage version of a kind without hooks.
    pub fn new(policy: &'static dyn Policy) -> Self {
        Self { policy, hooks: Arc::new(NoHooks), conversion: None, cells: BTreeMap::new(), keeps_unknown: false }
    }

    /// Adds hooks, which are called after the existing ones. Existing ones that do nothing are replaced.
    pub fn add_hooks(&mut self, hooks: Arc<dyn DocumentHooks>) {
        let chained = Hook::ALL.iter().any(|hook| self.hooks.runs(*hook));
        self.hooks = if chained { Arc::new(Chain([self.hooks.clone(), hooks])) } else { hooks };
    }
}

/// A kind in one of its versions: its definition and its behaviour. Kinds may be added and replaced while the server runs,
/// so code that uses one has an `Arc<Kind>`.
#[derive(Clone)]
pub struct Kind {
    data: KindData,
    /// Its behaviour.
    pub binding: Binding,
    message: OnceLock<Option<Arc<Message>>>,
    rules: OnceLock<Option<Arc<RuleSet>>>,
    has_embedded: OnceLock<bool>,
}

/// The definition of a kind in one version, which a [`Kind`] dereferences to. Only [`Kind::with`] changes it, so that the name
/// always agrees with the rest.
#[derive(Clone)]
pub struct KindData {
    /// The group and version.
    pub group_version: GroupVersion,
    /// The properties that all versions share.
    pub shared: Arc<Shared>,
    /// The properties of this version.
    pub version: Arc<Version>,
}

impl Deref for Kind {
    type Target = KindData;

    fn deref(&self) -> &KindData {
        &self.data
    }
}

impl Kind {
    /// A version of a resource.
    pub fn new(shared: impl Into<Arc<Shared>>, version: impl Into<Arc<Version>>, binding: Binding) -> Self {
        let (shared, version) = (shared.into(), version.into());
        let group_version = version.group_version(&shared);
        Self {
            data: KindData { group_version, shared, version },
            binding,
            message: OnceLock::new(),
            rules: OnceLock::new(),
            has_embedded: OnceLock::new(),
        }
    }

    /// This kind with changes.
    #[must_use]
    pub fn with(self, change: impl FnOnce(&mut Shared, &mut Version, &mut Binding)) -> Self {
        let Self { data: KindData { mut shared, mut version, .. }, mut binding, .. } = self;
        change(Arc::make_mut(&mut shared), Arc::make_mut(&mut version), &mut binding);
        Self::new(shared, version, binding)
    }

    /// True if objects in requests must say their type, as in kube-apiserver those of custom resources. It is filled in for others.
    pub fn needs_type_meta(&self) -> bool {
        !self.policy().decodes_into_types() && !self.binding.keeps_unknown
    }

    /// The names.
    pub fn names(&self) -> &Names {
        &self.shared.names
    }

    /// The policy, which decides where kinds differ.
    pub fn policy(&self) -> &'static dyn Policy {
        self.binding.policy
    }

    /// The rules in CEL that its objects have to meet; none if it has none.
    pub fn rules(&self) -> Option<&RuleSet> {
        self.rules
            .get_or_init(|| RuleSet::of_kind(&self.version.schema, self.version.names.as_ref()).map(Arc::new))
            .as_deref()
    }

    /// True if there are whole objects in its objects (`x-kubernetes-embedded-resource`).
    pub fn has_embedded(&self) -> bool {
        *self.has_embedded.get_or_init(|| self.version.schema.has_embedded())
    }

    /// Its objects as Protobuf messages, if all fields have numbers.
    pub fn message(&self) -> Option<&Message> {
        self.message.get_or_init(|| Message::of_object(&self.version.schema).map(Arc::new)).as_deref()
    }

    /// Type meta of the kind's objects, as JSON members with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    pub fn type_meta(&self) -> String {
        format!(r#""kind":"{}","apiVersion":"{}","#, self.names().kind, self.group_version)
    }

    /// The resource and the group it is served in, as NotFound and Conflict name it.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group_version.group.clone(), resource: self.names().plural.clone() }
    }

    /// The kind and the group it is served in, as Invalid names it.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group_version.group.clone(), kind: self.names().kind.clone() }
    }

    /// True if the kind declares all of its columns, including the name (Event). A column that is only called "Name"
    /// is shown beside the name.
    pub fn names_itself(&self) -> bool {
        self.version.columns.iter().any(|column| column.name == "Name" && column.format == "name")
    }

    /// True if strategic merge patches are supported.
    pub fn takes_strategic_patches(&self) -> bool {
        self.policy().takes_strategic_patches(&self.version.schema)
    }

    /// The value of a computed column.
    pub fn compute(&self, column: &Column, object: &Document) -> Document {
        self.binding.cells.get(&column.name).map_or(Document::Null, |compute| compute(object))
    }

    /// True if a deleted object has finalizers beside `metadata.finalizers`.
    pub fn has_finalizers(&self, document: &Document) -> bool {
        let finalizers = self.policy().finalizers().and_then(|path| Path::from(path).of(document)?.as_array());
        finalizers.is_some_and(|finalizers| !finalizers.is_empty())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({} {})", self.group_version, self.names().kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{fixture::Hooks, policy::Custom};

    #[test]
    fn hooks_that_do_nothing_are_replaced() {
        let mut binding = Binding::new(&Custom);
        let first: Arc<dyn DocumentHooks> =
            Arc::new(Hooks { holds_deletion: Some(Document::is_null), ..Hooks::default() });
        binding.add_hooks(first.clone());
        assert!(Arc::ptr_eq(&binding.hooks, &first));
        binding.add_hooks(Arc::new(Hooks { validate: Some(|_, _| Ok(Vec::new())), ..Hooks::default() }));
        assert!(binding.hooks.runs(Hook::Hold) && binding.hooks.runs(Hook::Validation));
    }
}
