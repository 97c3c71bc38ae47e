//! Rules about how lists, maps and structs merge.
use kindsmith::schema::{ListType, Type};
use kindsmith_model::schema::At;

use crate::check::rule::{
    Check, Field,
    Party::{Appliers, Json, Kubectl, Stored},
    Rule, listed, source,
};

pub(super) static RULES: [Rule; 7] = [
    Check::Field(|field, notes| notes.some(list_changed(field, ListChange::Granular)))
        .breaking("list-became-granular", &[Json, Stored, Appliers], source::TOPOLOGY)
        .about("A list that was atomic is a set or a map.")
        .harm(
            "items that are there twice are refused, and the owner of the whole list owns no item, so that items which \
         it stops applying stay",
        )
        .instead("Choose the type of a list before it is released, or add a list of another name."),
    Check::Field(|field, notes| notes.some(list_changed(field, ListChange::Atomic)))
        .breaking("list-became-atomic", &[Appliers], source::TOPOLOGY)
        .about("A list that was a set or a map is atomic.")
        .harm(
            "managers that apply items of their own now apply the whole list, and conflict or remove each other's \
             items",
        )
        .instead("Keep the type of the list."),
    Check::Field(|field, notes| notes.some(list_changed(field, ListChange::Identity)))
        .breaking("list-identity-changed", &[Json, Stored, Appliers], source::TOPOLOGY)
        .about("The items of a list are identified by something else.")
        .harm("owned items are no longer found, so managers lose them, and items that are now equal are refused")
        .instead("Keep the keys, or add a list of another name."),
    Check::Unset(is_atomic_map, "was atomic, is granular")
        .warning("map-became-granular", &[Appliers], source::TOPOLOGY)
        .about("A map or struct that was atomic has entries of their own owners.")
        .harm("the owner of the whole owns no entry, so that entries which it stops applying stay")
        .instead("Choose this before the field is released."),
    Check::Set(is_atomic_map, "was granular, is atomic")
        .breaking("map-became-atomic", &[Appliers], source::TOPOLOGY)
        .about("A map or struct is replaced as a whole.")
        .harm(
            "managers that apply entries of their own now apply the whole, and conflict or remove each other's entries",
        )
        .instead("Keep it granular."),
    Check::Field(|field, notes| {
        let is_found = field.has_same_type() && field.old.patch != field.new.patch;
        notes.when(is_found, "strategic merge patches merge it in another way");
    })
    .breaking("patch-strategy-changed", &[Json, Kubectl], source::PATCH)
    .about("Strategic merge patches merge a value in another way.")
    .harm("a patch that added an item replaces the list, or the other way round")
    .instead("Keep the strategy and its key."),
    Check::Field(|field, notes| notes.some(list_changed(field, ListChange::Order)))
        .compatible("list-keys-reordered", "The keys of the items of a list are given in another order."),
];

/// Maps and structs are replaced as a whole.
fn is_atomic_map(node: At<'_>) -> bool {
    node.kind == Type::Object && node.map_atomic
}

/// What another type of a list changes.
#[derive(Clone, Copy, PartialEq)]
enum ListChange {
    /// Items are identified, and were not.
    Granular,
    /// Items are no longer identified.
    Atomic,
    /// Items are identified by something else.
    Identity,
    /// The keys are given in another order.
    Order,
}

fn list_changed(field: &Field<'_>, change: ListChange) -> Option<String> {
    let (old, new) = (&field.old.list, &field.new.list);
    let found = match (old, new) {
        _ if !field.is_of(Type::Array) || old == new => return None,
        (ListType::Atomic, _) => ListChange::Granular,
        (_, ListType::Atomic) => ListChange::Atomic,
        _ if sorted(old) == sorted(new) => ListChange::Order,
        _ => ListChange::Identity,
    };
    (found == change).then(|| format!("the list was {}, is {}", shown(old), shown(new)))
}

fn sorted(list: &ListType) -> ListType {
    let mut list = list.clone();
    if let ListType::Map(keys) = &mut list {
        keys.sort();
    }
    list
}

fn shown(list: &ListType) -> String {
    match list {
        ListType::Atomic => "atomic".to_owned(),
        ListType::Set => "a set".to_owned(),
        ListType::Map(keys) => format!("a map by {}", listed(keys)),
    }
}
