//! Members that are killed, stopped or replaced, and compaction while a watch is broken.

use super::*;

#[test]
fn a_member_that_is_killed_and_started_again_loses_and_repeats_nothing() {
    let Some(mut member) = Member::start() else { return };
    let store = open(&member);
    let seen = Seen::of(&store);
    let mut written = Vec::new();
    for round in 0..3 {
        for number in 0..20 {
            written.push(round * 20 + number);
            put(&store, "/things/a", &(round * 20 + number).to_string());
        }
        member.restart();
    }
    // What the engine does not know for sure is not repeated.
    let last = put(&store, "/things/b", "60");
    written.push(60);
    until("the sink has all changes", || seen.lock().unwrap().upto >= last);
    assert_eq!(numbers(&seen), written);
    assert!(seen.lock().unwrap().states.is_empty(), "nothing was compacted");
}
