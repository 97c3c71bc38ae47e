//! Checks of names, label keys and label values, with the API's messages. Written by hand instead of with regular
//! expressions, because every write runs them.

/// Checks a name, or with `prefix` a prefix for generated names. Returns the errors.
pub type NameCheck = fn(&str, prefix: bool) -> Vec<String>;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const DNS_1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const LABEL_KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_dns_label(name: &str) -> bool {
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.first().is_some_and(plain) && bytes.last().is_some_and(plain) && bytes.iter().all(|b| plain(b) || *b == b'-')
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_dns_label)
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_label_key_name(name: &str) -> bool {
    let plain = u8::is_ascii_alphanumeric;
    let bytes = name.as_bytes();
    let inner = |b: &u8| plain(b) || matches!(b, b'-' | b'_' | b'.');
    bytes.first().is_some_and(plain) && bytes.last().is_some_and(plain) && bytes.iter().all(inner)
}

/// A prefix as part of a generated name: its trailing dash will be followed by other characters.
fn masked(name: &str, prefix: bool) -> std::borrow::Cow<'_, str> {
    match name.strip_suffix('-') {
        // kube-apiserver removes one more character than the dash; the answers differ if that one is invalid.
        Some(rest) if prefix && !rest.is_empty() => {
            let mut cut = rest.to_owned();
            cut.pop();
            cut.push('a');
            cut.into()
        }
        _ => name.into(),
    }
}

/// A lower-case RFC 1123 subdomain of at most 253 characters.
pub fn subdomain(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut wrong = Vec::new();
    if name.len() > 253 {
        wrong.push("must be no more than 253 characters".to_owned());
    }
    if !is_subdomain(&name) {
        wrong.push(SUBDOMAIN.to_owned());
    }
    wrong
}

/// A lower-case RFC 1123 label of at most 63 characters.
pub fn label(name: &str, prefix: bool) -> Vec<String> {
    let name = masked(name, prefix);
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !is_dns_label(&name) {
        wrong.push(if is_subdomain(&name) { "must not contain dots" } else { LABEL }.to_owned());
    }
    wrong
}

/// A DNS-1035 label of at most 63 characters, which unlike [`label`] begins with a letter: names of kinds and versions.
pub fn dns_1035_label(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !is_dns_label(name) || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        wrong.push(DNS_1035_LABEL.to_owned());
    }
    wrong
}

/// Any name that is safe as a path segment.
pub fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    match name {
        "." | ".." if !prefix => return vec![format!("may not be '{name}'")],
        _ => {}
    }
    let found = ["/", "%"].into_iter().filter(|part| name.contains(part));
    found.map(|part| format!("may not contain '{part}'")).collect()
}

/// A label key: a name of at most 63 characters, optionally after a subdomain and a slash. Returns the errors.
pub fn qualified_name(key: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut parts = key.split('/');
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    if third.is_some() {
        let advice = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
        return vec![format!("a valid label key {LABEL_KEY} {advice}")];
    }
    let (prefix, name) = second.map_or((None, first), |name| (Some(first), name));
    match prefix {
        Some("") => wrong.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            if prefix.len() > 253 {
                wrong.push("prefix part must be no more than 253 bytes".to_owned());
            }
            if !is_subdomain(prefix) {
                wrong.push(format!("prefix part {SUBDOMAIN}"));
            }
        }
        None => {}
    }
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_label_key_name(name) {
        wrong.push(format!("name part {LABEL_KEY}"));
    }
    wrong
}

/// A label value: empty, or at most 63 characters. Returns the errors.
pub fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_label_key_name(value) {
        wrong.push(LABEL_VALUE.to_owned());
    }
    wrong
}
