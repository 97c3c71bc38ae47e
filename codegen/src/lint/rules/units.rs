//! Rules about amounts.
use kindsmith::schema::Type;

use crate::lint::{
    Check, Level, Rule,
    field::{Field, is_integer},
    words::{self, AMOUNTS, SIZED, UNITS},
};

pub(super) const RULES: &[Rule] = &[Rule {
    name: "size-without-unit",
    level: Level::Error,
    section: "Units",
    reason: "Units must be in the name or in the value, such as a quantity's: bytes and megabytes look alike.",
    bad: "spec: {properties: {fileSize: {type: integer, format: int32}}}",
    good: "spec: {properties: {fileSizeBytes: {type: integer, format: int32}}}",
    check: Check::Field(size_without_unit),
}];

fn size_without_unit(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| is_integer(field.schema) || field.schema.kind == Type::Number)?;
    let all = words::lower(name);
    if all.iter().any(|word| UNITS.contains(&word.as_str())) {
        return None;
    }
    let (last, before) = all.split_last()?;
    let is_sized =
        ["size", "capacity"].contains(&last.as_str()) && before.last().is_some_and(|of| SIZED.contains(&of.as_str()));
    (is_sized || AMOUNTS.contains(&last.as_str()))
        .then(|| format!("{name} has no unit: add one to its name, such as {name}Bytes, or take a quantity"))
}
