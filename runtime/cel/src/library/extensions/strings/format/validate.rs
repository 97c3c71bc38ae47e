//! Finds errors in formats that are literals, with a list literal of values.
use super::{Style, Verb, clause};
use crate::{
    Checked, Issue, Type,
    library::validators::each_node,
    syntax::ast::{Element, Expr, ExprKind, Literal},
};

/// The validator of versions 1 to 3.
pub(in super::super) fn validate_locale(checked: &Checked, issues: &mut Vec<Issue>) {
    validate(checked, Style::Locale, issues);
}

/// The validator of later versions.
pub(in super::super) fn validate_plain(checked: &Checked, issues: &mut Vec<Issue>) {
    validate(checked, Style::Plain, issues);
}

fn validate(checked: &Checked, style: Style, issues: &mut Vec<Issue>) {
    each_node(&checked.ast.root, false, &mut |call, _| {
        if let Some((format, values)) = format_and_values(checked, call)
            && let Err((at, message)) = check(checked, style, format, values)
        {
            issues.push(Issue { offset: Some(at.unwrap_or(call).offset), message });
        }
    });
}

/// The format and the values of a call of `format`, if they are literals.
fn format_and_values<'c>(checked: &'c Checked, call: &'c Expr) -> Option<(&'c str, &'c [Element])> {
    let ExprKind::Call { target: Some(target), function, args } = &call.kind else { return None };
    let ExprKind::Literal(Literal::String(format)) = &target.kind else { return None };
    let [Expr { kind: ExprKind::List(values), .. }] = &args[..] else { return None };
    let overloads = checked.overload_ids(call.id);
    let is_format =
        **function == *"format" && (overloads.is_empty() || overloads.iter().any(|id| **id == *"string_format"));
    is_format.then_some((format, values))
}

/// What is wrong, and at which value if not with the call.
type Mistake<'c> = (Option<&'c Expr>, String);

fn check<'c>(checked: &Checked, style: Style, format: &str, values: &'c [Element]) -> Result<(), Mistake<'c>> {
    let mut rest = format;
    let mut count = 0;
    while let Some((_, after)) = rest.split_once('%') {
        if let Some(after) = after.strip_prefix('%') {
            rest = after;
            continue;
        }
        if after.is_empty() {
            return Err((None, clause::ENDS_EARLY.into()));
        }
        let value = values.get(count).ok_or_else(|| (None, clause::out_of_range(count)))?;
        let (clause, after) = clause::Clause::read(after, style).map_err(|message| (None, message))?;
        if let Some(rejected) = rejected(checked, style, clause.verb, &value.value) {
            let given = checked.type_of(rejected.id).name();
            let message = format!("error during formatting: {}", clause.verb.rejection(style, given));
            return Err((Some(rejected), message));
        }
        rest = after;
        count += 1;
    }
    if values.len() > count {
        let given = values.len();
        return Err((None, format!("too many arguments supplied to string.format (expected {count}, got {given})")));
    }
    Ok(())
}

/// The value, or the part of it, that a clause does not print.
fn rejected<'c>(checked: &Checked, style: Style, verb: Verb, value: &'c Expr) -> Option<&'c Expr> {
    let kind = checked.type_of(value.id);
    if *kind != Type::Dyn && !accepts(verb, style, kind) {
        return Some(value);
    }
    match &value.kind {
        ExprKind::List(elements) if verb == Verb::String => {
            elements.iter().find_map(|element| rejected(checked, style, verb, &element.value))
        }
        ExprKind::Map(entries) if verb == Verb::String => entries
            .iter()
            .flat_map(|entry| [&entry.key, &entry.value])
            .find_map(|part| rejected(checked, style, verb, part)),
        _ => None,
    }
}

fn accepts(verb: Verb, style: Style, kind: &Type) -> bool {
    use Type::{Bool, Bytes, Double, Duration, Int, List, Map, Null, String, Timestamp, Uint};
    match (verb, style) {
        (Verb::String, _) => matches!(
            kind,
            List(_)
                | Map(..)
                | Int
                | Uint
                | Double
                | Bool
                | String
                | Timestamp
                | Bytes
                | Duration
                | Type::Type(_)
                | Null
        ),
        (Verb::Decimal, Style::Locale) | (Verb::Octal, _) => matches!(kind, Int | Uint),
        // The strings `NaN`, `Infinity` and `-Infinity` are accepted.
        (Verb::Fixed | Verb::Scientific, Style::Locale) => matches!(kind, Double | String),
        (Verb::Decimal | Verb::Fixed | Verb::Scientific, Style::Plain) => matches!(kind, Int | Uint | Double),
        (Verb::Binary, _) => matches!(kind, Bool | Int | Uint),
        (Verb::Hexadecimal { .. }, _) => matches!(kind, Int | Uint | String | Bytes),
    }
}
