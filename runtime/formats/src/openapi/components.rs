//! The schemas that a document defines by name, and which of them are recursive. Equal schemas of several documents are
//! in memory once.
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    findings::{Findings, Location},
    messages::Messages,
};
use crate::schema::{Document, METADATA, Scalar, Schema, model::Type};

/// Where references to schemas lead.
pub(super) const SCHEMAS: &str = "#/components/schemas/";
/// How deep a schema may nest with all that it refers to, in levels of JSON. Walks of a schema are recursive.
const MOST_NESTED: usize = 256;
/// How many objects of JSON a schema may have with all that it refers to, each as often as it is referred to: a few types
/// that refer to each other twice describe values without a bound. The largest of Kubernetes have some ten thousand.
const MOST_OBJECTS: usize = 500_000;
/// The package of the types that Kubernetes' groups share.
const MACHINERY: &str = "io.k8s.apimachinery.pkg.";

/// The state that documents share.
pub(super) struct Pool<'d> {
    /// The schemas of earlier documents by name, as the documents have them and as they were read.
    read: HashMap<&'d str, (&'d Document, Arc<Schema>)>,
    /// The numbers of fields.
    pub messages: Messages,
}

impl Pool<'_> {
    /// With the numbers of fields, and without schemas.
    pub(super) fn with(messages: Messages) -> Self {
        Self { read: HashMap::new(), messages }
    }
}

/// The schemas of a document.
pub(super) struct Components<'d> {
    /// The index of the document.
    pub document: usize,
    all: BTreeMap<&'d str, &'d Document>,
    /// The schemas that are too large to be read.
    too_large: BTreeSet<&'d str>,
    /// Recursive schemas that refer to each other.
    groups: Vec<Vec<&'d str>>,
    /// The group of each recursive schema, and its position there.
    recursive: HashMap<&'d str, (usize, usize)>,
    /// The definitions of each group, once read.
    definitions: HashMap<usize, Arc<Vec<Schema>>>,
    /// Schemas that differ from those of earlier documents, or refer to such.
    different: BTreeSet<&'d str>,
    read: HashMap<&'d str, Arc<Schema>>,
}

impl<'d> Components<'d> {
    /// The components of a document.
    pub(super) fn of(document: usize, root: &'d Document, pool: &Pool<'d>, findings: &mut Findings) -> Self {
        let schemas = root.get("components").and_then(|components| components.get("schemas"));
        let location = Location::of_schemas(document);
        let members = match schemas {
            Some(Document::Object(members)) => Some(members),
            Some(other) => {
                findings.wrong_type(&location, other, "an object");
                None
            }
            None => None,
        };
        let all: BTreeMap<_, _> = members.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)).collect();
        let outlines: BTreeMap<_, _> = all.iter().map(|(name, schema)| (*name, Outline::of(schema))).collect();
        let Groups { found: groups, too_large, .. } = Groups::of(&outlines);
        for name in too_large.iter().filter(|name| !outlines[*name].names().any(|to| too_large.contains(to))) {
            let message = format!(
                "the schema is too large with those that it refers to; supported: {MOST_NESTED} levels, and \
                 {MOST_OBJECTS} objects"
            );
            findings.error(&location.key(name), message);
        }
        let numbered = groups.iter().enumerate().flat_map(|(group, members)| {
            members.iter().enumerate().map(move |(position, name)| (*name, (group, position)))
        });
        Self {
            document,
            recursive: numbered.collect(),
            different: different(&all, &outlines, pool),
            definitions: HashMap::new(),
            read: HashMap::new(),
            groups,
            too_large,
            all,
        }
    }

    /// Returns true if there is a schema of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// Returns true if the schema of this name is too large to be read, which was reported.
    pub(super) fn is_too_large(&self, name: &str) -> bool {
        self.too_large.contains(name)
    }

    /// All schemas by name, as the document has them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'d str, &'d Document)> {
        self.all.iter().map(|(name, schema)| (*name, *schema))
    }

    /// A schema as the document has it.
    pub(super) fn raw(&self, name: &str) -> Option<&'d Document> {
        self.all.get(name).copied()
    }

    /// The position of a schema among the definitions of its group, if it is in this one.
    pub(super) fn position(&self, name: &str, group: usize) -> Option<usize> {
        self.recursive.get(name).filter(|(of, _)| *of == group).map(|(_, position)| *position)
    }

    /// The schema of a name, for use outside of recursive schemas that it refers to.
    pub(super) fn schema(&mut self, name: &'d str, pool: &mut Pool<'d>, findings: &mut Findings) -> Arc<Schema> {
        if let Some(known) = self.read.get(name) {
            return known.clone();
        }
        let shared = !self.different.contains(name);
        if shared && let Some((_, known)) = pool.read.get(name) {
            return known.clone();
        }
        let schema = match (well_known(name), self.recursive.get(name).copied()) {
            (Some(known), _) => known,
            // This was reported.
            (None, _) if self.too_large.contains(name) => Schema::default(),
            (None, None) => self.content(name, None, pool, findings),
            (None, Some((group, position))) => {
                let definitions = self.definitions(group, pool, findings);
                Schema { definitions: Some(definitions.clone()), ..definitions[position].clone() }
            }
        };
        let schema = Arc::new(schema);
        self.read.insert(name, schema.clone());
        if shared && let Some(raw) = self.all.get(name) {
            pool.read.insert(name, (raw, schema.clone()));
        }
        schema
    }

    /// The definitions of a group of recursive schemas.
    fn definitions(&mut self, group: usize, pool: &mut Pool<'d>, findings: &mut Findings) -> Arc<Vec<Schema>> {
        if let Some(known) = self.definitions.get(&group) {
            return known.clone();
        }
        let names = self.groups[group].clone();
        let read = names.into_iter().map(|name| self.content(name, Some(group), pool, findings));
        let read = Arc::new(read.collect::<Vec<_>>());
        self.definitions.insert(group, read.clone());
        read
    }
}

/// Types of Kubernetes whose documents do not say what they are.
fn well_known(name: &str) -> Option<Schema> {
    let named = |schema: Schema| Schema { name: Some(name.to_owned()), ..schema };
    match name.strip_prefix(MACHINERY)? {
        "apis.meta.v1.ObjectMeta" => Some(named(METADATA.clone())),
        "apis.meta.v1.FieldsV1" | "runtime.RawExtension" => {
            Some(named(Schema { kind: Type::Object, preserve_unknown: true, ..Schema::default() }))
        }
        "api.resource.Quantity" => {
            let scalar = Some(Scalar::Quantity);
            Some(Schema { kind: Type::String, format: Some("quantity".to_owned()), scalar, ..Schema::default() })
        }
        _ => None,
    }
}

/// The type of text in Go that a schema of this name is.
pub(super) fn scalar_of(name: &str) -> Option<Scalar> {
    match name.strip_prefix(MACHINERY)? {
        "apis.meta.v1.Time" => Some(Scalar::Time),
        "apis.meta.v1.MicroTime" => Some(Scalar::MicroTime),
        "util.intstr.IntOrString" => Some(Scalar::IntOrString),
        _ => None,
    }
}

/// The size of a schema by itself, and what it refers to.
struct Outline<'d> {
    extent: Extent,
    /// The names that it refers to, and how deep in it.
    references: Vec<(usize, &'d str)>,
}

/// How large a schema is.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// Levels of JSON.
    levels: usize,
    /// Objects of JSON.
    objects: usize,
}

impl Extent {
    /// Returns true if nothing is wrong with the size.
    fn is_supported(self) -> bool {
        self.levels <= MOST_NESTED && self.objects <= MOST_OBJECTS
    }

    /// Adds a schema that is referred to, at this level.
    fn add(&mut self, level: usize, other: Self) {
        self.levels = self.levels.max(level.saturating_add(other.levels));
        self.objects = self.objects.saturating_add(other.objects);
    }
}

impl<'d> Outline<'d> {
    fn of(schema: &'d Document) -> Self {
        let mut outline = Self { extent: Extent::default(), references: Vec::new() };
        let mut left = vec![(1, schema)];
        while let Some((level, value)) = left.pop() {
            outline.extent.levels = outline.extent.levels.max(level);
            match value {
                Document::Object(members) => {
                    outline.extent.objects += 1;
                    let target = members.get("$ref").and_then(Document::as_str);
                    outline.references.extend(target.and_then(|at| Some((level, at.strip_prefix(SCHEMAS)?))));
                    left.extend(members.values().map(|value| (level + 1, value)));
                }
                Document::Array(items) => left.extend(items.iter().map(|value| (level + 1, value))),
                _ => {}
            }
        }
        outline
    }

    /// The names that it refers to.
    fn names(&self) -> impl Iterator<Item = &'d str> {
        self.references.iter().map(|(_, name)| *name)
    }
}

/// The names of the schemas that a schema refers to.
pub(super) fn outline_names(schema: &Document) -> Vec<&str> {
    Outline::of(schema).names().collect()
}

/// The schemas that differ from the pool's of the same name, and all schemas that refer to these.
fn different<'d>(
    all: &BTreeMap<&'d str, &'d Document>,
    outlines: &BTreeMap<&'d str, Outline<'d>>,
    pool: &Pool<'d>,
) -> BTreeSet<&'d str> {
    let differs = |(name, raw): &(&&'d str, &&'d Document)| {
        pool.read.get(**name).is_some_and(|(other, _)| !std::ptr::eq(*other, **raw) && other != *raw)
    };
    let mut found: BTreeSet<_> = all.iter().filter(differs).map(|(name, _)| *name).collect();
    let mut referring: HashMap<&str, Vec<&'d str>> = HashMap::new();
    for (from, to) in outlines.iter().flat_map(|(from, outline)| outline.names().map(move |to| (*from, to))) {
        referring.entry(to).or_default().push(from);
    }
    let mut left: Vec<_> = found.iter().copied().collect();
    while let Some(name) = left.pop() {
        left.extend(referring.get(name).into_iter().flatten().filter(|from| found.insert(from)));
    }
    found
}

/// Finds the schemas that refer to themselves, by Tarjan's algorithm for strongly connected components, and the size of
/// each schema with all that it refers to. A component is complete before components that refer to it.
struct Groups<'r, 'd> {
    outlines: &'r BTreeMap<&'d str, Outline<'d>>,
    visited: HashMap<&'d str, TarjanNode>,
    stack: Vec<&'d str>,
    found: Vec<Vec<&'d str>>,
    extents: HashMap<&'d str, Extent>,
    too_large: BTreeSet<&'d str>,
}

#[derive(Clone, Copy)]
struct TarjanNode {
    index: usize,
    /// The lowest index that it leads back to.
    lowlink: usize,
    /// It is on the stack.
    on_stack: bool,
}

impl<'r, 'd> Groups<'r, 'd> {
    fn of(outlines: &'r BTreeMap<&'d str, Outline<'d>>) -> Self {
        let mut groups = Self {
            outlines,
            visited: HashMap::new(),
            stack: Vec::new(),
            found: Vec::new(),
            extents: HashMap::new(),
            too_large: BTreeSet::new(),
        };
        for name in outlines.keys() {
            if !groups.visited.contains_key(name) {
                groups.visit(name);
            }
        }
        groups
    }

    /// Visits a name and the names that it leads to. Names that wait are on an explicit stack, since chains of
    /// references may be long.
    fn visit(&mut self, start: &'d str) {
        let mut visits = vec![(start, 0)];
        while let Some((name, next)) = visits.pop() {
            if next == 0 {
                let index = self.visited.len();
                self.visited.insert(name, TarjanNode { index, lowlink: index, on_stack: true });
                self.stack.push(name);
            }
            let to = self.outlines.get(name).map_or(&[][..], |outline| &outline.references);
            if let Some((_, target)) = to.get(next) {
                visits.push((name, next + 1));
                if self.outlines.contains_key(target) && !self.visited.contains_key(target) {
                    visits.push((target, 0));
                }
                continue;
            }
            let on_stack =
                to.iter().filter_map(|(_, target)| self.visited.get(target)).filter(|target| target.on_stack);
            let lowest = on_stack.map(|target| target.lowlink).min();
            let visited = self.visited.get_mut(name).expect("it was put there above");
            visited.lowlink = lowest.map_or(visited.lowlink, |other| other.min(visited.lowlink));
            if visited.lowlink == visited.index {
                let at = self.stack.iter().rposition(|waiting| *waiting == name).expect("it was put there above");
                let members = self.stack.split_off(at);
                self.complete(members, to.iter().any(|(_, target)| *target == name));
            }
        }
    }

    /// Notes a component: schemas that refer to each other, or one that may refer to itself. Recursive schemas are read
    /// together.
    fn complete(&mut self, mut members: Vec<&'d str>, refers_to_itself: bool) {
        let mut extent = Extent::default();
        for name in &members {
            self.visited.get_mut(name).expect("it was visited").on_stack = false;
            let outline = &self.outlines[name];
            extent.add(0, outline.extent);
            // An incomplete target is in this component, and a reference to it is read without its content.
            for (level, target) in &outline.references {
                extent.add(*level, self.extents.get(target).copied().unwrap_or_default());
            }
        }
        for name in &members {
            self.extents.insert(name, extent);
            if !extent.is_supported() {
                self.too_large.insert(name);
            }
        }
        if members.len() > 1 || refers_to_itself {
            members.sort_unstable();
            self.found.push(members);
        }
    }
}

/// Returns true for the name of a type that is compiled into Kubernetes: `io.k8s.api.core.v1.Pod`, and of other servers in Go,
/// `io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics`. Those of custom resources are named by their groups, which may end in `k8s.io`,
/// too: `io.k8s.networking.gateway.v1.Gateway`.
pub(super) fn is_of_kubernetes(name: &str) -> bool {
    let Some(path) = name.strip_prefix("io.k8s.") else { return false };
    let mut segments = path.split('.');
    segments.next() == Some("api") || segments.next() == Some("pkg")
}
