//! Overlays add facts about resources that OpenAPI documents lack, and in part CRDs, such as columns. The file:
//!
//! ```yaml
//! apiVersion: kindsmith/v1
//! kind: Overlay
//! resources:
//! - resource: deployments.apps      # <plural>.<group>; <plural> alone in the core group
//!   versions: [v1]                  # the versions to change; all if absent
//!   singular: deployment
//!   shortNames: [deploy]
//!   categories: [all]
//!   nameRule: PathSegment           # how names of objects are checked: Subdomain, Label or PathSegment
//!   generation: true                # metadata.generation counts changes
//!   statusOnCreate: true            # a create stores the status that it is given
//!   deprecated: Use v2              # what clients are warned of
//!   selectableFields: [.spec.paused]
//!   selectorAliases: {spec.halted: .spec.paused}  # further names of selectable fields
//!   scale: {replicas: .spec.size, statusReplicas: .status.size, selector: .status.selector}
//!   changes: {approval: .status}    # the part of objects that writes of a subresource may change
//!   columns:                        # all columns but the name; they replace the existing ones
//!   - {name: Ready, type: string, cell: 'ratio(.status.readyReplicas, .spec.replicas)'}
//!   - {name: Age, type: date, cell: .metadata.creationTimestamp, priority: 0, format: '', description: ''}
//! ```
//!
//! Rules for writes are declared, too: see [`write_rules`]. And so are objects that a server creates when it starts, if they are
//! missing and it serves their kinds:
//!
//! ```yaml
//! objects:
//! - {apiVersion: example.com/v1, kind: Gear, metadata: {namespace: default, name: first}, spec: {teeth: 12}}
//! ```
//!
//! A member that is absent changes nothing. An entry for a resource or version that is not there has no effect. A cell is a
//! JSONPath, or a call of one of these functions, whose arguments are JSONPaths, strings in quotes, and further calls:
//!
//! | function | cell |
//! |---|---|
//! | `age(time)` | the time since then, `<unknown>` if absent |
//! | `between(from, to)` | the time from one to the other, or until now; nothing without the first |
//! | `case(value, 'text', a, …, otherwise)` | the argument after the text that equals the value, or else the last one; nothing without it |
//! | `count(values)` | the number of values; of items and entries, where the values are lists and objects |
//! | `first(a, b, …)` | the first of these that is there and not empty, or `<none>` |
//! | `if(values, a, b)` | `a` if one of the values is there, and neither empty, zero nor false; otherwise `b` or nothing |
//! | `join(values)` | all of them, with commas between, or `<none>` |
//! | `join(values, 'text')` | the same for a text of each value, in which `{.path}` is what a path finds in it; a part in brackets is left out where a path in it finds nothing |
//! | `keys(object, 'prefix')` | the keys that begin with the prefix, without it, with commas between, or `<none>` |
//! | `labels(selector)` | a label selector or a map of labels as text, or `<none>` |
//! | `list(a, b, …)` | the ones that are there and not empty, with commas between, or `<none>` |
//! | `metrics(specs, statuses)` | the current and the wanted values of the metrics of a HorizontalPodAutoscaler, as kubectl shows them |
//! | `ratio(a, b)` | `a/b`, where what is absent is 0 |
//! | `sum(values, …)` | the sum of numbers |
mod write_rules;

use std::sync::Arc;

use self::write_rules::Parts;
use super::{
    findings::{Findings, Location, shown},
    members::Members,
};
use crate::{
    kind::{
        Changes, Definition, JsonPath,
        cells::Call,
        model::{Cell, Column, NameRule, Path, ScalePaths, Shared},
        write_rules::{Expressions, WriteRules},
    },
    schema::Document,
};

/// The kind of overlays.
pub(super) const OVERLAY: &str = "Overlay";
/// The `apiVersion` of overlays.
pub const API_VERSION: &str = "kindsmith/v1";

const MEMBERS: [&str; 18] = [
    "categories",
    "changes",
    "columns",
    "defaults",
    "deprecated",
    "generation",
    "immutable",
    "include",
    "nameRule",
    "resource",
    "scale",
    "selectableFields",
    "selectorAliases",
    "shortNames",
    "singular",
    "statusOnCreate",
    "validations",
    "versions",
];

/// An overlay: entries for resources, and objects.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    entries: Vec<Entry>,
    objects: Vec<Document>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    group: String,
    plural: String,
    versions: Vec<String>,
    singular: Option<String>,
    short_names: Option<Vec<String>>,
    categories: Option<Vec<String>>,
    name_rule: Option<NameRule>,
    generation: Option<bool>,
    status_on_create: Option<bool>,
    deprecated: Option<String>,
    selectable: Option<Vec<Path>>,
    selector_aliases: Vec<(String, Path)>,
    scale: Option<ScalePaths>,
    changes: Vec<(String, Path)>,
    columns: Option<Vec<Column>>,
    write_rules: WriteRules,
}

impl Overlay {
    /// Returns true for a document that says it is an overlay.
    pub(super) fn is_one(document: &Document) -> bool {
        document.get("kind").is_some_and(|kind| kind == OVERLAY)
    }

    /// Reads an overlay, as far as it is right.
    pub(super) fn of(
        document: &Document,
        location: &Location<'_>,
        expressions: &mut Expressions,
        findings: &mut Findings,
    ) -> Self {
        let Some(members) = Members::of(document, location, findings) else { return Self::default() };
        members.warn_of_others(&["apiVersion", "kind", "messages", "objects", "parts", "resources"], findings);
        let mut parts = Parts::of(members, expressions, findings);
        if members.get("apiVersion").is_none_or(|found| found != API_VERSION) {
            let found = members.get("apiVersion").unwrap_or(&Document::Null);
            findings.error(&location.key("apiVersion"), format!("found {}; supported: {API_VERSION}", shown(found)));
        }
        let at = location.key("resources");
        let list = members.list("resources", findings).iter().enumerate();
        let entries =
            list.filter_map(|(index, entry)| Entry::of(entry, &at.index(index), &mut parts, findings)).collect();
        let at = location.key("objects");
        let objects = members.list("objects", findings);
        for (index, object) in objects.iter().enumerate() {
            check_object(object, &at.index(index), findings);
        }
        Self { entries, objects: objects.to_vec() }
    }

    /// The objects to create when a server starts, if they are missing and their kinds are served.
    pub fn objects(&self) -> &[Document] {
        &self.objects
    }

    /// The rules for writes of a resource in a version.
    pub(super) fn write_rules(&self, shared: &Shared, version: &str) -> WriteRules {
        let mut all = WriteRules::default();
        for entry in self.entries.iter().filter(|entry| entry.is_of(shared) && entry.is_for(version)) {
            all.append(entry.write_rules.clone());
        }
        all
    }

    /// Changes a resource as the overlay says.
    pub fn apply(&self, definition: &mut Definition) {
        let shared = &definition.shared;
        let entries = self.entries.iter().filter(|entry| entry.is_of(shared));
        for entry in entries.collect::<Vec<_>>() {
            entry.apply(definition);
        }
    }
}

impl Entry {
    fn of<'d>(
        entry: &'d Document,
        location: &Location<'_>,
        parts: &mut Parts<'d, '_>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let members = Members::of(entry, location, findings)?;
        members.warn_of_others(&MEMBERS, findings);
        let resource = members.text("resource", findings).unwrap_or_default();
        if resource.is_empty() {
            findings.error(
                &location.key("resource"),
                "missing; supported: <plural>.<group>, or <plural> in the core group",
            );
        }
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        let given = |name: &str| members.get(name).is_some();
        let name_rule = match members.one_of("nameRule", &["Label", "PathSegment", "Subdomain"], findings) {
            Some("Label") => Some(NameRule::Label),
            Some("PathSegment") => Some(NameRule::PathSegment),
            Some("Subdomain") => Some(NameRule::Subdomain),
            _ => None,
        };
        members.check_names("singular", findings);
        let flag = |name: &str, findings: &mut Findings| given(name).then(|| members.flag(name, findings));
        let texts = |name: &str, findings: &mut Findings| given(name).then(|| members.texts(name, findings));
        let selectable = texts("selectableFields", findings).map(|paths| {
            let location = location.key("selectableFields");
            let read = |(index, text): (usize, String)| path(&text, &location.index(index), findings);
            paths.into_iter().enumerate().filter_map(read).collect()
        });
        let scale = members.get("scale").and_then(|of| scale(of, &location.key("scale"), findings));
        let [changes, selector_aliases] = ["changes", "selectorAliases"].map(|member| {
            let at = location.key(member);
            let named = members.object(member, findings).into_iter().flatten();
            let read = named.filter_map(|(name, text)| {
                let text = text.as_str().unwrap_or_default();
                Some((name.clone(), path(text, &at.key(name), findings)?))
            });
            read.collect::<Vec<_>>()
        });
        let at = location.key("columns");
        let columns = given("columns").then(|| {
            let list = members.list("columns", findings).iter().enumerate();
            list.filter_map(|(index, of)| column(of, &at.index(index), findings)).collect()
        });
        Some(Self {
            group: group.to_owned(),
            plural: plural.to_owned(),
            versions: members.texts("versions", findings),
            singular: members.text("singular", findings).filter(|name| !name.is_empty()).map(str::to_owned),
            short_names: texts("shortNames", findings),
            categories: texts("categories", findings),
            name_rule,
            generation: flag("generation", findings),
            status_on_create: flag("statusOnCreate", findings),
            deprecated: members.text("deprecated", findings).filter(|text| !text.is_empty()).map(str::to_owned),
            selectable,
            selector_aliases,
            scale,
            changes,
            columns,
            write_rules: parts.write_rules(members, findings),
        })
    }

    /// True for the resource that it is about.
    fn is_of(&self, shared: &Shared) -> bool {
        self.group == shared.group && self.plural == shared.names.plural
    }

    /// True for a version that it is about.
    fn is_for(&self, version: &str) -> bool {
        self.versions.is_empty() || self.versions.iter().any(|name| name == version)
    }

    fn apply(&self, definition: &mut Definition) {
        let shared = Arc::make_mut(&mut definition.shared);
        put(&mut shared.names.singular, self.singular.as_ref());
        put(&mut shared.names.short_names, self.short_names.as_ref());
        put(&mut shared.names.categories, self.categories.as_ref());
        put(&mut shared.name_rule, self.name_rule.as_ref());
        for version in definition.versions.iter_mut().filter(|version| self.is_for(&version.name)) {
            let version = Arc::make_mut(version);
            put(&mut version.generation, self.generation.as_ref());
            put(&mut version.status_on_create, self.status_on_create.as_ref());
            version.deprecated = self.deprecated.clone().or(version.deprecated.take());
            put(&mut version.selectable, self.selectable.as_ref());
            version.selector_aliases.extend(self.selector_aliases.iter().cloned());
            put(&mut version.columns, self.columns.as_ref());
            version.scale = self.scale.clone().or(version.scale.take());
            for (name, path) in &self.changes {
                let meant = version.subresources.iter_mut().filter(|of| *of.subresource == **name);
                meant.for_each(|of| of.changes = Changes::Only(path.clone()));
            }
        }
    }
}

/// Reports what an object lacks to be found.
fn check_object(object: &Document, location: &Location<'_>, findings: &mut Findings) {
    let Some(members) = Members::of(object, location, findings) else { return };
    let at = location.key("metadata");
    let metadata = members.get("metadata").and_then(|of| Members::of(of, &at, findings));
    let names = [(Some(members), location, "apiVersion"), (Some(members), location, "kind"), (metadata, &at, "name")];
    for (members, location, name) in names {
        if members.and_then(|of| of.text(name, findings)).is_none_or(str::is_empty) {
            findings.error(&location.key(name), "missing: an object has apiVersion, kind and metadata.name");
        }
    }
}

/// Puts a value that is given.
fn put<T: Clone>(target: &mut T, given: Option<&T>) {
    if let Some(given) = given {
        target.clone_from(given);
    }
}

/// The paths of a scale.
fn scale(of: &Document, location: &Location<'_>, findings: &mut Findings) -> Option<ScalePaths> {
    let members = Members::of(of, location, findings)?;
    members.warn_of_others(&["replicas", "selector", "statusReplicas"], findings);
    let [replicas, status_replicas] = ["replicas", "statusReplicas"].map(|name| {
        let text = members.text_or_empty(name, findings);
        path(&text, &location.key(name), findings)
    });
    let selector = members.text("selector", findings).and_then(|text| path(text, &location.key("selector"), findings));
    Some(ScalePaths { selector, ..ScalePaths::new(replicas?, status_replicas?) })
}

/// A path of fields alone.
pub(super) fn path(text: &str, location: &Location<'_>, findings: &mut Findings) -> Option<Path> {
    let names = JsonPath::parse(text).ok().and_then(|path| path.names()).filter(|names| !names.is_empty());
    if names.is_none() {
        findings.error(location, format!("found {text:?}; supported: a path of fields, such as .spec.size"));
    }
    names.map(Path)
}

fn column(from: &Document, location: &Location<'_>, findings: &mut Findings) -> Option<Column> {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    let members = Members::of(from, location, findings)?;
    members.warn_of_others(&["cell", "description", "format", "name", "priority", "type"], findings);
    let [name, kind, cell, format, description] =
        ["name", "type", "cell", "format", "description"].map(|name| members.text_or_empty(name, findings));
    if name.is_empty() {
        findings.error(&location.key("name"), "missing: the header of the column");
    }
    if !TYPES.contains(&kind.as_str()) {
        findings.error(&location.key("type"), format!("found {kind:?}; supported: {}", TYPES.join(", ")));
    }
    let parsed = if cell.starts_with(['.', '{']) {
        JsonPath::parse(&cell).map(|path| path.names().map_or(Cell::JsonPath(path), |names| Cell::Path(Path(names))))
    } else {
        Call::parse(&cell).map(Cell::Call)
    };
    let cell = parsed.map_err(|error| findings.error(&location.key("cell"), error)).ok()?;
    let priority = members.count("priority", findings).and_then(|priority| i32::try_from(priority).ok());
    Some(Column { name, kind, format, description, priority: priority.unwrap_or_default(), cell })
}
