//! `#[api(…)]` on types.
use proc_macro2::{Span, TokenStream};
use syn::{Attribute, DeriveInput, Ident};

use super::{
    allow,
    args::parse_args,
    keys::{Key, Reader},
    keywords::{self, Keywords},
    rules,
};
use crate::diag::Errors;

const KEYS: &[Key] = &[
    ("proto", "proto = \"schemas/library.example.com/v1.proto\""),
    ("proto_zeros", "proto_zeros"),
    ("published", "published"),
    ("verbatim", "verbatim"),
    ("schema", "schema = schemars"),
    ("allow", "allow(float = \"why\")"),
    ("crate", "crate = path::to::kindsmith"),
];

/// A type's parsed `#[api(…)]` attributes.
#[derive(Default)]
pub(crate) struct TypeArgs {
    /// The lock of Protobuf numbers.
    pub proto: Option<syn::LitStr>,
    pub proto_zeros: Option<Span>,
    /// The schema is published elsewhere, so conventions are not checked.
    pub published: Option<Span>,
    /// Descriptions keep the line breaks of doc comments.
    pub verbatim: Option<Span>,
    pub keywords: Keywords,
    /// What describes the type.
    pub schema: Option<Ident>,
    /// The name and span of each argument.
    pub given: Vec<(String, Span)>,
    /// The path of kindsmith.
    pub krate: Option<syn::Path>,
}

/// Reads all `#[api(…)]` attributes of a type.
pub(crate) fn read(attributes: &[Attribute], errors: &Errors) -> TypeArgs {
    let mut found = TypeArgs::default();
    let mut seen = Vec::new();
    let reader = Reader { attribute: "#[api] of a type", keys: &[KEYS, keywords::KEYS, rules::KEYS], errors };
    for attribute in attributes.iter().filter(|a| a.path().is_ident("api")) {
        let Some(args) = errors.ok(attribute.parse_args_with(parse_args)) else { continue };
        for arg in &args {
            let name = reader.name(arg, &mut seen, &rules::NAMES);
            found.given.extend(name.clone().map(|name| (name, arg.span())));
            match name.as_deref() {
                Some("allow") => allow::read(arg, &reader),
                Some("schema") => found.schema = reader.word(arg),
                Some("proto") => found.proto = reader.text(arg),
                Some("proto_zeros") => found.proto_zeros = reader.flag(arg),
                Some("published") => found.published = reader.flag(arg),
                Some("verbatim") => found.verbatim = reader.flag(arg),
                Some("crate") => found.krate = reader.function(arg),
                Some(name) => found.keywords.read(name, arg, &reader),
                None => {}
            }
        }
    }
    found
}

/// The input, if another derive describes the type.
pub(crate) fn generated(input: &TokenStream) -> Option<DeriveInput> {
    let input: DeriveInput = syn::parse2(input.clone()).ok()?;
    read(&input.attrs, &Errors::default()).schema.is_some().then_some(input)
}
