//! Tests of `kindsmith export`. The program that exports is `kindsmith serve`, behind a script without arguments.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use kindsmith::kind::crd;
use kindsmith_tests::Folder;
use serde_json::Value;

use crate::{done, files, refused};

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/bakery.example.com/orders.yaml");

/// A program that serves the bakery.
fn program(folder: &Folder, command: &str) -> PathBuf {
    let path = folder.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{command}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

fn bakery(folder: &Folder) -> PathBuf {
    let kindsmith = env!("CARGO_BIN_EXE_kindsmith");
    program(
        folder,
        &format!(
            "echo noise; exec {kindsmith} serve {MANIFEST} --listen 127.0.0.1:0 --data-dir {}/data",
            folder.text()
        ),
    )
}

#[test]
fn an_exported_definition_defines_the_same_resource() {
    let folder = Folder::new("export");
    let program = bakery(&folder);
    let printed = done(folder.path(), &["export", "crd", "--program", program.to_str().unwrap()]);
    let read = |text: &str| crd::read("manifest", text.as_bytes()).unwrap().definitions;
    let (expected, found) = (read(&fs::read_to_string(MANIFEST).unwrap()), read(&printed));
    assert_eq!((found.len(), &found[0].definition), (expected.len(), &expected[0].definition));
    assert!(!folder.path().join("data").exists(), "nothing is stored");
    let out = done(folder.path(), &["export", "crd", "--program", program.to_str().unwrap(), "--out", "crds"]);
    assert!(out.contains("next: kubectl apply --server-side -f crds"), "{out}");
    assert_eq!(files(&folder.path().join("crds")).into_values().collect::<String>(), printed);
    let error = refused(folder.path(), &["export", "crd", "--program", program.to_str().unwrap(), "--out", "crds"]);
    assert!(error.contains("crds/orders.bakery.example.com.yaml exists, and nothing was written"), "{error}");
}

#[test]
fn an_exported_document_describes_the_kinds_of_the_program() {
    let folder = Folder::new("export");
    let program = bakery(&folder);
    let printed = done(folder.path(), &["export", "openapi", "--program", program.to_str().unwrap()]);
    let document: Value = serde_json::from_str(&printed).unwrap();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.contains_key("/apis/bakery.example.com/v1/namespaces/{namespace}/orders/{name}"), "{paths:?}");
}

#[test]
fn a_program_that_exports_nothing_is_reported() {
    let folder = Folder::new("export");
    let program = program(&folder, "exit 3");
    let error = refused(folder.path(), &["export", "crd", "--program", program.to_str().unwrap()]);
    assert!(error.contains("exit status: 3) without exporting its kinds; the program has to call `serve`"), "{error}");
    let error = refused(folder.path(), &["export", "crd", "--program", "missing"]);
    assert!(error.contains("missing: No such file"), "{error}");
}
