//! The items of a list: a snapshot and a selection of its objects. Objects are not held individually, so a list takes
//! no memory of its own, however long it is. Readers walk the snapshot and can resume anywhere. Objects are in the
//! storage version; readers convert them to the requested version one at a time. If a webhook converts them, that was done
//! before.
use std::{ops::Range, sync::Arc};

use super::{Error, Request, Unconverted, get::unreadable, selection::Selection, waiting};
use crate::{
    cache::{Filter, Object, Objects, Snapshot},
    meta::Revision,
};

/// The objects of a list, in key order.
#[derive(Clone)]
pub struct Items {
    snapshot: Snapshot,
    /// Their positions in the snapshot.
    positions: Range<usize>,
    /// Selects objects, if not all are selected.
    filter: Option<Filter>,
    count: usize,
    json_bytes: usize,
}

impl Items {
    /// The first selected objects in a range of positions, up to a limit; zero means no limit. Fails with
    /// [`Error::StoreRead`] for unreadable objects, because it is unknown whether they are selected.
    pub(super) fn select(
        request: &Request,
        snapshot: &Snapshot,
        positions: Range<usize>,
        selection: &Selection,
        limit: usize,
    ) -> Result<Self, Error> {
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
            return Err(unreadable(request, &broken));
        }
        let positions = positions.start..end;
        Ok(Self { snapshot: snapshot.clone(), positions, filter: selection.filter.clone(), count, json_bytes })
    }

    /// All objects of a snapshot, readable or not.
    pub(crate) fn all(snapshot: &Snapshot) -> Self {
        let json_bytes = snapshot.range("", None).map(|object| object.json_bytes().len()).sum();
        let count = snapshot.len();
        Self { snapshot: snapshot.clone(), positions: 0..count, filter: None, count, json_bytes }
    }

    /// Exactly these objects.
    pub fn of(revision: Revision, objects: Vec<Arc<Object>>) -> Self {
        Self::all(&Snapshot::of(revision, objects))
    }

    /// The objects in the requested version, if a webhook converts them. Fails with [`Error::Internal`] if that fails.
    pub(super) async fn converted(self, request: &Request) -> Result<Self, Error> {
        let served = &request.served;
        let Some((view, webhooks)) = served.waiting_view() else { return Ok(self) };
        let stored: Vec<Arc<Object>> = self.iter().cloned().collect();
        let views = Box::pin(waiting::outside(view.of_all(webhooks, &stored))).await;
        let mut objects = Vec::with_capacity(views.len());
        for (stored, view) in stored.iter().zip(views) {
            let failed = |why: String| Unconverted::one(served, stored, &why).refusal(served, "");
            objects.push(view.map_err(failed)?);
        }
        let (positions, snapshot) = (0..objects.len(), Snapshot::of(self.snapshot.revision(), objects));
        Ok(Self { snapshot, positions, filter: None, ..self })
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are no items.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Their size as JSON in the storage version, with type meta.
    pub fn json_bytes(&self) -> usize {
        self.json_bytes
    }

    /// The position after them in the snapshot.
    pub(super) fn end(&self) -> usize {
        self.positions.end
    }

    /// Iterates over all items.
    pub fn iter(&self) -> Walk<'_> {
        self.walk(Place::default())
    }

    /// Iterates from a place.
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

/// The place that an iteration reached.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place(usize);

/// An iteration over the items of a list.
pub struct Walk<'a> {
    objects: Objects<'a>,
    filter: Option<&'a Filter>,
    place: Place,
}

impl Walk<'_> {
    /// The place to continue from.
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
