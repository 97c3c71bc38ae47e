//! Definitions of kinds whose fields may have no numbers yet: what `kindsmith export proto` merges into the published files.
use std::{collections::BTreeMap, ptr};

use super::{File, Kind, Package, render, shared};
use crate::{
    meta::text::in_one_line,
    schema::{At, Schema, model::Type},
};

/// The head of published files. Its first line tells them from files of other projects.
const HEAD: [&str; 3] = [
    "Written by: kindsmith export proto",
    "The numbers of fields are published with this file: they never change, and those of removed fields stay reserved.",
    "Commit it; the same command appends new fields.",
];

/// Drafts of published files.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Drafts {
    /// A file for each group and version, such as `library.example.com/v1.proto`. Fields without a number have the number 0.
    pub files: Vec<File>,
    /// The files that they import, complete.
    pub imported: Vec<File>,
    /// The kinds that Protobuf cannot express, each with the reason.
    pub left_out: Vec<String>,
}

/// The drafts for kinds. Not among them are types of the API machinery, whose files never change.
pub fn drafts<'k>(kinds: impl IntoIterator<Item = &'k Kind>) -> Drafts {
    let (mut packages, mut drafts) = (BTreeMap::<Package, Vec<&Kind>>::new(), Drafts::default());
    for kind in kinds {
        match Search::default().inexpressible(At::of(&kind.version.schema), true) {
            None => packages.entry(Package::of(kind)).or_default().push(kind),
            Some(why) => {
                drafts.left_out.push(format!("{} {}: {why}", kind.group_version, kind.names().kind));
            }
        }
    }
    let mut imports = Vec::new();
    for (package, kinds) in packages {
        let at = &kinds[0].group_version;
        let group = if at.group.is_empty() { "core" } else { &at.group };
        let path = format!("{group}/{}.proto", at.version);
        let file = render::file(&package, &kinds, &HEAD);
        imports.extend(file.imports.iter().cloned());
        drafts.files.push(File { path, text: file.to_string() });
    }
    drafts.imported = with_imports(imports);
    drafts
}

/// True for a kind whose fields have names that fields of messages can have.
pub(super) fn is_expressible(kind: &Kind) -> bool {
    Search::default().inexpressible(At::of(&kind.version.schema), true).is_none()
}

/// The files of these paths, and the files imported by them.
fn with_imports(mut paths: Vec<String>) -> Vec<File> {
    let core = Package::core();
    let core = File { text: render::file(&core, &[], &[super::HEAD]).to_string(), path: core.path };
    let known: Vec<File> = shared::files().chain([core]).collect();
    let mut found: BTreeMap<String, File> = BTreeMap::new();
    while let Some(path) = paths.pop() {
        let Some(file) = known.iter().find(|file| file.path == path && !found.contains_key(&path)) else { continue };
        let imports = file.text.lines().filter_map(|line| line.strip_prefix("import \"")?.strip_suffix("\";"));
        paths.extend(imports.map(str::to_owned));
        found.insert(path, file.clone());
    }
    found.into_values().collect()
}

/// A search for a place of a schema that has no message.
#[derive(Default)]
struct Search {
    place: String,
    /// The recursive types that were looked into.
    seen: Vec<*const Schema>,
}

impl Search {
    /// What is wrong with the first object that has both declared fields and other ones, or a field with a name that fields of
    /// messages cannot have. Nested objects that keep unknown fields are raw JSON.
    fn inexpressible(&mut self, at: At<'_>, is_root: bool) -> Option<String> {
        let is_mixed = at.properties().len() > 0 && at.entry().is_some();
        if at.kind == Type::Object && (is_mixed || is_root && at.preserve_unknown) {
            let place = if is_root { "the object" } else { &self.place };
            return Some(format!("{place} has both fields of its own and others; a message has either"));
        }
        if let Some(definition) = at.leads_to() {
            let key = ptr::from_ref(definition.node());
            if self.seen.contains(&key) {
                return None;
            }
            self.seen.push(key);
        }
        if at.preserve_unknown {
            return None;
        }
        let metadata = is_root.then_some("metadata");
        if let Some(name) =
            render::unnameable(metadata.into_iter().chain(at.properties().map(|(name, _)| name.as_str())))
        {
            let place = if is_root { "the object".into() } else { in_one_line(&self.place) };
            return Some(format!(
                "{place} has the field {name:?}; a field of a message has a name of letters, digits and underscores that no other has"
            ));
        }
        let of_fields = at.properties().find_map(|(name, property)| self.below(&format!(".{name}"), property));
        let of_items = of_fields.or_else(|| at.items().and_then(|items| self.below("[]", items)));
        of_items.or_else(|| at.entry().and_then(|entry| self.below("{}", entry)))
    }

    fn below(&mut self, step: &str, at: At<'_>) -> Option<String> {
        let length = self.place.len();
        self.place.push_str(step);
        let found = self.inexpressible(at, false);
        self.place.truncate(length);
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{kind::fixture::gears, schema::fixture::schema};

    #[test]
    fn a_kind_whose_field_takes_the_name_of_metadata_is_left_out() {
        let kind = |name: &str| {
            let root = json!({"type": "object", "properties": {name: {"type": "object", "properties": {}}}});
            gears().with(|_, version, _| version.schema = schema(&root).into())
        };
        for name in ["=metadata", "metadata."] {
            let drafts = drafts([&kind(name)]);
            assert!(
                drafts.files.is_empty() && drafts.left_out[0].contains(&format!("{name:?}")),
                "{:?}",
                drafts.left_out
            );
        }
        assert_eq!(drafts([&kind("metadata2")]).left_out, Vec::<String>::new());
    }
}
