//! The deletion mark: the state of an object after its deletion is requested, for the first time or again.
use super::super::metadata;
use crate::{
    kind::Kind,
    meta::{
        Time,
        options::{DeleteOptions, Propagation},
    },
    schema::Document,
};

/// The finalizer that holds an owner until its dependents are orphaned.
const ORPHAN: &str = "orphan";
/// The finalizer that holds an owner until its dependents are deleted.
const FOREGROUND: &str = "foregroundDeletion";

/// Marks an object for deletion. During a grace period, a further deletion can only shorten it. Returns true if the deletion
/// starts.
pub(super) fn mark(kind: &Kind, options: &DeleteOptions, object: &mut Document) -> bool {
    let Some((at, seconds)) = end(kind, options.grace_period_seconds, object) else { return false };
    let finalizers = finalizers(options.propagation, object);
    let metadata = metadata::of(object);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
    metadata.insert("deletionGracePeriodSeconds".to_owned(), seconds.into());
    let before = metadata.insert("deletionTimestamp".to_owned(), at.to_string().into());
    if before.is_some_and(|before| before.is_string()) {
        return false;
    }
    if let Some(generation) = metadata.get("generation").and_then(Document::as_i64) {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
    true
}

/// The deadline and the grace period in seconds; `None` during a grace period that is not shortened.
fn end(kind: &Kind, asked: Option<i64>, object: &Document) -> Option<(Time, i64)> {
    let now = Time::now();
    let due = metadata::text(object, "deletionTimestamp").parse::<Time>().ok();
    let Some(grace) = &kind.shared.grace else { return Some((due.map_or(now, |due| due.min(now)), 0)) };
    // kube-apiserver treats negative values as one second.
    let positive = |seconds: i64| if seconds < 0 { 1 } else { seconds };
    let asked = asked.map(positive);
    let Some(due) = due else {
        let seconds = asked.unwrap_or_else(|| positive(grace.seconds(object)));
        return Some((now.plus_seconds(seconds), seconds));
    };
    let running = positive(object["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0));
    if running == 0 {
        return Some((due.min(now), 0));
    }
    let asked = asked.filter(|asked| *asked < running)?;
    let at = due.plus_seconds(asked - running);
    if at >= now {
        return Some((at, asked));
    }
    // The time has passed already. Only zero means that the deletion is confirmed.
    Some((now, asked.min(1)))
}

/// The finalizers of a deleted object: its own, and the one for the propagation policy. The client's policy has
/// precedence over the object's.
fn finalizers(asked: Option<Propagation>, object: &Document) -> Vec<String> {
    let given = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    let given: Vec<&str> = given.filter_map(Document::as_str).collect();
    let policy = match asked {
        Some(Propagation::Orphan) => Some(ORPHAN),
        Some(Propagation::Foreground) => Some(FOREGROUND),
        Some(Propagation::Background) => None,
        None => [ORPHAN, FOREGROUND].into_iter().find(|policy| given.contains(policy)),
    };
    let stays = |finalizer: &&str| ![ORPHAN, FOREGROUND].contains(finalizer);
    // A policy finalizer that the object already has keeps its position, so that a repeated deletion changes nothing.
    if policy.is_some_and(|policy| given.contains(&policy)) {
        return given.into_iter().filter(|f| stays(f) || Some(*f) == policy).map(str::to_owned).collect();
    }
    given.into_iter().filter(stays).chain(policy).map(str::to_owned).collect()
}
