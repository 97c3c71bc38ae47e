//! Tests of the indexes against a scan.

use proptest::prelude::*;

use super::{
    super::{DecodedValue, Texts},
    *,
};
use crate::meta::Revision;

/// An object with a label and a field, unless their values are empty, in a namespace.
fn object(key: &str, label: &str, field: &str) -> Arc<Object> {
    let labels = (!label.is_empty()).then_some(("app", label));
    let decoded =
        DecodedValue { texts: Texts::new(labels, ["", field]), ..DecodedValue::plain(Ok(r#"{"metadata":{}}"#.into())) };
    Arc::new(Object::compose(key, Revision(1), "", decoded))
}

fn terms() -> [Term; 2] {
    [Term::Label("app".into()), Term::Field(1)]
}

/// The value that an index of the term has for an object.
fn value<'o>(term: &Term, object: &'o Object) -> Option<&'o str> {
    match term {
        Term::Label(key) => object.label(key),
        Term::Field(position) => Some(object.field(*position)).filter(|value| !value.is_empty()),
    }
}

/// Checks all indexes of a tree.
fn check(tree: &Tree) -> Result<(), TestCaseError> {
    for index in tree.indexes() {
        let mut all: Vec<_> =
            tree.slice(0, tree.len()).filter_map(|o| Some((value(index.term(), o)?, o.key()))).collect();
        all.sort_unstable();
        let found: Vec<_> = index.slice(0..index.len()).map(PackedTexts::key).collect();
        prop_assert_eq!(found, all.iter().map(|(_, key)| *key).collect::<Vec<_>>());
        for value in ["", "a", "aa", "b", "longer than eight bytes", "longer than eight 2"] {
            for (prefix, after) in [("", None), ("m/", None), ("m/", Some("m/b")), ("", Some("n/a")), ("x/", None)] {
                let found = index.slice(index.positions(value, prefix, after));
                let scanned = all.iter().filter(|(other, key)| {
                    *other == value && key.starts_with(prefix) && after.is_none_or(|after| *key > after)
                });
                prop_assert_eq!(
                    found.map(PackedTexts::key).collect::<Vec<_>>(),
                    scanned.map(|(_, key)| *key).collect::<Vec<_>>()
                );
            }
        }
    }
    Ok(())
}

const VALUES: &str = "a|aa|b||longer than eight bytes|longer than eight 2";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn indexes_agree_with_a_scan_at_every_state(
        steps in proptest::collection::vec(("[mn]/[a-d]{1,3}", VALUES, VALUES, 0..3), 0..400),
        built in 0usize..400,
    ) {
        let mut tree = Tree::default();
        let mut kept: Vec<(Tree, Vec<Arc<Object>>)> = Vec::new();
        let mut undo: Vec<(String, Option<Arc<Object>>)> = Vec::new();
        let mut building = None;
        for (at, (key, label, field, how)) in steps.iter().enumerate() {
            if at == built / 2 {
                // Built from here, and added later.
                building = Some((tree.clone(), terms().map(|term| tree.build(&term))));
            }
            if at == built
                && let Some((from, indexes)) = building.take()
            {
                for mut index in indexes {
                    from.follow(&tree, &mut index);
                    tree.add(index);
                }
                undo.clear();
                kept.push((tree.clone(), tree.slice(0, tree.len()).cloned().collect()));
            }
            if at % 60 == 0 {
                kept.push((tree.clone(), tree.slice(0, tree.len()).cloned().collect()));
            }
            let old = match how {
                0 => tree.remove(key),
                _ => tree.insert(object(key, label, field)),
            };
            undo.push((key.clone(), old));
        }
        check(&tree)?;
        prop_assert_eq!(tree.indexes().len(), if built < steps.len() { 2 } else { 0 });
        for (copy, content) in &kept {
            check(copy)?;
            prop_assert!(copy.slice(0, copy.len()).zip(content).all(|(a, b)| Arc::ptr_eq(a, b)));
        }
        for (key, old) in undo.into_iter().rev() {
            match old {
                Some(old) => drop(tree.insert(old)),
                None => drop(tree.remove(&key)),
            }
        }
        check(&tree)?;
        let objects: Vec<_> = tree.slice(0, tree.len()).cloned().collect();
        let loaded = Tree::from_sorted(objects).indexed_like(&tree);
        prop_assert_eq!(loaded.indexes().len(), tree.indexes().len());
        check(&loaded)?;
    }
}

#[test]
fn a_write_without_new_texts_leaves_indexes_as_they_are() {
    let mut tree = Tree::from_sorted([object("a", "x", "y"), object("b", "x", "y")]);
    for term in terms() {
        tree.add(tree.build(&term));
    }
    let before = tree.clone();
    let new = Object::compose(
        "a",
        Revision(2),
        "",
        DecodedValue {
            texts: Texts::new([("app", "x")], ["", "y"]),
            ..DecodedValue::plain(Ok(r#"{"metadata":{}}"#.into()))
        },
    );
    let new = new.sharing_texts(before.get("a"));
    assert!(std::ptr::eq(new.texts().key(), before.get("a").map(|object| object.texts().key()).unwrap()));
    tree.insert(Arc::new(new));
    assert!(before.indexes.as_ref().zip(tree.indexes.as_ref()).is_some_and(|(a, b)| Arc::ptr_eq(a, b)));
    assert_eq!(tree.get("a").map(|object| object.revision()), Some(Revision(2)));
}

#[test]
fn unreadable_objects_are_counted() {
    let broken = || Arc::new(Object::compose("a", Revision(1), "", DecodedValue::plain(Err("no".to_owned()))));
    let mut tree = Tree::from_sorted([broken()]);
    assert!(tree.has_unreadable());
    tree.insert(broken());
    assert!(tree.has_unreadable());
    tree.insert(object("a", "", ""));
    assert!(!tree.has_unreadable());
    tree.insert(broken());
    tree.remove("a");
    assert!(!tree.has_unreadable());
}
