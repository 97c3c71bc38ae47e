//! Managed fields between an object and its Scale, where the number of replicas has another path.
//!
//! A write of the scale runs on the Scale's own document, with [`to_scale`]'s entries in it as the live ones; what comes
//! of them goes back through [`to_parent`].
use super::{
    field_set::FieldSet,
    managed_fields::{Entry, ManagedFields},
    path_element::PathElement,
};
use crate::schema::Document;

/// The group and version of Scale.
const SCALE: &str = "autoscaling/v1";
const REPLICAS: [PathElement<'static>; 2] = [PathElement::Field("spec"), PathElement::Field("replicas")];

/// The entries of an object that own its replicas, in Scale's terms; `null` if there are none.
///
/// `parent` are the object's entries, `replicas` gives the path of the replicas in a version that has a scale.
pub fn to_scale<'p>(parent: &Document, replicas: impl Fn(&str) -> Option<&'p [String]>) -> Document {
    let mut managed = read(parent);
    managed.retain(|entry| replicas(entry.api_version).is_some_and(|path| entry.owns(&path_of(path))));
    for entry in managed.iter_mut() {
        entry.restate(SCALE, FieldSet::of_path(&REPLICAS));
    }
    managed.write().unwrap_or(Document::Null)
}

/// An object's entries after its Scale was written; `null` if there are none.
///
/// `scale` are the entries of the Scale as it was written, `api_version` is that of the write. Who owned the replicas and
/// does not any more loses them; whoever else owns them does so through the subresource that its entry names.
pub fn to_parent<'d, 'p: 'd>(
    parent: &'d Document,
    scale: &'d Document,
    api_version: &'d str,
    replicas: impl Fn(&str) -> Option<&'p [String]>,
) -> Document {
    let (mut managed, mut scaled) = (read(parent), read(scale));
    let path_there = replicas(api_version).map(path_of).unwrap_or_default();
    scaled.retain(|entry| entry.owns(&REPLICAS));
    for entry in scaled.iter_mut() {
        entry.restate(api_version, FieldSet::of_path(&path_there));
    }
    let mut kept = Vec::new();
    for entry in managed.iter_mut() {
        let Some(path) = replicas(entry.api_version).map(path_of) else { continue };
        let owned = entry.owns(&path);
        // Who still owns the replicas by a write in another version goes on to do so in that.
        let is_kept = |scaled: &&mut Entry<'_>| {
            let untouched = owned && scaled.time == entry.time;
            scaled.identity.is_same_manager(&entry.identity) && (untouched || entry.api_version == api_version)
        };
        if let Some(scaled) = scaled.iter_mut().find(is_kept) {
            kept.push(scaled.identity);
            entry.time.clone_from(&scaled.time);
            entry.add(FieldSet::of_path(&path));
        } else if owned {
            entry.remove(&FieldSet::of_path(&path));
        }
    }
    scaled.retain(|entry| !kept.contains(&entry.identity));
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
