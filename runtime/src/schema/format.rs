//! Formats of text. Unknown formats allow all texts, as in kube-apiserver.
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::meta::{quantity::Quantity, time::Time, values::ByteString};

/// True if a format allows a text. The Rust type of the format decodes every allowed text.
pub(crate) fn allows(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "micro-time" => text.parse::<Time>().is_ok(),
        "byte" => ByteString::from_base64(text).is_ok(),
        "quantity" => text.parse::<Quantity>().is_ok(),
        "date" => text.len() == 10 && format!("{text}T00:00:00Z").parse::<Time>().is_ok(),
        "uuid" => is_uuid(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "k8s-short-name" => is_label(text, 63),
        "k8s-long-name" => text.len() <= 253 && text.split('.').all(|part| is_label(part, 253)),
        _ => true,
    }
}

/// True if kube-apiserver checks texts of a format. For some of these, all texts are allowed here.
pub fn is_known(format: &str) -> bool {
    matches!(
        published(format),
        "date-time"
            | "byte"
            | "date"
            | "uuid"
            | "ipv4"
            | "ipv6"
            | "cidr"
            | "k8s-short-name"
            | "k8s-long-name"
            | "bsonobjectid"
            | "uri"
            | "email"
            | "hostname"
            | "mac"
            | "uuid3"
            | "uuid4"
            | "uuid5"
            | "isbn"
            | "isbn10"
            | "isbn13"
            | "creditcard"
            | "ssn"
            | "hexcolor"
            | "rgbcolor"
            | "password"
            | "duration"
    )
}

/// The name of a format in documents and messages, which have one for points in time of any precision.
pub(crate) fn published(format: &str) -> &str {
    if format == "micro-time" { "date-time" } else { format }
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12, with optional dashes in between.
fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (index, size) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        match rest.split_at_checked(size) {
            Some((group, after)) if group.iter().all(u8::is_ascii_hexdigit) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let longest = if address.parse::<Ipv4Addr>().is_ok() {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    length.bytes().all(|byte| byte.is_ascii_digit()) && length.parse::<u8>().is_ok_and(|length| length <= longest)
}

/// Lower-case letters, digits and dashes, without a dash at either end.
fn is_label(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.len() <= longest
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit())
}
