//! Rules about amounts.
use crate::lint::{Check, Rule, amounts, field::Field};

pub(super) const RULES: &[Rule] = &[Check::Field(size_without_unit)
    .error("size-without-unit", "Units")
    .reason("Units must be in the name or in the value, such as a quantity's: bytes and megabytes look alike.")
    .bad("spec: {properties: {fileSize: {type: integer, format: int32}}}")
    .good("spec: {properties: {fileSizeBytes: {type: integer, format: int32}}}")];

fn size_without_unit(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| amounts::is_size(field))?;
    Some(format!("{name} has no unit: add one to its name, such as {name}Bytes, or take a quantity"))
}
