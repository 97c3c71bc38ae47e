//! Rules and literals as tables.
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;

use crate::model::{Bound, Keywords, List, Literal, Rules, RustPath};

/// A reference to the rules' table.
pub(crate) fn rules(rules: &Rules) -> TokenStream {
    let set = declared(rules);
    if set.is_empty() {
        return quote!(&__decl::Rules::NONE);
    }
    quote!(&__decl::Rules { #(#set,)* ..__decl::Rules::NONE })
}

/// The fields of the table that differ from `Rules::NONE`.
fn declared(rules: &Rules) -> Vec<TokenStream> {
    let mut set = Vec::new();
    if let Some((_, default)) = &rules.default {
        let literal = literal(default);
        set.push(quote!(default: ::core::option::Option::Some(#literal)));
    }
    set.extend(rules.bounds.iter().map(bound));
    if let Some(format) = &rules.format {
        set.push(quote!(format: ::core::option::Option::Some(#format)));
    }
    if !rules.doc.is_empty() {
        let doc = &rules.doc;
        set.push(quote!(doc: #doc));
    }
    set.extend(rules.pattern.iter().map(|pattern| quote!(pattern: #pattern)));
    let flags = [
        (quote!(map_atomic), rules.map_atomic),
        (quote!(immutable), rules.immutable),
        (quote!(observed), rules.observed),
        (quote!(proto_zero), rules.proto_zero),
        (quote!(required), rules.required),
        (quote!(nullable), rules.nullable),
        (quote!(preserve_unknown), rules.preserve_unknown),
        (quote!(embedded), rules.embedded),
    ];
    set.extend(flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| quote!(#name: true)));
    match &rules.list {
        List::Atomic => {}
        List::Set(_) => set.push(quote!(list: __decl::ListDecl::Set)),
        List::Map(keys) => {
            let keys = keys.iter().map(|key| key.unraw().to_string());
            set.push(quote!(list: __decl::ListDecl::Map(&[#(#keys),*])));
        }
    }
    if rules.merge.is_some() || rules.retain_keys {
        let (merge, retain_keys) = (rules.merge.is_some(), rules.retain_keys);
        let key = option(rules.merge.as_ref().and_then(|m| m.key.as_ref()).map(|key| key.unraw().to_string()));
        set.push(quote!(merge: __decl::MergeDecl { merge: #merge, retain_keys: #retain_keys, key: #key }));
    }
    if rules.proto > 0 {
        let number = rules.proto;
        set.push(quote!(proto: #number));
    }
    if !rules.keywords.is_empty() {
        let keywords = keywords(&rules.keywords);
        set.push(quote!(keywords: #keywords));
    }
    if let Some(items) = &rules.items {
        let items = self::rules(items);
        set.push(quote!(items: ::core::option::Option::Some(#items)));
    }
    set
}

/// `minimum: Some(0f64)`, with `exclusive_minimum: true` where the minimum itself is excluded.
fn bound(bound: &Bound) -> TokenStream {
    let flag = bound.name.starts_with("exclusive").then(|| format_ident!("{}", bound.name));
    let flag = flag.map(|flag| quote!(, #flag: true));
    let name = format_ident!("{}", bound.name.trim_start_matches("exclusive_"));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are read as a u32")]
    let count = bound.value as u64;
    let value = if bound.counts() { count.to_token_stream() } else { bound.value.to_token_stream() };
    quote!(#name: ::core::option::Option::Some(#value) #flag)
}

/// Keywords as a table.
pub(crate) fn keywords(keywords: &Keywords) -> TokenStream {
    let entries = keywords.iter().map(|(keyword, value)| {
        let value = literal(value);
        quote!((#keyword, #value))
    });
    quote!(&[#(#entries),*])
}

/// `Some(…)` or `None`.
pub(crate) fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}

/// A path as a constant.
pub(crate) fn dotted(path: &RustPath) -> TokenStream {
    let names = path.iter().map(|ident| ident.unraw().to_string());
    quote!(&[#(#names),*])
}

fn literal(value: &Literal) -> TokenStream {
    match value {
        Literal::Null => quote!(__decl::Literal::Null),
        Literal::Bool(v) => quote!(__decl::Literal::Bool(#v)),
        Literal::Int(v) => quote!(__decl::Literal::Int(#v)),
        Literal::Float(v) => quote!(__decl::Literal::Float(#v)),
        Literal::Text(v) => quote!(__decl::Literal::Text(#v)),
        Literal::Variant(path) => {
            let name = path.segments.last().map(|s| s.ident.unraw().to_string()).unwrap_or_default();
            quote!(__decl::Literal::Variant(#name))
        }
        Literal::Path(path) => {
            let path = dotted(path);
            quote!(__decl::Literal::Path(#path))
        }
        Literal::List(items) => {
            let items = items.iter().map(literal);
            quote!(__decl::Literal::List(&[#(#items),*]))
        }
        Literal::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let value = literal(value);
                quote!((#key, #value))
            });
            quote!(__decl::Literal::Map(&[#(#entries),*]))
        }
    }
}
