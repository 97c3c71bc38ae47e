//! Validation: reports all errors of a document, with kube-apiserver's wording.
use serde_json::Map;

use super::{
    At, Document, Exceeded, Meter, Schema, bounds,
    correlate::{Before, rest_is_kept},
    embedded, format, immutable, junctors,
    location::Location,
    memory,
    model::Type,
    unique,
    wording::{checks_of, knows, names_of, shown_text, subject},
};
use crate::meta::{
    FieldError, FieldErrorKind,
    field::{MOST_ERROR_BYTES, MOST_ERRORS, MOST_REPEATED, beginning, shown},
    go,
};

/// The steps that an error takes, whether it is reported or not.
const STEPS_OF_ERROR: usize = 64;

/// The steps that hashing a value takes, for each value in it.
const STEPS_OF_HASH: usize = 4;

/// The bytes of a text that are read in one step.
const BYTES_OF_STEP: usize = 32;

/// All errors of a document, as far as there is room for them. Duplicates in sets and maps come last, as in kube-apiserver.
///
/// # Errors
/// The limit of the meter that was exceeded.
pub fn validate(schema: &Schema, document: &Document, meter: &Meter) -> Result<Vec<FieldError>, Exceeded> {
    let errors = validate_at(At::of(schema), document, meter);
    meter.check().map(|()| errors)
}

/// The same at a location in a schema. Of no use if the meter is exceeded.
pub(super) fn validate_at(at: At<'_>, document: &Document, meter: &Meter) -> Vec<FieldError> {
    let mut validator = Validator::new(meter);
    validator.value(at, document, &Location::Root, Before::NOTHING);
    validator.errors.append(&mut validator.duplicates);
    validator.finish()
}

/// The errors of a change, given the errors of the new document (see [`validate`]): the ones that the change causes
/// (KEP-4008), and changed immutable fields.
///
/// Unchanged values have no errors. For a changed value, its own rules are checked, and its content is compared with
/// its counterparts. Junctors of a changed value are checked completely. The rules of the object itself do not apply if
/// only metadata and status change; its junctors, which may be about the status, apply if the status changes. If the
/// old document has duplicates, those of the new one are not reported.
///
/// # Errors
/// The limit of the meter that was exceeded.
pub fn validate_change(
    schema: &Schema,
    found: Vec<FieldError>,
    document: &Document,
    old: &Document,
    meter: &Meter,
) -> Result<Vec<FieldError>, Exceeded> {
    let mut errors = if found.is_empty() { found } else { brought_about(schema, document, old, meter) };
    errors.extend(immutable::changes(schema, document, old, meter));
    meter.check().map(|()| errors)
}

fn brought_about(schema: &Schema, document: &Document, old: &Document, meter: &Meter) -> Vec<FieldError> {
    let at = At::of(schema);
    let mut validator = Validator::new(meter);
    match document {
        Document::Object(fields) if rest_is_kept(schema, document, old) => {
            if fields.get("status") != old.get("status") {
                validator.junctors(at, document, &Location::Root);
            }
            validator.fields(at, fields, &Location::Root, Before::of(old));
        }
        _ => validator.value(at, document, &Location::Root, Before::of(old)),
    }
    if !validator.duplicates.is_empty() && !has_duplicates(at, old, meter) {
        validator.errors.append(&mut validator.duplicates);
    }
    validator.finish()
}

fn has_duplicates(at: At<'_>, document: &Document, meter: &Meter) -> bool {
    let mut validator = Validator::new(meter);
    validator.value(at, document, &Location::Root, Before::NOTHING);
    !validator.duplicates.is_empty()
}

/// The results of a walk so far.
pub(super) struct Validator<'m> {
    pub(super) meter: &'m Meter,
    errors: Vec<FieldError>,
    /// The room for texts of errors in bytes.
    room: usize,
    /// Errors that were found when there was no room any more.
    omitted: usize,
    pub(super) duplicates: Vec<FieldError>,
    /// The number of checks, as kube-openapi counts them (`MatchCount`).
    checks: u64,
}

impl<'m> Validator<'m> {
    fn new(meter: &'m Meter) -> Self {
        let room = MOST_ERROR_BYTES;
        Self { meter, errors: Vec::new(), room, omitted: 0, duplicates: Vec::new(), checks: 0 }
    }

    /// A separate walk over one value, without a counterpart.
    pub(super) fn alone(&self, at: At<'_>, value: &Document, location: &Location<'_>) -> Self {
        let mut validator = Self::new(self.meter);
        validator.value(at, value, location, Before::NOTHING);
        validator
    }

    /// The errors, and how many more there are.
    fn finish(mut self) -> Vec<FieldError> {
        if self.omitted > 0 {
            self.errors.push(FieldError::omitted(self.omitted));
        }
        self.errors
    }

    /// True if there are no errors so far.
    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// True if no further errors are reported.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MOST_ERRORS || self.room == 0
    }

    /// The number of checks, which shows the failed branch of a junctor that came closest.
    pub(super) fn checks(&self) -> u64 {
        self.checks
    }

    /// Adds the results of another walk.
    pub(super) fn take(&mut self, other: Self) {
        self.checks += other.checks;
        self.omitted += other.omitted;
        other.errors.into_iter().for_each(|error| self.push(error));
    }

    /// Adds an error whose message contains the path: `spec.size in body should be …`.
    pub(super) fn invalid(&mut self, location: &Location<'_>, value: Document, what: &str) {
        self.add(location, || (FieldErrorKind::Invalid(value), format!("{} {what}", subject(location))));
    }

    /// Adds an error that kube-apiserver reports without a field.
    pub(super) fn invalid_nowhere(&mut self, detail: String) {
        self.add(&Location::Root, || (FieldErrorKind::Invalid("".into()), detail));
    }

    fn add(&mut self, location: &Location<'_>, error: impl FnOnce() -> (FieldErrorKind, String)) {
        self.meter.step(STEPS_OF_ERROR);
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        let (kind, detail) = error();
        self.push(FieldError::new(&location.path(), kind, detail));
    }

    /// Adds an error unless it exists already: a branch may report an error of another branch or of the schema around
    /// it.
    fn push(&mut self, error: FieldError) {
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        self.meter.step(self.errors.len());
        if !self.errors.contains(&error) {
            self.room = self.room.saturating_sub(error.size());
            self.errors.push(error);
        }
    }

    fn value(&mut self, at: At<'_>, value: &Document, location: &Location<'_>, before: Before<'_>) {
        if !self.meter.step(1) || before.is(at, value, self.meter) {
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
            Document::Number(number) => bounds::check(self, &at, number, location),
            Document::Array(list) => self.list(at, list, location, before),
            _ => {}
        }
        self.enumeration(&at, value, location);
        if let Document::Object(fields) = value {
            self.object(at, fields, location, before);
        }
    }

    fn junctors(&mut self, at: At<'_>, value: &Document, location: &Location<'_>) {
        if let Some(junctors) = at.node().junctors.as_deref().filter(|_| !value.is_null()) {
            junctors::check(self, at, junctors, value, location);
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
        let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
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

    fn type_invalid(&mut self, location: &Location<'_>, expected: &str, given: &str) {
        self.add(location, || {
            let given = beginning(given, MOST_REPEATED);
            let detail = format!("{} must be of type {expected}: {}", subject(location), go::quoted(&given));
            (FieldErrorKind::TypeInvalid(given.into()), detail)
        });
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
            && let Some(Err(error)) = self.meter.timed(pattern.cost(text.len()), || pattern.check(text))
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
                self.value(items, item, &location.item(index), were.of(item));
            }
        }
        let count = list.len() as u64;
        if let Some(limit) = at.min_items.filter(|&limit| count < limit) {
            self.invalid(location, count.into(), &format!("should have at least {limit} items"));
        }
        self.too_many(at.max_items, list.len(), location);
        unique::check(self, &at.list, list, location);
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
        if at.embedded {
            for error in embedded::errors(fields, location) {
                self.push(error);
            }
        }
    }

    fn fields(&mut self, at: At<'_>, fields: &Map<String, Document>, location: &Location<'_>, before: Before<'_>) {
        for (name, value) in fields {
            match at.member(name) {
                Some(field) if field.boolean == Some(false) => self.forbidden(name, location),
                Some(field) => self.value(field, value, &location.field(name), before.field(name)),
                None => {}
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
