//! How findings are printed.
use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use super::{
    Finding, Level, Rule,
    raw::{Files, Location},
    rules,
};
use crate::github::{data, property};

/// How many findings of a rule are many, and how many of these are shown.
const MANY: usize = 8;
const SHOWN: usize = 3;

/// The findings, and what is said of them together.
pub(crate) struct Summary<'f> {
    findings: &'f [Finding],
    lines: BTreeMap<&'f Location, usize>,
    /// The number of findings that were allowed.
    allowed: usize,
    /// Entries that allow nothing.
    unused: &'f [String],
}

impl<'f> Summary<'f> {
    /// Of findings that were merged.
    pub(crate) fn new(findings: &'f [Finding], files: &Files, allowed: usize, unused: &'f [String]) -> Self {
        let lines = files.lines(findings.iter().filter_map(|finding| finding.location.as_ref()));
        Self { findings, lines, allowed, unused }
    }

    fn line(&self, finding: &Finding) -> Option<usize> {
        self.lines.get(finding.location.as_ref()?).copied()
    }

    /// A line for each finding, then the count of each rule. Errors are shown by `emphasis`. Of a rule with many findings, the first
    /// few have a line, unless all are asked for.
    pub(crate) fn text(&self, emphasis: fn(&str) -> String, all: bool) -> String {
        let counts = self.counts();
        let is_many = |rule: &Rule| counts.iter().any(|(of, count)| of.name == rule.name && *count > MANY);
        let (mut text, mut shown) = (String::new(), BTreeMap::<&str, usize>::new());
        for finding in self.findings {
            let number = shown.entry(finding.rule.name).or_default();
            *number += 1;
            if !all && *number > SHOWN && is_many(finding.rule) {
                continue;
            }
            let line = self.line(finding).map_or_else(String::new, |line| format!(":{line}"));
            let level = finding.rule.level.name();
            let level = if finding.rule.level == Level::Error { emphasis(level) } else { level.to_owned() };
            let _ = writeln!(
                text,
                "{}{line}: {}: {level}: {} [{}]{}",
                finding.source,
                subject(finding),
                finding.message,
                finding.rule.name,
                uses(finding)
            );
        }
        let widest = counts.iter().map(|(rule, _)| rule.name.len()).max().unwrap_or_default();
        if !counts.is_empty() {
            text.push('\n');
        }
        for (rule, count) in counts {
            let left = if !all && count > MANY { count - SHOWN } else { 0 };
            let left = if left > 0 { format!(", {left} of them not shown (--all)") } else { String::new() };
            let _ = writeln!(text, "{count:6}  {:widest$}  {}{left}", rule.name, rule.level.name());
        }
        let of = |level| self.findings.iter().filter(|finding| finding.rule.level == level).count();
        let (errors, warnings) = (of(Level::Error), of(Level::Warning));
        let _ = write!(text, "{}, {}", counted(errors, "error"), counted(warnings, "warning"));
        let _ =
            writeln!(text, "{}", if self.allowed > 0 { format!("; {} allowed", self.allowed) } else { String::new() });
        text
    }

    /// A document for programs.
    pub(crate) fn json(&self) -> String {
        let findings = self.findings.iter().map(|finding| {
            json!({
                "rule": finding.rule.name,
                "level": finding.rule.level.name(),
                "file": finding.source,
                "line": self.line(finding),
                "group": finding.group,
                "kind": finding.kind,
                "versions": finding.versions,
                "path": finding.path,
                "message": finding.message,
                "otherUses": finding.others,
            })
        });
        let findings: Vec<Value> = findings.collect();
        let counts: BTreeMap<&str, usize> = self.counts().into_iter().map(|(rule, count)| (rule.name, count)).collect();
        let document =
            json!({"findings": findings, "counts": counts, "allowed": self.allowed, "unusedEntries": self.unused});
        format!("{document:#}\n")
    }

    /// Workflow commands, which GitHub shows beside the lines of a change.
    pub(crate) fn github(&self) -> String {
        let mut text = String::new();
        for finding in self.findings {
            let line = self.line(finding).map_or_else(String::new, |line| format!(",line={line}"));
            let file = property(&finding.source);
            let message = data(&format!("{}: {}{}", subject(finding), finding.message, uses(finding)));
            let (level, rule) = (finding.rule.level.name(), finding.rule.name);
            let _ = writeln!(text, "::{level} file={file}{line},title=kindsmith lint {rule}::{message}");
        }
        text
    }

    /// The rules that were violated, with the number of findings, in the order of the rules.
    fn counts(&self) -> Vec<(&'static Rule, usize)> {
        let of = |rule: &Rule| self.findings.iter().filter(|finding| finding.rule.name == rule.name).count();
        rules::all().map(|rule| (rule, of(rule))).filter(|(_, count)| *count > 0).collect()
    }
}

/// `Book v1, v2 .spec.title`.
fn subject(finding: &Finding) -> String {
    let versions = finding.versions.join(", ");
    let parts = [finding.kind.as_str(), &versions, &finding.path];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The number of further uses of a type.
fn uses(finding: &Finding) -> String {
    match (finding.others, finding.type_name()) {
        (0, _) | (_, None) => String::new(),
        (others, Some(name)) => format!(" and {} of {name}", counted(others, "other use")),
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// All rules, one a line.
pub(crate) fn list() -> String {
    let widest = rules::all().map(|rule| rule.name.len()).max().unwrap_or_default();
    let lines = rules::all().map(|rule| format!("{:widest$}  {:7}  {}\n", rule.name, rule.level.name(), rule.section));
    lines.collect()
}

/// A rule with its reason and its examples.
pub(crate) fn explain(rule: &Rule) -> String {
    let indented = |example: &str| example.lines().flat_map(|line| ["    ", line, "\n"]).collect::<String>();
    format!(
        "{} ({})\n\n{}\n\nSection: {}\n\nViolates it:\n\n{}\nDoes not:\n\n{}",
        rule.name,
        rule.level.name(),
        rule.reason,
        rule.section,
        indented(rule.bad),
        indented(rule.good)
    )
}
