//! The items of a list: a snapshot and a selection of its objects. Objects are not held individually, so a list takes
//! no memory of its own, however long it is. Readers iterate over the snapshot and can resume anywhere. Objects are in the
//! storage version; readers convert them to the requested version one at a time, or in parts if a webhook does that.
use std::{ops::Range, sync::Arc};

use super::{ConversionFailures, Error, Request, selection::Selection, stored::unreadable};
use crate::{
    cache::{Filter, Object, Objects, Scope, Snapshot},
    meta::Revision,
    registry::ResourceEntry,
};

/// The maximum number of objects that a webhook converts at a time for one list.
const PART_OBJECTS: usize = 500;
/// The maximum size of them in bytes; the last one may exceed it. Converting takes several times as much.
const PART_BYTES: usize = 1 << 20;

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
    /// The number of objects after them that may be selected, too.
    rest: usize,
    /// A webhook has to convert them.
    wait: bool,
}

impl Items {
    /// The first selected objects after a key, up to a limit; zero means no limit. Fails with [`Error::StoreRead`] for
    /// unreadable objects, because it is unknown whether they are selected.
    pub(super) fn select(
        request: &Request,
        snapshot: &Snapshot,
        selection: &Selection,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Self, Error> {
        let scope = Scope { prefix: &selection.prefix, after, limit };
        let conditions = if selection.key.is_none() { selection.conditions.as_slice() } else { &[] };
        if let Some(mut hits) = snapshot.search(conditions, scope) {
            let mut found = Vec::new();
            while (limit == 0 || found.len() < limit)
                && let Some(object) = hits.next()
            {
                found.extend(selection.selects(object).then(|| object.clone()));
            }
            let (rest, wait) = (hits.len(), request.resource.waiting_view().is_some());
            return Ok(Self { rest, wait, ..Self::of(snapshot.revision(), found) });
        }
        let scanned = Self::scan(request, snapshot, selection, after, limit)?;
        request.resource.objects.scanned(snapshot, conditions, scanned.positions.len(), scanned.count);
        Ok(scanned)
    }

    /// The same by a look at each object.
    fn scan(
        request: &Request,
        snapshot: &Snapshot,
        selection: &Selection,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Self, Error> {
        let positions = selection.positions(snapshot, after);
        if selection.filter.is_none() && !snapshot.has_unreadable() {
            return Ok(Self::unfiltered(request, snapshot, positions, limit));
        }
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
        let (rest, positions) = (positions.end - end, positions.start..end);
        let (snapshot, filter) = (snapshot.clone(), selection.filter.clone());
        let wait = request.resource.waiting_view().is_some();
        Ok(Self { snapshot, positions, filter, count, json_bytes, rest, wait })
    }

    /// The first objects between two positions, without a look at any.
    fn unfiltered(request: &Request, snapshot: &Snapshot, positions: Range<usize>, limit: usize) -> Self {
        let count = if limit > 0 { positions.len().min(limit) } else { positions.len() };
        let (rest, positions) = (positions.len() - count, positions.start..positions.start + count);
        let json_bytes = snapshot.json_bytes(positions.clone());
        let (snapshot, wait) = (snapshot.clone(), request.resource.waiting_view().is_some());
        Self { snapshot, positions, filter: None, count, json_bytes, rest, wait }
    }

    /// All objects of a snapshot, readable or not.
    pub(crate) fn all(snapshot: &Snapshot) -> Self {
        let count = snapshot.len();
        let json_bytes = snapshot.json_bytes(0..count);
        Self { snapshot: snapshot.clone(), positions: 0..count, filter: None, count, json_bytes, rest: 0, wait: false }
    }

    /// Exactly these objects.
    pub fn of(revision: Revision, objects: Vec<Arc<Object>>) -> Self {
        Self::all(&Snapshot::of(revision, objects))
    }

    /// The objects in the requested version, if a webhook converts them. Fails with [`Error::Internal`] if that fails.
    pub(crate) async fn converted(self, request: &Request) -> Result<Self, Error> {
        if !self.wait {
            return Ok(self);
        }
        let (mut objects, mut position) = (Vec::with_capacity(self.count), ItemPosition::default());
        loop {
            let part = request.permits().outside(self.part(&request.resource, position)).await;
            let (part, next) = part.map_err(|failures| failures.refusal(&request.resource, ""))?;
            if part.is_empty() {
                break;
            }
            objects.extend(part);
            position = next;
        }
        Ok(Self::of(self.snapshot.revision(), objects))
    }

    /// The next items in the requested version, to which a webhook converts them, and the position after them. The part
    /// after the last item is empty. Fails with the first item that cannot be converted.
    pub(crate) async fn part(
        &self,
        resource: &ResourceEntry,
        from: ItemPosition,
    ) -> Result<(Vec<Arc<Object>>, ItemPosition), ConversionFailures> {
        let (mut stored, mut bytes, mut iter) = (Vec::new(), 0, self.iter_from(from));
        while stored.len() < PART_OBJECTS
            && bytes < PART_BYTES
            && let Some(object) = iter.next()
        {
            bytes += object.json_bytes().len();
            stored.push(object.clone());
        }
        let position = iter.position();
        drop(iter);
        let Some((view, webhooks)) = resource.waiting_view() else { return Ok((stored, position)) };
        let views = Box::pin(view.of_all(webhooks, &stored)).await;
        let views = stored.iter().zip(views);
        let views = views.map(|(stored, view)| view.map_err(|why| ConversionFailures::one(resource, stored, &why)));
        Ok((views.collect::<Result<_, _>>()?, position))
    }

    /// True if a webhook has to convert them to the requested version, in [parts](Self::part).
    pub(crate) fn wait(&self) -> bool {
        self.wait
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

    /// The number of objects after them that may be selected, too.
    pub(super) fn rest(&self) -> usize {
        self.rest
    }

    /// The key of the last object that was examined for them. Further items come after it.
    pub(super) fn last_key(&self) -> Option<&str> {
        let end = self.positions.end;
        self.snapshot.slice(end.saturating_sub(1)..end).next().map(|object| object.key())
    }

    /// Iterates over all items.
    pub fn iter(&self) -> ItemIter<'_> {
        self.iter_from(ItemPosition::default())
    }

    /// Iterates from a position.
    pub fn iter_from(&self, from: ItemPosition) -> ItemIter<'_> {
        let start = (self.positions.start + from.0).min(self.positions.end);
        let objects = self.snapshot.slice(start..self.positions.end);
        ItemIter { objects, filter: self.filter.as_ref(), position: from }
    }
}

impl<'a> IntoIterator for &'a Items {
    type Item = &'a Arc<Object>;
    type IntoIter = ItemIter<'a>;

    fn into_iter(self) -> ItemIter<'a> {
        self.iter()
    }
}

/// The position of an iteration.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemPosition(usize);

/// An iteration over the items of a list.
pub struct ItemIter<'a> {
    objects: Objects<'a>,
    filter: Option<&'a Filter>,
    position: ItemPosition,
}

impl ItemIter<'_> {
    /// The position to continue from.
    pub fn position(&self) -> ItemPosition {
        self.position
    }
}

impl<'a> Iterator for ItemIter<'a> {
    type Item = &'a Arc<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let object = self.objects.next()?;
            self.position.0 += 1;
            if self.filter.is_none_or(|filter| filter(object)) {
                return Some(object);
            }
        }
    }
}
