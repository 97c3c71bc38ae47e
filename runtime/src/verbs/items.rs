//! The items of a list: a state of the cache, and which of its objects are meant. No object is held by itself, so that a
//! list takes no memory of its own however long it is; who reads it walks the state, from wherever it stopped. Objects are
//! those that are stored: who shows them asks for them in the version of the request, one at a time.
use std::{ops::Range, sync::Arc};

use super::selection::Selection;
use crate::cache::{Filter, Object, Objects, Snapshot};

/// The objects of a list, in key order.
#[derive(Clone)]
pub struct Items {
    snapshot: Snapshot,
    /// Where they lie in the state.
    positions: Range<usize>,
    /// Which of those are meant, where not all are.
    filter: Option<Filter>,
    count: usize,
    json_bytes: usize,
}

impl Items {
    /// The first selected objects of a range of positions, as many as the limit says; zero is no limit.
    ///
    /// # Errors
    /// What cannot be read of them. Whether it is selected is not known.
    pub(super) fn select(
        snapshot: &Snapshot,
        positions: Range<usize>,
        selection: &Selection,
        limit: usize,
    ) -> Result<Self, Vec<Arc<Object>>> {
        let (mut end, mut count, mut json_bytes, mut broken) = (positions.start, 0, 0, Vec::new());
        for object in snapshot.slice(positions.clone()) {
            if limit > 0 && count == limit {
                break;
            }
            end += 1;
            if object.unreadable().is_some() {
                broken.push(object.clone());
            } else if selection.selects(object) {
                count += 1;
                json_bytes += object.json_bytes().len();
            }
        }
        if !broken.is_empty() {
            return Err(broken);
        }
        let positions = positions.start..end;
        Ok(Self { snapshot: snapshot.clone(), positions, filter: selection.filter.clone(), count, json_bytes })
    }

    /// None of a state.
    pub(super) fn none(snapshot: &Snapshot) -> Self {
        Self { snapshot: snapshot.clone(), positions: 0..0, filter: None, count: 0, json_bytes: 0 }
    }

    /// These objects.
    #[cfg(test)]
    pub fn of(objects: Vec<Arc<Object>>) -> Self {
        let (count, json_bytes) = (objects.len(), objects.iter().map(|object| object.json_bytes().len()).sum());
        let snapshot = Snapshot::of(crate::meta::Revision(1), objects);
        Self { snapshot, positions: 0..count, filter: None, count, json_bytes }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many bytes they are as JSON in the version that is stored, with type meta.
    pub fn json_bytes(&self) -> usize {
        self.json_bytes
    }

    /// Where the state goes on behind them.
    pub(super) fn end(&self) -> usize {
        self.positions.end
    }

    /// All of them.
    pub fn iter(&self) -> Walk<'_> {
        self.walk(Place::default())
    }

    /// All from a place on.
    pub fn walk(&self, from: Place) -> Walk<'_> {
        let start = (self.positions.start + from.0).min(self.positions.end);
        let objects = self.snapshot.slice(start..self.positions.end);
        Walk { objects, filter: self.filter.as_ref(), place: from }
    }
}

impl<'a> IntoIterator for &'a Items {
    type Item = &'a Arc<Object>;
    type IntoIter = Walk<'a>;

    fn into_iter(self) -> Walk<'a> {
        self.iter()
    }
}

/// How far a list was walked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(usize);

/// A walk over the items of a list.
pub struct Walk<'a> {
    objects: Objects<'a>,
    filter: Option<&'a Filter>,
    place: Place,
}

impl Walk<'_> {
    /// Where it goes on.
    pub fn place(&self) -> Place {
        self.place
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = &'a Arc<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let object = self.objects.next()?;
            self.place.0 += 1;
            if self.filter.is_none_or(|filter| filter(object)) {
                return Some(object);
            }
        }
    }
}
