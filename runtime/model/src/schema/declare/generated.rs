//! Types that another crate describes: their schema is made at run time, and rules of a field are added to it.
use super::{Rules, build::default_of, table::TypeDecl};
use crate::{
    meta::text::capitalized,
    schema::{Schema, model::Type},
};

/// Adds the rules of a field that apply to any type; the derive refuses the others.
pub(super) fn apply(schema: &mut Schema, ty: &'static TypeDecl, rules: &'static Rules) -> Result<(), String> {
    if !rules.doc.is_empty() {
        rules.doc.clone_into(&mut schema.description);
    }
    if let Some(default) = default_of(ty, rules)? {
        schema.default = Some(default);
    }
    schema.nullable |= rules.nullable;
    schema.map_atomic |= rules.map_atomic;
    schema.immutable |= rules.immutable;
    Ok(())
}

/// The name on the wire of a field with this name in Rust: the same, or in camelCase.
pub(super) fn wire_name<'s>(schema: &'s Schema, rust: &str) -> Option<(&'s str, &'s Schema)> {
    let find = |name: &str| schema.properties.iter().find(|(known, _)| *known == name);
    let (name, of) = find(rust).or_else(|| find(&camel_case(rust)))?;
    Some((name, of))
}

/// The type of a column that shows the value.
pub(super) fn column_type(schema: &Schema) -> &'static str {
    match (schema.kind, schema.format.as_deref()) {
        (Type::Integer, _) => "integer",
        (Type::Number, _) => "number",
        (Type::Boolean, _) => "boolean",
        (Type::String, Some("date-time")) => "date",
        _ => "string",
    }
}

fn camel_case(rust: &str) -> String {
    let mut words = rust.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalized(word))
}
