//! The rules of names, by which every definition is checked, wherever it comes from: a manifest, a document, an overlay, data in
//! Rust. They are kube-apiserver's. Names become paths of requests and files, and identifiers in code; what makes these of a
//! definition relies on the rules.
use super::{
    definition::Definition,
    endpoint::{Answer, Body, DocumentSchema, Endpoint},
    model::{Names, Shared, Version},
};
use crate::meta::{GroupVersion, field::beginning, validate};

/// How much of a wrong name a message shows.
const MOST_OF_A_NAME: usize = 80;

/// A group: a subdomain, or nothing for the core group.
pub(super) fn group(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { judged("the group", text, &validate::subdomain(text, false)) }
}

/// A label that begins with a letter: versions, plurals, singulars, short names, categories.
///
/// # Errors
/// Why it is not one.
pub fn label(what: &str, text: &str) -> Result<(), String> {
    judged(what, text, &validate::dns_1035_label(text))
}

/// A kind, or the kind of a list: a label that may have capitals.
pub(super) fn kind(what: &str, text: &str) -> Result<(), String> {
    // Not by Unicode, where the Kelvin sign is a capital `k`.
    let wrong = validate::dns_1035_label(&text.to_ascii_lowercase());
    let wrong: Vec<String> = wrong
        .first()
        .map(|_| format!("may have mixed case, but should otherwise match: {}", wrong.join(",")))
        .into_iter()
        .collect();
    judged(what, text, &wrong)
}

/// Fails with the errors of a name, if there are any.
fn judged(what: &str, text: &str, wrong: &[String]) -> Result<(), String> {
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{what} is {:?}: {}", beginning(text, MOST_OF_A_NAME), wrong.join(", ")))
}

impl Definition {
    /// The names that are wrong, each with the index of its version if it is of one.
    pub(super) fn wrong_names(&self) -> Vec<(Option<usize>, String)> {
        let of_all = self.shared.wrong_names().into_iter().map(|problem| (None, problem));
        let of_version = |(index, version)| {
            let problems: Vec<String> = Version::wrong_names(version);
            problems.into_iter().map(move |problem| (Some(index), problem))
        };
        let versions = self.versions.iter().map(AsRef::as_ref).enumerate();
        of_all.chain(versions.flat_map(of_version)).collect()
    }
}

impl Shared {
    fn wrong_names(&self) -> Vec<String> {
        let Names { plural, singular, kind, list_kind, short_names, categories } = &self.names;
        let mut found = vec![
            group(&self.group),
            self::kind("the kind", kind),
            self::kind("the kind of lists", list_kind),
            label("the plural", plural),
            label("the singular", singular),
        ];
        found.extend(short_names.iter().map(|name| label("a short name", name)));
        found.extend(categories.iter().map(|name| label("a category", name)));
        found.into_iter().filter_map(Result::err).collect()
    }
}

impl Version {
    fn wrong_names(&self) -> Vec<String> {
        let mut found = vec![label("the version", &self.name), group(self.group.as_deref().unwrap_or_default())];
        for endpoint in &self.subresources {
            found.extend(endpoint.judged_names());
        }
        found.into_iter().filter_map(Result::err).collect()
    }
}

impl Endpoint {
    fn judged_names(&self) -> Vec<Result<(), String>> {
        let name = &self.subresource;
        let mut found = vec![judged("the subresource", name, &validate::label(name, false))];
        let what = |of: &str| format!("{of} of the subresource {:?}", beginning(name, MOST_OF_A_NAME));
        let mut documents = |at: &GroupVersion, kind: &str| {
            found.push(group(&at.group).map_err(|problem| format!("{}: {problem}", what("the documents"))));
            found.push(label(&what("the version of the documents"), &at.version));
            found.push(self::kind(&what("the kind of the documents"), kind));
        };
        documents(&self.group_version, &self.kind);
        for operation in &self.operations {
            let body = if let Body::Document(of) = &operation.body { Some(of) } else { None };
            let answer = if let Answer::Document(of) = &operation.answer { Some(of) } else { None };
            for DocumentSchema { group_version, kind, .. } in body.into_iter().chain(answer) {
                documents(group_version, kind);
            }
        }
        found
    }
}
