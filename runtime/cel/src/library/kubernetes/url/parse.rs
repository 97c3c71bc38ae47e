//! URLs, split, checked and printed as Go's `net/url` (1.26) does it, with its errors.
use std::borrow::Cow;

use kindsmith_meta::go::quoted;

use super::escape::{Part, escape, is_encoded, unescape};
use crate::library::network::address::Address;

/// The parts of a URL. Absent ones are empty.
#[derive(Clone, Debug, Default)]
pub struct Url {
    /// The scheme, in lower case.
    pub scheme: String,
    /// The rest after the scheme if it is not a path.
    opaque: String,
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    /// The path as given.
    raw_path: String,
    /// There is a scheme, and a path without a host.
    has_no_host: bool,
    has_empty_query: bool,
    /// The query, still escaped.
    query: String,
    /// The fragment as given.
    fragment: String,
}

/// The parameters that a query may have.
const MOST_PARAMETERS: usize = 10_000;

/// Checks an absolute URI, or a path that begins with a slash, as a request has it: `ParseRequestURI`.
///
/// # Errors
/// What is wrong, in Go's words.
pub fn check_request_uri(text: &str) -> Result<(), String> {
    split(text, true).map(drop).map_err(|message| failed(text, &message))
}

impl Url {
    /// Splits a URL: `Parse`.
    ///
    /// # Errors
    /// What is wrong, in Go's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
        let url = split(rest, false).map_err(|message| failed(rest, &message))?;
        unescape(fragment, Part::Fragment).map_err(|message| failed(text, &message))?;
        Ok(Self { fragment: fragment.to_owned(), ..url })
    }

    /// About how long it is.
    pub(super) fn length(&self) -> usize {
        self.opaque.len() + self.host.len() + self.raw_path.len() + self.query.len() + self.fragment.len()
    }

    /// The host with its port.
    pub fn host(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.host)
    }

    /// The host without its port, nor the brackets of an address; and the port.
    pub fn host_and_port(&self) -> (Cow<'_, str>, Cow<'_, str>) {
        let colon = self.host.iter().rposition(|byte| *byte == b':');
        let (host, port) = match colon {
            Some(at) if is_optional_port(&self.host[at..]) => (&self.host[..at], &self.host[at + 1..]),
            _ => (&self.host[..], &b""[..]),
        };
        let host = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host);
        (String::from_utf8_lossy(host), String::from_utf8_lossy(port))
    }

    /// The path, escaped as given where that is allowed.
    pub fn escaped_path(&self) -> Cow<'_, str> {
        if is_encoded(&self.raw_path, Part::Path) {
            Cow::Borrowed(&self.raw_path)
        } else {
            escape(&self.path, Part::Path).into()
        }
    }

    /// The well-formed parameters of the query.
    pub fn parameters(&self) -> Vec<(String, Vec<String>)> {
        let mut parameters: Vec<(String, Vec<String>)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        if self.query.bytes().filter(|byte| *byte == b'&').count() >= MOST_PARAMETERS {
            return parameters;
        }
        let text = |escaped| {
            let bytes = unescape(escaped, Part::Query).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(key), Some(value)) = (text(key), text(value)) else { continue };
            let place = *places.entry(key.clone()).or_insert(parameters.len());
            match parameters.get_mut(place) {
                Some((_, values)) => values.push(value),
                None => parameters.push((key, vec![value])),
            }
        }
        parameters
    }

    /// The URL as Go prints it, by which URLs are compared.
    pub fn printed(&self) -> String {
        let mut out = String::new();
        if !self.scheme.is_empty() {
            out.push_str(&self.scheme);
            out.push(':');
        }
        if self.opaque.is_empty() {
            self.print_authority_and_path(&mut out);
        } else {
            out.push_str(&self.opaque);
        }
        if self.has_empty_query || !self.query.is_empty() {
            out.push('?');
            out.push_str(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push('#');
            out.push_str(&self.escaped_fragment());
        }
        out
    }

    fn print_authority_and_path(&self, out: &mut String) {
        let is_empty = self.host.is_empty() && self.user.is_none();
        let has_authority = if is_empty { !self.scheme.is_empty() && !self.has_no_host } else { true };
        if has_authority {
            if !is_empty || !self.path.is_empty() {
                out.push_str("//");
            }
            if let Some((name, password)) = &self.user {
                out.push_str(&escape(name, Part::User));
                if let Some(password) = password {
                    out.push(':');
                    out.push_str(&escape(password, Part::User));
                }
                out.push('@');
            }
            out.push_str(&escape(&self.host, Part::Host));
        }
        let path = self.escaped_path();
        if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
            out.push('/');
        }
        if out.is_empty() && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
            out.push_str("./");
        }
        out.push_str(&path);
    }

    fn escaped_fragment(&self) -> Cow<'_, str> {
        if is_encoded(&self.fragment, Part::Fragment) {
            return Cow::Borrowed(&self.fragment);
        }
        escape(&unescape(&self.fragment, Part::Fragment).unwrap_or_default(), Part::Fragment).into()
    }
}

fn failed(text: &str, message: &str) -> String {
    format!("parse {}: {message}", quoted(text))
}

/// Splits a URL without a fragment. Those of requests are absolute, or paths.
fn split(text: &str, is_request: bool) -> Result<Url, String> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && is_request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        (url.path, url.raw_path) = (b"*".to_vec(), "*".to_owned());
        return Ok(url);
    }
    let (scheme, rest) = scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    url.has_empty_query = query == Some("");
    query.unwrap_or_default().clone_into(&mut url.query);
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if is_request {
            return Err("invalid URI for request".to_owned());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let may_have_authority = !url.scheme.is_empty() || !is_request && !rest.starts_with("///");
    if let Some(after) = rest.strip_prefix("//").filter(|_| may_have_authority) {
        let authority;
        (authority, rest) = after.split_at(after.find('/').unwrap_or(after.len()));
        split_authority(authority, &mut url)?;
    } else {
        url.has_no_host = !url.scheme.is_empty();
    }
    url.path = unescape(rest, Part::Path)?.into_owned();
    rest.clone_into(&mut url.raw_path);
    Ok(url)
}

/// The scheme, which may be absent, and what follows it.
fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn split_authority(authority: &str, url: &mut Url) -> Result<(), String> {
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    url.host = unescaped_host(&url.scheme, host)?;
    let Some(user) = user else { return Ok(()) };
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(is_sign) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let name = unescape(name, Part::User)?.into_owned();
    let password = password.map(|password| unescape(password, Part::User)).transpose()?;
    url.user = Some((name, password.map(Cow::into_owned)));
    Ok(())
}

/// The host and the port, without escapes.
fn unescaped_host(scheme: &str, host: &str) -> Result<Vec<u8>, String> {
    match host.rfind('[') {
        Some(0) => return unescaped_literal(&host[1..]),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Lists of hosts with ports are allowed in other schemes.
    let port = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
    check_port(port.map_or("", |at| &host[at..]))?;
    Ok(unescape(host, Part::Host)?.into_owned())
}

/// The address of IPv6 in brackets, which may have a zone, and the port.
fn unescaped_literal(inside: &str) -> Result<Vec<u8>, String> {
    let (address, port) = inside.rsplit_once(']').ok_or("missing ']' in host")?;
    check_port(port)?;
    let port = unescape(port, Part::Host)?;
    let (address, zone) = address.split_at(address.find("%25").unwrap_or(address.len()));
    let (address, zone) = (unescape(address, Part::Host)?, unescape(zone, Part::Zone)?);
    let unescaped = [&*address, &*zone].concat();
    let read =
        Address::parse(&String::from_utf8_lossy(&unescaped)).map_err(|message| format!("invalid host: {message}"))?;
    if read.ip.is_ipv4() {
        return Err("invalid IP-literal".to_owned());
    }
    Ok([&b"["[..], &unescaped, b"]", &port].concat())
}

fn check_port(port: &str) -> Result<(), String> {
    if is_optional_port(port.as_bytes()) { Ok(()) } else { Err(format!("invalid port {} after host", quoted(port))) }
}

/// Nothing, or a colon and digits.
fn is_optional_port(text: &[u8]) -> bool {
    text.is_empty() || text.strip_prefix(b":").is_some_and(|port| port.iter().all(u8::is_ascii_digit))
}
