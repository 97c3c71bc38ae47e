//! Changes that are accepted on purpose, each with a reason.
//!
//! A file has one of them a line: `RULE PLACE: REASON`, where the location is as the finding says it, and `*` stands for any
//! characters. What comes after `#` at the start of a line is a comment.
//!
//! ```text
//! # Approved in the review of 1.4.
//! field-removed Book v1 .spec.isbn: no client ever set it
//! enum-value-added * .spec.genre: clients treat unknown genres as "other"
//! ```
use super::{Finding, Location, named};
use crate::wildcard;

/// The acceptances of some files.
#[derive(Default)]
pub(crate) struct Acceptances(Vec<Acceptance>);

/// A line of a file.
pub(crate) struct Acceptance {
    /// The file and the line.
    pub location: String,
    rule: String,
    pattern: String,
    /// Why the change is accepted.
    pub reason: String,
    /// It accepted a change.
    is_used: bool,
}

impl Acceptances {
    /// Adds the acceptances of a file.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub(crate) fn read(&mut self, file: &str, text: &str) -> Result<(), String> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let location = format!("{file}:{}", index + 1);
            let acceptance = Acceptance::of(&location, line).map_err(|error| format!("{location}: {error}"))?;
            self.0.push(acceptance);
        }
        Ok(())
    }

    /// Takes out the findings that are accepted, each with its reason.
    pub(crate) fn accept(&mut self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<(Finding, String)>) {
        let (mut left, mut accepted) = (Vec::new(), Vec::new());
        for finding in findings {
            match self.0.iter_mut().find(|acceptance| acceptance.accepts(&finding)) {
                Some(acceptance) => {
                    acceptance.is_used = true;
                    accepted.push((finding, acceptance.reason.clone()));
                }
                None => left.push(finding),
            }
        }
        (left, accepted)
    }

    /// The acceptances that accepted nothing.
    pub(crate) fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.0.iter().filter(|acceptance| !acceptance.is_used);
        unused.map(|of| format!("{}: accepts no change: {} {}; remove the line", of.location, of.rule, of.pattern))
    }
}

impl Acceptance {
    fn of(location: &str, line: &str) -> Result<Self, String> {
        const FORM: &str = "expected RULE PLACE: REASON, such as `field-removed Book v1 .spec.isbn: no client set it`";
        let (of, reason) = line.split_once(": ").ok_or_else(|| format!("there is no reason; {FORM}"))?;
        let (rule, pattern) = of.trim().split_once(' ').ok_or_else(|| format!("there is no place; {FORM}"))?;
        if reason.trim().is_empty() {
            return Err(format!("there is no reason; {FORM}"));
        }
        if named(rule).is_none() {
            return Err(format!("there is no rule {rule:?}; `kindsmith check --rules` lists them"));
        }
        let [rule, pattern, reason] = [rule, pattern.trim(), reason.trim()].map(str::to_owned);
        Ok(Self { location: location.to_owned(), rule, pattern, reason, is_used: false })
    }

    fn accepts(&self, finding: &Finding) -> bool {
        let is_at = |location: &Location| wildcard::matches(&self.pattern, &location.to_string());
        finding.rule.name == self.rule && is_at(&finding.location)
    }
}
