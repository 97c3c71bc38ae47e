//! Writes API descriptions: what OpenAPI documents and discovery say, each schema once.
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::Serialize;
use serde_json::Map;

use super::{super::Source, DESCRIPTION};
use crate::{
    crd::Report,
    kind::endpoint::{PatchType, Verb},
    meta::{GroupResource, GroupVersion},
    openapi::{
        components::outline_names,
        discovery::DiscoveryIndex,
        documents::{decode, resources_of},
        entries,
        findings::{Findings, Location},
        messages::Messages,
        overlay::{API_VERSION, Overlay},
        paths::{GroupVersionKind, KIND, PathOperation, PathResource},
    },
    schema::Document,
};

/// Whether sentences for people are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptions {
    /// All of them.
    Keep,
    /// None: only the facts remain.
    Omit,
}

/// Writes what OpenAPI documents, and discovery beside them, say as API descriptions. They are one, unless documents have different
/// schemas of one name. Resources in `except` are left out. Overlays and Protobuf definitions are not read.
///
/// # Errors
/// Everything that is wrong with the documents.
pub fn describe(
    sources: &[Source<'_>],
    except: &BTreeSet<GroupResource>,
    descriptions: Descriptions,
) -> Result<Vec<String>, Report> {
    let mut findings = Findings::default();
    let decoded = sources.iter().enumerate().map(|(index, source)| {
        let is_read = !Messages::is_one(source.text);
        is_read.then(|| decode(index, source, &mut findings)).flatten().filter(|document| !Overlay::is_one(document))
    });
    let decoded: Vec<_> = decoded.collect();
    let documents = || decoded.iter().enumerate().filter_map(|(index, of)| Some((index, of.as_ref()?)));
    let mut discovery = DiscoveryIndex::default();
    for (index, document) in documents().filter(|(_, document)| DiscoveryIndex::names_in(document)) {
        discovery.read(document, &Location::of(index), &mut findings);
    }
    let mut writers: Vec<Writer<'_>> = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, document) in documents().filter(|(_, document)| !DiscoveryIndex::is_one(document)) {
        let found = resources_of(index, document, &mut findings);
        let mut of_document = Writer::default();
        for ((at, plural), resource) in &found {
            let name = GroupResource { group: at.group.clone(), resource: (*plural).to_owned() };
            if except.contains(&name) {
                continue;
            }
            if !seen.insert((at.clone(), *plural)) {
                let message = format!("{plural} of {at} is in another document, too");
                findings.error(&Location::known(index, &resource.pointer), message);
                continue;
            }
            of_document.resources.push(entry(at, plural, resource, &discovery));
            of_document.reach(document, at, resource);
        }
        let fitting = writers.iter_mut().find_map(|writer| Some((writer.merged(&of_document)?, writer)));
        match fitting {
            Some((schemas, writer)) => {
                writer.resources.append(&mut of_document.resources);
                writer.schemas = schemas;
            }
            None => writers.push(of_document),
        }
    }
    if !findings.errors.is_empty() {
        return Err(Report(entries(sources, findings.errors)));
    }
    writers.retain(|writer| !writer.resources.is_empty());
    Ok(writers.into_iter().map(|writer| writer.text(descriptions)).collect())
}

/// An API description that is being written.
#[derive(Default)]
struct Writer<'d> {
    resources: Vec<Entry<'d>>,
    schemas: BTreeMap<&'d str, Cow<'d, Document>>,
}

impl<'d> Writer<'d> {
    /// Adds the schemas that a resource needs.
    fn reach(&mut self, document: &'d Document, at: &GroupVersion, resource: &PathResource<'d>) {
        let Some(all) = document.pointer("/components/schemas").and_then(Document::as_object) else { return };
        let is_kind = |schema: &Document| {
            let said = schema.get(KIND).and_then(Document::as_array).into_iter().flatten();
            said.filter_map(gvk)
                .any(|(group, version, kind)| (group, version, kind) == (&*at.group, &*at.version, &*resource.kind))
        };
        let mut names: Vec<&str> = all.iter().filter(|(_, schema)| is_kind(schema)).map(|(name, _)| &**name).collect();
        names.extend(resource.list.into_iter().chain(resource.deleted));
        let operations = resource.subresources.values().flatten();
        names.extend(operations.flat_map(|operation| operation.body.into_iter().chain(operation.answer)));
        let options = resource.options.values().flat_map(BTreeMap::values);
        names.extend(options.filter_map(|option| option.members.get("schema")).flat_map(outline_names));
        while let Some(name) = names.pop() {
            let Some((name, schema)) = all.get_key_value(name) else { continue };
            if !self.schemas.contains_key(&**name) {
                self.schemas.insert(name, Cow::Borrowed(schema));
                names.extend(outline_names(schema));
            }
        }
    }

    /// Its schemas with those of another one; `None` where two of one name differ.
    fn merged(&self, other: &Self) -> Option<BTreeMap<&'d str, Cow<'d, Document>>> {
        let mut all = self.schemas.clone();
        for (name, schema) in &other.schemas {
            match all.get(name) {
                None => {
                    all.insert(name, schema.clone());
                }
                Some(known) if known == schema => {}
                Some(known) => {
                    let both = merged(known, schema)?;
                    all.insert(name, Cow::Owned(both));
                }
            }
        }
        Some(all)
    }

    /// A line for each resource and each schema.
    fn text(mut self, descriptions: Descriptions) -> String {
        self.resources.sort_by(|a, b| (&a.resource, &a.version).cmp(&(&b.resource, &b.version)));
        let mut schemas: BTreeMap<&str, Document> =
            self.schemas.into_iter().map(|(name, schema)| (name, schema.into_owned())).collect();
        if descriptions == Descriptions::Omit {
            schemas.values_mut().for_each(without_descriptions);
            let options = self.resources.iter_mut().flat_map(|resource| resource.subresources.values_mut());
            for option in options.flat_map(|subresource| subresource.options.values_mut()) {
                option.description = None;
                option.schema.iter_mut().for_each(without_descriptions);
            }
        }
        let resources: Vec<_> = self.resources.iter().map(json).collect();
        let schemas: Vec<_> = schemas.iter().map(|(name, schema)| format!("{}:{schema}", json(name))).collect();
        format!(
            "{{\"apiVersion\":\"{API_VERSION}\",\"kind\":\"{DESCRIPTION}\",\n\"resources\":[\n{}],\n\
             \"components\":{{\"schemas\":{{\n{}}}}}}}\n",
            resources.join(",\n"),
            schemas.join(",\n")
        )
    }
}

/// A schema that lists of many kinds it is, of all that two documents list: `DeleteOptions` is of each group that a document has. `None`
/// if more differs.
fn merged(one: &Document, other: &Document) -> Option<Document> {
    let kinds = |of: &Document| of.get(KIND)?.as_array().filter(|kinds| kinds.len() > 1).cloned();
    let (mut all, more) = (kinds(one)?, kinds(other)?);
    let without = |of: &Document| {
        let mut members = of.as_object().cloned().unwrap_or_default();
        members.remove(KIND);
        members
    };
    let mut members: Map<String, Document> = without(one);
    if members != without(other) {
        return None;
    }
    let new: Vec<_> = more.into_iter().filter(|kind| !all.contains(kind)).collect();
    all.extend(new);
    all.sort_by_key(ToString::to_string);
    members.insert(KIND.to_owned(), all.into());
    Some(Document::Object(members))
}

/// Removes the descriptions of a schema and of all in it. A property may be named `description`, and values may have one.
fn without_descriptions(schema: &mut Document) {
    let Some(members) = schema.as_object_mut() else { return };
    members.remove("description");
    for (name, member) in members {
        match (name.as_str(), member) {
            ("properties", Document::Object(all)) => all.values_mut().for_each(without_descriptions),
            ("allOf" | "anyOf" | "oneOf", Document::Array(all)) => all.iter_mut().for_each(without_descriptions),
            ("additionalProperties" | "items" | "not", schema) => without_descriptions(schema),
            _ => {}
        }
    }
}

/// The group, version and kind that a schema states.
fn gvk(said: &Document) -> Option<(&str, &str, &str)> {
    let text = |name: &str| said.get(name).map_or(Some(""), Document::as_str);
    Some((text("group")?, text("version")?, text("kind")?))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text, lists and maps with text as keys")
}

/// A resource of a description.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'d> {
    resource: String,
    version: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<&'d str>,
    scope: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    singular: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    short_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<&'d str>,
    #[serde(skip_serializing_if = "is_false")]
    deprecated: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    subresources: BTreeMap<&'d str, Subresource<'d>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Subresource<'d> {
    operations: Vec<Operation<'d>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    options: BTreeMap<&'d str, ParameterEntry<'d>>,
    #[serde(skip_serializing_if = "is_false")]
    takes_paths: bool,
}

#[derive(Serialize)]
struct ParameterEntry<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Document>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Operation<'d> {
    verb: &'static str,
    #[serde(skip_serializing_if = "is_false")]
    connects: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'d str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    patch_types: Vec<&'static str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

fn entry<'d>(at: &GroupVersion, plural: &str, resource: &PathResource<'d>, discovery: &DiscoveryIndex) -> Entry<'d> {
    let names = discovery.names(at, plural);
    let verbs = names.map_or(&resource.verbs, |names| &names.verbs);
    let mut verbs: Vec<_> = verbs.iter().copied().map(Verb::as_str).collect();
    verbs.sort_unstable();
    let subresources = resource.subresources.iter().map(|(name, operations)| {
        let options = resource.options.get(name).into_iter().flatten().map(|(option, parameter)| {
            let description = parameter.members.get("description").and_then(Document::as_str);
            (*option, ParameterEntry { description, schema: parameter.members.get("schema").cloned() })
        });
        let subresource = Subresource {
            operations: operations.iter().map(|of| operation(at, of)).collect(),
            options: options.collect(),
            takes_paths: resource.with_paths.contains(name),
        };
        (*name, subresource)
    });
    Entry {
        resource: GroupResource { group: at.group.clone(), resource: plural.to_owned() }.to_string(),
        version: at.version.clone(),
        kind: resource.kind.clone(),
        list: resource.list,
        scope: if resource.is_namespaced { "Namespaced" } else { "Cluster" },
        singular: names.map(|names| names.singular.clone()).unwrap_or_default(),
        short_names: names.map(|names| names.short_names.clone()).unwrap_or_default(),
        categories: names.map(|names| names.categories.clone()).unwrap_or_default(),
        verbs,
        deleted: resource.deleted,
        deprecated: resource.deprecated,
        subresources: subresources.collect(),
    }
}

fn operation<'d>(at: &GroupVersion, operation: &PathOperation<'d>) -> Operation<'d> {
    let kind = |GroupVersionKind { at: of, kind }: &GroupVersionKind| {
        if of == at { kind.clone() } else { format!("{of} {kind}") }
    };
    Operation {
        verb: operation.verb.as_str(),
        connects: operation.connects,
        kind: operation.kind.as_ref().map(kind),
        body: operation.body,
        answer: operation.answer,
        patch_types: operation.patch_types.iter().copied().map(PatchType::media_type).collect(),
    }
}
