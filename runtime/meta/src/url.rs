//! URLs, split and checked as Go's `url.Parse` does it, with its words.
use std::{fmt::Write, net::Ipv6Addr};

use super::go;

/// The parts of a URL. Absent ones are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Url<'u> {
    /// The scheme, in lower case.
    pub scheme: String,
    /// The user information before the `@`.
    pub user: Option<&'u str>,
    /// The host and the port.
    pub authority: &'u str,
    /// The host, without the brackets of an IPv6 address.
    pub host: &'u str,
    /// The port, which has only digits, if there is one.
    pub port: &'u str,
    /// The path.
    pub path: &'u str,
    /// The text after the question mark.
    pub query: &'u str,
    /// The text after the number sign.
    pub fragment: &'u str,
}

impl<'u> Url<'u> {
    /// Splits a URL.
    ///
    /// # Errors
    /// The reason why the text is not a URL.
    pub fn parse(text: &'u str) -> Result<Self, String> {
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (scheme, rest) = scheme(rest)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Self { scheme, query, fragment, ..Self::default() };
        if !rest.starts_with('/') && url.scheme.is_empty() && rest.split('/').next().unwrap_or_default().contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
        url.path = rest;
        if let Some(rest) = rest.strip_prefix("//") {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let (user, authority) =
                authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
            (url.user, url.authority, url.path) = (user, authority, path);
            (url.host, url.port) = host_and_port(authority)?;
        } else if !rest.starts_with('/') && !url.scheme.is_empty() {
            // Opaque, as in `mailto:someone`.
            url.path = "";
        }
        for text in [url.path, fragment, url.user.unwrap_or_default()] {
            escapes(text)?;
        }
        Ok(url)
    }

    /// The port, or the default one; `None` if it is not between 1 and 65535.
    pub fn port_or(&self, default: u16) -> Option<u16> {
        let port = if self.port.is_empty() { Some(default) } else { self.port.parse().ok() };
        port.filter(|port| *port != 0)
    }

    /// True if the host is the address of a machine, or a name that DNS may have.
    pub fn names_host(&self) -> bool {
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        if self.authority.starts_with('[') {
            return self.host.parse::<Ipv6Addr>().is_ok();
        }
        let name = self.host.strip_suffix('.').unwrap_or(self.host);
        name.len() <= 253 && name.split('.').all(is_label)
    }

    /// The path as a request has it: with what a path may not have escaped. `/` for an empty one.
    pub fn request_path(&self) -> String {
        let mut path = String::with_capacity(self.path.len().max(1));
        for byte in self.path.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/%".contains(&byte) {
                path.push(byte.into());
            } else {
                write!(path, "%{byte:02X}").expect("writing to a string does not fail");
            }
        }
        if path.is_empty() { "/".to_owned() } else { path }
    }
}

/// The scheme, if there is one, and what follows it.
fn scheme(text: &str) -> Result<(String, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((text[..at].to_ascii_lowercase(), &text[at + 1..])),
            _ => break,
        }
    }
    Ok((String::new(), text))
}

fn host_and_port(authority: &str) -> Result<(&str, &str), String> {
    let (host, rest) = if let Some(inside) = authority.strip_prefix('[') {
        inside.rsplit_once(']').ok_or("missing ']' in host")?
    } else {
        authority.split_at(authority.rfind(':').unwrap_or(authority.len()))
    };
    let port = rest.strip_prefix(':').unwrap_or_default();
    if !rest.is_empty() && (!rest.starts_with(':') || port.bytes().any(|byte| !byte.is_ascii_digit())) {
        return Err(format!("invalid port {} after host", go::quoted(rest)));
    }
    let is_allowed = |character: char| {
        !character.is_ascii() || character.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(character)
    };
    if let Some(other) = host.chars().find(|character| !is_allowed(*character)) {
        return Err(format!("invalid character {} in host name", go::quoted(&other.to_string())));
    }
    escapes(host)?;
    Ok((host, port))
}

/// Checks that each percent sign begins an escaped byte.
fn escapes(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('%') {
        let escape = text.as_bytes().get(at + 1..at + 3);
        if !escape.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            let end = (at + 3).min(text.len());
            let shown = text.get(at..end).unwrap_or("%");
            return Err(format!("invalid URL escape {}", go::quoted(shown)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_its_parts() {
        let url = Url::parse("HTTPS://user@h.svc:8443/a b/%20?q=1#f").unwrap();
        assert_eq!((&*url.scheme, url.user, url.host, url.port), ("https", Some("user"), "h.svc", "8443"));
        assert_eq!((url.path, url.query, url.fragment), ("/a b/%20", "q=1", "f"));
        assert_eq!(url.request_path(), "/a%20b/%20");
        let url = Url::parse("https://[::1]").unwrap();
        assert_eq!((url.host, url.port_or(443), &*url.request_path()), ("::1", Some(443), "/"));
        assert!(url.names_host());
        assert_eq!(Url::parse("https:h").unwrap().authority, "");
        assert_eq!(Url::parse("h/p").unwrap(), Url { path: "h/p", ..Url::default() });
    }

    #[test]
    fn what_is_no_url_is_refused_as_go_words_it() {
        for (text, why) in [
            ("https://h:x/", "invalid port \":x\" after host"),
            ("https://h:80:-1/", "invalid port \":-1\" after host"),
            ("https://[::1/", "missing ']' in host"),
            ("https://[::1]8/", "invalid port \"8\" after host"),
            ("https://a b/", "invalid character \" \" in host name"),
            ("https://h/%z", "invalid URL escape \"%z\""),
            ("https://h%/", "invalid URL escape \"%\""),
            ("https://h/\n", "net/url: invalid control character in URL"),
            ("://h", "missing protocol scheme"),
            ("1h:1", "first path segment in URL cannot contain colon"),
        ] {
            assert_eq!(Url::parse(text).unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn ports_and_hosts_that_cannot_be_reached_are_noticed() {
        for (text, port, host) in [
            ("https://h:99999", None, true),
            ("https://h:0", None, true),
            ("https://h:65535", Some(65_535), true),
            ("https://h:", Some(443), true),
            ("https://a..b", Some(443), false),
            ("https://-a", Some(443), false),
            ("https://h\u{e9}", Some(443), false),
            ("https://[h]", Some(443), false),
            ("https://10.0.0.1", Some(443), true),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.port_or(443), url.names_host()), (port, host), "{text}");
        }
    }
}
