//! Types of values as compiled kinds check them while decoding: reports the first mismatch like Go.
use super::{At, Document, Meter, Schema, correlate::Before, format, model::Type};

/// The first value of a type that the schema does not allow, with the message of kube-apiserver's compiled kinds:
/// `json: cannot unmarshal number into Go struct field ConfigMap.data of type string`.
///
/// The message has the path of the field without indexes and keys, and the name of the innermost struct. `null` counts
/// as absent.
pub fn check_types(schema: &Schema, document: &Document) -> Option<String> {
    Walk { owner: "", path: Vec::new(), meter: &Meter::default() }.value(At::of(schema), document, Before::NOTHING)
}

/// The first of these that a change of a document causes: unchanged values do not count. Of no use if the meter is exceeded.
pub(crate) fn check_types_of_change(
    schema: &Schema,
    document: &Document,
    old: &Document,
    meter: &Meter,
) -> Option<String> {
    // Most documents are valid, and need no comparison.
    check_types(schema, document)?;
    Walk { owner: "", path: Vec::new(), meter }.value(At::of(schema), document, Before::of(old))
}

struct Walk<'a> {
    /// The name of the innermost struct.
    owner: &'a str,
    path: Vec<&'a str>,
    /// Counts comparisons with the old values.
    meter: &'a Meter,
}

impl<'a> Walk<'a> {
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
                _ => Some(self.mismatch(at, &format!("number {number}"))),
            },
            // A quantity may be a number.
            (Type::String, Document::Number(_)) if at.format.as_deref() == Some("quantity") => None,
            (_, value) => Some(self.mismatch(at, name_of(value))),
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

    fn text(schema: &Schema, text: &str) -> Option<String> {
        let format = schema.format.as_deref()?;
        if format::allows(format, text) {
            return None;
        }
        match format {
            "date-time" | "micro-time" => Some(format!(
                "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\""
            )),
            "byte" => Some("illegal base64 data".to_owned()),
            "quantity" => Some(
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                    .to_owned(),
            ),
            // Other formats are checked by validation: they are not types.
            _ => None,
        }
    }

    fn mismatch(&self, at: At<'_>, given: &str) -> String {
        let wanted = go_type(at);
        if self.path.is_empty() {
            return format!("json: cannot unmarshal {given} into Go value of type {wanted}");
        }
        let field = self.path.join(".");
        format!("json: cannot unmarshal {given} into Go struct field {}.{field} of type {wanted}", self.owner)
    }
}

fn is_int32(schema: &Schema) -> bool {
    schema.kind == Type::IntOrString || schema.format.as_deref() == Some("int32")
}

/// The name of a value's type in kube-apiserver's messages.
pub(crate) fn name_of(value: &Document) -> &'static str {
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
        Type::String if at.format.as_deref() == Some("byte") => "[]uint8".to_owned(),
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
