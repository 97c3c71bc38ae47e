//! Rules about how lists, maps and structs merge.
use kindsmith::schema::{ListType, Type};

use super::listed;
use crate::check::rule::{
    Check, Field,
    Level::{Breaking, Warning},
    Party::{Appliers, Json, Kubectl, Stored},
    Rule, source,
};

pub(super) static RULES: [Rule; 7] = [
    Rule {
        name: "list-became-granular",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "A list that was atomic is a set or a map.",
        harm: "items that are there twice are refused, and the owner of the whole list owns no item, so that items which \
               it stops applying stay",
        instead: "Choose the type of a list before it is released, or add a list of another name.",
        source: source::TOPOLOGY,
        check: Check::Field(|field, notes| {
            if let (ListType::Atomic, ListType::Set | ListType::Map(_)) = lists(field) {
                notes.here(format!("the list was atomic, is {}", shown(&field.new.list)));
            }
        }),
    },
    Rule {
        name: "list-became-atomic",
        level: Breaking,
        breaks: &[Appliers],
        about: "A list that was a set or a map is atomic.",
        harm: "managers that apply items of their own now apply the whole list, and conflict or remove each other's items",
        instead: "Keep the type of the list.",
        source: source::TOPOLOGY,
        check: Check::Field(|field, notes| {
            if let (ListType::Set | ListType::Map(_), ListType::Atomic) = lists(field) {
                notes.here(format!("the list was {}, is atomic", shown(&field.old.list)));
            }
        }),
    },
    Rule {
        name: "list-identity-changed",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "The items of a list are identified by something else.",
        harm: "owned items are no longer found, so managers lose them, and items that are now equal are refused",
        instead: "Keep the keys, or add a list of another name.",
        source: source::TOPOLOGY,
        check: Check::Field(|field, notes| match lists(field) {
            (old @ (ListType::Set | ListType::Map(_)), new @ (ListType::Set | ListType::Map(_)))
                if !is_same(old, new) =>
            {
                notes.here(format!("the list was {}, is {}", shown(old), shown(new)));
            }
            _ => {}
        }),
    },
    Rule {
        name: "map-became-granular",
        level: Warning,
        breaks: &[Appliers],
        about: "A map or struct that was atomic has entries of their own owners.",
        harm: "the owner of the whole owns no entry, so that entries which it stops applying stay",
        instead: "Choose this before the field is released.",
        source: source::TOPOLOGY,
        check: Check::Field(|field, notes| {
            if is_object(field) && field.old.map_atomic && !field.new.map_atomic {
                notes.here("was atomic, is granular");
            }
        }),
    },
    Rule {
        name: "map-became-atomic",
        level: Breaking,
        breaks: &[Appliers],
        about: "A map or struct is replaced as a whole.",
        harm: "managers that apply entries of their own now apply the whole, and conflict or remove each other's entries",
        instead: "Keep it granular.",
        source: source::TOPOLOGY,
        check: Check::Field(|field, notes| {
            if is_object(field) && !field.old.map_atomic && field.new.map_atomic {
                notes.here("was granular, is atomic");
            }
        }),
    },
    Rule {
        name: "patch-strategy-changed",
        level: Breaking,
        breaks: &[Json, Kubectl],
        about: "Strategic merge patches merge a value in another way.",
        harm: "a patch that added an item replaces the list, or the other way round",
        instead: "Keep the strategy and its key.",
        source: source::PATCH,
        check: Check::Field(|field, notes| {
            if field.old.kind == field.new.kind && field.old.patch != field.new.patch {
                notes.here("strategic merge patches merge it in another way");
            }
        }),
    },
    Rule::compatible(
        "list-keys-reordered",
        "The keys of the items of a list are given in another order.",
        Check::Field(|field, notes| match lists(field) {
            (old @ ListType::Map(_), new @ ListType::Map(_)) if old != new && is_same(old, new) => {
                notes.here(format!("the list was {}, is {}", shown(old), shown(new)));
            }
            _ => {}
        }),
    ),
];

fn lists<'s>(field: &'s Field<'_>) -> (&'s ListType, &'s ListType) {
    let is_list = field.old.kind == Type::Array && field.new.kind == Type::Array;
    if is_list { (&field.old.list, &field.new.list) } else { (&ListType::Atomic, &ListType::Atomic) }
}

fn is_same(old: &ListType, new: &ListType) -> bool {
    let sorted = |list: &ListType| match list {
        ListType::Map(keys) => {
            let mut keys = keys.clone();
            keys.sort();
            ListType::Map(keys)
        }
        other => other.clone(),
    };
    sorted(old) == sorted(new)
}

fn is_object(field: &Field<'_>) -> bool {
    field.old.kind == Type::Object && field.new.kind == Type::Object
}

fn shown(list: &ListType) -> String {
    match list {
        ListType::Atomic => "atomic".to_owned(),
        ListType::Set => "a set".to_owned(),
        ListType::Map(keys) => format!("a map by {}", listed(keys)),
    }
}
