//! Scalar values in messages.
use prost::{
    DecodeError,
    bytes::{Buf, BufMut},
    encoding::{DecodeContext, WireType, bool, bytes, double, int32, int64, string},
};
use serde_json::Value;

use super::field::{Field, invalid, merge_nested, nested_length, write_nested};
use crate::{ByteString, IntOrString, MicroTime, Quantity, RawJson, Time, json};

/// Scalars that prost supports: the type, its functions, its zero.
macro_rules! scalars {
    ($($ty:ty: $module:ident, $zero:expr;)*) => { $(
        impl Field for $ty {
            fn empty() -> Self {
                $zero
            }

            fn write(&self, number: u32, out: &mut impl BufMut) {
                $module::encode(number, self, out);
            }

            fn length(&self, number: u32) -> usize {
                $module::encoded_len(number, self)
            }

            fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
                $module::merge(wire, self, from, context)
            }

            fn push_item(
                list: &mut Vec<Self>,
                wire: WireType,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                $module::merge_repeated(wire, list, from, context)
            }
        }
    )* };
}

scalars! {
    String: string, String::new();
    bool: bool, false;
    i32: int32, 0;
    i64: int64, 0;
    f64: double, 0.0;
}

/// Writes an enum value. For derived code.
#[doc(hidden)]
pub fn write_text(number: u32, text: &str, out: &mut impl BufMut) {
    write_nested(number, text.len(), out, |out| out.put_slice(text.as_bytes()));
}

/// The number of bytes that [`write_text`] writes. For derived code.
#[doc(hidden)]
pub fn text_length(number: u32, text: &str) -> usize {
    nested_length(number, text.len())
}

/// Reads an enum value. For derived code.
///
/// # Errors
/// If the bytes are not valid text.
#[doc(hidden)]
pub fn read_text(wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<String, DecodeError> {
    let mut text = String::new();
    string::merge(wire, &mut text, from, context)?;
    Ok(text)
}

/// The error for text that is not a value of an enum. For derived code.
///
/// # Errors
/// Always.
#[doc(hidden)]
pub fn no_value(enumeration: &str, text: &str) -> Result<(), DecodeError> {
    Err(invalid(format_args!("{text:?} is not a value of {enumeration}")))
}

impl Field for ByteString {
    fn empty() -> Self {
        Self::default()
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        bytes::encode(number, &self.0, out);
    }

    fn length(&self, number: u32) -> usize {
        bytes::encoded_len(number, &self.0)
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        bytes::merge(wire, &mut self.0, from, context)
    }

    /// Bytes have no zero to write: Go does not distinguish empty from absent bytes.
    fn write_absent(_: u32, _: &mut impl BufMut) {}

    fn absent_length(_: u32) -> usize {
        0
    }
}

/// Seconds since 1970 and nanoseconds, both always written.
#[derive(Clone, Copy, Default)]
struct Stamp {
    seconds: i64,
    nanos: i32,
}

impl Stamp {
    fn of((seconds, nanoseconds): (i64, u32)) -> Self {
        Self { seconds, nanos: nanoseconds.cast_signed() }
    }

    fn time<T>(self, of_parts: impl Fn(i64, i64) -> Option<T>) -> Result<T, DecodeError> {
        let at = of_parts(self.seconds, self.nanos.into());
        at.ok_or_else(|| invalid("the time is not within the years 0 to 9999"))
    }

    fn content(&self) -> usize {
        int64::encoded_len(1, &self.seconds) + int32::encoded_len(2, &self.nanos)
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        write_nested(number, self.content(), out, |out| {
            int64::encode(1, &self.seconds, out);
            int32::encode(2, &self.nanos, out);
        });
    }

    /// Reads the fields that are present; returns whether there was one.
    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<bool, DecodeError> {
        let mut some = false;
        merge_nested(self, wire, from, context, |stamp, number, wire, from, context| {
            match number {
                1 => int64::merge(wire, &mut stamp.seconds, from, context)?,
                2 => int32::merge(wire, &mut stamp.nanos, from, context)?,
                _ => return Ok(false),
            }
            some = true;
            Ok(true)
        })?;
        Ok(some)
    }
}

/// Points in time. A message without fields is Go's zero time, which means no time.
macro_rules! times {
    ($($ty:ident)*) => { $(
        impl Field for $ty {
            fn empty() -> Self {
                Self::from_timestamp(jiff::Timestamp::UNIX_EPOCH)
            }

            fn write(&self, number: u32, out: &mut impl BufMut) {
                Stamp::of(self.parts()).write(number, out);
            }

            fn length(&self, number: u32) -> usize {
                nested_length(number, Stamp::of(self.parts()).content())
            }

            fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
                let mut stamp = Stamp::of(self.parts());
                stamp.merge(wire, from, context)?;
                *self = stamp.time(Self::of_parts)?;
                Ok(())
            }

            fn merge_option(
                slot: &mut Option<Self>,
                wire: WireType,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                let mut stamp = Stamp::default();
                let some = stamp.merge(wire, from, context)?;
                *slot = some.then(|| stamp.time(Self::of_parts)).transpose()?;
                Ok(())
            }

            fn write_absent(number: u32, out: &mut impl BufMut) {
                write_nested(number, 0, out, |_| {});
            }

            fn absent_length(number: u32) -> usize {
                nested_length(number, 0)
            }
        }
    )* };
}

times! { Time MicroTime }

/// Writes a message whose first field has these bytes.
fn write_wrapped(number: u32, content: &[u8], out: &mut impl BufMut) {
    write_nested(number, wrapped_content(content), out, |out| {
        write_nested(1, content.len(), out, |out| out.put_slice(content));
    });
}

fn wrapped_content(content: &[u8]) -> usize {
    nested_length(1, content.len())
}

fn merge_wrapped(wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<Vec<u8>, DecodeError> {
    let mut content = Vec::new();
    merge_nested(&mut content, wire, from, context, |content, number, wire, from, context| {
        if number == 1 {
            bytes::merge(wire, content, from, context)?;
        }
        Ok(number == 1)
    })?;
    Ok(content)
}

impl Field for Quantity {
    fn empty() -> Self {
        Self::default()
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        write_wrapped(number, self.as_str().as_bytes(), out);
    }

    fn length(&self, number: u32) -> usize {
        nested_length(number, wrapped_content(self.as_str().as_bytes()))
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let text = merge_wrapped(wire, from, context)?;
        let text = std::str::from_utf8(&text).map_err(invalid)?;
        *self = text.parse().map_err(invalid)?;
        Ok(())
    }
}

/// JSON as text in a message. `null` is not written.
impl Field for Value {
    fn empty() -> Self {
        Self::Null
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        if !self.is_null() {
            self.write_item(number, out);
        }
    }

    fn length(&self, number: u32) -> usize {
        if self.is_null() { 0 } else { self.item_length(number) }
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let text = merge_wrapped(wire, from, context)?;
        *self = match text.as_slice() {
            [] => Self::Null,
            text => json::decode(text).map_err(invalid)?,
        };
        Ok(())
    }

    fn write_absent(number: u32, out: &mut impl BufMut) {
        write_nested(number, 0, out, |_| {});
    }

    fn absent_length(number: u32) -> usize {
        nested_length(number, 0)
    }

    fn write_item(&self, number: u32, out: &mut impl BufMut) {
        match text_of(self) {
            Some(text) => write_wrapped(number, &text, out),
            None => Self::write_absent(number, out),
        }
    }

    fn item_length(&self, number: u32) -> usize {
        text_of(self).map_or_else(|| Self::absent_length(number), |text| nested_length(number, wrapped_content(&text)))
    }
}

/// The text of JSON other than `null`.
fn text_of(value: &Value) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    json::encode(value, &mut text);
    (!value.is_null()).then_some(text)
}

impl Field for RawJson {
    fn empty() -> Self {
        Self(Value::Null)
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        self.0.write(number, out);
    }

    fn length(&self, number: u32) -> usize {
        self.0.length(number)
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        self.0.merge(wire, from, context)
    }

    fn write_absent(number: u32, out: &mut impl BufMut) {
        Value::write_absent(number, out);
    }

    fn absent_length(number: u32) -> usize {
        Value::absent_length(number)
    }

    fn write_item(&self, number: u32, out: &mut impl BufMut) {
        self.0.write_item(number, out);
    }

    fn item_length(&self, number: u32) -> usize {
        self.0.item_length(number)
    }
}

/// The type (0 for a number), the number and the text, all of them written.
#[derive(Default)]
struct Either {
    is_text: i64,
    number: i32,
    text: String,
}

impl Either {
    fn of(value: &IntOrString) -> Self {
        match value {
            IntOrString::Int(number) => Self { number: *number, ..Self::default() },
            IntOrString::String(text) => Self { is_text: 1, number: 0, text: text.clone() },
        }
    }

    fn content(&self) -> usize {
        self.is_text.length(1) + self.number.length(2) + self.text.length(3)
    }
}

impl Field for IntOrString {
    fn empty() -> Self {
        Self::default()
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        let either = Either::of(self);
        write_nested(number, either.content(), out, |out| {
            either.is_text.write(1, out);
            either.number.write(2, out);
            either.text.write(3, out);
        });
    }

    fn length(&self, number: u32) -> usize {
        nested_length(number, Either::of(self).content())
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let mut either = Either::of(self);
        merge_nested(&mut either, wire, from, context, |either, number, wire, from, context| {
            match number {
                1 => either.is_text.merge(wire, from, context)?,
                2 => either.number.merge(wire, from, context)?,
                3 => either.text.merge(wire, from, context)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        *self = if either.is_text == 0 { Self::Int(either.number) } else { Self::String(either.text) };
        Ok(())
    }
}
