//! Typed access to arguments, against the table of those that exist: unknown names, wrong forms and repetitions are
//! reported here, with the form that is expected.
use proc_macro2::Span;
use syn::{Ident, Lit, LitInt, LitStr, ext::IdentExt};

use super::args::{Arg, Number, Value};
use crate::{diag::Errors, suggest::did_you_mean};

/// An argument that exists: its name, and an example of its form.
pub type Key = (&'static str, &'static str);

/// The arguments of one attribute, read against its table.
pub struct Reader<'e> {
    /// What the attribute is called in errors, such as `#[api]`.
    pub attribute: &'static str,
    /// The arguments that exist.
    pub keys: &'static [Key],
    /// Where reports go.
    pub errors: &'e Errors,
}

impl Reader<'_> {
    /// The name of an argument, or nothing and a report where it has none, is unknown, or has been given before.
    pub fn name(&self, arg: &Arg, seen: &mut Vec<String>, repeatable: &[&str]) -> Option<String> {
        let Some(ident) = &arg.name else {
            self.errors.at(arg.span(), format!("{} takes named arguments: {}", self.attribute, self.names()));
            return None;
        };
        let name = ident.unraw().to_string();
        if !self.keys.iter().any(|&(key, _)| key == name) {
            let near = did_you_mean(&name, self.keys.iter().map(|&(key, _)| key));
            let allowed = if near.is_empty() { format!("; it has {}", self.names()) } else { near };
            self.errors.at(ident.span(), format!("{} has no argument `{name}`{allowed}", self.attribute));
            return None;
        }
        if seen.contains(&name) && !repeatable.contains(&name.as_str()) {
            self.errors.at(ident.span(), format!("`{name}` is given twice; once is enough"));
            return None;
        }
        seen.push(name.clone());
        Some(name)
    }

    fn names(&self) -> String {
        self.keys.iter().map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>().join(", ")
    }

    fn wrong_form<T>(&self, arg: &Arg) -> Option<T> {
        let name = arg.name.as_ref().map(|n| n.unraw().to_string()).unwrap_or_default();
        let form = self.keys.iter().find(|(key, _)| *key == name).map_or("", |(_, form)| form);
        let message = if form == name {
            format!("`{name}` stands alone, without a value")
        } else {
            format!("`{name}` is written `{form}`")
        };
        self.errors.at(arg.value_span(), message);
        None
    }

    /// `name`, alone.
    pub fn flag(&self, arg: &Arg) -> Option<Span> {
        if matches!(arg.value, Value::Flag) { Some(arg.span()) } else { self.wrong_form(arg) }
    }

    /// `name = "text"`.
    pub fn text(&self, arg: &Arg) -> Option<LitStr> {
        if let Value::Literal(Lit::Str(text)) = &arg.value { Some(text.clone()) } else { self.wrong_form(arg) }
    }

    /// `name = "text"`, or `name("text", …)`.
    pub fn texts(&self, arg: &Arg) -> Option<Vec<LitStr>> {
        let Value::Args(inner) = &arg.value else { return self.text(arg).map(|text| vec![text]) };
        let text = |arg: &Arg| match (&arg.name, &arg.value) {
            (None, Value::Literal(Lit::Str(text))) => Some(text.clone()),
            _ => None,
        };
        inner.iter().map(text).collect::<Option<Vec<_>>>().or_else(|| self.wrong_form(arg))
    }

    /// `name = 1.5`.
    pub fn number(&self, arg: &Arg) -> Option<Number> {
        Number::from(&arg.value).or_else(|| self.wrong_form(arg))
    }

    /// `name = 3`.
    pub fn count(&self, arg: &Arg) -> Option<LitInt> {
        match &arg.value {
            Value::Literal(Lit::Int(int)) if int.base10_parse::<u32>().is_ok() => Some(int.clone()),
            _ => self.wrong_form(arg),
        }
    }

    /// `name = word`.
    pub fn word(&self, arg: &Arg) -> Option<Ident> {
        match &arg.value {
            Value::Dotted(names) if names.len() == 1 => Some(names[0].clone()),
            _ => self.wrong_form(arg),
        }
    }

    /// `name = spec.size`.
    pub fn dotted(&self, arg: &Arg) -> Option<Vec<Ident>> {
        if let Value::Dotted(names) = &arg.value { Some(names.clone()) } else { self.wrong_form(arg) }
    }

    /// `name = some::function`.
    pub fn function(&self, arg: &Arg) -> Option<syn::Path> {
        match &arg.value {
            Value::Path(path) => Some(path.clone()),
            Value::Dotted(names) if names.len() == 1 => Some(names[0].clone().into()),
            _ => self.wrong_form(arg),
        }
    }

    /// `name(spec.size, …)`; anything else is reported as not `expected`.
    pub fn paths(&self, arg: &Arg, expected: &str) -> Vec<Vec<Ident>> {
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
    pub fn args<'a>(&self, arg: &'a Arg) -> Option<&'a [Arg]> {
        if let Value::Args(inner) = &arg.value { Some(inner) } else { self.wrong_form(arg) }
    }
}
