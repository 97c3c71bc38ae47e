//! What was found, as text, as JSON, and as annotations of GitHub.
use std::{fmt::Write as _, path::Path};

use serde_json::{Value, json};

use super::{Finding, Level, Location, Rule};
use crate::github::{data, property};

/// What a comparison found.
pub(crate) struct Report {
    /// The changes that are not accepted, the worst first.
    pub findings: Vec<Finding>,
    /// The accepted changes, with the reasons.
    pub accepted: Vec<(Finding, String)>,
    /// Acceptances that accepted nothing.
    pub unused: Vec<String>,
}

impl Report {
    /// The number of changes of a level that are not accepted.
    pub(crate) fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    /// Lines for people. Compatible and accepted changes are counted, and printed if `all` are asked for.
    pub(crate) fn text(&self, all: bool) -> String {
        let mut text = String::new();
        for finding in self.findings.iter().filter(|finding| all || finding.level > Level::Compatible) {
            let _ = writeln!(text, "{}: {}: {}", finding.level, finding.location.file, message(finding));
        }
        for (finding, reason) in self.accepted.iter().filter(|_| all) {
            let _ = writeln!(text, "accepted: {}: {}: {reason}", finding.location.file, message(finding));
        }
        for unused in &self.unused {
            let _ = writeln!(text, "warning: {unused}");
        }
        text + &self.summary(all)
    }

    fn summary(&self, all: bool) -> String {
        let counted = |count: usize, what: &str| match count {
            0 => format!("no {what}s"),
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let mut text = format!(
            "{}, {}, {}",
            counted(self.count(Level::Breaking), "breaking change"),
            counted(self.count(Level::Warning), "warning"),
            counted(self.count(Level::Compatible), "compatible change"),
        );
        if !self.accepted.is_empty() {
            let _ = write!(text, ", {} accepted", self.accepted.len());
        }
        if !all && self.count(Level::Compatible) + self.accepted.len() > 0 {
            text += " (--all prints everything)";
        }
        text.push('\n');
        if let Some(finding) = self.findings.first().filter(|finding| finding.level > Level::Compatible) {
            let name = finding.rule.name;
            let _ = writeln!(text, "next: `kindsmith check --explain {name}` says why, and what to do instead");
        }
        text
    }

    /// One JSON document.
    pub(crate) fn json(&self) -> String {
        let changes = self.findings.iter().map(|finding| as_json(finding, None));
        let accepted = self.accepted.iter().map(|(finding, reason)| as_json(finding, Some(reason)));
        let document = json!({
            "changes": changes.chain(accepted).collect::<Vec<_>>(),
            "unusedAcceptances": self.unused,
            "summary": {
                "breaking": self.count(Level::Breaking),
                "warning": self.count(Level::Warning),
                "compatible": self.count(Level::Compatible),
                "accepted": self.accepted.len(),
            },
        });
        format!("{document:#}\n")
    }

    /// Workflow commands of GitHub Actions, which annotate the files of a pull request, at the lines of the findings.
    pub(crate) fn github(&self, lines: &[Option<usize>]) -> String {
        let mut text = String::new();
        for (finding, line) in self.findings.iter().zip(lines) {
            let command = match finding.level {
                Level::Breaking => "error",
                Level::Warning => "warning",
                Level::Compatible => continue,
            };
            let file = &finding.location.file;
            // The file of a removed kind is one of the old side.
            let at = if Path::new(file).is_file() {
                let line = line.map_or_else(String::new, |line| format!("line={line},"));
                format!("file={},{line}", property(file))
            } else {
                String::new()
            };
            let _ = writeln!(text, "::{command} {at}title={}::{}", finding.rule.name, data(&message(finding)));
        }
        for unused in &self.unused {
            let _ = writeln!(text, "::warning::{}", data(unused));
        }
        text + &self.summary(true)
    }
}

/// All about a rule.
pub(crate) fn explain(rule: &Rule) -> String {
    let mut text = format!("{} ({})\n\n  {}\n\n", rule.name, rule.level, rule.about);
    let breaks: Vec<String> = rule.breaks.iter().map(ToString::to_string).collect();
    let rows = [
        ("breaks", breaks.join(", ")),
        ("why", format!("{}.", rule.harm)),
        ("instead", rule.instead.to_owned()),
        ("source", rule.source.to_owned()),
    ];
    for (name, row) in rows.into_iter().filter(|(_, row)| !row.is_empty()) {
        let _ = writeln!(text, "  {name:<9}{row}");
    }
    text
}

fn message(finding: &Finding) -> String {
    let mut text = format!("{}: {}", finding.location, finding.what);
    if finding.level > Level::Compatible {
        let _ = write!(text, "; {}", finding.rule.harm);
    }
    let _ = write!(text, " [{}]", finding.rule.name);
    match &finding.also[..] {
        [] => {}
        [location] => {
            let _ = write!(text, " (also {location})");
        }
        [first, rest @ ..] => {
            let _ = write!(text, " (also {first}, and {} more places)", rest.len());
        }
    }
    text
}

fn as_json(finding: &Finding, accepted: Option<&str>) -> Value {
    let location = |location: &Location| {
        let Location { file, subject, version, path } = location;
        json!({"file": file, "subject": subject, "version": version, "path": path})
    };
    let breaks: Vec<String> = finding.rule.breaks.iter().map(ToString::to_string).collect();
    json!({
        "rule": finding.rule.name,
        "level": finding.level.to_string(),
        "place": location(&finding.location),
        "what": finding.what,
        "breaks": breaks,
        "harm": finding.rule.harm,
        "source": finding.rule.source,
        "also": finding.also.iter().map(location).collect::<Vec<_>>(),
        "accepted": accepted,
    })
}
