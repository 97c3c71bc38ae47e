//! The table of changes against the rules themselves. The same rows run through the command in codegen/tests/check.
use std::{collections::BTreeSet, sync::Arc};

use kindsmith::kind::{
    Definition,
    model::{Grace, Version},
};
use kindsmith_codegen::Kinds;

use super::*;

#[path = "../../tests/check/rows.rs"]
mod rows;

fn side(files: &rows::Files) -> Side {
    let (protos, others): (Vec<_>, Vec<_>) =
        files.iter().cloned().partition(|(name, _)| name.rsplit('.').next() == Some("proto"));
    let mut messages = Messages::default();
    for (name, text) in protos {
        messages.read(&name, std::str::from_utf8(&text).unwrap()).unwrap();
    }
    Side { kinds: Kinds::of_texts(&others).unwrap_or_else(|error| panic!("{error}")), messages }
}

fn found(sides: &Change<Side>, rules: &[&'static Rule]) -> Vec<String> {
    let line = |finding: Finding| format!("{} {} {}", finding.level, finding.rule.name, finding.location);
    let mut lines: Vec<String> = compare(sides, rules).into_iter().map(line).collect();
    lines.sort();
    lines
}

/// A change of a definition, and what is found.
struct InCode {
    change: &'static str,
    old: fn(&mut Definition),
    new: fn(&mut Definition),
    finds: &'static [&'static str],
}

/// What no file says, and programs do.
const IN_CODE: [InCode; 12] = [
    InCode {
        change: "objects end gracefully",
        old: |_| (),
        new: |of| shared(of).grace = Some(Grace::Seconds(30)),
        finds: &["warning grace-changed Book"],
    },
    InCode {
        change: "objects end gracefully for longer",
        old: |of| shared(of).grace = Some(Grace::Seconds(30)),
        new: |of| shared(of).grace = Some(Grace::Seconds(60)),
        finds: &["warning grace-changed Book"],
    },
    InCode {
        change: "objects no longer end gracefully",
        old: |of| shared(of).grace = Some(Grace::Seconds(30)),
        new: |_| (),
        finds: &["breaking grace-removed Book"],
    },
    InCode {
        change: "a value can no longer change",
        old: |_| (),
        new: |of| title(of).immutable = true,
        finds: &["breaking immutable-added Book v1 .spec.title"],
    },
    InCode {
        change: "a value can change",
        old: |of| title(of).immutable = true,
        new: |_| (),
        finds: &["warning immutable-removed Book v1 .spec.title"],
    },
    InCode {
        change: "objects are stored now",
        old: |of| shared(of).stored = false,
        new: |_| (),
        finds: &["breaking storing-changed Book"],
    },
    InCode {
        change: "updates must have a resourceVersion",
        old: |of| version(of).update_without_version = true,
        new: |_| (),
        finds: &["breaking unconditional-update-refused Book v1"],
    },
    InCode {
        change: "updates may leave out the resourceVersion",
        old: |_| (),
        new: |of| version(of).update_without_version = true,
        finds: &["warning unconditional-update-allowed Book v1"],
    },
    InCode {
        change: "PUT no longer creates objects",
        old: |of| version(of).create_on_update = true,
        new: |_| (),
        finds: &["breaking create-on-update-removed Book v1"],
    },
    InCode {
        change: "PUT creates objects",
        old: |_| (),
        new: |of| version(of).create_on_update = true,
        finds: &["compatible create-on-update-added Book v1"],
    },
    InCode {
        change: "a deletion answers with the object",
        old: |_| (),
        new: |of| version(of).returns_deleted = true,
        finds: &["warning deletion-answer-changed Book v1"],
    },
    InCode {
        change: "a deletion answers with a Status",
        old: |of| version(of).returns_deleted = true,
        new: |_| (),
        finds: &["warning deletion-answer-changed Book v1"],
    },
];

fn shared(definition: &mut Definition) -> &mut kindsmith::kind::model::Shared {
    Arc::make_mut(&mut definition.shared)
}

fn version(definition: &mut Definition) -> &mut Version {
    Arc::make_mut(&mut definition.versions[0])
}

fn title(definition: &mut Definition) -> &mut kindsmith::schema::Schema {
    let schema = Arc::make_mut(&mut version(definition).schema);
    schema.properties.get_mut("spec").unwrap().properties.get_mut("title").unwrap()
}

/// The table: what changes, both sides, and what is to be found.
fn table() -> Vec<(String, Change<Side>, Vec<String>)> {
    let rows = rows::all();
    let books = rows.iter().find(|row| row.change == "a description changes").unwrap().old.clone();
    let in_files = rows.into_iter().map(|row| {
        let sides = Change { old: side(&row.old), new: side(&row.new) };
        (row.change, sides, row.finds)
    });
    let in_code = IN_CODE.iter().map(|row| {
        let changed = |change: fn(&mut Definition)| {
            let mut side = side(&books);
            change(&mut side.kinds.kinds[0].definition);
            side
        };
        let sides = Change { old: changed(row.old), new: changed(row.new) };
        (row.change.to_owned(), sides, row.finds.iter().map(|line| (*line).to_owned()).collect())
    });
    let mut rows: Vec<(String, Change<Side>, Vec<String>)> = in_files.chain(in_code).collect();
    for (_, _, finds) in &mut rows {
        finds.sort();
    }
    rows
}

#[test]
fn each_change_of_the_table_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    for (change, sides, expected) in table() {
        let found = found(&sides, &all());
        if found != expected {
            wrong.push(format!("{change}: found {found:#?}, expected {expected:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_has_a_row_which_fails_without_it() {
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for (change, sides, expected) in table() {
        for rule in all() {
            if expected.iter().any(|line| line.split(' ').nth(1) == Some(rule.name)) {
                let others: Vec<_> = all().into_iter().filter(|other| other.name != rule.name).collect();
                assert_ne!(found(&sides, &others), expected, "{change} without {}", rule.name);
                shown.insert(rule.name);
            }
        }
    }
    let missing: Vec<&str> = all().iter().map(|rule| rule.name).filter(|name| !shown.contains(name)).collect();
    assert!(missing.is_empty(), "rules without a row: {missing:?}");
}

#[test]
fn nothing_is_found_where_nothing_changes() {
    for row in rows::all() {
        for files in [&row.old, &row.new] {
            let sides = Change { old: side(files), new: side(files) };
            assert_eq!(found(&sides, &all()), [""; 0], "{}", row.change);
        }
    }
}

#[test]
fn each_rule_says_whom_it_breaks_and_what_to_do_instead() {
    let mut names = BTreeSet::new();
    for rule in all() {
        assert!(names.insert(rule.name), "{} is there twice", rule.name);
        let breaks = rule.level > Level::Compatible;
        assert_eq!((breaks, breaks), (!rule.breaks.is_empty(), !rule.instead.is_empty()), "{}", rule.name);
        assert!(rule.about.ends_with('.') && !rule.harm.is_empty() && !rule.harm.ends_with('.'), "{}", rule.name);
    }
    assert!(names.len() >= 90, "{} rules", names.len());
}
