//! Rules and literals as tables.
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use crate::model::{List, Literal, Rules};

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
    numbers(rules, &mut set);
    for (name, text) in [(quote!(format), &rules.format), (quote!(pattern), &rules.pattern)] {
        if !text.is_empty() {
            set.push(quote!(#name: #text));
        }
    }
    let flags = [
        (quote!(exclusive_minimum), rules.exclusive_minimum),
        (quote!(exclusive_maximum), rules.exclusive_maximum),
        (quote!(map_atomic), rules.map_atomic),
        (quote!(immutable), rules.immutable),
        (quote!(observed), rules.observed),
        (quote!(proto_zero), rules.proto_zero),
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
    if let Some(items) = &rules.items {
        let items = self::rules(items);
        set.push(quote!(items: ::core::option::Option::Some(#items)));
    }
    set
}

fn numbers(rules: &Rules, set: &mut Vec<TokenStream>) {
    let bounds =
        [(quote!(minimum), rules.minimum), (quote!(maximum), rules.maximum), (quote!(multiple_of), rules.multiple_of)];
    for (name, value) in bounds.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        set.push(quote!(#name: ::core::option::Option::Some(#value)));
    }
    let counts = [
        (quote!(min_length), rules.min_length),
        (quote!(max_length), rules.max_length),
        (quote!(min_items), rules.min_items),
        (quote!(max_items), rules.max_items),
        (quote!(min_properties), rules.min_properties),
        (quote!(max_properties), rules.max_properties),
    ];
    for (name, value) in counts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        set.push(quote!(#name: ::core::option::Option::Some(#value)));
    }
}

/// `Some(…)` or `None`.
pub(crate) fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}

fn literal(value: &Literal) -> TokenStream {
    match value {
        Literal::Bool(v) => quote!(__decl::Literal::Bool(#v)),
        Literal::Int(v) => quote!(__decl::Literal::Int(#v)),
        Literal::Float(v) => quote!(__decl::Literal::Float(#v)),
        Literal::Text(v) => quote!(__decl::Literal::Text(#v)),
        Literal::Variant(path) => {
            let name = path.segments.last().map(|s| s.ident.unraw().to_string()).unwrap_or_default();
            quote!(__decl::Literal::Variant(#name))
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
