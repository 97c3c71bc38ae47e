//! Which resource a key of the store belongs to: the one with the longest prefix of the key.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

/// The route of a key: its longest registered prefix, and that prefix.
pub(super) fn route<'a, T>(routes: &'a mut BTreeMap<Arc<str>, T>, key: &str) -> Option<(Arc<str>, &'a mut T)> {
    let prefix = Arc::clone(longest_prefix(routes, key)?);
    routes.get_mut(&prefix).map(|route| (prefix, route))
}

/// The longest of the prefixes that the key has.
pub(super) fn longest_prefix<'a, T>(routes: &'a BTreeMap<Arc<str>, T>, key: &str) -> Option<&'a Arc<str>> {
    let mut most = key.len();
    loop {
        // The last prefix that sorts at or before the rest of the key is the answer, or it shows how far to shorten the
        // key: any other prefix of the key is at most as long as their common part.
        let upto = (Bound::Unbounded, Bound::Included(&key[..most]));
        let (prefix, _) = routes.range::<str, _>(upto).next_back()?;
        let common = prefix.bytes().zip(key.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
        if common == prefix.len() {
            return Some(prefix);
        }
        most = key.floor_char_boundary(common);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_routed_by_its_longest_prefix() {
        let prefixes = ["/a/", "/a/m/", "/a/m/x/", "/ab/", "/b/ä/", "/b/"];
        let mut routes: BTreeMap<Arc<str>, &str> =
            prefixes.iter().map(|prefix| (Arc::from(*prefix), *prefix)).collect();
        for (key, want) in [
            ("/a/z", Some("/a/")),
            ("/a/b", Some("/a/")),
            ("/a/m/y", Some("/a/m/")),
            ("/a/m/x/1", Some("/a/m/x/")),
            ("/a/m/x0", Some("/a/m/")),
            ("/a/m", Some("/a/")),
            ("/a/m0", Some("/a/")),
            ("/ab/1", Some("/ab/")),
            ("/ac/1", None),
            ("/b/ö/1", Some("/b/")),
            ("/b/ä/1", Some("/b/ä/")),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(route(&mut routes, key).map(|(_, found)| *found), want, "{key}");
        }
    }
}
