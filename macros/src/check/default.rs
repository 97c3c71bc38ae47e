//! Rules of defaults: the field must accept its default.
use proc_macro2::Span;
use syn::Lit;

use crate::{
    diag::Errors,
    model::{Literal, Rules},
    parse::{
        args::{Number, Value},
        field::FieldArgs,
        types::{Look, look},
    },
};

/// With a default of another type, every object that relies on it would be invalid.
pub(crate) fn check_default(
    args: &FieldArgs,
    look: Look<'_>,
    rules: &Rules,
    errors: &Errors,
) -> Option<(Span, Literal)> {
    let (span, value) = args.default.as_ref()?;
    let literal = literal(value, look, errors)?;
    check_default_in_bounds(*span, &literal, rules, errors);
    Some((*span, literal))
}

/// The same applies to a default outside the field's bounds.
#[expect(clippy::cast_precision_loss, reason = "bounds are doubles on the wire, too")]
fn check_default_in_bounds(span: Span, literal: &Literal, rules: &Rules, errors: &Errors) {
    let number = match literal {
        Literal::Int(int) => *int as f64,
        Literal::Float(float) => *float,
        Literal::Text(text) => return check_length(span, text, rules, errors),
        Literal::List(items) => return check_items(span, items.len(), rules, errors),
        _ => return,
    };
    if let Some(low) = rules.minimum.filter(|low| number < *low || (rules.exclusive_minimum && number <= *low)) {
        errors.at(span, format!("the default {number} is below the field's minimum, {low}"));
    }
    if let Some(high) = rules.maximum.filter(|high| number > *high || (rules.exclusive_maximum && number >= *high)) {
        errors.at(span, format!("the default {number} is above the field's maximum, {high}"));
    }
}

fn check_length(span: Span, text: &str, rules: &Rules, errors: &Errors) {
    let length = text.chars().count() as u64;
    if let Some(least) = rules.min_length.filter(|least| length < *least) {
        errors.at(span, format!("the default is shorter than `min_length = {least}`"));
    }
    if let Some(most) = rules.max_length.filter(|most| length > *most) {
        errors.at(span, format!("the default is longer than `max_length = {most}`"));
    }
}

fn check_items(span: Span, count: usize, rules: &Rules, errors: &Errors) {
    if let Some(least) = rules.min_items.filter(|least| (count as u64) < *least) {
        errors.at(span, format!("the default has fewer items than `min_items = {least}`"));
    }
    if let Some(most) = rules.max_items.filter(|most| count as u64 > *most) {
        errors.at(span, format!("the default has more items than `max_items = {most}`"));
    }
}

fn literal(value: &Value, look: Look<'_>, errors: &Errors) -> Option<Literal> {
    let found = match (value, look) {
        (Value::Literal(Lit::Bool(bool)), Look::Bool | Look::Other) => return Some(Literal::Bool(bool.value)),
        (Value::Literal(Lit::Str(text)), Look::Text | Look::Other) => return Some(Literal::Text(text.value())),
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
