//! Rules of defaults: the field must accept its default.
use proc_macro2::Span;
use syn::Lit;

use super::{bounds::subject, rules};
use crate::{
    diag::Errors,
    model::{self, Bound, Literal},
    parse::{
        args::{Number, Value},
        field::FieldArgs,
        keywords::Keywords,
        types::{Look, look},
    },
};

/// With a default of another type, every object that relies on it would be invalid.
pub(crate) fn check_default(
    args: &FieldArgs,
    look: Look<'_>,
    bounds: &[Bound],
    errors: &Errors,
) -> Option<(Span, Literal)> {
    let (span, value) = args.default.as_ref()?;
    let literal = literal(value, look, errors)?;
    check_default_in_bounds(*span, &literal, bounds, errors);
    Some((*span, literal))
}

/// The same applies to a default outside the field's bounds.
#[expect(clippy::cast_precision_loss, reason = "bounds are doubles on the wire, too")]
fn check_default_in_bounds(span: Span, literal: &Literal, bounds: &[Bound], errors: &Errors) {
    let (given, what) = match literal {
        Literal::Int(int) => (*int as f64, "numbers"),
        Literal::Float(float) => (*float, "numbers"),
        Literal::Text(text) => (text.chars().count() as f64, "text"),
        Literal::List(items) => (items.len() as f64, "lists"),
        _ => return,
    };
    for Bound { name, value, .. } in bounds.iter().filter(|bound| subject(bound.name) == what) {
        let exclusive = name.starts_with("exclusive");
        let (below, above) =
            (given < *value || exclusive && given <= *value, given > *value || exclusive && given >= *value);
        let wrong = match *name {
            "minimum" | "exclusive_minimum" if below => format!("{given} is below the field's minimum, {value}"),
            "maximum" | "exclusive_maximum" if above => format!("{given} is above the field's maximum, {value}"),
            "min_length" if below => format!("is shorter than `{name} = {value}`"),
            "max_length" if above => format!("is longer than `{name} = {value}`"),
            "min_items" if below => format!("has fewer items than `{name} = {value}`"),
            "max_items" if above => format!("has more items than `{name} = {value}`"),
            _ => continue,
        };
        errors.at(span, format!("the default {wrong}"));
    }
}

fn literal(value: &Value, look: Look<'_>, errors: &Errors) -> Option<Literal> {
    let found = match (value, look) {
        (Value::Literal(Lit::Bool(bool)), Look::Bool | Look::Other) => return Some(Literal::Bool(bool.value)),
        (Value::Literal(Lit::Str(text)), Look::Text | Look::Other) => return Some(Literal::Text(text.value())),
        (Value::Dotted(_), look) if matches!(look, Look::Other) || errors.is_published() => return Some(Literal::Null),
        (Value::Path(path), Look::Other) => return Some(Literal::Variant(path.clone())),
        (Value::List(_, items), Look::List(item)) => return list(items, look_in(item), errors),
        (Value::List(_, items), Look::Other) => return list(items, Look::Other, errors),
        (Value::Map(_, entries), Look::Map(_) | Look::Other) => {
            let at = if let Look::Map(value) = look { look_in(value) } else { Look::Other };
            let entries = entries.iter().map(|(k, v)| Some((k.value(), literal(v, at, errors)?)));
            return entries.collect::<Option<Vec<_>>>().map(Literal::Map);
        }
        (Value::Literal(_) | Value::Negative(..), Look::Int(..) | Look::Float | Look::Other) => {
            match Number::from(value) {
                Some(number) => return self::number(value, &number, look, errors),
                None => "this",
            }
        }
        (Value::Path(_), _) => "a variant",
        (Value::List(..), _) => "a list",
        (Value::Map(..), _) => "a map",
        (Value::Literal(Lit::Bool(_)), _) => "a boolean",
        (Value::Literal(Lit::Str(_)), _) => "text",
        _ => "a number",
    };
    let example = match look {
        Look::Bool => "default = true",
        Look::Int(..) => "default = 1",
        Look::Float => "default = 1.5",
        Look::Text => "default = \"text\"",
        Look::List(_) => "default = []",
        Look::Map(_) => "default = {}",
        Look::Other => "default = Color::Red",
    };
    let found = match value {
        Value::Literal(Lit::Str(_)) => "text",
        Value::Literal(Lit::Bool(_)) => "a boolean",
        _ => found,
    };
    errors.at(value.span(), format!("the default is {found}, but the field is {}: `{example}`", look.called()));
    None
}

fn look_in(ty: &syn::Type) -> Look<'_> {
    look(ty).look
}

fn list(items: &[Value], item: Look<'_>, errors: &Errors) -> Option<Literal> {
    items.iter().map(|value| literal(value, item, errors)).collect::<Option<Vec<_>>>().map(Literal::List)
}

fn number(value: &Value, number: &Number, look: Look<'_>, errors: &Errors) -> Option<Literal> {
    let whole = match value {
        Value::Literal(Lit::Int(int)) => int.base10_parse::<i64>().ok(),
        Value::Negative(_, Lit::Int(int)) => format!("-{}", int.base10_digits()).parse::<i64>().ok(),
        _ => None,
    };
    match (whole, look) {
        (Some(int), Look::Int(low, high)) if int < low || int > high => {
            errors.at(number.span, format!("the default is outside the range of the type, {low} to {high}"));
            None
        }
        (Some(_), Look::Float) => Some(Literal::Float(number.value)),
        (Some(int), _) => Some(Literal::Int(int)),
        (None, Look::Int(..)) => {
            errors.at(number.span, "the default must be an integer, like the field: `default = 1`");
            None
        }
        (None, _) => Some(Literal::Float(number.value)),
    }
}

/// Keywords with values as in JSON, which are checked where the schema is built.
pub(crate) fn keywords(given: &Keywords, errors: &Errors) -> model::Keywords {
    if let Some(span) = given.named.filter(|_| !errors.is_published()) {
        let message = "`keywords` may say what the type does not, so that it is for types with `published`: use the arguments of \
                       this name, such as `max_length = 3`";
        errors.at(span, message);
    }
    let value = |value: &Value| literal(value, Look::Other, errors);
    let rules: Vec<_> = given.rules.iter().map(|rule| rules::check_rule(rule, errors)).collect();
    let rules = (!rules.is_empty()).then(|| ("x-kubernetes-validations".to_owned(), Literal::List(rules)));
    given.given.iter().filter_map(|(keyword, of)| Some((keyword.clone(), value(of)?))).chain(rules).collect()
}
