//! The mark of a deletion: what an object is once its deletion has been asked for, and asked for again.
use super::super::system;
use crate::{
    kind::Kind,
    meta::{
        Time,
        options::{DeleteOptions, Propagation},
    },
    schema::Document,
};

/// The finalizer that waits until dependents have forgotten their owner.
const ORPHAN: &str = "orphan";
/// The finalizer that waits until dependents are gone.
const FOREGROUND: &str = "foregroundDeletion";

/// Makes of an object what it is once its deletion has been asked for. While a grace period runs, all that a further
/// deletion can do is to shorten it.
pub(super) fn mark(kind: &Kind, options: &DeleteOptions, object: &mut Document) {
    let Some((at, seconds)) = end(kind, options.grace_period_seconds, object) else { return };
    let finalizers = finalizers(options.propagation, object);
    let metadata = system::metadata(object);
    if finalizers.is_empty() {
        metadata.remove("finalizers");
    } else {
        metadata.insert("finalizers".to_owned(), finalizers.into());
    }
    metadata.insert("deletionGracePeriodSeconds".to_owned(), seconds.into());
    let before = metadata.insert("deletionTimestamp".to_owned(), at.to_string().into());
    if before.is_some_and(|before| before.is_string()) {
        return;
    }
    if let Some(generation) = metadata.get("generation").and_then(Document::as_i64) {
        metadata.insert("generation".to_owned(), (generation + 1).into());
    }
    kind.binding.hooks.on_delete(object);
}

/// When the object is to end, and how many seconds of grace it has; nothing where a grace period runs that is not
/// shortened.
fn end(kind: &Kind, asked: Option<i64>, object: &Document) -> Option<(Time, i64)> {
    let now = Time::now();
    let due = system::text(object, "deletionTimestamp").parse::<Time>().ok();
    let Some(grace) = &kind.shared.grace else { return Some((due.map_or(now, |due| due.min(now)), 0)) };
    // kube-apiserver takes what is below zero for one second.
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
    // The time has passed already. Only zero says that whoever ends the object has done so.
    Some((now, asked.min(1)))
}

/// The finalizers of an object that is being deleted: its own, and the one that stands for the propagation policy. What
/// the client asks for comes before what the object says.
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
    // A policy that the object carries already keeps its place, so that asking again changes nothing.
    if policy.is_some_and(|policy| given.contains(&policy)) {
        return given.into_iter().filter(|f| stays(f) || Some(*f) == policy).map(str::to_owned).collect();
    }
    given.into_iter().filter(stays).chain(policy).map(str::to_owned).collect()
}
