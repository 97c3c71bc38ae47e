//! The types of `meta` as messages, and the messages of scalars. As in Go, fields that are not pointers are always written.
use prost::{
    DecodeError, Message,
    bytes::{Buf, BufMut},
    encoding::{DecodeContext, WireType, skip_field},
};

use super::{
    field::{Field, merge_named},
    values::{NumberOrText, Text, Timestamp},
};
use crate::{
    Condition, FieldSelectorRequirement, LabelSelector, LabelSelectorRequirement, ListMeta, LocalObjectReference,
    ManagedFieldsEntry, ObjectMeta, ObjectReference, OwnerReference,
};

/// Implements messages for structs: the fields by number, in order. `always` marks a time that Go holds without a
/// pointer, `retired` a text that only old clients use.
macro_rules! messages {
    ($($ty:ident { $($number:literal $how:ident $($field:ident)?;)* })*) => { $(
        impl Message for $ty {
            fn encode_raw(&self, out: &mut impl BufMut) {
                $(messages!(@write $how self out $number $($field)?);)*
            }

            fn merge_field(
                &mut self,
                number: u32,
                wire: WireType,
                from: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                match number {
                    $($($number => merge_named(
                        Field::merge(&mut self.$field, wire, from, context),
                        stringify!($ty),
                        stringify!($field),
                    ),)?)*
                    _ => skip_field(wire, number, from, context),
                }
            }

            fn encoded_len(&self) -> usize {
                0 $(+ messages!(@length $how self $number $($field)?))*
            }

            fn clear(&mut self) {
                *self = Self::default();
            }
        }

        $crate::message_field!(impl [] for $ty [], Self::default());
    )* };
    (@write plain $of:ident $out:ident $number:literal $field:ident) => { Field::write(&$of.$field, $number, $out) };
    (@write always $of:ident $out:ident $number:literal $field:ident) => {
        Field::write_always(&$of.$field, $number, $out)
    };
    (@write retired $of:ident $out:ident $number:literal) => { Field::write(&String::new(), $number, $out) };
    (@length plain $of:ident $number:literal $field:ident) => { Field::length(&$of.$field, $number) };
    (@length always $of:ident $number:literal $field:ident) => { Field::always_length(&$of.$field, $number) };
    (@length retired $of:ident $number:literal) => { Field::length(&String::new(), $number) };
}

messages! {
    ObjectMeta {
        1 plain name;
        2 plain generate_name;
        3 plain namespace;
        4 retired;
        5 plain uid;
        6 plain resource_version;
        7 plain generation;
        8 always creation_timestamp;
        9 plain deletion_timestamp;
        10 plain deletion_grace_period_seconds;
        11 plain labels;
        12 plain annotations;
        13 plain owner_references;
        14 plain finalizers;
        17 plain managed_fields;
    }
    OwnerReference {
        1 plain kind;
        3 plain name;
        4 plain uid;
        5 plain api_version;
        6 plain controller;
        7 plain block_owner_deletion;
    }
    ManagedFieldsEntry {
        1 plain manager;
        2 plain operation;
        3 plain api_version;
        4 plain time;
        6 plain fields_type;
        7 plain fields_v1;
        8 plain subresource;
    }
    ListMeta {
        1 retired;
        2 plain resource_version;
        3 plain continue_token;
        4 plain remaining_item_count;
    }
    ObjectReference {
        1 plain kind;
        2 plain namespace;
        3 plain name;
        4 plain uid;
        5 plain api_version;
        6 plain resource_version;
        7 plain field_path;
    }
    LocalObjectReference {
        1 plain name;
    }
    LabelSelector {
        1 plain match_labels;
        2 plain match_expressions;
    }
    LabelSelectorRequirement {
        1 plain key;
        2 plain operator;
        3 plain values;
    }
    FieldSelectorRequirement {
        1 plain key;
        2 plain operator;
        3 plain values;
    }
    Condition {
        1 plain kind;
        2 plain status;
        3 plain observed_generation;
        4 always last_transition_time;
        5 plain reason;
        6 plain message;
    }
    Timestamp {
        1 plain seconds;
        2 plain nanos;
    }
    Text {
        1 plain text;
    }
    NumberOrText {
        1 plain is_text;
        2 plain number;
        3 plain text;
    }
}
