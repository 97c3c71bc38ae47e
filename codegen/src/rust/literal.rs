//! Values of JSON as the arguments of attributes.
use kindsmith::schema::Document;
use proc_macro2::TokenStream;
use quote::quote;

/// A value.
pub(super) fn literal(value: &Document) -> TokenStream {
    match value {
        Document::Null => quote!(null),
        Document::Bool(value) => quote!(#value),
        Document::Number(value) => match value.as_i64() {
            Some(value) => number(&value.to_string()),
            None => number(&format!("{:?}", value.as_f64().unwrap_or_default())),
        },
        Document::String(value) => quote!(#value),
        Document::Array(items) => {
            let items = items.iter().map(literal);
            quote!([#(#items),*])
        }
        Document::Object(entries) => {
            let (keys, values) = (entries.keys(), entries.values().map(literal));
            quote!({ #(#keys: #values),* })
        }
    }
}

/// A number without a suffix.
pub(super) fn number(text: &str) -> TokenStream {
    text.parse().expect("numbers are tokens")
}

/// A bound: whole where it can be.
pub(super) fn bound(value: f64) -> TokenStream {
    const LARGEST: f64 = 9_223_372_036_854_775_808.0;
    if value.fract() == 0.0 && value.abs() <= LARGEST {
        number(&format!("{value:.0}"))
    } else {
        number(&format!("{value:?}"))
    }
}
