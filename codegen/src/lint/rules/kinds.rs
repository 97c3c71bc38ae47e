//! Rules about groups, and the names of kinds and resources.
use crate::{
    lint::{Check, Kind, Rule},
    scaffold::names::check_version,
};

/// Kinds that generic clients take for those of `meta.k8s.io`, beside lists.
const RESERVED: [&str; 14] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "CreateOptions",
    "DeleteOptions",
    "GetOptions",
    "ListOptions",
    "PartialObjectMetadata",
    "PatchOptions",
    "Scale",
    "Status",
    "Table",
    "WatchEvent",
];

pub(super) const RULES: &[Rule] = &[
    Check::Kind(reserved_group)
        .error("reserved-group", "API Conventions (introduction)")
        .reason("The empty group, groups of a single word, and groups that end in .k8s.io are for the Kubernetes project alone, which may \
             publish kinds of the same names in them.")
        .bad("group: library.k8s.io")
        .good("group: library.example.com"),
    Check::Kind(kind_case)
        .warning("kind-case", "API Conventions (introduction)")
        .reason("Kinds are CamelCase, so that they differ from names of resources and fields.")
        .bad("names: {kind: book}")
        .good("names: {kind: Book}"),
    Check::Kind(kind_plural)
        .warning("kind-plural", "API Conventions (introduction)")
        .reason("A kind is singular: one object of it is one thing, and its collection is plural.")
        .bad("names: {kind: Books, plural: books, singular: book, listKind: BooksList}")
        .good("names: {kind: Book, plural: books}"),
    Check::Kind(plural_is_singular)
        .warning("plural-is-singular", "API Conventions (introduction)")
        .reason("The collection has a plural name, by which clients tell it from one object.")
        .bad("names: {plural: book}")
        .good("names: {plural: books}"),
    Check::Kind(list_kind_name)
        .error("list-kind-name", "Types (Kinds)")
        .reason("The name of a list kind must end with List: clients recognise lists by it.")
        .bad("names: {listKind: Library}")
        .good("names: {listKind: BookList}"),
    Check::Kind(kind_named_list)
        .error("kind-named-list", "Types (Kinds)")
        .reason("Clients take a kind that ends with List for a collection, and look for its items.")
        .bad("names: {kind: ReadingList, plural: readinglists, singular: readinglist, listKind: ReadingListList}")
        .good("names: {kind: ReadingPlan, plural: readingplans, singular: readingplan, listKind: ReadingPlanList}"),
    Check::Kind(reserved_kind)
        .warning("reserved-kind", "Types (Kinds)")
        .reason("Kinds of meta.k8s.io are part of every group, and clients handle them in their own way: a Status is an error.")
        .bad("names: {kind: Status, plural: statuses, singular: status, listKind: StatusList}")
        .good("names: {kind: LoanStatus, plural: loanstatuses, singular: loanstatus, listKind: LoanStatusList}"),
    Check::Kind(kind_controller)
        .warning("kind-controller", "Naming conventions")
        .reason("FooController is a deprecated name for a kind: an object is the thing that is controlled.")
        .bad("names: {kind: BookController, plural: bookcontrollers, singular: bookcontroller, listKind: BookControllerList}")
        .good("names: {kind: Book}"),
    Check::Kind(version_name)
        .warning("version-name", "Beyond the text: the order of versions in discovery")
        .reason("Clients prefer versions by names such as v1, v1beta2 and v1alpha1; others come after all of these.")
        .bad("version: {name: first}")
        .good("version: {name: v1beta1}"),
];

fn reserved_group(kind: &Kind<'_>) -> Option<String> {
    let group = &kind.definition.shared.group;
    let is_approved =
        |(name, text): &(String, String)| name == "api-approved.kubernetes.io" && text.starts_with("http");
    let is_reserved = !group.contains('.') || group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
    (is_reserved && !kind.is_builtin && !kind.annotations.iter().any(is_approved)).then(|| {
        let group = if group.is_empty() { "the core group" } else { group };
        format!("{group} is reserved for the Kubernetes project: take a subdomain of a domain that you own")
    })
}

fn kind_case(kind: &Kind<'_>) -> Option<String> {
    let name = &kind.definition.shared.names.kind;
    let fits =
        name.starts_with(|first: char| first.is_ascii_uppercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
    (!fits).then(|| format!("the kind {name} is not CamelCase"))
}

fn kind_plural(kind: &Kind<'_>) -> Option<String> {
    let names = &kind.definition.shared.names;
    is_plural(kind).then(|| format!("the kind {} is a plural: name it after one object", names.kind))
}

fn is_plural(kind: &Kind<'_>) -> bool {
    let names = &kind.definition.shared.names;
    names.kind.ends_with('s') && names.kind.to_lowercase() == names.plural
}

fn plural_is_singular(kind: &Kind<'_>) -> Option<String> {
    let names = &kind.definition.shared.names;
    (names.plural == names.singular && !is_plural(kind))
        .then(|| format!("the plural {} is the singular, too: name the collection by a plural", names.plural))
}

fn list_kind_name(kind: &Kind<'_>) -> Option<String> {
    let names = &kind.definition.shared.names;
    (kind.definition.shared.stored && !names.list_kind.ends_with("List"))
        .then(|| format!("the kind of lists is {}: call it {}List", names.list_kind, names.kind))
}

fn kind_named_list(kind: &Kind<'_>) -> Option<String> {
    let name = &kind.definition.shared.names.kind;
    name.ends_with("List")
        .then(|| format!("the kind {name} ends with List, and is no list of objects: give it another name"))
}

fn reserved_kind(kind: &Kind<'_>) -> Option<String> {
    let name = &kind.definition.shared.names.kind;
    (RESERVED.contains(&name.as_str()) && !kind.is_builtin)
        .then(|| format!("{name} is a kind that all groups have: give this one another name"))
}

fn kind_controller(kind: &Kind<'_>) -> Option<String> {
    let name = &kind.definition.shared.names.kind;
    let _ = name.strip_suffix("Controller").filter(|controlled| !controlled.is_empty())?;
    Some(format!("the kind {name} is named after its controller: name it after what is controlled"))
}

fn version_name(kind: &Kind<'_>) -> Option<String> {
    let wrong = kind.definition.versions.iter().find(|version| check_version(&version.name).is_err())?;
    Some(format!("the version {} is not named like v1, v1beta2 or v1alpha1", wrong.name))
}
