//! Reads the members of an object by name, and reports those of a wrong type. Absent and null are the same.
use serde_json::Map;

use super::findings::{Findings, Location};
use crate::{kind::names, schema::Document};

/// An object and its location.
#[derive(Clone, Copy)]
pub(super) struct Members<'d, 'p> {
    pub all: &'d Map<String, Document>,
    pub location: &'p Location<'p>,
}

impl<'d, 'p> Members<'d, 'p> {
    /// The members of a value. One that is no object is reported.
    pub(super) fn of(value: &'d Document, location: &'p Location<'p>, findings: &mut Findings) -> Option<Self> {
        let all = value.as_object();
        if all.is_none() {
            findings.wrong_type(location, value, "an object");
        }
        Some(Self { all: all?, location })
    }

    /// A member's value that is not null.
    pub(super) fn get(self, name: &str) -> Option<&'d Document> {
        self.all.get(name).filter(|value| !value.is_null())
    }

    fn typed<T>(
        self,
        name: &str,
        expected: &str,
        findings: &mut Findings,
        read: impl FnOnce(&'d Document) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(name)?;
        let found = read(value);
        if found.is_none() {
            findings.wrong_type(&self.location.key(name), value, expected);
        }
        found
    }

    /// A string.
    pub(super) fn text(self, name: &str, findings: &mut Findings) -> Option<&'d str> {
        self.typed(name, "a string", findings, Document::as_str)
    }

    /// A string that is one of these; any other one is reported.
    pub(super) fn one_of(self, name: &str, known: &[&str], findings: &mut Findings) -> Option<&'d str> {
        let found = self.text(name, findings)?;
        if !known.contains(&found) {
            findings.error(&self.location.key(name), format!("found {found:?}; supported: {}", known.join(", ")));
        }
        Some(found)
    }

    /// A string, empty if absent.
    pub(super) fn text_or_empty(self, name: &str, findings: &mut Findings) -> String {
        self.text(name, findings).unwrap_or_default().to_owned()
    }

    /// True or false, false if absent.
    pub(super) fn flag(self, name: &str, findings: &mut Findings) -> bool {
        self.typed(name, "true or false", findings, Document::as_bool).unwrap_or_default()
    }

    /// A number.
    pub(super) fn number(self, name: &str, findings: &mut Findings) -> Option<f64> {
        self.typed(name, "a number", findings, Document::as_f64)
    }

    /// A count: a whole number that is not negative.
    pub(super) fn count(self, name: &str, findings: &mut Findings) -> Option<u64> {
        self.typed(name, "a whole number that is not negative", findings, Document::as_u64)
    }

    /// A list; no items if absent.
    pub(super) fn list(self, name: &str, findings: &mut Findings) -> &'d [Document] {
        self.typed(name, "a list", findings, Document::as_array).map_or(&[], Vec::as_slice)
    }

    /// A list of strings; no items if absent.
    pub(super) fn texts(self, name: &str, findings: &mut Findings) -> Vec<String> {
        let location = self.location.key(name);
        let mut texts = Vec::new();
        for (index, item) in self.list(name, findings).iter().enumerate() {
            match item.as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => findings.wrong_type(&location.index(index), item, "a string"),
            }
        }
        texts
    }

    /// An object.
    pub(super) fn object(self, name: &str, findings: &mut Findings) -> Option<&'d Map<String, Document>> {
        self.typed(name, "an object", findings, Document::as_object)
    }

    /// Warns of members that are not read.
    pub(super) fn warn_of_others(self, known: &[&str], findings: &mut Findings) {
        for name in self.all.keys().filter(|name| !known.contains(&name.as_str())) {
            let location = self.location.key(name);
            findings.warning(&location, format!("{name:?} is not read; supported here: {}", known.join(", ")));
        }
    }

    /// Reports invalid names besides the plural: the singular, which may be empty, short names and categories.
    pub(super) fn check_names(self, singular: &str, findings: &mut Findings) {
        let name = |value: &'d Document| value.as_str().filter(|name| !name.is_empty());
        if let Some(Err(problem)) = self.get(singular).and_then(name).map(|name| names::label("the singular", name)) {
            findings.error(&self.location.key(singular), problem);
        }
        for (list, what) in [("shortNames", "a short name"), ("categories", "a category")] {
            let location = self.location.key(list);
            let items = self.get(list).and_then(Document::as_array).into_iter().flatten();
            for (index, item) in items.enumerate() {
                if let Some(Err(problem)) = item.as_str().map(|name| names::label(what, name)) {
                    findings.error(&location.index(index), problem);
                }
            }
        }
    }
}
