//! What the functions of texts do. Positions count code points.
use crate::{
    Error, Meter, Value,
    library::extensions::{grow_list, grow_text, read_text},
    value::{List, Text},
};

type Found<'a> = Result<Value<'a>, Error>;

pub(super) fn char_at<'a>(text: &Text<'a>, index: i64, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    let start = byte_of(text, index).ok_or_else(|| out_of_range(index))?;
    let end = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    Ok(Value::String(text.part(start..end)))
}

/// The first position of a text from a position on. An empty one is where the search begins, whatever that is.
pub(super) fn index_of<'a>(text: &Text<'_>, searched: &str, from: i64, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    if searched.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let found = byte_of(text, from).and_then(|start| text[start..].find(searched).map(|at| start + at));
    Ok(Value::Int(found.map_or(-1, |at| position(&text[..at]))))
}

/// The last position of a text.
pub(super) fn last_index_of<'a>(text: &Text<'_>, searched: &str, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    Ok(Value::Int(text.rfind(searched).map_or(-1, |at| position(&text[..at]))))
}

/// The last position of a text up to a position. An empty one is where the search begins, whatever that is.
pub(super) fn last_index_up_to<'a>(text: &Text<'_>, searched: &str, from: i64, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    if searched.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let start = byte_of(text, from).filter(|start| *start < text.len());
    let found = start.and_then(|start| {
        let end = text.floor_char_boundary(start.saturating_add(searched.len()));
        text[..end].rfind(searched)
    });
    Ok(Value::Int(found.map_or(-1, |at| position(&text[..at]))))
}

pub(super) fn substring<'a>(text: &Text<'a>, start: i64, end: Option<i64>, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(Error::new(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let first = byte_of(text, start).ok_or_else(|| out_of_range(start))?;
    let last = end.map_or(Ok(text.len()), |end| byte_of(text, end).ok_or_else(|| out_of_range(end)))?;
    Ok(Value::String(text.part(first..last)))
}

pub(super) fn trim<'a>(text: &Text<'a>, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    let start = text.len() - text.trim_start().len();
    Ok(Value::String(text.part(start..start + text[start..].trim_end().len())))
}

/// Replaces a text, at most so many times if the number is not negative.
pub(super) fn replace<'a>(text: &Text<'a>, old: &str, new: &str, most: i64, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let count = text.matches(old).take(most).count();
    if count == 0 {
        return Ok(Value::String(text.clone()));
    }
    let kept = text.len() - count * old.len();
    grow_text(meter, 0, kept.saturating_add(count.saturating_mul(new.len())))?;
    Ok(text.replacen(old, new, most).into())
}

/// The parts of a text, at most so many if the number is not negative; the last has the rest.
pub(super) fn split<'a>(text: &Text<'a>, separator: &str, most: i64, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut start = 0;
    if most == 0 {
        return Ok(Value::list(parts));
    }
    loop {
        let rest = &text[start..];
        let end = match separator {
            "" if rest.is_empty() => break,
            "" => rest.chars().next().map(char::len_utf8).filter(|end| *end < rest.len()),
            _ => rest.find(separator),
        };
        let Some(end) = end.filter(|_| parts.len() + 1 < most) else {
            parts.push(Value::String(text.part(start..text.len())));
            break;
        };
        grow_list(meter, parts.len(), 1)?;
        parts.push(Value::String(text.part(start..start + end)));
        start += end + separator.len();
    }
    Ok(Value::list(parts))
}

/// The texts of a list, with a text between them.
pub(super) fn join<'a>(parts: &List<'a>, separator: &str, meter: &dyn Meter) -> Found<'a> {
    let mut joined = String::new();
    for (index, part) in parts.iter().enumerate() {
        let separator = if index > 0 { separator } else { "" };
        match part? {
            Value::String(part) => {
                grow_text(meter, joined.len(), separator.len() + part.len())?;
                joined.push_str(separator);
                joined.push_str(&part);
            }
            other => return Err(Error::new(format!("join: invalid input: {other}"))),
        }
    }
    Ok(joined.into())
}

/// The code points in the opposite order.
pub(super) fn reverse<'a>(text: &Text<'_>, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    Ok(text.chars().rev().collect::<String>().into())
}

/// The text with its ASCII letters changed.
pub(super) fn with_ascii<'a>(text: &Text<'_>, change: fn(&str) -> String, meter: &dyn Meter) -> Found<'a> {
    read_text(meter, text)?;
    Ok(change(text).into())
}

/// The text in double quotes, with the escapes of the language.
pub(super) fn quote<'a>(text: &Text<'_>, meter: &dyn Meter) -> Found<'a> {
    grow_text(meter, 0, 2 * text.len())?;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let escape = match c {
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{b}' => 'v',
            '\\' | '"' => c,
            _ => {
                quoted.push(c);
                continue;
            }
        };
        quoted.extend(['\\', escape]);
    }
    quoted.push('"');
    Ok(quoted.into())
}

fn out_of_range(index: i64) -> Error {
    Error::new(format!("index out of range: {index}"))
}

/// The byte at which a code point begins. The position after the last one is the end.
fn byte_of(text: &str, index: i64) -> Option<usize> {
    let mut chars = text.chars();
    if let Some(last) = usize::try_from(index).ok()?.checked_sub(1) {
        chars.nth(last)?;
    }
    Some(text.len() - chars.as_str().len())
}

/// The position of what comes after a text.
fn position(before: &str) -> i64 {
    let count = if before.is_ascii() { before.len() } else { before.chars().count() };
    i64::try_from(count).unwrap_or(i64::MAX)
}
