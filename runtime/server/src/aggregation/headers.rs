//! The user of a request in headers, as servers behind read it (`X-Remote-User` and others).
use std::fmt::Write;

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};

use crate::auth::User;

/// The headers, and the beginning of the names of those with extra information.
pub(crate) const USER: &str = "x-remote-user";
pub(crate) const UID: &str = "x-remote-uid";
pub(crate) const GROUP: &str = "x-remote-group";
pub(crate) const EXTRA: &str = "x-remote-extra-";

/// Replaces whatever user the headers name with this one.
///
/// # Errors
/// If a name has characters that no header can have. No other user may be named instead.
pub(crate) fn identify(headers: &mut HeaderMap, user: &User) -> Result<(), String> {
    let forged: Vec<HeaderName> = headers.keys().filter(|name| names_user(name.as_str())).cloned().collect();
    for name in forged {
        headers.remove(name);
    }
    headers.insert(HeaderName::from_static(USER), value("name", &user.name)?);
    if !user.uid.is_empty() {
        headers.insert(HeaderName::from_static(UID), value("uid", &user.uid)?);
    }
    for group in &user.groups {
        headers.append(HeaderName::from_static(GROUP), value("group", group)?);
    }
    for (key, values) in &user.extra {
        let name = HeaderName::from_bytes(escaped(key).as_bytes());
        let name = name.map_err(|_| "an extra key of the user cannot be sent in a header".to_owned())?;
        for text in values {
            headers.append(name.clone(), value("extra value", text)?);
        }
    }
    Ok(())
}

/// True for a header with which a proxy names a user. Some programs do not tell a dash from an underscore.
pub(crate) fn names_user(name: &str) -> bool {
    if !name.starts_with("x-") && !name.starts_with("x_") {
        return false;
    }
    let name = name.replace('_', "-");
    [USER, UID, GROUP].contains(&&*name) || name.starts_with(EXTRA)
}

/// The text as the value of a header. Readers remove spaces around it, so that a text with such spaces would name someone else.
fn value(what: &str, text: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_bytes(text.as_bytes()).ok().filter(|_| text.trim_ascii() == text);
    value.ok_or_else(|| format!("the {what} of the user cannot be sent in a header"))
}

/// The name of the header for a key, with what no name may have, and the percent sign, escaped.
fn escaped(key: &str) -> String {
    let mut name = EXTRA.to_owned();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            name.push(byte.into());
        } else {
            write!(name, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_would_arrive_as_another_one_is_refused() {
        for text in ["system:masters ", " system:masters", "a\nx-remote-group: b", "a\0"] {
            let user = User { name: "alice".to_owned(), groups: vec![text.to_owned()], ..User::default() };
            let mut headers = HeaderMap::new();
            assert_eq!(
                identify(&mut headers, &user),
                Err("the group of the user cannot be sent in a header".to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn keys_are_escaped_as_client_go_does_it() {
        assert_eq!(escaped("example.com/Scope%é"), "x-remote-extra-example.com%2FScope%25%C3%A9");
    }
}
