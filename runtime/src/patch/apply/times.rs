//! Whether a write changed anything but times.
use crate::schema::Document;

/// Nothing but the times of managed fields, and the order that they bring with them, tells two objects apart.
/// Their resourceVersions do not count.
pub(super) fn only_differ(old: &Document, new: &Document) -> bool {
    let [before, after] = [old, new].map(entries_of);
    let same = |a: &Document, b: &Document| members(a, &["time"]).eq(members(b, &["time"]));
    before.len() == after.len()
        && before != after
        && before.iter().all(|entry| after.iter().any(|other| same(entry, other)))
        && members(old, &["metadata"]).eq(members(new, &["metadata"]))
        && metadata(old).eq(metadata(new))
}

fn entries_of(object: &Document) -> &[Document] {
    object["metadata"]["managedFields"].as_array().map_or(&[], Vec::as_slice)
}

fn metadata(object: &Document) -> impl Iterator<Item = (&String, &Document)> {
    members(&object["metadata"], &["managedFields", "resourceVersion"])
}

fn members<'d>(object: &'d Document, but: &'static [&'static str]) -> impl Iterator<Item = (&'d String, &'d Document)> {
    object.as_object().into_iter().flatten().filter(move |(name, _)| !but.contains(&name.as_str()))
}
