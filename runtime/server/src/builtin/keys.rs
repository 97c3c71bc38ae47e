//! Rules that `ConfigMap` and Secret share: keys, size and immutability.
use crate::meta::{FieldError, FieldErrorKind, FieldPath};

/// The maximum size of all values together, in bytes.
const MAX_SIZE: i64 = 1 << 20;

const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// The errors of a key of the map at a path. A key must be usable as a file name.
pub(super) fn check(key: &str, map: &FieldPath) -> Vec<FieldError> {
    let mut wrong: Vec<&str> = Vec::new();
    if key.len() > 253 {
        wrong.push("must be no more than 253 characters");
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if key.is_empty() || !key.bytes().all(plain) {
        wrong.push(KEY);
    }
    match key {
        "." => wrong.push("must not be '.'"),
        ".." => wrong.push("must not be '..'"),
        _ if key.starts_with("..") => wrong.push("must not start with '..'"),
        _ => {}
    }
    let error = |why| FieldError::new(&map.key(key), FieldErrorKind::Invalid(key.into()), why);
    wrong.into_iter().map(error).collect()
}

/// Limits the values to one megabyte together.
pub(super) fn size(bytes: usize, path: &FieldPath) -> Option<FieldError> {
    let over = i64::try_from(bytes).is_ok_and(|bytes| bytes > MAX_SIZE);
    over.then(|| FieldError::new(path, FieldErrorKind::TooLong { limit: MAX_SIZE }, ""))
}

/// The errors for changed fields of an immutable object.
pub(super) fn immutable(new: Option<bool>, old: Option<bool>, changed: &[(&str, bool)]) -> Vec<FieldError> {
    if old != Some(true) {
        return Vec::new();
    }
    let first = ("immutable", new != Some(true));
    let wrong = std::iter::once(&first).chain(changed).filter(|(_, changed)| *changed);
    wrong
        .map(|(field, _)| {
            let why = "field is immutable when `immutable` is set";
            FieldError::new(&FieldPath::new(*field), FieldErrorKind::Forbidden, why)
        })
        .collect()
}
