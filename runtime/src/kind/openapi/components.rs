//! The schemas that a document defines by name, and which of them are recursive. Equal schemas of several documents are
//! in memory once.
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{
    findings::{Findings, Place},
    messages::Messages,
};
use crate::schema::{Document, METADATA, Schema, model::Type};

/// Where references to schemas lead.
pub(super) const SCHEMAS: &str = "#/components/schemas/";
/// The package of the types that Kubernetes' groups share.
const MACHINERY: &str = "io.k8s.apimachinery.pkg.";

/// What documents have in common.
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
    /// Those of a document.
    pub(super) fn of(document: usize, root: &'d Document, pool: &Pool<'d>, findings: &mut Findings) -> Self {
        let schemas = root.get("components").and_then(|components| components.get("schemas"));
        let place = Place::of(document);
        let place = place.key("components");
        let members = match schemas {
            Some(Document::Object(members)) => Some(members),
            Some(other) => {
                findings.wrong_type(&place.key("schemas"), other, "an object");
                None
            }
            None => None,
        };
        let all: BTreeMap<_, _> = members.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)).collect();
        let references: BTreeMap<_, _> = all.iter().map(|(name, schema)| (*name, references(schema))).collect();
        let groups = Groups::of(&references);
        let numbered = groups.iter().enumerate().flat_map(|(group, members)| {
            members.iter().enumerate().map(move |(position, name)| (*name, (group, position)))
        });
        Self {
            document,
            recursive: numbered.collect(),
            different: different(&all, &references, pool),
            definitions: HashMap::new(),
            read: HashMap::new(),
            groups,
            all,
        }
    }

    /// Returns true if there is a schema of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.all.contains_key(name)
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
            Some(Schema { kind: Type::String, format: Some("quantity".to_owned()), ..Schema::default() })
        }
        _ => None,
    }
}

/// The names that a schema refers to.
fn references(schema: &Document) -> Vec<&str> {
    let mut found = Vec::new();
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        match value {
            Document::Object(members) => {
                found.extend(members.get("$ref").and_then(Document::as_str).and_then(|at| at.strip_prefix(SCHEMAS)));
                left.extend(members.values());
            }
            Document::Array(items) => left.extend(items),
            _ => {}
        }
    }
    found
}

/// The schemas that differ from those of the same name in the pool, and those that refer to them.
fn different<'d>(
    all: &BTreeMap<&'d str, &'d Document>,
    references: &BTreeMap<&'d str, Vec<&'d str>>,
    pool: &Pool<'d>,
) -> BTreeSet<&'d str> {
    let differs = |(name, raw): &(&&'d str, &&'d Document)| {
        pool.read.get(**name).is_some_and(|(other, _)| !std::ptr::eq(*other, **raw) && other != *raw)
    };
    let mut found: BTreeSet<_> = all.iter().filter(differs).map(|(name, _)| *name).collect();
    let mut referring: HashMap<&str, Vec<&'d str>> = HashMap::new();
    for (from, to) in references.iter().flat_map(|(from, to)| to.iter().map(move |to| (*from, *to))) {
        referring.entry(to).or_default().push(from);
    }
    let mut left: Vec<_> = found.iter().copied().collect();
    while let Some(name) = left.pop() {
        left.extend(referring.get(name).into_iter().flatten().filter(|from| found.insert(from)));
    }
    found
}

/// Finds the schemas that refer to themselves, by Tarjan's algorithm for strongly connected components.
struct Groups<'r, 'd> {
    references: &'r BTreeMap<&'d str, Vec<&'d str>>,
    /// The number of each visited name, and the lowest number that it leads back to.
    numbers: HashMap<&'d str, (usize, usize)>,
    stack: Vec<&'d str>,
    found: Vec<Vec<&'d str>>,
}

impl<'r, 'd> Groups<'r, 'd> {
    fn of(references: &'r BTreeMap<&'d str, Vec<&'d str>>) -> Vec<Vec<&'d str>> {
        let mut groups = Self { references, numbers: HashMap::new(), stack: Vec::new(), found: Vec::new() };
        for name in references.keys() {
            if !groups.numbers.contains_key(name) {
                groups.visit(name);
            }
        }
        groups.found
    }

    /// Visits a name and those that it leads to. Names that wait are on a stack of their own, since chains of
    /// references may be long.
    fn visit(&mut self, start: &'d str) {
        let mut visits = vec![(start, 0)];
        while let Some((name, next)) = visits.pop() {
            if next == 0 {
                let number = self.numbers.len();
                self.numbers.insert(name, (number, number));
                self.stack.push(name);
            }
            let to = self.references.get(name).map_or(&[][..], Vec::as_slice);
            if let Some(target) = to.get(next) {
                visits.push((name, next + 1));
                if self.references.contains_key(target) && !self.numbers.contains_key(target) {
                    visits.push((target, 0));
                }
                continue;
            }
            let waiting = to.iter().filter(|target| self.stack.contains(target));
            let lowest = waiting.filter_map(|target| self.numbers.get(target)).map(|(_, low)| *low).min();
            let (number, low) = self.numbers[name];
            let low = lowest.map_or(low, |other| other.min(low));
            self.numbers.insert(name, (number, low));
            if low == number {
                let at = self.stack.iter().rposition(|waiting| *waiting == name).expect("it was put there above");
                let mut members = self.stack.split_off(at);
                if members.len() > 1 || to.contains(&name) {
                    members.sort_unstable();
                    self.found.push(members);
                }
            }
        }
    }
}
