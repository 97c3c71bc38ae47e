//! Defaulting: fills in the schema's defaults for absent fields.
use serde_json::Map;

use super::{At, Document, Exceeded, Meter, Schema, memory, normalise::is_empty};

/// Fills in defaults, also in existing list items, map values and structs.
///
/// A `null` that the schema does not allow counts as absent: it becomes the field's default or is removed. As a list
/// item it is kept for validation to refuse, because removing it would move other items.
///
/// # Errors
/// The limit of the meter that was exceeded: a short document may have many items, each with long defaults. The document is
/// then of no use.
pub fn default(schema: &Schema, document: &mut Document, meter: &Meter) -> Result<(), Exceeded> {
    Defaulter { meter }.fill(At::of(schema), document);
    meter.check()
}

/// The same at a place in a schema.
pub(super) fn fill(at: At<'_>, document: &mut Document, meter: &Meter) {
    Defaulter { meter }.fill(at, document);
}

struct Defaulter<'m> {
    meter: &'m Meter,
}

impl Defaulter<'_> {
    fn fill(&self, at: At<'_>, document: &mut Document) {
        match document {
            Document::Object(fields) => {
                let properties = at.properties();
                if !self.meter.step(properties.len() + 1) {
                    return;
                }
                for (name, field) in properties {
                    self.fill_property(name, field, fields);
                }
                if let Some(values) = at.entry() {
                    self.fill_entries(at, values, fields);
                }
            }
            Document::Array(list) => {
                let Some(items) = at.items() else { return };
                for item in list {
                    if !self.meter.step(1) {
                        return;
                    }
                    self.replace_null(items, item);
                    self.fill(items, item);
                }
            }
            _ => {}
        }
    }

    fn fill_property(&self, name: &str, at: At<'_>, fields: &mut Map<String, Document>) {
        match fields.get_mut(name) {
            Some(value) if is_absent(at, value) => {
                let Some(default) = self.default_of(at) else {
                    fields.remove(name);
                    return;
                };
                *value = default;
            }
            Some(_) => {}
            None => {
                let Some(default) = self.default_of(at) else { return };
                if self.meter.make(memory::FIELD + name.len()) {
                    fields.insert(name.to_owned(), default);
                }
            }
        }
        if let Some(value) = fields.get_mut(name) {
            self.fill(at, value);
        }
    }

    /// Entries of a map, without declared fields.
    fn fill_entries(&self, at: At<'_>, values: At<'_>, fields: &mut Map<String, Document>) {
        fields.retain(|name, value| {
            if !self.meter.step(1) || at.property(name).is_some() {
                return true;
            }
            self.replace_null(values, value);
            self.fill(values, value);
            !is_absent(values, value)
        });
    }

    fn replace_null(&self, at: At<'_>, value: &mut Document) {
        if is_absent(at, value)
            && let Some(default) = self.default_of(at)
        {
            *value = default;
        }
    }

    /// A copy of the default of a place, if there is room for it. A back reference with a default, whose value might not end,
    /// is refused; that is not known yet while the schema is checked.
    fn default_of(&self, at: At<'_>) -> Option<Document> {
        let default = at.node().default.as_ref().filter(|_| at.definition.is_none())?;
        self.meter.make(memory::taken(default)).then(|| default.clone())
    }
}

/// True for a value that counts as absent: a disallowed `null`, or for a field with a default a value equivalent to
/// absence.
fn is_absent(at: At<'_>, value: &Document) -> bool {
    let emptied = at.omit_empty && at.default.is_some() && is_empty(at, value);
    (value.is_null() && !at.nullable) || emptied
}
