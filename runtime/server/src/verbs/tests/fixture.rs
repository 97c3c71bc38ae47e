//! Three kinds over a memory store: a namespace, a compiled kind without spec, and a declared one with everything.
use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    auth::User,
    cache::{Cache, Limits, Object},
    codec::DecodedDocument,
    kind::{
        Binding, Kind, Resource,
        fixture::Hooks,
        model::{NameRule, Names, Path, Scope, Shared, Version},
        policy::{Compiled, Policy},
    },
    meta::{
        options::{DeleteOptions, GetOptions, ListOptions, PatchOptions, WriteOptions},
        selector::{Fields, Labels},
    },
    registry::{Registry, ResourceEntry},
    schema::{Schema, fixture::schema},
    storage::{Memory, Store},
    verbs::{Answer, DeleteResult, Error, List, Patch, Request, Verbs, WriteResult},
    widget::Widget,
};

/// The verbs over three kinds.
pub(super) struct World {
    pub api: Arc<Verbs>,
    pub store: Arc<Memory>,
    pub namespaces: Arc<ResourceEntry>,
    pub configs: Arc<ResourceEntry>,
    pub widgets: Arc<ResourceEntry>,
}

impl World {
    /// A world with the namespace `ns`.
    pub(super) async fn new() -> Self {
        Self::over(Arc::new(Memory::new())).await
    }

    /// A world over an existing store.
    pub(super) async fn over(store: Arc<Memory>) -> Self {
        Self::with_limits(store, Limits::default()).await
    }

    /// A world over an existing store, whose cache has other limits.
    pub(super) async fn with_limits(store: Arc<Memory>, limits: Limits) -> Self {
        Self::on(store.clone(), store, limits).await
    }

    /// The world of one of several servers, by its handle of a memory store.
    pub(super) async fn on(memory: Arc<Memory>, store: Arc<dyn Store>, limits: Limits) -> Self {
        let cache = Cache::new(store.clone(), limits);
        let registry = Arc::new(Registry::new(cache.clone()));
        let mut resources =
            [namespace(), config(), widget()].map(|kind| registry.register([kind]).expect("a kind")).into_iter();
        let mut next = || resources.next().expect("three kinds");
        let (namespaces, configs, widgets) = (next(), next(), next());
        let world = Self { api: Verbs::new(registry, cache, store), store: memory, namespaces, configs, widgets };
        if world.namespaces.objects.snapshot().get("ns").is_none() {
            world.create(&world.namespaces, "", json!({"metadata": {"name": "ns"}})).await.expect("the namespace");
        }
        world
    }

    /// An object of the compiled kind in `ns`.
    pub(super) fn config(&self, name: &str) -> Request {
        at(&self.configs, "ns", name)
    }

    /// An object of the declared kind in `ns`.
    pub(super) fn widget(&self, name: &str) -> Request {
        at(&self.widgets, "ns", name)
    }

    /// Another kind, like the compiled one except for its hooks.
    pub(super) fn things(&self, hooks: Hooks) -> Arc<ResourceEntry> {
        let kind = Kind::clone(&self.configs.kind).with(|shared, _, binding| {
            shared.names = Names::new("Thing", "things");
            binding.hooks = Arc::new(hooks);
        });
        self.api.registry.register([kind]).expect("a kind")
    }

    pub(super) async fn create(
        &self,
        resource: &Arc<ResourceEntry>,
        namespace: &str,
        body: Value,
    ) -> Result<Value, Error> {
        self.api.create(&at(resource, namespace, ""), body, &WriteOptions::default()).await.map(shown)
    }

    pub(super) async fn create_config(&self, body: Value) -> Value {
        self.create(&self.configs, "ns", body).await.expect("a config")
    }

    pub(super) async fn create_widget(&self, body: Value) -> Value {
        self.create(&self.widgets, "ns", body).await.expect("a widget")
    }

    pub(super) async fn get(&self, request: &Request) -> Result<Value, Error> {
        self.api.get(request, &GetOptions::default()).await.map(|answer| document(&answer))
    }

    pub(super) async fn update(&self, request: &Request, body: Value) -> Result<Value, Error> {
        self.api.update(request, body, &WriteOptions::default()).await.map(shown)
    }

    pub(super) async fn merge(&self, request: &Request, patch: Value) -> Result<Value, Error> {
        let patch = merge_patch(&patch);
        self.api.patch(request, patch, &PatchOptions::default()).await.map(shown)
    }

    pub(super) async fn json(&self, request: &Request, patch: Value) -> Result<Value, Error> {
        let patch = Patch::Json(patch.to_string().into());
        self.api.patch(request, patch, &PatchOptions::default()).await.map(shown)
    }

    /// Applies as a manager, without force.
    pub(super) async fn apply(&self, request: &Request, manager: &str, config: Value) -> Result<WriteResult, Error> {
        self.apply_with(request, config, &applier(manager)).await
    }

    pub(super) async fn apply_with(
        &self,
        request: &Request,
        config: impl Into<DecodedDocument>,
        options: &PatchOptions,
    ) -> Result<WriteResult, Error> {
        self.api.patch(request, Patch::Apply(config.into()), options).await
    }

    pub(super) async fn delete(&self, request: &Request) -> Result<DeleteResult, Error> {
        self.api.delete(request, &DeleteOptions::default()).await
    }

    pub(super) async fn list(&self, request: &Request, options: &ListOptions) -> List {
        self.api.list(request, options).await.expect("a list")
    }
}

/// The object, or the collection, that a path names.
pub(super) fn at(resource: &Arc<ResourceEntry>, namespace: &str, name: &str) -> Request {
    Request {
        user: Arc::new(User::default()),
        resource: resource.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: "".into(),
        warnings: Arc::default(),
        meter: Arc::default(),
        slot: None,
    }
}

/// The request for a subresource.
pub(super) fn below(request: Request, subresource: &str) -> Request {
    Request { subresource: subresource.into(), ..request }
}

pub(super) fn merge_patch(patch: &Value) -> Patch {
    Patch::Merge(patch.to_string().into())
}

/// The options of an apply by a manager.
pub(super) fn applier(manager: &str) -> PatchOptions {
    let write = WriteOptions { field_manager: manager.to_owned(), ..WriteOptions::default() };
    PatchOptions { write, force: false }
}

/// The owners of an object's fields: manager, operation and subresource, and the fields.
pub(super) fn owners(object: &Value) -> Vec<(String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let text = |entry: &Value, member: &str| entry[member].as_str().unwrap_or_default().to_owned();
    let who = |entry: &Value| ["manager", "operation", "subresource"].map(|member| text(entry, member)).join(" ");
    entries.map(|entry| (who(entry).trim_end().to_owned(), entry["fieldsV1"].clone())).collect()
}

pub(super) fn dry_run() -> WriteOptions {
    WriteOptions { dry_run: true, ..WriteOptions::default() }
}

pub(super) fn selecting(labels: &str, fields: &str) -> ListOptions {
    let (labels, fields) = (Labels::parse(labels).expect("labels"), Fields::parse(fields).expect("fields"));
    ListOptions { labels, fields, ..ListOptions::default() }
}

pub(super) fn shown(WriteResult { answer, .. }: WriteResult) -> Value {
    document(&answer)
}

pub(super) fn document(answer: &Answer) -> Value {
    match answer {
        Answer::Object(object) => value(object),
        Answer::Document(document) => document.clone(),
    }
}

pub(super) fn value(object: &Object) -> Value {
    serde_json::from_slice(&object.json()).expect("an object is JSON")
}

pub(super) fn names(list: &List) -> Vec<String> {
    list.items.iter().map(|object| object.name().to_owned()).collect()
}

pub(super) fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned()
}

/// The fields of an Invalid error, and their messages.
pub(super) fn causes(error: &Error) -> Vec<String> {
    match error {
        Error::Invalid(_, _, errors) => errors.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?} is not Invalid"),
    }
}

pub(super) fn kind(group: &str, name: &str, plural: &str, from: &Value) -> Kind {
    let schema = Schema { name: Some(name.to_owned()), ..schema(from) };
    let version = Version { update_without_version: true, ..Version::new("v1", schema) };
    Kind::new(Shared::new(group, Names::new(name, plural)), version, Binding::new(&Compiled))
}

/// The policy of the namespaces here: the real ones are declared in `builtin`, a layer above, which tests of the verbs do not
/// import either.
#[derive(Debug)]
struct Namespaces;

impl Policy for Namespaces {
    fn contains_objects(&self) -> bool {
        true
    }

    fn is_closed_by(&self, field: &[String], value: &str) -> bool {
        field == ["status", "phase"] && value == "Terminating"
    }

    fn finalizers(&self) -> Option<&'static [&'static str]> {
        Some(&["spec", "finalizers"])
    }

    fn refuses_deletion(&self, name: &str) -> Option<&'static str> {
        (name == "kept").then_some("it is kept")
    }
}

fn namespace() -> Kind {
    let from = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "finalizers": {"type": "array", "items": {"type": "string"}, "omitEmpty": true},
        }},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }});
    let hooks = Hooks {
        default: Some(|namespace, context| {
            if context.old.is_none() {
                namespace["spec"]["finalizers"] = json!(["kubernetes"]);
                namespace["status"]["phase"] = json!("Active");
            }
            Ok(())
        }),
        on_delete: Some(|namespace| namespace["status"]["phase"] = json!("Terminating")),
        ..Hooks::default()
    };
    kind("", "Namespace", "namespaces", &from).with(|shared, version, binding| {
        shared.scope = Scope::Cluster;
        binding.policy = &Namespaces;
        shared.name_rule = NameRule::Label;
        version.status = true;
        version.selectable = vec![Path::from("status.phase")];
        binding.hooks = Arc::new(hooks);
    })
}

fn config() -> Kind {
    let text = json!({"type": "object", "additionalProperties": {"type": "string"}, "omitEmpty": true});
    kind("", "ConfigMap", "configmaps", &json!({"type": "object", "properties": {"data": text}}))
}

/// The Widget of all tests, in the group of the other kinds here, and with a field that cannot change.
fn widget() -> Kind {
    Widget::kind().with(|shared, version, _| {
        shared.group = "example.com".to_owned();
        let spec = Arc::make_mut(&mut version.schema).properties.get_mut("spec").expect("a spec");
        spec.properties.insert("fixed".to_owned(), schema(&json!({"type": "string", "immutable": true})));
    })
}
