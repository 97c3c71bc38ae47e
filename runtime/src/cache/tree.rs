//! A persistent, ordered tree of objects: a B+tree whose nodes are shared between versions and store the number of
//! objects below them. Copies are O(1), and a change copies one path. Positions and counts, which every page of a list
//! needs, take O(log n). Later changes never affect a kept copy.

use std::{mem, slice, sync::Arc};

use super::Object;

/// The maximum number of entries in a node. A change copies one node per level; a lookup searches one. A width
/// of 16 is as fast.
const WIDTH: usize = 32;
/// A node with fewer entries is merged with a neighbour if both fit into one.
const SPARSE: usize = WIDTH / 4;

/// Objects in key order.
#[derive(Clone)]
pub(super) struct Tree {
    root: Arc<Node>,
    len: usize,
}

enum Node {
    Leaf(Vec<Arc<Object>>),
    Branch(Vec<Child>),
}

#[derive(Clone)]
struct Child {
    /// No key of this child is smaller (except in the first child), and every key of earlier children is.
    min: Arc<str>,
    count: usize,
    node: Arc<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { root: Arc::new(Node::Leaf(Vec::new())), len: 0 }
    }
}

impl Tree {
    /// A tree of objects that are in key order without duplicates.
    pub(super) fn from_sorted(objects: impl IntoIterator<Item = Arc<Object>>) -> Self {
        let mut objects = objects.into_iter().peekable();
        let mut level = Vec::new();
        while objects.peek().is_some() {
            let mut leaf = Vec::with_capacity(WIDTH);
            leaf.extend(objects.by_ref().take(WIDTH));
            leaf.shrink_to_fit();
            debug_assert!(leaf.is_sorted_by(|a: &Arc<Object>, b| a.key() < b.key()));
            level.push(Child::over(Node::Leaf(leaf)));
        }
        let len = level.iter().map(|child| child.count).sum();
        while level.len() > 1 {
            level = level.chunks(WIDTH).map(|part| Child::over(Node::Branch(part.to_vec()))).collect();
        }
        level.pop().map_or_else(Self::default, |child| Self { root: child.node, len })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Object>> {
        let mut node = &*self.root;
        loop {
            match node {
                Node::Leaf(objects) => return find(objects, key).ok().map(|at| &objects[at]),
                Node::Branch(children) => node = &children[child_for(children, key)].node,
            }
        }
    }

    /// Inserts an object under its key, and returns the previous one.
    pub(super) fn insert(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let (old, split) = Node::insert(&mut self.root, object);
        self.len += usize::from(old.is_none());
        if let Some(right) = split {
            let left = Child { min: Arc::from(""), count: self.len - right.count, node: Arc::clone(&self.root) };
            self.root = Arc::new(Node::Branch(vec![left, right]));
        }
        old
    }

    /// Removes and returns the object under a key.
    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<Object>> {
        // A miss must not copy the path.
        self.get(key)?;
        let old = Node::remove(&mut self.root, key)?;
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
    pub(super) fn rank(&self, before: impl Fn(&str) -> bool) -> usize {
        let mut node = &*self.root;
        let mut passed = 0;
        loop {
            match node {
                Node::Leaf(objects) => return passed + objects.partition_point(|object| before(object.key())),
                Node::Branch(children) => {
                    let at = children.partition_point(|child| before(&child.min)).saturating_sub(1);
                    passed += children[..at].iter().map(|child| child.count).sum::<usize>();
                    node = &children[at].node;
                }
            }
        }
    }

    /// Objects between two positions.
    pub(super) fn slice(&self, from: usize, to: usize) -> Iter<'_> {
        let mut iter = Iter { above: Vec::new(), leaf: [].iter(), left: to.min(self.len).saturating_sub(from) };
        if iter.left > 0 {
            iter.seek(&self.root, from);
        }
        iter
    }
}

impl Child {
    fn over(node: Node) -> Self {
        let (min, count) = match &node {
            Node::Leaf(objects) => {
                (objects.first().map_or_else(|| Arc::from(""), |o| Arc::from(o.key())), objects.len())
            }
            Node::Branch(children) => {
                (Arc::clone(&children[0].min), children.iter().map(|child| child.count).sum::<usize>())
            }
        };
        Self { min, count, node: Arc::new(node) }
    }
}

impl Clone for Node {
    /// Reserves room for one more entry, because a node is copied to be changed.
    fn clone(&self) -> Self {
        fn roomy<T: Clone>(entries: &[T]) -> Vec<T> {
            let mut copy = Vec::with_capacity(entries.len() + 1);
            copy.extend_from_slice(entries);
            copy
        }
        match self {
            Self::Leaf(objects) => Self::Leaf(roomy(objects)),
            Self::Branch(children) => Self::Branch(roomy(children)),
        }
    }
}

impl Node {
    fn insert(node: &mut Arc<Self>, object: Arc<Object>) -> (Option<Arc<Object>>, Option<Child>) {
        match Arc::make_mut(node) {
            Self::Leaf(objects) => match find(objects, object.key()) {
                Ok(at) => (Some(mem::replace(&mut objects[at], object)), None),
                Err(at) => {
                    objects.insert(at, object);
                    (None, split(objects, at).map(|right| Child::over(Self::Leaf(right))))
                }
            },
            Self::Branch(children) => {
                let at = child_for(children, object.key());
                let child = &mut children[at];
                let (old, right) = Self::insert(&mut child.node, object);
                child.count += usize::from(old.is_none());
                let Some(right) = right else { return (old, None) };
                child.count -= right.count;
                children.insert(at + 1, right);
                (old, split(children, at + 1).map(|right| Child::over(Self::Branch(right))))
            }
        }
    }

    fn remove(node: &mut Arc<Self>, key: &str) -> Option<Arc<Object>> {
        match Arc::make_mut(node) {
            Self::Leaf(objects) => find(objects, key).ok().map(|at| objects.remove(at)),
            Self::Branch(children) => {
                let at = child_for(children, key);
                let child = &mut children[at];
                let old = Self::remove(&mut child.node, key)?;
                child.count -= 1;
                if child.node.is_empty() {
                    children.remove(at);
                } else if child.node.len() < SPARSE {
                    merge(children, at);
                }
                Some(old)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(objects) => objects.len(),
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
fn merge(children: &mut Vec<Child>, at: usize) {
    let left = if at + 1 < children.len() { at } else { at.saturating_sub(1) };
    let Some([a, b]) = children.get(left..left + 2) else { return };
    if a.node.len() + b.node.len() > WIDTH {
        return;
    }
    let right = children.remove(left + 1);
    children[left].count += right.count;
    match (Arc::make_mut(&mut children[left].node), &*right.node) {
        (Node::Leaf(objects), Node::Leaf(more)) => objects.extend_from_slice(more),
        (Node::Branch(below), Node::Branch(more)) => below.extend_from_slice(more),
        _ => unreachable!("children of one node are of one height"),
    }
}

fn find(objects: &[Arc<Object>], key: &str) -> Result<usize, usize> {
    objects.binary_search_by(|object| object.key().cmp(key))
}

fn child_for(children: &[Child], key: &str) -> usize {
    children.partition_point(|child| &*child.min <= key).saturating_sub(1)
}

/// Objects in order from a position.
pub(super) struct Iter<'a> {
    /// The remaining children of each branch above the leaf, from the root down.
    above: Vec<slice::Iter<'a, Child>>,
    leaf: slice::Iter<'a, Arc<Object>>,
    left: usize,
}

impl<'a> Iter<'a> {
    /// Descends to the object at a position below a node.
    fn seek(&mut self, mut node: &'a Node, mut position: usize) {
        loop {
            match node {
                Node::Leaf(objects) => {
                    self.leaf = objects[position..].iter();
                    return;
                }
                Node::Branch(children) => {
                    let mut rest = children.iter();
                    // The position is less than this node's count, so one child has it.
                    let child = rest.find(|child| {
                        let here = position < child.count;
                        position -= if here { 0 } else { child.count };
                        here
                    });
                    let Some(child) = child else { return };
                    self.above.push(rest);
                    node = &child.node;
                }
            }
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Arc<Object>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        loop {
            if let Some(object) = self.leaf.next() {
                self.left -= 1;
                return Some(object);
            }
            match self.above.last_mut()?.next() {
                Some(child) => self.seek(&child.node, 0),
                None => drop(self.above.pop()),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
