//! Reading of single parameters, as the reference converts them. Where one is repeated, the first counts.
use super::{OptionsError, Query};
use crate::meta::Revision;

/// A parameter; `None` where it is absent.
pub(super) fn text<'q>(query: &'q Query, name: &str) -> Option<&'q str> {
    query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// A switch: anything but `0` and `false` is true, the empty text, too.
pub(super) fn switch(query: &Query, name: &str) -> Option<bool> {
    text(query, name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
}

/// A whole number.
pub(super) fn number(query: &Query, name: &str) -> Result<Option<i64>, OptionsError> {
    text(query, name).map(|value| integer(value).map_err(OptionsError::BadRequest)).transpose()
}

fn integer(value: &str) -> Result<i64, String> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    let shape = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let why = if shape { "value out of range" } else { "invalid syntax" };
    let parsed = if shape { value.parse().ok() } else { None };
    parsed.ok_or_else(|| format!("strconv.ParseInt: parsing {value:?}: {why}"))
}

/// A resourceVersion; the empty text counts as absent. The error is the API's message.
pub(super) fn revision(value: &str) -> Result<Option<Revision>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    // Rust takes a plus sign, which is no part of a resourceVersion.
    let shape = value.bytes().all(|b| b.is_ascii_digit());
    let why = if shape { "value out of range" } else { "invalid syntax" };
    let parsed = if shape { value.parse().ok() } else { None };
    parsed.map(Some).ok_or_else(|| {
        format!("resourceVersion: Invalid value: {value:?}: strconv.ParseUint: parsing {value:?}: {why}")
    })
}
