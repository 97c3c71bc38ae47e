//! Formats of text as kube-apiserver checks them in custom resources (`kube-openapi`, `strfmt`), and those of Go's types. Unknown
//! formats allow all texts.
use std::borrow::Cow;

use kindsmith_cel::library::kubernetes::{
    format::{is_date_time, is_uuid},
    url::check_request_uri,
};

use super::{Scalar, Schema};
use crate::meta::{time::Layout, values::is_base64};

mod address;
mod code;
mod duration;
mod email;
mod name;
#[cfg(test)]
mod tests;

/// A format: its name without dashes, a text that it allows, and its check.
type Format = (&'static str, &'static str, fn(&str) -> bool);

/// The formats that kube-apiserver checks.
const KNOWN: [Format; 26] = [
    ("bsonobjectid", "507f1f77bcf86cd799439011", code::is_object_id),
    ("byte", "ZXhhbXBsZQ==", is_base64),
    ("cidr", "192.0.2.0/24", address::is_cidr),
    ("creditcard", "4111111111111111", code::is_credit_card),
    ("date", "2026-01-02", |text| Layout::DATE.allows(text)),
    ("datetime", "2026-01-02T03:04:05Z", is_date_time),
    ("duration", "1h30m", duration::is_duration),
    ("email", "someone@example.com", email::is_email),
    ("hexcolor", "#1a2b3c", code::is_hex_color),
    ("hostname", "www.example.com", name::is_hostname),
    ("ipv4", "192.0.2.1", address::is_ipv4),
    ("ipv6", "2001:db8::1", address::is_ipv6),
    ("isbn", "0321751043", |text| code::is_isbn10(text) || code::is_isbn13(text)),
    ("isbn10", "0321751043", code::is_isbn10),
    ("isbn13", "9780321751041", code::is_isbn13),
    ("k8slongname", "www.example.com", |text| text.len() <= 253 && text.split('.').all(name::is_label)),
    ("k8sshortname", "example", |text| text.len() <= 63 && name::is_label(text)),
    ("mac", "00:00:5e:00:53:01", address::is_mac),
    ("password", "example", |_| true),
    ("rgbcolor", "rgb(1,2,3)", code::is_rgb_color),
    ("ssn", "078-05-1120", code::is_ssn),
    ("uri", "https://example.com/a", |text| check_request_uri(text).is_ok()),
    ("uuid", "11111111-2222-4333-8444-555555555555", is_uuid),
    ("uuid3", "11111111-2222-3333-8444-555555555555", |text| code::is_uuid(text, b'3')),
    ("uuid4", "11111111-2222-4333-8444-555555555555", |text| code::is_uuid(text, b'4')),
    ("uuid5", "11111111-2222-5333-8444-555555555555", |text| code::is_uuid(text, b'5')),
];

/// True if kube-apiserver checks texts of a format.
pub fn is_known(format: &str) -> bool {
    known(format).is_some()
}

/// True if a schema's format allows a text. The Rust type of a scalar decodes every allowed text.
pub(crate) fn allows(schema: &Schema, text: &str) -> bool {
    match (schema.scalar, schema.format.as_deref()) {
        (Some(scalar), _) => scalar.read(text).is_ok(),
        (None, Some(format)) => known(format).is_none_or(|(_, _, allows)| allows(text)),
        (None, None) => true,
    }
}

/// The length of a duration in nanoseconds.
pub(crate) fn nanoseconds(text: &str) -> Option<i64> {
    duration::nanoseconds(text)
}

/// A text that a schema's format allows; `None` if any text is.
pub(crate) fn example(schema: &Schema) -> Option<&'static str> {
    match schema.scalar {
        Some(Scalar::MicroTime) => Some("2026-01-02T03:04:05.000000Z"),
        Some(Scalar::Quantity) => Some("1Gi"),
        _ => known(schema.format.as_deref()?).map(|(_, example, _)| example),
    }
}

/// A format by its name, in which dashes do not count.
fn known(format: &str) -> Option<Format> {
    let name = if format.contains('-') { Cow::from(format.replace('-', "")) } else { Cow::from(format) };
    KNOWN.binary_search_by(|(known, ..)| (*known).cmp(&*name)).ok().map(|found| KNOWN[found])
}
