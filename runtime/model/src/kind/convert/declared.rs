//! Conversion by declared changes: renamed and moved fields, and fields that only one version has.
use std::cmp::Reverse;

use serde_json::Map;

use super::{Convert, cover};
use crate::{
    codec,
    kind::model::Path,
    meta::{GroupVersion, validate::qualified_name},
    schema::{self, Document, Meter, Schema, model::Type},
};

/// A difference between a version and the storage version, other than `apiVersion`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A renamed or moved field: its path here, and in the storage version.
    Renamed(Path, Path),
    /// A field of the storage version only.
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
/// Renamed fields are moved. If only one version has a field, the other version keeps its value as JSON in an
/// annotation of the object, from which it is restored. The annotation is named after the field, `GROUP/VERSION.PATH`
/// (`library.example.com/v1.spec.copies`), and belongs to the conversion: removing it resets the field to its default,
/// and in the version with the field it is dropped. There is no annotation if the field would be restored without it:
/// if it is absent, or has the default of its schema.
#[derive(Debug)]
pub struct DeclaredConversion {
    /// Paths here and in the storage version.
    renamed: Vec<[Path; 2]>,
    /// Fields of this version only.
    here: Vec<Field>,
    /// Fields of the storage version only.
    stored: Vec<Field>,
}

/// A field that only one version has.
#[derive(Debug)]
struct Field {
    path: Path,
    /// The name of its annotation.
    key: String,
    schema: Schema,
    /// The default, including those of its fields.
    default: Option<Document>,
    /// True if the other version has the field's parent at the same place.
    parent_is_shared: bool,
}

impl DeclaredConversion {
    /// A conversion between `here` and `stored`.
    ///
    /// # Errors
    /// If changes do not cover a difference of the schemas, name missing fields, or cannot be undone.
    pub fn new(here: Version<'_>, stored: Version<'_>, changes: &[Change]) -> Result<Self, String> {
        let cover = cover::check(here, stored, changes)?;
        let fields = |version: Version<'_>, paths: &[Path], other: &Schema| {
            let field = |path: &Path| Field::new(version, path, &cover.renamed, other);
            paths.iter().map(field).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            here: fields(here, &cover.only[0], stored.schema)?,
            stored: fields(stored, &cover.only[1], here.schema)?,
            renamed: cover.renamed,
        })
    }
}

impl Field {
    fn new(version: Version<'_>, path: &Path, renamed: &[[Path; 2]], other: &Schema) -> Result<Self, String> {
        let at = cover::at(version.schema, path).ok_or_else(|| format!("{} has no field {path}", version.name))?;
        let schema = at.to_schema();
        let key = format!("{}.{path}", version.name);
        if let Some(why) = qualified_name(&key).into_iter().next() {
            return Err(format!(
                "the value of {path} cannot be kept in the annotation {key:?}: {why}; write the conversion in Rust"
            ));
        }
        let default = schema.default.clone().map(|mut value| {
            let filled = schema::default(&schema, &mut value, &Meter::default());
            filled.map(|()| value).map_err(|exceeded| format!("the default of {key} is too large: {exceeded}"))
        });
        let default = default.transpose()?;
        let parent = parent(path);
        let parent_is_shared = cover::at(other, &parent).is_some_and(|there| there.kind == Type::Object)
            && !renamed.iter().flatten().any(|path| begins(&parent, path));
        Ok(Self { path: path.clone(), key, schema, default, parent_is_shared })
    }
}

impl Convert for DeclaredConversion {
    fn write(&self, document: Document) -> Result<Document, String> {
        let mut renamed = self.renamed.iter().map(|[here, stored]| (here, stored));
        convert(document, &mut renamed, &self.here, &self.stored, Err)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        let mut renamed = self.renamed.iter().map(|[here, stored]| (stored, here));
        // A writer of the storage version must not be able to hide objects from readers of this one with an annotation.
        convert(document, &mut renamed, &self.stored, &self.here, |_| Ok(None))
    }

    fn place_of_stored(&self, path: &str) -> Option<String> {
        let renamed = self.renamed.iter().map(|[here, stored]| (stored, here.to_string(), true));
        let kept = self.stored.iter().map(|field| (&field.path, format!("metadata.annotations[{}]", field.key), false));
        let moved = renamed.chain(kept).filter_map(|(stored, here, has_fields)| {
            let rest = path.strip_prefix(&*stored.to_string())?;
            let is_in_it = rest.is_empty() || rest.starts_with(['.', '[']);
            is_in_it.then(|| (stored.0.len(), if has_fields { here + rest } else { here }))
        });
        moved.max_by_key(|(depth, _)| *depth).map(|(_, place)| place)
    }
}

/// The destination of a value that was taken out of a document.
enum Goes<'a> {
    /// Another place.
    To(&'a Path),
    /// An annotation.
    Aside(&'a Field),
}

/// Moves `renamed`, keeps the fields that `leave` and restores the fields that `come`; `invalid` decides about annotations
/// with an invalid value.
fn convert<'a>(
    mut document: Document,
    renamed: &mut dyn Iterator<Item = (&'a Path, &'a Path)>,
    leave: &'a [Field],
    come: &[Field],
    invalid: fn(String) -> Result<Option<Document>, String>,
) -> Result<Document, String> {
    let mut annotations = take_annotations(&mut document);
    for field in leave {
        annotations.remove(&field.key);
    }
    // Take values from the inside out and put them from the outside in, because a struct and its fields may have
    // different destinations.
    let mut leaving: Vec<(&Path, Goes<'_>)> = renamed.map(|(from, to)| (from, Goes::To(to))).collect();
    leaving.extend(leave.iter().map(|field| (&field.path, Goes::Aside(field))));
    leaving.sort_by_key(|(from, _)| Reverse(from.0.len()));
    let mut placed: Vec<(&Path, Document)> = Vec::new();
    // The places whose values are restored when the document is converted back.
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
    // A struct is restored with anything in it, and a default with its struct.
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

/// The value in an annotation.
fn brought_back(field: &Field, annotations: &mut Map<String, Document>) -> Result<Option<Document>, String> {
    let Some(kept) = annotations.remove(&field.key) else { return Ok(None) };
    let wrong = |why: String| format!("metadata.annotations[{}]: {why}; remove it for the default", field.key);
    let text = kept.as_str().unwrap_or_default();
    let mut value: Document = codec::decode(text.as_bytes(), &codec::Limits::default())
        .map(|decoded| decoded.document)
        .map_err(|error| wrong(format!("not the JSON of {}: {error}", field.path)))?;
    let meter = Meter::default();
    let filled = schema::default(&field.schema, &mut value, &meter);
    let errors = filled.and_then(|()| schema::validate(&field.schema, &value, &meter));
    match errors.map_err(|exceeded| wrong(exceeded.to_string()))?.first() {
        Some(error) => Err(wrong(format!("not a value of {}: {error}", field.path))),
        None => Ok(Some(value)),
    }
}

/// The path of a field's parent.
fn parent(path: &Path) -> Path {
    Path(path.0[..path.0.len().saturating_sub(1)].to_vec())
}

/// True if a path starts with another one.
pub(super) fn begins(path: &Path, with: &Path) -> bool {
    path.0.starts_with(&with.0)
}

#[cfg(test)]
mod tests;
