//! The rules of a schema: the nodes that have rules, and the nodes above them.
use std::{collections::HashMap, ptr, sync::Arc};

use super::{
    compile::{CompiledRule, programs},
    place::entry,
    rule::Rule,
    types::{Declared, is_name},
};
use crate::schema::{At, Meter, Schema};

/// The steps that it takes to compile a rule, approximately.
const STEPS_OF_A_RULE: usize = 10_000;

/// The same for a byte of its text.
const STEPS_OF_A_BYTE: usize = 100;

/// Deeper schemas have no types in expressions.
const MOST_DEPTH: usize = 200;

/// The rules of a schema.
#[derive(Debug)]
pub struct RuleSet {
    schema: Arc<Schema>,
    is_object: bool,
    /// The node of the schema itself is the first.
    nodes: Vec<Node>,
    below: Vec<Below>,
    /// The rules about the type and the names of objects, which the schema does not have.
    names: Option<Box<Self>>,
}

/// A node with rules at or below it.
#[derive(Debug, Default)]
pub(super) struct Node {
    has_rules: bool,
    /// The index of what is below it, which back references share.
    below: usize,
}

/// The nodes below a node that have rules at or below them.
#[derive(Debug, Default)]
pub(super) struct Below {
    pub(super) fields: Vec<(String, usize)>,
    pub(super) entries: Option<usize>,
    pub(super) items: Option<usize>,
}

impl RuleSet {
    /// The rules of a schema; none if it has no rules. `is_object` says that the schema is that of whole objects, whose type and names
    /// rules see.
    pub fn of(schema: &Arc<Schema>, is_object: bool) -> Option<Self> {
        if !schema.has_rules() {
            return None;
        }
        let mut nodes = Nodes::default();
        let at = At::of(schema);
        nodes.add(at, 0, Declared::new(at, is_object).is_seen())?;
        Some(Self { schema: schema.clone(), is_object, nodes: nodes.all, below: nodes.below, names: None })
    }

    /// The rules of a kind, by its schema and by that of the type and the names of its objects; none if both have none.
    pub fn of_kind(schema: &Arc<Schema>, names: Option<&Arc<Schema>>) -> Option<Self> {
        let names = names.and_then(|names| Self::of(names, true));
        match Self::of(schema, true) {
            Some(rules) => Some(Self { names: names.map(Box::new), ..rules }),
            None => names,
        }
    }

    /// The rules about the type and the names of objects, if there are others as well.
    pub(super) fn names(&self) -> Option<&Self> {
        self.names.as_deref()
    }

    /// The schema.
    pub(super) fn root(&self) -> (At<'_>, bool) {
        (At::of(&self.schema), self.is_object)
    }

    /// A node; the first is that of the schema itself.
    pub(super) fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// The nodes below a node.
    pub(super) fn below(&self, node: &Node) -> &Below {
        &self.below[node.below]
    }
}

impl Node {
    /// The compiled rules. Compiling them takes steps. `None` if the values have no type.
    pub(super) fn compiled<'s>(&self, at: At<'s>, is_object: bool, meter: &Meter) -> Option<&'s [CompiledRule]> {
        let node = at.node();
        if !self.has_rules || !node.programs.are_ready() && !meter.step(steps_of(&node.rules)) {
            return Some(&[]);
        }
        programs(at, is_object)
    }
}

/// The steps that it takes to compile rules.
fn steps_of(rules: &[Rule]) -> usize {
    rules.iter().map(|rule| STEPS_OF_A_RULE + STEPS_OF_A_BYTE * (rule.rule.len() + rule.message_expression.len())).sum()
}

impl Below {
    fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.entries.is_none() && self.items.is_none()
    }
}

/// Nodes that are being collected.
#[derive(Default)]
struct Nodes {
    all: Vec<Node>,
    below: Vec<Below>,
    /// What is below the definitions that back references lead to, by their addresses.
    definitions: HashMap<usize, usize>,
}

impl Nodes {
    /// Adds a node with what is below it. `None` if there are no rules, or if expressions see nothing of it, though they see the node
    /// around it.
    fn add(&mut self, at: At<'_>, depth: usize, is_seen: bool) -> Option<usize> {
        if depth > MOST_DEPTH {
            return None;
        }
        let (index, has_rules) = (self.all.len(), !at.rules.is_empty());
        self.all.push(Node { has_rules, ..Node::default() });
        let below = if let Some(definition) = at.leads_to() {
            self.definition(at, definition, depth, is_seen)
        } else {
            let below = self.below(at, depth, is_seen);
            self.push(below)
        };
        self.all[index].below = below;
        // A definition that is being added leads to itself.
        let leads_on = at.definition.is_some() || !self.below[below].is_empty();
        if has_rules || leads_on {
            return Some(index);
        }
        self.all.truncate(index);
        None
    }

    /// The fields that expressions see, and the content of lists and maps, of which they see as much as of these.
    fn below(&mut self, at: At<'_>, depth: usize, is_seen: bool) -> Below {
        let shows = |name: &str, of: At<'_>| {
            is_seen && (!at.names_only || is_name(name)) && Declared::new(of, of.is_object()).is_seen()
        };
        let fields = at.properties().filter(|(name, of)| shows(name, *of));
        let fields = fields.filter_map(|(name, of)| Some((name.clone(), self.add(of, depth + 1, true)?))).collect();
        let entries = entry(at).and_then(|of| self.add(of, depth + 1, is_seen));
        let items = at.items().and_then(|of| self.add(of, depth + 1, is_seen));
        Below { fields, entries, items }
    }

    fn definition(&mut self, at: At<'_>, definition: At<'_>, depth: usize, is_seen: bool) -> usize {
        let address = ptr::from_ref(definition.node()).addr();
        if let Some(known) = self.definitions.get(&address) {
            return *known;
        }
        let index = self.push(Below::default());
        self.definitions.insert(address, index);
        self.below[index] = self.below(at, depth, is_seen);
        index
    }

    fn push(&mut self, below: Below) -> usize {
        self.below.push(below);
        self.below.len() - 1
    }
}
