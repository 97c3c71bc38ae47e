//! Definitions: resources from manifests of CustomResourceDefinitions (`apiextensions.k8s.io/v1`), as YAML, JSON or documents.
//!
//! A definition is judged as a whole, in kube-apiserver's words and by its rules, and everything that is wrong with it is
//! reported at once. A warning reports each part of a definition that the server ignores. No I/O: a
//! build script can use it.
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    kind::{Definition, budget::Usage},
    schema::{
        Document, Schema,
        keywords::{self, Additional, Fields, Location, pattern},
    },
};

mod check;
mod definition;
mod manifest;
mod model;
mod print;
mod roles;
mod shape;
#[cfg(test)]
mod tests;
mod usage;
mod write;

pub use crate::kind::convert::{Conversion, Webhook, WebhookService};
pub use crate::schema::keywords::{Fault, Findings, Warning};
pub use manifest::{Entry, Manifest, Report, of_value, read};
pub use write::{Written, validations, write};

/// The group and version of definitions that are read.
pub const API_VERSION: &str = "apiextensions.k8s.io/v1";

/// A definition that was read from a manifest.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Defined {
    /// The resource in all of its versions.
    pub definition: Definition,
    /// The labels and annotations of the manifest.
    pub metadata: Metadata,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// Where `kubectl apply` keeps the manifest that it applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The labels and annotations of a definition. They say nothing of the kind, and are kept for who writes it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The annotations, without that of `kubectl apply`, which is about the manifest as it was.
    pub annotations: BTreeMap<String, String>,
}

impl Metadata {
    fn of(document: &Document) -> Self {
        let entries = |name: &str| {
            let entries = document["metadata"][name].as_object().into_iter().flatten();
            let texts = entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
            texts.filter(|(key, _)| key != LAST_APPLIED).collect()
        };
        Self { labels: entries("labels"), annotations: entries("annotations") }
    }
}

/// Reads a definition, a document such as `kube`'s `CustomResourceExt::crd()` gives.
///
/// # Errors
/// Everything that is wrong with it, and the warnings.
pub fn define(document: &Document) -> Result<Defined, Findings> {
    define_in(document, Groups::Named, Rules::New)
}

/// Reads a definition that takes the place of another one: the schema of a version that does not change may have rules that cost too much,
/// and only formats that are new are warned of.
///
/// # Errors
/// As [`define`].
pub fn define_change(document: &Document, old: &Document) -> Result<Defined, Findings> {
    define_in(document, Groups::Named, Rules::Changed(old))
}

/// Reads a definition that was stored. Its rules are not compiled: they may be those of another version.
///
/// # Errors
/// As [`define`], without the errors in rules.
pub fn define_stored(document: &Document) -> Result<Defined, Findings> {
    define_in(document, Groups::Named, Rules::Stored)
}

/// The schema of the schemas in definitions, which contains itself: the only one among the definitions of the schema around it.
pub fn schema_of_schemas() -> Schema {
    keywords::schema_of_schemas()
}

/// The groups that a definition may define kinds in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Groups {
    /// Named groups only.
    Named,
    /// Named groups and the core group.
    All,
}

/// How the rules of a definition are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rules<'o> {
    /// As those of a new definition.
    New,
    /// As those of a definition that takes the place of another one.
    Changed(&'o Document),
    /// Not at all: the definition is stored.
    Stored,
}

fn define_in(document: &Document, groups: Groups, rules: Rules<'_>) -> Result<Defined, Findings> {
    let mut findings = Findings::default();
    shape::check(document, &mut findings);
    if !findings.errors.is_empty() {
        return Err(findings);
    }
    let definition = definition::Definition::of(document, groups);
    let (usage, patterns) = usage::of(&definition, rules != Rules::Stored);
    excess(&usage, &mut findings);
    if !findings.errors.is_empty() {
        return Err(findings);
    }
    let schemas = check::check(&definition, rules, &mut findings);
    drop(patterns);
    if !findings.errors.is_empty() {
        return Err(findings);
    }
    let defined = model::resource(&definition, &schemas);
    excess(&Usage::of(&defined), &mut findings);
    if let Rules::Changed(old) = rules {
        forget_known_formats(old, &mut findings);
    }
    if findings.errors.is_empty() {
        Ok(Defined { definition: defined, metadata: Metadata::of(document), warnings: findings.warnings })
    } else {
        Err(findings)
    }
}

/// Drops the warnings of formats that the old definition had somewhere, as kube-apiserver warns of new ones alone.
fn forget_known_formats(old: &Document, findings: &mut Findings) {
    let versions = Fields::of(old).part("spec").objects("versions");
    let known: BTreeSet<String> = versions
        .flat_map(|version| keywords::format_warnings(version.part("schema").part("openAPIV3Schema")))
        .collect();
    findings.warnings.retain(|warning| !known.contains(&warning.text));
}

/// Adds the bounds that a definition exceeds.
fn excess(usage: &Usage, findings: &mut Findings) {
    let spec = Location::known("spec", "/spec");
    usage.excess().for_each(|excess| findings.forbidden(&spec.field("versions"), excess.to_string()));
}
