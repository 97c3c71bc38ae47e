//! Known-bad histories of watchers.
use super::*;

/// Versions 5 to 8: a created, a updated, b created, a deleted.
fn script() -> Script {
    let script = Script::default().at(1, 2, create("a", "one"), written(5)).at(3, 4, update("a", "two", 5), written(6));
    let script = script.at(5, 6, create("b", "three"), written(7)).at(7, 8, delete("a"), Outcome::Deleted);
    script.list(2000, 2001, 9, &[("b", 7, "three")])
}

fn events() -> Vec<Seen> {
    vec![added("a", 5, "one"), modified("a", 6, "two"), added("b", 7, "three"), deleted("a", 8, "two")]
}

fn watched(events: Vec<Seen>) -> Script {
    script().watcher(3, &[], events)
}

#[test]
fn complete_watches_hold() {
    watched(events()).holds();
    let mut resumed = events();
    resumed.insert(2, Seen::Resumed);
    resumed.insert(3, Seen::Bookmark { version: 6 });
    watched(resumed).holds();
}

#[test]
fn a_repeated_event() {
    for index in 0..4 {
        let mut events = events();
        events.insert(index, events[index].clone());
        watched(events).breaks(Rule::WatchIsInOrder);
    }
}

#[test]
fn reordered_events() {
    for index in 0..3 {
        let mut events = events();
        events.swap(index, index + 1);
        watched(events).breaks(Rule::WatchIsInOrder);
    }
}

#[test]
fn a_missing_event() {
    for index in 0..3 {
        let mut events = events();
        events.remove(index);
        watched(events).breaks(Rule::WatchIsComplete);
    }
    // The last event is a deletion. No other client saw it, so only the final list shows that it is missing.
    let mut events = events();
    events[3] = Seen::Bookmark { version: 9 };
    watched(events).breaks(Rule::WatchesConverge);
}

#[test]
fn a_watcher_of_one_object() {
    let of_a = || vec![added("a", 5, "one"), modified("a", 6, "two"), deleted("a", 8, "two")];
    watched(of_a()).selecting("a").holds();
    watched(vec![added("b", 7, "three")]).selecting("b").holds();
    for index in 0..2 {
        let mut events = of_a();
        events.remove(index);
        watched(events).selecting("a").breaks(Rule::WatchIsComplete);
    }
    let mut events = of_a();
    events[2] = Seen::Bookmark { version: 9 };
    watched(events).selecting("a").breaks(Rule::WatchesConverge);
    watched(of_a()).selecting("b").breaks(Rule::WatchIsComplete);
}

#[test]
fn a_watcher_that_stopped() {
    let mut events = events();
    events.truncate(2);
    watched(events).breaks(Rule::WatchIsComplete);
    script().watcher(3, &[], Vec::new()).breaks(Rule::WatchIsComplete);
}

#[test]
fn a_list_after_expiry_fills_the_gap() {
    let relist = |version, all: &[(&str, Version, &str)]| {
        let listed = Seen::Listed { version, items: items(all) };
        watched(vec![added("a", 5, "one"), Seen::Expired, listed, deleted("a", 8, "two")])
    };
    relist(7, &[("a", 6, "two"), ("b", 7, "three")]).holds();
    // The list is at 6, so that version 7 must come as an event.
    relist(6, &[("a", 6, "two")]).breaks(Rule::WatchIsComplete);
    relist(4, &[]).breaks(Rule::WatchIsInOrder);
}

#[test]
fn events_that_do_not_fit_the_state() {
    let replaced = |index: usize, seen| {
        let mut events = events();
        events[index] = seen;
        watched(events)
    };
    replaced(1, added("a", 6, "two")).breaks(Rule::EventFitsState);
    replaced(2, modified("b", 7, "three")).breaks(Rule::EventFitsState);
    replaced(3, deleted("a", 8, "one")).breaks(Rule::EventFitsState);
    replaced(3, deleted("b", 8, "two")).breaks(Rule::EventFitsState);
}

#[test]
fn an_event_of_a_value_that_was_never_written() {
    let mut events = events();
    events[1] = modified("a", 6, "other");
    watched(events).breaks(Rule::OneStatePerVersion);
}

#[test]
fn a_read_that_is_older_than_an_event() {
    let script = watched(events());
    script.at(1500, 1501, get("a"), found(6, "two")).breaks(Rule::ReadIsNotStale);
}
