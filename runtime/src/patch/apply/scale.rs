//! Managed fields between an object and its Scale, where the number of replicas has another path.
//!
//! A write of the scale runs on the Scale's own document, with [`to_scale`]'s entries in it as the live ones; what comes
//! of them goes back through [`to_parent`].
use super::{field_set::FieldSet, managed_fields::ManagedFields, path_element::PathElement};
use crate::schema::Document;

/// The group and version of Scale.
const SCALE: &str = "autoscaling/v1";
const REPLICAS: [PathElement<'static>; 2] = [PathElement::Field("spec"), PathElement::Field("replicas")];

/// The entries of an object that own its replicas, in Scale's terms; `null` if there are none.
///
/// `parent` are the object's entries, `replicas` is the path of its replicas.
pub fn to_scale(parent: &Document, replicas: &[String]) -> Document {
    let path = path_of(replicas);
    let mut managed = read(parent);
    managed.retain(|entry| entry.owns(&path));
    for entry in managed.iter_mut() {
        entry.restate(SCALE, FieldSet::of_path(&REPLICAS));
    }
    managed.write().unwrap_or(Document::Null)
}

/// An object's entries after its Scale was written; `null` if there are none.
///
/// `scale` are the entries of the Scale as it was written, `api_version` is the object's. Who owned the replicas and does
/// not any more loses them; whoever else owns them does so through the subresource that its entry names.
pub fn to_parent(parent: &Document, scale: &Document, api_version: &str, replicas: &[String]) -> Document {
    let path = path_of(replicas);
    let (mut managed, mut scaled) = (read(parent), read(scale));
    scaled.retain(|entry| entry.owns(&REPLICAS));
    for entry in scaled.iter_mut() {
        entry.restate(api_version, FieldSet::of_path(&path));
    }
    for entry in managed.iter_mut() {
        let owned = entry.owns(&path);
        if let Some(kept) = scaled.take(&entry.identity) {
            entry.time = kept.time;
            entry.add(FieldSet::of_path(&path));
        } else if owned {
            entry.remove(&FieldSet::of_path(&path));
        }
    }
    managed.drop_empty();
    managed.append(scaled);
    managed.write().unwrap_or(Document::Null)
}

fn path_of(names: &[String]) -> Vec<PathElement<'_>> {
    names.iter().map(|name| PathElement::Field(name)).collect()
}

/// What is not an entry owns nothing.
fn read(entries: &Document) -> ManagedFields<'_> {
    ManagedFields::read_with_sets(entries.as_array().map_or(&[], Vec::as_slice)).unwrap_or_default()
}
