//! The API conventions as checks of kinds.
//!
//! A [`Rule`] is a pure function over a kind, one version of it, or one field of a version. It has the section of the text that it
//! is from, a reason, and an example on either side of it. [`check`] applies all rules; [`AllowList`](allow::AllowList) takes out
//! violations that a team accepts, each with a reason.

pub(crate) mod allow;
mod amounts;
pub(crate) mod field;
pub(crate) mod finding;
mod naming;
pub(crate) mod output;
pub(crate) mod raw;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;

use kindsmith::kind::{Definition, model::Version};
use kindsmith_codegen::ResourceDeclaration;

pub(crate) use self::finding::Finding;
use self::{
    field::{Field, walk},
    raw::{Files, Raw},
};

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// The text says must or never.
    Error,
    /// The text advises.
    Warning,
}

impl Level {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One convention.
pub(crate) struct Rule {
    /// The name, by which it is allowed and explained.
    pub name: &'static str,
    /// How serious a violation is.
    pub level: Level,
    /// The section of the text.
    pub section: &'static str,
    /// Why, in one sentence.
    pub reason: &'static str,
    /// Parts of a definition that violate it, in YAML: `group`, `names`, and so on; all else are properties of the schema.
    pub bad: &'static str,
    /// The same as it should be.
    pub good: &'static str,
    /// The check.
    pub check: Check,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// What the versions share.
    Kind(fn(&Kind<'_>) -> Option<String>),
    /// A version as a whole: messages, each with the path of a field, or an empty one.
    Version(fn(&Subject<'_>) -> Vec<(String, String)>),
    /// Each field, with list items and map values.
    Field(fn(&Field<'_>) -> Option<String>),
}

impl Check {
    /// The rule for it. It does not say yet why.
    const fn rule(self, level: Level, name: &'static str, section: &'static str) -> Rule {
        Rule { name, level, section, reason: "", bad: "", good: "", check: self }
    }

    /// The rule for what the text says must be, or must never.
    const fn error(self, name: &'static str, section: &'static str) -> Rule {
        self.rule(Level::Error, name, section)
    }

    /// The rule for what the text advises.
    const fn warning(self, name: &'static str, section: &'static str) -> Rule {
        self.rule(Level::Warning, name, section)
    }
}

impl Rule {
    /// With the reason.
    const fn reason(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    /// With an example that violates it.
    const fn bad(self, bad: &'static str) -> Self {
        Self { bad, ..self }
    }

    /// With the same as it should be.
    const fn good(self, good: &'static str) -> Self {
        Self { good, ..self }
    }
}

/// A kind to check.
pub(crate) struct Kind<'d> {
    /// The kind.
    pub definition: &'d Definition,
    /// It is one of the kinds of Kubernetes itself, whose documents do not publish bounds, and whose group is its own.
    pub is_builtin: bool,
    /// It is read from an OpenAPI document, which has no columns and no paths of a scale.
    pub is_document: bool,
    /// The annotations of its definition.
    pub annotations: Vec<(String, String)>,
}

/// A version of a kind.
pub(crate) struct Subject<'d> {
    /// The kind.
    pub kind: &'d Kind<'d>,
    /// The version.
    pub version: &'d Version,
}

impl Subject<'_> {
    /// The fields of an object have such a name and schema.
    pub(crate) fn top(&self, name: &str) -> Option<&kindsmith::schema::Schema> {
        self.version.schema.properties.get(name)
    }
}

/// Applies all rules to kinds. The findings are in no order.
pub(crate) fn check<'k>(kinds: impl IntoIterator<Item = &'k ResourceDeclaration>, files: &Files) -> Vec<Finding> {
    let mut findings = Vec::new();
    for declaration in kinds {
        let definition = &declaration.definition;
        let mut roots = declaration.sources.iter().zip(&definition.versions);
        let first = roots.clone().find_map(|(source, version)| files.root(source, definition, &version.name));
        let kind = Kind {
            definition,
            is_builtin: declaration.is_builtin(),
            is_document: first.as_ref().is_some_and(Raw::is_document),
            annotations: first.map(|raw| raw.annotations()).unwrap_or_default(),
        };
        if let Some(source) = declaration.sources.first() {
            for rule in rules::all() {
                if let Check::Kind(check) = rule.check
                    && let Some(message) = check(&kind)
                {
                    findings.push(Finding::of_kind(rule, source, &kind, message));
                }
            }
        }
        for (source, version) in roots.by_ref() {
            check_version(&Subject { kind: &kind, version }, source, files, &mut findings);
        }
    }
    findings
}

fn check_version(subject: &Subject<'_>, source: &str, files: &Files, findings: &mut Vec<Finding>) {
    let root = files.root(source, subject.kind.definition, &subject.version.name);
    let mut reported = BTreeSet::new();
    for rule in rules::all() {
        let Check::Version(check) = rule.check else { continue };
        for (path, message) in check(subject) {
            // A column may be wrong twice for the same reason.
            if reported.insert((rule.name, path.clone(), message.clone())) {
                let mut finding = Finding::of_version(rule, source, subject, path, message);
                let name = Some(subject.version.name.as_str());
                finding.location = files.location(source, subject.kind.definition, name, &finding.path);
                findings.push(finding);
            }
        }
    }
    walk(subject, root.clone(), &mut |field| {
        for rule in rules::all() {
            if let Check::Field(check) = rule.check
                && let Some(message) = check(field)
            {
                findings.push(Finding::of_field(rule, source, field, message));
            }
        }
    });
}
