//! From the resources of a document to versions of the model.
use std::{collections::BTreeMap, sync::Arc};

use super::{
    components::{Components, Pool, is_of_kubernetes},
    findings::{Findings, Location},
    members::Members,
    overlay,
    paths::{GroupVersionKind, KIND, Parameter, PathOperation, PathResource},
    schema::SELECTABLE,
};
use crate::{
    kind::{
        Changes, Policy,
        endpoint::{Answer, Body, DocumentSchema, Endpoint, Operation, Verb},
        model::{Column, Names, Path, ScalePaths, Scope, Shared, Version},
        policy::{Custom, Described},
    },
    meta::GroupVersion,
    schema::{Document, Schema, model::Type},
};

/// A resource in the version of one document.
pub(super) struct ReadVersion {
    /// The index of the document, and where in it the resource is.
    pub document: usize,
    pub pointer: String,
    pub shared: Shared,
    pub version: Version,
    pub policy: &'static dyn Policy,
    /// The place of a scale whose paths are not known.
    pub unscaled: Option<String>,
}

/// The state for reading the resources of a document.
pub(super) struct Reader<'r, 'd> {
    pub components: &'r mut Components<'d>,
    pub pool: &'r mut Pool<'d>,
    pub findings: &'r mut Findings,
    /// The names of schemas by the kind that they state.
    kinds: BTreeMap<(String, String, String), &'d str>,
    /// The same for schemas with several kinds, such as kinds that moved from one group to another.
    others: BTreeMap<(String, String, String), &'d str>,
}

impl<'r, 'd> Reader<'r, 'd> {
    /// Reads the resources of the document that these schemas are of.
    pub(super) fn new(components: &'r mut Components<'d>, pool: &'r mut Pool<'d>, findings: &'r mut Findings) -> Self {
        let (mut kinds, mut others) = (BTreeMap::new(), BTreeMap::new());
        let location = Location::of_schemas(components.document);
        for (name, schema) in components.iter() {
            let Some(said) = schema.get(KIND).and_then(Document::as_array) else { continue };
            // Types of all groups, such as DeleteOptions, list many.
            let kinds = if said.len() == 1 { &mut kinds } else { &mut others };
            let location = location.key(name);
            for one in said {
                if let Some(kind) = GroupVersionKind::of(one, &location.key(KIND), findings) {
                    kinds.insert((kind.at.group, kind.at.version, kind.kind), name);
                }
            }
        }
        Self { components, pool, findings, kinds, others }
    }

    /// A resource in the document's version.
    pub(super) fn version(
        &mut self,
        at: &GroupVersion,
        plural: &str,
        resource: &PathResource<'d>,
    ) -> Option<ReadVersion> {
        let document = self.components.document;
        if resource.kind.is_empty() && resource.verbs.is_empty() {
            let message = format!("{plural} has subresources, and no operations on its objects: it is not served");
            self.warning(&resource.pointer, message);
            return None;
        }
        if resource.kind.is_empty() {
            self.error(&resource.pointer, format!("{KIND} is missing: it says which kind is served here"));
            return None;
        }
        let Some(name) = self.named(at, &resource.kind) else {
            let (group, version, kind) = (&at.group, &at.version, &resource.kind);
            let message = format!(
                "no schema says that it is the kind's: in components/schemas, x-kubernetes-group-version-kind \
                 [{{\"group\": {group:?}, \"version\": {version:?}, \"kind\": {kind:?}}}]"
            );
            self.error(&resource.pointer, message);
            return None;
        };
        if self.components.is_too_large(name) {
            return None;
        }
        let schema = self.document_schema(name, &resource.kind);
        let policy: &'static dyn Policy = if is_of_kubernetes(name) { &Described } else { &Custom };
        let stored = resource.verbs.iter().any(|verb| *verb != Verb::Create);
        let is_list =
            |name: &&str| self.components.raw(name).is_some_and(|raw| raw.pointer("/properties/items").is_some());
        let list_kind = resource.list.filter(is_list).and_then(|list| self.kind_of(list));
        let names = Names::new(resource.kind.clone(), plural);
        let shared = Shared {
            scope: if resource.is_namespaced { Scope::Namespaced } else { Scope::Cluster },
            stored,
            names: Names { list_kind: list_kind.unwrap_or(names.list_kind), ..names },
            ..Shared::new(at.group.clone(), Names::default())
        };
        let mut version = Version {
            deprecated: resource.deprecated.then(|| format!("{at} {} is deprecated", resource.kind)),
            columns: vec![Column::age()],
            status: stored && has_status(resource),
            generation: stored
                && (!is_of_kubernetes(name) || Path(vec!["status".into(), "observedGeneration".into()]).is_in(&schema)),
            update_without_version: stored && is_of_kubernetes(name),
            returns_deleted: stored && resource.deleted == Some(name),
            verbs: verbs(policy, resource),
            selectable: self.selectable(name),
            ..Version::new(at.version.clone(), Schema::default())
        };
        version.schema = schema;
        for (subresource, operations) in &resource.subresources {
            self.subresource((at, &mut version), resource, subresource, operations);
        }
        let scale = resource.subresources.get("scale").and_then(|operations| operations.first());
        let unscaled = scale.filter(|first| first.is_scale() && version.scale.is_none());
        let unscaled = unscaled.map(|first| first.pointer.clone());
        Some(ReadVersion { document, pointer: resource.pointer.clone(), shared, version, policy, unscaled })
    }

    /// The selectable fields of a kind, as kube-apiserver publishes them.
    fn selectable(&mut self, name: &str) -> Vec<Path> {
        let Some(raw) = self.components.raw(name) else { return Vec::new() };
        let location = Location::of_schemas(self.components.document);
        let location = location.key(name);
        let Some(members) = Members::of(raw, &location, self.findings) else { return Vec::new() };
        let location = location.key(SELECTABLE);
        let mut paths = Vec::new();
        for (index, field) in members.list(SELECTABLE, self.findings).iter().enumerate() {
            let location = location.index(index);
            let Some(field) = Members::of(field, &location, self.findings) else { continue };
            let text = field.text_or_empty("fieldPath", self.findings);
            paths.extend(overlay::path(&format!(".{text}"), &location.key("fieldPath"), self.findings));
        }
        paths
    }

    fn error(&mut self, pointer: &str, message: String) {
        self.findings.error(&Location::known(self.components.document, pointer), message);
    }

    fn warning(&mut self, pointer: &str, message: String) {
        self.findings.warning(&Location::known(self.components.document, pointer), message);
    }

    /// The name of the schema of a kind.
    fn named(&self, at: &GroupVersion, kind: &str) -> Option<&'d str> {
        let key = (at.group.clone(), at.version.clone(), kind.to_owned());
        self.kinds.get(&key).or_else(|| self.others.get(&key)).copied()
    }

    /// The kind that a schema says it is of.
    fn kind_of(&self, name: &str) -> Option<String> {
        self.kinds.iter().find(|(_, of)| **of == name).map(|((_, _, kind), _)| kind.clone())
    }

    /// The schema of a kind's documents: without type meta and metadata, which all have.
    fn document_schema(&mut self, name: &'d str, kind: &str) -> Arc<Schema> {
        let mut schema = Schema::clone(&self.components.schema(name, self.pool, self.findings));
        schema.name = Some(kind.to_owned());
        schema.description = std::mem::take(&mut schema.type_description);
        schema.properties = schema
            .properties
            .iter()
            .filter(|(name, _)| !["apiVersion", "kind", "metadata"].contains(&name.as_str()))
            .map(|(name, property)| (name.clone(), property.clone()))
            .collect();
        schema.required.retain(|name| schema.properties.contains_key(name));
        schema.default = None;
        Arc::new(schema)
    }

    fn subresource(
        &mut self,
        (at, version): (&GroupVersion, &mut Version),
        resource: &PathResource<'d>,
        name: &'d str,
        operations: &[PathOperation<'d>],
    ) {
        let Some(first) = operations.first() else { return };
        match name {
            "status" if version.status => {}
            "scale" if first.is_scale() => version.scale = scale(&version.schema),
            _ => {
                let mut operations: Vec<_> =
                    operations.iter().filter_map(|operation| self.operation(resource, operation)).collect();
                if operations.is_empty() {
                    return;
                }
                operations.sort_by_key(|operation| operation.verb.as_str());
                // What code does for a document of another kind, such as a Binding, may change the status, too.
                let is_of_object = operations.iter().any(|operation| operation.answer == Answer::Own);
                let of_status = (version.status && is_of_object).then(|| Path(vec!["status".to_owned()]));
                let own = || GroupVersionKind { at: at.clone(), kind: resource.kind.clone() };
                let of = first.kind.clone().unwrap_or_else(own);
                version.subresources.push(Endpoint {
                    subresource: name.into(),
                    group_version: of.at,
                    kind: of.kind,
                    operations,
                    changes: Changes::AllBut(of_status.into_iter().collect()),
                    options: self.options(resource, name),
                    takes_paths: resource.with_paths.contains(name),
                });
            }
        }
    }

    fn operation(&mut self, resource: &PathResource<'d>, operation: &PathOperation<'d>) -> Option<Operation> {
        let verb = operation.verb;
        if operation.connects {
            return Some(Operation { verb, body: Body::None, answer: Answer::Text, connects: true });
        }
        let body = match verb {
            Verb::Patch => Body::Patch(operation.patch_types.clone()),
            _ => match operation.body.map(|name| self.operation_document(resource, name)) {
                None => Body::None,
                Some(OperationDocument::Own) => Body::Own,
                Some(OperationDocument::Other(documents)) => Body::Document(documents),
                Some(OperationDocument::Named(name)) if name.ends_with(".DeleteOptions") => Body::DeleteOptions,
                Some(OperationDocument::Named(name)) => {
                    let message = format!("not served: it takes the schema {name:?}; supported: those of kinds");
                    self.warning(&operation.pointer, message);
                    return None;
                }
            },
        };
        let answer = match operation.answer.map(|name| self.operation_document(resource, name)) {
            None => Answer::Text,
            Some(OperationDocument::Own) => Answer::Own,
            Some(OperationDocument::Other(documents)) => Answer::Document(documents),
            Some(OperationDocument::Named(name)) if name.ends_with(".Status") => Answer::Status,
            Some(OperationDocument::Named(name)) => {
                let message = format!("not served: it answers with the schema {name:?}; supported: those of kinds");
                self.warning(&operation.pointer, message);
                return None;
            }
        };
        Some(Operation { verb, body, answer, connects: false })
    }

    /// The kind of the documents of a schema that an operation takes or returns.
    fn operation_document(&mut self, resource: &PathResource<'d>, name: &'d str) -> OperationDocument<'d> {
        let known = self.kinds.iter().find(|(_, of)| **of == name);
        let Some(((group, version, kind), _)) = known.map(|(key, of)| (key.clone(), of)) else {
            return OperationDocument::Named(name);
        };
        if resource.kind == kind {
            return OperationDocument::Own;
        }
        let group_version = GroupVersion { group, version };
        let package = is_of_kubernetes(name).then(|| Described.package(&group_version).map(str::to_owned)).flatten();
        let schema = self.document_schema(name, &kind);
        OperationDocument::Other(DocumentSchema { group_version, kind, package, schema })
    }

    /// The query parameters of a subresource.
    fn options(&mut self, resource: &PathResource<'d>, name: &str) -> Option<Arc<Schema>> {
        let options = resource.options.get(name).filter(|options| !options.is_empty())?;
        let document = self.components.document;
        let read = options.iter().map(|(name, Parameter { pointer, members })| {
            let location = Location::known(document, pointer);
            let description = Members { all: members, location: &location }.text_or_empty("description", self.findings);
            let schema = members.get("schema").map_or_else(Arc::default, |raw| {
                self.components.at(raw, &location.key("schema"), self.pool, self.findings)
            });
            let schema = Schema { description, preserve_unknown: false, ..Schema::clone(&schema) };
            ((*name).to_owned(), schema)
        });
        Some(Schema { kind: Type::Object, properties: read.collect(), ..Schema::default() }.into())
    }
}

/// Documents that an operation takes or gives.
enum OperationDocument<'d> {
    /// Objects of the kind.
    Own,
    /// Documents of another kind.
    Other(DocumentSchema),
    /// Something that has a schema of this name.
    Named(&'d str),
}

/// The verbs on objects; `None` for all verbs of this policy.
fn verbs(policy: &dyn Policy, resource: &PathResource<'_>) -> Option<Vec<Verb>> {
    if resource.verbs == [Verb::Create] { None } else { some_verbs(policy, &resource.verbs) }
}

/// Verbs on objects in the order of their names; `None` for all verbs of this policy.
pub(super) fn some_verbs(policy: &dyn Policy, verbs: &[Verb]) -> Option<Vec<Verb>> {
    let missing =
        |verb: &Verb| !verbs.contains(verb) && (*verb != Verb::DeleteCollection || policy.deletes_collections());
    let has = Verb::BY_NAME.into_iter().filter(|verb| verbs.contains(verb));
    Verb::BY_NAME.iter().any(missing).then(|| has.collect())
}

impl PathOperation<'_> {
    /// Returns true for an operation on a Scale.
    fn is_scale(&self) -> bool {
        self.kind.as_ref().is_some_and(|kind| kind.at.group == "autoscaling" && kind.kind == "Scale")
    }
}

/// The paths of a scale, which documents do not name: those of all kinds of Kubernetes that have one.
fn scale(schema: &Schema) -> Option<ScalePaths> {
    let path = |text: &str| Path(text.split('.').map(str::to_owned).collect());
    let (replicas, status_replicas) = (path("spec.replicas"), path("status.replicas"));
    let known = replicas.is_in(schema) && status_replicas.is_in(schema);
    let selector = ["status.selector", "spec.selector"].map(path).into_iter().find(|path| path.is_in(schema));
    known.then_some(ScalePaths { replicas, status_replicas, selector })
}

/// Returns true if there is a status subresource of the kind itself.
fn has_status(resource: &PathResource<'_>) -> bool {
    let status = resource.subresources.get("status");
    let of_own = |operation: &PathOperation<'_>| operation.kind.as_ref().is_none_or(|of| of.kind == resource.kind);
    status.is_some_and(|status| status.iter().any(of_own))
}
