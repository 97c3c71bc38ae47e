//! Managed fields between an object and its Scale, in which the number of replicas has another path.
//!
//! A write of the scale works on the Scale document with the entries of [`to_scale`]; [`to_parent`] translates the
//! result back.
use super::{
    field_set::FieldSet,
    managed_fields::{Entry, ManagedFields},
    path_element::PathElement,
};
use crate::schema::Document;

/// The group and version of Scale.
const SCALE: &str = "autoscaling/v1";
const REPLICAS: [PathElement<'static>; 2] = [PathElement::Field("spec"), PathElement::Field("replicas")];

/// The entries of an object that own its replicas, translated to Scale; `null` if absent.
///
/// `parent` are the object's entries, `replicas` returns the path of the replicas in a version with a scale.
pub fn to_scale<'p>(parent: &Document, replicas: impl Fn(&str) -> Option<&'p [String]>) -> Document {
    let mut managed = read(parent);
    managed.retain(|entry| replicas(entry.api_version).is_some_and(|path| entry.owns(&path_of(path))));
    for entry in managed.iter_mut() {
        entry.restate(SCALE, FieldSet::of_path(&REPLICAS));
    }
    managed.write().unwrap_or(Document::Null)
}

/// An object's entries after a write of its Scale; `null` if absent.
///
/// `scale` are the entries of the written Scale, `api_version` is the version of the write. Managers that no longer own
/// the replicas lose them; other owners own them through the subresource in their entry.
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
    let mut owners = Vec::new();
    for entry in managed.iter_mut() {
        if replicas(entry.api_version).is_some_and(|path| entry.owns(&path_of(path))) {
            owners.push((entry.identity, entry.time.clone()));
        }
    }
    let mut kept = Vec::new();
    for entry in managed.iter_mut() {
        let Some(path) = replicas(entry.api_version).map(path_of) else { continue };
        let owned = entry.owns(&path);
        // A manager that still owns the replicas by a write in another version keeps that, and does not own them here, too.
        let is_kept = |scaled: &&mut Entry<'_>| {
            let untouched = |(owner, time): &(_, _)| scaled.identity.is_same_manager(owner) && scaled.time == *time;
            scaled.identity.is_same_manager(&entry.identity)
                && (owned && scaled.time == entry.time
                    || entry.api_version == api_version && (owned || !owners.iter().any(untouched)))
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

/// Invalid entries own nothing.
fn read(entries: &Document) -> ManagedFields<'_> {
    ManagedFields::read_with_sets(entries.as_array().map_or(&[], Vec::as_slice)).unwrap_or_default()
}
