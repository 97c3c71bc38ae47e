//! `kindsmith check`: whether a change of kinds is compatible.
//!
//! [`compare()`] is a pure function of two sets of kinds. It walks both, and at each location it asks the [`rules`], each of which
//! finds one sort of change and says whom that breaks. What is not in a definition, such as the meaning of a field, is not
//! compared.

mod accept;
mod compare;
mod fold;
mod language;
mod message;
mod node;
mod print;
mod rule;
mod rules;
#[cfg(test)]
mod tests;

use std::fmt;

pub(crate) use accept::Acceptances;
pub(crate) use compare::{Side, compare};
pub(crate) use fold::fold;
pub(crate) use message::Messages;
pub(crate) use print::{Report, explain};
pub(crate) use rule::{Change, Level, Rule};
pub(crate) use rules::{all, named};

/// Where something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The file that declares it.
    pub file: String,
    /// The kind, or the message of a Protobuf definition.
    pub subject: String,
    /// The version of the kind.
    pub version: Option<String>,
    /// The path of the field; empty for the subject itself.
    pub path: String,
}

/// The location without its file, as acceptances name it.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subject)?;
        for part in [self.version.as_deref().unwrap_or_default(), &self.path] {
            if !part.is_empty() {
                write!(f, " {part}")?;
            }
        }
        Ok(())
    }
}

/// A change that a rule found.
pub(crate) struct Finding {
    pub rule: &'static Rule,
    /// The rule's level, or less in an alpha version.
    pub level: Level,
    pub location: Location,
    /// What changed.
    pub what: String,
    /// The innermost type with a name that the location is in, and the path in it.
    pub within: Option<(String, String)>,
    /// Other locations where the same type changed the same way.
    pub also: Vec<Location>,
}
