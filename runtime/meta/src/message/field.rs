//! The trait of types that a message field can hold.
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
    label = "this type cannot be part of a Protobuf message",
    note = "derive it: `#[derive(kindsmith::Message)]`, with `#[api(proto = …)]` on all fields"
)]
/// A type that can be part of a message. The derive `Message` implements it for declared types; other
/// types that kinds may use implement it here.
pub trait Field: Sized {
    /// The initial value for reading.
    fn empty() -> Self;

    /// Writes the field: never, once, or once per list item.
    fn write(&self, number: u32, out: &mut impl BufMut);

    /// The number of bytes that [`write`](Self::write) writes.
    fn length(&self, number: u32) -> usize;

    /// Adds an occurrence of the field to the earlier ones.
    ///
    /// # Errors
    /// If the bytes are not a valid value.
    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError>;

    /// Writes the zero value of a required field that is not set.
    fn write_absent(number: u32, out: &mut impl BufMut) {
        Self::empty().write(number, out);
    }

    /// The number of bytes that [`write_absent`](Self::write_absent) writes.
    fn absent_length(number: u32) -> usize {
        Self::empty().length(number)
    }

    /// Writes a required field, set or not.
    fn write_always(&self, number: u32, out: &mut impl BufMut) {
        self.write(number, out);
    }

    /// The number of bytes that [`write_always`](Self::write_always) writes.
    fn always_length(&self, number: u32) -> usize {
        self.length(number)
    }

    /// Like [`merge`](Self::merge), for an optional value.
    ///
    /// # Errors
    /// If the bytes are not a valid value.
    fn merge_option(
        slot: &mut Option<Self>,
        wire: WireType,
        from: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        slot.get_or_insert_with(Self::empty).merge(wire, from, context)
    }

    /// Writes the value as a list item or a map value: always exactly once.
    fn write_item(&self, number: u32, out: &mut impl BufMut) {
        self.write(number, out);
    }

    /// The number of bytes that [`write_item`](Self::write_item) writes.
    fn item_length(&self, number: u32) -> usize {
        self.length(number)
    }

    /// Reads a map value.
    ///
    /// # Errors
    /// If the bytes are not a valid value.
    fn merge_item(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        self.merge(wire, from, context)
    }

    /// Reads a list item, or several if they are packed.
    ///
    /// # Errors
    /// If the bytes are not a valid value.
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

/// Writes a nested message of known length whose content `write` writes. For derived code.
#[doc(hidden)]
pub fn write_nested<B: BufMut>(number: u32, length: usize, out: &mut B, write: impl FnOnce(&mut B)) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(length as u64, out);
    write(out);
}

/// The number of bytes that a message of this length takes as a field. For derived code.
#[doc(hidden)]
pub fn nested_length(number: u32, length: usize) -> usize {
    key_len(number) + encoded_len_varint(length as u64) + length
}

/// Reads a nested message with a function that returns whether it knows a field number. For derived code.
///
/// # Errors
/// If the bytes are not a valid message, or if the function fails.
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

/// Adds the field's name to an error. For derived code.
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

/// Implements [`Field`] for a message: its type with its generics, and its initial value. For derived code.
#[doc(hidden)]
#[macro_export]
macro_rules! message_field {
    (impl [$($generics:tt)*] for $ty:ty [$($clause:tt)*], $empty:expr) => {
        #[diagnostic::do_not_recommend]
        impl $($generics)* $crate::message::Field for $ty $($clause)* {
            fn empty() -> Self {
                $empty
            }

            fn write(&self, number: u32, out: &mut impl $crate::message::prost::bytes::BufMut) {
                $crate::message::nested::encode(number, self, out);
            }

            fn length(&self, number: u32) -> usize {
                $crate::message::nested::encoded_len(number, self)
            }

            fn merge(
                &mut self,
                wire: $crate::message::prost::encoding::WireType,
                from: &mut impl $crate::message::prost::bytes::Buf,
                context: $crate::message::prost::encoding::DecodeContext,
            ) -> ::core::result::Result<(), $crate::message::prost::DecodeError> {
                $crate::message::nested::merge(wire, self, from, context)
            }
        }
    };
}

/// The error for a value that Protobuf can represent and the type cannot.
pub(super) fn invalid(why: impl std::fmt::Display) -> DecodeError {
    #[expect(deprecated, reason = "prost has no other way to say what is wrong with a value")]
    DecodeError::new(why.to_string())
}
