//! Rules of structs, enumerations and unions.
use std::collections::BTreeSet;

use syn::{Ident, ext::IdentExt};

use super::{field, lists, names, types};
use crate::{
    diag::Errors,
    model::{Container, Content, Field, Member, Shape, Value},
    parse::{
        container::{Body, Container as Raw, Content as RawContent, Field as RawField, Variant},
        serde::variant_name,
    },
};

/// Checks a nested type.
pub fn api_type(raw: Raw, errors: &Errors) -> Option<Container> {
    check_generics(&raw, errors)?;
    let shape = match raw.body {
        Body::Struct(fields) => {
            let rule = field::rename_rule(&raw.serde, "snake_case", errors);
            let defaulted = raw.serde.default.is_some();
            Shape::Struct(self::fields(fields, &rule, raw.serde.rename_all.is_some(), defaulted, errors))
        }
        Body::Enum(variants) if variants.iter().all(|v| matches!(v.content, RawContent::Unit)) => {
            let rule = field::rename_rule(&raw.serde, "", errors);
            check_not_empty(&raw.ident, variants.is_empty(), errors);
            Shape::Enum(values(&variants, &rule, errors))
        }
        Body::Enum(variants) => {
            let rule = field::rename_rule(&raw.serde, "", errors);
            let fields_rule = raw.serde.rename_all_fields.as_ref().map_or_else(String::new, syn::LitStr::value);
            Shape::Union(members(variants, &rule, &fields_rule, raw.serde.rename_all.is_some(), errors))
        }
        Body::Refused => return None,
    };
    Some(Container { ident: raw.ident, doc: raw.doc, shape, proto_zeros: raw.api.proto_zeros.is_some() })
}

/// A kind is one type on the wire; with parameters it would be many of one name.
pub fn check_generics(raw: &Raw, errors: &Errors) -> Option<()> {
    if let Some(parameter) = raw.generics.params.first() {
        let span = match parameter {
            syn::GenericParam::Type(ty) => ty.ident.span(),
            syn::GenericParam::Lifetime(lifetime) => lifetime.lifetime.ident.span(),
            syn::GenericParam::Const(constant) => constant.ident.span(),
        };
        let name = &raw.ident;
        errors.at(
            span,
            format!("`{name}` has a parameter; a type of the API is one type: declare it with the type that is meant"),
        );
        return None;
    }
    Some(())
}

/// Checks fields of a struct.
pub fn fields(raw: Vec<RawField>, rule: &str, ruled: bool, defaulted: bool, errors: &Errors) -> Vec<Field> {
    lists::check_proto(raw.iter().map(|f| (&f.ident, f.api.proto.as_ref())), errors);
    let spans: Vec<_> =
        raw.iter().map(|f| f.serde.rename.as_ref().map_or_else(|| f.ident.span(), syn::LitStr::span)).collect();
    let renamed: Vec<_> = raw.iter().map(|f| f.serde.rename.is_some()).collect();
    let mut fields: Vec<Field> = raw.into_iter().map(|f| field::field(f, rule, errors)).collect();
    check_camel_case(&fields, &renamed, ruled, errors);
    check_wire_names_differ(fields.iter().map(|f| f.wire.as_str()).zip(spans), errors);
    if defaulted {
        for field in &mut fields {
            field.defaulted = true;
        }
    }
    fields
}

/// Field names are camelCase on the wire. One missing `rename_all` is one mistake, whatever the number of fields.
fn check_camel_case(fields: &[Field], renamed: &[bool], ruled: bool, errors: &Errors) {
    let mut wrong = fields.iter().zip(renamed).filter(|(f, renamed)| !**renamed && !names::is_field_name(&f.wire));
    let Some((first, _)) = wrong.next() else { return };
    let (wire, near) = (&first.wire, names::field_name_near(&first.wire));
    let others = match wrong.count() {
        0 => String::new(),
        1 => " (and one other field)".to_owned(),
        more => format!(" (and {more} other fields)"),
    };
    let way = if ruled {
        format!("`#[serde(rename = \"{near}\")]` on the field, or `rename_all = \"camelCase\"` on the type")
    } else {
        "`#[serde(rename_all = \"camelCase\")]` on the type".to_owned()
    };
    errors.at(
        first.ident.span(),
        format!("field names are camelCase on the wire, `{near}` and not `{wire}`{others}: say {way}"),
    );
}

/// Two fields of one name are one field to clients.
fn check_wire_names_differ<'a>(names: impl Iterator<Item = (&'a str, proc_macro2::Span)>, errors: &Errors) {
    let mut seen = BTreeSet::new();
    for (name, span) in names {
        if !seen.insert(name) {
            errors.at(span, format!("the name `{name}` is on the wire twice"));
        }
    }
}

/// An enumeration without values admits nothing.
fn check_not_empty(ident: &Ident, empty: bool, errors: &Errors) {
    if empty {
        errors.at(ident.span(), "an enumeration has at least one value");
    }
}

fn values(variants: &[Variant], rule: &str, errors: &Errors) -> Vec<Value> {
    let values: Vec<Value> = variants
        .iter()
        .map(|variant| {
            let rust = variant.ident.unraw().to_string();
            let renamed = variant.serde.rename.as_ref().map(syn::LitStr::value);
            Value { wire: renamed.unwrap_or_else(|| variant_name(&rust, rule)), rust, doc: variant.doc.clone() }
        })
        .collect();
    check_wire_names_differ(
        values.iter().map(|v| v.wire.as_str()).zip(variants.iter().map(|v| v.ident.span())),
        errors,
    );
    values
}

/// A union is an object of which exactly one member is set, so each member holds something, under a camelCase name.
fn members(variants: Vec<Variant>, rule: &str, fields_rule: &str, ruled: bool, errors: &Errors) -> Vec<Member> {
    lists::check_proto(variants.iter().map(|v| (&v.ident, v.api.proto.as_ref())), errors);
    let mut members = Vec::new();
    let mut reported = false;
    for variant in variants {
        let rust = variant.ident.unraw().to_string();
        let renamed = variant.serde.rename.as_ref().map(syn::LitStr::value);
        let by_hand = renamed.is_some();
        let wire = renamed.unwrap_or_else(|| variant_name(&rust, rule));
        if !names::is_field_name(&wire) && !std::mem::replace(&mut reported, !by_hand) {
            let near = names::field_name_near(&wire);
            let way = if ruled || by_hand {
                format!("`rename = \"{near}\"`")
            } else {
                "`#[serde(rename_all = \"camelCase\")]` on the enum".to_owned()
            };
            errors.at(
                variant.ident.span(),
                format!("members of a union are camelCase on the wire, `{near}` and not `{wire}`: say {way}"),
            );
        }
        let (rules, content) = match variant.content {
            RawContent::Unit => {
                errors.at(
                    variant.ident.span(),
                    format!(
                        "the other variants hold data, so this is a union, whose members hold a struct: `{rust} {{}}`"
                    ),
                );
                continue;
            }
            RawContent::One(ty) => {
                types::check_type(&ty, false, errors);
                (field::rules(&variant.api, &ty, errors), Content::Type(ty))
            }
            RawContent::Struct(fields) => {
                let rule = variant.serde.rename_all.as_ref().map_or_else(|| fields_rule.to_owned(), syn::LitStr::value);
                let ruled = !rule.is_empty();
                let proto = variant.api.proto.as_ref().and_then(|n| n.base10_parse().ok()).unwrap_or(0);
                let numbered = crate::model::Rules { proto, ..Default::default() };
                (numbered, Content::Struct(self::fields(fields, &rule, ruled, false, errors)))
            }
        };
        members.push(Member { rust, wire, doc: variant.doc, rules, content });
    }
    members
}
