//! Evaluation of the rules of an object, with kube-apiserver's order, errors and budgets.
use std::collections::HashMap;

use kindsmith_cel::{Error, Failure, Program, Value, Variables, value::Shape};

use super::{
    compile::CompiledRule,
    outcome::Outcome,
    place::{Place, entry},
    ratchet::{Correlation, Key, Pair, by_keys, keys_of},
    rule::Rule,
    set::{Node, RuleSet},
};
use crate::{
    meta::{FieldError, FieldErrorKind, FieldPath, field::shown, go},
    schema::{Document, Exceeded, Meter, location::Location, model::Type},
};

/// The most that one evaluation of an expression may cost.
const MOST_OF_A_CALL: u64 = 1_000_000;

/// The longest detail that an expression may make, in bytes.
const LONGEST_MESSAGE: usize = 5 << 10;

/// The work of an evaluation is counted with that of the request. Kubernetes' costs are counted apart.
impl kindsmith_cel::Meter for Meter {
    fn step(&self, steps: usize) -> bool {
        Self::step(self, steps)
    }
}

impl RuleSet {
    /// The most that all rules of an object may cost together.
    pub const BUDGET: i64 = 10_000_000;

    /// Evaluates the rules of a document, whose old state is known for an update.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn evaluate(&self, document: &Document, old: Option<&Document>, meter: &Meter) -> Result<Outcome, Exceeded> {
        self.walk(&FieldPath::root(), (document, old, true), Self::BUDGET, meter)
    }

    /// The same for a value that is at a path, within a budget.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn evaluate_at(
        &self,
        path: &FieldPath,
        document: &Document,
        old: Option<&Document>,
        budget: i64,
        meter: &Meter,
    ) -> Result<Outcome, Exceeded> {
        self.walk(path, (document, old, true), budget, meter)
    }

    /// Evaluates the rules of a default that is at a path, within a budget: as if it took its own place, or that of no value. What is wrong
    /// with it is an error in both cases.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn evaluate_default(
        &self,
        path: &FieldPath,
        default: &Document,
        takes_own_place: bool,
        budget: i64,
        meter: &Meter,
    ) -> Result<Outcome, Exceeded> {
        self.walk(path, (default, takes_own_place.then_some(default), false), budget, meter)
    }

    /// Evaluates the rules of a document with its old state, and whether what is wrong with unchanged values is a warning.
    pub(super) fn walk(
        &self,
        path: &FieldPath,
        (document, old, ratchets): (&Document, Option<&Document>, bool),
        budget: i64,
        meter: &Meter,
    ) -> Result<Outcome, Exceeded> {
        let (at, is_object) = self.root();
        let (place, old) = (Place::new(at, is_object), old.filter(|old| !old.is_null()));
        let pair = old.filter(|_| ratchets).map(|old| Pair::new(at, document, old));
        let correlation = Correlation { own: pair.as_ref(), around: None };
        let mut evaluation = Evaluation { rules: self, meter, path, outcome: Outcome::new(budget) };
        let root = Visit { place: &place, value: document, old, correlation, location: &Location::Root };
        evaluation.visit(0, root);
        meter.check().map(|()| evaluation.outcome.finish())
    }
}

/// An evaluation in progress.
struct Evaluation<'e> {
    rules: &'e RuleSet,
    meter: &'e Meter,
    /// The path of the document.
    path: &'e FieldPath,
    outcome: Outcome,
}

/// A value in the walk.
#[derive(Clone, Copy)]
struct Visit<'v, 'd> {
    place: &'d Place<'d>,
    value: &'d Document,
    /// The old value that is `oldSelf`.
    old: Option<&'d Document>,
    correlation: Correlation<'v, 'd>,
    location: &'v Location<'v>,
}

/// Whether further rules are evaluated.
type GoesOn = bool;

impl<'e> Evaluation<'e> {
    /// The rules of a value, then those of its content.
    fn visit<'d>(&mut self, index: usize, visit: Visit<'_, 'd>) -> GoesOn
    where
        'e: 'd,
    {
        if visit.value.is_null() {
            return true;
        }
        let rules = self.rules;
        let node = rules.node(index);
        if !self.meter.step(1) || !self.rules_of(node, visit) {
            return false;
        }
        let below = rules.below(node);
        match visit.value {
            Document::Object(fields) => {
                let entries = below.entries.is_none_or(|index| self.entries(index, fields, visit));
                entries
                    && below.fields.iter().all(|(name, index)| match fields.get(name) {
                        Some(value) => self.field(*index, name, value, visit),
                        None => true,
                    })
            }
            Document::Array(items) => below.items.is_none_or(|index| self.items(index, items, visit)),
            _ => true,
        }
    }

    fn field<'d>(&mut self, index: usize, name: &str, value: &'d Document, around: Visit<'_, 'd>) -> GoesOn
    where
        'e: 'd,
    {
        let Some(at) = around.place.at().property(name) else { return true };
        let pair = around.correlation.own.and_then(|pair| pair.field(name));
        let is_type = around.location.is_root() && matches!(name, "apiVersion" | "kind");
        self.visit(
            index,
            Visit {
                place: around.place.child(at),
                value,
                old: around.old.and_then(|old| old.get(name)),
                correlation: if is_type { Correlation::default() } else { around.correlation.below(pair.as_ref()) },
                location: &around.location.field(name),
            },
        )
    }

    fn entries<'d>(
        &mut self,
        index: usize,
        entries: &'d serde_json::Map<String, Document>,
        around: Visit<'_, 'd>,
    ) -> GoesOn
    where
        'e: 'd,
    {
        let Some(at) = entry(around.place.at()) else { return true };
        entries.iter().all(|(key, value)| {
            let pair = around.correlation.own.and_then(|pair| pair.field(key));
            self.visit(
                index,
                Visit {
                    place: around.place.child(at),
                    value,
                    old: around.old.and_then(|old| old.get(key)),
                    correlation: around.correlation.below(pair.as_ref()),
                    location: &around.location.entry(key),
                },
            )
        })
    }

    fn items<'d>(&mut self, index: usize, items: &'d [Document], around: Visit<'_, 'd>) -> GoesOn
    where
        'e: 'd,
    {
        let at = around.place.at();
        let (Some(of_items), keys) = (at.items(), at.keys().unwrap_or_default()) else { return true };
        let old: HashMap<Vec<Key<'d>>, &'d Document> = match around.old {
            Some(old) if !keys.is_empty() && self.meter.step(keys.len() * items.len()) => by_keys(keys, old),
            _ => HashMap::new(),
        };
        items.iter().enumerate().all(|(number, value)| {
            let pair = around.correlation.own.and_then(|pair| pair.item(value));
            let key = if old.is_empty() { None } else { keys_of(keys, value) };
            self.visit(
                index,
                Visit {
                    place: around.place.child(of_items),
                    value,
                    old: key.and_then(|key| old.get(&key).copied()),
                    correlation: around.correlation.below(pair.as_ref()),
                    location: &around.location.item(number),
                },
            )
        })
    }

    /// The rules of one value.
    fn rules_of<'d>(&mut self, node: &'d Node, visit: Visit<'_, 'd>) -> GoesOn {
        let (at, old) = (visit.place.at(), visit.old.filter(|old| !old.is_null()));
        let compiled = node.compiled(at, visit.place.is_object(), self.meter);
        if compiled.is_empty() {
            return true;
        }
        if self.outcome.budget <= 0 {
            self.outcome.end();
            self.report(
                visit,
                "validation failed due to running out of cost budget, no further validation rules will be run",
            );
            return false;
        }
        let uses_old = compiled.iter().any(|rule| rule.uses_old_self);
        let rules = at.node().rules.iter().zip(compiled);
        for (rule, compiled) in rules {
            let program = match &compiled.program {
                None => continue,
                Some(Err(why)) => {
                    self.report(visit, &format!("rule compile error: {why}"));
                    continue;
                }
                Some(Ok(program)) => program,
            };
            let is_optional = rule.optional_old_self == Some(true);
            if compiled.uses_old_self && old.is_none() && !is_optional {
                continue;
            }
            let plain = Activation { place: visit.place, value: visit.value, old, is_optional: false, uses_old };
            let goes_on = match self.run(program, &Activation { is_optional, ..plain }, rule, visit) {
                Verdict::Holds | Verdict::Reported => true,
                Verdict::Ended => false,
                Verdict::Fails => self.fails(rule, compiled, &plain, visit),
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn run<'d>(
        &mut self,
        program: &'d Program,
        activation: &Activation<'d>,
        rule: &Rule,
        visit: Visit<'_, 'd>,
    ) -> Verdict {
        let result = program.evaluate(activation, Some(MOST_OF_A_CALL), self.meter);
        if !self.meter.goes_on() {
            return Verdict::Ended;
        }
        if !self.outcome.pay(result.cost) {
            self.report(
                visit,
                "validation failed due to running out of cost budget, no further validation rules will be run",
            );
            return Verdict::Ended;
        }
        let subject = if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() };
        match result.value {
            Ok(Value::Bool(true)) => Verdict::Holds,
            Ok(_) => Verdict::Fails,
            Err(error) if error.failure == Failure::Cost => {
                let why = "no further validation rules will be run due to call cost exceeds limit for rule";
                self.report(visit, &format!("'{error}': {why}: {subject}"));
                Verdict::Ended
            }
            Err(error) if error.message.starts_with("no such overload") => {
                let why = "call arguments did not match a supported operator, function or macro signature for rule";
                self.report(visit, &format!("'{error}': {why}: {subject}"));
                Verdict::Reported
            }
            Err(error) => {
                self.report(visit, &format!("{error} evaluating rule: {subject}"));
                Verdict::Reported
            }
        }
    }

    /// A rule is violated: an error, or a warning if the value is unchanged.
    fn fails<'d>(
        &mut self,
        rule: &Rule,
        compiled: &'d CompiledRule,
        activation: &Activation<'d>,
        visit: Visit<'_, 'd>,
    ) -> GoesOn {
        let is_warning = !compiled.uses_old_self && visit.correlation.is_unchanged(self.meter);
        let message = match &compiled.message {
            Some(Ok(program)) => self.message(program, activation, rule),
            _ => Ok(None),
        };
        let (kind, detail) = match &message {
            Err(why) => (FieldErrorKind::Invalid(type_name(visit).into()), why.clone()),
            Ok(message) => {
                let detail = message.clone().unwrap_or_else(|| match rule.message.as_str() {
                    "" => format!("failed rule: {}", rule.rule.trim()),
                    message => message.trim().to_owned(),
                });
                reported_as(rule, visit, detail)
            }
        };
        let mut path = self.path_of(visit);
        if !compiled.field_path.is_empty() {
            path = path.child(&compiled.field_path);
        }
        self.outcome.add(FieldError::new(&path, kind, detail), is_warning);
        message.is_ok()
    }

    /// The detail that an expression makes; `None` if it fails or makes none.
    ///
    /// # Errors
    /// A budget is used up: an error in place of that of the rule.
    fn message<'d>(
        &mut self,
        program: &'d Program,
        activation: &Activation<'d>,
        rule: &Rule,
    ) -> Result<Option<String>, String> {
        let result = program.evaluate(activation, Some(MOST_OF_A_CALL), self.meter);
        if !self.outcome.pay(result.cost) {
            let why = "messageExpression evaluation failed due to running out of cost budget";
            return Err(format!("{why}, no further validation rules will be run"));
        }
        match result.value {
            Err(error) if error.failure == Failure::Cost => {
                self.outcome.end();
                let why =
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression";
                Err(format!("{why}: {}", go::quoted(&rule.message_expression)))
            }
            Ok(Value::String(text)) => {
                let text = text.trim();
                let is_detail = !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
                Ok(is_detail.then(|| text.to_owned()))
            }
            _ => Ok(None),
        }
    }

    /// Adds an error about a rule itself. Such errors are never warnings.
    fn report(&mut self, visit: Visit<'_, '_>, detail: &str) {
        let path = self.path_of(visit);
        self.outcome.add(FieldError::new(&path, FieldErrorKind::Invalid(type_name(visit).into()), detail), false);
    }

    fn path_of(&self, visit: Visit<'_, '_>) -> FieldPath {
        let below = visit.location.text();
        if below.is_empty() {
            self.path.clone()
        } else if below.starts_with('[') {
            FieldPath::new(format!("{}{below}", self.path.as_str()))
        } else {
            self.path.child(&below)
        }
    }
}

/// What came of a rule.
enum Verdict {
    Holds,
    Fails,
    /// It could not be evaluated, which is reported.
    Reported,
    /// No further rules are evaluated.
    Ended,
}

/// The variables of a rule.
#[derive(Clone, Copy)]
struct Activation<'d> {
    place: &'d Place<'d>,
    value: &'d Document,
    old: Option<&'d Document>,
    /// `oldSelf` is an optional value.
    is_optional: bool,
    /// A rule of the node refers to `oldSelf`. It is unknown to others.
    uses_old: bool,
}

impl<'d> Variables<'d> for Activation<'d> {
    fn variable(&self, name: &str) -> Option<Result<Value<'d>, Error>> {
        let old = || self.old.map(|old| self.place.read(old));
        match name {
            "self" => Some(self.place.read(self.value)),
            "oldSelf" if !self.uses_old => None,
            "oldSelf" if self.is_optional => Some(old().transpose().map(|old| Value::Optional(old.map(Into::into)))),
            "oldSelf" => old(),
            _ => None,
        }
    }
}

/// The name of the type that errors about rules themselves print as the value.
fn type_name(visit: Visit<'_, '_>) -> &'static str {
    visit.place.at().kind.name().unwrap_or_default()
}

/// The error of a violated rule, by the reason that it states.
fn reported_as(rule: &Rule, visit: Visit<'_, '_>, detail: String) -> (FieldErrorKind, String) {
    let is_content = matches!(visit.place.at().kind, Type::Object | Type::Array);
    match rule.reason.as_deref() {
        Some("FieldValueForbidden") => (FieldErrorKind::Forbidden, detail),
        Some("FieldValueRequired") => (FieldErrorKind::Required, detail),
        Some("FieldValueDuplicate") if is_content => (FieldErrorKind::DuplicateContent, String::new()),
        Some("FieldValueDuplicate") => (FieldErrorKind::Duplicate(shown(visit.value)), String::new()),
        _ if is_content => (FieldErrorKind::InvalidContent, detail),
        _ => (FieldErrorKind::Invalid(shown(visit.value)), detail),
    }
}
