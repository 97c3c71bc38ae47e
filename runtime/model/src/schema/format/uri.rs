//! URIs as Go reads those of requests (`net/url.ParseRequestURI`): absolute, or a path.
use std::net::Ipv6Addr;

/// A part of a URI, which decides the characters that are allowed besides letters and digits.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Path,
    User,
    Host,
    Zone,
}

pub(super) fn is_request_uri(text: &str) -> bool {
    let has_control = text.bytes().any(|byte| byte < b' ' || byte == 0x7f);
    !has_control && (text == "*" || is_uri(text).unwrap_or(false))
}

/// `None` if it is not one.
fn is_uri(text: &str) -> Option<bool> {
    let (scheme, rest) = scheme(text)?;
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with('/') {
        return Some(!scheme.is_empty());
    }
    let mut path = rest;
    if !scheme.is_empty()
        && let Some(after) = rest.strip_prefix("//")
    {
        let authority;
        (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        check_authority(scheme, authority)?;
    }
    unescaped(path, Part::Path).map(|_| true)
}

/// The scheme, which may be empty, and what comes after it; `None` if there is a colon without one.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let end = text.find(|c: char| !is_sign(c)).unwrap_or(text.len());
    match text[end..].strip_prefix(':') {
        Some(_) if end == 0 => None,
        Some(rest) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => Some((&text[..end], rest)),
        _ => Some(("", text)),
    }
}

fn check_authority(scheme: &str, authority: &str) -> Option<()> {
    let Some((user, host)) = authority.rsplit_once('@') else { return check_host(scheme, authority) };
    check_host(scheme, host)?;
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    unescaped(user, Part::User).filter(|_| user.chars().all(is_sign)).map(|_| ())
}

fn check_host(scheme: &str, host: &str) -> Option<()> {
    match host.rfind('[') {
        Some(0) => return check_literal(host),
        Some(_) => return None,
        None => {}
    }
    if let Some(first) = host.find(':') {
        // Lists of hosts with ports are allowed in other schemes.
        let strict = ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
        let port = if strict { first } else { host.rfind(':').unwrap_or(first) };
        is_port(&host[port..]).then_some(())?;
    }
    unescaped(host, Part::Host).map(|_| ())
}

/// An address of IPv6 in brackets, with a zone and a port after it.
fn check_literal(host: &str) -> Option<()> {
    let (address, port) = host[1..].rsplit_once(']')?;
    is_port(port).then_some(())?;
    let address = match address.find("%25") {
        Some(zone) => {
            let (address, zone) = address.split_at(zone);
            [unescaped(address, Part::Host)?, unescaped(zone, Part::Zone)?].concat()
        }
        None => unescaped(address, Part::Host)?,
    };
    let address = String::from_utf8_lossy(&address);
    let address = match address.split_once('%') {
        Some((_, "")) => return None,
        Some((address, _)) => address,
        None => &address,
    };
    address.parse::<Ipv6Addr>().ok().map(|_| ())
}

/// Nothing, or a colon and digits.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The bytes of a part without escapes; `None` if something is not allowed in it.
fn unescaped(text: &str, part: Part) -> Option<Vec<u8>> {
    let of_host = matches!(part, Part::Host | Part::Zone);
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            if of_host && byte.is_ascii() && !is_in_host(byte) {
                return None;
            }
            out.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let byte = digit(0)? << 4 | digit(1)?;
        let is_allowed = match part {
            Part::Path | Part::User => true,
            // Only what is not ASCII is escaped in a host.
            Part::Host => byte >= 0x80 || digits == b"25",
            Part::Zone => digits == b"25" || byte == b' ' || is_in_host(byte),
        };
        is_allowed.then(|| out.push(byte))?;
        rest = after;
    }
    Some(out)
}

/// The signs that a host has as they are.
fn is_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}
