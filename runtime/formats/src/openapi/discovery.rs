//! Discovery documents, which say what OpenAPI documents do not: short names, categories and singular names. They are
//! either aggregated (`APIGroupDiscoveryList`) or of one group and version (`APIResourceList`). API descriptions say the same.
use std::{collections::BTreeMap, sync::Arc};

use super::{
    Resource, description,
    findings::{Finding, Findings, Location},
    members::Members,
    resources::some_verbs,
};
use crate::{
    kind::{endpoint::Verb, model::Scope},
    meta::GroupVersion,
    schema::Document,
};

/// What discovery documents say about resources, by group, version and plural.
#[derive(Default)]
pub(super) struct DiscoveryIndex(BTreeMap<(GroupVersion, String), Entry>);

pub(super) struct Entry {
    document: usize,
    pointer: String,
    kind: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    scope: Scope,
    pub verbs: Vec<Verb>,
    /// What is wrong with its names.
    wrong_names: Vec<Finding>,
    is_used: bool,
}

impl DiscoveryIndex {
    /// What discovery says of a resource in a version.
    pub(super) fn names(&self, at: &GroupVersion, plural: &str) -> Option<&Entry> {
        self.0.get(&(at.clone(), plural.to_owned()))
    }

    /// Returns true for a document that names resources as discovery does.
    pub(super) fn names_in(document: &Document) -> bool {
        Self::is_one(document) || description::is_one(document)
    }

    /// Returns true for a discovery document.
    pub(super) fn is_one(document: &Document) -> bool {
        let kind = document.get("kind").and_then(Document::as_str);
        kind.is_some_and(|kind| ["APIGroupDiscoveryList", "APIResourceList"].contains(&kind))
    }

    /// Reads a discovery document.
    pub(super) fn read(&mut self, document: &Document, location: &Location<'_>, findings: &mut Findings) {
        let Some(members) = Members::of(document, location, findings) else { return };
        if description::is_one(document) {
            let location = location.key("resources");
            for (index, resource) in members.list("resources", findings).iter().enumerate() {
                let location = location.index(index);
                // What is wrong with the name was reported where resources are read.
                let mut reported = Findings::default();
                let Some(members) = Members::of(resource, &location, &mut reported) else { continue };
                let name = description::name(members, &mut reported);
                self.resource(name, members, &DESCRIPTION, findings);
            }
            return;
        }
        if members.get("kind").is_some_and(|kind| kind == "APIResourceList") {
            let found = members.text("groupVersion", findings).unwrap_or_default();
            let (group, version) = found.split_once('/').unwrap_or(("", found));
            let at = GroupVersion { group: group.to_owned(), version: version.to_owned() };
            let location = location.key("resources");
            for (index, resource) in members.list("resources", findings).iter().enumerate() {
                let location = location.index(index);
                let Some(members) = Members::of(resource, &location, findings) else { continue };
                let plural = members.text("name", findings).unwrap_or_default();
                self.resource((at.clone(), plural), members, &LIST, findings);
            }
            return;
        }
        let location = location.key("items");
        for (index, group) in members.list("items", findings).iter().enumerate() {
            let location = location.index(index);
            let Some(group) = Members::of(group, &location, findings) else { continue };
            let name = group.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Document::as_str);
            let location = location.key("versions");
            for (index, version) in group.list("versions", findings).iter().enumerate() {
                let location = location.index(index);
                let Some(version) = Members::of(version, &location, findings) else { continue };
                let (group, number) = (name.unwrap_or_default().to_owned(), version.text_or_empty("version", findings));
                let (at, location) = (GroupVersion { group, version: number }, location.key("resources"));
                for (index, resource) in version.list("resources", findings).iter().enumerate() {
                    let location = location.index(index);
                    let Some(members) = Members::of(resource, &location, findings) else { continue };
                    let plural = members.text("resource", findings).unwrap_or_default();
                    self.resource((at.clone(), plural), members, &AGGREGATED, findings);
                }
            }
        }
    }

    fn resource(
        &mut self,
        (at, plural): (GroupVersion, &str),
        members: Members<'_, '_>,
        names: &MemberNames,
        findings: &mut Findings,
    ) {
        let location = members.location;
        // Subresources and their verbs are in the OpenAPI documents.
        if plural.contains('/') {
            return;
        }
        let kind = members.get("responseKind").and_then(|kind| kind.get("kind")).or_else(|| members.get("kind"));
        let is_namespaced = match names.scope {
            None => members.flag("namespaced", findings),
            Some(scope) => members.text(scope, findings) == Some("Namespaced"),
        };
        let mut verbs = Vec::new();
        for name in members.texts("verbs", findings) {
            match Verb::BY_NAME.into_iter().find(|verb| verb.as_str() == name) {
                Some(verb) => verbs.push(verb),
                None => findings.warning(&location.key("verbs"), format!("the verb {name:?} is not served")),
            }
        }
        let mut wrong = Findings::default();
        members.check_names(names.singular, &mut wrong);
        let entry = Entry {
            wrong_names: wrong.errors,
            document: location.document,
            pointer: location.to_string(),
            kind: kind.and_then(Document::as_str).unwrap_or_default().to_owned(),
            singular: members.text_or_empty(names.singular, findings),
            short_names: members.texts("shortNames", findings),
            categories: members.texts("categories", findings),
            scope: if is_namespaced { Scope::Namespaced } else { Scope::Cluster },
            verbs,
            is_used: false,
        };
        self.0.insert((at, plural.to_owned()), entry);
    }

    /// Says of a resource what discovery documents say.
    pub(super) fn apply(&mut self, resource: &mut Resource, findings: &mut Findings) {
        let shared = Arc::make_mut(&mut resource.definition.shared);
        let mut named = false;
        for version in &mut resource.definition.versions {
            let at = version.group_version(shared);
            let Some(entry) = self.0.get_mut(&(at, shared.names.plural.clone())) else { continue };
            entry.is_used = true;
            if (entry.scope, &entry.kind) != (shared.scope, &shared.names.kind) {
                let message = format!(
                    "found the kind {} with the scope {:?}; the OpenAPI document has {} and {:?}",
                    entry.kind, entry.scope, shared.names.kind, shared.scope
                );
                findings.error(&Location::known(entry.document, &entry.pointer), message);
            }
            // Versions are in the order of their priority.
            if !named {
                findings.errors.append(&mut entry.wrong_names);
                if !entry.singular.is_empty() {
                    shared.names.singular.clone_from(&entry.singular);
                }
                shared.names.short_names.clone_from(&entry.short_names);
                shared.names.categories.clone_from(&entry.categories);
                named = true;
            }
            if shared.stored {
                let verbs = some_verbs(resource.policy, &entry.verbs);
                if verbs != version.verbs {
                    Arc::make_mut(version).verbs = verbs;
                }
            }
        }
    }

    /// Warns of resources that no OpenAPI document describes.
    pub(super) fn warn_of_unused(&self, findings: &mut Findings) {
        for ((at, plural), entry) in self.0.iter().filter(|(_, entry)| !entry.is_used) {
            let message = format!("{plural} of {at} is not served: no OpenAPI document describes it");
            findings.warning(&Location::known(entry.document, &entry.pointer), message);
        }
    }
}

/// The names of members that differ between the forms.
struct MemberNames {
    singular: &'static str,
    /// `None` for a flag.
    scope: Option<&'static str>,
}

const AGGREGATED: MemberNames = MemberNames { singular: "singularResource", scope: Some("scope") };
const LIST: MemberNames = MemberNames { singular: "singularName", scope: None };
const DESCRIPTION: MemberNames = MemberNames { singular: "singular", scope: Some("scope") };
/// The names of verbs, for messages.
pub(super) const VERBS: &str = "create, delete, deletecollection, get, list, patch, update, watch";
