//! Rules about numbers.
use kindsmith::schema::Type;

use crate::lint::{
    Check, Rule,
    field::{Field, is_integer},
    words,
};

const SECTION: &str = "Primitive types";
/// The largest whole number that every double below it tells from its neighbours.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// Last words of numbers that never become as large.
const SMALL: [&str; 18] = [
    "attempts",
    "count",
    "days",
    "generation",
    "hours",
    "index",
    "milliseconds",
    "minutes",
    "percent",
    "percentage",
    "port",
    "ports",
    "priority",
    "replicas",
    "retries",
    "revision",
    "seconds",
    "weight",
];

pub(super) const RULES: &[Rule] = &[
    Check::Field(float_in_spec)
        .error("float-in-spec", SECTION)
        .reason("Floating-point values are never used in spec: they change when they are decoded and encoded, and an unchanged object \
             looks changed.")
        .bad("spec: {properties: {price: {type: number}}}")
        .good("spec: {properties: {priceCents: {type: integer, format: int32}}}"),
    Check::Field(float)
        .warning("float", SECTION)
        .reason("Floating-point values are avoided: languages differ in their precision and in how they print them.")
        .bad("status: {properties: {rating: {type: number}}}")
        .good("status: {properties: {ratingPercent: {type: integer, format: int32}}}"),
    Check::Field(unsigned_integer)
        .warning("unsigned-integer", SECTION)
        .reason("Languages differ in their support of unsigned integers; a minimum says the same to all.")
        .bad("spec: {properties: {copies: {type: integer, format: uint32}}}")
        .good("spec: {properties: {copies: {type: integer, format: int32, minimum: 0}}}"),
    Check::Field(integer_without_width)
        .error("integer-without-width", SECTION)
        .reason("All integers must be of 32 or 64 bits; without a format, each client decides how large a value may be.")
        .bad("spec: {properties: {copies: {type: integer}}}")
        .good("spec: {properties: {copies: {type: integer, format: int32}}}"),
    Check::Field(unbounded_int64)
        .warning("unbounded-int64", SECTION)
        .reason("JavaScript and others read numbers as doubles, in which integers of more than 53 bits lose digits.")
        .bad("spec: {properties: {isbn: {type: integer, format: int64}}}")
        .good("spec: {properties: {isbn: {type: integer, format: int64, maximum: 9999999999999}}}"),
    Check::Field(observed_generation)
        .warning("observed-generation", "Typical status properties")
        .reason("It is a copy of metadata.generation, which has 64 bits.")
        .bad("status: {properties: {observedGeneration: {type: integer, format: int32}}}")
        .good("status: {properties: {observedGeneration: {type: integer, format: int64}}}"),
];

fn float_in_spec(field: &Field<'_>) -> Option<String> {
    (field.schema.kind == Type::Number && field.is_in_spec()).then(|| {
        "a floating-point value in spec: take an integer of a smaller unit, a quantity, or a string".to_owned()
    })
}

fn float(field: &Field<'_>) -> Option<String> {
    (field.schema.kind == Type::Number && !field.is_in_spec())
        .then(|| "a floating-point value: take an integer of a smaller unit, a quantity, or a string".to_owned())
}

fn format<'f>(field: &Field<'f>) -> &'f str {
    field.schema.format.as_deref().unwrap_or_default()
}

fn unsigned_integer(field: &Field<'_>) -> Option<String> {
    let format = format(field);
    let signed = format.strip_prefix('u').filter(|_| is_integer(field.schema))?;
    let signed = if signed == "int" { "int32" } else { signed };
    Some(format!("{format} is unsigned: declare {signed} with minimum: 0"))
}

fn integer_without_width(field: &Field<'_>) -> Option<String> {
    let has_width = ["int32", "int64"].contains(&format(field)) || format(field).starts_with("uint");
    (is_integer(field.schema) && !has_width)
        .then(|| "an integer of no width: declare the format int32 or int64".to_owned())
}

fn unbounded_int64(field: &Field<'_>) -> Option<String> {
    // Kubernetes' documents do not publish bounds.
    if field.is_builtin() || format(field) != "int64" || !is_integer(field.schema) {
        return None;
    }
    let is_small = field.name().is_some_and(|name| SMALL.contains(&words::last(name).as_str()));
    let is_bounded = field.schema.maximum.is_some_and(|maximum| maximum <= SAFE);
    (!is_small && !is_bounded && field.schema.enumeration.is_empty())
        .then(|| "64 bits without a maximum: declare one of at most 9007199254740991, or int32, or a string".to_owned())
}

fn observed_generation(field: &Field<'_>) -> Option<String> {
    let _ = field.name().filter(|name| *name == "observedGeneration")?;
    (!is_integer(field.schema) || format(field) == "int32")
        .then(|| "it takes no generation of 64 bits: declare an integer of the format int64".to_owned())
}
