//! The paths of a document: which resources it has, with which verbs and subresources.
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Map;

use super::{
    bodies::{patch_types, reference, resolved, schema_name},
    findings::{Findings, Location, shown},
    members::Members,
};
use crate::{
    kind::endpoint::{PatchType, Verb},
    meta::GroupVersion,
    schema::Document,
};

/// The member that says of which kind something is.
pub(super) const KIND: &str = "x-kubernetes-group-version-kind";
/// The members of a path item that are operations.
const METHODS: [&str; 8] = ["delete", "get", "head", "options", "patch", "post", "put", "trace"];
/// Parameters that the server has for every kind.
const COMMON: [&str; 21] = [
    "allowWatchBookmarks",
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
    "export",
];

/// How a document says that a resource can be watched.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
pub(super) enum WatchSupport {
    #[default]
    No,
    /// The list operation has the parameter `watch`, which counts in documents without paths for watches.
    ByParameter,
    /// There is a path for watches.
    ByPath,
}

/// A resource of a document.
#[derive(Default)]
pub(super) struct PathResource<'d> {
    /// The kind of its objects.
    pub kind: String,
    /// A location that names it.
    pub pointer: String,
    pub is_namespaced: bool,
    pub verbs: Vec<Verb>,
    pub watch_support: WatchSupport,
    /// The schema of its lists.
    pub list: Option<&'d str>,
    /// The schema of the answer to a deletion.
    pub deleted: Option<&'d str>,
    pub deprecated: bool,
    pub subresources: BTreeMap<&'d str, Vec<PathOperation<'d>>>,
    /// The subresources that have paths below them.
    pub with_paths: BTreeSet<&'d str>,
    /// The query parameters of each subresource that the server does not have for every kind.
    pub options: BTreeMap<&'d str, BTreeMap<&'d str, Parameter<'d>>>,
}

/// A query parameter.
pub(super) struct Parameter<'d> {
    /// Its place in the document.
    pub pointer: String,
    pub members: &'d Map<String, Document>,
}

/// An operation of a subresource.
pub(super) struct PathOperation<'d> {
    /// Its location in the document.
    pub pointer: String,
    pub verb: Verb,
    pub connects: bool,
    /// The kind that the operation is about; `None` if it does not say.
    pub kind: Option<GroupVersionKind>,
    /// The schema of the body.
    pub body: Option<&'d str>,
    /// The schema of the answer; `None` for text.
    pub answer: Option<&'d str>,
    pub patch_types: Vec<PatchType>,
}

/// A group, version and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupVersionKind {
    pub at: GroupVersion,
    pub kind: String,
}

impl GroupVersionKind {
    /// Reads an `x-kubernetes-group-version-kind`.
    pub(super) fn of(value: &Document, location: &Location<'_>, findings: &mut Findings) -> Option<Self> {
        let members = Members::of(value, location, findings)?;
        let [group, version, kind] = ["group", "version", "kind"].map(|name| members.text_or_empty(name, findings));
        Some(Self { at: GroupVersion { group, version }, kind })
    }
}

/// The resources of a document by group, version and plural.
pub(super) type PathResources<'d> = BTreeMap<(GroupVersion, &'d str), PathResource<'d>>;

/// Finds the resources of a document.
pub(super) fn find<'d>(document: usize, root: &'d Document, findings: &mut Findings) -> PathResources<'d> {
    let whole = Location::of(document);
    let location = whole.key("paths");
    let mut finder = ResourceFinder { root, resources: PathResources::default(), findings };
    let Some(paths) = root.get("paths").and_then(|paths| Members::of(paths, &location, finder.findings)) else {
        return finder.resources;
    };
    for (path, item) in paths.all {
        finder.item(path, item, &location.key(path));
    }
    let mut resources = finder.resources;
    resources.retain(|_, resource| !resource.verbs.is_empty() || !resource.subresources.is_empty());
    // Documents of custom resources have no paths for watches, but parameters of lists.
    let has_watch_paths = resources.values().any(|resource| resource.watch_support == WatchSupport::ByPath);
    for resource in resources.values_mut() {
        let lists = resource.verbs.contains(&Verb::List);
        if resource.watch_support == WatchSupport::ByPath
            || (!has_watch_paths && lists && resource.watch_support == WatchSupport::ByParameter)
        {
            resource.verbs.push(Verb::Watch);
        }
    }
    resources
}

struct ResourceFinder<'d, 'f> {
    root: &'d Document,
    resources: PathResources<'d>,
    findings: &'f mut Findings,
}

/// The parts of a path.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a path")]
struct ResourcePath<'d> {
    at: GroupVersion,
    plural: &'d str,
    in_namespace: bool,
    is_object: bool,
    /// A watch at an old path of its own.
    is_watch: bool,
    subresource: Option<&'d str>,
    /// A path below the subresource.
    is_below: bool,
}

impl<'d> ResourcePath<'d> {
    /// Reads a path; `None` for one that names no resource.
    fn of(path: &'d str) -> Option<Self> {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (at, mut rest) = match segments[..] {
            ["api", version, ..] => {
                (GroupVersion { group: String::new(), version: version.to_owned() }, &segments[2..])
            }
            ["apis", group, version, ..] => {
                (GroupVersion { group: group.to_owned(), version: version.to_owned() }, &segments[3..])
            }
            _ => return None,
        };
        let is_watch = rest.first() == Some(&"watch") && rest.len() > 1;
        rest = &rest[usize::from(is_watch)..];
        // Only the name of the parameter tells a subresource of a namespace from the objects in one.
        let in_namespace = rest.len() > 2 && rest[0] == "namespaces" && is_parameter(rest[1]) && rest[1] != "{name}";
        rest = if in_namespace { &rest[2..] } else { rest };
        let (plural, name, subresource, below) = match *rest {
            [plural] => (plural, None, None, None),
            [plural, name] => (plural, Some(name), None, None),
            [plural, name, subresource] => (plural, Some(name), Some(subresource), None),
            // Paths below a subresource belong to it, such as the paths that a proxy forwards.
            [plural, name, subresource, below] => (plural, Some(name), Some(subresource), Some(below)),
            _ => return None,
        };
        let names = !is_parameter(plural) && subresource.is_none_or(|name| !is_parameter(name));
        let parameters = name.is_none_or(is_parameter) && below.is_none_or(|below| below == "{path}");
        let (is_object, is_below) = (name.is_some(), below.is_some());
        (names && parameters).then_some(Self { at, plural, in_namespace, is_object, is_watch, subresource, is_below })
    }

    /// The verb of a method.
    fn verb(&self, method: &str) -> Option<Verb> {
        let on_object = self.is_object;
        Some(match method {
            "get" if on_object => Verb::Get,
            "get" => Verb::List,
            "post" if !on_object || self.subresource.is_some() => Verb::Create,
            "put" if on_object => Verb::Update,
            "patch" if on_object => Verb::Patch,
            "delete" if on_object => Verb::Delete,
            "delete" => Verb::DeleteCollection,
            _ => return None,
        })
    }
}

/// Returns true for a segment of a path that is a parameter.
fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}')
}

impl<'d> ResourceFinder<'d, '_> {
    fn item(&mut self, path: &'d str, item: &'d Document, location: &Location<'_>) {
        let Some(members) = Members::of(item, location, self.findings) else { return };
        let known = ["description", "parameters", "servers", "summary"];
        members.warn_of_others(&[&METHODS[..], &known].concat(), self.findings);
        let operations = METHODS.iter().filter_map(|method| Some((*method, members.get(method)?)));
        let operations: Vec<_> = operations.collect();
        let resource_path = ResourcePath::of(path);
        let has_kind = |(_, operation): &(&str, &Document)| operation.get(KIND).is_some();
        let Some(resource_path) = resource_path else {
            if operations.iter().any(has_kind) {
                let forms = "/api/<version> or /apis/<group>/<version>, then <plural>, <plural>/{name} or \
                             <plural>/{name}/<subresource>, in namespaces/{namespace} or not";
                let message = format!("a path of a kind in another form, which is not served; supported: {forms}");
                self.findings.warning(location, message);
            } else if !is_discovery(path) {
                self.findings.warning(location, "not a path of a resource: it is not served");
            }
            return;
        };
        for (method, operation) in &operations {
            self.operation(&resource_path, method, operation, members, &location.key(method));
        }
    }

    fn operation(
        &mut self,
        path: &ResourcePath<'d>,
        method: &str,
        operation: &'d Document,
        item: Members<'d, '_>,
        location: &Location<'_>,
    ) {
        let Some(members) = Members::of(operation, location, self.findings) else { return };
        if path.is_watch {
            let resource = self.resources.entry((path.at.clone(), path.plural)).or_default();
            resource.watch_support = WatchSupport::ByPath;
            return;
        }
        // The server answers HEAD as GET, and OPTIONS by itself.
        if ["head", "options"].contains(&method) {
            return;
        }
        let Some(verb) = path.verb(method) else {
            self.findings.warning(location, format!("the method {method} of this path is not served"));
            return;
        };
        let said = members.get(KIND);
        let said = said.and_then(|kind| GroupVersionKind::of(kind, &location.key(KIND), self.findings));
        let action = members.text("x-kubernetes-action", self.findings);
        let connects = action == Some("connect");
        self.check_action(action, verb, connects && path.subresource.is_some(), location);
        let answer = self.answer(members);
        let body = members.get("requestBody").map(|body| resolved(self.root, body));
        let body = body.and_then(schema_name);
        let kind = said.or_else(|| self.kind_of(body.or(answer)?, path.subresource.is_none()));
        let parameters = self.parameters(item, members);
        let pointer = location.to_string();
        let resource = self.resources.entry((path.at.clone(), path.plural)).or_default();
        if resource.pointer.is_empty() || (resource.kind.is_empty() && path.subresource.is_none()) {
            resource.pointer.clone_from(&pointer);
        }
        resource.is_namespaced |= path.in_namespace;
        let Some(subresource) = path.subresource else {
            if verb == Verb::List {
                resource.list = resource.list.or(answer);
                if resource.watch_support == WatchSupport::No && parameters.contains_key("watch") {
                    resource.watch_support = WatchSupport::ByParameter;
                }
            }
            if verb == Verb::Delete {
                resource.deleted = resource.deleted.or(answer);
            }
            resource.deprecated |= members.flag("deprecated", self.findings);
            if !resource.verbs.contains(&verb) {
                resource.verbs.push(verb);
            }
            if let Some(kind) = &kind {
                self.check_kind(path, kind, location);
            }
            for name in parameters.keys().filter(|name| !COMMON.contains(name)) {
                self.findings.warning(location, format!("the parameter {name} has no effect"));
            }
            return;
        };
        resource.with_paths.extend(path.is_below.then_some(subresource));
        let operations = resource.subresources.entry(subresource).or_default();
        if operations.iter().all(|other| other.verb != verb) {
            let patch_types = patch_types(self.root, members);
            operations.push(PathOperation { pointer, verb, connects, kind, body, answer, patch_types });
        }
        let options = parameters.into_iter().filter(|(name, _)| !COMMON.contains(name));
        resource.options.entry(subresource).or_default().extend(options);
    }

    /// The kind of an operation that does not state one: the kind of its documents. For operations on objects, it is
    /// the kind of a list's items, and never a kind that all groups share.
    fn kind_of(&self, schema: &str, of_objects: bool) -> Option<GroupVersionKind> {
        let schemas = self.root.get("components")?.get("schemas")?;
        let schema = schemas.get(schema)?;
        let items = schema.get("properties").and_then(|fields| fields.get("items")?.get("items")).and_then(reference);
        let schema = items.filter(|_| of_objects).and_then(|items| schemas.get(items)).unwrap_or(schema);
        let said = schema.get(KIND).and_then(Document::as_array)?;
        let text = |of: &Document, name: &str| of.get(name).and_then(Document::as_str).unwrap_or_default().to_owned();
        let read = |of: &Document| GroupVersionKind {
            at: GroupVersion { group: text(of, "group"), version: text(of, "version") },
            kind: text(of, "kind"),
        };
        // Types of all groups, such as DeleteOptions, list many.
        let [only] = &said[..] else { return None };
        Some(read(only)).filter(|found| !(of_objects && found.at.group.is_empty() && found.kind == "Status"))
    }

    /// All operations on objects are about one kind, of the group and version of their path.
    fn check_kind(&mut self, path: &ResourcePath<'d>, kind: &GroupVersionKind, location: &Location<'_>) {
        let location = location.key(KIND);
        if kind.at != path.at {
            let message =
                format!("found a kind of {}; supported: the group and version of the path, {}", kind.at, path.at);
            return self.findings.error(&location, message);
        }
        let resource = self.resources.entry((path.at.clone(), path.plural)).or_default();
        if resource.kind.is_empty() {
            resource.kind.clone_from(&kind.kind);
        } else if resource.kind != kind.kind {
            let message = format!("found the kind {}, where other operations have {}", kind.kind, resource.kind);
            self.findings.error(&location, message);
        }
    }

    fn check_action(&mut self, found: Option<&str>, verb: Verb, may_connect: bool, location: &Location<'_>) {
        let expected = match verb {
            Verb::Create | Verb::Update => verb.method(),
            verb => verb.as_str(),
        };
        if let Some(found) = found
            && found != expected
            && !(may_connect && found == "connect")
        {
            let or = if may_connect { " and connect" } else { "" };
            let location = location.key("x-kubernetes-action");
            self.findings.error(&location, format!("found {found:?}; supported here: {expected}{or}"));
        }
    }

    /// The schema of the answer of success.
    fn answer(&mut self, members: Members<'d, '_>) -> Option<&'d str> {
        let responses = members.object("responses", self.findings)?;
        let mut success = responses.iter().filter(|(code, _)| code.starts_with('2'));
        success.find_map(|(_, answer)| schema_name(resolved(self.root, answer)))
    }

    /// The parameters in the query, of all operations of the path and of this one.
    fn parameters(&mut self, item: Members<'d, '_>, operation: Members<'d, '_>) -> BTreeMap<&'d str, Parameter<'d>> {
        let mut found = BTreeMap::new();
        for members in [item, operation] {
            let location = members.location.key("parameters");
            for (index, parameter) in members.list("parameters", self.findings).iter().enumerate() {
                let location = location.index(index);
                let Some(parameter) = Members::of(resolved(self.root, parameter), &location, self.findings) else {
                    continue;
                };
                if let Some(target) = parameter.get("$ref") {
                    let message = format!("found a reference to {}; supported: one of this document", shown(target));
                    self.findings.error(&location, message);
                } else if parameter.text("in", self.findings) == Some("query")
                    && let Some(name) = parameter.text("name", self.findings)
                {
                    found.insert(name, Parameter { pointer: location.to_string(), members: parameter.all });
                }
            }
        }
        found
    }
}

/// Returns true for the paths of discovery, which the server has by itself.
fn is_discovery(path: &str) -> bool {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    matches!(segments[..], ["api" | "apis" | "version"] | ["api" | "apis", _] | ["apis", _, _])
}
