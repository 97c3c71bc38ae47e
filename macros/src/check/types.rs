//! Rules of field types that can be checked on tokens. The compiler checks the rest (types without a declaration)
//! through the trait `ApiType`.
use syn::Type;

use crate::{
    diag::Errors,
    parse::types::{Look, last_segment, look, span},
};

/// Types that no kind can have, and what to use instead.
const REFUSED: &[(&str, &str)] = &[
    ("u8", "use `i32` with `#[api(minimum = 0, maximum = 255)]`; bytes are `kindsmith::ByteString`"),
    ("u16", "use `i32` with `#[api(minimum = 0, maximum = 65535)]`"),
    ("u32", "use `i64` with `#[api(minimum = 0, maximum = 4294967295)]`, or `i32` with `#[api(minimum = 0)]`"),
    ("u64", "use `i64` with `#[api(minimum = 0)]`"),
    ("u128", "use `i64` with `#[api(minimum = 0)]`, or `String`"),
    ("usize", "use `i64` with `#[api(minimum = 0)]`"),
    ("i8", "use `i32` with `#[api(minimum = -128, maximum = 127)]`"),
    ("i16", "use `i32` with `#[api(minimum = -32768, maximum = 32767)]`"),
    ("i128", "use `i64`, or `String`"),
    ("isize", "use `i64`"),
    ("f32", "use `f64`"),
    ("char", "use `String` with `#[api(max_length = 1)]`"),
    ("str", "a kind must own its data: use `String`"),
    ("HashSet", "use `Vec` with `#[api(list = set)]`"),
    ("BTreeSet", "use `Vec` with `#[api(list = set)]`"),
    ("VecDeque", "use `Vec`"),
    ("Value", "use `kindsmith::RawJson` for raw JSON"),
    ("Duration", "use `i32` with the unit in the field's name, such as `timeoutSeconds`"),
    ("SystemTime", "use `kindsmith::Time`"),
    ("Instant", "use `kindsmith::Time`"),
    ("DateTime", "use `kindsmith::Time`"),
    ("Timestamp", "use `kindsmith::Time`"),
];

/// Refuses types that the API cannot represent: unsigned and narrow integers, which some client languages lack, and
/// sets, tuples and references.
pub(crate) fn check_type(ty: &Type, observed: bool, errors: &Errors) {
    match ty {
        Type::Reference(_) => {
            return errors.at(span(ty), "a kind must own its data: use `String`, `Vec` or the type itself");
        }
        Type::Tuple(_) => return errors.at(span(ty), "a tuple has no field names; declare a struct"),
        Type::Array(_) | Type::Slice(_) => {
            return errors
                .at(span(ty), "use `Vec`, with `#[api(min_items = …, max_items = …)]` where the length is fixed");
        }
        _ => {}
    }
    let Some((name, arguments)) = last_segment(ty) else { return };
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return errors.at(span(ty), format!("`{name}` cannot be part of a kind; {instead}"));
    }
    match (name.as_str(), arguments.as_slice()) {
        ("f64", []) => check_float(ty, observed, errors),
        ("Vec", [item]) if last_segment(item).is_some_and(|(name, _)| name == "u8") => {
            errors.at(span(ty), "use `kindsmith::ByteString` for bytes, which is base64 on the wire");
        }
        ("Option", [inner]) if last_segment(inner).is_some_and(|(name, _)| name == "Option") => {
            errors.at(span(ty), "absent and null are the same in the API; one `Option` is enough");
        }
        // In a published schema, items may be null.
        ("Vec", [item]) if look(item).optional && !errors.is_published() => {
            errors.at(span(item), "list items are never absent; remove the `Option`");
        }
        ("BTreeMap" | "HashMap", [key, value]) => {
            check_map_key(key, errors);
            check_type(value, observed, errors);
        }
        _ => arguments.iter().for_each(|inner| check_type(inner, observed, errors)),
    }
}

/// Floats change when they are re-encoded, so a spec with floats never settles (API conventions, "Primitive types").
/// Observed values may be floats.
fn check_float(ty: &Type, observed: bool, errors: &Errors) {
    if !observed {
        errors.breaks(
            "float",
            span(ty),
            "a float cannot be part of a spec; use `i64` in a smaller unit, or `kindsmith::Quantity`; \
             for a value that is only reported, under status, say `#[api(observed)]`",
        );
    }
}

/// JSON objects have string keys.
fn check_map_key(key: &Type, errors: &Errors) {
    if !matches!(look(key).look, Look::Text) || look(key).optional {
        errors.at(span(key), "the keys of a map must be strings: `BTreeMap<String, …>`");
    }
}
