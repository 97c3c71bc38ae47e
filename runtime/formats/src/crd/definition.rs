//! A definition with the defaults that kube-apiserver fills in, and in the form that it checks: a part that is equal in all versions
//! belongs to the definition as a whole, where messages locate it.
use super::{Fields, Groups, Location};
use crate::{kind::model::Scope, schema::Document};

/// A definition whose shape was checked.
pub(super) struct Definition<'d> {
    /// All of it.
    pub document: Fields<'d>,
    /// Its `spec`.
    pub spec: Fields<'d>,
    /// Its versions.
    pub versions: Vec<Fields<'d>>,
    /// The singular name.
    pub singular: String,
    /// The kind of lists.
    pub list_kind: String,
    /// True if its group is the core group, and that is allowed.
    pub is_core: bool,
}

/// A part that each version may have for itself.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Its name in a version.
    pub name: &'static str,
    /// The location of the part if it is equal in all versions.
    pub shared: Location<'static>,
}

/// The schema.
pub(super) const SCHEMA: Part =
    Part { name: "schema", shared: Location::known("spec.validation", "/spec/versions/0/schema") };
/// The subresources.
pub(super) const SUBRESOURCES: Part =
    Part { name: "subresources", shared: Location::known("spec.subresources", "/spec/versions/0/subresources") };
/// The columns.
pub(super) const COLUMNS: Part = Part {
    name: "additionalPrinterColumns",
    shared: Location::known("spec.additionalPrinterColumns", "/spec/versions/0/additionalPrinterColumns"),
};
/// The selectable fields.
pub(super) const SELECTABLE: Part = Part {
    name: "selectableFields",
    shared: Location::known("spec.selectableFields", "/spec/versions/0/selectableFields"),
};

impl<'d> Definition<'d> {
    /// Reads a definition.
    pub(super) fn of(document: &'d Document, groups: Groups) -> Self {
        let document = Fields::of(document);
        let spec = document.part("spec");
        let names = spec.part("names");
        let kind = names.text("kind");
        let or = |name: &str, default: String| match names.text(name) {
            "" => default,
            given => given.to_owned(),
        };
        let list_kind = if kind.is_empty() { String::new() } else { format!("{kind}List") };
        Self {
            singular: or("singular", kind.to_lowercase()),
            list_kind: or("listKind", list_kind),
            is_core: groups == Groups::All && spec.get("group").is_some_and(|group| group == ""),
            document,
            spec,
            versions: spec.objects("versions").collect(),
        }
    }

    /// The names.
    pub(super) fn names(&self) -> Fields<'d> {
        self.spec.part("names")
    }

    /// The scope, if it is one.
    pub(super) fn scope(&self) -> Option<Scope> {
        match self.spec.text("scope") {
            "Namespaced" => Some(Scope::Namespaced),
            "Cluster" => Some(Scope::Cluster),
            _ => None,
        }
    }

    /// True if a part is equal, or absent, in all versions.
    pub(super) fn agrees_on(&self, part: Part) -> bool {
        let said = |version: &Fields<'d>| version.get(part.name).filter(|said| said.as_array() != Some(&Vec::new()));
        self.versions.first().is_some_and(|first| self.versions.iter().all(|other| said(other) == said(first)))
    }
}
