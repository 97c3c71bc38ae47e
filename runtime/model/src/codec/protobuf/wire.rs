//! The Protobuf wire format: reads and writes messages as sequences of numbered fields. Knows no schema.
use super::DecodeError;

/// The wire type of numbers of variable length.
const VARINT: u64 = 0;
/// The wire type of eight bytes.
const FIXED64: u64 = 1;
/// The wire type of bytes with their length.
const BYTES: u64 = 2;

fn tag(number: u32, wire_type: u64, out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | wire_type, out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a field that is a number. Negative ones are written as their two's complement in 64 bits.
pub(super) fn write_integer(number: u32, value: i64, out: &mut Vec<u8>) {
    tag(number, VARINT, out);
    varint(value.cast_unsigned(), out);
}

/// Appends a field that is a double.
pub(super) fn write_double(number: u32, value: f64, out: &mut Vec<u8>) {
    tag(number, FIXED64, out);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field with bytes, text, or an encoded message.
pub(super) fn write_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    write_length(number, bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Appends the tag and the length of a field, before its bytes.
pub(super) fn write_length(number: u32, length: usize, out: &mut Vec<u8>) {
    tag(number, BYTES, out);
    varint(length as u64, out);
}

/// Appends a message field whose content the function writes. Its length precedes it and is known only afterwards. Most
/// messages are short, so one byte is reserved, and the message is moved if that is not enough.
pub(super) fn write_message<E>(
    number: u32,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    tag(number, BYTES, out);
    let at = out.len();
    out.push(0);
    write(out)?;
    let length = out.len() - at - 1;
    if let Ok(short @ ..0x80) = u8::try_from(length) {
        out[at] = short;
    } else {
        let mut prefix = Vec::with_capacity(10);
        varint(length as u64, &mut prefix);
        out.splice(at..=at, prefix);
    }
    Ok(())
}

/// The value of a field on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wire<'a> {
    /// A variable-length number: an integer or a boolean.
    Varint(u64),
    /// Eight bytes: a double.
    Fixed64(u64),
    /// Length-delimited bytes: text, bytes, messages, packed lists.
    Bytes(&'a [u8]),
    /// Four bytes: a float.
    Fixed32(u32),
}

impl<'a> Wire<'a> {
    /// The bytes.
    pub(super) fn bytes(self) -> Result<&'a [u8], DecodeError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(other.wrong_type()),
        }
    }

    /// The bytes as text.
    pub(super) fn text(self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| DecodeError::new("the text is not UTF-8"))
    }

    /// An integer. Negative ones are written as their two's complement in 64 bits.
    pub(super) fn integer(self) -> Result<i64, DecodeError> {
        match self {
            Self::Varint(number) => Ok(number.cast_signed()),
            other => Err(other.wrong_type()),
        }
    }

    /// True for a value that is omitted without field presence: no bytes, or zero.
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::Varint(0) | Self::Fixed64(0) | Self::Fixed32(0) | Self::Bytes([]))
    }

    /// The error for a value that does not match the schema.
    pub(super) fn wrong_type(self) -> DecodeError {
        let number = match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes(_) => 2,
            Self::Fixed32(_) => 5,
        };
        DecodeError::new(format!("proto: wrong wireType = {number}"))
    }
}

/// Reads a message field by field.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field's number and value; `None` at the end. Skips groups, which are deprecated.
    pub(super) fn field(&mut self) -> Result<Option<(u32, Wire<'a>)>, DecodeError> {
        // Groups nest; counting them is enough to skip them, and needs no stack.
        let mut groups = 0usize;
        while !self.rest.is_empty() {
            let tag = self.varint()?;
            let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
            let number = number.ok_or_else(|| DecodeError::new(format!("proto: illegal tag {tag}")))?;
            let value = match tag & 7 {
                0 => Wire::Varint(self.varint()?),
                1 => Wire::Fixed64(u64::from_le_bytes(self.array()?)),
                2 => Wire::Bytes(self.bytes()?),
                3 => {
                    groups += 1;
                    continue;
                }
                4 if groups > 0 => {
                    groups -= 1;
                    continue;
                }
                5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
                other => return Err(DecodeError::new(format!("proto: illegal wireType {other}"))),
            };
            if groups == 0 {
                return Ok(Some((number, value)));
            }
        }
        if groups == 0 { Ok(None) } else { Err(ends_early()) }
    }

    /// The next number of a packed list; `None` at the end.
    pub(super) fn packed(&mut self) -> Result<Option<u64>, DecodeError> {
        if self.rest.is_empty() { Ok(None) } else { self.varint().map(Some) }
    }

    /// The next double of a packed list; `None` at the end.
    pub(super) fn packed_fixed(&mut self) -> Result<Option<u64>, DecodeError> {
        if self.rest.is_empty() { Ok(None) } else { self.array().map(|bytes| Some(u64::from_le_bytes(bytes))) }
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError::new("proto: integer overflow"))
    }

    fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = usize::try_from(self.varint()?).map_err(|_| ends_early())?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(ends_early)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or_else(ends_early)?;
        self.rest = rest;
        Ok(*bytes)
    }
}

fn ends_early() -> DecodeError {
    DecodeError::new("unexpected EOF")
}
