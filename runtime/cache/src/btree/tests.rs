//! Tests of the tree against the standard library's map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    super::{DecodedValue, Object, tree::ByKey},
    *,
};
use crate::meta::Revision;

type Tree = BTree<ByKey>;

fn object(key: &str, revision: u64) -> Arc<Object> {
    let body = format!(r#"{{"metadata":{{"name":"{key}"}}}}"#);
    Arc::new(Object::compose(key, Revision(revision), "", DecodedValue::plain(Ok(body.as_str().into()))))
}

fn content(tree: &Tree) -> Vec<(String, u64)> {
    tree.slice(0, tree.len()).map(|object| (object.key().to_owned(), object.revision().0)).collect()
}

fn expected(map: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    map.iter().map(|(key, revision)| (key.clone(), *revision)).collect()
}

/// Checks that counts and separators are right, and that all leaves are equally deep.
fn check(tree: &Tree) {
    fn below(node: &Node<ByKey>, depth: usize, depths: &mut Vec<usize>) -> Vec<String> {
        assert!(node.len() <= WIDTH);
        match node {
            Node::Leaf(objects) => {
                depths.push(depth);
                objects.iter().map(|object| object.key().to_owned()).collect()
            }
            Node::Branch(children) => {
                let mut keys: Vec<String> = Vec::new();
                for (at, child) in children.iter().enumerate() {
                    let part = below(&child.node, depth + 1, depths);
                    assert_eq!(part.len(), child.count);
                    assert_eq!(child.node.size(&ByKey), child.size);
                    assert!(!part.is_empty());
                    assert!(keys.last().is_none_or(|last| **last < *child.min));
                    assert!(at == 0 || *child.min <= *part[0]);
                    keys.extend(part);
                }
                keys
            }
        }
    }
    let mut depths = Vec::new();
    assert_eq!(below(&tree.root, 0, &mut depths).len(), tree.len());
    depths.dedup();
    assert_eq!(depths.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn it_is_an_ordered_map_and_old_copies_stay_unchanged(
        loaded in proptest::collection::btree_set("[ab]/[a-e]{1,3}", 0..200),
        steps in proptest::collection::vec(("[ab]/[a-e]{1,3}", any::<bool>()), 0..400),
    ) {
        let mut tree = Tree::from_sorted(ByKey, loaded.iter().map(|key| object(key, 0)));
        let mut map: BTreeMap<String, u64> = loaded.into_iter().map(|key| (key, 0)).collect();
        let mut kept = Vec::new();
        for (at, (key, put)) in steps.into_iter().enumerate() {
            let revision = at as u64 + 1;
            if at % 50 == 0 {
                kept.push((tree.clone(), expected(&map)));
            }
            let (old, should) = if put {
                (tree.insert(object(&key, revision)), map.insert(key, revision))
            } else {
                (tree.remove((&key, "")), map.remove(&key))
            };
            prop_assert_eq!(old.map(|object| object.revision().0), should);
        }
        check(&tree);
        prop_assert_eq!(content(&tree), expected(&map));
        for (copy, content_then) in kept {
            check(&copy);
            prop_assert_eq!(content(&copy), content_then);
        }
        for key in map.keys() {
            prop_assert_eq!(tree.get((key, "")).map(|object| object.key().to_owned()), Some(key.clone()));
            prop_assert_eq!(tree.rank(|(other, _)| other < &**key), map.range(..key.clone()).count());
        }
        prop_assert!(tree.get(("b/x", "")).is_none());
    }

    #[test]
    fn a_slice_has_the_objects_between_two_positions(size in 0usize..3000, a in 0usize..3100, b in 0usize..3100) {
        let tree = Tree::from_sorted(ByKey, (0..size).map(|n| object(&format!("{n:05}"), 1)));
        let found: Vec<String> = tree.slice(a, b).map(|object| object.key().to_owned()).collect();
        let should: Vec<String> = (a.min(size)..b.min(size).max(a.min(size))).map(|n| format!("{n:05}")).collect();
        prop_assert_eq!(tree.slice(a, b).len(), should.len());
        let sizes = tree.slice(0, a).map(|object| object.json_bytes().len());
        prop_assert_eq!(tree.size_before(a), sizes.sum::<usize>());
        prop_assert_eq!(found, should);
    }
}

#[test]
fn ascending_keys_fill_their_leaves_and_all_can_be_removed() {
    let mut tree = Tree::new(ByKey);
    for n in 0..5000 {
        tree.insert(object(&format!("{n:05}"), 1));
    }
    check(&tree);
    let Node::Branch(children) = &*tree.root else { panic!("5000 objects have a branch") };
    assert!(children[0].count >= WIDTH * WIDTH);
    for n in (0..5000).rev() {
        assert!(tree.remove((&format!("{n:05}"), "")).is_some());
    }
    check(&tree);
    assert_eq!(tree.len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Enough objects for three levels, so that branches are split and merged, too.
    #[test]
    fn a_tree_that_shrinks_and_grows_loses_nothing(steps in proptest::collection::vec((0u32..6_000, 1u32..3_000), 4..12)) {
        let mut tree = Tree::from_sorted(ByKey, (0..6_000).map(|n| object(&format!("{n:05}"), 0)));
        let mut map: BTreeMap<String, u64> = (0..6_000).map(|n| (format!("{n:05}"), 0)).collect();
        for (at, (from, count)) in steps.into_iter().enumerate() {
            let before = (tree.clone(), map.clone());
            for n in from..from + count {
                let key = format!("{:05}", n % 6_000);
                // Between what is there, and away with most of it.
                if at % 2 == 1 {
                    let key = format!("{key}x");
                    if map.insert(key.clone(), 1).is_none() {
                        tree.insert(object(&key, 1));
                    }
                } else if n % 7 > 0 {
                    prop_assert_eq!(tree.remove((&key, "")).is_some(), map.remove(&key).is_some());
                }
            }
            check(&tree);
            prop_assert_eq!(content(&tree), expected(&map));
            for key in map.keys() {
                prop_assert!(tree.get((key, "")).is_some());
            }
            let (gone, come) = before.0.differences(&tree);
            let keys = |of: &[Arc<Object>]| of.iter().map(|object| object.key().to_owned()).collect::<Vec<_>>();
            let only = |of: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>| {
                of.keys().filter(|key| !other.contains_key(*key)).cloned().collect::<Vec<_>>()
            };
            prop_assert_eq!(keys(&gone), only(&before.1, &map));
            prop_assert_eq!(keys(&come), only(&map, &before.1));
        }
    }
}
