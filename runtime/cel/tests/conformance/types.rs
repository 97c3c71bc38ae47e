//! Types as the cases declare and expect them.
use kindsmith_cel::Type;
use serde_json::Value as Json;

use crate::case::list;

/// The type that a declaration says; an error for types of Protobuf messages.
pub(crate) fn read(json: &Json) -> Result<Type, String> {
    let (kind, of) = json.as_object().and_then(|json| json.iter().next()).ok_or("no type")?;
    let text = of.as_str().unwrap_or_default();
    Ok(match (&**kind, text) {
        ("dyn", _) => Type::Dyn,
        ("null", _) => Type::Null,
        ("primitive", "BOOL") => Type::Bool,
        ("primitive", "INT64") => Type::Int,
        ("primitive", "UINT64") => Type::Uint,
        ("primitive", "DOUBLE") => Type::Double,
        ("primitive", "STRING") => Type::String,
        ("primitive", "BYTES") => Type::Bytes,
        ("well_known", "DURATION") | ("message_type", "google.protobuf.Duration") => Type::Duration,
        ("well_known", "TIMESTAMP") | ("message_type", "google.protobuf.Timestamp") => Type::Timestamp,
        ("list_type", _) => Type::list(read(&of["elem_type"])?),
        ("map_type", _) => Type::map(read(&of["key_type"])?, read(&of["value_type"])?),
        ("type_param", name) => Type::parameter(name),
        ("abstract_type", _) => {
            let parameters = list(&of["parameter_types"]).iter().map(read).collect::<Result<Vec<_>, _>>()?;
            Type::Opaque(of["name"].as_str().ok_or("no name")?.into(), parameters.into())
        }
        _ => return Err(format!("no type for {json}")),
    })
}
