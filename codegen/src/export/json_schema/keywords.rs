//! Keywords that JSON Schema has in common with structural schemas.

use kindsmith::schema::{Schema, Type};
use kindsmith_meta::json::number::of_double;
use serde_json::{Map, Value, json};

use super::format::Format;

/// What is about people: title, description, default, an example.
pub(super) fn published(schema: &Schema) -> Map<String, Value> {
    let mut out = Map::new();
    let about = [&schema.description, &schema.type_description].into_iter().find(|text| !text.is_empty());
    if let Some(about) = about {
        out.insert("description".to_owned(), json!(about));
    }
    if let Some(default) = &schema.default {
        out.insert("default".to_owned(), default.clone());
    }
    if let Some(unenforced) = &schema.unenforced {
        if !unenforced.title.is_empty() {
            out.insert("title".to_owned(), json!(unenforced.title));
        }
        if let Some(example) = &unenforced.example {
            out.insert("examples".to_owned(), json!([example]));
        }
    }
    out
}

/// Values and counts. A number of 32 bits has the bounds of its type, too.
pub(super) fn bounds(schema: &Schema, out: &mut Map<String, Value>) {
    let is_narrow = match schema.kind {
        Type::IntOrString => schema.scalar.is_some(),
        kind => kind == Type::Integer && schema.format.as_deref() == Some("int32"),
    };
    let narrow = |bound: i32| is_narrow.then_some(f64::from(bound));
    let least = schema.minimum.filter(|minimum| !is_narrow || *minimum >= f64::from(i32::MIN));
    let most = schema.maximum.filter(|maximum| !is_narrow || *maximum <= f64::from(i32::MAX));
    let keyword = |is_exclusive: bool, exclusive, inclusive| if is_exclusive { exclusive } else { inclusive };
    let lower = keyword(schema.exclusive_minimum && least.is_some(), "exclusiveMinimum", "minimum");
    let upper = keyword(schema.exclusive_maximum && most.is_some(), "exclusiveMaximum", "maximum");
    for (keyword, bound) in
        [(lower, least.or(narrow(i32::MIN))), (upper, most.or(narrow(i32::MAX))), ("multipleOf", schema.multiple_of)]
    {
        if let Some(bound) = bound {
            out.insert(keyword.to_owned(), json!(of_double(bound)));
        }
    }
    for (keyword, count) in [
        ("minLength", schema.min_length),
        ("maxLength", schema.max_length),
        ("minItems", schema.min_items),
        ("maxItems", schema.max_items),
        ("minProperties", schema.min_properties),
        ("maxProperties", schema.max_properties),
    ] {
        if let Some(count) = count {
            out.insert(keyword.to_owned(), json!(count));
        }
    }
    if !schema.enumeration.is_empty() {
        out.insert("enum".to_owned(), json!(schema.enumeration));
    }
}

/// The format of text.
pub(super) fn text(schema: &Schema, out: &mut Map<String, Value>) {
    if !matches!(schema.kind, Type::String | Type::IntOrString | Type::Any) {
        return;
    }
    match Format::of(schema) {
        Format::Name(name) => drop(out.insert("format".to_owned(), json!(name))),
        Format::Pattern(pattern, longest) => {
            out.insert("pattern".to_owned(), json!(pattern));
            if let Some(longest) = longest {
                let declared = schema.max_length.unwrap_or(longest);
                out.insert("maxLength".to_owned(), json!(declared.min(longest)));
            }
        }
        Format::Unsaid => {}
    }
}
