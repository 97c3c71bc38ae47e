//! Managed fields between an object and its Scale, where the number of replicas has another path.
//!
//! A write of the scale runs on the Scale's own document, with [`to_scale`]'s entries in it as the live ones; what comes
//! of them goes back through [`to_parent`].
use super::{element::Element, owners::Owners, set::Set};
use crate::schema::Document;

/// The group and version of Scale.
const SCALE: &str = "autoscaling/v1";
const REPLICAS: [Element<'static>; 2] = [Element::Field("spec"), Element::Field("replicas")];

/// The entries of an object that own its replicas, in Scale's terms; `null` if there are none.
///
/// `parent` are the object's entries, `replicas` is the path of its replicas.
pub fn to_scale(parent: &Document, replicas: &[String]) -> Document {
    let path = path_of(replicas);
    let mut owners = read(parent);
    owners.retain(|owner| owner.has(&path));
    for owner in owners.iter_mut() {
        owner.restate(SCALE, one(&REPLICAS));
    }
    owners.write().unwrap_or(Document::Null)
}

/// An object's entries after its Scale was written; `null` if there are none.
///
/// `scale` are the entries of the Scale as it was written, `api_version` is the object's. Who owned the replicas and does
/// not any more loses them; whoever else owns them does so through the subresource that its entry names.
pub fn to_parent(parent: &Document, scale: &Document, api_version: &str, replicas: &[String]) -> Document {
    let path = path_of(replicas);
    let (mut owners, mut scaled) = (read(parent), read(scale));
    scaled.retain(|owner| owner.has(&REPLICAS));
    for owner in scaled.iter_mut() {
        owner.restate(api_version, one(&path));
    }
    for owner in owners.iter_mut() {
        let owned = owner.has(&path);
        if let Some(kept) = scaled.take(&owner.who) {
            owner.time = kept.time;
            owner.gain(one(&path));
        } else if owned {
            owner.lose(&one(&path));
        }
    }
    owners.drop_empty();
    owners.append(scaled);
    owners.write().unwrap_or(Document::Null)
}

fn path_of(names: &[String]) -> Vec<Element<'_>> {
    names.iter().map(|name| Element::Field(name)).collect()
}

fn one<'a>(path: &[Element<'a>]) -> Set<'a> {
    let mut set = Set::default();
    set.insert(path);
    set
}

/// Entries that are none own nothing.
fn read(entries: &Document) -> Owners<'_> {
    Owners::read_plain(entries.as_array().map_or(&[], Vec::as_slice)).unwrap_or_default()
}
