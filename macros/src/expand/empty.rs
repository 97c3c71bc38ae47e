//! The expansion of an invalid declaration besides its errors: empty implementations, so that uses of the type cause no
//! further errors. The program does not build, so they never run.
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::{anonymous, message_items};

/// An empty `ApiType`.
pub(crate) fn api_type(input: &DeriveInput, krate: &syn::Path) -> TokenStream {
    anonymous(krate, &implementation(input))
}

fn implementation(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    quote! {
        impl #parameters __decl::ApiType for #ident #arguments #clause {
            type Inner = Self;
            const DECLARATION: &'static __decl::TypeDecl = &__decl::TypeDecl::unnamed(__decl::Shape::Any);
            const NESTING: usize = 1;
        }
        impl #parameters __decl::checks::Scalar for #ident #arguments #clause {}
        impl #parameters __decl::checks::ListKey for #ident #arguments #clause {}
    }
}

/// An empty `Resource`, and empty serde traits.
pub(crate) fn resource(input: &DeriveInput, krate: &syn::Path) -> TokenStream {
    let ident = &input.ident;
    let api_type = implementation(input);
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    let mut with_de = input.generics.clone();
    with_de.params.insert(0, syn::parse_quote!('de));
    let (with_de, _, _) = with_de.split_for_impl();
    anonymous(
        krate,
        &quote! {
            #api_type
            impl #parameters __kind::Resource for #ident #arguments #clause {
                type Scope = __kind::Namespaced;
                const RESOURCE: &'static __kind::ResourceDecl = ::core::panic!();
            }
            impl #parameters __kind::Stored for #ident #arguments #clause {}
            impl #parameters __kind::Unstored for #ident #arguments #clause {}
            impl #parameters serde::Serialize for #ident #arguments #clause {
                fn serialize<S: serde::Serializer>(
                    &self,
                    _: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    ::core::unimplemented!()
                }
            }
            impl #with_de serde::Deserialize<'de> for #ident #arguments #clause {
                fn deserialize<D: serde::Deserializer<'de>>(
                    _: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    ::core::unimplemented!()
                }
            }
        },
    )
}

/// An empty `Message`.
pub(crate) fn message(input: &DeriveInput, krate: &syn::Path) -> TokenStream {
    let ident = &input.ident;
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    message_items(
        krate,
        &quote! {
            impl #parameters __prost::Message for #ident #arguments #clause {
                fn encode_raw(&self, _: &mut impl __prost::bytes::BufMut) {}
                fn merge_field(
                    &mut self,
                    _: u32,
                    _: __prost::encoding::WireType,
                    _: &mut impl __prost::bytes::Buf,
                    _: __prost::encoding::DecodeContext,
                ) -> ::core::result::Result<(), __prost::DecodeError> {
                    ::core::unimplemented!()
                }
                fn encoded_len(&self) -> usize {
                    ::core::unimplemented!()
                }
                fn clear(&mut self) {}
            }
            __message::message_field!(impl [#parameters] for #ident #arguments [#clause], ::core::unimplemented!());
        },
    )
}
