//! The order of a merged list: patched items in the patch's order, the others in their previous order, interleaved so
//! that items that preceded a patched item still precede it if both orders allow that.
use std::collections::HashMap;

use crate::schema::Document;

/// An item of a merged list.
pub(super) struct Item {
    pub value: Document,
    /// Its position before the patch.
    pub before: Option<usize>,
}

/// Items, each with its current position.
pub(super) fn standing(items: Vec<Document>) -> Vec<Item> {
    items.into_iter().enumerate().map(|(index, value)| Item { value, before: Some(index) }).collect()
}

/// The identity of an item: the value of its key, or itself.
pub(super) fn identity<'d>(item: &'d Document, key: Option<&str>) -> Option<&'d Document> {
    match key {
        Some(key) => item.as_object()?.get(key),
        None => Some(item),
    }
}

/// The positions of identities in a list; the first one for duplicates.
pub(super) struct Places<'d>(HashMap<&'d Document, usize>);

impl<'d> Places<'d> {
    pub(super) fn of(items: impl IntoIterator<Item = &'d Document>, key: Option<&str>) -> Self {
        let items = items.into_iter();
        let mut places = HashMap::with_capacity(items.size_hint().0);
        for (index, item) in items.enumerate() {
            if let Some(identity) = identity(item, key) {
                places.entry(identity).or_insert(index);
            }
        }
        Self(places)
    }

    fn get(&self, identity: &Document) -> Option<usize> {
        self.0.get(identity).copied()
    }
}

/// Sorts a merged list. `wanted` are the positions of the patched items.
pub(super) fn arrange(merged: Vec<Item>, wanted: &Places<'_>, key: Option<&str>) -> Vec<Document> {
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for item in merged {
        match identity(&item.value, key).and_then(|identity| wanted.get(identity)) {
            Some(place) => named.push((place, item)),
            None => others.push(item),
        }
    }
    named.sort_by_key(|(place, _)| *place);
    others.sort_by_key(|item| item.before.unwrap_or(usize::MAX));
    let mut arranged = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, item) in named {
        let stood_before =
            |other: &Item| matches!((other.before, item.before), (Some(other), Some(item)) if other < item);
        while let Some(other) = others.next_if(stood_before) {
            arranged.push(other.value);
        }
        arranged.push(item.value);
    }
    arranged.extend(others.map(|other| other.value));
    arranged
}
