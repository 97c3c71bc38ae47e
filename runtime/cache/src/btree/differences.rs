//! The differences of two versions of a tree, found by the nodes that they do not share.

use std::{collections::HashSet, sync::Arc};

use super::{BTree, Node, Order};

impl<O: Order> BTree<O> {
    /// True if both are the same version.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.root, &other.root)
    }

    /// The entries that are only in this tree, and the entries that are only in a later version of it. Skips shared nodes, so
    /// the cost is about that of the changes in between.
    pub(crate) fn differences(&self, later: &Self) -> (Vec<O::Entry>, Vec<O::Entry>) {
        let (mut ours, mut theirs) = (vec![&self.root], vec![&later.root]);
        let (mut height, mut their_height) = (self.height(), later.height());
        while height > 0 || their_height > 0 {
            let higher = height.max(their_height);
            for (level, nodes) in [(&mut height, &mut ours), (&mut their_height, &mut theirs)] {
                if *level == higher {
                    *nodes = nodes.iter().flat_map(|node| node.below()).collect();
                    *level -= 1;
                }
            }
            // Shared nodes are equally high in both.
            let known: HashSet<_> = ours.iter().map(|node| Arc::as_ptr(node)).collect();
            let shared: HashSet<_> = theirs.iter().map(|n| Arc::as_ptr(n)).filter(|n| known.contains(n)).collect();
            ours.retain(|node| !shared.contains(&Arc::as_ptr(node)));
            theirs.retain(|node| !shared.contains(&Arc::as_ptr(node)));
        }
        let only = |from: &[&Arc<Node<O>>], other: &Self| -> Vec<O::Entry> {
            let entries = from.iter().flat_map(|node| node.entries());
            let is_in = |entry: &O::Entry| {
                other.get(other.order.key(entry)).is_some_and(|found| other.order.is_same(found, entry))
            };
            entries.filter(|entry| !is_in(entry)).cloned().collect()
        };
        (only(&ours, later), only(&theirs, self))
    }

    /// The number of levels above the leaves.
    fn height(&self) -> usize {
        let (mut node, mut height) = (&*self.root, 0);
        while let Node::Branch(children) = node {
            (node, height) = (&children[0].node, height + 1);
        }
        height
    }
}

impl<O: Order> Node<O> {
    fn below(&self) -> impl Iterator<Item = &Arc<Self>> {
        let children = if let Self::Branch(children) = self { children.as_slice() } else { &[] };
        children.iter().map(|child| &child.node)
    }

    fn entries(&self) -> &[O::Entry] {
        if let Self::Leaf(entries) = self { entries } else { &[] }
    }
}
