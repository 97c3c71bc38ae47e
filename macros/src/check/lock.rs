//! The lock of Protobuf numbers: a published `.proto` file, from which fields get their numbers and with which their types are
//! compared. It is read when the derive runs, and the expansion includes it, so that a changed file is compiled again.
use std::{env, fs, path::Path};

use kindsmith_proto::{
    Conflict, Field as Published, File, Label, Message, ResolvedType, changed_type, is_scalar, parse, same_wire,
};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, LitInt, LitStr, Type, ext::IdentExt};

use crate::{
    diag::Errors,
    parse::{
        args::shown,
        container::{Body, Container, Content, Field},
        resource::KindArgs,
        serde::{field_name, variant_name},
        types::{Look, last_segment, look, span},
    },
};

/// The environment variable by which `kindsmith export proto` builds a program whose fields are not in the lock yet.
const OPEN: &str = "KINDSMITH_LOCK";

/// A file, and its path as the attribute has it.
struct Lock<'l> {
    path: &'l LitStr,
    file: File,
}

impl Lock<'_> {
    fn conflict(&self, conflict: &Conflict) -> String {
        conflict.of(self.path.value())
    }
}

/// Gives the fields of a type the numbers of its message.
pub(crate) fn number(raw: &mut Container, path: &LitStr, message: &str, is_root: bool, errors: &Errors) {
    // The expansion depends on both the variable and the file.
    let tracked = path.value();
    raw.locked = quote! {
        const _: ::core::option::Option<&str> = ::core::option_env!(#OPEN);
    };
    if is_ignored() {
        return;
    }
    let Some(lock) = open(path, errors) else { return };
    raw.locked.extend(quote! {
        const _: &str = ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #tracked));
    });
    let mut checks = TokenStream::new();
    let rule = |otherwise: &str| raw.serde.rename_all.as_ref().map_or_else(|| otherwise.to_owned(), LitStr::value);
    match &mut raw.body {
        Body::Struct(fields) => {
            let rule = rule(if is_root { "camelCase" } else { "snake_case" });
            number_fields(fields, &rule, (message, &lock), &mut checks, errors);
        }
        Body::Enum(variants) if variants.iter().all(|variant| matches!(variant.content, Content::Unit)) => {
            errors.at(path.span(), "an enum of strings is text in messages and has no numbers; remove `proto`");
        }
        Body::Enum(variants) => {
            let (rule, fields_rule) =
                (rule(""), raw.serde.rename_all_fields.as_ref().map_or_else(String::new, LitStr::value));
            let Some(known) = message_of(&lock, message, errors) else { return };
            for variant in variants {
                let rust = variant.ident.unraw().to_string();
                let wire = variant.serde.rename.as_ref().map_or_else(|| variant_name(&rust, &rule), LitStr::value);
                let ty = match &variant.content {
                    Content::One(ty) => Some(&**ty),
                    Content::Unit | Content::Struct(_) => None,
                };
                let declaration = FieldDeclaration {
                    ident: &variant.ident,
                    wire: &wire,
                    ty,
                    has_format: variant.api.format.is_some(),
                };
                checks.extend(number_one(&declaration, &mut variant.api.proto, known, (message, &lock), errors));
                if let Content::Struct(fields) = &mut variant.content {
                    let rule = variant.serde.rename_all.as_ref().map_or_else(|| fields_rule.clone(), LitStr::value);
                    number_fields(fields, &rule, (&format!("{message}{rust}"), &lock), &mut checks, errors);
                }
            }
        }
        Body::Refused => {}
    }
    raw.locked.extend(checks);
}

/// The lock is not read in this build.
fn is_ignored() -> bool {
    env::var_os(OPEN).is_some_and(|how| how == "open")
}

/// A lock is declared, and not read in this build.
pub(crate) fn is_open(raw: &Container, args: &KindArgs) -> bool {
    is_ignored() && (raw.api.proto.is_some() || args.proto.is_some())
}

/// Reads the file, whose path begins at the manifest of the crate.
fn open<'l>(path: &'l LitStr, errors: &Errors) -> Option<Lock<'l>> {
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let text = match fs::read_to_string(Path::new(&folder).join(path.value())) {
        Ok(text) => text,
        Err(error) => {
            let way_out =
                "the path begins at the crate's manifest, and `kindsmith export proto --out schemas` writes the file";
            errors.at(path.span(), format!("{}: {error}; {way_out}", path.value()));
            return None;
        }
    };
    match parse(&text) {
        Ok(file) => Some(Lock { path, file }),
        Err(error) => {
            errors.at(path.span(), format!("{}:{error}", path.value()));
            None
        }
    }
}

fn message_of<'l>(lock: &'l Lock<'_>, name: &str, errors: &Errors) -> Option<&'l Message> {
    let found = lock.file.message(name);
    if found.is_none() {
        let message =
            format!("{} has no message {name}; `kindsmith export proto --out schemas` appends it", lock.path.value());
        errors.at(lock.path.span(), message);
    }
    found
}

fn number_fields(
    fields: &mut [Field],
    rule: &str,
    (message, lock): (&str, &Lock<'_>),
    checks: &mut TokenStream,
    errors: &Errors,
) {
    let Some(known) = message_of(lock, message, errors) else { return };
    for field in &mut *fields {
        let rust = field.ident.unraw().to_string();
        let wire = field.serde.rename.as_ref().map_or_else(|| field_name(&rust, rule), LitStr::value);
        let declaration = FieldDeclaration {
            ident: &field.ident,
            wire: &wire,
            ty: Some(&field.ty),
            has_format: field.api.format.is_some(),
        };
        checks.extend(number_one(&declaration, &mut field.api.proto, known, (message, lock), errors));
    }
    // What is wrong was reported: a field without a number beside numbered ones would be reported again.
    if fields.iter().any(|field| field.api.proto.is_none()) {
        for field in fields {
            field.api.proto = None;
        }
    }
}

/// A field, or a member of a union, as it is declared.
struct FieldDeclaration<'d> {
    ident: &'d Ident,
    wire: &'d str,
    /// None for a member with fields of its own.
    ty: Option<&'d Type>,
    has_format: bool,
}

fn number_one(
    field: &FieldDeclaration<'_>,
    proto: &mut Option<LitInt>,
    known: &Message,
    (message, lock): (&str, &Lock<'_>),
    errors: &Errors,
) -> Option<TokenStream> {
    let place = proto.as_ref().map_or_else(|| field.ident.span(), LitInt::span);
    let declared = proto.as_ref().and_then(|number| number.base10_parse().ok());
    match known.number_of(field.wire, declared) {
        Err(conflict) => {
            errors.at(place, lock.conflict(&conflict));
            return None;
        }
        Ok(None) => {
            let path = lock.path.value();
            let way_out = "`kindsmith export proto --out schemas` appends it";
            errors.at(place, format!("`{}` is not in message {message} of {path}; {way_out}", field.wire));
        }
        Ok(Some(number)) => *proto = Some(LitInt::new(&number.to_string(), place)),
    }
    let (published, ty) = (known.field(field.wire)?, field.ty.filter(|_| !field.has_format)?);
    let (declared, to) = declared_type(ty);
    check_type(published, ty, (&declared, &to), field.wire, (message, lock), errors);
    matches!(to, ResolvedType::Message(name) if !name.is_empty()).then(|| check_shape(published, ty, field.wire, lock))
}

/// A type of the user may be text or a message, which the compiler alone knows, and a message needs numbers on all of its fields.
fn check_shape(published: &Published, ty: &Type, wire: &str, lock: &Lock<'_>) -> TokenStream {
    let inner = innermost(ty);
    let shape = quote_spanned!(span(ty)=> <#inner as __decl::ApiType>::DECLARATION.shape);
    let conflict = lock.conflict(&changed_type(published, wire, &shown(inner)));
    if is_scalar(&published.kind) {
        return quote_spanned! {span(ty)=>
            const _: () = ::core::assert!(::core::matches!(#shape, __decl::Shape::Scalar(..) | __decl::Shape::Enum(_)), #conflict);
        };
    }
    let way_out = format!("add `#[api(proto = {:?})]` to it", lock.path.value());
    let unnumbered = format!("`{}` has fields without Protobuf numbers: {way_out}", shown(inner));
    quote_spanned! {span(ty)=>
        const _: () = match #shape {
            __decl::Shape::Struct(fields) | __decl::Shape::Union(fields) => {
                let mut at = 0;
                while at < fields.len() {
                    ::core::assert!(fields[at].rules.proto > 0, #unnumbered);
                    at += 1;
                }
            }
            __decl::Shape::Enum(_) => ::core::panic!(#conflict),
            _ => {}
        };
    }
}

/// The type of items, values, or the field itself.
fn innermost(ty: &Type) -> &Type {
    let wrapped = look(ty);
    match wrapped.look {
        Look::List(item) | Look::Map(item) => look(item).inner,
        _ => wrapped.inner,
    }
}

/// A published type never changes: clients have compiled it.
fn check_type(
    published: &Published,
    ty: &Type,
    (declared, to): (&Published, &ResolvedType),
    wire: &str,
    (message, lock): (&str, &Lock<'_>),
    errors: &Errors,
) {
    let at = lock.file.resolve(&published.kind, message);
    let names = |one: &str, other: &str| other.is_empty() || one.rsplit('.').next() == Some(other);
    let is_same = match (&at, to) {
        // An enum of the user; the compiler says whether it is one.
        (ResolvedType::Scalar, ResolvedType::Message(name)) if !name.is_empty() => {
            same_wire((published, &at), (&Published { kind: published.kind.clone(), ..declared.clone() }, &at))
        }
        (ResolvedType::Message(one) | ResolvedType::Elsewhere(one), ResolvedType::Message(other)) => {
            names(one, other) && same_wire((published, &at), (declared, to))
        }
        _ => same_wire((published, &at), (declared, to)),
    };
    if !is_same {
        let conflict = changed_type(published, wire, &declared.declared());
        errors.at(span(ty), lock.conflict(&conflict));
    }
}

/// The type of a field, as its tokens say it; types of the user are messages of their names.
fn declared_type(ty: &Type) -> (Published, ResolvedType) {
    let (label, inner) = match look(ty).look {
        Look::List(item) => (Label::Repeated, item),
        Look::Map(value) => (Label::Map("string".to_owned()), value),
        _ => (Label::Optional, ty),
    };
    let wrapped = look(inner);
    let scalar = |kind: &str| (kind.to_owned(), ResolvedType::Scalar);
    let (kind, to) = match wrapped.look {
        Look::Bool => scalar("bool"),
        Look::Int(_, high) if high > i64::from(i32::MAX) => scalar("int64"),
        Look::Int(..) => scalar("int32"),
        Look::Float => scalar("double"),
        Look::Text => scalar("string"),
        Look::List(_) | Look::Map(_) => ("message".to_owned(), ResolvedType::Message(String::new())),
        Look::Other => message_type(wrapped.inner),
    };
    (Published { label, kind, ..Published::default() }, to)
}

/// Types of kindsmith, and their types in messages; with a dot, those of the API machinery.
const KNOWN: [(&str, &str); 9] = [
    ("ByteString", "bytes"),
    ("Quantity", "k8s.io.apimachinery.pkg.api.resource.Quantity"),
    ("Time", "k8s.io.apimachinery.pkg.apis.meta.v1.Time"),
    ("MicroTime", "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime"),
    ("IntOrString", "k8s.io.apimachinery.pkg.util.intstr.IntOrString"),
    ("RawJson", "k8s.io.apimachinery.pkg.runtime.RawExtension"),
    ("Condition", "k8s.io.apimachinery.pkg.apis.meta.v1.Condition"),
    ("ObjectMeta", "k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
    ("LabelSelector", "k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelector"),
];

fn message_type(ty: &Type) -> (String, ResolvedType) {
    let name = last_segment(ty).map_or_else(String::new, |(name, _)| name);
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, kind)) if is_scalar(kind) => ((*kind).to_owned(), ResolvedType::Scalar),
        Some((_, full)) => (name, ResolvedType::Elsewhere((*full).to_owned())),
        None => (name.clone(), ResolvedType::Message(name)),
    }
}
