//! Known-bad histories of operations, one for each thing that the checker must find, beside good ones that are close.
use super::*;

/// `a` is created as version 5 and updated to version 7.
fn two_versions() -> Script {
    Script::default().at(1, 2, create("a", "one"), written(5)).at(3, 4, update("a", "two", 5), written(7))
}

#[test]
fn a_stale_read() {
    two_versions().at(5, 6, get("a"), found(7, "two")).holds();
    two_versions().at(3, 6, get("a"), found(5, "one")).holds();
    two_versions().at(5, 6, get("a"), found(5, "one")).breaks(Rule::ReadIsNotStale);
}

#[test]
fn a_stale_read_after_another_client_saw_a_write_that_had_not_ended() {
    let script =
        Script::default().at(1, 2, create("a", "one"), written(5)).at(3, 20, update("a", "two", 5), written(7));
    let script = script.at(4, 5, get("a"), found(7, "two"));
    let stale = script.at(6, 7, get("a"), found(5, "one"));
    stale.breaks(Rule::ReadIsNotStale);
    stale.breaks(Rule::Linearizable);
}

#[test]
fn a_read_that_misses_a_deletion_that_no_watcher_saw() {
    let script = two_versions().at(5, 6, delete("a"), Outcome::Deleted);
    let stale = script.at(7, 8, get("a"), found(7, "two"));
    assert_eq!(stale.rules(), [Rule::Linearizable]);
}

#[test]
fn a_lost_update() {
    let lost = two_versions().at(3, 6, update("a", "three", 5), written(8));
    assert_eq!(lost.rules(), [Rule::Linearizable]);
    let conflict = two_versions().at(3, 6, update("a", "three", 5), Outcome::Conflict);
    conflict.holds();
}

#[test]
fn a_conflict_without_a_cause() {
    let script = Script::default().at(1, 2, create("a", "one"), written(5));
    assert_eq!(script.at(3, 4, update("a", "two", 5), Outcome::Conflict).rules(), [Rule::Linearizable]);
    // A write without a known outcome, which no client ever saw, is a cause.
    let script =
        Script::default().at(1, 2, create("a", "one"), written(5)).at(2, 3, overwrite("a", "x"), Outcome::Unknown);
    script.at(3, 4, update("a", "two", 5), Outcome::Conflict).at(5, 6, delete("a"), Outcome::Deleted).holds();
}

#[test]
fn a_write_applied_twice() {
    let script = two_versions().at(5, 6, overwrite("a", "three"), written(8));
    script.at(7, 8, get("a"), found(9, "three")).breaks(Rule::WriteAppliedOnce);
}

#[test]
fn an_unknown_outcome_that_takes_effect_twice() {
    let begin =
        || Script::default().at(1, 2, create("a", "one"), written(5)).at(3, 4, overwrite("a", "x"), Outcome::Unknown);
    begin().at(5, 6, get("a"), found(5, "one")).at(7, 8, get("a"), found(6, "x")).holds();
    let script = begin().at(5, 6, get("a"), found(6, "x")).at(7, 8, overwrite("a", "two"), written(7));
    script.at(9, 10, get("a"), found(8, "x")).breaks(Rule::WriteAppliedOnce);
    // A deletion of unknown outcome explains one deletion, not two.
    let begin = || Script::default().at(1, 2, create("a", "one"), written(5)).at(3, 4, delete("a"), Outcome::Unknown);
    let twice = |script: Script| script.at(7, 8, create("a", "two"), written(7)).at(9, 10, get("a"), Outcome::Absent);
    begin().at(5, 6, get("a"), Outcome::Absent).at(7, 8, create("a", "two"), written(7)).holds();
    assert_eq!(twice(begin().at(5, 6, get("a"), Outcome::Absent)).rules(), [Rule::Linearizable]);
}

#[test]
fn an_effect_before_the_request() {
    let script = Script::default().at(1, 2, create("a", "one"), written(5)).at(3, 4, get("a"), found(6, "two"));
    script.at(5, 6, update("a", "two", 5), written(6)).breaks(Rule::ValueWasWritten);
}

#[test]
fn a_value_of_a_failed_write() {
    for failed in [Outcome::Conflict, Outcome::Absent, Outcome::Refused] {
        let script = two_versions().at(5, 6, update("a", "three", 5), failed);
        script.at(7, 8, get("a"), found(8, "three")).breaks(Rule::ValueWasWritten);
    }
}

#[test]
fn a_value_that_no_client_wrote() {
    two_versions().at(5, 6, get("a"), found(8, "three")).breaks(Rule::ValueWasWritten);
    two_versions().at(5, 6, get("b"), found(8, "two")).breaks(Rule::ValueWasWritten);
}

#[test]
fn a_lost_acknowledged_write() {
    two_versions().list(5, 6, 9, &[("a", 7, "two")]).holds();
    two_versions().list(5, 6, 9, &[("a", 5, "one")]).breaks(Rule::AcknowledgedIsKept);
    two_versions().list(5, 6, 9, &[]).breaks(Rule::AcknowledgedIsKept);
    two_versions().at(5, 6, delete("a"), Outcome::Unknown).list(7, 8, 9, &[]).holds();
}

#[test]
fn versions_that_contradict_time() {
    let script = Script::default().at(1, 2, create("a", "one"), written(9)).at(3, 4, overwrite("a", "two"), written(7));
    assert_eq!(script.rules(), [Rule::Linearizable]);
}

#[test]
fn versions_with_two_meanings() {
    two_versions().at(3, 4, create("b", "three"), written(7)).breaks(Rule::OneStatePerVersion);
    two_versions().at(5, 6, get("a"), found(7, "one")).breaks(Rule::OneStatePerVersion);
}

#[test]
fn a_list_that_is_older_than_an_acknowledged_write() {
    two_versions().list(3, 6, 6, &[("a", 5, "one")]).at(7, 8, get("a"), found(7, "two")).holds();
    two_versions().list(5, 6, 6, &[("a", 5, "one")]).breaks(Rule::ReadIsNotStale);
}

#[test]
fn a_list_that_mixes_two_states() {
    // The object b is written after a: a list with the new b and the old a was never the state.
    let script = || two_versions().at(1, 10, create("b", "three"), written(8)).at(11, 12, get("a"), found(7, "two"));
    script()
        .list(3, 9, 8, &[("a", 7, "two"), ("b", 8, "three")])
        .list(13, 14, 8, &[("a", 7, "two"), ("b", 8, "three")])
        .holds();
    let mixed = script().list(3, 9, 8, &[("a", 5, "one"), ("b", 8, "three")]);
    mixed.breaks(Rule::ListIsOneState);
    script().list(3, 9, 6, &[("a", 7, "two")]).breaks(Rule::ListIsOneState);
    script().list(3, 9, 8, &[("a", 7, "two")]).breaks(Rule::ListIsOneState);
}

#[test]
fn the_report_is_short() {
    let mut script = Script::default().at(1, 2, create("a", "v0"), written(10));
    for number in 1..200 {
        let (time, version) = (number * 10, number + 10);
        let value = format!("v{number}");
        script = script.at(time, time + 5, update("a", &value, version - 1), written(version));
        script = script.at(time + 6, time + 8, get("a"), found(version, &value));
    }
    let lost = script.at(1001, 1500, update("a", "lost", 110), written(1000));
    let violation = lost.breaks(Rule::Linearizable);
    assert!(violation.lines.len() <= 4, "{violation}");
    assert!(violation.to_string().contains("lost"), "{violation}");
}
