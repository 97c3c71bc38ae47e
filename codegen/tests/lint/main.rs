//! Tests of `kindsmith lint` as a command: its output, its exit codes, and what is allowed. The rules have tests beside them.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use kindsmith_tests::Folder;
use serde_json::Value;

mod corpus;

/// A definition with an error and two warnings.
const SHELF: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shelves.library.example.com
spec:
  group: library.example.com
  scope: Namespaced
  names: {plural: shelves, singular: shelf, kind: Shelf, listKind: ShelfList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: Shelf holds books.
        type: object
        properties:
          spec:
            description: The desired state.
            type: object
            properties:
              load_limit:
                description: What the shelf bears.
                type: integer
                format: int32
              isOpen:
                description: Readers may take books.
                type: boolean
              places:
                description: Books by place.
                type: object
                additionalProperties:
                  type: object
                  properties:
                    book: {type: string, description: The book.}
";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsmith"));
    command.current_dir(folder).arg("lint").args(arguments).output().unwrap()
}

/// The exit code, and both outputs.
fn lint(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = run(folder, arguments);
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A folder with the definition.
fn shelf() -> Folder {
    let folder = Folder::new("lint");
    fs::write(folder.path().join("shelf.yaml"), SHELF).unwrap();
    folder
}

#[test]
fn each_finding_is_a_line_with_its_place_and_each_rule_is_counted() {
    let folder = shelf();
    let (code, out, error) = lint(folder.path(), &["shelf.yaml"]);
    let expected = "\
shelf.yaml:26: Shelf v1 .spec.isOpen: warning: isOpen is a bool: call it open [bool-named-is]
shelf.yaml:22: Shelf v1 .spec.load_limit: error: load_limit is not camelCase: call it loadLimit [field-name-case]
shelf.yaml:29: Shelf v1 .spec.places: warning: a map of objects: take a list of objects with a name, which merges by that name [map-of-objects]

     1  field-name-case  error
     1  bool-named-is    warning
     1  map-of-objects   warning
1 error, 2 warnings
";
    assert_eq!((code, out.as_str(), error.as_str()), (1, expected, ""));
}

#[test]
fn findings_are_printed_for_programs_and_for_github() {
    let folder = shelf();
    let (code, out, _) = lint(folder.path(), &["shelf.yaml", "--format", "json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    let first = &document["findings"][0];
    assert_eq!(
        (code, &first["rule"], &first["line"], &first["path"]),
        (1, &"bool-named-is".into(), &26.into(), &".spec.isOpen".into())
    );
    assert_eq!(document["counts"]["map-of-objects"], 1);
    let (_, out, _) = lint(folder.path(), &["shelf.yaml", "--format", "github"]);
    let expected = "::warning file=shelf.yaml,line=26,title=kindsmith lint bool-named-is::Shelf v1 .spec.isOpen: isOpen is a bool: call it open";
    assert_eq!(out.lines().next(), Some(expected));
}

#[test]
fn what_is_allowed_with_a_reason_is_not_found() {
    let folder = shelf();
    let allow = |text: &str| fs::write(folder.path().join("kindsmith-lint.yaml"), format!("allow:\n{text}")).unwrap();
    allow("- {rule: field-name-case, kind: Shelf, path: spec.load_*, reason: Carpenters call it so.}\n");
    let (code, out, error) = lint(folder.path(), &["."]);
    assert!(code == 0 && out.ends_with("0 errors, 2 warnings; 1 allowed\n") && error.is_empty(), "{out}{error}");
    let (code, ..) = lint(folder.path(), &[".", "--deny", "warnings"]);
    assert_eq!(code, 1, "warnings are denied");
    // An annotation allows a rule in the whole kind.
    let annotations = "  annotations:\n    allow.kindsmith.dev/bool-named-is: Clients of v1 have this name.\n    allow.kindsmith.dev/map-of-objects: So, too.\nspec:";
    fs::write(folder.path().join("shelf.yaml"), SHELF.replacen("spec:", annotations, 1)).unwrap();
    let (code, out, error) = lint(folder.path(), &[".", "--deny", "warnings"]);
    assert_eq!((code, out.as_str(), error.as_str()), (0, "0 errors, 0 warnings; 3 allowed\n", ""));
    // An entry that has become needless is reported.
    allow("- {rule: field-name-case, reason: Carpenters call it so.}\n- {rule: float, reason: Prices.}\n");
    let (code, _, error) = lint(folder.path(), &[".", "--deny", "warnings"]);
    assert_eq!(
        (code, error.as_str()),
        (1, "warning: kindsmith-lint.yaml:3: the entry for float allows nothing: remove it\n")
    );
}

#[test]
fn what_is_allowed_without_a_reason_is_refused() {
    let folder = shelf();
    let file = folder.path().join("other.yaml");
    fs::write(&file, "allow:\n- rule: field-name-case\n").unwrap();
    let (code, out, error) = lint(folder.path(), &["shelf.yaml", "--allow", "other.yaml"]);
    let expected = "error: other.yaml:2: why is field-name-case violated here? An entry has a reason\n";
    assert_eq!((code, out.as_str(), error.as_str()), (2, "", expected));
    fs::write(
        folder.path().join("shelf.yaml"),
        SHELF.replacen("spec:", "  annotations: {allow.kindsmith.dev/flaot: x}\nspec:", 1),
    )
    .unwrap();
    let (code, _, error) = lint(folder.path(), &["shelf.yaml"]);
    assert!(
        code == 2
            && error.contains(
                "the annotation allow.kindsmith.dev/flaot of Shelf.library.example.com: there is no rule flaot"
            ),
        "{error}"
    );
}

#[test]
fn the_kinds_of_a_program_are_checked() {
    let folder = shelf();
    let program = folder.path().join("program");
    let (kindsmith, root) = (env!("CARGO_BIN_EXE_kindsmith"), folder.text());
    let script =
        format!("#!/bin/sh\nexec {kindsmith} serve {root}/shelf.yaml --listen 127.0.0.1:0 --data-dir {root}/data\n");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let (code, out, _) = lint(folder.path(), &["--program", "./program"]);
    assert!(code == 1 && out.contains("Shelf v1 .spec.load_limit: error: load_limit is not camelCase"), "{out}");
    assert!(out.ends_with("1 error, 2 warnings\n"), "{out}");
}

#[test]
fn a_rule_with_many_findings_does_not_hide_the_others() {
    let folder = shelf();
    let text = fs::read_to_string(folder.path().join("shelf.yaml")).unwrap();
    let fields: Vec<String> = (0..30).map(|number| format!("              f{number}: {{type: string}}\n")).collect();
    let fields = fields.concat();
    let text = text.replacen("            properties:\n", &format!("            properties:\n{fields}"), 1);
    fs::write(folder.path().join("shelf.yaml"), text).unwrap();
    let (_, out, _) = lint(folder.path(), &["shelf.yaml"]);
    assert_eq!(out.matches("[missing-description]").count(), 3, "{out}");
    assert!(out.contains("30  missing-description  warning, 27 of them not shown (--all)\n"), "{out}");
    assert!(out.contains("[bool-named-is]") && out.contains("[field-name-case]"), "{out}");
    let (_, out, _) = lint(folder.path(), &["shelf.yaml", "--all"]);
    assert_eq!(out.matches("[missing-description]").count(), 30, "{out}");
}

#[test]
fn rules_are_listed_and_explained() {
    let folder = Folder::new("lint");
    let (code, out, _) = lint(folder.path(), &["--rules"]);
    assert!(code == 0 && out.lines().count() >= 60, "{out}");
    assert!(
        out.lines().any(|line| line.split_whitespace().eq("float-in-spec error Primitive types".split_whitespace())),
        "{out}"
    );
    let (code, out, _) = lint(folder.path(), &["--explain", "float-in-spec"]);
    assert!(
        code == 0 && out.starts_with("float-in-spec (error)\n\nFloating-point values are never used in spec"),
        "{out}"
    );
    assert!(out.contains("Violates it:\n\n    spec: {properties: {price: {type: number}}}\n"), "{out}");
    let (code, _, error) = lint(folder.path(), &["--explain", "float-in-status"]);
    assert!(
        code == 2 && error.contains("there is no rule float-in-status; did you mean float-in-spec? `kindsmith"),
        "{error}"
    );
    let (code, _, error) = lint(folder.path(), &["--explain", "nosuch"]);
    assert!(code == 2 && error.contains("there is no rule nosuch; `kindsmith lint --rules` lists them"), "{error}");
}

/// The definitions that follow our conventions; those of Kubernetes have their own.
const OWN: [&str; 4] =
    ["schemas/bakery.example.com", "schemas/marina.example.com", "--allow", "schemas/kindsmith-lint.yaml"];

#[test]
fn the_definitions_of_the_examples_are_clean_or_allowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (code, out, error) = lint(&root, &[&OWN[..], &["--deny", "warnings"]].concat());
    assert!(code == 0 && error.is_empty() && out.starts_with("0 errors, 0 warnings; "), "{out}{error}");
}
