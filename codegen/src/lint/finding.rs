//! Findings, and how equal ones become one: those in several versions of a kind, and in several uses of a type.
use std::collections::{BTreeMap, btree_map::Entry};

use super::{
    Kind, Rule, Subject,
    field::Field,
    raw::{Location, Raw},
};

/// A violation of a rule.
#[derive(Clone)]
pub(crate) struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The file, or the program.
    pub source: String,
    /// The group of the kind.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The versions that have it; none if it is of what the versions share.
    pub versions: Vec<String>,
    /// The field; empty for the kind or version itself.
    pub path: String,
    /// What was found, and what to do about it.
    pub message: String,
    /// Its location in the file.
    pub location: Option<Location>,
    /// The type with a name that has the field, and the path in it.
    within: Option<(String, String)>,
    /// How many other uses of this type were found.
    pub others: usize,
}

impl Finding {
    /// A finding in what the versions of a kind share.
    pub(super) fn of_kind(rule: &'static Rule, source: &str, kind: &Kind<'_>, message: String) -> Self {
        let shared = &kind.definition.shared;
        Self {
            rule,
            source: source.to_owned(),
            group: shared.group.clone(),
            kind: shared.names.kind.clone(),
            versions: Vec::new(),
            path: String::new(),
            message,
            location: None,
            within: None,
            others: 0,
        }
    }

    /// A finding in a version of a kind.
    pub(super) fn of_version(
        rule: &'static Rule,
        source: &str,
        of: &Subject<'_>,
        path: String,
        message: String,
    ) -> Self {
        let versions = vec![of.version.name.clone()];
        Self { versions, path, ..Self::of_kind(rule, source, of.kind, message) }
    }

    /// A finding at a field.
    pub(super) fn of_field(rule: &'static Rule, source: &str, field: &Field<'_>, message: String) -> Self {
        Self {
            location: field.raw.as_ref().map(Raw::location_in_file),
            within: field.named_type().map(|(name, path)| (name.to_owned(), path)),
            ..Self::of_version(rule, source, field.subject, field.path(), message)
        }
    }

    /// The type of several uses, without its package.
    pub(crate) fn type_name(&self) -> Option<&str> {
        self.within.as_ref().map(|(name, _)| name.rsplit('.').next().unwrap_or(name))
    }
}

/// Findings in the order of files, kinds and paths. One in several versions of a kind is one, and so is one in a type that is used
/// in several places.
pub(crate) fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut by_kind: Vec<Finding> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for finding in findings {
        let key = (
            finding.rule.name,
            finding.group.clone(),
            finding.kind.clone(),
            finding.path.clone(),
            finding.message.clone(),
        );
        if let Some(&at) = known.get(&key) {
            by_kind[at].versions.extend(finding.versions);
        } else {
            known.insert(key, by_kind.len());
            by_kind.push(finding);
        }
    }
    sort(&mut by_kind);
    let mut merged: Vec<Finding> = Vec::new();
    let mut types: BTreeMap<_, usize> = BTreeMap::new();
    for finding in by_kind {
        let Some((name, path)) = finding.within.clone() else {
            merged.push(finding);
            continue;
        };
        match types.entry((finding.rule.name, name, path, finding.message.clone())) {
            Entry::Vacant(first) => {
                first.insert(merged.len());
                merged.push(finding);
            }
            Entry::Occupied(known) => {
                let known = &mut merged[*known.get()];
                let others = known.others + 1;
                // The use that is shortest to read stands for all.
                if finding.path.len() < known.path.len() {
                    *known = finding;
                }
                known.others = others;
            }
        }
    }
    sort(&mut merged);
    merged
}

/// In the order of files, kinds and paths.
fn sort(findings: &mut [Finding]) {
    findings
        .sort_by_cached_key(|of| (of.source.clone(), of.group.clone(), of.kind.clone(), of.path.clone(), of.rule.name));
}
