//! Entries in order, from any position.

use std::slice;

use super::{Child, Node, Order};

/// Entries in order from a position.
pub(crate) struct Iter<'a, O: Order> {
    /// The remaining children of each branch above the leaf, from the root down.
    above: Vec<slice::Iter<'a, Child<O>>>,
    leaf: slice::Iter<'a, O::Entry>,
    left: usize,
}

impl<'a, O: Order> Iter<'a, O> {
    /// A number of entries below a node, from a position there.
    pub(super) fn new(root: &'a Node<O>, from: usize, left: usize) -> Self {
        let mut iter = Self { above: Vec::new(), leaf: [].iter(), left };
        if left > 0 {
            iter.seek(root, from);
        }
        iter
    }

    /// Descends to the entry at a position below a node.
    fn seek(&mut self, mut node: &'a Node<O>, mut position: usize) {
        loop {
            match node {
                Node::Leaf(entries) => {
                    self.leaf = entries[position..].iter();
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

impl<'a, O: Order> Iterator for Iter<'a, O> {
    type Item = &'a O::Entry;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        loop {
            if let Some(entry) = self.leaf.next() {
                self.left -= 1;
                return Some(entry);
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

impl<O: Order> ExactSizeIterator for Iter<'_, O> {}
