//! A type: its name, its attributes, and its fields or variants with theirs.
use proc_macro2::TokenStream;
use syn::{Data, DeriveInput, Fields, Ident, Type, parse_quote};

use super::{
    docs,
    field::{self, FieldArgs},
    serde::{self, AttributePosition, SerdeArgs},
    type_args::{self, TypeArgs},
};
use crate::diag::Errors;

/// A parsed struct or enum.
pub(crate) struct Container {
    /// The path of kindsmith, for the expansion.
    pub krate: syn::Path,
    pub ident: Ident,
    pub doc: String,
    pub serde: SerdeArgs,
    pub api: TypeArgs,
    pub generics: syn::Generics,
    pub body: Body,
    /// Items that compare the type with the lock of Protobuf numbers.
    pub locked: TokenStream,
}

/// The body of a type.
pub(crate) enum Body {
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
    /// An unsupported body, which was already reported.
    Refused,
}

/// A parsed field.
pub(crate) struct Field {
    pub ident: Ident,
    pub doc: String,
    pub ty: Type,
    pub api: FieldArgs,
    pub serde: SerdeArgs,
}

/// A parsed variant.
pub(crate) struct Variant {
    pub ident: Ident,
    pub doc: String,
    pub api: FieldArgs,
    pub serde: SerdeArgs,
    pub content: Content,
}

/// The content of a variant.
pub(crate) enum Content {
    Unit,
    One(Box<Type>),
    Struct(Vec<Field>),
}

/// The path of kindsmith where no other one is given.
pub(crate) fn default_crate() -> syn::Path {
    parse_quote!(::kindsmith)
}

/// Parses the derive's input.
///
/// # Errors
/// If the input is not a Rust item, which the compiler has reported already.
pub(crate) fn parse(input: TokenStream, errors: &Errors) -> syn::Result<(DeriveInput, Container)> {
    let input: DeriveInput = syn::parse2(input)?;
    let api = type_args::read(&input.attrs, errors);
    if api.published.is_some() {
        errors.publish();
    }
    let verbatim = api.verbatim.is_some();
    let body = match &input.data {
        Data::Struct(data) => struct_body(&input.ident, &data.fields, verbatim, errors),
        Data::Enum(data) => {
            let variants: Vec<_> = data.variants.iter().filter_map(|v| variant(v, verbatim, errors)).collect();
            if variants.len() == data.variants.len() { Body::Enum(variants) } else { Body::Refused }
        }
        Data::Union(data) => {
            errors
                .at(data.union_token.span, "Rust unions are not supported; declare a struct, or an enum for a choice");
            Body::Refused
        }
    };
    let container = Container {
        krate: api.krate.clone().unwrap_or_else(default_crate),
        ident: input.ident.clone(),
        doc: api.keywords.describe(docs::description(&input.attrs, verbatim)),
        serde: serde::read(&input.attrs, AttributePosition::Type, errors),
        api,
        generics: input.generics.clone(),
        body,
        locked: TokenStream::new(),
    };
    Ok((input, container))
}

fn struct_body(ident: &Ident, fields: &Fields, verbatim: bool, errors: &Errors) -> Body {
    match fields {
        Fields::Named(_) => Body::Struct(named(fields, verbatim, errors)),
        Fields::Unit => Body::Struct(Vec::new()),
        Fields::Unnamed(_) => {
            errors.at(ident.span(), "a tuple struct has no field names; declare a struct with named fields");
            Body::Refused
        }
    }
}

fn named(fields: &Fields, verbatim: bool, errors: &Errors) -> Vec<Field> {
    fields
        .iter()
        .filter_map(|f| Some((f.ident.clone()?, f)))
        .map(|(ident, f)| one(ident, f, verbatim, errors))
        .collect()
}

fn one(ident: Ident, field: &syn::Field, verbatim: bool, errors: &Errors) -> Field {
    let (doc, of_items) = docs::with_items(&field.attrs, verbatim);
    let api = FieldArgs { of_items, ..field::read(&field.attrs, errors) };
    Field {
        ident,
        doc: api.keywords.describe(doc),
        ty: field.ty.clone(),
        api,
        serde: serde::read(&field.attrs, AttributePosition::Field, errors),
    }
}

fn variant(variant: &syn::Variant, verbatim: bool, errors: &Errors) -> Option<Variant> {
    let content = match &variant.fields {
        Fields::Unit => Content::Unit,
        Fields::Named(_) => Content::Struct(named(&variant.fields, verbatim, errors)),
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Content::One(Box::new(fields.unnamed[0].ty.clone())),
        Fields::Unnamed(_) => {
            let ident = &variant.ident;
            let message = format!("a member of a union must contain one type: `{ident}(…)` or `{ident} {{ … }}`");
            errors.at(ident.span(), message);
            return None;
        }
    };
    let api = field::read(&variant.attrs, errors);
    Some(Variant {
        ident: variant.ident.clone(),
        doc: api.keywords.describe(docs::description(&variant.attrs, verbatim)),
        api,
        serde: serde::read(&variant.attrs, AttributePosition::Variant, errors),
        content,
    })
}
