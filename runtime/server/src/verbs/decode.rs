//! Decode checks: whether a document is an object of the kind, and which of its fields are unknown.
use super::{
    Error, metadata, ownership, scale,
    write::{Origin, Shape, Write},
};
use crate::{
    codec,
    meta::{FieldError, FieldErrorKind, FieldPath, GroupKind, options::FieldValidation},
    schema::{self, Decoder, Document, Exceeded, METADATA, Meter},
};

impl Write<'_> {
    /// The expected shape of its documents.
    pub(super) fn shape(&self) -> Shape<'_> {
        if self.request.is_scale() { scale::shape() } else { Shape::from(self.kind) }
    }
}

/// Decodes a document of a write: fills in type meta, checks types, drops unknown fields, and coerces embedded objects. Returns
/// warnings about unknown fields and about the decoder's faults.
///
/// Values that are unchanged from the stored object may have types of another schema.
///
/// # Errors
/// kube-apiserver's answer to a body that it cannot decode: 400, or 422 for a patch.
pub(super) fn decode(write: &Write<'_>, document: &mut Document) -> Result<Vec<String>, Error> {
    let (validation, shape) = (write.options.field_validation, &write.shape());
    let refuse = |why: &str| match write.origin {
        Origin::Body | Origin::Apply => Error::BadRequest(format!("{} {why}", cannot_be_handled(shape))),
        Origin::Patch | Origin::StrategicPatch => bad_patch(why),
    };
    type_meta(write.origin, shape, document)?;
    if let Some(metadata) = document.get_mut("metadata").and_then(Document::as_object_mut) {
        // Old clients send it; the field is no longer supported.
        metadata.remove("selfLink");
        ownership::keep_reset(metadata);
    }
    if let Some(why) = wrong_types(write.origin.decoder(), shape, document, write.old, &write.request.meter)? {
        return Err(refuse(&why));
    }
    let mut faults = write.faults.to_vec();
    if !write.pruned {
        faults.extend(codec::drop_unknown(document, shape.schema, shape.policy.fault_order()));
    }
    if write.origin != Origin::Apply && !shape.policy.decodes_into_types() && write.kind.has_embedded() {
        schema::coerce(shape.schema, document).map_err(|error| refuse(&error.to_string()))?;
    }
    match validation {
        FieldValidation::Strict if !faults.is_empty() && write.origin == Origin::Apply => {
            let yaml = if faults[0].starts_with("yaml: ") { "error converting YAML to JSON: " } else { "" };
            Err(Error::BadRequest(format!("error strict decoding patch: {yaml}{}", faults.join(", "))))
        }
        FieldValidation::Strict if !faults.is_empty() => {
            Err(refuse(&format!("strict decoding error: {}", faults.join(", "))))
        }
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Strict | FieldValidation::Warn => {
            Ok(faults.iter().flat_map(|fault| warnings(fault)).collect())
        }
    }
}

/// A fault as warnings. YAML faults are reported together, one per line.
fn warnings(fault: &str) -> Vec<String> {
    match fault.strip_prefix("yaml: unmarshal errors:\n") {
        Some(lines) => lines.lines().map(|line| line.trim().to_owned()).collect(),
        None => vec![fault.to_owned()],
    }
}

/// kube-apiserver's message for a body that is not an object of the kind.
fn cannot_be_handled(shape: &Shape<'_>) -> String {
    format!("{0} in version {1:?} cannot be handled as a {0}:", shape.kind, shape.version.version)
}

/// The error for a patch whose result is not an object of the kind. Like kube-apiserver's, it names no kind. Unlike
/// kube-apiserver's, it does not print the result: a client that may patch an object may not be allowed to read it, and
/// messages end up in logs and events.
fn bad_patch(why: &str) -> Error {
    let nothing = GroupKind { group: String::new(), kind: String::new() };
    let given = FieldErrorKind::Invalid("".into());
    Error::Invalid(nothing, String::new(), vec![FieldError::new(&FieldPath::new("patch"), given, why)])
}

/// Fills in apiVersion and kind, and refuses other values.
fn type_meta(origin: Origin, shape: &Shape<'_>, document: &mut Document) -> Result<(), Error> {
    let Some(object) = document.as_object_mut() else {
        return Err(Error::BadRequest(format!("the object provided is unrecognized (must be of type {})", shape.kind)));
    };
    let expected = [("apiVersion", shape.version.to_string()), ("kind", shape.kind.to_owned())];
    let is_custom = !shape.policy.decodes_into_types();
    let is_patched = shape.needs_type_meta && origin == Origin::Patch;
    if is_patched && matches!(object.get("kind").map(Document::as_str), None | Some(Some(""))) {
        return Err(bad_patch("Object 'Kind' is missing"));
    }
    for (name, expected) in expected {
        let given = match object.get(name).map(Document::as_str) {
            Some(Some(given)) if given == expected => continue,
            None | Some(Some("")) if is_patched => String::new(),
            None | Some(Some("")) => {
                object.insert(name.to_owned(), Document::String(expected));
                continue;
            }
            Some(given) => given.unwrap_or("a value other than a string").to_owned(),
        };
        return Err(match (name, origin) {
            // After a patch, another version is an invalid value. In a request body, it is a bad request.
            ("apiVersion", Origin::Patch | Origin::StrategicPatch) if is_custom => {
                invalid(shape, shape.kind, document, (name, &given), &expected)
            }
            ("apiVersion", _) if is_custom => Error::BadRequest(format!(
                "the API version in the data ({given}) does not match the expected API version ({expected})"
            )),
            // An object of another kind is named by it.
            (_, Origin::Body) if is_custom => invalid(shape, &given, document, (name, &given), &expected),
            _ => {
                let why = format!("{name} is {given:?}, and {expected:?} is expected here");
                Error::BadRequest(format!("{} {why}", cannot_be_handled(shape)))
            }
        });
    }
    let metadata = object.entry("metadata").or_insert(Document::Null);
    if metadata.is_null() {
        *metadata = Document::Object(serde_json::Map::new());
    }
    Ok(())
}

/// The error for a custom resource with another apiVersion or kind than expected.
fn invalid(shape: &Shape<'_>, kind: &str, document: &Document, (name, given): (&str, &str), expected: &str) -> Error {
    let named = GroupKind { group: shape.version.group.clone(), kind: kind.to_owned() };
    let given = FieldErrorKind::Invalid(given.into());
    let error = FieldError::new(&FieldPath::new(name), given, format!("must be {expected}"));
    Error::Invalid(named, metadata::text(document, "name").to_owned(), vec![error])
}

/// The first value of a wrong type. For declared kinds validation reports all of them, as in kube-apiserver. Metadata
/// and kube-apiserver's own kinds are decoded into types, which fails at the first one.
/// Fails if the meter is exceeded.
pub(super) fn wrong_types(
    decoder: Decoder,
    shape: &Shape<'_>,
    document: &Document,
    old: Option<&Document>,
    meter: &Meter,
) -> Result<Option<String>, Exceeded> {
    let metadata = &document["metadata"];
    if decoder == Decoder::Json && !metadata.is_object() {
        return Ok(Some("json: cannot unmarshal into Go struct field .metadata of type v1.ObjectMeta".to_owned()));
    }
    let wrong = schema::check_types_by(decoder, &METADATA, metadata);
    if wrong.is_some() || !shape.policy.decodes_into_types() {
        return Ok(wrong);
    }
    let wrong = match old {
        Some(old) => schema::check_types_of_change(decoder, shape.schema, document, old, meter),
        None => schema::check_types_by(decoder, shape.schema, document),
    };
    meter.check().map(|()| wrong)
}
