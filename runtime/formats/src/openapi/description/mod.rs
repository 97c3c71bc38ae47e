//! API descriptions: what the OpenAPI and discovery documents of a whole API say, in one compact document of ours.
//!
//! ```json
//! {"apiVersion":"kindsmith/v1","kind":"APIDescription",
//! "resources":[
//! {"resource":"gears.example.com","version":"v1","kind":"Gear","list":"com.example.v1.GearList","scope":"Namespaced",
//!  "singular":"gear","shortNames":["gr"],"categories":["all"],"verbs":["get","list"],"deleted":"com.example.v1.Gear",
//!  "subresources":{"turn":{"operations":[{"verb":"create","kind":"example.com/v1 Turn","body":"com.example.v1.Turn",
//!   "answer":"com.example.v1.Gear"}],"options":{"how":{"schema":{"type":"string"}}},"takesPaths":true}}}],
//! "components":{"schemas":{
//! "com.example.v1.Gear":{"type":"object"}}}}
//! ```
//!
//! Schemas are those of OpenAPI documents, each once. What paths say by many operations is said here by names of schemas: `list` is that of
//! lists, `deleted` that of the answer to a deletion, `body` and `answer` those of an operation. Without an answer, it is text.
//! An operation with `connects` is a connection, and `patchTypes` has the media types of a patch. A kind without a version and a group is
//! of those of the resource.

mod write;

use std::collections::BTreeMap;

pub use self::write::{Descriptions, describe};
use super::{
    discovery::VERBS,
    findings::{Findings, Location},
    members::Members,
    overlay::API_VERSION,
    paths::{GroupVersionKind, Parameter, PathOperation, PathResource, PathResources},
};
use crate::{
    kind::endpoint::{PatchType, Verb},
    meta::GroupVersion,
    schema::Document,
};

/// The kind of these documents.
pub(super) const DESCRIPTION: &str = "APIDescription";

/// Returns true for an API description.
pub(super) fn is_one(document: &Document) -> bool {
    document.get("kind").is_some_and(|kind| kind == DESCRIPTION)
}

/// The resources of a description, as paths of an OpenAPI document would say them.
pub(super) fn find<'d>(document: usize, root: &'d Document, findings: &mut Findings) -> PathResources<'d> {
    let location = Location::of(document);
    let mut resources = PathResources::default();
    let Some(members) = Members::of(root, &location, findings) else { return resources };
    members.warn_of_others(&["apiVersion", "kind", "resources", "components"], findings);
    members.one_of("apiVersion", &[API_VERSION], findings);
    let location = location.key("resources");
    for (index, entry) in members.list("resources", findings).iter().enumerate() {
        let location = location.index(index);
        let Some(members) = Members::of(entry, &location, findings) else { continue };
        let (at, plural) = name(members, findings);
        if resources.contains_key(&(at.clone(), plural)) {
            findings.error(&location, format!("{plural} of {at} is described twice"));
            continue;
        }
        let resource = resource(&at, members, findings);
        resources.insert((at, plural), resource);
    }
    resources
}

/// The group, the version and the plural of an entry.
pub(super) fn name<'d>(members: Members<'d, '_>, findings: &mut Findings) -> (GroupVersion, &'d str) {
    let resource = members.text("resource", findings).unwrap_or_default();
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let version = members.text_or_empty("version", findings);
    for (what, is_missing) in [("resource", plural.is_empty()), ("version", version.is_empty())] {
        if is_missing {
            findings.error(&members.location.key(what), "missing");
        }
    }
    (GroupVersion { group: group.to_owned(), version }, plural)
}

fn resource<'d>(at: &GroupVersion, members: Members<'d, '_>, findings: &mut Findings) -> PathResource<'d> {
    const KNOWN: [&str; 12] = [
        "categories",
        "deleted",
        "deprecated",
        "kind",
        "list",
        "resource",
        "scope",
        "shortNames",
        "singular",
        "subresources",
        "verbs",
        "version",
    ];
    members.warn_of_others(&KNOWN, findings);
    let scope = members.one_of("scope", &["Cluster", "Namespaced"], findings);
    for (name, is_missing) in [("scope", scope.is_none()), ("kind", members.get("kind").is_none())] {
        if is_missing {
            findings.error(&members.location.key(name), "missing");
        }
    }
    let mut resource = PathResource {
        kind: members.text_or_empty("kind", findings),
        pointer: members.location.to_string(),
        is_namespaced: scope == Some("Namespaced"),
        verbs: verbs(members, findings),
        list: members.text("list", findings),
        deleted: members.text("deleted", findings),
        deprecated: members.flag("deprecated", findings),
        ..PathResource::default()
    };
    let location = members.location.key("subresources");
    for (name, subresource) in members.object("subresources", findings).into_iter().flatten() {
        let location = location.key(name);
        let Some(members) = Members::of(subresource, &location, findings) else { continue };
        members.warn_of_others(&["operations", "options", "takesPaths"], findings);
        let of_operations = location.key("operations");
        let list = members.list("operations", findings).iter().enumerate();
        let operations = list.filter_map(|(index, of)| operation(at, of, &of_operations.index(index), findings));
        resource.subresources.insert(name, operations.collect());
        resource.with_paths.extend(members.flag("takesPaths", findings).then_some(name.as_str()));
        let of_options = location.key("options");
        let mut options = BTreeMap::new();
        for (option, parameter) in members.object("options", findings).into_iter().flatten() {
            let location = of_options.key(option);
            let Some(members) = Members::of(parameter, &location, findings) else { continue };
            options.insert(option.as_str(), Parameter { pointer: location.to_string(), members: members.all });
        }
        resource.options.insert(name, options);
    }
    resource
}

fn verbs(members: Members<'_, '_>, findings: &mut Findings) -> Vec<Verb> {
    let location = members.location.key("verbs");
    let mut verbs = Vec::new();
    for (index, name) in members.texts("verbs", findings).iter().enumerate() {
        match Verb::BY_NAME.into_iter().find(|verb| verb.as_str() == name) {
            Some(verb) => verbs.push(verb),
            None => findings.error(&location.index(index), format!("found {name:?}; supported: {VERBS}")),
        }
    }
    verbs
}

fn operation<'d>(
    at: &GroupVersion,
    operation: &'d Document,
    location: &Location<'_>,
    findings: &mut Findings,
) -> Option<PathOperation<'d>> {
    let members = Members::of(operation, location, findings)?;
    members.warn_of_others(&["answer", "body", "connects", "kind", "patchTypes", "verb"], findings);
    let verb = members.text("verb", findings).unwrap_or_default();
    let Some(verb) = Verb::BY_NAME.into_iter().find(|known| known.as_str() == verb) else {
        findings.error(&location.key("verb"), format!("found {verb:?}; supported: {VERBS}"));
        return None;
    };
    let mut patch_types = Vec::new();
    for (index, name) in members.texts("patchTypes", findings).iter().enumerate() {
        if let Some(known) = PatchType::ALL.into_iter().find(|known| known.media_type() == name) {
            patch_types.push(known);
        } else {
            let all = PatchType::ALL.map(PatchType::media_type).join(", ");
            findings.error(&location.key("patchTypes").index(index), format!("found {name:?}; supported: {all}"));
        }
    }
    Some(PathOperation {
        pointer: location.to_string(),
        verb,
        connects: members.flag("connects", findings),
        kind: members.text("kind", findings).map(|text| kind(at, text)),
        body: members.text("body", findings),
        answer: members.text("answer", findings),
        patch_types,
    })
}

/// A kind: `<group>/<version> <kind>`, or the kind alone in the group and version of the resource.
fn kind(at: &GroupVersion, text: &str) -> GroupVersionKind {
    let Some((of, kind)) = text.split_once(' ') else {
        return GroupVersionKind { at: at.clone(), kind: text.to_owned() };
    };
    let (group, version) = of.split_once('/').unwrap_or(("", of));
    GroupVersionKind {
        at: GroupVersion { group: group.to_owned(), version: version.to_owned() },
        kind: kind.to_owned(),
    }
}
