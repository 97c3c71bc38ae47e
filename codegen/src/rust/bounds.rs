//! Arguments that bound values. Bounds that say nothing of their type, or exclude all values, are no mistakes in what others
//! published: the derive refuses them as arguments, so that they stay keywords.
use kindsmith::schema::Schema;
use proc_macro2::TokenStream;
use quote::quote;

use super::{
    keywords::{Keywords, is_object},
    literal,
    model::{Model, Ty},
    names,
};

/// Keywords with their arguments, in pairs of a least and a most.
const PAIRS: [[(&str, &str); 2]; 3] = [
    [("minLength", "min_length"), ("maxLength", "max_length")],
    [("minItems", "min_items"), ("maxItems", "max_items")],
    [("minProperties", "min_properties"), ("maxProperties", "max_properties")],
];

/// Writes the bounds of a value of a type that arguments can say.
pub(super) fn write(schema: &Schema, ty: &Ty, model: &Model, left: &mut Keywords, all: &mut Vec<TokenStream>) {
    numbers(schema, ty, left, all);
    let counts = [
        (schema.min_length, schema.max_length),
        (schema.min_items, schema.max_items),
        (schema.min_properties, schema.max_properties),
    ];
    let applies = [is_text(ty), matches!(ty, Ty::List(_)), is_object(ty, model) && *ty != Ty::Known("RawJson")];
    for ((pair, (least, most)), applies) in PAIRS.iter().zip(counts).zip(applies) {
        let is_count = |count: Option<u64>| count.is_none_or(|count| u32::try_from(count).is_ok());
        let leaves_room = least.zip(most).is_none_or(|(least, most)| least <= most);
        if !applies || !leaves_room || !is_count(least) || !is_count(most) {
            continue;
        }
        for ((keyword, argument), count) in pair.iter().zip([least, most]) {
            let Some(count) = count else { continue };
            push(argument, &literal::number(&count.to_string()), all);
            left.say(&[keyword]);
        }
    }
    if let Some(pattern) = schema.pattern.as_ref().filter(|pattern| is_text(ty) && pattern.syntax() == pattern.text()) {
        let text = pattern.text();
        push("pattern", &quote!(#text), all);
        left.say(&["pattern"]);
    }
}

fn numbers(schema: &Schema, ty: &Ty, left: &mut Keywords, all: &mut Vec<TokenStream>) {
    let (low, high) = match ty {
        Ty::Known("i32") => (f64::from(i32::MIN), f64::from(i32::MAX)),
        Ty::Known("i64") => (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0),
        Ty::Known("f64" | "IntOrString") => (f64::MIN, f64::MAX),
        _ => return,
    };
    let is_whole = matches!(ty, Ty::Known("i32" | "i64"));
    let fits = |bound: f64| (low..=high).contains(&bound) && !(is_whole && bound.fract() != 0.0);
    let is_exclusive = schema.exclusive_minimum || schema.exclusive_maximum;
    let leaves_room = match (schema.minimum, schema.maximum) {
        (Some(least), Some(most)) => least < most || least <= most && !is_exclusive,
        _ => true,
    };
    let bounds = [
        ("minimum", "exclusiveMinimum", schema.minimum, schema.exclusive_minimum),
        ("maximum", "exclusiveMaximum", schema.maximum, schema.exclusive_maximum),
    ];
    for (keyword, exclusive, bound, is_exclusive) in bounds {
        let Some(bound) = bound.filter(|bound| leaves_room && fits(*bound)) else { continue };
        let argument = if is_exclusive { names::snake(exclusive) } else { keyword.to_owned() };
        push(&argument, &literal::bound(bound), all);
        left.say(&[keyword, exclusive]);
    }
    if let Some(factor) = schema.multiple_of.filter(|factor| *factor > 0.0 && fits(*factor)) {
        push("multiple_of", &literal::bound(factor), all);
        left.say(&["multipleOf"]);
    }
}

fn push(argument: &str, value: &TokenStream, all: &mut Vec<TokenStream>) {
    let argument = names::ident(argument);
    all.push(quote!(#argument = #value));
}

/// True for types whose values are texts, or may be.
fn is_text(ty: &Ty) -> bool {
    matches!(ty, Ty::Known("String" | "Time" | "MicroTime" | "ByteString" | "Quantity" | "IntOrString"))
}
