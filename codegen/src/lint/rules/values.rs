//! Rules about values: enumerations, bools, null, defaults and unions.
use kindsmith::schema::{Schema, Type};
use serde_json::Value;

use super::objects::{is_zero, shown};
use crate::lint::{
    Check, Rule,
    field::{Field, is_time},
    naming, words,
};

pub(super) const RULES: &[Rule] = &[
    Check::Field(enum_value_case)
        .warning("enum-value-case", "Constants")
        .reason("Values of an enumeration are in CamelCase with an initial capital, acronyms in capitals, so that they can be guessed.")
        .bad("spec: {properties: {cover: {type: string, enum: [hard-cover, paperback]}}}")
        .good("spec: {properties: {cover: {type: string, enum: [HardCover, Paperback]}}}"),
    Check::Field(enum_of_other_values)
        .warning("enum-of-other-values", "Constants")
        .reason("Values of an enumeration are strings, which say what they mean and can be added to.")
        .bad("spec: {properties: {cover: {type: integer, format: int32, enum: [1, 2]}}}")
        .good("spec: {properties: {cover: {type: string, enum: [HardCover, Paperback]}}}"),
    Check::Field(bool_wants_enum)
        .warning("bool-wants-enum", "Primitive types")
        .reason("Many ideas start as a switch and get a third position later, for which a string has room and a bool has not.")
        .bad("spec: {properties: {enableLending: {type: boolean}}}")
        .good("spec: {properties: {lendingPolicy: {type: string, enum: [Allowed, Forbidden]}}}"),
    Check::Field(nullable)
        .warning("nullable", "Optional vs. Required")
        .reason("A field that is not set is absent; with null, there are two ways to say so, which patches and clients tell apart.")
        .bad("spec: {properties: {shelf: {type: string, nullable: true}}}")
        .good("spec: {properties: {shelf: {type: string}}}"),
    Check::Field(optional_without_omission)
        .warning("optional-without-omission", "Optional vs. Required")
        .reason("An optional field is omitted when it is empty; one that is sent as null or zero takes a value away from others when it \
             is applied.")
        .bad("spec: {required: [shelf], properties: {shelf: {type: string, nullable: true}}}")
        .good("spec: {properties: {shelf: {type: string}}}"),
    Check::Field(required_with_default)
        .warning("required-with-default", "Optional vs. Required")
        .reason("A field is either optional or required: one with a default can be left out, and clients that are generated ask for it.")
        .bad("spec: {required: [copies], properties: {copies: {type: integer, format: int32, default: 1}}}")
        .good("spec: {properties: {copies: {type: integer, format: int32, default: 1}}}"),
    Check::Field(union_default)
        .warning("union-default", "Unions")
        .reason("A default sets a member of the union beside the one that the user chose.")
        .bad("spec: {properties: {form: {properties: {pages: {type: integer, format: int32, default: 1}, audio: {type: string}}, oneOf: [{required: [pages]}, {required: [audio]}]}}}")
        .good("spec: {properties: {form: {properties: {pages: {type: integer, format: int32}, audio: {type: string}}, oneOf: [{required: [pages]}, {required: [audio]}]}}}"),
    Check::Field(union_member_required)
        .warning("union-member-required", "Unions")
        .reason("All members of a union are optional: a required one leaves no choice.")
        .bad("spec: {properties: {form: {required: [pages], properties: {pages: {type: integer, format: int32}, audio: {type: string}}, oneOf: [{required: [pages]}, {required: [audio]}]}}}")
        .good("spec: {properties: {form: {properties: {pages: {type: integer, format: int32}, audio: {type: string}}, oneOf: [{required: [pages]}, {required: [audio]}]}}}"),
    Check::Field(secret_in_spec)
        .warning("secret-in-spec", "Object references")
        .reason("All who may read an object read its spec: a Secret has its own access rules, and is referred to by its name.")
        .bad("spec: {properties: {catalogPassword: {type: string}}}")
        .good("spec: {properties: {catalogSecretName: {type: string}}}"),
];

/// In CamelCase with an initial capital, or of digits, which have no case. An empty value stands for none.
fn is_camel_case(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric()) && !value.starts_with(|first: char| first.is_ascii_lowercase())
}

fn enum_value_case(field: &Field<'_>) -> Option<String> {
    let texts = field.schema.enumeration.iter().filter_map(Value::as_str);
    let wrong: Vec<&str> = texts.filter(|text| !is_camel_case(text)).collect();
    let first = wrong.first()?;
    let more = if wrong.len() > 1 { format!(" and {} more", wrong.len() - 1) } else { String::new() };
    let near: String = first.split(|c: char| !c.is_ascii_alphanumeric()).map(naming::capital).collect();
    let hint = if near.is_empty() { String::new() } else { format!(": write {near}") };
    Some(format!("the value {first}{more} of the enumeration is not in CamelCase{hint}"))
}

fn enum_of_other_values(field: &Field<'_>) -> Option<String> {
    let other = field.schema.enumeration.iter().find(|value| !value.is_string() && !value.is_null())?;
    Some(format!("the value {other} of the enumeration is no string"))
}

fn bool_wants_enum(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| field.schema.kind == Type::Boolean && field.is_in_spec())?;
    let all = words::lower(name);
    let begins = matches!(all.first()?.as_str(), "disable" | "enable" | "use") && all.len() > 1;
    let ends = matches!(all.last()?.as_str(), "disabled" | "enabled");
    (begins || ends)
        .then(|| format!("{name} is a switch: describe the choices by a string, which has room for a third"))
}

fn nullable(field: &Field<'_>) -> Option<String> {
    (field.schema.nullable && !field.is_required)
        .then(|| "null and absent are different values here: leave nullable out".to_owned())
}

fn optional_without_omission(field: &Field<'_>) -> Option<String> {
    let schema = field.schema;
    if field.is_required && schema.nullable {
        return Some("it is required, and may be null: make it optional, and omit it in place of null".to_owned());
    }
    // Kubernetes publishes Go's zero value as the default of a scalar that is not omitted when it has that.
    let is_scalar = !matches!(schema.kind, Type::Object | Type::Array | Type::Any) && !is_time(schema);
    let default = field.raw.as_ref()?.get("default")?;
    (field.is_builtin() && field.name().is_some() && !field.is_required && is_scalar && is_zero(default))
        .then(|| format!("it is optional, and sent as {default} where it is not set: omit it"))
}

fn required_with_default(field: &Field<'_>) -> Option<String> {
    let default =
        field.schema.default.as_ref().filter(|_| field.is_required && field.step != crate::lint::field::Step::Root)?;
    // Kubernetes publishes Go's zero values as defaults.
    (!field.is_builtin() || !is_zero(default))
        .then(|| format!("it is required, and has the default {}: make it optional", shown(default)))
}

/// The members of a union.
fn members(schema: &Schema) -> Vec<&str> {
    if schema.union {
        return schema.properties.keys().map(String::as_str).collect();
    }
    let branches = schema.junctors.iter().flat_map(|junctors| &junctors.one_of);
    let members = branches.filter_map(|branch| match &branch.required[..] {
        [only] if branch.properties.is_empty() => Some(only.as_str()),
        _ => None,
    });
    members.collect()
}

fn is_member(field: &Field<'_>) -> Option<bool> {
    let (name, parent) = (field.name()?, field.parent?);
    Some(members(parent.schema).contains(&name))
}

fn union_default(field: &Field<'_>) -> Option<String> {
    let default = field.schema.default.as_ref().filter(|default| !field.is_builtin() || !is_zero(default))?;
    is_member(field)?.then(|| format!("a member of a union has the default {}: leave it out", shown(default)))
}

fn union_member_required(field: &Field<'_>) -> Option<String> {
    let parent = field.parent.filter(|_| field.is_required)?;
    let discriminator = parent.schema.properties.get(field.name()?).is_some_and(|of| !of.enumeration.is_empty());
    (is_member(field)? && !discriminator).then(|| "a member of a union is required: make it optional".to_owned())
}

fn secret_in_spec(field: &Field<'_>) -> Option<String> {
    let schema = field.schema;
    let name = field.name().filter(|_| field.is_in_spec() && field.is_stored() && schema.kind == Type::String)?;
    let all = words::lower(name);
    let last = all.last()?.as_str();
    let before = all.len().checked_sub(2).map_or("", |at| all[at].as_str());
    let is_named = matches!(last, "password" | "passphrase" | "token" | "passwd" | "pwd")
        || last == "secret" && before == "client"
        || last == "key" && matches!(before, "private" | "api" | "access" | "secret" | "encryption");
    // The key beside a certificate.
    let beside = |other: &str| field.parent.is_some_and(|parent| parent.schema.properties.contains_key(other));
    let is_of_certificate = name == "key" && beside("certificate");
    ((is_named || is_of_certificate) && schema.enumeration.is_empty())
        .then(|| format!("{name} is a secret in the object itself: refer to a Secret"))
}
