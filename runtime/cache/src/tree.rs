//! The objects of a resource in key order, and the indexes of some of their fields and labels, as one persistent value:
//! a change of the objects changes the indexes, and an old copy has the old indexes. Undoing changes on a copy therefore
//! keeps its indexes right, too.

use std::sync::Arc;

use super::{
    btree::{self, BTree, Order, SortKey},
    index::{Index, Term},
    object::Object,
    texts::PackedTexts,
};

/// Objects are sorted by key.
#[derive(Clone, Copy)]
pub(super) struct ByKey;

impl Order for ByKey {
    type Entry = Arc<Object>;
    type Bound = Arc<str>;

    fn key<'a>(&self, entry: &'a Arc<Object>) -> SortKey<'a> {
        (entry.key(), "")
    }

    fn bound(&self, entry: &Arc<Object>) -> Arc<str> {
        entry.key().into()
    }

    fn bound_key<'a>(&self, bound: &'a Arc<str>) -> SortKey<'a> {
        (bound, "")
    }

    fn size(&self, entry: &Arc<Object>) -> usize {
        entry.json_bytes().len()
    }

    fn is_same(&self, a: &Arc<Object>, b: &Arc<Object>) -> bool {
        Arc::ptr_eq(a, b)
    }
}

pub(super) type Iter<'a> = btree::Iter<'a, ByKey>;

/// Objects in key order, with indexes.
#[derive(Clone)]
pub(super) struct Tree {
    objects: BTree<ByKey>,
    /// The number of unreadable objects, whose fields and labels are unknown.
    unreadable: usize,
    /// `None` instead of an empty list, so that a copy costs nothing.
    indexes: Option<Arc<Vec<Index>>>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { objects: BTree::new(ByKey), unreadable: 0, indexes: None }
    }
}

impl Tree {
    /// A tree of objects that are in key order without duplicates.
    pub(super) fn from_sorted(objects: impl IntoIterator<Item = Arc<Object>>) -> Self {
        let mut unreadable = 0;
        let counted = objects.into_iter().inspect(|object| unreadable += usize::from(object.unreadable().is_some()));
        let objects = BTree::from_sorted(ByKey, counted);
        Self { objects, unreadable, indexes: None }
    }

    /// The same with all indexes that another tree has.
    #[must_use]
    pub(super) fn indexed_like(mut self, other: &Self) -> Self {
        for index in other.indexes() {
            let built = self.build(index.term());
            self.add(built);
        }
        self
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Object>> {
        self.objects.get((key, ""))
    }

    /// Inserts an object under its key, and returns the previous one.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let new = self.indexes.is_some().then(|| object.texts().clone());
        self.unreadable += usize::from(object.unreadable().is_some());
        let old = self.objects.insert(object);
        self.forget(old.as_ref(), new.as_ref());
        old
    }

    /// Removes and returns the object under a key.
    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<Object>> {
        let old = self.objects.remove((key, ""));
        self.forget(old.as_ref(), None);
        old
    }

    /// Replaces a former object in counts and indexes.
    fn forget(&mut self, old: Option<&Arc<Object>>, new: Option<&PackedTexts>) {
        self.unreadable -= usize::from(old.is_some_and(|object| object.unreadable().is_some()));
        let old = old.map(|object| object.texts());
        if old != new
            && let Some(indexes) = &mut self.indexes
        {
            for index in Arc::make_mut(indexes) {
                index.replace(old, new);
            }
        }
    }

    /// The number of keys before a bound. `before` must hold for all keys up to some point and for none after it.
    pub(super) fn rank(&self, before: impl Fn(&str) -> bool) -> usize {
        self.objects.rank(|(key, _)| before(key))
    }

    /// Objects between two positions.
    pub(super) fn slice(&self, from: usize, to: usize) -> Iter<'_> {
        self.objects.slice(from, to)
    }

    /// The size as JSON of the objects between two positions.
    pub(super) fn json_bytes(&self, from: usize, to: usize) -> usize {
        self.objects.size_before(to).saturating_sub(self.objects.size_before(from))
    }

    /// True if fields and labels of some objects are unknown.
    pub(super) fn has_unreadable(&self) -> bool {
        self.unreadable > 0
    }

    pub(super) fn indexes(&self) -> &[Index] {
        self.indexes.as_ref().map_or(&[], |indexes| indexes.as_slice())
    }

    pub(super) fn index(&self, term: &Term) -> Option<&Index> {
        self.indexes().iter().find(|index| index.term() == term)
    }

    /// Builds an index of these objects, which is not part of the tree yet.
    pub(super) fn build(&self, term: &Term) -> Index {
        Index::build(term, self.slice(0, self.len()).map(|object| object.texts()))
    }

    /// True if this is another version of the same objects, without a change in between.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.objects.is_same(&other.objects)
    }

    /// The objects that are only in this tree, and those that are only in a later version of it.
    pub(super) fn differences(&self, later: &Self) -> (Vec<Arc<Object>>, Vec<Arc<Object>>) {
        self.objects.differences(&later.objects)
    }

    /// Brings an index of these objects up to a later version of them, and returns the number of changed objects.
    pub(super) fn follow(&self, later: &Self, index: &mut Index) -> usize {
        let (gone, come) = self.objects.differences(&later.objects);
        for object in &gone {
            index.replace(Some(object.texts()), None);
        }
        for object in &come {
            index.replace(None, Some(object.texts()));
        }
        gone.len().max(come.len())
    }

    /// Adds an index of exactly these objects.
    pub(super) fn add(&mut self, index: Index) {
        let indexes = Arc::make_mut(self.indexes.get_or_insert_default());
        indexes.retain(|other| other.term() != index.term());
        indexes.push(index);
    }

    /// Removes and returns an index.
    pub(super) fn drop_index(&mut self, term: &Term) -> Option<Index> {
        let at = self.indexes().iter().position(|index| index.term() == term)?;
        let index = Arc::make_mut(self.indexes.as_mut()?).remove(at);
        self.indexes.take_if(|indexes| indexes.is_empty());
        Some(index)
    }
}

#[cfg(test)]
mod tests;
