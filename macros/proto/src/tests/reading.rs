//! Reading and writing files.
use super::file;
use crate::{Label, ResolvedType, camel, parse};

/// Everything that files of others have, as this crate writes it.
const KEPT: &str = r#"// The license.
// Of the file.

syntax = "proto3";

package com.example.v1;

import public "other.proto";
import "third.proto";

option go_package = "a;b{";

enum Color { NONE = 0; RED = 1; } // beside

service Turning {
  rpc Turn(Gear) returns (Gear) {} // text
}

// A gear.
message Gear {
  option deprecated = true;

  extensions 100 to 199;

  // The state.
  message State {
    // The phase.
    string phase = 1;
  }

  optional int32 teeth = 1 [deprecated = true, json_name = "cogs"];

  // Marks.
  // By name.
  map<string, State> marks = 2;

  oneof one {
    // Left.
    string left = 3;
    .com.example.v1.Gear right = 4;
  }

  repeated string names = 0x10;

  reserved 5;
  reserved 7 to 9;
  reserved "old";
  reserved 1000 to max;
}
"#;

#[test]
fn what_is_read_is_written_again() {
    let read = file(KEPT);
    let expected = KEPT.replace("0x10", "16");
    assert_eq!(read.to_string(), expected);
    assert_eq!(file(&read.to_string()), read);
}

#[test]
fn comments_and_forms_of_others_are_read() {
    let read = file(
        "/* one */ syntax='proto2' ;package a.b;;\nmessage M{required bytes b=1;// beside\n/* two\n * lines */ repeated M ms = 2\n;reserved 3,5 to 6;\n  // at the end\n}\n// last",
    );
    let message = read.message("M").expect("M");
    assert_eq!((message.fields[0].line, message.fields[1].line), (2, 4));
    assert_eq!(message.fields[0].about, ["beside"]);
    assert_eq!(message.fields[1].about, ["two", "lines"]);
    assert_eq!(message.fields[1].label, Label::Repeated);
    assert_eq!((message.reserves(3), message.reserves(4), message.reserves(6)), (Some(5), None, Some(5)));
    let written = read.to_string();
    for kept in ["// one\n", "// at the end\n", "// last\n", "required bytes b = 1;"] {
        assert!(written.contains(kept), "{written}");
    }
}

#[test]
fn what_is_wrong_is_reported_with_its_line() {
    let nested = "message M {".repeat(100);
    for (text, error) in [
        ("edition = \"2023\";", "1: found an edition; supported: the syntax proto2 or proto3"),
        ("message M {\n repeated group G = 1 { }\n}", "2: found a group; supported: fields of other types"),
        ("message M {\n string a = 536870912;\n}", "2: a: found the number \"536870912\"; expected 1 to 536870911"),
        ("message M {\n string a = 1\n string b = 2;\n}", "3: expected \";\", found \"string\""),
        ("message M {\n string a = 1;\n string a = 2;\n}", "3: the message has two fields called a"),
        ("message M {\n string a = 1;\n reserved 1 to 3;\n}", "2: a: the number 1 is reserved on line 3"),
        ("message M {\n string a = 1;\n reserved \"a\";\n}", "2: the name a is reserved on line 3"),
        ("message M {\n reserved a b;\n}", "2: expected numbers or names in quotes, found \"a b\""),
        ("message M {\n string a = 1 [x;\n}", "2: a: the options do not end"),
        ("message M {\n oneof one { option x = 1; }\n}", "2: found an option of a oneof; supported: its fields alone"),
        (&nested, "1: messages are nested more than 64 deep"),
    ] {
        assert_eq!(parse(text).expect_err(text).to_string(), error);
    }
}

#[test]
fn types_are_found_from_the_innermost_name_outwards() {
    let read = file(
        "package a.b; enum Top { T = 0; } message M { message M { enum E { X = 0; } } message N {} E e = 1; } message N {}",
    );
    let message = |name: &str| ResolvedType::Message(name.to_owned());
    for (kind, around, expected) in [
        ("string", "M", ResolvedType::Scalar),
        ("M", "M", message("M.M")),
        ("M", "", message("M")),
        ("N", "M.M", message("M.N")),
        (".a.b.N", "M", message("N")),
        ("b.N", "M", message("N")),
        ("a.b.M.N", "", message("M.N")),
        ("Top", "M.M", ResolvedType::Enum),
        ("M.E", "M", ResolvedType::Enum),
        (".c.N", "M", ResolvedType::Elsewhere("c.N".to_owned())),
        ("c.N", "M", ResolvedType::Elsewhere("c.N".to_owned())),
    ] {
        assert_eq!(read.resolve(kind, around), expected, "{kind} in {around:?}");
    }
}

#[test]
fn fields_have_the_names_of_json() {
    let names = ["display_name", "uid", "_x", "aB_c", "a__b"].map(camel);
    assert_eq!(names, ["displayName", "uid", "X", "aBC", "aB"]);
    let read = file("message M { string uID = 1; string display_name = 2; string given = 3 [ json_name = 'shown' ]; }");
    let message = read.message("M").expect("M");
    let number = |name: &str| message.field(name).map(|field| field.number);
    assert_eq!(["uid", "displayName", "shown", "given"].map(number), [Some(1), Some(2), Some(3), None]);
}

#[test]
fn the_next_number_is_behind_all_that_were_used() {
    for (inner, expected) in [
        ("", Some(1)),
        ("string a = 3;", Some(4)),
        ("string a = 3; reserved 4, 6;", Some(7)),
        ("string a = 3; extensions 4 to 9;", Some(10)),
        ("string a = 18999;", Some(20_000)),
        ("string a = 3; reserved 100 to max;", Some(4)),
        ("string a = 99; reserved 100 to max;", None),
        ("string a = 536870911;", None),
    ] {
        let read = file(&format!("message M {{ {inner} }}"));
        assert_eq!(read.messages[0].next_number(), expected, "{inner}");
    }
}
