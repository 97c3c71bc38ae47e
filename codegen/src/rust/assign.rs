//! Names of types: as short as they can be, and each once in a module.
use std::collections::BTreeSet;

use super::{
    Options,
    model::{Model, Module, TypeDeclaration},
    names,
};

/// Names in scope that no type may have, and those by which the derive knows types that no kind may have.
const RESERVED: [&str; 43] = [
    "ApiType",
    "BTreeMap",
    "BTreeSet",
    "Box",
    "ByteString",
    "Clone",
    "Condition",
    "Copy",
    "DateTime",
    "Debug",
    "Default",
    "Deserialize",
    "Duration",
    "Eq",
    "Err",
    "From",
    "HashMap",
    "HashSet",
    "Instant",
    "IntOrString",
    "Iterator",
    "LabelSelector",
    "MicroTime",
    "None",
    "ObjectMeta",
    "ObjectReference",
    "Ok",
    "Option",
    "PartialEq",
    "Quantity",
    "RawJson",
    "Resource",
    "Result",
    "Serialize",
    "Some",
    "String",
    "SystemTime",
    "Time",
    "Timestamp",
    "ToString",
    "Value",
    "Vec",
    "VecDeque",
];

/// Properties that say little without the one around them.
const VAGUE: [&str; 14] = [
    "action", "config", "from", "kind", "mode", "name", "operator", "options", "policy", "reason", "state", "status",
    "type", "value",
];

/// Names all types of a model.
pub(super) fn names(model: &mut Model, options: &Options) {
    let mut roots: Vec<(String, String)> = Vec::new();
    for module in &model.modules {
        let mut taken = BTreeSet::new();
        for kind in &module.kinds {
            let name = names::of_kind(&kind.shared.names.kind);
            let is_reserved = RESERVED.contains(&&*name);
            let name = names::free(&if is_reserved { format!("{name}Resource") } else { name }, &mut taken);
            roots.push((module.folder.clone(), name.clone()));
            let root = &mut model.types[kind.root];
            (root.name, root.plain_name) = (options.renamed(&name), name);
        }
    }
    for index in 0..model.modules.len() {
        for id in model.modules[index].types.clone() {
            if model.types[id].is_root {
                continue;
            }
            let mut taken = taken(model, id, &roots);
            let declaration = &mut model.types[id];
            let candidates = candidates(declaration);
            let free = candidates.iter().find(|name| !taken.contains(*name));
            let name = free.map_or_else(|| names::free(&candidates[0], &mut taken), Clone::clone);
            (declaration.name, declaration.plain_name) = (options.renamed(&name), name);
        }
    }
}

/// The names that a type must not have: those of the other types in its module, and in each module that imports it.
fn taken(model: &Model, id: usize, roots: &[(String, String)]) -> BTreeSet<String> {
    let mut taken: BTreeSet<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
    let home = model.types[id].module;
    let uses = |index: usize, module: &Module| index == home || module.imports.contains(&id);
    for (_, module) in model.modules.iter().enumerate().filter(|(index, module)| uses(*index, module)) {
        taken.extend(roots.iter().filter(|(folder, _)| *folder == module.folder).map(|(_, name)| name.clone()));
        let others = module.types.iter().chain(&module.imports).filter(|other| **other != id);
        taken.extend(others.map(|other| model.types[*other].plain_name.clone()));
    }
    taken
}

/// Names of a type, best first.
fn candidates(declaration: &TypeDeclaration) -> Vec<String> {
    let first = &declaration.uses[0];
    if let Some(name) = declaration.schema.name.as_deref() {
        return of_document(name);
    }
    let is_plain = |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric());
    let part = |text: &String| if is_plain(text) { names::capital(text) } else { names::pascal(text) };
    let parts: Vec<String> = first.path.iter().map(part).collect();
    // The spec of a kind is around most of its types.
    let parts = if parts.len() > 1 { &parts[1..] } else { &parts[..] };
    let is_vague = first.path.last().is_some_and(|last| VAGUE.contains(&last.as_str()));
    let least = if is_vague { 2.min(parts.len()) } else { 1 };
    let lengths = least..=parts.len();
    let name = |length: usize| joined(&parts[parts.len() - length..]);
    let kinds: BTreeSet<&str> = declaration.uses.iter().map(|place| place.kind.as_str()).collect();
    let kind = names::of_kind(&first.kind);
    let of_kind = lengths.clone().map(|length| {
        let name = name(length);
        if name.starts_with(&kind) { name } else { format!("{kind}{name}") }
    });
    let all: Vec<String> = if kinds.len() > 1 { lengths.map(name).chain(of_kind).collect() } else { of_kind.collect() };
    all.iter().map(|name| names::of_kind(name)).collect()
}

/// The names of a type that has one in its document: the last part, also with those before: `Condition`, `MetaCondition` and
/// `MetaV1Condition` of `io.k8s.apimachinery.pkg.apis.meta.v1.Condition`.
fn of_document(name: &str) -> Vec<String> {
    let parts: Vec<String> = name.split(['.', '/']).map(|part| names::of_kind(&names::type_name(part))).collect();
    let (last, before) = parts.split_last().expect("a text has a part");
    let mut names = vec![last.clone()];
    if let [.., package, version] = before {
        names.extend([format!("{package}{last}"), format!("{package}{version}{last}")]);
    }
    names
}

/// Parts of a name, of which a part that the next one begins with is not repeated.
fn joined(parts: &[String]) -> String {
    let mut name = String::new();
    for (at, part) in parts.iter().enumerate() {
        if parts.get(at + 1).is_none_or(|next| !next.starts_with(part.as_str())) {
            name.push_str(part);
        }
    }
    name
}
