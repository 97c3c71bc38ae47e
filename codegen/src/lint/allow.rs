//! Decisions against a rule, with their reasons: a file of entries, and annotations of definitions.
//!
//! An entry without a reason is refused, as is one for a rule that does not exist. One that allows nothing is reported, so that the file
//! does not outlive what it is about.
use std::path::Path;

use kindsmith_formats::files;
use kindsmith_model::codec::{Limits, yaml};
use serde_json::Value;

use super::{Finding, rules};
use crate::wildcard::matches;

/// The name of the file.
pub(crate) const FILE: &str = "kindsmith-lint.yaml";
/// How annotations begin whose rest is the name of a rule, and whose value is the reason.
pub(crate) const ANNOTATION: &str = "allow.kindsmith.dev/";
/// The members of an entry.
const MEMBERS: &str = "rule, kind, path and reason";

/// The allowed violations.
#[derive(Debug, Default)]
pub(crate) struct AllowList(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    /// The file and line, or the annotation.
    location: String,
    rule: String,
    /// Patterns, in which `*` stands for any text.
    kind: String,
    path: String,
    is_used: bool,
}

impl AllowList {
    /// Adds the entries of a file.
    ///
    /// # Errors
    /// All that is wrong with the file.
    pub(crate) fn read(&mut self, path: &Path) -> Result<(), String> {
        let name = path.display().to_string();
        let text = files::read_text(path, &files::Limits::default()).map_err(|error| format!("{name}: {error}"))?;
        self.add(&name, &text)
    }

    /// Adds the entries of a text.
    fn add(&mut self, name: &str, text: &str) -> Result<(), String> {
        // A file of comments allows nothing yet.
        if yaml::documents(text).is_empty() {
            return Ok(());
        }
        let limits = Limits { depth: 16, memory: 16 << 20 };
        let decoded = yaml::decode(text.as_bytes(), &limits)
            .map_err(|error| format!("{name}:{}: {}", error.line, error.reason))?;
        let lines = yaml::Lines::new(text);
        let mut errors: Vec<String> = decoded.faults.iter().map(|fault| format!("{name}: {fault}")).collect();
        let document = &decoded.document;
        let is_known = document.as_object().is_some_and(|members| members.keys().all(|member| member == "allow"));
        match document["allow"].as_array().filter(|_| is_known) {
            Some(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    let location = format!("{name}:{}", lines.of(&format!("/allow/{index}")));
                    match Entry::of(location.clone(), entry) {
                        Ok(entry) => self.0.push(entry),
                        Err(error) => errors.push(format!("{location}: {error}")),
                    }
                }
            }
            None => errors.push(format!(
                "{name}:1: a file of what is allowed has one member, allow: a list of entries with {MEMBERS}"
            )),
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    /// Adds what the annotations of a definition allow.
    ///
    /// # Errors
    /// An annotation that names no rule, or gives no reason.
    pub(crate) fn annotated(
        &mut self,
        source: &str,
        kind: &str,
        annotations: &[(String, String)],
    ) -> Result<(), String> {
        for (name, reason) in annotations {
            let Some(rule) = name.strip_prefix(ANNOTATION) else { continue };
            let location = format!("{source}: the annotation {name} of {kind}");
            let entry = serde_json::json!({"rule": rule, "kind": kind, "reason": reason});
            self.0.push(Entry::of(location.clone(), &entry).map_err(|error| format!("{location}: {error}"))?);
        }
        Ok(())
    }

    /// The findings that nothing allows.
    pub(crate) fn apply(&mut self, mut findings: Vec<Finding>) -> Vec<Finding> {
        findings.retain(|finding| {
            let mut allowed = false;
            for entry in &mut self.0 {
                if entry.covers(finding) {
                    entry.is_used = true;
                    allowed = true;
                }
            }
            !allowed
        });
        findings
    }

    /// The entries that allowed nothing.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self.0.iter().filter(|entry| !entry.is_used);
        unused
            .map(|entry| format!("{}: the entry for {} allows nothing: remove it", entry.location, entry.rule))
            .collect()
    }
}

impl Entry {
    fn of(location: String, entry: &Value) -> Result<Self, String> {
        let members = entry.as_object().ok_or_else(|| format!("an entry has the members {MEMBERS}"))?;
        if let Some(other) = members.keys().find(|name| !["rule", "kind", "path", "reason"].contains(&name.as_str())) {
            return Err(format!("an entry has no member {other:?}; it has {MEMBERS}"));
        }
        if let Some((name, value)) = members.iter().find(|(_, value)| !value.is_string()) {
            return Err(format!("{name} is a text, not {value}"));
        }
        let text = |name: &str| entry[name].as_str().map(str::trim).filter(|text| !text.is_empty());
        let rule = text("rule").ok_or("an entry names the rule that it allows to violate: rule")?;
        if rules::find(rule).is_none() {
            return Err(unknown(rule));
        }
        if text("reason").is_none() {
            return Err(format!("why is {rule} violated here? An entry has a reason"));
        }
        let pattern = |name: &str| text(name).unwrap_or("*").to_owned();
        let path = pattern("path");
        let path = if path.starts_with(['.', '*']) { path } else { format!(".{path}") };
        Ok(Self { location, rule: rule.to_owned(), kind: pattern("kind"), path, is_used: false })
    }

    fn covers(&self, finding: &Finding) -> bool {
        let kind = &finding.kind;
        self.rule == finding.rule.name
            && (matches(&self.kind, kind) || matches(&self.kind, &format!("{kind}.{}", finding.group)))
            && matches(&self.path, &finding.path)
    }
}

/// The error for a rule that does not exist.
pub(crate) fn unknown(rule: &str) -> String {
    let same = |other: &str| other.split('-').filter(|word| rule.split('-').any(|of| of == *word)).count();
    let near = rules::all().max_by_key(|of| same(of.name)).filter(|of| same(of.name) > 0);
    let hint = near.map_or_else(String::new, |near| format!(" did you mean {}?", near.name));
    format!("there is no rule {rule};{hint} `kindsmith lint --rules` lists them")
}

#[cfg(test)]
mod tests;
