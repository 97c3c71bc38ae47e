//! Rules about Protobuf definitions: messages, and the numbers and types of their fields.
use kindsmith_proto::{Field, Label, Message, Reservation};

use crate::check::{
    message::MessageChange,
    rule::{
        Check, Notes,
        Party::{Protobuf, Stored},
        Rule, source,
    },
};

pub(super) static RULES: [Rule; 11] = [
    Check::Message(|change, notes| notes.when(change.new.is_none(), "removed"))
        .breaking("message-removed", &[Protobuf], source::PROTOBUF)
        .about("A message is removed from the Protobuf definitions.")
        .harm("clients that are generated from the definitions no longer build, and its kind is answered with 406")
        .instead("Keep the message until the version is removed."),
    Check::Message(|change, notes| notes.when(change.old.is_none(), "added"))
        .compatible("message-added", "A message is added to the Protobuf definitions."),
    Check::Message(|change, notes| {
        for (old, new) in same_name(change) {
            if old.number != new.number {
                notes.below(path(new), format!("the number was {}, is {}", old.number, new.number));
            }
        }
    })
    .breaking("number-changed", &[Protobuf, Stored], source::PROTOBUF)
    .about("A field of a message has another number.")
    .harm("clients of the old definition do not find the field, and write it where the new one does not read it")
    .instead("Give the field its number again."),
    Check::Message(|change, notes| {
        let Some((old, new)) = change.both() else { return };
        for field in &new.fields {
            let before = old.fields.iter().find(|before| before.number == field.number);
            if let Some(before) = before.filter(|before| before.name != field.name) {
                notes.below(path(field), format!("has the number {}, which was that of {}", field.number, before.name));
            }
        }
    })
    .breaking("number-reused", &[Protobuf, Stored], source::PROTOBUF)
    .about("A field of a message has the number that another field had.")
    .harm("what clients of the old definition write is read as the other field, without an error")
    .instead("Give the field a number that was never used."),
    Check::Message(|change, notes| {
        let Some((old, new)) = change.both() else { return };
        for field in &new.fields {
            if old.reserves(field.number).is_some() {
                notes.below(path(field), format!("has the number {}, which was reserved", field.number));
            } else if old.reserves_name(&field.name).is_some() {
                notes.below(path(field), "has a name that was reserved");
            }
        }
    })
    .breaking("reserved-number-used", &[Protobuf, Stored], source::PROTOBUF)
    .about("A field of a message has a number or a name that was reserved.")
    .harm("what clients of older definitions write is read as another field, without an error")
    .instead("Give the field a number and a name that were never used."),
    Check::Message(|change, notes| {
        let Some((old, new)) = change.both() else { return };
        let is_gone = |field: &&Field| {
            let is_used = new.fields.iter().any(|other| other.name == field.name || other.number == field.number);
            !is_used && new.reserves(field.number).is_none()
        };
        for field in old.fields.iter().filter(is_gone) {
            notes.below(path(field), format!("removed, and its number {} is not reserved", field.number));
        }
    })
    .warning("number-not-reserved", &[Protobuf], source::PROTOBUF)
    .about("A field of a message is removed, and its number is not reserved.")
    .harm("a later field may get the number, and is then read from what clients of the old definition write")
    .instead("Reserve the number: `reserved 3;`."),
    Check::Message(reservations)
        .warning("reservation-removed", &[Protobuf], source::PROTOBUF)
        .about("A number of a message is no longer reserved.")
        .harm("a later field may get the number, and is then read from what clients of older definitions write")
        .instead("Keep the number reserved."),
    Check::Message(|change, notes| {
        let Some((old, new)) = change.both() else { return };
        let is_new = |field: &&Field| {
            let is_known = old.fields.iter().any(|other| other.name == field.name || other.number == field.number);
            !is_known && old.reserves(field.number).is_none() && old.reserves_name(&field.name).is_none()
        };
        for field in new.fields.iter().filter(is_new) {
            notes.below(path(field), format!("added, with the number {}", field.number));
        }
    })
    .compatible("number-added", "A field with a new number is added to a message."),
    Check::Message(|change, notes| types(change, false, notes))
        .breaking("wire-type-changed", &[Protobuf, Stored], source::PROTOBUF)
        .about("A field of a message has another type on the wire.")
        .harm("clients of the old definition do not decode the message")
        .instead("Add a field of another name and number."),
    Check::Message(|change, notes| types(change, true, notes))
        .warning("wire-integer-changed", &[Protobuf], source::PROTOBUF)
        .about("A field of a message has another type of integers, which is written in the same way.")
        .harm("clients of the old definition cut off numbers that do not fit their type")
        .instead("Keep the type, or keep the numbers in its range."),
    Check::Message(|change, notes| {
        for (old, new) in change.fields() {
            match (&old.label, &new.label) {
                (Label::Required, Label::Required) => {}
                (Label::Required, _) => notes.below(path(new), "is no longer required"),
                (_, Label::Required) => notes.below(path(new), "is required"),
                _ => {}
            }
        }
    })
    .breaking("wire-required-changed", &[Protobuf, Stored], source::PROTOBUF)
    .about("A field of a message is required, or is no longer required.")
    .harm("messages without it are not decoded, by the server or by clients of the old definition")
    .instead("Keep the label; requirements belong into the schema."),
];

fn path(field: &Field) -> String {
    format!(".{}", field.name)
}

/// The fields of the same name.
fn same_name<'m>(change: &'m MessageChange<'_>) -> Vec<(&'m Field, &'m Field)> {
    let Some((old, new)) = change.both() else { return Vec::new() };
    let of = |message: &'m Message, name: &str| message.fields.iter().find(|field| field.name == name);
    new.fields.iter().filter_map(|field| Some((of(old, &field.name)?, field))).collect()
}

fn types(change: &MessageChange<'_>, is_integer: bool, notes: &mut Notes) {
    const INTEGERS: [&str; 5] = ["bool", "int32", "int64", "uint32", "uint64"];
    for (old, new) in change.fields() {
        let is_repeated = |field: &Field| matches!(field.label, Label::Repeated | Label::Map(_));
        let is_both =
            [old, new].iter().all(|field| INTEGERS.contains(&&*field.kind)) && is_repeated(old) == is_repeated(new);
        if old.kind != new.kind && is_both && is_integer || !is_both && !is_integer && !change.is_same_wire(old, new) {
            notes.below(path(new), format!("the type was {}, is {}", old.declared(), new.declared()));
        }
    }
}

fn reservations(change: &MessageChange<'_>, notes: &mut Notes) {
    let Some((old, new)) = change.both() else { return };
    for reserved in &old.reserved {
        let Reservation::Numbers(span, _) = reserved else { continue };
        // The numbers of a range are reserved or not together, except for a range that is split.
        let ends = [*span.start(), *span.end()];
        let is_free =
            |number: &&u32| new.reserves(**number).is_none() && new.fields.iter().all(|field| field.number != **number);
        if let Some(number) = ends.iter().find(is_free) {
            notes.here(format!("the number {number} is no longer reserved"));
        }
    }
}
