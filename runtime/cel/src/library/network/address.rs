//! Addresses and prefixes of networks, read as Go's `net/netip` reads them, with its errors.
use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use kindsmith_meta::go::quoted;

/// An address, and if it was written with a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub ip: IpAddr,
    pub has_zone: bool,
}

/// An address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub ip: IpAddr,
    pub length: u8,
}

impl Address {
    /// `ParseAddr`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.bytes().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
            Some(b'.') => Ok(Self { ip: Ipv4Addr::from(v4(text, text)?).into(), has_zone: false }),
            Some(b':') => v6(text),
            Some(_) => Err(error(text, "missing IPv6 address", "")),
            None => Err(error(text, "unable to parse IP", "")),
        }
    }
}

/// The text of an error: what was read, what is wrong with it, and where.
fn error(text: &str, message: &str, at: &str) -> String {
    let at = if at.is_empty() { String::new() } else { format!(" (at {})", quoted(at)) };
    format!("ParseAddr({}): {message}{at}", quoted(text))
}

/// Reads four numbers with points between them; `part` is where they are in the text.
fn v4(text: &str, part: &str) -> Result<[u8; 4], String> {
    let bytes = part.as_bytes();
    let (mut octets, mut index, mut value, mut digits) = ([0; 4], 0, 0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' if digits == 1 && value == 0 => {
                return Err(error(text, "IPv4 field has octet with leading zero", ""));
            }
            b'0'..=b'9' => {
                digits += 1;
                value = value * 10 + u32::from(byte - b'0');
                octets[index] = u8::try_from(value).map_err(|_| error(text, "IPv4 field has value >255", ""))?;
            }
            b'.' if at == 0 || at + 1 == bytes.len() || bytes[at - 1] == b'.' => {
                return Err(error(text, "IPv4 field must have at least one digit", &part[at..]));
            }
            b'.' if index == 3 => return Err(error(text, "IPv4 address too long", "")),
            b'.' => (index, value, digits) = (index + 1, 0, 0),
            _ => return Err(error(text, "unexpected character", &part[at..])),
        }
    }
    if index == 3 { Ok(octets) } else { Err(error(text, "IPv4 address too short", "")) }
}

fn v6(text: &str) -> Result<Address, String> {
    let (mut rest, has_zone) = match text.split_once('%') {
        Some((_, "")) => return Err(error(text, "zone must be a non-empty string", "")),
        Some((address, _)) => (address, true),
        None => (text, false),
    };
    let of = |ip: [u8; 16]| Ok(Address { ip: Ipv6Addr::from(ip).into(), has_zone });
    let (mut ip, mut end, mut ellipsis) = ([0; 16], 0, None);
    if let Some(after) = rest.strip_prefix("::") {
        (ellipsis, rest) = (Some(0), after);
        if rest.is_empty() {
            return of(ip);
        }
    }
    while end < 16 {
        let (group, length) = group(text, rest)?;
        if rest[length..].starts_with('.') {
            if ellipsis.is_none() && end != 12 {
                let message = "embedded IPv4 address must replace the final 2 fields of the address";
                return Err(error(text, message, rest));
            }
            if end > 12 {
                let message = "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err(error(text, message, rest));
            }
            ip[end..end + 4].copy_from_slice(&v4(text, rest)?);
            (end, rest) = (end + 4, "");
            break;
        }
        ip[end..end + 2].copy_from_slice(&group.to_be_bytes());
        (end, rest) = (end + 2, &rest[length..]);
        if rest.is_empty() {
            break;
        }
        rest = match rest.strip_prefix(':') {
            None => return Err(error(text, "unexpected character, want colon", rest)),
            Some("") => return Err(error(text, "colon must be followed by more characters", rest)),
            Some(after) => after,
        };
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis.is_some() {
                return Err(error(text, "multiple :: in address", rest));
            }
            (ellipsis, rest) = (Some(end), after);
            if rest.is_empty() {
                break;
            }
        }
    }
    match (rest, ellipsis) {
        ("", None) if end == 16 => of(ip),
        ("", None) => Err(error(text, "address string too short", "")),
        ("", Some(_)) if end == 16 => Err(error(text, "the :: must expand to at least one field of zeros", "")),
        ("", Some(start)) => {
            ip.copy_within(start..end, 16 - (end - start));
            ip[start..16 - (end - start)].fill(0);
            of(ip)
        }
        _ => Err(error(text, "trailing garbage after address", rest)),
    }
}

/// The number at the beginning of the rest of the text, and how many digits it has.
fn group(text: &str, rest: &str) -> Result<(u16, usize), String> {
    let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    match length {
        0 => Err(error(text, "each colon-separated field must have at least one digit", rest)),
        1..=4 => Ok((u16::from_str_radix(&rest[..length], 16).unwrap_or_default(), length)),
        _ => Err(error(text, "each group must have 4 or less digits", rest)),
    }
}

impl Prefix {
    /// `ParsePrefix`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let error = |message: &str| format!("netip.ParsePrefix({}): {message}", quoted(text));
        let (address, bits) = text.rsplit_once('/').ok_or_else(|| error("no '/'"))?;
        let Address { ip, has_zone } = Address::parse(address).map_err(|message| error(&message))?;
        if has_zone {
            return Err(error("IPv6 zones cannot be present in a prefix"));
        }
        let is_number = bits.bytes().all(|byte| byte.is_ascii_digit()) && (bits.len() == 1 || !bits.starts_with('0'));
        match bits.parse::<i64>() {
            Ok(length) if is_number => u8::try_from(length)
                .ok()
                .filter(|length| u32::from(*length) <= width(ip))
                .map(|length| Self { ip, length })
                .ok_or_else(|| error("prefix length out of range")),
            _ => Err(error(&format!("bad bits after slash: {}", quoted(bits)))),
        }
    }

    /// The prefix with zeros after it.
    pub(crate) fn masked(self) -> Self {
        let ip = match self.ip {
            IpAddr::V4(ip) => {
                Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0) & ip.to_bits())
                    .into()
            }
            IpAddr::V6(ip) => {
                Ipv6Addr::from_bits(u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0) & ip.to_bits())
                    .into()
            }
        };
        Self { ip, ..self }
    }

    /// True if an address begins with the prefix.
    pub(crate) fn contains(self, ip: IpAddr) -> bool {
        width(self.ip) == width(ip) && self.masked() == Self { ip, ..self }.masked()
    }

    /// True if all addresses that begin with another prefix begin with this one.
    pub(crate) fn covers(self, other: Self) -> bool {
        self.length <= other.length && self.contains(other.ip)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.length)
    }
}

/// The bits of an address.
pub(crate) fn width(ip: IpAddr) -> u32 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// A multicast address of the link.
pub(crate) fn is_link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => matches!(ip.octets(), [224, 0, 0, _]),
        IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
    }
}

/// An address of one machine on the link.
pub(crate) fn is_link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    }
}

/// An address of one machine that is valid beyond the link, private ones included.
pub(crate) fn is_global_unicast(ip: IpAddr) -> bool {
    let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    !(is_broadcast || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || is_link_local_unicast(ip))
}
