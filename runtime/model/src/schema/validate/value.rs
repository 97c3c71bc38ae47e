//! The rules of a value, in the order in which kube-openapi reports them.
use serde_json::Map;

use super::{
    embedded,
    validator::Validator,
    wording::{checks_of, knows, names_of, shown_text},
};
use crate::{
    meta::{
        FieldErrorKind,
        field::{MOST_ERRORS, MOST_REPEATED, beginning, shown},
    },
    schema::{At, Document, Pattern, Schema, correlate::Before, format, location::Location, memory, model::Type},
};

/// The steps that hashing a value takes, for each value in it.
const STEPS_OF_HASH: usize = 4;

/// The bytes of a text that are read in one step.
const BYTES_OF_STEP: usize = 32;

/// Matches a text with the pattern of a schema.
///
/// # Errors
/// The text does not match, or the pattern cannot be compiled.
fn check_pattern(pattern: &Pattern, text: &str) -> Result<(), String> {
    match pattern.matches(text) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("should match '{}'", pattern.text())),
        Err(error) => Err(format!("should match '{}', which cannot be compiled: {error}", pattern.text())),
    }
}

/// True for a number without a fraction.
pub(super) fn is_integer(value: &Document) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

impl Validator<'_> {
    pub(super) fn value(&mut self, at: At<'_>, value: &Document, location: &Location<'_>, before: Before<'_>) {
        if !self.meter.step(1) || before.is_correlated(at, value, self.meter) {
            return;
        }
        if value.is_null() && at.nullable {
            return self.enumeration(&at, value, location);
        }
        self.kind(&at, value, location);
        self.checks += checks_of(value);
        self.junctors(at, value, location);
        match value {
            Document::String(text) => self.text(&at, text, location),
            Document::Number(number) => self.number(&at, number, location),
            Document::Array(list) => self.list(at, list, location, before),
            _ => {}
        }
        self.enumeration(&at, value, location);
        if let Document::Object(fields) = value {
            self.object(at, fields, location, before);
        }
    }

    /// Checks the type. kube-apiserver names the format instead if the schema has one and the value is neither text nor
    /// a list.
    fn kind(&mut self, schema: &Schema, value: &Document, location: &Location<'_>) {
        let (given, given_format) = names_of(value);
        let formatted = !matches!(given, "string" | "array" | "null");
        let format = schema.format.as_deref().filter(|format| knows(schema.kind, format));
        let expected = match schema.kind {
            Type::Any => "",
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
            Type::IntOrString => "integer,string",
        };
        let whole = is_integer(value);
        let fits = match schema.kind {
            // A format without a type admits strings and lists only.
            Type::Any => format.is_none() || !formatted,
            Type::Number => value.is_number(),
            Type::Integer => whole,
            Type::IntOrString => whole || value.is_string(),
            _ => given == expected,
        };
        let counts = !value.is_null() && (schema.kind != Type::Any || format.is_some());
        self.checks += u64::from(counts) + u64::from(fits && (counts || value.is_null()));
        if fits {
            return;
        }
        let (expected, given) = match format {
            Some(format) if formatted => (format, given_format),
            _ => (expected, given),
        };
        self.type_invalid(location, expected, given);
    }

    fn text(&mut self, schema: &Schema, text: &str, location: &Location<'_>) {
        if !self.meter.step(text.len() / BYTES_OF_STEP) {
            return;
        }
        self.length_and_pattern(schema, text, location);
        let textual = matches!(schema.kind, Type::String | Type::IntOrString | Type::Any);
        if let Some(format) = schema.format.as_deref().filter(|_| textual) {
            self.checks += u64::from(format::is_known(format));
            if !format::allows(schema, text) {
                self.type_invalid(location, format, text);
            }
        }
    }

    /// The first of these rules that the text violates.
    fn length_and_pattern(&mut self, schema: &Schema, text: &str, location: &Location<'_>) {
        if schema.max_length.is_some() || schema.min_length.is_some() {
            let length = text.chars().count() as u64;
            if let Some(limit) = schema.max_length.filter(|&limit| length > limit) {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                return self.add(location, || (FieldErrorKind::TooLong { limit }, String::new()));
            }
            if let Some(limit) = schema.min_length.filter(|&limit| length < limit) {
                return self.invalid(location, shown_text(text), &format!("should be at least {limit} chars long"));
            }
        }
        if let Some(pattern) = &schema.pattern
            && let Some(Err(error)) = self.meter.timed(pattern.cost(text.len()), || check_pattern(pattern, text))
        {
            self.invalid(location, shown_text(text), &error);
        }
    }

    fn enumeration(&mut self, schema: &Schema, value: &Document, location: &Location<'_>) {
        // A hash is of the whole value, and each branch of a junctor may ask for one.
        let hashed = if schema.enumeration.is_indexed() { memory::values(value) } else { 0 };
        if !self.meter.step(STEPS_OF_HASH * hashed) || schema.enumeration.allows(value) {
            return;
        }
        self.add(location, || {
            let (given, supported) = (shown(value), schema.enumeration.listed());
            (FieldErrorKind::NotSupported { given, supported }, String::new())
        });
    }

    fn list(&mut self, at: At<'_>, list: &[Document], location: &Location<'_>, before: Before<'_>) {
        if let Some(items) = at.items() {
            let were = before.items(at);
            for (index, item) in list.iter().enumerate() {
                self.value(items, item, &location.item(index), were.of_identified(item));
            }
        }
        let count = list.len() as u64;
        if let Some(limit) = at.min_items.filter(|&limit| count < limit) {
            self.invalid(location, count.into(), &format!("should have at least {limit} items"));
        }
        self.too_many(at.max_items, list.len(), location);
        if !at.may_repeat {
            self.unique(&at.list, list, location);
        }
    }

    fn object(&mut self, at: At<'_>, fields: &Map<String, Document>, location: &Location<'_>, before: Before<'_>) {
        let count = fields.len() as u64;
        if let Some(limit) = at.min_properties.filter(|&limit| count < limit) {
            self.invalid(location, count.into(), &format!("should have at least {limit} properties"));
        }
        self.too_many(at.max_properties, fields.len(), location);
        self.fields(at, fields, location, before);
        self.meter.step(at.required.len());
        for name in at.required.iter().filter(|_| self.meter.goes_on()) {
            if !fields.contains_key(name) {
                self.add(&location.field(name), || (FieldErrorKind::Required, String::new()));
            }
        }
        if at.union {
            self.union(at, fields, location);
        }
        if at.embedded && self.embedded.len() < MOST_ERRORS {
            self.embedded.extend(embedded::errors(fields, location));
        }
    }

    pub(super) fn fields(
        &mut self,
        at: At<'_>,
        fields: &Map<String, Document>,
        location: &Location<'_>,
        before: Before<'_>,
    ) {
        for (name, value) in fields {
            let (field, below) = match at.property(name) {
                Some(field) => (field, location.field(name)),
                None => match at.entry() {
                    Some(entry) => (entry, location.entry(name)),
                    None => continue,
                },
            };
            if field.boolean == Some(false) {
                self.forbidden(name, location);
            } else {
                self.value(field, value, &below, before.field(name));
            }
        }
    }

    fn forbidden(&mut self, name: &str, location: &Location<'_>) {
        let detail =
            || format!("{}.{} in body is a forbidden property", location.text(), beginning(name, MOST_REPEATED));
        self.add(location, || (FieldErrorKind::Invalid(shown_text(name)), detail()));
    }

    fn too_many(&mut self, limit: Option<u64>, given: usize, location: &Location<'_>) {
        if let Some(limit) = limit.filter(|&limit| given as u64 > limit) {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            self.add(location, || (FieldErrorKind::TooMany { given, limit }, String::new()));
        }
    }

    fn union(&mut self, at: At<'_>, fields: &Map<String, Document>, location: &Location<'_>) {
        let members = at.properties().map(|(name, _)| name.as_str());
        let set: Vec<&str> = members.clone().filter(|&name| fields.contains_key(name)).collect();
        let members: Vec<String> = members.map(|name| format!("`{name}`")).collect();
        let members = members.join(", ");
        let (given, detail) = match set.as_slice() {
            [_] => return,
            [] => (Document::from(""), format!("must specify one of: {members}")),
            several => (
                Document::from(format!("{{{}}}", several.join(", "))),
                format!("must specify exactly one of: {members}"),
            ),
        };
        self.add(location, || (FieldErrorKind::Invalid(given), detail));
    }
}
