//! Reads one resource's changes from the store's change log, in bounded pieces and on a blocking thread.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use super::{EventType, Object, Resource, Subscription, change::Change, state::lock, tree::Tree};
use crate::{
    meta::Revision,
    storage::{self, ReadError},
};

/// The target size of a piece of history in bytes of values.
const PIECE_BYTES: usize = 1 << 20;
/// The minimum number of changes in one read.
const MIN_CHANGES: usize = 16;
/// The maximum number of changes in one read.
const MAX_CHANGES: usize = 2048;

/// A piece of a resource's past changes.
pub(super) struct Piece {
    pub(super) changes: Vec<Arc<Change>>,
    /// The revision up to which the log was examined.
    pub(super) upto: Revision,
}

/// Reads forward through the change log.
pub(super) struct History {
    resource: Arc<Resource>,
    /// The revision up to which the log was read.
    position: Revision,
    /// The number of changes to read next: smaller if values are large.
    count: usize,
}

/// Objects that are already in memory.
struct Known {
    /// Objects of the current piece: a change's new object is the old one of the key's next change.
    recent: HashMap<Box<str>, Arc<Object>>,
    /// The newest state.
    tree: Tree,
}

impl History {
    pub(super) fn new(resource: Arc<Resource>, after: Revision) -> Self {
        Self { resource, position: after, count: 128 }
    }

    /// The next piece: matching changes up to a revision. Blocks on the disk.
    pub(super) fn read(&mut self, subscription: &Subscription, upto: Revision) -> Result<Piece, ReadError> {
        let found = self.resource.shared.store.changes(self.position, self.count)?;
        let bytes: usize = found.iter().map(size).sum();
        self.count = (self.count * PIECE_BYTES / bytes.max(1)).clamp(MIN_CHANGES, (self.count * 2).min(MAX_CHANGES));
        // If the log has no more changes, everything up to the requested end has been read.
        let end = found.last().map_or(upto, |change| change.revision.min(upto));
        let mut rendered = Ok((Vec::new(), end));
        self.resource.reader.resolve(&mut || rendered = self.render(&found, end));
        let (mut changes, end) = rendered?;
        changes.retain(|change| subscription.touched(change));
        self.position = end.max(self.position);
        Ok(Piece { changes, upto: self.position })
    }

    /// The changes of the resource among those found, and the revision up to which they could be read.
    fn render(&self, found: &[storage::Change], end: Revision) -> Result<(Vec<Arc<Change>>, Revision), ReadError> {
        let mut known = Known { recent: HashMap::new(), tree: lock(&self.resource.feed).tree.clone() };
        let mut changes = Vec::new();
        let mut reached = self.position;
        for change in found.iter().take_while(|change| change.revision <= end) {
            if change.key.starts_with(&*self.resource.prefix) {
                match known.change(&self.resource, change) {
                    Ok(change) => changes.push(Arc::new(change)),
                    // The next call reports the error, after the changes before it.
                    Err(_) if reached > self.position => return Ok((changes, reached)),
                    Err(error) => return Err(error),
                }
            }
            reached = change.revision;
        }
        Ok((changes, end))
    }
}

impl Known {
    /// Fails if the replaced value cannot be read: a watcher that saw the old object could not get a correct event.
    fn change(&mut self, resource: &Resource, change: &storage::Change) -> Result<Change, ReadError> {
        let key = &change.key;
        let old = match &change.previous {
            Some((revision, value)) => {
                let damaged =
                    |damage| ReadError::Damaged(format!("{key} before revision {}: {damage}", change.revision));
                let old = match (self.find(resource, key, *revision), value) {
                    (Some(object), _) => object,
                    (None, Ok(value)) => self.object(resource, EventType::Added, key, *revision, value),
                    (None, Err(damage)) => return Err(damaged(damage)),
                };
                Some(old)
            }
            None => None,
        };
        let natural = if old.is_some() { EventType::Modified } else { EventType::Added };
        let new = change.value.as_ref().map(|value| self.object(resource, natural, key, change.revision, value));
        Ok(Change::new(change.revision, new, old))
    }

    fn find(&self, resource: &Resource, key: &str, revision: Revision) -> Option<Arc<Object>> {
        let below = resource.below(key);
        let known = [self.recent.get(below), self.tree.get(below)];
        known.into_iter().flatten().find(|object| object.revision() == revision).map(Arc::clone)
    }

    fn object(
        &mut self,
        resource: &Resource,
        natural: EventType,
        key: &str,
        revision: Revision,
        value: &Bytes,
    ) -> Arc<Object> {
        if let Some(object) = self.find(resource, key, revision) {
            return object;
        }
        let object = Arc::new(resource.render(natural, key, revision, Ok(value)));
        self.recent.insert(resource.below(key).into(), Arc::clone(&object));
        object
    }
}

fn size(change: &storage::Change) -> usize {
    let previous = change.previous.as_ref().map_or(0, |(_, value)| value.as_ref().map_or(0, Bytes::len));
    change.key.len() + change.value.as_ref().map_or(0, Bytes::len) + previous
}

/// Extends a resource's window back into the change log, as far as its limits allow. The window is empty after a
/// restart; the first watch that resumes from an older revision triggers this once. Blocks on the disk.
pub(super) fn refill(resource: &Arc<Resource>) -> Result<(), ReadError> {
    let floor = lock(&resource.feed).floor();
    let shared = &resource.shared;
    let reach = u64::try_from(shared.limits.window).unwrap_or(u64::MAX);
    // Revisions count changes, so this reads no more changes than a window holds.
    let mut after = shared.store.compacted().max(Revision(floor.0.saturating_sub(reach)));
    let mut history = History::new(Arc::clone(resource), after);
    let mut changes: Vec<Arc<Change>> = Vec::new();
    let mut bytes = 0;
    while history.position < floor {
        let piece = history.read(&Subscription::All, floor)?;
        bytes += piece.changes.iter().map(|change| change.size()).sum::<usize>();
        changes.extend(piece.changes);
        let mut surplus = 0;
        while bytes > shared.limits.window_bytes && surplus < changes.len() {
            bytes -= changes[surplus].size();
            after = changes[surplus].revision;
            surplus += 1;
        }
        changes.drain(..surplus);
    }
    lock(&resource.feed).prepend(changes, after, floor);
    Ok(())
}
