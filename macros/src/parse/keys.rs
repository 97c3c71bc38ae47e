//! Typed access to arguments with a table of the known ones. Reports unknown names, syntax errors and repetitions,
//! together with the expected form.
use proc_macro2::Span;
use syn::{Ident, Lit, LitInt, LitStr, ext::IdentExt};

use super::args::{Arg, Number, Value};
use crate::{diag::Errors, suggest::did_you_mean};

/// A known argument: its name, and an example.
pub(crate) type Key = (&'static str, &'static str);

/// Reads the arguments of one attribute with its table.
pub(crate) struct Reader<'e> {
    /// The attribute's name in errors, such as `#[api]`.
    pub attribute: &'static str,
    /// The known arguments, in tables.
    pub keys: &'static [&'static [Key]],
    /// The sink for errors.
    pub errors: &'e Errors,
}

/// Arguments of similar derives, and what to say here instead.
const OF_OTHERS: &[(&str, &str, &str)] = &[
    ("#[resource]", "scope", "say `cluster` for a kind without namespaces; `namespaced` is the default"),
    ("#[resource]", "printcolumn", "say `column(…)`"),
    ("#[api]", "min", "say `minimum`"),
    ("#[api]", "max", "say `maximum`"),
    ("#[api]", "optional", "a field is optional if its type is `Option` or it has a default"),
];

impl Reader<'_> {
    /// The name of an argument. Reports an error if it is missing, unknown or repeated.
    pub(crate) fn name(&self, arg: &Arg, seen: &mut Vec<String>, repeatable: &[&str]) -> Option<String> {
        let Some(ident) = &arg.name else {
            self.errors.at(arg.span(), format!("{} expects named arguments: {}", self.attribute, self.names()));
            return None;
        };
        let name = ident.unraw().to_string();
        if !self.keys().any(|&(key, _)| key == name) {
            let other = OF_OTHERS.iter().find(|(attribute, other, _)| (*attribute, *other) == (self.attribute, &*name));
            let near = match other {
                Some((.., hint)) => format!("; {hint}"),
                None => did_you_mean(&name, self.keys().map(|&(key, _)| key)),
            };
            let allowed = if near.is_empty() { format!("; its arguments are {}", self.names()) } else { near };
            self.errors.at(ident.span(), format!("{} has no argument `{name}`{allowed}", self.attribute));
            return None;
        }
        if seen.contains(&name) && !repeatable.contains(&name.as_str()) {
            self.errors.at(ident.span(), format!("`{name}` is given twice"));
            return None;
        }
        seen.push(name.clone());
        Some(name)
    }

    fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().copied().flatten()
    }

    fn names(&self) -> String {
        self.keys().map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>().join(", ")
    }

    fn wrong_form<T>(&self, arg: &Arg) -> Option<T> {
        let name = arg.name.as_ref().map(|n| n.unraw().to_string()).unwrap_or_default();
        let form = self.keys().find(|(key, _)| *key == name).map_or("", |(_, form)| form);
        let message = if form == name { format!("`{name}` takes no value") } else { format!("expected `{form}`") };
        self.errors.at(arg.value_span(), message);
        None
    }

    /// `name`, without a value.
    pub(crate) fn flag(&self, arg: &Arg) -> Option<Span> {
        if matches!(arg.value, Value::Flag) { Some(arg.span()) } else { self.wrong_form(arg) }
    }

    /// `name = "text"`.
    pub(crate) fn text(&self, arg: &Arg) -> Option<LitStr> {
        if let Value::Literal(Lit::Str(text)) = &arg.value { Some(text.clone()) } else { self.wrong_form(arg) }
    }

    /// `name = "text"`, or `name("text", …)`.
    pub(crate) fn texts(&self, arg: &Arg) -> Option<Vec<LitStr>> {
        let Value::Args(inner) = &arg.value else { return self.text(arg).map(|text| vec![text]) };
        let text = |arg: &Arg| match (&arg.name, &arg.value) {
            (None, Value::Literal(Lit::Str(text))) => Some(text.clone()),
            _ => None,
        };
        inner.iter().map(text).collect::<Option<Vec<_>>>().or_else(|| self.wrong_form(arg))
    }

    /// `name = 1.5`.
    pub(crate) fn number(&self, arg: &Arg) -> Option<Number> {
        Number::from(&arg.value).or_else(|| self.wrong_form(arg))
    }

    /// `name = {"as": ["in", "JSON"]}`.
    pub(crate) fn json(&self, arg: &Arg) -> Option<Value> {
        arg.value.constant().filter(|value| !matches!(value, Value::Path(_))).or_else(|| self.wrong_form(arg))
    }

    /// `name = 3`.
    pub(crate) fn count(&self, arg: &Arg) -> Option<LitInt> {
        match &arg.value {
            Value::Literal(Lit::Int(int)) if int.base10_parse::<u32>().is_ok() => Some(int.clone()),
            _ => self.wrong_form(arg),
        }
    }

    /// `name = true`.
    pub(crate) fn bool(&self, arg: &Arg) -> Option<bool> {
        if let Value::Literal(Lit::Bool(value)) = &arg.value { Some(value.value) } else { self.wrong_form(arg) }
    }

    /// `name = word`.
    pub(crate) fn word(&self, arg: &Arg) -> Option<Ident> {
        match &arg.value {
            Value::Dotted(names) if names.len() == 1 => Some(names[0].clone()),
            _ => self.wrong_form(arg),
        }
    }

    /// `name = spec.size`.
    pub(crate) fn dotted(&self, arg: &Arg) -> Option<Vec<Ident>> {
        if let Value::Dotted(names) = &arg.value { Some(names.clone()) } else { self.wrong_form(arg) }
    }

    /// `name = some::function`.
    pub(crate) fn function(&self, arg: &Arg) -> Option<syn::Path> {
        match &arg.value {
            Value::Path(path) => Some(path.clone()),
            Value::Dotted(names) if names.len() == 1 => Some(names[0].clone().into()),
            _ => self.wrong_form(arg),
        }
    }

    /// `name(spec.size, …)`; anything else is reported as not `expected`.
    pub(crate) fn paths(&self, arg: &Arg, expected: &str) -> Vec<Vec<Ident>> {
        let mut paths = Vec::new();
        for inner in self.args(arg).unwrap_or_default() {
            match (&inner.name, &inner.value) {
                (None, Value::Dotted(names)) => paths.push(names.clone()),
                (Some(name), Value::Flag) => paths.push(vec![name.clone()]),
                _ => self.errors.at(inner.span(), expected),
            }
        }
        paths
    }

    /// `name(…)`.
    pub(crate) fn args<'a>(&self, arg: &'a Arg) -> Option<&'a [Arg]> {
        if let Value::Args(inner) = &arg.value { Some(inner) } else { self.wrong_form(arg) }
    }
}
