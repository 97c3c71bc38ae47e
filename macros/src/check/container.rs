//! Rules of structs, enums and unions.
use std::collections::BTreeSet;

use syn::{Ident, Type, ext::IdentExt};

use super::{default, field, lists, names, types};
use crate::{
    diag::Errors,
    model::{Container, Content, Field, Member, Shape, Value},
    parse::{
        container::{Body, Container as Raw, Content as RawContent, Field as RawField, Variant},
        serde::variant_name,
        types::{Look, last_segment, look, span},
    },
};

/// Checks a nested type.
pub(crate) fn api_type(raw: Raw, errors: &Errors) -> Option<Container> {
    check_generics(&raw.ident, &raw.generics, errors)?;
    let shape = match raw.body {
        Body::Struct(fields) => {
            let rule = field::rename_rule(&raw.serde, "snake_case", errors);
            let defaulted = raw.serde.default.is_some();
            let mut fields = self::fields(fields, &rule, raw.serde.rename_all.is_some(), Within::Type, errors);
            for field in &mut fields {
                field.defaulted |= defaulted;
            }
            check_ends(&raw.ident, &fields, errors);
            check_condition(&raw.ident, &fields, errors);
            Shape::Struct(fields)
        }
        Body::Enum(variants) if variants.iter().all(|v| matches!(v.content, RawContent::Unit)) => {
            let rule = field::rename_rule(&raw.serde, "", errors);
            check_not_empty(&raw.ident, variants.is_empty(), errors);
            Shape::Enum(values(&variants, &rule, errors))
        }
        Body::Enum(variants) => {
            let rule = field::rename_rule(&raw.serde, "", errors);
            let fields_rule = raw.serde.rename_all_fields.as_ref().map_or_else(String::new, syn::LitStr::value);
            let members = members(variants, &rule, &fields_rule, raw.serde.rename_all.is_some(), errors);
            for member in &members {
                match &member.content {
                    Content::Type(ty) => check_type_ends(&raw.ident, ty, errors),
                    Content::Struct(fields) => check_ends(&raw.ident, fields, errors),
                }
            }
            Shape::Union(members)
        }
        Body::Refused => return None,
    };
    let proto_zeros = raw.api.proto_zeros.is_some();
    let published = raw.api.published.is_some();
    let keywords = default::keywords(&raw.api.keywords, errors);
    Some(Container {
        krate: raw.krate,
        ident: raw.ident,
        doc: raw.doc,
        shape,
        proto_zeros,
        published,
        keywords,
        locked: raw.locked,
    })
}

/// A kind is one type on the wire. With type parameters it would be several types of the same name.
pub(crate) fn check_generics(name: &Ident, generics: &syn::Generics, errors: &Errors) -> Option<()> {
    if let Some(parameter) = generics.params.first() {
        let span = match parameter {
            syn::GenericParam::Type(ty) => ty.ident.span(),
            syn::GenericParam::Lifetime(lifetime) => lifetime.lifetime.ident.span(),
            syn::GenericParam::Const(constant) => constant.ident.span(),
        };
        errors.at(
            span,
            format!("`{name}` has a type parameter, which API types cannot have; declare it with a concrete type"),
        );
        return None;
    }
    Some(())
}

/// A structural schema is finite, so no type contains itself. The compiler checks indirect recursion.
pub(crate) fn check_ends(container: &Ident, fields: &[Field], errors: &Errors) {
    for field in fields {
        check_type_ends(container, &field.ty, errors);
    }
}

fn check_type_ends(container: &Ident, ty: &Type, errors: &Errors) {
    let Some((name, arguments)) = last_segment(ty) else { return };
    if arguments.is_empty() && *container == name {
        errors.at(
            span(ty),
            format!("`{name}` contains itself, but a schema must be finite; declare the nested field as `kindsmith::RawJson`"),
        );
    }
    for argument in arguments {
        check_type_ends(container, argument, errors);
    }
}

/// "Condition status values may be True, False, or Unknown": a boolean cannot say the third.
fn check_condition(container: &Ident, fields: &[Field], errors: &Errors) {
    let of = |wire: &str| fields.iter().find(|field| field.wire == wire);
    if let (true, Some(_), Some(status)) = (container.to_string().ends_with("Condition"), of("type"), of("status"))
        && matches!(look(&status.ty).look, Look::Bool)
    {
        errors.breaks(
            "conditions",
            span(&status.ty),
            "the status of a condition is `True`, `False` or `Unknown`, as text: use `String` or an enum, or \
             `kindsmith::Condition` as the whole type",
        );
    }
}

/// The container of fields, which determines where their `rename_all` is declared.
#[derive(Clone, Copy)]
pub(crate) enum Within {
    /// A struct.
    Type,
    /// A member of a union.
    Variant,
}

/// Checks fields of a struct.
pub(crate) fn fields(raw: Vec<RawField>, rule: &str, ruled: bool, within: Within, errors: &Errors) -> Vec<Field> {
    lists::check_proto(raw.iter().map(|f| (&f.ident, f.api.proto.as_ref())), errors);
    let spans: Vec<_> =
        raw.iter().map(|f| f.serde.rename.as_ref().map_or_else(|| f.ident.span(), syn::LitStr::span)).collect();
    let renamed: Vec<_> = raw.iter().map(|f| f.serde.rename.is_some()).collect();
    let fields: Vec<Field> = raw.into_iter().map(|f| field::field(f, rule, errors)).collect();
    check_camel_case(&fields, &renamed, ruled, within, errors);
    check_wire_names_differ(fields.iter().map(|f| f.wire.as_str()).zip(spans), errors);
    fields
}

/// Field names are camelCase on the wire. A missing `rename_all` is reported once, whatever the number of fields.
fn check_camel_case(fields: &[Field], renamed: &[bool], ruled: bool, within: Within, errors: &Errors) {
    let mut wrong = fields.iter().zip(renamed).filter(|(f, renamed)| !**renamed && !names::is_field_name(&f.wire));
    let Some((first, _)) = wrong.next() else { return };
    let (wire, near) = (&first.wire, names::field_name_near(&first.wire));
    let others = match wrong.count() {
        0 => String::new(),
        1 => " (and one other field)".to_owned(),
        more => format!(" (and {more} other fields)"),
    };
    let rule = match within {
        Within::Type => "rename_all = \"camelCase\"",
        Within::Variant => "rename_all_fields = \"camelCase\"",
    };
    let place = match within {
        Within::Type => "type",
        Within::Variant => "enum",
    };
    let way = if ruled {
        format!("`#[serde(rename = \"{near}\")]` on the field, or `{rule}` on the {place}")
    } else {
        format!("`#[serde({rule})]` on the {place}")
    };
    errors.breaks(
        "field_name",
        first.ident.span(),
        format!("field names must be camelCase on the wire, `{near}` and not `{wire}`{others}: use {way}"),
    );
}

/// Two fields of the same name are one field to clients.
fn check_wire_names_differ<'a>(names: impl Iterator<Item = (&'a str, proc_macro2::Span)>, errors: &Errors) {
    let mut seen = BTreeSet::new();
    for (name, span) in names {
        if !seen.insert(name) {
            errors.at(span, format!("two fields have the name `{name}` on the wire"));
        }
    }
}

/// An enum without values accepts nothing.
fn check_not_empty(ident: &Ident, empty: bool, errors: &Errors) {
    if empty {
        errors.at(ident.span(), "an enum must have at least one value");
    }
}

fn values(variants: &[Variant], rule: &str, errors: &Errors) -> Vec<Value> {
    let values: Vec<Value> = variants
        .iter()
        .map(|variant| {
            let rust = variant.ident.unraw().to_string();
            let renamed = variant.serde.rename.as_ref().map(syn::LitStr::value);
            if renamed.is_none() && rule == "camelCase" && !rust.starts_with(|first: char| first.is_ascii()) {
                let message = format!("serde cannot rename `{rust}` by `camelCase`: add `#[serde(rename = \"…\")]`");
                errors.at(variant.ident.span(), message);
            }
            Value { wire: renamed.unwrap_or_else(|| variant_name(&rust, rule)), rust, doc: variant.doc.clone() }
        })
        .collect();
    check_wire_names_differ(
        values.iter().map(|v| v.wire.as_str()).zip(variants.iter().map(|v| v.ident.span())),
        errors,
    );
    values
}

/// A union is an object with exactly one member set, so each member has content and a camelCase name.
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
            errors.breaks(
                "field_name",
                variant.ident.span(),
                format!("members of a union must be camelCase on the wire, `{near}` and not `{wire}`: use {way}"),
            );
        }
        let (rules, content) = match variant.content {
            RawContent::Unit => {
                errors.at(
                    variant.ident.span(),
                    format!(
                        "the other variants have content, so this is a union, whose members all need content: `{rust} {{}}`"
                    ),
                );
                continue;
            }
            RawContent::One(ty) => {
                if let Some(word) = &variant.api.schema {
                    errors.at(
                        word.span(),
                        "`schema` applies to fields and types; put it on the type, or on a field of the variant",
                    );
                }
                types::check_type(&ty, false, errors);
                (field::rules(&variant.api, &ty, errors), Content::Type(ty))
            }
            RawContent::Struct(fields) => {
                let rule = variant.serde.rename_all.as_ref().map_or_else(|| fields_rule.to_owned(), syn::LitStr::value);
                let ruled = !rule.is_empty();
                let proto = variant.api.proto.as_ref().and_then(|n| n.base10_parse().ok()).unwrap_or(0);
                let numbered = crate::model::Rules { proto, ..Default::default() };
                (numbered, Content::Struct(self::fields(fields, &rule, ruled, Within::Variant, errors)))
            }
        };
        members.push(Member { rust, wire, doc: variant.doc, rules, content });
    }
    members
}
