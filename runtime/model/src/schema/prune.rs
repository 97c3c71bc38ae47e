//! Pruning: drops the fields that the schema does not know.
use super::{At, Document, Schema, location::Location};
use crate::meta::FieldPath;

/// The maximum size of the paths of dropped fields; further ones are not reported. A body may contain paths that take
/// far more memory than itself.
pub(crate) const PATHS_BYTES: usize = 256 * 1024;

/// Drops unknown fields, and returns their paths in document order.
///
/// At the root and in embedded objects `apiVersion`, `kind`, `metadata` and the standard fields of metadata are known.
/// If unknown fields are preserved, those of declared fields below are still pruned.
pub fn prune(schema: &Schema, document: &mut Document) -> Vec<FieldPath> {
    let (mut dropped, mut room) = (Vec::new(), PATHS_BYTES);
    walk(At::object(schema), document, &Location::Root, &mut |location| {
        if room > 0 {
            let path = location.path();
            room = room.saturating_sub(path.as_str().len());
            dropped.push(path);
        }
    });
    dropped
}

/// A value without unknown fields.
pub(super) fn pruned(at: At<'_>, value: &Document) -> Document {
    let mut value = value.clone();
    walk(at, &mut value, &Location::Root, &mut |_| ());
    value
}

fn walk(at: At<'_>, value: &mut Document, location: &Location<'_>, tell: &mut dyn FnMut(&Location<'_>)) {
    match value {
        _ if at.is_anything() => {}
        Document::Object(fields) => fields.retain(|name, value| {
            let location = location.field(name);
            let below = at.field(name);
            match below {
                Some(below) => walk(below, value, &location, tell),
                None => tell(&location),
            }
            below.is_some()
        }),
        Document::Array(list) => {
            for (index, item) in list.iter_mut().enumerate() {
                walk(at.item(), item, &location.item(index), tell);
            }
        }
        _ => {}
    }
}
