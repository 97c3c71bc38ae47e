//! The rules of the corpus: each compiles and costs no more than it may, or its definition could not be read; and each allows some
//! values that its schema accepts, and refuses others.
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use kindsmith::{
    kind::{Custom, Kind, crd},
    schema::{Meter, Rule, Schema, Type, default, validate},
    testing,
};
use kindsmith_model::schema::{
    At,
    rules::{MOST_COST, RuleSet, programs},
};
use kindsmith_tests::Random;
use serde_json::{Value, json};

use super::shared;

mod expression;
mod make;

use expression::Vocabulary;
use make::Maker;

/// How many values a rule is tried with.
const TRIES: usize = 6_000;

/// How many values a rule is tried with at least, to see errors.
const ENOUGH: usize = 200;

/// How many values are kept to be changed further.
const KEPT: usize = 100;

/// How many of these are the newest, which are changed most often.
const NEWEST: usize = 16;

/// How many values are made at random.
const RANDOM_VALUES: usize = 12;

/// How many of these are changed further.
const SMALLEST: usize = 3;

/// A rule of a schema's node, and nothing else of the definition.
struct Case {
    rule: String,
    /// The kind whose schema has the node, without rules.
    kind: Kind,
    /// The node is the schema itself.
    is_root: bool,
    rules: RuleSet,
    /// What the rule may cost, as estimated.
    estimate: u64,
}

/// A change that a rule judges; without an old value for rules that do not need one.
type Change = (Option<Value>, Value);

/// What a rule says of the values that were made.
#[derive(Default)]
struct Verdicts {
    allowed: Option<Change>,
    refused: Option<Change>,
    errors: BTreeMap<String, Change>,
}

fn without_rules(schema: &Schema) -> Schema {
    let nested = |schema: &Arc<Schema>| Arc::new(without_rules(schema));
    schema.clone().with(|bare| {
        bare.rules.clear();
        bare.properties = schema.properties.iter().map(|(name, of)| (name.clone(), without_rules(of))).collect();
        bare.items = schema.items.as_ref().map(nested);
        bare.additional = schema.additional.as_ref().map(nested);
    })
}

/// The nodes of a schema that have rules.
fn ruled<'s>(schema: &'s Schema, nodes: &mut Vec<&'s Schema>) {
    if !schema.rules.is_empty() {
        nodes.push(schema);
    }
    let inside = [&schema.items, &schema.additional].into_iter().flatten().map(|of| &**of);
    schema.properties.iter().map(|(_, of)| of).chain(inside).for_each(|of| ruled(of, nodes));
}

/// The rules of a definition, each with its node's schema.
fn cases(definition: &kindsmith::kind::Definition) -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in definition.kinds(&Custom) {
        let root = &*kind.version.schema;
        let mut nodes = Vec::new();
        ruled(root, &mut nodes);
        for node in nodes {
            let is_root = std::ptr::eq(node, root);
            for rule in &node.rules {
                let bare = without_rules(node);
                let only = |rules: Vec<Rule>| {
                    let node = bare.clone().with(|node| node.rules = rules);
                    let around = || {
                        Schema::of(Type::Object).with(|of| of.properties = [("value".to_owned(), node.clone())].into())
                    };
                    Arc::new(if is_root { node.clone() } else { around() })
                };
                let text = rule.rule.trim().to_owned();
                let alone = Rule { rule: text.clone(), ..Rule::default() };
                let judged = bare.clone().with(|node| node.rules = vec![alone.clone()]);
                let estimate = programs(At::of(&judged), is_root).expect("a type")[0].cost;
                let rules = RuleSet::of(&only(vec![alone]), true).expect("a rule");
                let mut version = (*kind.version).clone();
                version.schema = only(Vec::new());
                let mut alone = definition.clone();
                (alone.storage_version, alone.versions) = (version.name.clone(), vec![Arc::new(version)]);
                let kind = alone.kinds(&Custom).remove(0);
                cases.push(Case { rule: text, kind, is_root, rules, estimate });
            }
        }
    }
    cases
}

/// The parts of a value with their places.
fn parts(value: &Value, schema: &Schema, place: &str, pool: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (schema.properties.get(name), &schema.additional) {
                    (Some(of), _) => parts(value, of, &format!("{place}.{name}"), pool),
                    (None, Some(of)) => parts(value, of, &format!("{place}.*"), pool),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            for (item, of) in items.iter().filter_map(|item| Some((item, schema.items.as_deref()?))) {
                parts(item, of, &format!("{place}[]"), pool);
            }
        }
        value => pool.push((place.to_owned(), value.clone())),
    }
}

impl Case {
    /// The schema whose values are made.
    fn schema(&self) -> &Schema {
        let schema = &*self.kind.version.schema;
        if self.is_root { schema } else { schema.properties.get("value").expect("it is around the node") }
    }

    /// A whole object with a name, if the schema accepts a value.
    fn object(&self, value: &Value, name: &str) -> Option<Value> {
        let schema = &self.kind.version.schema;
        let mut object = if self.is_root { value.clone() } else { json!({"value": value}) };
        default(schema, &mut object, &Meter::default()).expect("within the limits");
        let errors = validate(schema, &object, &Meter::default()).expect("within the limits");
        object["apiVersion"] = self.kind.group_version.to_string().into();
        object["kind"] = self.kind.names().kind.as_str().into();
        object["metadata"] = json!({"name": name});
        errors.is_empty().then_some(object)
    }

    /// What the rule says of a change. Returns the cost.
    fn judge(&self, old: Option<&Value>, new: &Value, verdicts: &mut Verdicts) -> u64 {
        let outcome = self.rules.evaluate(new, old, &Meter::default()).expect("within the limits");
        let change = || (old.cloned(), new.clone());
        match outcome.errors.first().map(ToString::to_string) {
            None => {
                verdicts.allowed.get_or_insert_with(change);
            }
            Some(told) if told.ends_with(&format!("failed rule: {}", self.rule)) => {
                verdicts.refused.get_or_insert_with(change);
            }
            Some(told) => {
                let told = told.split(" evaluating rule: ").next().unwrap_or_default().to_owned();
                verdicts.errors.entry(told).or_insert_with(change);
            }
        }
        RuleSet::BUDGET.abs_diff(outcome.budget)
    }

    /// Values of documents that were made at random.
    fn random_values(&self) -> Vec<Value> {
        if !testing::has_documents(&self.kind) {
            return Vec::new();
        }
        let value_of = |mut object: Value| if self.is_root { object } else { object["value"].take() };
        let made = testing::documents(&self.kind, 1).take(RANDOM_VALUES).map(value_of);
        made.filter(|value| !value.is_null()).collect()
    }

    /// Looks for a value that the rule allows, and for one that it refuses. Values that cost what no other value cost are changed
    /// further, since the rule has looked deeper into them.
    fn search(&self) -> Verdicts {
        let (vocabulary, mut pool) = (Vocabulary::of(&self.rule), Vec::new());
        let mut values = self.random_values();
        for value in &values {
            parts(value, self.schema(), "", &mut pool);
        }
        values.sort_by_key(|value| value.to_string().len());
        values.truncate(SMALLEST);
        let mut maker = Maker { vocabulary: &vocabulary, random: Random::from_seed(1), pool: &pool };
        let (is_change, mut verdicts, mut costs) =
            (vocabulary.fields.contains("oldSelf"), Verdicts::default(), BTreeSet::new());
        for round in 0..if is_change { 4 * TRIES } else { TRIES } {
            let before = match values.len() {
                count if round < count => values[round].clone(),
                count if count > 0 && !maker.random.one_in(6) => {
                    let newest = if maker.random.one_in(2) { count.saturating_sub(NEWEST) } else { 0 };
                    values[newest + maker.random.below(count - newest)].clone()
                }
                _ => maker.value(self.schema(), "", 0),
            };
            let mut value = before.clone();
            (0..maker.random.below(4)).for_each(|_| maker.change(&mut value, self.schema(), ""));
            let name = vocabulary.text(&mut maker.random);
            let Some(object) = self.object(&value, name) else { continue };
            let old = if is_change { self.object(&before, name) } else { None };
            let mut cost = self.judge(old.as_ref(), &object, &mut verdicts);
            if is_change {
                cost = self.judge(Some(&object), &object, &mut verdicts);
            }
            if costs.insert(cost) {
                values.push(value);
            }
            if values.len() > KEPT {
                values.remove(maker.random.below(KEPT - NEWEST));
            }
            if verdicts.allowed.is_some() && verdicts.refused.is_some() && round > ENOUGH {
                break;
            }
        }
        verdicts
    }
}

/// The definitions of a folder.
fn definitions(folder: &Path) -> Vec<kindsmith::kind::Definition> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read(&path).expect("a file that can be read");
        let manifest = crd::read(&path.display().to_string(), &text).unwrap_or_else(|report| panic!("{report}"));
        manifest.definitions.into_iter().map(|defined| defined.definition)
    };
    paths.into_iter().flat_map(read).collect()
}

/// What evaluation of the corpus's rules says of values that they do not expect, and kube-apiserver as well.
const ERRORS: [&str; 6] = [
    "no such key: ",
    "index out of bounds: ",
    "index out of range: ",
    "type conversion error from 'string' to ",
    "URL parse error ",
    "network address parse error ",
];

/// Checks the rules of a folder, of which there are so many, and some that are always true.
fn check(folder: &str, expected: usize, always: &[&str]) {
    let Some(folder) = shared(folder) else { return };
    let definitions = definitions(&folder);
    let (mut count, mut seen, mut one_sided) = (0, BTreeSet::new(), BTreeSet::new());
    for case in definitions.iter().flat_map(cases) {
        count += 1;
        if !seen.insert(format!("{} {:?}", case.rule, case.schema())) {
            continue;
        }
        let Verdicts { allowed, refused, errors } = case.search();
        println!("{}", json!([case.rule, allowed, refused, errors]));
        assert!(allowed.is_some(), "{}", case.rule);
        if refused.is_none() {
            one_sided.insert(case.rule.clone());
        }
        let is_expected = |error: &String| ERRORS.iter().any(|expected| error.contains(&format!("\": {expected}")));
        assert!(errors.keys().all(is_expected), "{}: {errors:?}", case.rule);
        assert!((1..=MOST_COST).contains(&case.estimate), "{}: {}", case.rule, case.estimate);
    }
    println!("{}: {count} rules, {} different ones", folder.display(), seen.len());
    assert_eq!((count, one_sided), (expected, always.iter().map(|&rule| rule.to_owned()).collect()));
}

#[test]
fn rules_of_gateways_and_others() {
    // A list has such keys, and an enum such values.
    let always = [
        "self.all(l1, self.exists_one(l2, l1.name == l2.name))",
        "self.type in ['Exact','PathPrefix'] || self.type == 'RegularExpression'",
    ];
    check("corpus/crd", 237, &always);
}

#[test]
fn rules_of_calico() {
    check("corpus/rules/calico", 505, &[]);
}

#[test]
fn rules_of_istio_and_crossplane() {
    check("corpus/rules/istio", 398, &[]);
    check("corpus/rules/crossplane", 56, &[]);
}

#[test]
fn rules_of_kueue() {
    check("corpus/rules/kueue", 75, &[]);
}

#[test]
fn rules_of_karpenter() {
    check("corpus/rules/karpenter-aws", 84, &[]);
}
