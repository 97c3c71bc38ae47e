//! Options, boxes, lists and maps.
use std::{
    collections::{BTreeMap, HashMap},
    hash::BuildHasher,
};

use prost::{
    DecodeError,
    bytes::{Buf, BufMut},
    encoding::{DecodeContext, WireType},
};

use super::field::{Field, merge_nested, nested_length, write_nested};

impl<T: Field> Field for Option<T> {
    fn empty() -> Self {
        None
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        if let Some(value) = self {
            value.write(number, out);
        }
    }

    fn length(&self, number: u32) -> usize {
        self.as_ref().map_or(0, |value| value.length(number))
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        T::merge_option(self, wire, from, context)
    }

    fn write_always(&self, number: u32, out: &mut impl BufMut) {
        match self {
            Some(value) => value.write(number, out),
            None => T::write_absent(number, out),
        }
    }

    fn always_length(&self, number: u32) -> usize {
        self.as_ref().map_or_else(|| T::absent_length(number), |value| value.length(number))
    }
}

impl<T: Field> Field for Box<T> {
    fn empty() -> Self {
        Self::new(T::empty())
    }

    fn write(&self, number: u32, out: &mut impl BufMut) {
        T::write(self, number, out);
    }

    fn length(&self, number: u32) -> usize {
        T::length(self, number)
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        T::merge(self, wire, from, context)
    }

    fn write_item(&self, number: u32, out: &mut impl BufMut) {
        T::write_item(self, number, out);
    }

    fn item_length(&self, number: u32) -> usize {
        T::item_length(self, number)
    }

    fn merge_item(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        T::merge_item(self, wire, from, context)
    }
}

/// The common part of lists and maps. As items they are wrapped in a message as its first field, because Protobuf has
/// no nested lists.
macro_rules! wrapped_as_items {
    () => {
        fn empty() -> Self {
            Self::default()
        }

        fn write_item(&self, number: u32, out: &mut impl BufMut) {
            write_nested(number, self.length(1), out, |out| self.write(1, out));
        }

        fn item_length(&self, number: u32) -> usize {
            nested_length(number, self.length(1))
        }

        fn merge_item(
            &mut self,
            wire: WireType,
            from: &mut impl Buf,
            context: DecodeContext,
        ) -> Result<(), DecodeError> {
            merge_nested(self, wire, from, context, |value, number, wire, from, context| {
                if number == 1 {
                    Field::merge(value, wire, from, context)?;
                }
                Ok(number == 1)
            })
        }
    };
}

impl<T: Field> Field for Vec<T> {
    wrapped_as_items!();

    fn write(&self, number: u32, out: &mut impl BufMut) {
        for item in self {
            item.write_item(number, out);
        }
    }

    fn length(&self, number: u32) -> usize {
        self.iter().map(|item| item.item_length(number)).sum()
    }

    fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
        T::push_item(self, wire, from, context)
    }
}

fn entry_content<T: Field>(key: &String, value: &T) -> usize {
    key.length(1) + value.item_length(2)
}

fn write_entry<T: Field>(number: u32, key: &String, value: &T, out: &mut impl BufMut) {
    write_nested(number, entry_content(key, value), out, |out| {
        key.write(1, out);
        value.write_item(2, out);
    });
}

/// An entry: a message of a key and a value, either of which is omitted if it is empty.
fn merge_entry<T: Field>(
    wire: WireType,
    from: &mut impl Buf,
    context: DecodeContext,
) -> Result<(String, T), DecodeError> {
    let mut entry = (String::new(), T::empty());
    merge_nested(&mut entry, wire, from, context, |(key, value), number, wire, from, context| {
        match number {
            1 => key.merge(wire, from, context)?,
            2 => value.merge_item(wire, from, context)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(entry)
}

/// The common part of both kinds of maps.
macro_rules! map_of_entries {
    () => {
        wrapped_as_items!();

        fn length(&self, number: u32) -> usize {
            self.iter().map(|(key, value)| nested_length(number, entry_content(key, value))).sum()
        }

        fn merge(&mut self, wire: WireType, from: &mut impl Buf, context: DecodeContext) -> Result<(), DecodeError> {
            let (key, value) = merge_entry(wire, from, context)?;
            self.insert(key, value);
            Ok(())
        }
    };
}

impl<T: Field> Field for BTreeMap<String, T> {
    map_of_entries!();

    fn write(&self, number: u32, out: &mut impl BufMut) {
        for (key, value) in self {
            write_entry(number, key, value, out);
        }
    }
}

impl<T: Field, S: BuildHasher + Default> Field for HashMap<String, T, S> {
    map_of_entries!();

    /// In key order, so that equal maps have equal bytes.
    fn write(&self, number: u32, out: &mut impl BufMut) {
        let sorted: BTreeMap<&String, &T> = self.iter().collect();
        for (key, value) in sorted {
            write_entry(number, key, value, out);
        }
    }
}
