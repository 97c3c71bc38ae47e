//! Rules about rules: expressions in CEL.
use kindsmith::schema::{Rule as CelRule, Schema};
use kindsmith_model::schema::{
    At,
    rules::{escaped, rule_problems},
};

use crate::{
    lint::{
        Check, Rule, Subject,
        field::{Field, Step},
    },
    logic::{Expression, Outcomes, Place, finding},
};

const SECTION: &str = "Validation";

pub(super) const RULES: &[Rule] = &[
    Check::Version(|subject| problems(subject, false))
        .error("expression-invalid", SECTION)
        .reason("A definition with a rule that does not compile is refused, and a document with one promises what nothing enforces.")
        .bad("spec: {properties: {least: {type: integer, format: int32, x-kubernetes-validations: [{rule: self.most > 1, message: must be above 1}]}}}")
        .good("spec: {properties: {least: {type: integer, format: int32, x-kubernetes-validations: [{rule: self > 1, message: must be above 1}]}}}"),
    Check::Version(|subject| problems(subject, true))
        .error("expression-too-costly", SECTION)
        .reason("A definition is refused if a rule costs too much in the worst case that the bounds of the schema allow.")
        .bad("spec: {properties: {names: {type: array, x-kubernetes-list-type: atomic, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(a, self.exists_one(b, a == b))', message: names must be unique}]}}}")
        .good("spec: {properties: {names: {type: array, maxItems: 32, x-kubernetes-list-type: atomic, items: {type: string, maxLength: 63}, x-kubernetes-validations: [{rule: 'self.all(a, self.exists_one(b, a == b))', message: names must be unique}]}}}"),
    Check::Field(never_holds)
        .error("expression-never-true", SECTION)
        .reason("No value meets such a rule, so that every object with one is refused.")
        .bad("spec: {properties: {copies: {type: integer, format: int32, maximum: 10, x-kubernetes-validations: [{rule: self > 10, message: must be above 10}]}}}")
        .good("spec: {properties: {copies: {type: integer, format: int32, maximum: 20, x-kubernetes-validations: [{rule: self > 10, message: must be above 10}]}}}"),
    Check::Field(always_holds)
        .warning("expression-always-true", SECTION)
        .reason("Such a rule refuses nothing, so that it is needless or is not what was meant.")
        .bad("spec: {properties: {loan: {required: [days], properties: {days: {type: integer, format: int32}}, x-kubernetes-validations: [{rule: has(self.days), message: days must be set}]}}}")
        .good("spec: {properties: {loan: {properties: {days: {type: integer, format: int32}}, x-kubernetes-validations: [{rule: has(self.days), message: days must be set}]}}}"),
    Check::Field(without_message)
        .warning("expression-without-message", SECTION)
        .reason("Without a message the error shows the expression, which tells few readers what to change.")
        .bad("spec: {properties: {copies: {type: integer, format: int32, x-kubernetes-validations: [{rule: self % 2 == 0}]}}}")
        .good("spec: {properties: {copies: {type: integer, format: int32, x-kubernetes-validations: [{rule: self % 2 == 0, message: must be even}]}}}"),
    Check::Field(without_fallback)
        .warning("message-expression-without-message", SECTION)
        .reason("If the message cannot be made, the error shows the message of the rule, and without one the expression.")
        .bad("spec: {properties: {shelf: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: self.startsWith('A'), messageExpression: \"self + ' is not in hall A'\"}]}}}")
        .good("spec: {properties: {shelf: {type: string, maxLength: 20, x-kubernetes-validations: [{rule: self.startsWith('A'), message: must be in hall A, messageExpression: \"self + ' is not in hall A'\"}]}}}"),
    Check::Field(removable)
        .warning("immutable-but-removable", SECTION)
        .reason("An absent field has no rules, so that a rule of an optional field forbids neither that it is removed nor that it is added \
             again with another value.")
        .bad("spec: {properties: {shelf: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: shelf is immutable}]}}}")
        .good("spec: {properties: {shelf: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: shelf is immutable}]}}, x-kubernetes-validations: [{rule: '!has(oldSelf.shelf) || has(self.shelf)', message: shelf cannot be removed}]}"),
];

/// The rules that do not compile or cost too much.
fn problems(subject: &Subject<'_>, are_costly: bool) -> Vec<(String, String)> {
    let all = rule_problems(&subject.version.schema).into_iter().filter(|problem| problem.is_costly == are_costly);
    all.map(|problem| finding(&problem)).collect()
}

/// The rules of a field for which something is true.
fn of_rules(field: &Field<'_>, is_found: impl Fn(&CelRule) -> bool) -> Option<String> {
    let found: Vec<_> =
        field.schema.rules.iter().filter(|rule| is_found(rule)).map(|rule| format!("{:?}", rule.rule)).collect();
    match found.as_slice() {
        [] => None,
        [one] => Some(format!("the rule {one}")),
        all => Some(format!("the rules {}", all.join(", "))),
    }
}

/// The place of a field in the schema of its version.
fn place<'f>(field: &Field<'f>) -> Option<At<'f>> {
    let root: &'f Schema = &field.subject.version.schema;
    let Some(parent) = field.parent else { return Some(At::of(root)) };
    let around = place(parent)?;
    match field.step {
        Step::Root => Some(around),
        Step::Property(name) => around.property(name),
        Step::Items => around.items(),
        Step::Values => around.entry(),
    }
}

/// The rules of a field that come to something for all of its values.
fn of_outcomes(field: &Field<'_>, is_found: fn(Outcomes) -> bool) -> Option<String> {
    if field.schema.rules.is_empty() {
        return None;
    }
    let place = Place::of(place(field)?);
    of_rules(field, |rule| {
        let expression = Expression::parse(&rule.rule);
        expression.is_some_and(|expression| is_found(expression.outcomes(place, &[])))
    })
}

fn never_holds(field: &Field<'_>) -> Option<String> {
    let rules = of_outcomes(field, Outcomes::is_never_true)?;
    Some(format!("{rules} is never true: compare it with the required fields, bounds and enums of the schema"))
}

fn always_holds(field: &Field<'_>) -> Option<String> {
    let rules = of_outcomes(field, Outcomes::is_always_true)?;
    Some(format!("{rules} is true of every value that the schema allows: remove it, or say what is meant"))
}

fn without_message(field: &Field<'_>) -> Option<String> {
    let rules = of_rules(field, |rule| rule.message.is_empty() && rule.message_expression.is_empty())?;
    Some(format!("{rules} has no message: say what is allowed"))
}

fn without_fallback(field: &Field<'_>) -> Option<String> {
    let rules = of_rules(field, |rule| rule.message.is_empty() && !rule.message_expression.is_empty())?;
    Some(format!("{rules} has a messageExpression but no message, which is used if the expression fails: add one"))
}

fn removable(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| !field.is_required && field.schema.default.is_none())?;
    let around = field.parent?;
    let name = escaped(name)?;
    let is_guarded = |rule: &CelRule| {
        let spaceless: String = rule.rule.split_whitespace().collect();
        is_unchanged(rule) || spaceless.contains(&format!("has(oldSelf.{name})"))
    };
    if around.schema.rules.iter().any(is_guarded) {
        return None;
    }
    let rules = of_rules(field, is_unchanged)?;
    Some(format!(
        "{rules} does not forbid that {name} is removed: add `!has(oldSelf.{name}) || has(self.{name})` to the object around it"
    ))
}

/// The rule that a value cannot change.
fn is_unchanged(rule: &CelRule) -> bool {
    let key = |text: &str| Expression::parse(text).map(|expression| expression.key());
    rule.optional_old_self != Some(true) && key(&rule.rule) == key("self == oldSelf")
}
