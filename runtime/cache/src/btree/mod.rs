//! A persistent, ordered tree: a B+tree whose nodes are shared between versions and store the number of entries below
//! them, and their size. Copies are O(1), and a change copies one path. Positions, counts and sizes, which every page of a
//! list needs, take O(log n). Later changes never affect a kept copy.

mod differences;
mod iter;

use std::{mem, sync::Arc};

pub(super) use iter::Iter;

/// The maximum number of entries in a node. A change copies one node per level; a lookup searches one. Width 16 is
/// equally fast.
const WIDTH: usize = 32;
/// A node with fewer entries is merged with a neighbour if both fit into one.
const SPARSE: usize = WIDTH / 4;

/// The sort key of an entry: one text, then another.
pub(super) type SortKey<'a> = (&'a str, &'a str);

/// The order of a tree's entries.
pub(super) trait Order: Clone {
    type Entry: Clone;
    /// The key that a branch keeps of the first entry of a child.
    type Bound: Clone;

    fn key<'a>(&self, entry: &'a Self::Entry) -> SortKey<'a>;
    fn bound(&self, entry: &Self::Entry) -> Self::Bound;
    fn bound_key<'a>(&self, bound: &'a Self::Bound) -> SortKey<'a>;
    /// The size of an entry.
    fn size(&self, entry: &Self::Entry) -> usize;
    /// True if the entries are one and the same.
    fn is_same(&self, a: &Self::Entry, b: &Self::Entry) -> bool;
}

/// Entries in order, without duplicate keys.
pub(super) struct BTree<O: Order> {
    order: O,
    root: Arc<Node<O>>,
    len: usize,
}

enum Node<O: Order> {
    Leaf(Vec<O::Entry>),
    Branch(Vec<Child<O>>),
}

struct Child<O: Order> {
    /// No key of this child is smaller (except in the first child), and every key of earlier children is.
    min: O::Bound,
    count: usize,
    size: usize,
    node: Arc<Node<O>>,
}

impl<O: Order> Clone for BTree<O> {
    fn clone(&self) -> Self {
        Self { order: self.order.clone(), root: Arc::clone(&self.root), len: self.len }
    }
}

impl<O: Order> Clone for Child<O> {
    fn clone(&self) -> Self {
        Self { min: self.min.clone(), count: self.count, size: self.size, node: Arc::clone(&self.node) }
    }
}

impl<O: Order> BTree<O> {
    pub(super) fn new(order: O) -> Self {
        Self { order, root: Arc::new(Node::Leaf(Vec::new())), len: 0 }
    }

    /// A tree of entries that are in order without duplicates.
    pub(super) fn from_sorted(order: O, entries: impl IntoIterator<Item = O::Entry>) -> Self {
        let (mut entries, mut level, mut len) = (entries.into_iter().peekable(), Vec::new(), 0);
        while entries.peek().is_some() {
            let mut leaf = Vec::with_capacity(WIDTH);
            leaf.extend(entries.by_ref().take(WIDTH));
            leaf.shrink_to_fit();
            debug_assert!(leaf.is_sorted_by(|a, b| order.key(a) < order.key(b)));
            len += leaf.len();
            level.extend(Child::over(&order, Node::Leaf(leaf)));
        }
        while level.len() > 1 {
            level = level.chunks(WIDTH).filter_map(|part| Child::over(&order, Node::Branch(part.to_vec()))).collect();
        }
        match level.pop() {
            Some(top) => Self { order, root: top.node, len },
            None => Self::new(order),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn order(&self) -> &O {
        &self.order
    }

    pub(super) fn get(&self, key: SortKey<'_>) -> Option<&O::Entry> {
        let mut node = &*self.root;
        loop {
            match node {
                Node::Leaf(entries) => return find(&self.order, entries, key).ok().map(|at| &entries[at]),
                Node::Branch(children) => node = &children[child_for(&self.order, children, key)].node,
            }
        }
    }

    /// Inserts an entry under its key, and returns the previous one.
    pub(super) fn insert(&mut self, entry: O::Entry) -> Option<O::Entry> {
        let (old, split) = Node::insert(&mut self.root, &self.order, entry);
        self.len += usize::from(old.is_none());
        if let Some(right) = split {
            let (min, count) = (right.min.clone(), self.len - right.count);
            let left = Child { min, count, size: self.root.size(&self.order), node: Arc::clone(&self.root) };
            self.root = Arc::new(Node::Branch(vec![left, right]));
        }
        old
    }

    /// Removes and returns the entry under a key.
    pub(super) fn remove(&mut self, key: SortKey<'_>) -> Option<O::Entry> {
        // A miss must not copy the path.
        self.get(key)?;
        let old = Node::remove(&mut self.root, &self.order, key)?;
        self.len -= 1;
        while let Node::Branch(children) = &*self.root {
            match children.as_slice() {
                [] => self.root = Arc::new(Node::Leaf(Vec::new())),
                [only] => self.root = Arc::clone(&only.node),
                _ => break,
            }
        }
        Some(old)
    }

    /// The number of keys before a bound. `before` must hold for all keys up to some point and for none after it.
    pub(super) fn rank(&self, before: impl Fn(SortKey<'_>) -> bool) -> usize {
        let mut node = &*self.root;
        let mut passed = 0;
        loop {
            match node {
                Node::Leaf(entries) => return passed + entries.partition_point(|entry| before(self.order.key(entry))),
                Node::Branch(children) => {
                    // The first bound says nothing.
                    let at = children[1..].partition_point(|child| before(self.order.bound_key(&child.min)));
                    passed += children[..at].iter().map(|child| child.count).sum::<usize>();
                    node = &children[at].node;
                }
            }
        }
    }

    /// The size of the entries before a position.
    pub(super) fn size_before(&self, mut position: usize) -> usize {
        let (mut node, mut size) = (&*self.root, 0);
        loop {
            match node {
                Node::Leaf(entries) => {
                    return size + entries.iter().take(position).map(|entry| self.order.size(entry)).sum::<usize>();
                }
                Node::Branch(children) => {
                    let mut rest = children.iter();
                    let child = rest.find(|child| {
                        let here = position < child.count;
                        (position, size) =
                            if here { (position, size) } else { (position - child.count, size + child.size) };
                        here
                    });
                    let Some(child) = child else { return size };
                    node = &child.node;
                }
            }
        }
    }

    /// Entries between two positions.
    pub(super) fn slice(&self, from: usize, to: usize) -> Iter<'_, O> {
        Iter::new(&self.root, from, to.min(self.len).saturating_sub(from))
    }
}

impl<O: Order> Child<O> {
    /// A child over a node; `None` if that is empty.
    fn over(order: &O, node: Node<O>) -> Option<Self> {
        let (min, count) = match &node {
            Node::Leaf(entries) => (order.bound(entries.first()?), entries.len()),
            Node::Branch(children) => {
                (children.first()?.min.clone(), children.iter().map(|child| child.count).sum::<usize>())
            }
        };
        Some(Self { min, count, size: node.size(order), node: Arc::new(node) })
    }
}

impl<O: Order> Clone for Node<O> {
    /// Reserves room for one more entry, because a node is copied to be changed.
    fn clone(&self) -> Self {
        fn roomy<T: Clone>(entries: &[T]) -> Vec<T> {
            let mut copy = Vec::with_capacity(entries.len() + 1);
            copy.extend_from_slice(entries);
            copy
        }
        match self {
            Self::Leaf(entries) => Self::Leaf(roomy(entries)),
            Self::Branch(children) => Self::Branch(roomy(children)),
        }
    }
}

impl<O: Order> Node<O> {
    fn insert(node: &mut Arc<Self>, order: &O, entry: O::Entry) -> (Option<O::Entry>, Option<Child<O>>) {
        match Arc::make_mut(node) {
            Self::Leaf(entries) => match find(order, entries, order.key(&entry)) {
                Ok(at) => (Some(mem::replace(&mut entries[at], entry)), None),
                Err(at) => {
                    entries.insert(at, entry);
                    (None, split(entries, at).and_then(|right| Child::over(order, Self::Leaf(right))))
                }
            },
            Self::Branch(children) => {
                let at = child_for(order, children, order.key(&entry));
                let child = &mut children[at];
                child.size += order.size(&entry);
                let (old, right) = Self::insert(&mut child.node, order, entry);
                child.count += usize::from(old.is_none());
                child.size -= old.as_ref().map_or(0, |old| order.size(old));
                let Some(right) = right else { return (old, None) };
                child.count -= right.count;
                child.size -= right.size;
                children.insert(at + 1, right);
                (old, split(children, at + 1).and_then(|right| Child::over(order, Self::Branch(right))))
            }
        }
    }

    fn remove(node: &mut Arc<Self>, order: &O, key: SortKey<'_>) -> Option<O::Entry> {
        match Arc::make_mut(node) {
            Self::Leaf(entries) => find(order, entries, key).ok().map(|at| entries.remove(at)),
            Self::Branch(children) => {
                let at = child_for(order, children, key);
                let child = &mut children[at];
                let old = Self::remove(&mut child.node, order, key)?;
                child.count -= 1;
                child.size -= order.size(&old);
                if child.node.is_empty() {
                    children.remove(at);
                } else if child.node.len() < SPARSE {
                    merge(children, at);
                }
                Some(old)
            }
        }
    }

    fn size(&self, order: &O) -> usize {
        match self {
            Self::Leaf(entries) => entries.iter().map(|entry| order.size(entry)).sum(),
            Self::Branch(children) => children.iter().map(|child| child.size).sum(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Branch(children) => children.len(),
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Splits an oversized node. If the last entry was just inserted, keys probably come in order, so the left part stays
/// full.
fn split<T>(entries: &mut Vec<T>, put: usize) -> Option<Vec<T>> {
    if entries.len() <= WIDTH {
        return None;
    }
    let at = if put + 1 == entries.len() { put } else { entries.len() / 2 };
    Some(entries.split_off(at))
}

/// Merges a sparse child with a neighbour if both fit into one.
fn merge<O: Order>(children: &mut Vec<Child<O>>, at: usize) {
    let left = if at + 1 < children.len() { at } else { at.saturating_sub(1) };
    let Some([a, b]) = children.get(left..left + 2) else { return };
    if a.node.len() + b.node.len() > WIDTH {
        return;
    }
    let right = children.remove(left + 1);
    children[left].count += right.count;
    children[left].size += right.size;
    match (Arc::make_mut(&mut children[left].node), &*right.node) {
        (Node::Leaf(entries), Node::Leaf(more)) => entries.extend_from_slice(more),
        (Node::Branch(below), Node::Branch(more)) => {
            let first = below.len();
            below.extend_from_slice(more);
            // As a first child it may have got smaller keys than its own bound.
            below[first].min = right.min;
        }
        _ => unreachable!("children of one node are of one height"),
    }
}

fn find<O: Order>(order: &O, entries: &[O::Entry], key: SortKey<'_>) -> Result<usize, usize> {
    entries.binary_search_by(|entry| order.key(entry).cmp(&key))
}

fn child_for<O: Order>(order: &O, children: &[Child<O>], key: SortKey<'_>) -> usize {
    // The first bound says nothing.
    children[1..].partition_point(|child| order.bound_key(&child.min) <= key)
}

#[cfg(test)]
mod tests;
