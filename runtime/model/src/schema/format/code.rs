//! Numbers and codes: books, cards, colours, identifiers, social security numbers.

/// Twelve bytes in hexadecimal digits.
pub(super) fn is_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Go's white space in patterns.
fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ')
}

/// The digits of a text that is nothing else.
fn digits(text: &str) -> Option<Vec<u32>> {
    text.chars().map(|c| c.to_digit(10)).collect()
}

/// A number of a book with ten places, of which the last may be an X.
pub(super) fn is_isbn10(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| *c != '-' && !is_space(*c)).take(11).collect();
    let (number, check) = match bare.strip_suffix('X') {
        Some(number) => (number, Some(10)),
        None => (&*bare, None),
    };
    let Some(mut places) = digits(number) else { return false };
    places.extend(check);
    let sum: u32 = (1..).zip(&places).map(|(weight, place)| weight * place).sum();
    places.len() == 10 && sum.is_multiple_of(11)
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| *c != '-' && !is_space(*c)).take(14).collect();
    let Some(places) = digits(&bare) else { return false };
    let sum: u32 = [1, 3].iter().cycle().zip(&places).map(|(weight, place)| weight * place).sum();
    places.len() == 13 && sum.is_multiple_of(10)
}

/// The digits of a text are the number of a card of a known issuer with a valid last digit.
pub(super) fn is_credit_card(text: &str) -> bool {
    let number: String = text.chars().filter(char::is_ascii_digit).take(20).collect();
    let starts = |ranges: &[(&str, &str)]| {
        ranges
            .iter()
            .any(|(least, most)| number.get(..least.len()).is_some_and(|start| (*least..=*most).contains(&start)))
    };
    let is_issued = match number.len() {
        13 => starts(&[("4", "4")]),
        14 => starts(&[("300", "305"), ("36", "36"), ("38", "38")]),
        15 => starts(&[("34", "34"), ("37", "37"), ("2131", "2131"), ("1800", "1800")]),
        16 => starts(&[("4", "4"), ("51", "55"), ("6011", "6011"), ("6500", "6599"), ("35", "35")]),
        _ => false,
    };
    let Some(places) = digits(&number).filter(|_| is_issued) else { return false };
    let doubled = |place: u32| if place < 5 { 2 * place } else { 2 * place - 9 };
    let places = places.iter().rev().enumerate();
    places.map(|(at, place)| if at % 2 == 0 { *place } else { doubled(*place) }).sum::<u32>() % 10 == 0
}

/// Three digits, two and four, with a dash or a blank between them.
pub(super) fn is_ssn(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(at, byte)| match at {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `rgb(`, three numbers up to 255 without leading zeros, with white space around them, and `)`.
pub(super) fn is_rgb_color(text: &str) -> bool {
    let is_part = |part: &str| {
        let part = part.trim_matches(is_space);
        let is_canonical = part == "0" || !part.starts_with('0');
        is_canonical && part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse::<u8>().is_ok()
    };
    let Some(inside) = text.strip_prefix("rgb(").and_then(|text| text.strip_suffix(')')) else { return false };
    let parts: Vec<&str> = inside.splitn(4, ',').collect();
    parts.len() == 3 && parts.into_iter().all(is_part)
}

/// A UUID of a version, which is a digit, and since version 4 of the usual variant.
pub(super) fn is_uuid(text: &str, version: u8) -> bool {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let is_variant = |digit: u8| version < b'4' || matches!(digit, b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    kindsmith_cel::library::kubernetes::format::is_uuid(text) && digits[12] == version && is_variant(digits[16])
}
