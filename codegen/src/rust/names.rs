//! Names in Rust: identifiers from names on the wire, and serde's way back.
use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

/// An identifier. Keywords become raw ones; what cannot be in an identifier becomes a `_`.
pub(super) fn ident(name: &str) -> Ident {
    if let Some(ident) = parsed(name) {
        return ident;
    }
    match name {
        // These cannot be raw.
        "self" | "Self" | "super" | "crate" | "_" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ if is_keyword(name) => Ident::new_raw(name, Span::call_site()),
        _ => Ident::new(&fitting(name), Span::call_site()),
    }
}

/// The text as an identifier, if it is one and nothing else: spaces and comments around it are no part of one. The parser does not
/// know that `gen` is a keyword since the edition of 2024.
fn parsed(text: &str) -> Option<Ident> {
    syn::parse_str::<Ident>(text).ok().filter(|ident| *ident == text && text != "gen")
}

/// True for a name that an identifier can have, if need be a raw one.
pub(super) fn is_ident(name: &str) -> bool {
    parsed(name).is_some() || is_keyword(name)
}

/// True for a word of the language: it is no identifier, and longer it is one.
fn is_keyword(name: &str) -> bool {
    parsed(name).is_none() && parsed(&format!("{name}_")).is_some()
}

/// The text without what no identifier has.
fn fitting(name: &str) -> String {
    let begins = name.chars().next().is_some_and(begins);
    let letters = name.chars().map(|letter| if is_inner(letter) { letter } else { '_' });
    let text: String = (!begins).then_some('_').into_iter().chain(letters).collect();
    if text == "_" { "other".to_owned() } else { text }
}

/// True for a letter that an identifier may begin with.
fn begins(letter: char) -> bool {
    letter.is_ascii_alphabetic() || is_latin(letter)
}

/// True for a letter that may follow the first one of an identifier.
fn is_inner(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || is_latin(letter)
}

/// True for a letter outside of ASCII that the compiler takes unchanged and without a warning. It composes other
/// letters, or warns of lookalikes and of mixed scripts.
fn is_latin(letter: char) -> bool {
    matches!(letter, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{ff}')
}

/// The name of a module that is made of a label: `v1_10_0` of `v1-10-0`. Its file has the name, too, so that it is neither a
/// word of the language nor `mod`. It may be beside what names these crates.
pub(super) fn module(label: &str) -> String {
    const CRATES: [&str; 4] = ["alloc", "kindsmith", "serde", "std"];
    let name = label.replace('-', "_");
    let is_free = parsed(&name).is_some() && !CRATES.contains(&&*name);
    if is_free { name } else { ident(&format!("{name}_")).to_string() }
}

/// The name of a type that is made of a kind, which may have dashes: the kind itself, if it can be one.
pub(super) fn of_kind(kind: &str) -> String {
    let is_type = parsed(kind).is_some() && kind.starts_with(|first: char| first.is_ascii_uppercase());
    let name = if is_type && kind.chars().all(is_inner) { kind.to_owned() } else { type_name(kind) };
    written(&name)
}

/// The name of an identifier as serde sees it.
pub(super) fn written(name: &str) -> String {
    ident(name).to_string().trim_start_matches("r#").to_owned()
}

/// The words of a name: `clusterIPs` has `cluster` and `ips`, `HTTPRoute` has `http` and `route`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for (at, &letter) in letters.iter().enumerate() {
        if letter.is_alphabetic() && !is_inner(letter) {
            // Letters of other scripts become their numbers.
            words.push(format!("u{:x}", u32::from(letter)));
            open = false;
            continue;
        }
        if !letter.is_alphanumeric() || !is_inner(letter) {
            open = false;
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1).copied();
        let ends_acronym = before.is_some_and(char::is_uppercase)
            && after.is_some_and(char::is_lowercase)
            // The plural of an acronym is one word with it.
            && !(after == Some('s') && letters.get(at + 2).is_none_or(|next| !next.is_lowercase()));
        let begins = letter.is_uppercase() && (!before.is_some_and(char::is_uppercase) || ends_acronym);
        match words.last_mut() {
            Some(word) if open && !begins => word.extend(letter.to_lowercase()),
            _ => words.push(letter.to_lowercase().collect()),
        }
        open = true;
    }
    words
}

/// A name as a field's: `podIP` as `pod_ip`.
pub(super) fn snake(name: &str) -> String {
    not_a_number(words(name).join("_"), "_").to_lowercase()
}

/// A name as a type's or variant's: `podIP` as `PodIp`.
pub(super) fn pascal(name: &str) -> String {
    not_a_number(words(name).iter().map(|word| capital(word)).collect(), "Value")
}

/// A name of a document's type, in which acronyms stay: `JSONSchemaProps`.
pub(super) fn type_name(name: &str) -> String {
    if name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        not_a_number(capital(name), "Value")
    } else {
        pascal(name)
    }
}

/// A property's name as a part of a type's name, in which acronyms of the wire stay: `podIP` as `PodIP`.
pub(super) fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn not_a_number(name: String, before: &str) -> String {
    match name.chars().next() {
        None => format!("{}Other", before.trim_matches('_')),
        Some(first) if begins(first) => name,
        Some(_) => format!("{before}{name}"),
    }
}

/// The name, with a number if it is taken; it is taken then.
pub(super) fn free(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut free = name.to_owned();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}{number}");
        number += 1;
    }
    free
}

/// A name in the singular: that of a list's item.
pub(super) fn singular(name: &str) -> String {
    let lower = name.to_lowercase();
    let cut = |end: usize, add: &str| format!("{}{add}", &name[..name.len() - end]);
    match () {
        () if lower.ends_with("ies") && lower.len() > 4 => cut(3, "y"),
        () if ["sses", "xes", "ches", "shes"].iter().any(|end| lower.ends_with(end)) => cut(2, ""),
        () if ["ss", "us", "is"].iter().any(|end| lower.ends_with(end)) => name.to_owned(),
        () if lower.ends_with('s') && lower.len() > 2 => cut(1, ""),
        () => name.to_owned(),
    }
}

/// serde's rules for names of variants, most common first.
const VARIANT_RULES: [&str; 8] = [
    "",
    "lowercase",
    "UPPERCASE",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// The name of a field on the wire with `rename_all = "camelCase"`. serde knows letters of ASCII alone, and fails for names that
/// begin with others.
pub(super) fn camel(rust: &str) -> Option<String> {
    let upper = |word: &str| with_first(word, |first| first.to_ascii_uppercase());
    let pascal: String = rust.split('_').map(upper).collect();
    lower_first(&pascal)
}

fn lower_first(name: &str) -> Option<String> {
    name.starts_with(|first: char| first.is_ascii()).then(|| with_first(name, |first| first.to_ascii_lowercase()))
}

fn with_first(name: &str, change: impl Fn(char) -> char) -> String {
    let mut letters = name.chars();
    letters.next().map(change).into_iter().chain(letters).collect()
}

/// The name of a variant on the wire under one of serde's rules, if serde knows one.
pub(super) fn variant(rust: &str, rule: &str) -> Option<String> {
    let snake = || {
        let mut text = String::new();
        for (at, letter) in rust.char_indices() {
            if at > 0 && letter.is_uppercase() {
                text.push('_');
            }
            text.push(letter.to_ascii_lowercase());
        }
        text
    };
    Some(match rule {
        "lowercase" => rust.to_ascii_lowercase(),
        "UPPERCASE" => rust.to_ascii_uppercase(),
        "camelCase" => return lower_first(rust),
        "snake_case" => snake(),
        "SCREAMING_SNAKE_CASE" => snake().to_ascii_uppercase(),
        "kebab-case" => snake().replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => snake().to_ascii_uppercase().replace('_', "-"),
        _ => rust.to_owned(),
    })
}

/// The rule of serde under which most variants need no name of their own; empty for none.
pub(super) fn variant_rule(variants: &[(String, String)]) -> &'static str {
    let fits = |rule: &str| variants.iter().filter(|(rust, wire)| variant(rust, rule).as_ref() == Some(wire)).count();
    let mut best = "";
    for rule in VARIANT_RULES {
        if fits(rule) > fits(best) {
            best = rule;
        }
    }
    best
}

#[cfg(test)]
mod tests;
