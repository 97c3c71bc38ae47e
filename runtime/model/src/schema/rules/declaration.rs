//! The errors in the rules of a kind that Rust declares, for its author: with the bounds that are missing. Definitions are
//! judged by `kindsmith-formats`, in kube-apiserver's words.
use std::{cell::RefCell, collections::BTreeSet, fmt, ptr};

use kindsmith_cel::{Range, Sizes, Type as CelType};

use super::{
    compile::{CompiledRule, MOST_COST, MOST_TOTAL, environments, most_values, programs},
    field_path::normalized,
    rule::Rule,
    types::Declared,
};
use crate::schema::{
    At, Schema,
    location::Location,
    model::{ListType, Type},
};

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// The path of its node; empty for the object itself.
    pub path: String,
    /// The expression; empty for all rules together.
    pub rule: String,
    /// It may cost too much.
    pub is_costly: bool,
    /// What is wrong, as part of a sentence.
    pub problem: String,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rule.is_empty() && self.path.is_empty() {
            return f.write_str(&self.problem);
        }
        let path = if self.path.is_empty() { "the object" } else { &self.path };
        match &*self.rule {
            "" => write!(f, "{path}: {}", self.problem),
            rule => write!(f, "{path}: the rule {rule:?}: {}", self.problem),
        }
    }
}

/// The problems of all rules of a schema.
pub fn rule_problems(root: &Schema) -> Vec<RuleProblem> {
    if !root.has_rules() {
        return Vec::new();
    }
    let mut review = Review::default();
    let around = Around { values: Some(1), unbounded: &[], list: None };
    review.node(At::of(root), true, &Location::Root, around);
    if review.total > MOST_TOTAL {
        let factor = review.total.div_ceil(MOST_TOTAL);
        let problem = format!(
            "all rules together may cost {factor} times what the rules of a kind may cost: give lists, maps and text bounds"
        );
        let (path, rule) = (String::new(), String::new());
        review.problems.push(RuleProblem { path, rule, is_costly: true, problem });
    }
    review.problems
}

/// What is around a node.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// How many values of it an object has at most, if all lists and maps around it have bounds.
    values: Option<u64>,
    /// The lists and maps around it without bounds.
    unbounded: &'a [String],
    /// The list around it whose items have no identity.
    list: Option<&'a str>,
}

#[derive(Default)]
struct Review {
    problems: Vec<RuleProblem>,
    total: u64,
    /// The definitions that were reviewed: recursive types have no end.
    definitions: BTreeSet<usize>,
}

impl Review {
    fn node(&mut self, at: At<'_>, is_object: bool, location: &Location<'_>, around: Around<'_>) {
        if !at.rules.is_empty() {
            self.rules(at, is_object, location, around);
        }
        if at.leads_to().is_some_and(|to| !self.definitions.insert(ptr::from_ref(to.node()).addr())) {
            return;
        }
        for (name, property) in at.properties() {
            self.node(property, property.is_object(), &location.field(name), around);
        }
        if at.entry().is_none() && at.items().is_none() {
            return;
        }
        let (most, name) = match at.kind {
            Type::Array => (at.max_items, "max_items"),
            _ => (at.max_properties, "max_properties"),
        };
        let mut unbounded = around.unbounded.to_vec();
        unbounded.extend(most.is_none().then(|| format!("`{name}` on {}", shown(location))));
        let path = shown(location);
        let values = around.values.zip(most).map(|(values, most)| values.saturating_mul(most));
        let inside = Around { values, unbounded: &unbounded, ..around };
        if let Some(values) = at.entry() {
            self.node(values, values.is_object(), &location.field("*"), inside);
        }
        if let Some(items) = at.items() {
            let is_keyed = matches!(at.list, ListType::Map(_));
            let list = around.list.or((!is_keyed).then_some(&*path));
            self.node(items, items.is_object(), &location.field("[]"), Around { list, ..inside });
        }
    }

    fn rules(&mut self, at: At<'_>, is_object: bool, location: &Location<'_>, around: Around<'_>) {
        let Some(compiled) = programs(at, is_object) else {
            return self.add(location, "", false, "a rule cannot see values without a type".to_owned());
        };
        let runs = around.values.or_else(|| most_values(at, is_object)).unwrap_or(u64::MAX);
        for (rule, compiled) in at.rules.iter().zip(compiled) {
            let found = Self::rule(at, is_object, rule, compiled, around);
            let cost = compiled.cost.saturating_mul(runs);
            self.total = self.total.saturating_add(cost).saturating_add(compiled.message_cost);
            let costly = (cost > MOST_COST).then(|| too_costly(at, is_object, &rule.rule, cost, location, around));
            let costly_message = (compiled.message_cost > MOST_COST)
                .then(|| too_costly(at, is_object, &rule.message_expression, compiled.message_cost, location, around));
            for (problem, is_costly) in [(found, false), (costly, true), (costly_message, true)] {
                if let Some(problem) = problem {
                    self.add(location, &rule.rule, is_costly, problem);
                }
            }
        }
    }

    fn rule(at: At<'_>, is_object: bool, rule: &Rule, compiled: &CompiledRule, around: Around<'_>) -> Option<String> {
        match (&compiled.program, &compiled.message) {
            (None, _) => return Some("it has no expression".to_owned()),
            (Some(Err(error)), _) | (_, Some(Err(error))) => return Some(error.clone()),
            _ => {}
        }
        if let (true, Some(list)) = (compiled.uses_old_self, around.list) {
            return Some(format!(
                "it refers to oldSelf, but items of {list} have no identity: declare `list = map(key = …)`"
            ));
        }
        if !compiled.uses_old_self && rule.optional_old_self.is_some() {
            return Some("it has `optional_old_self`, but does not refer to oldSelf".to_owned());
        }
        let is_found = rule.field_path.is_empty() || normalized(at, is_object, &rule.field_path).is_some();
        (!is_found).then(|| format!("the schema has no field {:?} at its place", rule.field_path))
    }

    fn add(&mut self, location: &Location<'_>, rule: &str, is_costly: bool, problem: String) {
        let path = if location.is_root() { String::new() } else { location.path().as_str().to_owned() };
        self.problems.push(RuleProblem { path, rule: rule.to_owned(), is_costly, problem });
    }
}

fn shown(location: &Location<'_>) -> String {
    if location.is_root() { "the object".to_owned() } else { location.path().as_str().to_owned() }
}

/// Says how much too costly an expression is, and which bounds are missing.
fn too_costly(
    at: At<'_>,
    is_object: bool,
    text: &str,
    cost: u64,
    location: &Location<'_>,
    around: Around<'_>,
) -> String {
    let declared = Declared::new(at, is_object);
    let sizes = Unbounded { declared, location, found: RefCell::default() };
    let mut environments = environments(declared).into_iter().flatten();
    if let Some(checked) = environments.find_map(|env| env.compile(text).ok()) {
        checked.estimate(&sizes);
    }
    let missing: Vec<_> = around.unbounded.iter().cloned().chain(sizes.found.into_inner()).collect();
    let factor = cost.div_ceil(MOST_COST);
    let hint = match missing.as_slice() {
        [] => "use smaller bounds or a simpler expression".to_owned(),
        missing => format!("add {}", missing.join(", ")),
    };
    format!("it may cost {factor} times what a rule may cost; {hint}")
}

/// Notes of which values without bounds an estimate asks.
struct Unbounded<'s> {
    declared: Declared<'s>,
    location: &'s Location<'s>,
    found: RefCell<BTreeSet<String>>,
}

impl Sizes for Unbounded<'_> {
    fn size(&self, path: &[&str], kind: &CelType) -> Option<Range> {
        if let Some(bound) = self.declared.missing_bound(path) {
            let steps = path.iter().skip(1).map(|step| match *step {
                "@items" => ".[]".to_owned(),
                "@values" => ".*".to_owned(),
                name => format!(".{name}"),
            });
            let path = format!("{}{}", self.location.text(), steps.collect::<String>());
            let place = if path.is_empty() { "the object" } else { path.trim_start_matches('.') };
            self.found.borrow_mut().insert(format!("`{bound}` on {place}"));
        }
        self.declared.size(path, kind)
    }
}
