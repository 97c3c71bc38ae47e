//! Types of values as a compiled server checks them while it decodes: the first mismatch is told as Go tells it.
use super::{Document, Schema, correlate::Before, format, model::Type};

/// The first value whose type the schema does not allow, as kube-apiserver's compiled kinds say it:
/// `json: cannot unmarshal number into Go struct field ConfigMap.data of type string`.
///
/// The field is named by its whole path but for indexes and keys, the struct is the innermost one. `null` is absent.
pub fn check_types(schema: &Schema, document: &Document) -> Option<String> {
    Walk { owner: "", path: Vec::new() }.value(schema, document, Before::NOTHING)
}

/// The first of these that a change of a document brings about: nothing in a value that is as it was counts.
pub fn check_types_of_change(schema: &Schema, document: &Document, old: &Document) -> Option<String> {
    // Most documents have nothing wrong in them, and are not compared.
    check_types(schema, document)?;
    Walk { owner: "", path: Vec::new() }.value(schema, document, Before::of(old))
}

struct Walk<'s> {
    /// The name of the innermost struct.
    owner: &'s str,
    path: Vec<&'s str>,
}

impl<'s> Walk<'s> {
    fn value(&mut self, schema: &'s Schema, value: &Document, before: Before<'_>) -> Option<String> {
        if before.is(schema, value) {
            return None;
        }
        match (schema.kind, value) {
            (Type::Any, _)
            | (_, Document::Null)
            | (Type::Boolean, Document::Bool(_))
            | (Type::Number, Document::Number(_)) => None,
            (Type::Object, Document::Object(_)) => self.object(schema, value, before),
            (Type::Array, Document::Array(list)) => {
                let items = schema.items.as_deref()?;
                let were = before.items(schema);
                list.iter().find_map(|item| self.value(items, item, were.of(item)))
            }
            (Type::String | Type::IntOrString, Document::String(text)) => Self::text(schema, text),
            (Type::Integer | Type::IntOrString, Document::Number(number)) => match number.as_i64() {
                Some(integer) if i32::try_from(integer).is_ok() || !is_int32(schema) => None,
                _ => Some(self.mismatch(schema, &format!("number {number}"))),
            },
            // A quantity may be given as a number.
            (Type::String, Document::Number(_)) if schema.format.as_deref() == Some("quantity") => None,
            (_, value) => Some(self.mismatch(schema, name_of(value))),
        }
    }

    fn object(&mut self, schema: &'s Schema, value: &Document, before: Before<'_>) -> Option<String> {
        let outer = self.owner;
        if let (Some(name), false) = (&schema.name, schema.properties.is_empty()) {
            self.owner = name;
        }
        let found = value.as_object()?.iter().find_map(|(name, value)| {
            let before = before.field(name);
            if let Some((name, property)) = schema.properties.get_key_value(name) {
                self.path.push(name);
                let found = self.value(property, value, before);
                self.path.pop();
                return found;
            }
            self.value(schema.additional.as_deref()?, value, before)
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
            // Other formats are for validation: they are no types of their own.
            _ => None,
        }
    }

    fn mismatch(&self, schema: &Schema, given: &str) -> String {
        let wanted = go_type(schema);
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

/// How kube-apiserver's messages call a value's type.
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

fn go_type(schema: &Schema) -> String {
    let inner = |schema: Option<&Schema>| schema.map_or_else(|| "interface {}".to_owned(), go_type);
    match schema.kind {
        Type::Object if schema.additional.is_some() => format!("map[string]{}", inner(schema.additional.as_deref())),
        Type::Object => format!("v1.{}", schema.name.as_deref().unwrap_or("Object")),
        Type::Array => format!("[]{}", inner(schema.items.as_deref())),
        Type::String if schema.format.as_deref() == Some("byte") => "[]uint8".to_owned(),
        Type::String => "string".to_owned(),
        Type::Integer if is_int32(schema) => "int32".to_owned(),
        Type::Integer => "int64".to_owned(),
        Type::Number => "float64".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::IntOrString => "intstr.IntOrString".to_owned(),
        Type::Any => "interface {}".to_owned(),
    }
}
