//! What a field of a message can hold.
use prost::{
    DecodeError,
    bytes::{Buf, BufMut},
    encoding::{
        DecodeContext, WireType, check_wire_type, decode_key, encode_key, encode_varint, encoded_len_varint, key_len,
        merge_loop, skip_field,
    },
};

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a message",
    label = "this type is no part of a Protobuf message",
    note = "derive it: `#[derive(kindsmith::Message)]`, with `#[api(proto = …)]` on all fields"
)]
/// A type that can be part of a message. [`Message`](derive@crate::Message) implements it; it is implemented here for what
/// else kinds may hold.
pub trait Field: Sized {
    /// The value before anything of it has been read.
    fn empty() -> Self;

    /// Writes the field: nothing, once, or as often as a list has items.
    fn write(&self, number: u32, out: &mut impl BufMut);

    /// How many bytes [`write`](Self::write) writes.
    fn length(&self, number: u32) -> usize;

    /// Adds an occurrence of the field to what earlier ones said.
    ///
    /// # Errors
    /// Bytes that are no such value.
    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError>;

    /// Writes the zero of a field that is not set, and has to be there.
    fn write_absent(number: u32, out: &mut impl BufMut) {
        Self::empty().write(number, out);
    }

    /// How many bytes [`write_absent`](Self::write_absent) writes.
    fn absent_length(number: u32) -> usize {
        Self::empty().length(number)
    }

    /// Writes a field that has to be there, set or not.
    fn write_always(&self, number: u32, out: &mut impl BufMut) {
        self.write(number, out);
    }

    /// How many bytes [`write_always`](Self::write_always) writes.
    fn always_length(&self, number: u32) -> usize {
        self.length(number)
    }

    /// As [`merge`](Self::merge), for a value that may be absent.
    ///
    /// # Errors
    /// Bytes that are no such value.
    fn merge_option(
        slot: &mut Option<Self>,
        wire: WireType,
        from: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        slot.get_or_insert_with(Self::empty).merge(wire, from, context)
    }

    /// Writes the value as an item of a list or a value of a map: always, and once.
    fn write_item(&self, number: u32, out: &mut impl BufMut) {
        self.write(number, out);
    }

    /// How many bytes [`write_item`](Self::write_item) writes.
    fn item_length(&self, number: u32) -> usize {
        self.length(number)
    }

    /// Reads a value of a map.
    ///
    /// # Errors
    /// Bytes that are no such value.
    fn merge_item(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        self.merge(wire, from, context)
    }

    /// Reads an item of a list, or several where they are packed.
    ///
    /// # Errors
    /// Bytes that are no such value.
    fn push_item(
        list: &mut Vec<Self>,
        wire: WireType,
        from: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        let mut item = Self::empty();
        item.merge_item(wire, from, context)?;
        list.push(item);
        Ok(())
    }
}

/// Writes a message of what a function writes, whose length is known. For derived code.
#[doc(hidden)]
pub fn write_nested<B: BufMut>(number: u32, length: usize, out: &mut B, write: impl FnOnce(&mut B)) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(length as u64, out);
    write(out);
}

/// How many bytes a message of this length takes as a field. For derived code.
#[doc(hidden)]
pub fn nested_length(number: u32, length: usize) -> usize {
    key_len(number) + encoded_len_varint(length as u64) + length
}

/// A message in a message, whose fields are read by a function that says whether it knows the number. For derived code.
///
/// # Errors
/// Bytes that are no message, and what the function says.
#[doc(hidden)]
pub fn merge_nested<T, B: Buf>(
    value: &mut T,
    wire: WireType,
    from: &mut B,
    context: DecodeContext,
    mut known: impl FnMut(&mut T, u32, WireType, &mut B, DecodeContext) -> Result<bool, DecodeError>,
) -> Result<(), DecodeError> {
    check_wire_type(WireType::LengthDelimited, wire)?;
    merge_loop(value, from, context, |value, from, context| {
        let (number, wire) = decode_key(from)?;
        if known(value, number, wire, from, context.clone())? {
            return Ok(());
        }
        skip_field(wire, number, from, context)
    })
}

/// An error with the field that it is about. For derived code.
#[doc(hidden)]
pub fn merge_named(
    merged: Result<(), DecodeError>,
    message: &'static str,
    field: &'static str,
) -> Result<(), DecodeError> {
    merged.map_err(|mut error| {
        error.push(message, field);
        error
    })
}

/// Messages as fields. For derived code.
#[doc(hidden)]
pub mod nested {
    pub use prost::encoding::message::{encode, encoded_len, merge};
}

/// The error for a value that Protobuf can hold and the type cannot.
pub(super) fn invalid(why: impl std::fmt::Display) -> DecodeError {
    #[expect(deprecated, reason = "prost has no other way to say what is wrong with a value")]
    DecodeError::new(why.to_string())
}
