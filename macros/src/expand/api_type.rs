//! The table of a type, and the implementation of `ApiType` that refers to it.
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Type, spanned::Spanned};

use super::{
    anonymous, checks,
    rules::{keywords, rules},
};
use crate::model::{Container, Content, Field, Member, Shape, Value};

/// The expansion of `#[derive(ApiType)]`.
pub(crate) fn container(container: &Container) -> TokenStream {
    let mut body = implementation(container);
    body.extend(checks::container(container));
    body.extend(checks::on_the_wire(&container.ident));
    if let Shape::Enum(_) = container.shape {
        let ident = &container.ident;
        body.extend(quote! {
            #[diagnostic::do_not_recommend]
            impl __decl::checks::Scalar for #ident {}
            #[diagnostic::do_not_recommend]
            impl __decl::checks::ListKey for #ident {}
            #[diagnostic::do_not_recommend]
            impl __decl::checks::Cell for #ident {
                const COLUMN: &'static str = "string";
            }
        });
    }
    anonymous(&container.krate, &body)
}

/// Only the implementation.
pub(crate) fn implementation(container: &Container) -> TokenStream {
    let Container { ident, doc, proto_zeros, locked, published, .. } = container;
    let keywords = keywords(&container.keywords);
    let name = ident.to_string();
    let mut functions = TokenStream::new();
    let shape = match &container.shape {
        Shape::Struct(fields) => {
            let fields = fields.iter().map(field);
            quote!(__decl::Shape::Struct(&[#(#fields),*]))
        }
        Shape::Enum(values) => {
            let values = values
                .iter()
                .map(|Value { rust, wire, doc }| quote!(__decl::VariantDecl { rust: #rust, wire: #wire, doc: #doc }));
            quote!(__decl::Shape::Enum(&[#(#values),*]))
        }
        Shape::Union(members) => {
            let members = members.iter().map(|m| member(m, &name, &mut functions)).collect::<Vec<_>>();
            quote!(__decl::Shape::Union(&[#(#members),*]))
        }
    };
    let ends = quote_spanned!(ident.span()=> const _: usize = <#ident as __decl::ApiType>::NESTING;);
    let nesting = nesting(ident, &container.shape);
    quote! {
        #[diagnostic::do_not_recommend]
        impl __decl::ApiType for #ident {
            type Inner = Self;
            const DECLARATION: &'static __decl::TypeDecl = {
                #functions
                &__decl::TypeDecl { name: #name, module: ::core::module_path!(), doc: #doc, shape: #shape, proto_zeros: #proto_zeros, keywords: #keywords, published: #published }
            };
            #nesting
        }
        #ends
        #locked
    }
}

/// The nesting depth of values: one more than the deepest field. For a type that contains itself indirectly, the
/// compiler reports a cycle at the types of the fields involved.
fn nesting(ident: &Ident, shape: &Shape) -> TokenStream {
    let level = |ty: &Type| quote_spanned!(ty.span()=> <#ty as __decl::ApiType>::NESTING);
    let levels: Vec<_> = match shape {
        Shape::Enum(_) => Vec::new(),
        Shape::Struct(fields) => fields.iter().map(|field| level(&field.declared())).collect(),
        Shape::Union(members) => members
            .iter()
            .flat_map(|member| match &member.content {
                Content::Type(ty) => vec![level(ty)],
                Content::Struct(fields) => fields.iter().map(|field| level(&field.declared())).collect(),
            })
            .collect(),
    };
    quote_spanned! {ident.span()=>
        const NESTING: usize = {
            let deepest = 0;
            #(let deepest = __decl::deeper(deepest, #levels);)*
            deepest + 1
        };
    }
}

/// The function that returns a type's table. Errors about the type are reported at its tokens.
fn declaration(ty: &Type) -> TokenStream {
    quote_spanned!(ty.span()=> <#ty as __decl::ApiType>::declaration)
}

fn field(field: &Field) -> TokenStream {
    let Field { rust, wire, doc, defaulted, .. } = field;
    let (ty, rules) = (declaration(&field.declared()), rules(&field.rules));
    quote! {
        __decl::FieldDecl { rust: #rust, wire: #wire, doc: #doc, ty: #ty, defaulted: #defaulted, rules: #rules }
    }
}

/// A member. If it has fields of its own, their table is in a separate function.
fn member(member: &Member, owner: &str, functions: &mut TokenStream) -> TokenStream {
    let Member { rust, wire, doc, .. } = member;
    let ty = match &member.content {
        Content::Type(ty) => declaration(ty),
        Content::Struct(fields) => {
            let function = format_ident!("member_{rust}");
            let fields = fields.iter().map(field);
            let name = format!("{owner}{rust}");
            functions.extend(quote! {
                #[allow(non_snake_case)]
                fn #function() -> &'static __decl::TypeDecl {
                    const DECLARATION: &__decl::TypeDecl = &__decl::TypeDecl {
                        name: #name,
                        module: ::core::module_path!(),
                        doc: #doc,
                        shape: __decl::Shape::Struct(&[#(#fields),*]),
                        proto_zeros: false,
                        keywords: &[],
                        published: false,
                    };
                    DECLARATION
                }
            });
            quote!(#function)
        }
    };
    let rules = rules(&member.rules);
    quote! {
        __decl::FieldDecl { rust: #rust, wire: #wire, doc: #doc, ty: #ty, defaulted: false, rules: #rules }
    }
}
