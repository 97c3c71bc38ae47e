//! Fields of a kind: their types in Rust, and a value for an example. Given on the command line as `title:String` or `copies:i32=1`.

use kindsmith_meta::text::nesting;
use serde_json::{Value, json};
use syn::{GenericArgument, PathArguments, Type};

use super::names;

/// A struct that a file declares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Struct {
    /// Its name.
    pub name: String,
    /// Its description, a sentence.
    pub about: String,
    /// Its fields, in order.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// The name in Rust.
    pub name: String,
    /// The name on the wire.
    pub wire: String,
    /// The type in Rust, as it is written.
    pub ty: String,
    /// The arguments of `#[api(…)]`.
    pub api: Vec<String>,
    /// An object without it is refused.
    pub is_required: bool,
    /// A value for an example.
    pub example: Value,
}

impl Field {
    /// True if `#[serde(default)]` makes it optional.
    pub(crate) fn is_list_or_map(&self) -> bool {
        self.ty.starts_with("Vec<") || self.ty.starts_with("BTreeMap<")
    }

    /// Its member of an example in `json!`.
    pub(crate) fn member(&self) -> String {
        format!("{:?}: {}", self.wire, spaced(&self.example))
    }
}

/// JSON with a space after each comma and colon.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{key:?}: {}", spaced(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => format!("{text:?}"),
        // Without a type, an integer has 32 bits.
        Value::Number(number) if number.as_i64().is_some_and(|number| i32::try_from(number).is_err()) => {
            format!("{number}_i64")
        }
        Value::Number(number) if number.is_u64() && !number.is_i64() => format!("{number}_u64"),
        scalar => scalar.to_string(),
    }
}

/// Types of fields, with a value for an example.
fn known(name: &str) -> Option<Value> {
    Some(match name {
        "String" => json!("text"),
        "bool" => json!(true),
        "i32" | "i64" => json!(1),
        "Quantity" => json!("500m"),
        "Time" => json!("2030-01-01T08:00:00Z"),
        "MicroTime" => json!("2030-01-01T08:00:00.000000Z"),
        "IntOrString" => json!(80),
        "ByteString" => json!("aGVsbG8="),
        "RawJson" => json!({"any": "value"}),
        "LabelSelector" => json!({"matchLabels": {"app": "example"}}),
        "ObjectReference" => json!({"kind": "ConfigMap", "name": "example"}),
        _ => return None,
    })
}

/// How deep a type may be nested. Reading it is recursive.
const DEEPEST: usize = 32;

const SUPPORTED: &str = "String, bool, i32, i64, Quantity, Time, MicroTime, IntOrString, ByteString, RawJson, LabelSelector, \
                         ObjectReference, Vec<…>, BTreeMap<String, …> and Option<…> of these";

/// A field of the command line: `NAME:TYPE`, or `NAME:TYPE=DEFAULT`. Returns remarks where its type or its name on the wire is another one than the given.
pub(crate) fn parse(text: &str) -> Result<(Field, Vec<String>), String> {
    let of = |error: String| format!("field {text:?}: {error}");
    let Some((name, rest)) = text.split_once(':') else {
        return Err(of("a field is NAME:TYPE, such as title:String or copies:i32=1".to_owned()));
    };
    let (ty, default) = rest.split_once('=').map_or((rest, None), |(ty, default)| (ty, Some(default)));
    let given = name.trim();
    let name = check_name(given).map_err(of)?;
    // A name in camelCase is that on the wire, with its acronyms.
    let is_camel = given.starts_with(|c: char| c.is_ascii_lowercase()) && !given.contains('_');
    let wire = if is_camel { given.to_owned() } else { names::camel(&name) };
    if nesting(ty) > DEEPEST {
        return Err(of(format!("its type is nested more than {DEEPEST} deep")));
    }
    let parsed = syn::parse_str(ty).map_err(|_| of(format!("{ty:?} is no type; supported: {SUPPORTED}")))?;
    let mut read = Reader { api: Vec::new(), remark: None };
    let (ty, mut example) = read.ty(&parsed, Position::Field).map_err(of)?;
    let is_optional = ty.starts_with("Option<");
    if let Some(default) = default {
        if is_optional {
            return Err(of("a field with a default is never absent: leave Option out".to_owned()));
        }
        let (literal, value) = literal(&ty, default).map_err(of)?;
        read.api.insert(0, format!("default = {literal}"));
        example = value;
    }
    if ty == "String" && default.is_none() {
        example = json!(format!("a {}", names::phrase(&name)));
    }
    let mut remarks: Vec<String> = read.remark.into_iter().map(|remark| format!("{name}: {remark}")).collect();
    if wire != given {
        remarks.push(format!("{given} is called {wire} on the wire"));
    }
    let mut field = Field { wire, name, ty, api: read.api, is_required: false, example };
    field.is_required = !is_optional && default.is_none() && !field.is_list_or_map();
    Ok((field, remarks))
}

/// The fields of the command line, and remarks.
pub(crate) fn parse_all(texts: &[String]) -> Result<(Vec<Field>, Vec<String>), String> {
    let (mut fields, mut remarks) = (Vec::<Field>::new(), Vec::new());
    for text in texts {
        let (field, remark) = parse(text)?;
        if fields.iter().any(|other| other.wire == field.wire || other.name == field.name) {
            let other = fields.iter().find(|other| other.name == field.name).map_or(&field.wire, |other| &other.wire);
            return Err(format!("field {text:?}: there is a field {other} already"));
        }
        fields.push(field);
        remarks.extend(remark);
    }
    Ok((fields, remarks))
}

/// The name of a field in Rust.
fn check_name(name: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(allowed) {
        return Err(format!("{name:?} is no name of a field; use letters and digits, such as pageCount or page_count"));
    }
    Ok(names::snake(name))
}

/// The position of a type.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// The whole field.
    Field,
    /// In an `Option` that is the whole field.
    Optional,
    /// Items of a list or values of a map.
    Inner,
}

struct Reader {
    api: Vec<String>,
    remark: Option<String>,
}

impl Reader {
    /// A type as it is written, and an example.
    fn ty(&mut self, ty: &Type, position: Position) -> Result<(String, Value), String> {
        let wrong = |found: &str| Err(format!("{found} is not supported; supported: {SUPPORTED}"));
        let Type::Path(path) = ty else { return wrong("this type") };
        let Some(last) = path.path.segments.last() else { return wrong("this type") };
        let name = last.ident.to_string();
        let arguments = arguments(&last.arguments);
        match (&*name, &arguments[..]) {
            ("Option", [item]) if position == Position::Field => {
                let (item, example) = self.ty(item, Position::Optional)?;
                Ok((format!("Option<{item}>"), example))
            }
            ("Vec", [item]) => {
                let (item, example) = self.ty(item, Position::Inner)?;
                Ok((format!("Vec<{item}>"), json!([example])))
            }
            ("BTreeMap" | "HashMap", [key, value]) => {
                if !matches!(key, Type::Path(key) if key.path.is_ident("String")) {
                    return Err("keys of a map are String".to_owned());
                }
                let (value, example) = self.ty(value, Position::Inner)?;
                Ok((format!("BTreeMap<String, {value}>"), json!({"key": example})))
            }
            ("Option", [_]) => Err("Option is only for a whole field: items and values are never absent".to_owned()),
            ("u8" | "u16" | "u32" | "u64" | "usize", []) => self.unsigned(&name, position),
            ("f32" | "f64", []) => {
                let why =
                    "the API conventions have no floating-point numbers, which change when they are written and read";
                Err(format!("{name}: {why}; use Quantity, such as 500m for a half, or i32 of a smaller unit"))
            }
            ("str", []) => Err("the type of text is String".to_owned()),
            (_, []) => match known(&name) {
                Some(example) => Ok((name, example)),
                None => wrong(&name),
            },
            _ => wrong(&name),
        }
    }

    /// The conventions have no unsigned numbers: signed ones with a minimum.
    fn unsigned(&mut self, name: &str, position: Position) -> Result<(String, Value), String> {
        if position == Position::Inner {
            return Err(format!("{name}: the API conventions have no unsigned numbers; use i32 or i64"));
        }
        let ty = if matches!(name, "u64" | "usize") { "i64" } else { "i32" };
        self.api.push("minimum = 0".to_owned());
        let why = "the API conventions have no unsigned numbers";
        self.remark = Some(format!("{name} became {ty} with a minimum of 0: {why}"));
        Ok((ty.to_owned(), json!(1)))
    }
}

fn arguments(arguments: &PathArguments) -> Vec<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    types.collect()
}

/// A default as a literal in Rust and as a value.
fn literal(ty: &str, text: &str) -> Result<(String, Value), String> {
    let invalid = || format!("{text:?} is no default of {ty}");
    match ty {
        "String" => Ok((format!("{text:?}"), json!(text))),
        "bool" => text.parse::<bool>().map(|value| (value.to_string(), json!(value))).map_err(|_| invalid()),
        "i32" => text.parse::<i32>().map(|value| (value.to_string(), json!(value))).map_err(|_| invalid()),
        "i64" => text.parse::<i64>().map(|value| (value.to_string(), json!(value))).map_err(|_| invalid()),
        _ => Err(format!(
            "a default on the command line is of String, bool, i32 or i64, not of {ty}; add it in the file"
        )),
    }
}

#[cfg(test)]
mod tests;
