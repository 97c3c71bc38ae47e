//! Tests of the graph alone, and of decisions with an artificial state.
use std::collections::HashMap;

use super::super::{
    decide::{Action, Owner, State, decide},
    facts::{Facts, is_telling},
    graph::{Graph, ObjectRef},
};
use crate::{
    cache::{DecodedValue, Object},
    meta::{OwnerReference, Revision, options::Propagation},
};

fn object_ref(key: &str) -> ObjectRef {
    ObjectRef { kind: 0, key: key.into() }
}

fn reference(uid: &str, blocks: bool) -> OwnerReference {
    OwnerReference { uid: uid.to_owned(), block_owner_deletion: Some(blocks), ..OwnerReference::default() }
}

fn facts(uid: &str, owners: &[OwnerReference]) -> Facts {
    Facts { uid: uid.into(), owners: owners.to_vec(), ..Facts::default() }
}

fn waiting(uid: &str, owners: &[OwnerReference]) -> Facts {
    Facts { finalizers: vec!["foregroundDeletion".to_owned()], deleted: true, ..facts(uid, owners) }
}

/// The uids to examine, in order.
#[expect(clippy::needless_pass_by_value, reason = "calls read better")]
fn uids(due: Vec<std::sync::Arc<str>>) -> Vec<String> {
    let mut due: Vec<String> = due.iter().map(ToString::to_string).collect();
    due.sort_unstable();
    due.dedup();
    due
}

#[test]
fn only_relevant_objects_are_held() {
    let mut graph = Graph::default();
    assert!(graph.update(object_ref("ns/a"), facts("a", &[])).is_empty());
    assert!(graph.is_empty() && !graph.has_at(0, "ns/a"));
    assert_eq!(uids(graph.update(object_ref("ns/b"), facts("b", &[reference("a", false)]))), ["b"]);
    assert!(graph.has_at(0, "ns/b"));
    assert!(graph.update(object_ref("ns/b"), facts("b", &[reference("a", false)])).is_empty(), "nothing new");
    assert_eq!(uids(graph.forget(&object_ref("ns/a"), &"a".into())), ["b"], "its owner was deleted");
    assert_eq!(uids(graph.update(object_ref("ns/b"), facts("b", &[]))), ["b"]);
    assert!(graph.is_empty() && !graph.has_at(0, "ns/b"));
    assert!(graph.forget(&object_ref("ns/a"), &"a".into()).is_empty());
}

#[test]
fn a_foreground_deletion_triggers_its_dependents_and_waits_for_them() {
    let mut graph = Graph::default();
    graph.update(object_ref("ns/x"), facts("x", &[reference("a", true)]));
    graph.update(object_ref("ns/y"), facts("y", &[reference("a", false)]));
    assert_eq!(uids(graph.update(object_ref("ns/a"), waiting("a", &[]))), ["a", "x", "y"]);
    assert!(graph.is_blocked("a"));
    assert_eq!(uids(graph.update(object_ref("ns/x"), facts("x", &[reference("a", false)]))), ["a", "x"]);
    assert!(!graph.is_blocked("a"));
    graph.update(object_ref("ns/x"), facts("x", &[reference("a", true)]));
    assert_eq!(uids(graph.forget(&object_ref("ns/x"), &"x".into())), ["a"]);
}

#[test]
fn a_new_object_at_the_same_place_replaces_the_old_one() {
    let mut graph = Graph::default();
    graph.update(object_ref("ns/x"), facts("x1", &[reference("a", true)]));
    graph.update(object_ref("ns/y"), facts("y", &[reference("x1", true)]));
    assert_eq!(uids(graph.update(object_ref("ns/x"), facts("x2", &[reference("a", true)]))), ["x2", "y"]);
    assert!(graph.node("x1").is_none());
    assert!(uids(graph.forget(&object_ref("ns/x"), &"x1".into())).contains(&"y".to_owned()));
    assert!(graph.has_at(0, "ns/x"), "late events of the first do not affect the second");
}

#[test]
fn cycles_are_found_through_waiting_objects() {
    let mut graph = Graph::default();
    graph.update(object_ref("ns/a"), waiting("a", &[reference("c", true)]));
    graph.update(object_ref("ns/b"), waiting("b", &[reference("a", true)]));
    graph.update(object_ref("ns/c"), facts("c", &[reference("b", true)]));
    assert!(!graph.is_in_ring("a"), "c does not wait yet");
    graph.update(object_ref("ns/c"), waiting("c", &[reference("b", true)]));
    assert!(["a", "b", "c"].iter().all(|uid| graph.is_in_ring(uid)));
    graph.update(object_ref("ns/c"), waiting("c", &[reference("b", false)]));
    assert!(!["a", "b", "c"].iter().any(|uid| graph.is_in_ring(uid)));
    graph.update(object_ref("ns/s"), waiting("s", &[reference("s", true)]));
    assert!(!graph.is_in_ring("s") && !graph.is_blocked("s"), "an object alone does not wait for itself");
}

/// An artificial state.
#[derive(Default)]
struct Made {
    objects: HashMap<String, Facts>,
    owners: HashMap<String, Owner>,
}

impl State for Made {
    fn facts(&self, object_ref: &ObjectRef) -> Option<(Facts, Revision)> {
        Some((self.objects.get(&*object_ref.key)?.clone(), Revision(7)))
    }

    fn owner(&self, _: &ObjectRef, owner: &OwnerReference) -> Owner {
        self.owners[&owner.uid]
    }
}

#[test]
fn owners_decide() {
    use Owner::{Absent, Elsewhere, Solid, Unknown, Unresolvable, Waiting};
    let delete = Action::Delete(Propagation::Background);
    let keep = |uids: &[&str]| Action::SetOwners(uids.iter().map(|uid| reference(uid, true)).collect());
    for (first, second, expected) in [
        (Solid, Solid, Action::Leave),
        (Solid, Absent, keep(&["1"])),
        (Waiting, Solid, keep(&["2"])),
        (Elsewhere, Solid, keep(&["2"])),
        (Absent, Absent, delete.clone()),
        (Absent, Elsewhere, delete.clone()),
        (Absent, Waiting, delete),
        (Absent, Unknown, Action::AwaitKinds),
        (Solid, Unknown, Action::AwaitKinds),
        (Absent, Unresolvable, Action::Leave),
    ] {
        let (mut graph, mut state) = (Graph::default(), Made::default());
        let object = facts("x", &[reference("1", true), reference("2", true)]);
        graph.update(object_ref("x"), object.clone());
        state.objects.insert("x".to_owned(), object);
        state.owners.extend([("1".to_owned(), first), ("2".to_owned(), second)]);
        let decision = decide(&graph, &state, &"x".into()).expect("a decision");
        assert_eq!((decision.action, decision.at), (expected, Revision(7)), "{first:?} {second:?}");
        let wrong = [first, second].iter().filter(|o| matches!(o, Elsewhere | Unresolvable)).count();
        assert_eq!(decision.misplaced.len(), wrong);
    }
}

#[test]
fn objects_that_differ_from_the_graph_are_left_alone() {
    let (mut graph, mut state) = (Graph::default(), Made::default());
    graph.update(object_ref("x"), facts("x", &[reference("1", true)]));
    assert!(decide(&graph, &state, &"x".into()).is_none(), "it is gone");
    state.objects.insert("x".to_owned(), facts("another", &[reference("1", true)]));
    assert!(decide(&graph, &state, &"x".into()).is_none(), "it is another");
    let (mut object, none) = (facts("x", &[]), Action::Leave);
    state.objects.insert("x".to_owned(), object.clone());
    assert_eq!(decide(&graph, &state, &"x".into()).expect("a decision").action, none, "it has no owners any more");
    object.owners = vec![reference("1", true)];
    object.deleted = true;
    state.objects.insert("x".to_owned(), object);
    assert_eq!(decide(&graph, &state, &"x".into()).expect("a decision").action, none, "it is already being deleted");
}

#[test]
fn metadata_is_read_only_where_it_says_something() {
    let object = |metadata: &str| {
        let body = format!(r#"{{"metadata":{metadata}}}"#);
        Object::compose("ns/x", Revision(1), "", DecodedValue::plain(Ok(body.as_str().into())))
    };
    for (metadata, telling) in [
        (r#"{"name":"x","uid":"u"}"#, false),
        (r#"{"annotations":{"a":"\"ownerReferences\":[]"},"name":"x"}"#, false),
        (r#"{"managedFields":[{"fieldsV1":{"f:metadata":{"f:ownerReferences":{}}}}],"name":"x"}"#, false),
        (r#"{"name":"x","ownerReferences":[{"uid":"o","name":"n"}]}"#, true),
        (r#"{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["orphan"],"name":"x"}"#, true),
    ] {
        assert_eq!(is_telling(&object(metadata)), telling, "{metadata}");
    }
    let read = Facts::of(&object(
        r#"{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b","orphan"],"name":"x","ownerReferences":[{"uid":"o"}],"uid":"u"}"#,
    ));
    assert_eq!((&*read.uid, read.deleted, read.owners.len()), ("u", true, 1));
    assert_eq!(read.waits_for(), Some(Propagation::Orphan));
}
