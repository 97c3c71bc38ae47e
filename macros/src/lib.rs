//! The derives `Resource` and `ApiType`.
use proc_macro::TokenStream;

/// Declares a kind.
#[proc_macro_derive(Resource, attributes(resource, api))]
pub fn resource(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Declares a nested type.
#[proc_macro_derive(ApiType, attributes(api))]
pub fn api_type(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}
