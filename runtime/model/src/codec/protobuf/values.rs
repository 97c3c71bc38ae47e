//! Scalar values of the API: text, numbers, and small messages of their own (times, quantities, int-or-string, raw
//! JSON).
use serde_json::Number;

use super::{
    super::Limits,
    DecodeError,
    layout::Value,
    wire::{Reader, Wire},
};
use crate::{
    codec,
    meta::{ByteString, MicroTime, Time},
    schema::{Document, number},
};

/// A scalar value; `null` for a time that is not set.
pub(super) fn read(value: &Value, given: Wire<'_>, limits: Limits) -> Result<Document, DecodeError> {
    Ok(match value {
        Value::Boolean => (given.integer()? != 0).into(),
        Value::Integer => given.integer()?.into(),
        Value::Double => double(given)?,
        Value::IntOrString => int_or_string(given.bytes()?)?,
        Value::Bytes => ByteString(given.bytes()?.to_vec()).to_base64().into(),
        Value::Time => time(given.bytes()?, Time::of_parts)?.map_or(Document::Null, |at| at.to_string().into()),
        Value::MicroTime => {
            time(given.bytes()?, MicroTime::of_parts)?.map_or(Document::Null, |at| at.to_string().into())
        }
        Value::Quantity => first(given.bytes()?, Wire::text)?.unwrap_or_default().into(),
        Value::Text => given.text()?.into(),
        Value::RawJson => raw_json(given.bytes()?, limits)?,
        Value::Retired
        | Value::Message(_)
        | Value::Part(_)
        | Value::Recursive(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Wrapped(_) => Document::Null,
    })
}

/// JSON in a message whose only field is its text.
fn raw_json(bytes: &[u8], limits: Limits) -> Result<Document, DecodeError> {
    let text = first(bytes, Wire::bytes)?.unwrap_or_default();
    if text.is_empty() {
        return Ok(Document::Null);
    }
    let decoded = codec::decode(text, &limits).map_err(|error| DecodeError::new(error.to_string()))?;
    Ok(decoded.document)
}

fn double(given: Wire<'_>) -> Result<Document, DecodeError> {
    let double = match given {
        Wire::Fixed64(bits) => f64::from_bits(bits),
        Wire::Fixed32(bits) => f64::from(f32::from_bits(bits)),
        other => return Err(other.wrong_type()),
    };
    let number = Number::from_f64(double).ok_or_else(|| DecodeError::new("the number is infinite or none at all"))?;
    let mut document = Document::Number(number);
    number::settle(&mut document);
    Ok(document)
}

/// The type (0 for a number), the number and the text, of which only the selected one counts.
fn int_or_string(bytes: &[u8]) -> Result<Document, DecodeError> {
    let (mut is_text, mut integer, mut text) = (false, 0, "");
    let mut reader = Reader::new(bytes);
    while let Some((number, value)) = reader.field()? {
        match number {
            1 => is_text = value.integer()? != 0,
            2 => integer = value.integer()?,
            3 => text = value.text()?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { integer.into() })
}

/// Seconds since 1970 and nanoseconds. A message without fields is Go's zero time, which means no time.
fn time<T>(bytes: &[u8], of_parts: impl Fn(i64, i64) -> Option<T>) -> Result<Option<T>, DecodeError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanos) = (0, 0);
    let mut reader = Reader::new(bytes);
    while let Some((number, value)) = reader.field()? {
        match number {
            1 => seconds = value.integer()?,
            2 => nanos = value.integer()?,
            _ => {}
        }
    }
    of_parts(seconds, nanos).map(Some).ok_or_else(|| DecodeError::new("the time is not within the years 0 to 9999"))
}

/// The last value of the first field of a message.
fn first<'a, T>(bytes: &'a [u8], read: impl Fn(Wire<'a>) -> Result<T, DecodeError>) -> Result<Option<T>, DecodeError> {
    let (mut found, mut reader) = (None, Reader::new(bytes));
    while let Some((number, value)) = reader.field()? {
        if number == 1 {
            found = Some(read(value)?);
        }
    }
    Ok(found)
}
