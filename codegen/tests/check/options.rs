//! Tests of output, exit codes and acceptances.

use std::fs;

use kindsmith_tests::Folder;
use serde_json::Value;

use crate::{checked, repository, row};

const REMOVED: &str = "breaking: crds/0.json: Book v1 .spec.field: removed; stored values are pruned at the next write, strict \
                       clients that send it are refused, and readers miss it [field-removed]";

#[test]
fn a_breaking_change_fails_and_says_what_breaks_and_what_to_do_next() {
    let folder = repository(&row("a field is removed"));
    let (code, printed, _) = checked(folder.path(), &["crds", "--against", "main"]);
    let summary = "1 breaking change, no warnings, no compatible changes";
    let next = "next: `kindsmith check --explain field-removed` says why, and what to do instead";
    assert_eq!((code, &*printed), (1, &*format!("{REMOVED}\n{summary}\n{next}\n")));
    let (code, printed, _) = checked(folder.path(), &["--explain", "field-removed"]);
    assert_eq!(code, 0);
    for part in ["field-removed (breaking)", "stored objects", "Deprecate the field", "Deprecation Policy"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let (_, printed, _) = checked(folder.path(), &["--rules"]);
    assert!(printed.lines().any(|line| line.starts_with("field-removed  ")), "{printed}");
}

#[test]
fn warnings_and_compatible_changes_do_not_fail_unless_warnings_are_denied() {
    let folder = repository(&row("a field may be null"));
    let (code, printed, _) = checked(folder.path(), &["crds", "--against", "main"]);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.starts_with("warning: crds/0.json: Book v1 .spec.field: may be null; "), "{printed}");
    let (code, ..) = checked(folder.path(), &["crds", "--against", "main", "--deny", "warnings"]);
    assert_eq!(code, 1);
    let folder = repository(&row("an optional field is added"));
    let (code, printed, _) = checked(folder.path(), &["crds", "--against", "main", "--deny", "warnings"]);
    let summary = "no breaking changes, no warnings, 1 compatible change";
    assert_eq!((code, &*printed), (0, &*format!("{summary} (--all prints everything)\n")));
    let (_, printed, _) = checked(folder.path(), &["crds", "--against", "main", "--all"]);
    assert_eq!(printed, format!("compatible: crds/0.json: Book v1 .spec.field: added [field-added]\n{summary}\n"));
}

#[test]
fn a_change_is_accepted_with_a_reason() {
    let folder = repository(&row("a field is removed"));
    let accept = folder.path().join("accepted.txt");
    let with = ["crds", "--against", "main", "--accept", "accepted.txt"];
    fs::write(&accept, "# In the review of 1.4:\n\nfield-removed Book v1 .spec.*: no client ever set it\n").unwrap();
    let (code, printed, _) = checked(folder.path(), &with);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains(", 1 accepted (--all prints everything)\n"), "{printed}");
    let (_, printed, _) = checked(folder.path(), &[&with[..], &["--all"]].concat());
    assert!(printed.contains("accepted: crds/0.json: Book v1 .spec.field: removed; "), "{printed}");
    assert!(printed.contains("[field-removed]: no client ever set it\n"), "{printed}");
    // In another place, it accepts nothing.
    fs::write(&accept, "field-removed Book v2 .spec.field: no client ever set it\n").unwrap();
    let (code, printed, _) = checked(folder.path(), &with);
    assert_eq!(code, 1);
    assert!(printed.starts_with(REMOVED), "{printed}");
    let unused = "warning: accepted.txt:1: accepts no change: field-removed Book v2 .spec.field; remove the line\n";
    assert!(printed.contains(unused), "{printed}");
}

#[test]
fn an_acceptance_that_accepts_nothing_is_a_warning() {
    let folder = repository(&row("an optional field is added"));
    fs::write(folder.path().join("accepted.txt"), "field-removed *: long ago\n").unwrap();
    let with = ["crds", "--against", "main", "--accept", "accepted.txt"];
    assert_eq!(checked(folder.path(), &with).0, 0);
    assert_eq!(checked(folder.path(), &[&with[..], &["--deny", "warnings"]].concat()).0, 1);
}

#[test]
fn a_wrong_acceptance_is_refused_with_its_line() {
    let folder = repository(&row("a field is removed"));
    for (line, expected) in [
        ("field-removed Book v1 .spec.field", "accepted.txt:2: there is no reason; expected RULE PLACE: REASON"),
        ("field-removed Book v1 .spec.field:  ", "accepted.txt:2: there is no reason"),
        ("field-removed: because", "accepted.txt:2: there is no place"),
        ("field-gone Book v1 .spec.field: because", "accepted.txt:2: there is no rule \"field-gone\""),
    ] {
        fs::write(folder.path().join("accepted.txt"), format!("# On purpose:\n{line}\n")).unwrap();
        let (code, _, error) = checked(folder.path(), &["crds", "--against", "main", "--accept", "accepted.txt"]);
        assert_eq!(code, 2, "{line}");
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn annotations_name_the_file_and_the_rule() {
    let folder = repository(&row("a value takes the place of another"));
    let (code, printed, _) = checked(folder.path(), &["crds", "--against", "main", "--format", "github"]);
    assert_eq!(code, 1);
    let start = "::error file=crds/0.json,title=enum-value-removed::Book v1 .spec.field: without the values \"Poem\"; ";
    assert!(printed.starts_with(start), "{printed}");
    assert!(printed.contains("\n::warning file=crds/0.json,title=enum-value-added::"), "{printed}");
}

/// A definition of books with these properties of `spec`, in YAML.
fn books(properties: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: books.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Book, plural: books}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
{properties}"
    )
}

#[test]
fn annotations_are_at_the_lines_of_fields() {
    let folder = Folder::new("check");
    let field = |name: &str, rest: &str| format!("              {name}:\n                type: object\n{rest}");
    let labels = |kind: &str| {
        let rest = "                additionalProperties:\n                  type: array\n                  items:\n";
        field("'a.b'", &format!("{rest}                    type: {kind}\n"))
    };
    fs::write(folder.path().join("old.yaml"), books(&format!("{}{}", labels("string"), field("gone", "")))).unwrap();
    fs::write(folder.path().join("new.yaml"), books(&labels("integer"))).unwrap();
    let (code, printed, _) = checked(folder.path(), &["new.yaml", "--against", "old.yaml", "--format", "github"]);
    assert_eq!(code, 1, "{printed}");
    // The items of the values; and the struct that has lost a field.
    assert!(printed.contains("::error file=new.yaml,line=24,title=type-changed::"), "{printed}");
    assert!(printed.contains("::error file=new.yaml,line=17,title=field-removed::"), "{printed}");
}

#[test]
fn json_has_all_of_a_change() {
    let folder = repository(&row("a field is removed"));
    fs::write(folder.path().join("accepted.txt"), "field-removed *: no client ever set it\n").unwrap();
    let (code, printed, _) =
        checked(folder.path(), &["crds", "--against", "main", "--format", "json", "--accept", "accepted.txt"]);
    let document: Value = serde_json::from_str(&printed).unwrap();
    let change = &document["changes"][0];
    assert_eq!((code, &change["accepted"], &change["level"]), (0, &"no client ever set it".into(), &"breaking".into()));
    assert_eq!(change["place"]["file"], "crds/0.json");
    assert!(change["breaks"].as_array().unwrap().contains(&"Protobuf clients".into()), "{change}");
    assert_eq!(document["summary"]["accepted"], 1);
}

#[test]
fn a_change_of_a_type_is_printed_once() {
    let folder = repository(&row("a type is renamed in an OpenAPI document"));
    // The same type in two fields, which loses one of its own.
    for (side, fields) in [("old", r#"{"by": {"type": "integer"}}"#), ("new", "{}")] {
        let text = fs::read_to_string(folder.path().join("crds/0.json")).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let schemas = &mut document["components"]["schemas"];
        let spec = &mut schemas["com.example.v1.Gear"]["properties"]["spec"]["properties"];
        spec["axle"] = spec["wheel"].clone();
        schemas["com.example.v1.Disc"]["properties"] = serde_json::from_str(fields).unwrap();
        fs::write(folder.path().join(format!("{side}.json")), document.to_string()).unwrap();
    }
    let (code, printed, _) = checked(folder.path(), &["new.json", "--against", "old.json"]);
    assert_eq!(code, 1);
    assert!(printed.contains("Gear v1 .spec.axle.by: removed; "), "{printed}");
    assert!(printed.contains("[field-removed] (also Gear v1 .spec.wheel.by)\n1 breaking change, "), "{printed}");
}

#[test]
fn a_change_of_a_field_in_several_versions_is_printed_once() {
    let row = row("a version with the same fields is added");
    let folder = repository(&row);
    for side in ["old", "new"] {
        let text = fs::read_to_string(folder.path().join("crds/0.json")).unwrap();
        let text = if side == "new" { text.replace("\"title\"", "\"name\"") } else { text };
        fs::write(folder.path().join(format!("{side}.json")), text).unwrap();
    }
    let (_, printed, _) = checked(folder.path(), &["new.json", "--against", "old.json"]);
    assert!(printed.contains("[field-removed] (also Book v1beta1 .spec.title)\n1 breaking change, "), "{printed}");
}
