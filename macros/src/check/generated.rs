//! Rules of `schema = schemars`: another derive describes the type, so that only rules of its use can be added.
use proc_macro2::Span;
use syn::{Attribute, Data, DeriveInput, Fields, Ident};

use crate::{
    diag::Errors,
    model::SchemarsType,
    parse::{
        container,
        field::FieldArgs,
        type_args::{self, TypeArgs},
        types::{Look, look},
    },
};

/// Arguments that say something of any value.
const OF_ANY: &[&str] =
    &["schema", "default", "immutable", "required", "nullable", "map", "rule", "title", "example", "external_docs"];
/// Further arguments of a `Vec`, whose items the other derive describes.
const OF_LISTS: &[&str] = &["list", "merge", "retain_keys", "min_items", "max_items"];
/// Further arguments of a map, whose values the other derive describes.
const OF_MAPS: &[&str] = &["retain_keys", "min_properties", "max_properties"];

/// The only description that is read.
fn check_word(word: &Ident, errors: &Errors) {
    if word != "schemars" {
        errors.at(
            word.span(),
            format!("found `{word}`; expected `schema = schemars`, for types that implement `schemars::JsonSchema`"),
        );
    }
}

/// Checks the arguments of a field. Returns true if another derive describes its type.
pub(crate) fn check_field(args: &FieldArgs, ty: &syn::Type, errors: &Errors) -> bool {
    let Some(word) = &args.schema else { return false };
    check_word(word, errors);
    let look = look(ty).look;
    let of_shape = match look {
        Look::List(_) => OF_LISTS,
        Look::Map(_) => OF_MAPS,
        _ => &[],
    };
    for (name, span) in args.given.iter().filter(|(name, _)| ![OF_ANY, of_shape].concat().contains(&name.as_str())) {
        errors.at(*span, format!("`{name}` cannot be added to `schema = schemars`; {}", way_out(name)));
    }
    if args.default.as_ref().is_some_and(|(_, value)| matches!(value, crate::parse::args::Value::Path(_))) {
        let span = args.default.as_ref().map_or_else(Span::call_site, |(span, _)| *span);
        errors.at(
            span,
            "the values of this type are not declared here; write the default as it is on the wire, such as `\"Red\"`",
        );
    }
    true
}

fn way_out(name: &str) -> &'static str {
    match name {
        "proto" | "proto_zero" => "its type has no Protobuf message; declare the type with `#[derive(ApiType)]`",
        "observed" => "its type may contain floats anyway",
        "list" | "merge" => {
            "the type must be a `Vec`, or say `#[schemars(extend(\"x-kubernetes-list-type\" = \"set\"))]` where it is declared"
        }
        _ => "say it where the type is declared, with `#[schemars(…)]`",
    }
}

/// Checks a type that another derive describes as a whole.
pub(crate) fn api_type(input: &DeriveInput, errors: &Errors) -> Option<SchemarsType> {
    let args = type_args::read(&input.attrs, errors);
    check_word(args.schema.as_ref()?, errors);
    for (name, span) in args.given.iter().filter(|(name, _)| !["schema", "crate"].contains(&name.as_str())) {
        errors.at(*span, format!("`{name}` cannot be added to `schema = schemars`; {}", way_out(name)));
    }
    for attribute in inner_attributes(&input.data).filter(|attribute| attribute.path().is_ident("api")) {
        let span = attribute.path().segments[0].ident.span();
        errors.at(span, "`JsonSchema` describes the fields of this type; use `#[schemars(…)]`");
    }
    let krate = args.krate.clone().unwrap_or_else(container::default_crate);
    super::container::check_generics(&input.ident, &input.generics, errors)?;
    Some(SchemarsType { krate, ident: input.ident.clone() })
}

/// The attributes of fields and variants.
fn inner_attributes(data: &Data) -> impl Iterator<Item = &Attribute> {
    let (fields, variants): (Option<&Fields>, _) = match data {
        Data::Struct(data) => (Some(&data.fields), None),
        Data::Enum(data) => (None, Some(&data.variants)),
        Data::Union(_) => (None, None),
    };
    let of_variants = variants
        .into_iter()
        .flatten()
        .flat_map(|variant| variant.attrs.iter().chain(variant.fields.iter().flat_map(|field| &field.attrs)));
    fields.into_iter().flatten().flat_map(|field| &field.attrs).chain(of_variants)
}

/// A type whose fields other code than this derive reads is described by them.
pub(crate) fn check_absent(args: &TypeArgs, message: &str, errors: &Errors) {
    if let Some(word) = &args.schema {
        errors.at(word.span(), message);
    }
}
