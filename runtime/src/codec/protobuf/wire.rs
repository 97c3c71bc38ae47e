//! The Protobuf wire format: a message as a run of numbered fields. Knows no schema.
use super::DecodeError;

/// A field's value as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wire<'a> {
    /// A number of variable length: integers and booleans.
    Varint(u64),
    /// Eight bytes: a double.
    Fixed64(u64),
    /// Bytes with their length: text, bytes, messages, packed lists.
    Bytes(&'a [u8]),
    /// Four bytes: a float.
    Fixed32(u32),
}

impl<'a> Wire<'a> {
    /// The bytes.
    pub fn bytes(self) -> Result<&'a [u8], DecodeError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(other.wrong_type()),
        }
    }

    /// Bytes that are text.
    pub fn text(self) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| DecodeError::new("the text is not UTF-8"))
    }

    /// An integer. Negative ones are written as their two's complement in 64 bits.
    pub fn integer(self) -> Result<i64, DecodeError> {
        match self {
            Self::Varint(number) => Ok(number.cast_signed()),
            other => Err(other.wrong_type()),
        }
    }

    /// The error for a value that cannot be what the schema wants.
    pub fn wrong_type(self) -> DecodeError {
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
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field's number and value; `None` at the end. Groups, which are long deprecated, are skipped.
    pub fn field(&mut self) -> Result<Option<(u32, Wire<'a>)>, DecodeError> {
        // Groups nest; a count is enough to skip them, and costs no stack.
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
    pub fn packed(&mut self) -> Result<Option<u64>, DecodeError> {
        if self.rest.is_empty() { Ok(None) } else { self.varint().map(Some) }
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
