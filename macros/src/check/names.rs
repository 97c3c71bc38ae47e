//! Rules of names: groups, versions, kinds, resources, fields (API conventions, "Naming conventions").
use proc_macro2::Span;
use syn::LitStr;

use crate::{
    diag::Errors,
    parse::serde::{field_name, lower_first, upper_first},
};

/// A DNS label: lower-case letters and digits, with dashes inside.
fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&text.len()) && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// A group is part of URLs and CRD names, and belongs to the owner of its domain.
pub(crate) fn check_group(group: &LitStr, builtin: bool, errors: &Errors) {
    let text = group.value();
    if builtin && text.is_empty() {
        return;
    }
    let expected = "a group must be a DNS subdomain that you own, such as `library.example.com`";
    if text.is_empty() {
        errors.convention(group.span(), format!("{expected}; the empty core group is for `builtin` kinds"));
    } else if !text.split('.').all(is_label) || text.len() > 253 {
        let fixed: String = text.to_lowercase().replace(['_', ' ', '/'], "-");
        let near = if fixed != text && fixed.split('.').all(is_label) {
            format!("; did you mean `{fixed}`?")
        } else {
            String::new()
        };
        errors.convention(group.span(), format!("{expected}, not `{text}`{near}"));
    } else if !builtin && !text.contains('.') {
        errors.convention(
            group.span(),
            format!("{expected}; groups without a dot are for `builtin` kinds; did you mean `{text}.example.com`?"),
        );
    } else if let Some(domain) =
        ["k8s.io", "kubernetes.io"].into_iter().find(|domain| !builtin && is_below(&text, domain))
    {
        errors.breaks(
            "group",
            group.span(),
            format!("{expected}; `{domain}` belongs to the Kubernetes project and is for `builtin` kinds"),
        );
    }
}

/// True for a domain and its subdomains.
fn is_below(text: &str, domain: &str) -> bool {
    text.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Kinds that exist in every group and version, or that may answer any request.
const OF_EVERY_GROUP: &[&str] = &[
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "List",
    "ListOptions",
    "PartialObjectMetadata",
    "PartialObjectMetadataList",
    "PatchOptions",
    "Status",
    "Table",
    "UpdateOptions",
    "WatchEvent",
];

/// Clients sort versions by their form, which also shows their stability.
pub(crate) fn check_version(version: &LitStr, errors: &Errors) {
    let text = version.value();
    let number = |t: &str| !t.is_empty() && !t.starts_with('0') && t.chars().all(|c| c.is_ascii_digit());
    let valid = text.strip_prefix('v').is_some_and(|rest| {
        let staged = ["alpha", "beta"].iter().find_map(|stage| rest.split_once(stage));
        staged.map_or_else(|| number(rest), |(major, minor)| number(major) && number(minor))
    });
    if !valid {
        let digits: String = text.chars().filter(char::is_ascii_digit).take(1).collect();
        let near = if digits.is_empty() || digits == "0" { "v1".to_owned() } else { format!("v{digits}") };
        let message =
            format!("a version must look like `v1`, `v1beta2` or `v1alpha1`, not `{text}`; did you mean `{near}`?");
        errors.convention(version.span(), message);
    }
}

/// A kind is a CamelCase noun in the singular. The names of lists, URLs and client types are derived from it.
pub(crate) fn check_kind(kind: &str, span: Span, singular_given: bool, errors: &Errors) {
    let message = if !is_camel(kind) {
        format!("a kind must be CamelCase, not `{kind}`; did you mean `{}`?", camel(kind))
    } else if OF_EVERY_GROUP.contains(&kind) {
        format!(
            "`{kind}` is a Kubernetes kind that exists in every group; use a more specific name, such as `Book{kind}`"
        )
    } else if let Some(item) = kind.strip_suffix("List").filter(|item| !item.is_empty()) {
        format!("`{kind}` is the list kind of `{item}`, which every kind gets automatically; name the kind `{item}`")
    } else if let Some(one) = looks_plural(kind).filter(|_| !singular_given) {
        let lower = kind.to_lowercase();
        let way_out = format!("If the name is right, add `singular = \"{lower}\"`");
        format!("a kind must be in the singular, but `{kind}` looks plural; did you mean `{one}`? {way_out}")
    } else {
        return;
    };
    errors.convention(span, message);
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && name.len() <= 63
        && (name.len() == 1 || name.chars().any(|c| c.is_ascii_lowercase()) || name.len() <= 4)
}

fn camel(name: &str) -> String {
    if name.chars().all(|c| !c.is_ascii_lowercase()) && name.contains('_') {
        return name.split('_').map(|word| upper_first(&word.to_lowercase())).collect();
    }
    if name.len() > 4 && name.chars().all(|c| c.is_ascii_uppercase()) {
        return upper_first(&name.to_lowercase());
    }
    name.split(['_', '-', '.', ' ']).map(upper_first).collect()
}

/// The singular of a name that looks plural.
fn looks_plural(kind: &str) -> Option<String> {
    if ["ss", "us", "is", "as", "os"].iter().any(|end| kind.ends_with(end)) {
        return None;
    }
    if let Some(stem) = kind.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return Some(format!("{stem}y"));
    }
    if let Some(stem) =
        ["ches", "shes", "sses", "xes"].iter().find(|end| kind.ends_with(*end)).and(kind.strip_suffix("es"))
    {
        return Some(stem.to_owned());
    }
    kind.strip_suffix('s').filter(|stem| stem.len() > 2).map(str::to_owned)
}

/// The default plural of a kind, in lower case.
pub(crate) fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| lower.ends_with(end)) {
        return lower + "es";
    }
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => lower + "s",
    }
}

/// Plural, singular, short names and categories are parts of URLs and command lines.
pub(crate) fn check_resource_name(what: &str, name: &LitStr, errors: &Errors) {
    let text = name.value();
    if !is_label(&text) {
        let fixed = text.to_lowercase().replace(['_', ' ', '.'], "-");
        let near = if is_label(&fixed) { format!("; did you mean `{fixed}`?") } else { String::new() };
        errors.at(
            name.span(),
            format!("{what} must consist of lower-case letters, digits and dashes, not `{text}`{near}"),
        );
    }
}

/// Field names are camelCase on the wire: the same in every language, and as client generators expect.
pub(crate) fn is_field_name(wire: &str) -> bool {
    wire.starts_with(|c: char| c.is_ascii_lowercase()) && wire.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The camelCase name that was probably intended.
pub(crate) fn field_name_near(wire: &str) -> String {
    lower_first(&field_name(&wire.replace(['-', '.', ' '], "_"), "PascalCase"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_follow_english() {
        for (kind, expected) in [
            ("Book", "books"),
            ("Policy", "policies"),
            ("Gateway", "gateways"),
            ("Ingress", "ingresses"),
            ("Box", "boxes"),
            ("Shelf", "shelfs"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn plural_kinds_are_seen_and_singular_ones_left_alone() {
        assert_eq!(looks_plural("Books").as_deref(), Some("Book"));
        assert_eq!(looks_plural("Policies").as_deref(), Some("Policy"));
        assert_eq!(looks_plural("Switches").as_deref(), Some("Switch"));
        for singular in ["Ingress", "Status", "Redis", "Bus", "Book", "Canvas"] {
            assert_eq!(looks_plural(singular), None, "{singular}");
        }
    }
}
