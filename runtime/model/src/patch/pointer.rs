//! JSON Pointer (RFC 6901).
use crate::{codec::Limits, schema::Document};

/// A parsed pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    /// Parses a pointer: empty for the document, or steps that each start with a slash.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let invalid = |why: &str| format!("{text:?} is not a JSON pointer: {why}");
        if !text.is_empty() && !text.starts_with('/') {
            return Err(invalid("it must be empty or begin with '/'"));
        }
        if text.bytes().filter(|byte| *byte == b'/').count() > 2 * Limits::default().depth {
            return Err("a JSON pointer is deeper than any document".to_owned());
        }
        let unescape = |step: &str| {
            let mut parts = step.split('~');
            let mut plain = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let rest = part.strip_prefix('0').map(|rest| ('~', rest));
                let (character, rest) = rest.or_else(|| part.strip_prefix('1').map(|rest| ('/', rest)))?;
                plain.push(character);
                plain.push_str(rest);
            }
            Some(plain)
        };
        let steps: Option<Vec<String>> = text.split('/').skip(1).map(unescape).collect();
        let steps = steps.ok_or_else(|| invalid("'~' must be followed by '0' or '1'"))?;
        Ok(Self { text: text.to_owned(), steps })
    }

    /// The original text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The depth of its target in the document.
    pub(super) fn depth(&self) -> usize {
        self.steps.len()
    }

    /// True if its target is inside the target of another pointer.
    pub(super) fn is_inside(&self, other: &Pointer) -> bool {
        self.steps.len() > other.steps.len() && self.steps.starts_with(&other.steps)
    }

    /// Its target.
    pub(super) fn find<'d>(&self, document: &'d Document) -> Option<&'d Document> {
        self.steps.iter().try_fold(document, |at, step| match at {
            Document::Object(fields) => fields.get(step),
            Document::Array(items) => items.get(index(step)?),
            _ => None,
        })
    }

    /// The container of its target, and the last step. `None` for the document itself.
    pub(super) fn holder<'d, 'p>(&'p self, document: &'d mut Document) -> Option<(Option<&'d mut Document>, &'p str)> {
        let (last, above) = self.steps.split_last()?;
        let holder = above.iter().try_fold(document, |at, step| match at {
            Document::Object(fields) => fields.get_mut(step),
            Document::Array(items) => items.get_mut(index(step)?),
            _ => None,
        });
        Some((holder.filter(|holder| holder.is_object() || holder.is_array()), last))
    }
}

/// A list index: digits without leading zeros.
pub(super) fn index(step: &str) -> Option<usize> {
    let digits = step.bytes().all(|byte| byte.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    if digits { step.parse().ok() } else { None }
}
