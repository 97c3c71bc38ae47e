//! Rules of the API conventions for names of a kind, and the verbs that it serves.
use proc_macro2::Span;
use syn::{LitStr, ext::IdentExt};

use super::names;
use crate::{diag::Errors, parse::resource::KindArgs, suggest::did_you_mean};

/// The verbs by name, with their variants.
const VERBS: [(&str, &str); 8] = [
    ("get", "Get"),
    ("list", "List"),
    ("watch", "Watch"),
    ("create", "Create"),
    ("update", "Update"),
    ("patch", "Patch"),
    ("delete", "Delete"),
    ("deletecollection", "DeleteCollection"),
];

/// "The name of a list kind must end with `List`": clients find out by it what they decode.
pub(crate) fn check_list_kind(args: &KindArgs, kind: &str, errors: &Errors) {
    if let Some(name) = args.list_kind.as_ref().filter(|name| !name.value().ends_with("List")) {
        let message =
            format!("the kind of lists must end with `List`, not `{}`; did you mean `{kind}List`?", name.value());
        errors.breaks("list_kind", name.span(), message);
    }
}

/// "Resource collections should be all lowercase and plural, whereas kinds are CamelCase and singular." With one word for both,
/// users cannot tell a collection from an object.
pub(crate) fn check_plural(args: &KindArgs, kind: &str, span: Span, errors: &Errors) {
    let of_other_version = args.storage.is_some() && args.plural.is_none() && args.singular.is_none();
    if args.builtin || of_other_version {
        return;
    }
    let value = |name: &Option<LitStr>, otherwise: String| name.as_ref().map_or(otherwise, LitStr::value);
    let plural = value(&args.plural, names::plural(kind));
    if plural == value(&args.singular, kind.to_lowercase()) {
        let span = args.plural.as_ref().or(args.singular.as_ref()).map_or(span, LitStr::span);
        let message = format!(
            "`{plural}` is both the plural and the singular; name the collection otherwise, such as `plural = \"{}\"`, or say \
             `allow(plural = \"why\")` if there is one word for both",
            names::plural(kind)
        );
        errors.breaks("plural", span, message);
    }
}

/// The verbs that are served. Clients list before they watch.
pub(crate) fn verbs(args: &KindArgs, errors: &Errors) -> Option<Vec<&'static str>> {
    let (span, given) = args.verbs.as_ref()?;
    let mut found: Vec<(&str, &str)> = Vec::new();
    for path in given {
        let (Some(first), 1) = (path.first(), path.len()) else { continue };
        let name = first.unraw().to_string();
        match VERBS.iter().find(|(known, _)| *known == name) {
            Some(verb) if found.contains(verb) => errors.at(first.span(), format!("`{name}` is given twice")),
            Some(verb) => found.push(*verb),
            None => {
                let names = VERBS.map(|(name, _)| name);
                let near = did_you_mean(&name, names);
                errors.at(first.span(), format!("a verb must be one of {}{near}", names.join(", ")));
            }
        }
        if name == "watch" && !given.iter().any(|path| path.first().is_some_and(|verb| verb == "list")) {
            errors.convention(first.span(), "clients list before they watch: add `list`");
        }
    }
    if given.is_empty() {
        errors.convention(*span, "no verb is served; name some, or say `unserved` for a version that is only stored");
    }
    Some(found.into_iter().map(|(_, variant)| variant).collect())
}
