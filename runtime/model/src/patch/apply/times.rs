//! Writes that only change the times of entries.
use super::update::put;
use crate::schema::Document;

/// Restores the times of `live` if `new` differs from it only in times of managed fields. Called last, after defaults,
/// hooks and admission.
pub fn keep_times(live: &Document, new: &mut Document) {
    if only_times_differ(live, new) {
        put(new, live["metadata"].get("managedFields").cloned());
    }
}

/// True if two objects differ only in the times of entries, and the order that results from them. Ignores their
/// resourceVersions.
fn only_times_differ(old: &Document, new: &Document) -> bool {
    let [before, after] =
        [old, new].map(|object| object["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice));
    let same = |a: &Document, b: &Document| members(a, &["time"]).eq(members(b, &["time"]));
    before.len() == after.len()
        && before != after
        && before.iter().all(|entry| after.iter().any(|other| same(entry, other)))
        && members(old, &["metadata"]).eq(members(new, &["metadata"]))
        && metadata(old).eq(metadata(new))
}

fn metadata(object: &Document) -> impl Iterator<Item = (&String, &Document)> {
    members(&object["metadata"], &["managedFields", "resourceVersion"])
}

fn members<'d>(object: &'d Document, but: &'static [&'static str]) -> impl Iterator<Item = (&'d String, &'d Document)> {
    object.as_object().into_iter().flatten().filter(move |(name, _)| !but.contains(&name.as_str()))
}
