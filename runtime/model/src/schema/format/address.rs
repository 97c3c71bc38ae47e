//! Addresses of the network: IP with leading zeros, as Go once took it and kube-apiserver still does, ranges of them, and MAC.
use std::net::Ipv6Addr;

/// The end of Go's small numbers.
const BIG: u32 = 0xff_ffff;

/// With a point in it, an address of either family.
pub(super) fn is_ipv4(text: &str) -> bool {
    match text.find(['.', ':']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => is_v4(text.as_bytes()),
        Some(_) => text.contains('.') && is_v6(text.as_bytes()),
        None => false,
    }
}

/// Without leading zeros in what is written as IPv4, and without a zone.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = if is_v4(address.as_bytes()) {
        32
    } else if is_v6(address.as_bytes()) {
        128
    } else {
        return false;
    };
    matches!(number(length.as_bytes(), 10), Some((length, b"")) if length <= most)
}

/// The number at the beginning of a text, and the rest.
fn number(text: &[u8], radix: u32) -> Option<(u32, &[u8])> {
    let (mut number, mut count) = (0, 0);
    for digit in text.iter().map_while(|byte| char::from(*byte).to_digit(radix)) {
        number = number * radix + digit;
        count += 1;
        if number >= BIG {
            return None;
        }
    }
    (count > 0).then(|| (number, &text[count..]))
}

fn is_v4(mut text: &[u8]) -> bool {
    for index in 0..4 {
        if index > 0 {
            let Some(rest) = text.strip_prefix(b".") else { return false };
            text = rest;
        }
        match number(text, 10) {
            Some((octet, rest)) if octet <= 255 => text = rest,
            _ => return false,
        }
    }
    text.is_empty()
}

fn is_v6(mut text: &[u8]) -> bool {
    let mut has_ellipsis = false;
    if let Some(rest) = text.strip_prefix(b"::") {
        if rest.is_empty() {
            return true;
        }
        (has_ellipsis, text) = (true, rest);
    }
    let mut bytes = 0;
    while bytes < 16 {
        let Some((_, rest)) = number(text, 16).filter(|(group, _)| *group <= 0xffff) else { return false };
        if rest.starts_with(b".") {
            if !has_ellipsis && bytes != 12 || bytes > 12 || !is_v4(text) {
                return false;
            }
            (bytes, text) = (bytes + 4, b"");
            break;
        }
        (bytes, text) = (bytes + 2, rest);
        if text.is_empty() {
            break;
        }
        match text {
            [b':', b':', rest @ ..] if !has_ellipsis => {
                (has_ellipsis, text) = (true, rest);
                if text.is_empty() {
                    break;
                }
            }
            [b':', b':', ..] | [b':'] => return false,
            [b':', rest @ ..] => text = rest,
            _ => return false,
        }
    }
    text.is_empty() && (bytes < 16) == has_ellipsis
}

/// 6, 8 or 20 bytes: pairs of digits with colons or with dashes between them, groups of four with points, or no signs at all.
pub(super) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (sign, size) = match (bytes.get(2), bytes.get(4)) {
        (Some(sign @ (b':' | b'-')), _) => (Some(sign), 2),
        (_, Some(sign @ b'.')) => (Some(sign), 4),
        _ => (None, 2),
    };
    let mut digits = 0;
    let is_well_formed = bytes.iter().enumerate().all(|(at, byte)| match sign {
        Some(sign) if at % (size + 1) == size => byte == sign && at + 1 < bytes.len(),
        _ => {
            digits += 1;
            byte.is_ascii_hexdigit()
        }
    });
    is_well_formed && digits % size == 0 && matches!(digits, 12 | 16 | 40)
}
