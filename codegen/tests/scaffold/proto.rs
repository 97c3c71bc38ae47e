//! Tests of `kindsmith export proto`, and of what the generator makes of the files.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use kindsmith_codegen::Builder;
use kindsmith_tests::Folder;

use crate::{done, files, refused, run};

const SCHEMAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas");
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/bakery.example.com/orders.yaml");
const LOCK: &str = "schemas/bakery.example.com/v1.proto";

/// A folder with the manifest, and the lock of its numbers.
fn bakery() -> Folder {
    let folder = Folder::new("proto");
    fs::copy(MANIFEST, folder.path().join("orders.yaml")).unwrap();
    let out = done(folder.path(), &["export", "proto", "orders.yaml", "--out", "schemas"]);
    assert!(out.ends_with(&format!("next: commit {LOCK}: published numbers never change\n")), "{out}");
    folder
}

fn lock(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join(LOCK)).unwrap()
}

/// Replaces a part of a file.
fn change(folder: &Folder, file: &str, from: &str, to: &str) {
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

const EXPORT: [&str; 5] = ["export", "proto", "orders.yaml", "--out", "schemas"];

/// The committed file of the bakery is what is exported; `KINDSMITH_BLESS=1` writes it.
#[test]
fn the_committed_lock_is_what_is_exported() {
    let folder = bakery();
    let golden = Path::new(SCHEMAS).join("bakery.example.com/v1.proto");
    if std::env::var_os("KINDSMITH_BLESS").is_some() {
        fs::write(&golden, lock(&folder)).unwrap();
    }
    assert_eq!(lock(&folder), fs::read_to_string(golden).unwrap());
    let written: Vec<_> = files(&folder.path().join("schemas")).into_keys().collect();
    let imported = "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";
    assert!(written.iter().any(|path| path == Path::new(imported)), "{written:?}");
    let printed = done(folder.path(), &EXPORT[..3]);
    assert_eq!(printed, lock(&folder));
}

#[test]
fn a_second_export_changes_nothing() {
    let folder = bakery();
    let before = files(folder.path());
    let out = done(folder.path(), &EXPORT);
    assert_eq!(out, "next: nothing: the files were up to date\n");
    assert_eq!(files(folder.path()), before);
    assert!(run(folder.path(), &[&EXPORT[..], &["--check"]].concat()).status.success());
}

#[test]
fn new_fields_are_appended_and_removed_ones_reserved() {
    let folder = bakery();
    // The rule is about the field that goes.
    change(
        &folder,
        "orders.yaml",
        "            x-kubernetes-validations:\n            - rule: |-\n                !has(oldSelf.pickup)\n                  || has(self.pickup) && self.pickup >= oldSelf.pickup\n              message: an order cannot be picked up earlier than agreed\n              fieldPath: .pickup\n",
        "",
    );
    change(
        &folder,
        "orders.yaml",
        "              pickup:\n                description: When the order is picked up.\n                type: string\n                format: date-time\n",
        "              note: {type: string, description: For the baker.}\n",
    );
    let checked = run(folder.path(), &[&EXPORT[..], &["--check"]].concat());
    let error = String::from_utf8(checked.stderr).unwrap();
    assert_eq!(checked.status.code(), Some(1), "{error}");
    assert!(
        error.contains(&format!("error: not up to date: {LOCK}; run: kindsmith export proto --out schemas")),
        "{error}"
    );
    let dry = done(folder.path(), &[&EXPORT[..], &["--dry-run"]].concat());
    assert!(dry.contains("optional string note = 4;") && !lock(&folder).contains("note"), "{dry}");
    let out = done(folder.path(), &EXPORT);
    assert!(out.contains("note: bakery.example.com/v1.proto: appended OrderSpec.note = 4\n"), "{out}");
    assert!(out.contains("note: bakery.example.com/v1.proto: removed, and reserved, OrderSpec.pickup = 3\n"), "{out}");
    let lock = lock(&folder);
    assert!(
        lock.contains("  // For the baker.\n  optional string note = 4;\n\n  reserved 3;\n  reserved \"pickup\";\n}"),
        "{lock}"
    );
}

#[test]
fn what_contradicts_the_lock_is_refused_with_its_line_by_every_command() {
    let folder = bakery();
    let line = 1 + lock(&folder).lines().position(|line| line.contains("optional int32 count")).unwrap();
    change(
        &folder,
        "orders.yaml",
        "                      type: integer\n                      format: int32\n                      minimum: 1\n                      default: 1\n",
        "                      type: string\n",
    );
    let expected = format!(
        "{LOCK}:{line}: `count` has the type `int32`, not `optional string`; a published type never changes: keep it, or add a field with \
         another name and remove this one"
    );
    let before = lock(&folder);
    let error = refused(folder.path(), &EXPORT);
    assert_eq!(error, format!("error: {expected}\n"));
    assert_eq!(lock(&folder), before, "nothing is written");
    let error = refused(folder.path(), &["generate", "orders.yaml", LOCK, "--out", "generated"]);
    let line = format!("{LOCK}:{line}: document 1: `count` has the type `int32`, not `string`; ");
    assert!(error.starts_with(&format!("error: {line}")), "{error}");
    let error =
        Builder::new().file(folder.path().join("orders.yaml")).file(folder.path().join(LOCK)).generate().unwrap_err();
    assert!(error.to_string().contains(&line), "{error}");
    let error = refused(folder.path(), &["generate", "orders.yaml", LOCK, "--out", "generated", "--check"]);
    assert!(error.contains(&line), "{error}");
}

#[test]
fn the_lock_numbers_generated_kinds() {
    let folder = bakery();
    done(folder.path(), &["generate", "orders.yaml", LOCK, "--out", "generated"]);
    let text = fs::read_to_string(folder.path().join("generated/bakery/v1.rs")).unwrap();
    for numbered in ["#[api(proto = 1)]\n    pub metadata: ObjectMeta", "#[api(proto = 2)]\n    pub spec: OrderSpec"] {
        assert!(text.contains(numbered), "{text}");
    }
    assert!(!text.contains("not served in Protobuf"), "{text}");
    // A reserved name stays reserved.
    change(&folder, LOCK, "  optional string customer = 1;", "  reserved 1;\n  reserved \"customer\";");
    let error = refused(folder.path(), &["generate", "orders.yaml", LOCK, "--out", "generated"]);
    assert!(error.contains("the name `customer` is reserved, since a field with it was removed"), "{error}");
}

#[test]
fn a_file_of_another_project_is_a_lock() {
    let folder = Folder::new("proto");
    fs::copy(MANIFEST, folder.path().join("orders.yaml")).unwrap();
    let path = folder.path().join(LOCK);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let theirs = "// Theirs.\nsyntax = \"proto3\";\npackage shop;\noption java_package = \"shop\";\n\
                  message Order { Wish spec = 7; }\nmessage Wish { string customer = 9; repeated Bread items = 3; }\n\
                  message Bread { string name = 2; int32 count = 1; }\nservice Shop { rpc Bake(Order) returns (Order) {} }\n";
    fs::write(&path, theirs).unwrap();
    let out = done(folder.path(), &EXPORT);
    for line in ["appended Order.metadata = 1", "appended Order.status = 8", "appended Wish.pickup = 10"] {
        assert!(out.contains(line), "{out}");
    }
    let written = lock(&folder);
    for kept in [
        "// Theirs.",
        "syntax = \"proto3\";",
        "package shop;",
        "option java_package",
        "service Shop {",
        "Wish spec = 7;",
        "int32 count = 1;",
    ] {
        assert!(written.contains(kept), "{written}");
    }
    assert_eq!(done(folder.path(), &EXPORT), "next: nothing: the files were up to date\n");
    done(folder.path(), &["generate", "orders.yaml", LOCK, "--out", "generated"]);
    let text = fs::read_to_string(folder.path().join("generated/bakery/v1.rs")).unwrap();
    assert!(text.contains("proto = 7") && text.contains("proto = 9, proto_zero"), "{text}");
}

#[test]
fn a_program_exports_the_numbers_that_it_declares() {
    let folder = bakery();
    let program = folder.path().join("program");
    let kindsmith = env!("CARGO_BIN_EXE_kindsmith");
    let serve = format!("#!/bin/sh\nexec {kindsmith} serve orders.yaml {LOCK} --listen 127.0.0.1:0 --memory\n");
    fs::write(&program, serve).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let export = ["export", "proto", "--out", "schemas", "--program", "./program"];
    assert_eq!(done(folder.path(), &export), "next: nothing: the files were up to date\n");
    // The program has its numbers from another file here.
    fs::copy(folder.path().join(LOCK), folder.path().join("v1.proto")).unwrap();
    change(&folder, LOCK, "optional string customer = 1;", "optional string customer = 11;");
    let served = fs::read_to_string(&program).unwrap().replace(LOCK, "bakery.example.com/v1.proto");
    fs::create_dir_all(folder.path().join("bakery.example.com")).unwrap();
    fs::rename(folder.path().join("v1.proto"), folder.path().join("bakery.example.com/v1.proto")).unwrap();
    fs::write(&program, served).unwrap();
    let error = refused(folder.path(), &export);
    assert!(
        error.contains("`customer` has the number 11, not 1; a published number never changes: declare 11"),
        "{error}"
    );
}

#[test]
fn a_lock_that_is_no_definition_and_kinds_without_messages_are_reported() {
    let folder = bakery();
    fs::write(folder.path().join(LOCK), "syntax = \"proto2\";\nmessage Order {\n").unwrap();
    let error = refused(folder.path(), &EXPORT);
    assert_eq!(error, format!("error: {LOCK}:2: the file ends within a definition\n"));
    change(
        &folder,
        "orders.yaml",
        "        type: object\n        required: [spec]\n",
        "        type: object\n        x-kubernetes-preserve-unknown-fields: true\n        required: [spec]\n",
    );
    let error = refused(folder.path(), &EXPORT);
    assert!(
        error.contains(
            "warning: left out: bakery.example.com/v1 Order: the object has both fields of its own and others"
        ),
        "{error}"
    );
    assert!(error.ends_with("error: there are no kinds that could be exported\n"), "{error}");
}
