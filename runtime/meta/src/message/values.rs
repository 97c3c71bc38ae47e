//! Scalar values in messages.
use prost::{
    DecodeError,
    bytes::{Buf, BufMut},
    encoding::{DecodeContext, WireType, bool, bytes, double, int32, int64, string},
};
use serde_json::Value;

use super::field::{Field, invalid, nested_length, write_nested};
use crate::{ByteString, FieldsV1, IntOrString, MicroTime, Quantity, RawJson, Time, json};

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

/// The message of a point in time: seconds since 1970, and nanoseconds. Without both it is Go's zero time, which means no time.
#[derive(Default)]
pub(super) struct Timestamp {
    pub(super) seconds: Option<i64>,
    pub(super) nanos: Option<i32>,
}

impl Timestamp {
    fn of((seconds, nanoseconds): (i64, u32)) -> Self {
        Self { seconds: Some(seconds), nanos: Some(nanoseconds.cast_signed()) }
    }

    fn time<T>(&self, of_parts: impl Fn(i64, i64) -> Option<T>) -> Result<T, DecodeError> {
        let at = of_parts(self.seconds.unwrap_or_default(), self.nanos.unwrap_or_default().into());
        at.ok_or_else(|| invalid("the time is not within the years 0 to 9999"))
    }
}

/// Points in time.
macro_rules! times {
    ($($ty:ident)*) => { $(
        impl Field for $ty {
            fn empty() -> Self {
                Self::from_timestamp(jiff::Timestamp::UNIX_EPOCH)
            }

            fn write(&self, number: u32, out: &mut impl BufMut) {
                Timestamp::of(self.parts()).write(number, out);
            }

            fn length(&self, number: u32) -> usize {
                Timestamp::of(self.parts()).length(number)
            }

            fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
                let mut message = Timestamp::of(self.parts());
                message.merge(wire, from, context)?;
                *self = message.time(Self::of_parts)?;
                Ok(())
            }

            fn merge_option(
                slot: &mut Option<Self>,
                wire: WireType,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                let mut message = Timestamp::default();
                message.merge(wire, from, context)?;
                let is_set = message.seconds.is_some() || message.nanos.is_some();
                *slot = is_set.then(|| message.time(Self::of_parts)).transpose()?;
                Ok(())
            }

            fn write_absent(number: u32, out: &mut impl BufMut) {
                Timestamp::default().write(number, out);
            }

            fn absent_length(number: u32) -> usize {
                Timestamp::default().length(number)
            }
        }
    )* };
}

times! { Time MicroTime }

/// The message of a quantity and of raw JSON: its text as the first field, if there is one.
#[derive(Default)]
pub(super) struct Text {
    pub(super) text: Option<ByteString>,
}

impl Text {
    fn of(text: &[u8]) -> Self {
        Self { text: Some(ByteString(text.to_owned())) }
    }

    /// JSON other than `null` as text.
    fn of_json(value: &Value) -> Self {
        let mut text = Vec::new();
        json::encode(value, &mut text);
        Self { text: (!value.is_null()).then_some(ByteString(text)) }
    }

    fn read(wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<Vec<u8>, DecodeError> {
        let mut message = Self::default();
        message.merge(wire, from, context)?;
        Ok(message.text.unwrap_or_default().0)
    }
}

impl Field for Quantity {
    fn empty() -> Self {
        Self::default()
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        Text::of(self.as_str().as_bytes()).write(number, out);
    }

    fn length(&self, number: u32) -> usize {
        Text::of(self.as_str().as_bytes()).length(number)
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let text = Text::read(wire, from, context)?;
        let text = std::str::from_utf8(&text).map_err(invalid)?;
        *self = text.parse().map_err(invalid)?;
        Ok(())
    }
}

/// JSON as text in a message: the type, its value, and how a value becomes one. `null` is not written.
macro_rules! json_values {
    ($($ty:ident, $this:ident => $value:expr, $from:path;)*) => { $(
        impl Field for $ty {
            fn empty() -> Self {
                Self::default()
            }

            fn write(&self, number: u32, out: &mut impl BufMut) {
                let $this = self;
                if !$value.is_null() {
                    self.write_item(number, out);
                }
            }

            fn length(&self, number: u32) -> usize {
                let $this = self;
                if $value.is_null() { 0 } else { self.item_length(number) }
            }

            fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
                *self = match Text::read(wire, from, context)?.as_slice() {
                    [] => Self::default(),
                    text => json::decode(text).map($from).map_err(invalid)?,
                };
                Ok(())
            }

            fn write_absent(number: u32, out: &mut impl BufMut) {
                Text::default().write(number, out);
            }

            fn absent_length(number: u32) -> usize {
                Text::default().length(number)
            }

            fn write_item(&self, number: u32, out: &mut impl BufMut) {
                let $this = self;
                Text::of_json($value).write(number, out);
            }

            fn item_length(&self, number: u32) -> usize {
                let $this = self;
                Text::of_json($value).length(number)
            }
        }
    )* };
}

json_values! {
    Value, value => value, Value::from;
    RawJson, json => &json.0, RawJson;
    FieldsV1, set => &set.value(), FieldsV1::from;
}

/// The message of a number or text: its type (0 for a number), the number and the text, all of them written.
#[derive(Default)]
pub(super) struct NumberOrText {
    pub(super) is_text: i64,
    pub(super) number: i32,
    pub(super) text: String,
}

impl NumberOrText {
    fn of(value: &IntOrString) -> Self {
        match value {
            IntOrString::Int(number) => Self { number: *number, ..Self::default() },
            IntOrString::String(text) => Self { is_text: 1, number: 0, text: text.clone() },
        }
    }
}

impl Field for IntOrString {
    fn empty() -> Self {
        Self::default()
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        NumberOrText::of(self).write(number, out);
    }

    fn length(&self, number: u32) -> usize {
        NumberOrText::of(self).length(number)
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        let mut message = NumberOrText::of(self);
        message.merge(wire, from, context)?;
        *self = if message.is_text == 0 { Self::Int(message.number) } else { Self::String(message.text) };
        Ok(())
    }
}
