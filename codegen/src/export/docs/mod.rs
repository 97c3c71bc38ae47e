//! Reference documentation: one Markdown page for each group, with its kinds, their versions, the fields of all types, and an example of
//! each kind that its schema accepts.

use std::collections::BTreeMap;

use super::{ExportFile, group_name};
use crate::ResourceDeclaration;

mod limits;
mod markdown;
mod types;
mod version;

use markdown::{Page, anchor, code};

/// The pages, and what they lack.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Docs {
    /// A page for each group: `library.example.com.md`.
    pub files: Vec<ExportFile>,
    /// Kinds without an example.
    pub warnings: Vec<String>,
}

/// The pages of these kinds.
pub fn files(kinds: &[ResourceDeclaration]) -> Docs {
    let mut groups: BTreeMap<&str, Vec<&ResourceDeclaration>> = BTreeMap::new();
    for declaration in kinds {
        groups.entry(&declaration.definition.shared.group).or_default().push(declaration);
    }
    let mut docs = Docs::default();
    for (group, mut kinds) in groups {
        kinds.sort_by(|a, b| a.definition.shared.names.kind.cmp(&b.definition.shared.names.kind));
        let mut page = Page::default();
        contents(group, &kinds, &mut page);
        for declaration in kinds {
            kind(declaration, &mut page, &mut docs.warnings);
        }
        docs.files.push(ExportFile::new(format!("{}.md", group_name(group)), page.finish()));
    }
    docs
}

/// The heading of a page, and a table of its kinds.
fn contents(group: &str, kinds: &[&ResourceDeclaration], page: &mut Page) {
    let name = if group.is_empty() { "The core group" } else { group };
    page.heading(1, name, None);
    page.table(&["Kind", "Resource", "Scope", "Versions"]);
    for declaration in kinds {
        let shared = &declaration.definition.shared;
        let kind = &shared.names.kind;
        let versions: Vec<_> = declaration.definition.versions.iter().map(|version| &*version.name).collect();
        page.row(&[
            format!("[{kind}](#{})", anchor(&[kind])),
            code(&shared.names.plural),
            format!("{:?}", shared.scope),
            versions.join(", "),
        ]);
    }
}

/// A kind in all of its versions.
fn kind(declaration: &ResourceDeclaration, page: &mut Page, warnings: &mut Vec<String>) {
    let definition = &declaration.definition;
    let shared = &definition.shared;
    let names = &shared.names;
    page.heading(2, &names.kind, Some(anchor(&[&names.kind])));
    let described = definition.versions.iter().find(|version| version.name == definition.storage_version);
    page.text(described.map_or("", |version| &version.schema.description));
    let all = |names: &[String]| names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
    page.item(&format!("Resource: {}, singular {}", code(&names.plural), code(&names.singular)));
    for (what, names) in [("Short names", &names.short_names), ("Categories", &names.categories)] {
        if !names.is_empty() {
            page.item(&format!("{what}: {}", all(names)));
        }
    }
    page.item(&format!("Scope: {:?}", shared.scope));
    if !shared.stored {
        page.item("Not stored: the server answers a POST, and keeps nothing.");
    }
    for (kind, version) in definition.kinds(declaration.policy).iter().zip(&definition.versions) {
        let mut notes = Vec::new();
        if definition.versions.len() > 1 && version.name == definition.storage_version {
            notes.push("stored".to_owned());
        }
        if !version.served {
            notes.push("not served".to_owned());
        }
        if let Some(warning) = &version.deprecated {
            notes.push(format!("deprecated: {}", markdown::cell(warning)));
        }
        version::write(kind, &notes, page, warnings);
    }
}
