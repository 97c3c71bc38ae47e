//! Conversion by declared changes: fields that have another place, and fields that one of the two versions does not have.
use std::cmp::Reverse;

use serde_json::Map;

use super::{Convert, cover};
use crate::{
    kind::model::Path,
    meta::{GroupVersion, validate::qualified_name},
    schema::{self, Document, Schema, model::Type},
};

/// What differs between a version and the one that is stored, beside `apiVersion`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A field has another name or place: here, and in the stored version.
    Renamed(Path, Path),
    /// A field of the stored version only.
    Added(Path),
    /// A field of this version only.
    Removed(Path),
}

/// One of the two versions of a conversion.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    /// Its name.
    pub name: &'a GroupVersion,
    /// Its schema.
    pub schema: &'a Schema,
}

/// A conversion by declared changes. It loses nothing in either direction.
///
/// A field that has another name or place is moved. The value of a field that only one version has is kept in an annotation of
/// the object in the other one, as JSON, and comes back from there. The annotation is named after the field,
/// `GROUP/VERSION.PATH` (`library.example.com/v1.spec.copies`), and belongs to the conversion: whoever removes it gives the
/// field its default, and one that an object has in the version of the field itself is dropped. There is none where the field
/// would come back as it is all the same: it is absent, or has the default of its schema.
#[derive(Debug)]
pub struct Declared {
    /// Places here and in the stored version.
    renamed: Vec<(Path, Path)>,
    /// What only this version has.
    here: Vec<Field>,
    /// What only the stored version has.
    stored: Vec<Field>,
}

/// A field that only one version has.
#[derive(Debug)]
struct Field {
    path: Path,
    /// The annotation that keeps it.
    key: String,
    schema: Schema,
    /// The default, with those of the fields in it.
    default: Option<Document>,
    /// The other version has the object that the field is in, at the same place.
    parent_is_shared: bool,
}

impl Declared {
    /// A conversion between `here` and `stored`.
    ///
    /// # Errors
    /// Changes that leave out a difference of the schemas, name what there is not, or cannot be undone.
    pub fn new(here: Version<'_>, stored: Version<'_>, changes: &[Change]) -> Result<Self, String> {
        let cover = cover::check(here, stored, changes)?;
        let fields = |version: Version<'_>, paths: &[Path], other: &Schema| {
            let field = |path: &Path| Field::new(version, path, &cover.renamed, other);
            paths.iter().map(field).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            here: fields(here, &cover.here, stored.schema)?,
            stored: fields(stored, &cover.stored, here.schema)?,
            renamed: cover.renamed,
        })
    }
}

impl Field {
    fn new(version: Version<'_>, path: &Path, renamed: &[(Path, Path)], other: &Schema) -> Result<Self, String> {
        let at = cover::at(version.schema, path).ok_or_else(|| format!("{} has no field {path}", version.name))?;
        let schema = at.to_schema();
        let key = format!("{}.{path}", version.name);
        if let Some(why) = qualified_name(&key).into_iter().next() {
            return Err(format!(
                "the value of {path} cannot be kept in the annotation {key:?}: {why}; write the conversion in Rust"
            ));
        }
        let default = schema.default.clone().map(|mut value| {
            schema::default(&schema, &mut value);
            value
        });
        let parent = parent(path);
        let parent_is_shared = cover::at(other, &parent).is_some_and(|there| there.kind == Type::Object)
            && !renamed.iter().any(|(here, stored)| begins(&parent, here) || begins(&parent, stored));
        Ok(Self { path: path.clone(), key, schema, default, parent_is_shared })
    }
}

impl Convert for Declared {
    fn write(&self, document: Document) -> Result<Document, String> {
        let renamed = self.renamed.iter().map(|(here, stored)| (here, stored));
        convert(document, renamed, &self.here, &self.stored, Err)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        let renamed = self.renamed.iter().map(|(here, stored)| (stored, here));
        // Whoever writes the stored version shall not hide objects from readers of this one by an annotation.
        convert(document, renamed, &self.stored, &self.here, |_| Ok(None))
    }
}

/// Where a value goes that was taken out of a document.
enum Goes<'a> {
    /// To another place.
    To(&'a Path),
    /// Into an annotation.
    Aside(&'a Field),
}

/// Moves `renamed`, keeps the fields that `leave` and brings back those that `come`; of an annotation that is not what it keeps,
/// `invalid` decides.
fn convert<'a>(
    mut document: Document,
    renamed: impl Iterator<Item = (&'a Path, &'a Path)>,
    leave: &'a [Field],
    come: &[Field],
    invalid: fn(String) -> Result<Option<Document>, String>,
) -> Result<Document, String> {
    let mut annotations = take_annotations(&mut document);
    for field in leave {
        annotations.remove(&field.key);
    }
    // Values are taken from the inside out and put from the outside in, since a struct and a field of it may go different ways.
    let mut leaving: Vec<(&Path, Goes<'_>)> = renamed.map(|(from, to)| (from, Goes::To(to))).collect();
    leaving.extend(leave.iter().map(|field| (&field.path, Goes::Aside(field))));
    leaving.sort_by_key(|(from, _)| Reverse(from.0.len()));
    let mut placed: Vec<(&Path, Document)> = Vec::new();
    // The places that will have their values again when the document is converted back.
    let mut back: Vec<&Path> = Vec::new();
    let mut aside = Vec::new();
    for (from, goes) in leaving {
        match goes {
            Goes::To(to) => {
                let Some(value) = from.remove(&mut document) else { continue };
                placed.push((to, value));
                back.push(from);
            }
            Goes::Aside(field) => {
                let beside = field.parent_is_shared && parent(from).at(&document).is_some_and(Document::is_object);
                let Some(value) = from.remove(&mut document) else { continue };
                aside.push((field, value, beside));
            }
        }
    }
    // A struct comes back by itself with anything in it, and a default with the struct that it is in.
    let is_default = |field: &Field, value: &Document| field.default.as_ref() == Some(value);
    aside.sort_by_key(|(field, value, _)| is_default(field, value));
    for (field, value, beside) in aside {
        let comes_back = |path: &Path| back.iter().any(|back| begins(back, path));
        let implied = value.as_object().is_some_and(Map::is_empty) && comes_back(&field.path);
        let filled = is_default(field, &value) && (beside || comes_back(&parent(&field.path)));
        if !implied && !filled {
            annotations.insert(field.key.clone(), value.to_string().into());
            back.push(&field.path);
        }
    }
    for field in come {
        if let Some(value) = brought_back(field, &mut annotations).or_else(invalid)? {
            placed.push((&field.path, value));
        }
    }
    placed.sort_by_key(|(to, _)| to.0.len());
    for (to, value) in placed {
        to.put(&mut document, Some(value));
    }
    for field in come {
        let Some(default) = &field.default else { continue };
        if field.path.at(&document).is_none() && parent(&field.path).at(&document).is_some_and(Document::is_object) {
            field.path.put(&mut document, Some(default.clone()));
        }
    }
    if !annotations.is_empty() {
        Path::from(&["metadata", "annotations"][..]).put(&mut document, Some(annotations.into()));
    }
    Ok(document)
}

fn take_annotations(document: &mut Document) -> Map<String, Document> {
    match Path::from(&["metadata", "annotations"][..]).remove(document) {
        Some(Document::Object(annotations)) => annotations,
        _ => Map::new(),
    }
}

/// The value that an annotation keeps.
fn brought_back(field: &Field, annotations: &mut Map<String, Document>) -> Result<Option<Document>, String> {
    let Some(kept) = annotations.remove(&field.key) else { return Ok(None) };
    let wrong = |why: String| format!("metadata.annotations[{}]: {why}; remove it for the default", field.key);
    let text = kept.as_str().unwrap_or_default();
    let mut value: Document =
        serde_json::from_str(text).map_err(|error| wrong(format!("not the JSON of {}: {error}", field.path)))?;
    schema::default(&field.schema, &mut value);
    match schema::validate(&field.schema, &value).first() {
        Some(error) => Err(wrong(format!("not a value of {}: {error}", field.path))),
        None => Ok(Some(value)),
    }
}

/// The place of the object that a field is in.
fn parent(path: &Path) -> Path {
    Path(path.0[..path.0.len().saturating_sub(1)].to_vec())
}

/// A path leads to a place, or through it.
pub(super) fn begins(path: &Path, with: &Path) -> bool {
    path.0.starts_with(&with.0)
}
