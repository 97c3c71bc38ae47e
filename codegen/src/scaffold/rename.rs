//! A field of the `spec` with another name in a copy of a kind's file: the declaration, paths to it, and objects in tests.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{File, Item, ItemStruct, spanned::Spanned};

use super::{edit::SourceFile, kind::raw, names, version::Replacements};

/// Renames a field.
///
/// # Errors
/// The kind has no such field, or one with the new name.
pub(crate) fn field(source: &SourceFile<'_>, kind: &str, from: &str, to: &str) -> Result<Replacements, String> {
    let file = source.parsed()?;
    let mut changes = Replacements::default();
    let spec = spec(source, &file, kind)?;
    let named =
        |name: &str| spec.fields.iter().find(|field| field.ident.as_ref().is_some_and(|ident| *ident == raw(name)));
    let place = spec.ident.span().byte_range();
    if named(to).is_some() {
        return Err(source.error(&place, &format!("`{}` has a field `{to}` already", spec.ident)));
    }
    let Some(field) = named(from) else {
        let fields = spec.fields.iter().filter_map(|field| field.ident.as_ref()).map(|field| format!("`{field}`"));
        let fields = fields.collect::<Vec<_>>().join(", ");
        return Err(source.error(&place, &format!("`{}` has no field `{from}`, but {fields}", spec.ident)));
    };
    if let Some(attribute) =
        field.attrs.iter().find(|a| a.path().is_ident("serde") && a.to_token_stream().to_string().contains("rename"))
    {
        let what = format!("`{from}` has another name on the wire; rename it by hand");
        return Err(source.error(&attribute.span().byte_range(), &what));
    }
    let ident = field.ident.as_ref().expect("it was found by its name");
    changes.replace(ident.span().byte_range(), raw(to));
    let said = format!(" The {}.", names::words(from).join(" "));
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let range = attribute.span().byte_range();
        if source.text()[range.clone()].trim_start_matches('/') == said {
            changes.replace(range, format!("/// The {}.", names::words(to).join(" ")));
        }
    }
    for item in &file.items {
        paths(item.to_token_stream(), from, to, &mut changes);
        if let Item::Mod(item) = item {
            objects(item.to_token_stream(), &names::camel(from), &names::camel(to), &mut changes);
        }
    }
    let (from, to) = (title(from), title(to));
    for attribute in source.structure(kind)?.attrs.iter().filter(|attribute| attribute.path().is_ident("resource")) {
        literals(attribute.to_token_stream(), &from, &to, &mut changes);
    }
    Ok(changes)
}

/// The header of a field's column. The column Name is that of the object's name.
pub(crate) fn title(field: &str) -> String {
    let words: Vec<String> = names::words(field).iter().map(|word| names::capital(word)).collect();
    let title = words.join(" ");
    if title == "Name" { "Spec Name".to_owned() } else { title }
}

/// Replaces a text in literals.
fn literals(tokens: TokenStream, from: &str, to: &str, changes: &mut Replacements) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => literals(group.stream(), from, to, changes),
            TokenTree::Literal(literal) if literal.to_string() == format!("{from:?}") => {
                changes.replace(literal.span().byte_range(), format!("{to:?}"));
            }
            _ => {}
        }
    }
}

/// The type of the field `spec`.
fn spec<'f>(source: &SourceFile<'_>, file: &'f File, kind: &str) -> Result<&'f ItemStruct, String> {
    let structs = || file.items.iter().filter_map(|item| if let Item::Struct(item) = item { Some(item) } else { None });
    let root = structs().find(|item| item.ident == kind);
    let field =
        root.and_then(|root| root.fields.iter().find(|field| field.ident.as_ref().is_some_and(|name| name == "spec")));
    let ty = field.map(|field| field.ty.to_token_stream().to_string());
    ty.and_then(|ty| structs().find(|item| item.ident == ty)).ok_or_else(|| {
        let at = root.map_or(0..0, |root| root.ident.span().byte_range());
        source.error(&at, &format!("`{kind}` has no field `spec` of a struct in this file; rename its fields by hand"))
    })
}

/// Renames it in `spec.customer`.
fn paths(tokens: TokenStream, from: &str, to: &str, changes: &mut Replacements) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            paths(group.stream(), from, to, changes);
        }
        if let [TokenTree::Ident(spec), TokenTree::Punct(dot), TokenTree::Ident(field), ..] = &tokens[at..]
            && spec == "spec"
            && dot.as_char() == '.'
            && *field == raw(from)
        {
            changes.replace(field.span().byte_range(), raw(to));
        }
    }
}

/// Renames it in objects in JSON, `"spec": {"customer": …}`, and in the paths of fields, `"spec.customer"`.
fn objects(tokens: TokenStream, from: &str, to: &str, changes: &mut Replacements) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => objects(group.stream(), from, to, changes),
            TokenTree::Literal(literal) if literal.to_string() == format!("\"spec.{from}\"") => {
                changes.replace(literal.span().byte_range(), format!("\"spec.{to}\""));
            }
            TokenTree::Literal(literal) if literal.to_string() == "\"spec\"" => {
                if let [_, TokenTree::Punct(colon), TokenTree::Group(group), ..] = &tokens[at..]
                    && colon.as_char() == ':'
                    && group.delimiter() == Delimiter::Brace
                {
                    for range in keys(group.stream(), from) {
                        changes.replace(range, format!("{to:?}"));
                    }
                }
            }
            // The test that `add kind` writes.
            TokenTree::Ident(name) => {
                let (name, said) = (name.to_string(), format!("_without_its_{}_is_refused", names::snake(from)));
                if let Some(one) = name.strip_suffix(&said) {
                    let range = token.span().byte_range();
                    changes.replace(range, format!("{one}_without_its_{}_is_refused", names::snake(to)));
                }
            }
            _ => {}
        }
    }
}

/// The places of a key in an object in JSON.
fn keys(tokens: TokenStream, key: &str) -> Vec<Range<usize>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let key = format!("{key:?}");
    let found = tokens.windows(2).filter_map(|pair| match pair {
        [TokenTree::Literal(literal), TokenTree::Punct(colon)]
            if colon.as_char() == ':' && literal.to_string() == key =>
        {
            Some(literal.span().byte_range())
        }
        _ => None,
    });
    found.collect()
}
