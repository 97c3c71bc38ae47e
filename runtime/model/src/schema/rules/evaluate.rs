//! The rules of one value: evaluation with kube-apiserver's errors and budgets.
use kindsmith_cel::{Error, Failure, Program, Value, Variables, value::Shape};

use super::{
    compile::CompiledRule,
    place::Place,
    rule::Rule,
    set::Node,
    walk::{Evaluation, GoesOn, Visit},
};
use crate::{
    meta::{FieldError, FieldErrorKind, FieldPath, field::shown, go},
    schema::{Document, Meter, model::Type},
};

/// The most that one evaluation of an expression may cost.
const MOST_OF_A_CALL: u64 = 1_000_000;

/// The error after the last rule within the budget.
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The steps that it takes to make an error, whose texts count beside.
const STEPS_OF_AN_ERROR: usize = 50;

/// The longest detail that an expression may make, in bytes.
const LONGEST_MESSAGE: usize = 5 << 10;

/// The work of an evaluation is counted with that of the request. Kubernetes' costs are counted apart.
impl kindsmith_cel::Meter for Meter {
    fn step(&self, steps: usize) -> bool {
        Self::step(self, steps)
    }
}

impl Evaluation<'_> {
    /// The rules of one value.
    pub(super) fn rules_of<'d>(&mut self, node: &'d Node, visit: Visit<'_, 'd>) -> GoesOn {
        let (at, old) = (visit.place.at(), visit.old.filter(|old| !old.is_null()));
        let Some(compiled) = node.compiled(at, visit.place.is_object(), self.meter) else {
            self.report(
                visit,
                "rule compiler initialization error: failed to convert to declType for CEL validation rules",
            );
            return true;
        };
        if compiled.is_empty() {
            return true;
        }
        if self.outcome.budget <= 0 {
            self.outcome.end();
            self.report(visit, OUT_OF_BUDGET);
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
            self.report(visit, OUT_OF_BUDGET);
            return Verdict::Ended;
        }
        let error = match result.value {
            Ok(Value::Bool(true)) => return Verdict::Holds,
            Ok(_) => return Verdict::Fails,
            Err(error) => error,
        };
        let subject = if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() };
        match error {
            error if error.failure == Failure::Cost => {
                let why = "no further validation rules will be run due to call cost exceeds limit for rule";
                self.report(visit, &format!("'{error}': {why}: {subject}"));
                Verdict::Ended
            }
            error if error.message.starts_with("no such overload") => {
                let why = "call arguments did not match a supported operator, function or macro signature for rule";
                self.report(visit, &format!("'{error}': {why}: {subject}"));
                Verdict::Reported
            }
            error => {
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
        self.add(FieldError::new(&path, kind, detail), is_warning);
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
        self.add(FieldError::new(&path, FieldErrorKind::Invalid(type_name(visit).into()), detail), false);
    }

    fn add(&mut self, error: FieldError, is_warning: bool) {
        self.meter.step(STEPS_OF_AN_ERROR + error.size() / 8);
        self.outcome.add(error, is_warning);
    }

    fn path_of(&self, visit: Visit<'_, '_>) -> FieldPath {
        let below = visit.location.keyed_text();
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
