//! Names of hosts, and names of Kubernetes.
use std::sync::LazyLock;

use regex::Regex;

/// A host: labels of letters, digits, symbols and dashes, and a last one of letters alone, unless it is the only one.
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    let sign = r"[a-zA-Z0-9\p{S}\p{L}]";
    // Go counts up to 63, which labels are shorter than, and which takes megabytes.
    let alone = format!("{sign}(?:-?{sign}*)?");
    let label = format!(r"{sign}(?:[a-zA-Z0-9\-\p{{S}}\p{{L}}]*{sign})?\.");
    let pattern = format!(r"^(?:{alone}|(?:{label})+[a-zA-Z\p{{L}}]{{2,}})$");
    Regex::new(&pattern).expect("the pattern is valid")
});

pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && HOSTNAME.is_match(text)
}

/// Lower-case letters, digits and dashes, without a dash at either end.
pub(super) fn is_label(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| is_sign(*byte));
    let bytes = text.as_bytes();
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(|byte| *byte == b'-' || is_sign(*byte))
}
