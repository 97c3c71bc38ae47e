//! Types of values as compiled kinds check them while decoding: reports the first mismatch like Go.
use super::{At, Document, Meter, Scalar, Schema, correlate::Before, model::Type};
use crate::meta::go::shortened;

/// The first value of a type that the schema does not allow, with the message of kube-apiserver's compiled kinds:
/// `json: cannot unmarshal number into Go struct field ConfigMap.data of type string`.
///
/// The message has the path of the field without indexes and keys, and the name of the innermost struct. `null` counts
/// as absent.
pub fn check_types(schema: &Schema, document: &Document) -> Option<String> {
    check_types_by(Decoder::Json, schema, document)
}

/// What of kube-apiserver makes a typed object of a document: each refuses wrong types in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoder {
    /// Go's decoder of JSON.
    Json,
    /// The converter of unstructured objects, which takes the results of strategic merge patches.
    Converter,
}

/// The same by a decoder.
pub fn check_types_by(decoder: Decoder, schema: &Schema, document: &Document) -> Option<String> {
    let meter = &Meter::default();
    TypeChecker { decoder, owner: "", path: Vec::new(), meter }.value(At::of(schema), document, Before::NOTHING)
}

/// The first of these that a change of a document causes: unchanged values do not count. Of no use if the meter is exceeded.
pub fn check_types_of_change(
    decoder: Decoder,
    schema: &Schema,
    document: &Document,
    old: &Document,
    meter: &Meter,
) -> Option<String> {
    // Most documents are valid, and need no comparison.
    check_types_by(decoder, schema, document)?;
    TypeChecker { decoder, owner: "", path: Vec::new(), meter }.value(At::of(schema), document, Before::of(old))
}

struct TypeChecker<'a> {
    decoder: Decoder,
    /// The name of the innermost struct.
    owner: &'a str,
    path: Vec<&'a str>,
    /// Counts comparisons with the old values.
    meter: &'a Meter,
}

impl<'a> TypeChecker<'a> {
    fn value(&mut self, at: At<'a>, value: &'a Document, before: Before<'_>) -> Option<String> {
        if before.is(at, value, self.meter) {
            return None;
        }
        match (at.kind, value) {
            (Type::Any, _)
            | (_, Document::Null)
            | (Type::Boolean, Document::Bool(_))
            | (Type::Number, Document::Number(_)) => None,
            (Type::Object, Document::Object(_)) => self.object(at, value, before),
            (Type::Array, Document::Array(list)) => {
                let items = at.items()?;
                let were = before.items(at);
                list.iter().find_map(|item| self.value(items, item, were.of(item)))
            }
            (Type::String | Type::IntOrString, Document::String(text)) => Self::text(&at, text),
            (Type::Integer | Type::IntOrString, Document::Number(number)) => match number.as_i64() {
                Some(integer) if i32::try_from(integer).is_ok() || !is_int32(&at) => None,
                _ => Some(self.mismatch(at, value, &format!("number {number}"))),
            },
            // A quantity may be a number.
            (Type::String, Document::Number(_)) if at.scalar == Some(Scalar::Quantity) => None,
            (_, value) => Some(self.mismatch(at, value, name_of(value))),
        }
    }

    fn object(&mut self, at: At<'a>, value: &'a Document, before: Before<'_>) -> Option<String> {
        let outer = self.owner;
        if let (Some(name), false) = (at.node().type_name(), at.properties().len() == 0) {
            self.owner = name;
        }
        let found = value.as_object()?.iter().find_map(|(name, value)| {
            let before = before.field(name);
            if let Some(property) = at.property(name) {
                self.path.push(name);
                let found = self.value(property, value, before);
                self.path.pop();
                return found;
            }
            self.value(at.entry()?, value, before)
        });
        self.owner = outer;
        found
    }

    /// Formats that are no types are checked by validation.
    fn text(schema: &Schema, text: &str) -> Option<String> {
        schema.scalar?.read(text).err().map(|error| shortened(&error))
    }

    fn mismatch(&self, at: At<'_>, value: &Document, given: &str) -> String {
        let wanted = go_type(at);
        if self.decoder == Decoder::Converter {
            return not_converted(at, value, &wanted);
        }
        if self.path.is_empty() {
            return format!("json: cannot unmarshal {given} into Go value of type {wanted}");
        }
        let field = self.path.join(".");
        format!("json: cannot unmarshal {given} into Go struct field {}.{field} of type {wanted}", self.owner)
    }
}

/// Why the converter does not make a value of a type of another one.
fn not_converted(at: At<'_>, value: &Document, wanted: &str) -> String {
    let kind = match value {
        Document::Null => "invalid",
        Document::Bool(_) => "bool",
        Document::Number(number) if number.is_i64() => "int64",
        Document::Number(_) => "float64",
        Document::String(_) => "string",
        Document::Array(_) => "slice",
        Document::Object(_) => "map",
    };
    match (at.kind, at.scalar) {
        // These decode themselves from JSON.
        (_, Some(Scalar::Time | Scalar::MicroTime | Scalar::Quantity)) => {
            format!("json: cannot unmarshal {} into Go value of type string", name_of(value))
        }
        (Type::IntOrString, _) => format!("json: cannot unmarshal {} into Go value of type int32", name_of(value)),
        (Type::Array, _) | (_, Some(Scalar::Bytes)) => format!("cannot restore slice from {kind}"),
        (Type::Object, _) if at.entry().is_some() && at.properties().len() == 0 => {
            format!("cannot restore map from {kind}")
        }
        (Type::Object, _) => format!("cannot restore struct from: {kind}"),
        (Type::String, _) if kind == "int64" => format!("cannot convert int64 to {wanted}"),
        (Type::Integer, _) if matches!(kind, "int64" | "float64") => format!("cannot convert {kind} to {wanted}"),
        _ => format!("unrecognized type: {wanted}"),
    }
}

fn is_int32(schema: &Schema) -> bool {
    schema.kind == Type::IntOrString || schema.format.as_deref() == Some("int32")
}

/// The name of a value's type in kube-apiserver's messages.
pub fn name_of(value: &Document) -> &'static str {
    match value {
        Document::Null => "null",
        Document::Bool(_) => "bool",
        Document::Number(_) => "number",
        Document::String(_) => "string",
        Document::Array(_) => "array",
        Document::Object(_) => "object",
    }
}

fn go_type(at: At<'_>) -> String {
    let inner = |at: Option<At<'_>>| at.map_or_else(|| "interface {}".to_owned(), go_type);
    match at.kind {
        // A recursive list or map is called by its name, since the type of its items would not end.
        Type::Object | Type::Array if at.definition.is_some() => named(&at),
        Type::Object => at.entry().map_or_else(|| named(&at), |values| format!("map[string]{}", go_type(values))),
        Type::Array => format!("[]{}", inner(at.items())),
        Type::String if at.scalar == Some(Scalar::Bytes) => "[]uint8".to_owned(),
        Type::String => "string".to_owned(),
        Type::Integer if is_int32(&at) => "int32".to_owned(),
        Type::Integer => "int64".to_owned(),
        Type::Number => "float64".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::IntOrString => "intstr.IntOrString".to_owned(),
        Type::Any => "interface {}".to_owned(),
    }
}

fn named(schema: &Schema) -> String {
    // In Go, an object of any fields is one of this type.
    let unnamed = if schema.preserve_unknown && schema.properties.is_empty() { "RawExtension" } else { "Object" };
    format!("v1.{}", schema.type_name().unwrap_or(unnamed))
}
