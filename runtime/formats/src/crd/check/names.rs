//! Names: of the definition, its group, its kind.
use super::{
    super::{Findings, Location, definition::Definition},
    SPEC, label,
};
use crate::meta::validate;

/// The annotation by which groups of Kubernetes are approved.
pub(in super::super) const APPROVAL: &str = "api-approved.kubernetes.io";

/// The definition is named after the resource.
pub(super) fn metadata(definition: &Definition<'_>, findings: &mut Findings) {
    let metadata = Location::known("metadata", "/metadata");
    let at = metadata.field("name");
    let name = definition.document.part("metadata").text("name");
    if name.is_empty() {
        return findings.required(&at, "name or generateName is required");
    }
    if !definition.is_core {
        for wrong in validate::subdomain(name, false) {
            findings.invalid(&at, name, wrong);
        }
    }
    if name != format!("{}.{}", definition.names().text("plural"), definition.spec.text("group")) {
        findings.invalid(&at, name, r#"must be spec.names.plural+"."+spec.group"#);
    }
}

pub(super) fn group(definition: &Definition<'_>, findings: &mut Findings) {
    let (group, at) = (definition.spec.text("group"), SPEC.field("group"));
    let wrong = validate::subdomain(group, false);
    if definition.is_core {
        findings.warning(&at, "the core group: kube-apiserver takes no such definition");
    } else if group.is_empty() {
        findings.required(&at, "");
    } else if !wrong.is_empty() {
        findings.invalid(&at, group, wrong.join(","));
    } else if !group.contains('.') {
        findings.invalid(&at, group, "should be a domain with at least one dot");
    }
}

pub(super) fn check(definition: &Definition<'_>, findings: &mut Findings) {
    let (names, at) = (definition.names(), SPEC.field("names"));
    let (singular, list_kind) = (&*definition.singular, &*definition.list_kind);
    let all = [
        ("plural", names.text("plural")),
        ("singular", singular),
        ("kind", names.text("kind")),
        ("listKind", list_kind),
    ];
    for (name, _) in all.iter().filter(|(_, text)| text.is_empty()) {
        findings.required(&at.field(name), "");
    }
    for (name, text) in all.into_iter().filter(|(_, text)| !text.is_empty()) {
        let at = at.field(name);
        // Not by Unicode, where the Kelvin sign is a capital `k`.
        let wrong = validate::dns_1035_label(&text.to_ascii_lowercase());
        match name {
            "plural" | "singular" => label(text, &at, findings),
            _ if !wrong.is_empty() => {
                let detail = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
                findings.invalid(&at, text, detail);
            }
            _ => {}
        }
    }
    let each = |list: &str, findings: &mut Findings| {
        let at = at.field(list);
        names.texts(list).enumerate().for_each(|(index, text)| label(text, &at.index(index), findings));
    };
    each("shortNames", findings);
    if !list_kind.is_empty() && names.text("kind") == list_kind {
        findings.invalid(&at.field("listKind"), list_kind, "kind and listKind may not be the same");
    }
    each("categories", findings);
}

/// True for groups of Kubernetes, whose definitions need an approval.
pub(in super::super) fn is_protected(group: &str) -> bool {
    let is_of = |domain: &str| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    is_of("k8s.io") || is_of("kubernetes.io")
}

/// Groups of Kubernetes are not everyone's.
pub(super) fn approval(definition: &Definition<'_>, findings: &mut Findings) {
    if !is_protected(definition.spec.text("group")) {
        return;
    }
    let annotations = Location::known("metadata.annotations", "/metadata/annotations");
    let at = annotations.key(APPROVAL);
    let given = definition.document.part("metadata").part("annotations").text(APPROVAL);
    let required = format!("protected groups must have approval annotation {APPROVAL:?}");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    let is_url = given.split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    if given.is_empty() {
        findings.required(&at, format!("{required}, {see}"));
    } else if !given.starts_with("unapproved") && !is_url {
        findings.invalid(
            &at,
            given,
            format!("{required} with either a URL or a reason starting with \"unapproved\", {see}"),
        );
    }
}
