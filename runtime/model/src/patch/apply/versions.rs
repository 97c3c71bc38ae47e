//! The versions of a kind in which managers wrote, and objects converted to these versions.
use serde_json::Map;

use super::{
    View, Writer,
    compare::{Comparison, EMPTY, compare},
    field_set::FieldSet,
    path_element::PathElement,
    schema::Type,
};
use crate::schema::{self, At, Document, Schema, model};

/// The other versions of a kind, in which managers may have written.
pub trait Versions {
    /// The schema of a version, like [`View::root`]; `None` if the kind lacks the version.
    fn schema(&self, api_version: &str) -> Option<&Schema>;

    /// The fields that the write does not change in a version, like [`View::reset`].
    fn reset(&self, api_version: &str) -> Vec<Vec<&str>>;

    /// Converts an object between two versions, with or without type meta, and prunes it. Both are existing versions, or
    /// the version of the write. The object has no managed fields, and may lack fields that were removed, even those with
    /// defaults.
    ///
    /// # Errors
    /// If the object cannot be converted.
    fn convert(&self, object: Document, from: &str, to: &str) -> Result<Document, String>;

    /// True if a conversion failed because its answer is missing, which says nothing of its object.
    fn lacks_answers(&self) -> bool {
        false
    }
}

/// The versions of a kind that has only one.
#[derive(Clone, Copy, Debug)]
pub struct OneVersion;

impl Versions for OneVersion {
    fn schema(&self, _: &str) -> Option<&Schema> {
        None
    }

    fn reset(&self, _: &str) -> Vec<Vec<&str>> {
        Vec::new()
    }

    fn convert(&self, object: Document, _: &str, _: &str) -> Result<Document, String> {
        Ok(object)
    }
}

/// The versions of a kind, from the view of a write in one of them.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) view: &'a View<'a>,
    /// The version of the write.
    pub(super) own: &'a str,
}

impl<'a> Terms<'a> {
    pub(super) fn of(view: &'a View<'a>, writer: &Writer<'a>) -> Self {
        Self { view, own: writer.api_version }
    }

    /// The type of objects of the write's version.
    pub(super) fn own_ty(&self) -> Type<'a> {
        Type::root(self.view.root)
    }

    /// The type of objects of a version; `None` if the version does not exist.
    pub(super) fn ty(&self, version: &str) -> Option<Type<'a>> {
        self.schema(version).map(Type::root)
    }

    fn schema(&self, version: &str) -> Option<&'a Schema> {
        if version == self.own { Some(self.view.root) } else { self.view.versions.schema(version) }
    }

    /// The fields that the write does not change, in a version.
    pub(super) fn reset_fields(&self, version: &str) -> FieldSet<'a> {
        let mut set = FieldSet::default();
        let mut insert = |path: &[&'a str]| {
            let path: Vec<PathElement<'a>> = path.iter().map(|name| PathElement::Field(name)).collect();
            set.insert(&path);
        };
        if version == self.own {
            self.view.reset.iter().for_each(|path| insert(path));
        } else {
            self.view.versions.reset(version).iter().for_each(|path| insert(path));
        }
        set
    }

    /// The difference between two objects of the write's version, without fields that the write does not change.
    ///
    /// # Errors
    /// A list item without an identity.
    pub(super) fn compare_own<'d>(&self, old: &'d Document, new: &'d Document) -> Result<Comparison<'d>, &'static str>
    where
        'a: 'd,
    {
        let comparison = self.compare(self.own, old, new);
        let unidentified = "a list has an item that cannot be distinguished from others";
        if comparison.unidentified { Err(unidentified) } else { Ok(comparison) }
    }

    /// The same in any version. Another version may identify items by fields that the write's version lacks; no manager
    /// owns such items.
    pub(super) fn compare<'d>(&self, version: &str, old: &'d Document, new: &'d Document) -> Comparison<'d>
    where
        'a: 'd,
    {
        let Some(ty) = self.ty(version) else { return Comparison::default() };
        let mut comparison = compare(ty, old, new);
        comparison.exclude(&self.reset_fields(version));
        comparison
    }

    /// Converts an object between two versions.
    pub(super) fn convert(&self, object: &Document, from: &str, to: &str) -> Result<Document, String> {
        let mut object = object.clone();
        if from == to {
            return Ok(object);
        }
        if let Document::Object(fields) = &mut object {
            let metadata = fields.entry("metadata").or_insert(Document::Null);
            match metadata {
                Document::Object(metadata) => drop(metadata.remove("managedFields")),
                // Parts of an object may lack it, and conversions expect it.
                metadata => *metadata = Document::Object(Map::new()),
            }
        }
        if let Some(schema) = self.schema(from) {
            fill_emptied(At::object(schema), &mut object);
            schema::normalise(schema, &mut object);
        }
        self.view.versions.convert(object, from, to)
    }

    /// The old and the new object, converted to another version than the write's. An object that did not exist is absent in
    /// every version.
    pub(super) fn convert_both(&self, [old, new]: [&Document; 2], to: &str) -> Result<[Document; 2], String> {
        let old = if *old == *EMPTY { Ok(EMPTY.clone()) } else { self.convert(old, self.own, to) };
        let old = old.map_err(|why| format!("failed to convert old object: {why}"))?;
        let new = self.convert(new, self.own, to).map_err(|why| format!("failed to convert new object: {why}"))?;
        Ok([old, new])
    }
}

/// Replaces `null`, which stands for a container whose content was removed, by an empty container: conversions expect
/// objects that match their schema.
fn fill_emptied(at: At<'_>, value: &mut Document) {
    match value {
        Document::Null if !at.nullable && at.kind == model::Type::Object => *value = Document::Object(Map::new()),
        Document::Null if !at.nullable && at.kind == model::Type::Array => *value = Document::Array(Vec::new()),
        Document::Object(fields) => {
            for (name, value) in fields {
                if let Some(at) = at.named(name).or_else(|| at.entry()) {
                    fill_emptied(at, value);
                }
            }
        }
        Document::Array(items) => {
            if let Some(at) = at.items() {
                for item in items {
                    fill_emptied(at, item);
                }
            }
        }
        _ => {}
    }
}
