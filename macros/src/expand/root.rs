//! The serde implementations of the root type. They write `apiVersion` and `kind` first, which are not fields of the
//! struct, and check them on input (list items have none). Names in them begin with underscores: types of fields may have any other.
use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::{
    model::{Container, Field, Shape},
    parse::args::shown,
};

/// `Serialize` and `Deserialize` of the root.
pub(crate) fn serde(root: &Container) -> TokenStream {
    let Shape::Struct(fields) = &root.shape else { return TokenStream::new() };
    let mut tokens = serialize(&root.ident, fields);
    tokens.extend(deserialize(root, fields));
    tokens
}

fn serialize(root: &Ident, fields: &[Field]) -> TokenStream {
    let count = fields.len() + 2;
    let name = root.to_string();
    let writes = fields.iter().map(|field| {
        let (ident, wire) = (&field.ident, &field.wire);
        let write = quote!(SerializeStruct::serialize_field(&mut out, #wire, &self.#ident)?;);
        let skip = match &field.skip_serializing_if {
            Some(path) => {
                path.parse::<syn::Path>().map_or_else(|e| e.to_compile_error(), |path| quote!(#path(&self.#ident)))
            }
            None if crate::parse::types::look(&field.ty).optional && !is_said(field) => quote!(self.#ident.is_none()),
            None => return write,
        };
        quote!(if #skip { SerializeStruct::skip_field(&mut out, #wire)?; } else { #write })
    });
    quote! {
        impl serde::Serialize for #root {
            fn serialize<__S: serde::Serializer>(&self, to: __S) -> ::core::result::Result<__S::Ok, __S::Error> {
                use serde::ser::SerializeStruct;
                let mut out = serde::Serializer::serialize_struct(to, #name, #count)?;
                let declaration = <Self as __kind::Resource>::RESOURCE;
                SerializeStruct::serialize_field(&mut out, "apiVersion", &__kind::ApiVersion(declaration))?;
                SerializeStruct::serialize_field(&mut out, "kind", declaration.kind)?;
                #(#writes)*
                SerializeStruct::end(out)
            }
        }
    }
}

/// True for a field whose null is not the same as its absence: it is required, or has a default.
fn is_said(field: &Field) -> bool {
    field.rules.required || field.rules.nullable && field.rules.default.is_some()
}

fn deserialize(root: &Container, fields: &[Field]) -> TokenStream {
    let Container { krate, ident: root, .. } = root;
    let serde = shown(&quote!(#krate::__private::serde));
    let reads = fields.iter().map(|field| {
        let (ident, wire, ty) = (&field.ident, &field.wire, &field.ty);
        let default = field.defaulted.then(|| quote!(#[serde(default)]));
        quote!(#[serde(rename = #wire)] #default #ident: #ty)
    });
    let idents = fields.iter().map(|f| &f.ident).collect::<Vec<_>>();
    quote! {
        impl<'de> serde::Deserialize<'de> for #root {
            fn deserialize<__D: serde::Deserializer<'de>>(from: __D) -> ::core::result::Result<Self, __D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(crate = #serde)]
                struct __Read {
                    #[serde(rename = "apiVersion", default)]
                    __api_version: ::core::option::Option<::std::string::String>,
                    #[serde(rename = "kind", default)]
                    __kind: ::core::option::Option<::std::string::String>,
                    #(#reads,)*
                }
                let read = <__Read as serde::Deserialize>::deserialize(from)?;
                let declaration = <Self as __kind::Resource>::RESOURCE;
                declaration
                    .check_type_meta(read.__api_version.as_deref(), read.__kind.as_deref())
                    .map_err(serde::de::Error::custom)?;
                ::core::result::Result::Ok(Self { #(#idents: read.#idents,)* })
            }
        }
    }
}
