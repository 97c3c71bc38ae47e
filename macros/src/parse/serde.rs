//! serde's attributes: reads the ones that a schema can express, and refuses the others with a reason.
use proc_macro2::Span;
use syn::{Attribute, Ident, LitStr, ext::IdentExt};

use super::args::{Arg, Value, parse_args};
use crate::{diag::Errors, suggest::did_you_mean};

/// The mirrored serde attributes of a type, field or variant.
#[derive(Default)]
pub(crate) struct SerdeArgs {
    pub rename: Option<LitStr>,
    pub rename_all: Option<LitStr>,
    pub rename_all_fields: Option<LitStr>,
    pub default: Option<Span>,
    pub deny_unknown_fields: Option<Span>,
    pub skip_serializing_if: Option<LitStr>,
}

/// The position of attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttributePosition {
    Type,
    Field,
    Variant,
}

/// Refused attributes, and the reasons.
const REFUSED: &[(&str, &str)] = &[
    ("flatten", "the schema cannot see which fields belong to the struct; use a nested field instead"),
    ("with", "the schema cannot see what the functions accept; declare a type of its own with `#[derive(ApiType)]`"),
    ("serialize_with", "the schema cannot see what the function writes; declare a type of its own"),
    ("deserialize_with", "the schema cannot see what the function accepts; declare a type of its own"),
    (
        "untagged",
        "clients cannot distinguish the members; a union is an object with exactly one member set, which is serde's default",
    ),
    ("tag", "a union is an object with exactly one member set, which is serde's default; remove `tag`"),
    ("content", "a union is an object with exactly one member set, which is serde's default; remove `content`"),
    ("skip", "a kind has no fields that are not on the wire; move it to another type"),
    ("skip_serializing", "the written object could not be read back; move the field to another type"),
    ("skip_deserializing", "the value would be lost on output; move the field to another type"),
    ("alias", "a field has one name on the wire; for another name, declare another version of the kind"),
    ("other", "the schema refuses unknown values before the type sees them"),
    ("transparent", "the schema needs a struct with named fields"),
    ("from", "the schema cannot see what the conversion accepts"),
    ("try_from", "the schema cannot see what the conversion accepts"),
    ("into", "the schema cannot see what the conversion writes"),
    ("remote", "derive on the type itself"),
    ("getter", "derive on the type itself"),
    ("borrow", "a kind must own its data"),
    ("bound", "a kind has no type parameters"),
    ("variant_identifier", "it does not apply to kinds"),
    ("field_identifier", "it does not apply to kinds"),
];

/// Attributes without an effect on the schema.
const HARMLESS: &[&str] = &["crate", "expecting"];

/// Attributes that the schema mirrors.
const MIRRORED: &[&str] =
    &["rename", "rename_all", "rename_all_fields", "default", "skip_serializing_if", "deny_unknown_fields"];

/// Reads all `#[serde(…)]` attributes at a position.
pub(crate) fn read(attributes: &[Attribute], position: AttributePosition, errors: &Errors) -> SerdeArgs {
    let mut serde = SerdeArgs::default();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
        let Some(args) = errors.ok(attribute.parse_args_with(parse_args)) else { continue };
        for arg in &args {
            if let Some(name) = &arg.name {
                one(&mut serde, name, arg, position, errors);
            }
        }
    }
    serde
}

fn one(serde: &mut SerdeArgs, name: &Ident, arg: &Arg, position: AttributePosition, errors: &Errors) {
    let text = || match &arg.value {
        Value::Literal(syn::Lit::Str(text)) => Some(text.clone()),
        _ => None,
    };
    match name.unraw().to_string().as_str() {
        "rename" | "rename_all" | "rename_all_fields" if text().is_none() => {
            errors.at(name.span(), format!("`serde({name})` must have one name for both directions: `{name} = \"…\"`"));
        }
        "rename" if position == AttributePosition::Type => {
            errors.at(name.span(), "`serde(rename)` on a type has no effect on the wire; remove it");
        }
        "rename" => serde.rename = text(),
        "rename_all" => serde.rename_all = text(),
        "rename_all_fields" => serde.rename_all_fields = text(),
        "default" => {
            serde.default = Some(name.span());
            if let Some(function) = text() {
                errors.at(
                    function.span(),
                    "the schema cannot see what the function returns; \
                     say `#[api(default = …)]` with the value, or `#[serde(default)]` for the default of the field's type",
                );
            }
        }
        "deny_unknown_fields" => serde.deny_unknown_fields = Some(name.span()),
        "skip_serializing_if" => serde.skip_serializing_if = text(),
        known if HARMLESS.contains(&known) => {}
        other => {
            let message = REFUSED.iter().find(|(refused, _)| *refused == other).map_or_else(
                || {
                    let near = did_you_mean(other, MIRRORED.iter().chain(HARMLESS).copied());
                    format!("`serde({other})` is unknown, so the schema cannot mirror it{near}")
                },
                |(_, reason)| format!("`serde({other})` is refused: {reason}"),
            );
            errors.at(name.span(), message);
        }
    }
}

/// The rules that `rename_all` supports.
pub(crate) const RENAME_RULES: [&str; 8] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// A field's name under a serde rule.
pub(crate) fn field_name(rust: &str, rule: &str) -> String {
    match rule {
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => rust.to_ascii_uppercase(),
        "PascalCase" => pascal(rust),
        "camelCase" => lower_first(&pascal(rust)),
        "kebab-case" => rust.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => rust.to_ascii_uppercase().replace('_', "-"),
        _ => rust.to_owned(),
    }
}

/// A variant's name under a serde rule.
pub(crate) fn variant_name(rust: &str, rule: &str) -> String {
    match rule {
        "lowercase" => rust.to_ascii_lowercase(),
        "UPPERCASE" => rust.to_ascii_uppercase(),
        "camelCase" => lower_first(rust),
        "snake_case" => snake(rust),
        "SCREAMING_SNAKE_CASE" => snake(rust).to_ascii_uppercase(),
        "kebab-case" => snake(rust).replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => snake(rust).to_ascii_uppercase().replace('_', "-"),
        _ => rust.to_owned(),
    }
}

fn pascal(rust: &str) -> String {
    rust.split('_').map(upper_first).collect()
}

/// The first letter in lower case, if it is one of ASCII.
pub(crate) fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

/// The first letter in upper case, if it is one of ASCII.
pub(crate) fn upper_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// `PageCount` as `page_count`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// The name of a function for a type, in which an acronym is one word: `http_route` of `HTTPRoute`.
pub(crate) fn function_name(ty: &str) -> String {
    let letters: Vec<char> = ty.chars().collect();
    let is_lower = |at: usize| letters.get(at).is_some_and(|letter| letter.is_lowercase());
    let mut text = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let begins = at > 0 && letter.is_uppercase() && (!letters[at - 1].is_uppercase() || is_lower(at + 1));
        if begins && !text.ends_with('_') {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_of_ascii_are_kept_under_each_rule() {
        for rule in RENAME_RULES {
            assert_eq!([field_name("日本", rule), variant_name("日本", rule)], ["日本", "日本"], "{rule}");
            assert_eq!(
                [field_name("_", rule), variant_name("é", rule)].map(|name| name.len() <= 2),
                [true; 2],
                "{rule}"
            );
        }
    }

    #[test]
    fn an_acronym_is_one_word_in_names_of_functions() {
        assert_eq!(
            ["HTTPRoute", "Book", "PodIP", "A", "V1Job"].map(function_name),
            ["http_route", "book", "pod_ip", "a", "v1_job"]
        );
    }
}
