//! Merging changed kinds into published files.
use super::{draft, file};
use crate::merge;

const PUBLISHED: &str = "// Ours
// Commit it.

syntax = \"proto2\";

package com.example.v1;

// A gear.
message Gear {
  optional .meta.ObjectMeta metadata = 1;

  optional GearSpec spec = 2;
}

message GearList {
  repeated Gear items = 2;
}

message GearSpec {
  // The teeth.
  optional int32 teeth = 1;

  repeated Mark marks = 4;

  reserved 3;
  reserved \"weight\";
}

message Mark {
  optional string name = 1;
}
";

/// A draft with these fields of a spec, and further messages.
fn gear(spec: &str, further: &str) -> crate::File {
    draft(&format!(
        "// Ours
syntax = \"proto2\"; package com.example.v1;
// A gear.
message Gear {{ optional .meta.ObjectMeta metadata = 1; optional GearSpec spec = 0; }}
message GearList {{ repeated Gear items = 2; }}
message GearSpec {{
{spec} }} {further}"
    ))
}

const SAME: &str = "optional int32 teeth = 0; repeated GearSpecMarks marks = 0;";
const MARKS: &str = "message GearSpecMarks { optional string name = 0; }";

#[test]
fn a_first_export_keeps_declared_numbers_and_assigns_the_others() {
    let first = gear("optional int32 teeth = 0; optional string name = 7; optional bool on = 0;", "");
    let merged = merge(&crate::File::default(), &first).expect("nothing is published");
    let written = merged.file.to_string();
    for line in [
        "optional GearSpec spec = 2;",
        "optional string name = 7;",
        "optional int32 teeth = 8;",
        "optional bool on = 9;",
    ] {
        assert!(written.contains(line), "{line}\n{written}");
    }
    assert!(written.starts_with("// Ours\n\nsyntax = \"proto2\";\n\npackage com.example.v1;\n"), "{written}");
    let again = merge(&file(&written), &first).expect("the same kinds");
    assert_eq!(again.file.to_string(), written);
    assert_eq!((again.appended.len(), again.removed.len(), again.unused.len()), (0, 0, 0));
}

#[test]
fn nothing_changes_if_the_kinds_are_the_same() {
    let published = file(PUBLISHED);
    let merged = merge(&published, &gear(SAME, MARKS)).expect("the same kinds");
    assert_eq!(merged.file, published);
    assert_eq!(published.to_string(), PUBLISHED);
}

#[test]
fn new_fields_are_appended_and_removed_ones_reserved() {
    let changed = gear(
        "// How heavy it is.\noptional int64 mass = 0; repeated GearSpecMarks marks = 0; optional Tip tip = 0;",
        "message GearSpecMarks { optional string name = 0; optional string color = 0; } message Tip { optional string text = 0; }",
    );
    let merged = merge(&file(PUBLISHED), &changed).expect("no conflicts");
    assert_eq!(merged.appended, ["GearSpec.mass = 5", "GearSpec.tip = 6", "Mark.color = 2"]);
    assert_eq!(merged.removed, ["GearSpec.teeth = 1"]);
    let written = merged.file.to_string();
    let spec = "message GearSpec {
  repeated Mark marks = 4;

  // How heavy it is.
  optional int64 mass = 5;

  optional Tip tip = 6;

  reserved 3;
  reserved \"weight\";
  reserved 1;
  reserved \"teeth\";
}
";
    assert!(written.contains(spec), "{written}");
    assert!(written.ends_with("message Tip {\n  optional string text = 1;\n}\n"), "{written}");
    // The removed field does not come back with another meaning.
    let conflicts = merge(&file(&written), &gear(SAME, MARKS)).expect_err("teeth are reserved");
    assert!(conflicts[0].message.starts_with("the name `teeth` is reserved"), "{conflicts:?}");
}

#[test]
fn messages_that_nothing_refers_to_are_kept() {
    let merged = merge(&file(PUBLISHED), &gear("optional int32 teeth = 0;", "")).expect("no conflicts");
    assert_eq!(merged.unused, ["Mark"]);
    assert!(merged.file.message("Mark").is_some());
}

#[test]
fn descriptions_follow_the_kinds_in_files_of_ours_alone() {
    let described = gear(&format!("// More teeth.\n{SAME}"), MARKS);
    let merged = merge(&file(PUBLISHED), &described).expect("no conflicts");
    assert!(merged.file.to_string().contains("  // More teeth.\n  optional int32 teeth = 1;"));
    let foreign = file(&PUBLISHED.replace("// Ours\n", "// Theirs\n"));
    assert_eq!(merge(&foreign, &described).expect("no conflicts").file, foreign);
}

/// The conflicts with the published file, each with its line.
fn conflicts(spec: &str, further: &str) -> Vec<String> {
    let conflicts = merge(&file(PUBLISHED), &gear(spec, further)).expect_err("a conflict");
    conflicts.into_iter().map(|conflict| conflict.of("v1.proto")).collect()
}

#[test]
fn what_contradicts_the_file_is_refused_with_its_line() {
    const NEVER: &str = "a published type never changes: keep it, or add a field with another name and remove this one";
    let marks = "repeated GearSpecMarks marks = 0;";
    for (spec, further, expected) in [
        (
            format!("optional int64 teeth = 0; {marks}"),
            MARKS,
            format!("v1.proto:21: `teeth` has the type `int32`, not `optional int64`; {NEVER}"),
        ),
        (
            format!("repeated int32 teeth = 0; {marks}"),
            MARKS,
            format!("v1.proto:21: `teeth` has the type `int32`, not `repeated int32`; {NEVER}"),
        ),
        (
            "optional int32 teeth = 0; repeated string marks = 0;".to_owned(),
            "",
            format!("v1.proto:23: `marks` has the type `repeated Mark`, not `repeated string`; {NEVER}"),
        ),
        (
            format!("optional int32 teeth = 2; {marks}"),
            MARKS,
            "v1.proto:21: `teeth` has the number 1, not 2; a published number never changes: declare 1".to_owned(),
        ),
        (
            format!("{SAME} optional string weight = 0;"),
            MARKS,
            "v1.proto:26: the name `weight` is reserved, since a field with it was removed; give the field another name, or restore \
             the removed one here if it means the same"
                .to_owned(),
        ),
        (
            format!("{SAME} optional string mass = 3;"),
            MARKS,
            "v1.proto:25: the number 3 is reserved, and cannot be that of `mass`; 5 is free".to_owned(),
        ),
        (
            format!("{SAME} optional string mass = 4;"),
            MARKS,
            "v1.proto:23: the number 4 is that of `marks`, and cannot be that of `mass`; 5 is free; for a renamed field, change \
             the name here, too"
                .to_owned(),
        ),
        (
            format!("{SAME} optional Gear gear = 0; repeated Gear more = 0;"),
            "message GearSpecMarks { optional int32 name = 0; }",
            format!("v1.proto:30: `name` has the type `string`, not `optional int32`; {NEVER}"),
        ),
    ] {
        assert_eq!(conflicts(&spec, further), [expected], "{spec}");
    }
}

#[test]
fn a_file_of_another_project_gives_its_numbers_and_keeps_what_it_says() {
    let theirs = file(
        "// Theirs
syntax = \"proto3\"; package shop.v1;
option go_package = \"shop\";
message Gear {
  meta.ObjectMeta metadata = 1;
  Description spec = 3;
  message Description {
    uint32 teeth = 5;
    repeated Mark marks = 9;
    oneof end { string left_end = 10; int64 rightEnd = 11; }
  }
}
message Mark { string name = 2; }
enum Color { NONE = 0; }
",
    );
    let ours = gear(&format!("{SAME} optional string leftEnd = 0; optional int64 rightEnd = 0;"), MARKS);
    let merged = merge(&theirs, &ours).expect("no conflicts");
    assert_eq!(merged.appended, Vec::<String>::new());
    let list = merged.file.message("GearList").expect("the list");
    assert_eq!((list.fields[0].kind.as_str(), list.fields[0].number), ("Gear", 2));
    let more =
        gear(&format!("{SAME} optional string leftEnd = 0; optional int64 rightEnd = 0; optional bool on = 0;"), MARKS);
    let merged = merge(&theirs, &more).expect("no conflicts");
    assert_eq!(merged.appended, ["Gear.Description.on = 12"]);
    let written = merged.file.to_string();
    for kept in [
        "option go_package = \"shop\";",
        "enum Color { NONE = 0; }",
        "oneof end {",
        "    optional bool on = 12;",
        "package shop.v1;",
    ] {
        assert!(written.contains(kept), "{kept}\n{written}");
    }
    assert_eq!(merge(&file(&written), &more).expect("no conflicts").file.to_string(), written);
}

#[test]
fn a_type_that_takes_the_name_of_another_gets_one_of_its_own() {
    let published = file("message Gear { optional Line spec = 2; } message Line { optional string a = 1; }");
    let changed = draft(
        "message Gear { optional GearSpec spec = 0; optional Line line = 0; } message GearSpec { optional string a = 0; } message Line { optional bool b = 0; }",
    );
    let merged = merge(&published, &changed).expect("no conflicts");
    let gear = merged.file.message("Gear").expect("the gear");
    assert_eq!(gear.fields[1].kind, "Line2");
    assert_eq!(merged.file.message("Line").expect("the published one").fields.len(), 1);
    assert_eq!(
        merge(&file(&merged.file.to_string()), &changed).expect("no conflicts").file.to_string(),
        merged.file.to_string()
    );
}

#[test]
fn a_field_that_has_another_name_in_json_keeps_its_number() {
    let spec = "optional int32 teeth = 0; repeated bytes xY = 0 [json_name = \"x~y\"];";
    let first = merge(&file(PUBLISHED), &gear(spec, "")).expect("a new field").file;
    assert!(first.to_string().contains("repeated bytes xY = 5 [json_name = \"x~y\"];"), "{first}");
    let again = merge(&first, &gear(spec, "")).expect("no change");
    assert_eq!((again.file.to_string(), again.appended, again.removed), (first.to_string(), vec![], vec![]));
    // Its name in the file is free for no other field, and its number is not lost in silence.
    let taken =
        merge(&first, &gear("optional int32 teeth = 0; repeated bytes xY = 0;", "")).expect_err("another field");
    let text: Vec<String> = taken.into_iter().map(|conflict| conflict.of("v1.proto")).collect();
    assert!(text[0].contains("`xY` is called \"x~y\" in JSON, not \"xY\"; give this field another name"), "{text:?}");
}
