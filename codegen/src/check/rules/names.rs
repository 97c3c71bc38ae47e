//! Rules about the names of a resource.
use crate::check::rule::{
    Check, Notes,
    Party::{Json, Kubectl, Stored, Watchers},
    Presence, Rule, only_in, source,
};

pub(super) static RULES: [Rule; 8] = [
    Check::Kind(|kind, notes| notes.differ("the plural", &kind.old.shared.names.plural, &kind.new.shared.names.plural))
        .breaking("plural-changed", &[Json, Stored, Watchers, Kubectl], source::URIS)
        .about("The plural name of a resource changes.")
        .harm("all paths, the roles that name the resource and the keys of stored objects change")
        .instead("Add a kind of the new names, and deprecate the old one."),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.shared.names);
        // The lists of a renamed kind are renamed with it.
        if old.kind == new.kind {
            notes.differ("the kind of lists", &old.list_kind, &new.list_kind);
        }
    })
    .breaking("list-kind-changed", &[Json, Watchers], source::KINDS)
    .about("The kind of lists changes.")
    .harm("clients that check the kind of a list refuse it")
    .instead("Keep the name of lists."),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.shared.names);
        if old.kind == new.kind && !new.short_names.contains(&old.singular) {
            notes.differ("the singular", &old.singular, &new.singular);
        }
    })
    .warning("singular-changed", &[Kubectl], source::KINDS)
    .about("The singular name of a resource changes.")
    .harm("scripts that use the old name with kubectl fail")
    .instead("Keep the old name as a short name."),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.shared.names);
        let mut gone = only_in(&old.short_names, &new.short_names);
        gone.retain(|name| **name != new.singular);
        notes.names("without the short names", &gone);
    })
    .warning("short-name-removed", &[Kubectl], source::KINDS)
    .about("A short name is removed.")
    .harm("scripts that use it with kubectl fail")
    .instead("Keep the short name."),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.shared.names.short_names);
        notes.names("with the short names", &only_in(new, old));
    })
    .compatible("short-name-added", "A short name is added."),
    Check::Presence(clash)
        .warning("name-clash", &[Kubectl], source::KINDS)
        .about("A new name of a resource is one that another resource has.")
        .harm("kubectl takes the name for that of one of them, which may now be the other one")
        .instead("Use another short name."),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.shared.names.categories);
        notes.names("no longer in the categories", &only_in(old, new));
    })
    .warning("category-removed", &[Kubectl], source::KINDS)
    .about("A resource leaves a category.")
    .harm("kubectl get with the category no longer shows its objects")
    .instead("Keep the category."),
    Check::Kind(|kind, notes| {
        let [old, new] = [kind.old, kind.new].map(|of| &of.shared.names.categories);
        notes.names("now in the categories", &only_in(new, old));
    })
    .compatible("category-added", "A resource joins a category."),
];

fn clash(presence: &Presence<'_>, notes: &mut Notes) {
    let Some(new) = presence.new else { return };
    let names = |declaration: &kindsmith_codegen::ResourceDeclaration| {
        let names = &declaration.definition.shared.names;
        [&names.plural, &names.singular].into_iter().chain(&names.short_names).cloned().collect::<Vec<_>>()
    };
    let before = presence.old.map(names).unwrap_or_default();
    for name in names(new).into_iter().filter(|name| !before.contains(name)) {
        let resource = new.definition.shared.group_resource();
        let others = presence.all.new.iter().filter(|other| other.definition.shared.group_resource() != resource);
        // The same kind in another group has the same names on purpose.
        let mut others = others.filter(|other| other.definition.shared.names.kind != new.definition.shared.names.kind);
        if let Some(other) = others.find(|other| names(other).contains(&name)) {
            notes.here(format!("its new name {name:?} is also that of {}", other.definition.shared.group_resource()));
        }
    }
}
