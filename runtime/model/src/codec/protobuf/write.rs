//! Documents to messages.
use std::convert::Infallible;

use super::{
    EncodeError,
    layout::{Field, Message, Value},
    wire::{write_bytes, write_double, write_integer, write_message},
};
use crate::{
    codec,
    meta::{ByteString, MicroTime, Time},
    schema::Document,
};

impl Message {
    /// Appends the message of a document. Omits fields that the message does not know.
    ///
    /// # Errors
    /// [`EncodeError`] for a value of another type than the schema's, which no valid document has.
    pub fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let fields = document.as_object().ok_or_else(|| EncodeError::new("an object"))?;
        for field in &self.fields {
            if let Value::Part(part) = &field.value {
                write_message(field.number, out, |out| part.encode(document, out))?;
                continue;
            }
            let value = fields.get(&field.name).filter(|value| !value.is_null());
            match value {
                Some(value) => field.write(value, out).map_err(|error| error.within(&field.name))?,
                None if field.zero_is_absent => field.write_zero(out),
                None => {}
            }
        }
        Ok(())
    }

    /// Appends the message in which nothing is set.
    fn encode_zero(&self, out: &mut Vec<u8>) {
        self.fields.iter().filter(|field| field.zero_is_absent).for_each(|field| field.write_zero(out));
    }
}

impl Field {
    fn write(&self, value: &Document, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.value.write(self.number, value, out)
    }

    fn write_zero(&self, out: &mut Vec<u8>) {
        self.value.write_zero(self.number, out);
    }
}

impl Value {
    fn write(&self, number: u32, value: &Document, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let wrong = |wanted| EncodeError::new(wanted);
        match self {
            Self::Boolean => {
                let value = value.as_bool().ok_or_else(|| wrong("a boolean"))?;
                write_integer(number, value.into(), out);
            }
            Self::Integer => {
                write_integer(number, value.as_i64().ok_or_else(|| wrong("a whole number"))?, out);
            }
            Self::Double => write_double(number, value.as_f64().ok_or_else(|| wrong("a number"))?, out),
            Self::Retired => self.write_zero(number, out),
            Self::Text => write_bytes(number, text(value)?.as_bytes(), out),
            Self::Bytes => {
                let bytes = ByteString::from_base64(text(value)?).map_err(|_| wrong("base64"))?;
                write_bytes(number, &bytes.0, out);
            }
            Self::Time => {
                let at: Time = text(value)?.parse().map_err(|_| wrong("a time"))?;
                write_time(number, Some(at.parts()), out);
            }
            Self::MicroTime => {
                let at: MicroTime = text(value)?.parse().map_err(|_| wrong("a time"))?;
                write_time(number, Some(at.parts()), out);
            }
            Self::Quantity => match value {
                Document::Number(amount) => write_wrapped(number, amount.to_string().as_bytes(), out),
                value => write_wrapped(number, text(value)?.as_bytes(), out),
            },
            Self::IntOrString => match (value.as_i64(), value.as_str()) {
                (None, None) => return Err(wrong("a whole number or text")),
                (integer, text) => write_int_or_string(number, integer, text, out),
            },
            Self::RawJson => {
                let mut json = Vec::new();
                codec::encode(value, &mut json);
                write_wrapped(number, &json, out);
            }
            Self::Message(message) | Self::Part(message) => {
                return write_message(number, out, |out| message.encode(value, out));
            }
            Self::Recursive(message) => {
                let message = message.upgrade().ok_or_else(|| wrong("a message that is there"))?;
                return write_message(number, out, |out| message.encode(value, out));
            }
            Self::List(items) => {
                for item in value.as_array().ok_or_else(|| wrong("a list"))? {
                    items.write_inner(number, item, out)?;
                }
            }
            Self::Map(values) => {
                for (key, value) in value.as_object().ok_or_else(|| wrong("an object"))? {
                    write_message(number, out, |out| {
                        write_bytes(1, key.as_bytes(), out);
                        values.write_inner(2, value, out).map_err(|error| error.within(key))
                    })?;
                }
            }
            Self::Wrapped(inner) => return write_message(number, out, |out| inner.write(1, value, out)),
        }
        Ok(())
    }

    /// An item of a list or a value of a map, where `null` becomes zero.
    fn write_inner(&self, number: u32, value: &Document, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if value.is_null() {
            self.write_zero(number, out);
            return Ok(());
        }
        self.write(number, value, out)
    }

    /// Appends Go's output for a non-pointer field that is not set.
    fn write_zero(&self, number: u32, out: &mut Vec<u8>) {
        match self {
            Self::Boolean | Self::Integer => write_integer(number, 0, out),
            Self::Double => write_double(number, 0.0, out),
            // The zeros of a recursive type would not end.
            Self::Text | Self::Bytes | Self::RawJson | Self::Retired | Self::Wrapped(_) | Self::Recursive(_) => {
                write_bytes(number, b"", out);
            }
            Self::Time | Self::MicroTime => write_time(number, None, out),
            Self::Quantity => write_wrapped(number, b"0", out),
            Self::IntOrString => write_int_or_string(number, Some(0), None, out),
            Self::Message(message) | Self::Part(message) => always(write_message(number, out, |out| {
                message.encode_zero(out);
                Ok(())
            })),
            Self::List(_) | Self::Map(_) => {}
        }
    }
}

fn text(value: &Document) -> Result<&str, EncodeError> {
    value.as_str().ok_or_else(|| EncodeError::new("text"))
}

/// Unwraps an infallible result.
fn always(result: Result<(), Infallible>) {
    match result {
        Ok(()) => {}
    }
}

/// A message with this first field.
fn write_wrapped(number: u32, content: &[u8], out: &mut Vec<u8>) {
    always(write_message(number, out, |out| {
        write_bytes(1, content, out);
        Ok(())
    }));
}

/// Seconds since 1970 and nanoseconds, both always written, except for a time that is not set.
fn write_time(number: u32, at: Option<(i64, u32)>, out: &mut Vec<u8>) {
    always(write_message(number, out, |out| {
        if let Some((seconds, nanoseconds)) = at {
            write_integer(1, seconds, out);
            write_integer(2, nanoseconds.into(), out);
        }
        Ok(())
    }));
}

/// The type, the number and the text, all always written.
fn write_int_or_string(number: u32, integer: Option<i64>, text: Option<&str>, out: &mut Vec<u8>) {
    always(write_message(number, out, |out| {
        write_integer(1, text.is_some().into(), out);
        write_integer(2, integer.unwrap_or(0), out);
        write_bytes(3, text.unwrap_or("").as_bytes(), out);
        Ok(())
    }));
}
