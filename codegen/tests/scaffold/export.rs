//! Tests of `kindsmith export`. The program that exports is `kindsmith serve`, behind a script without arguments.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, process::Command};

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
    serving(folder, MANIFEST)
}

/// A program that serves the kinds of a manifest.
fn serving(folder: &Folder, manifest: &str) -> PathBuf {
    let kindsmith = env!("CARGO_BIN_EXE_kindsmith");
    program(
        folder,
        &format!(
            "echo noise; exec {kindsmith} serve {manifest} --listen 127.0.0.1:0 --data-dir {}/data",
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
fn a_definition_is_exported_with_its_labels_and_annotations() {
    let folder = Folder::new("export");
    let manifest = fs::read_to_string(MANIFEST).unwrap().replace("bakery.example.com", "bakery.k8s.io").replace(
        "metadata:\n  name: orders",
        "metadata:\n  labels: {team: ovens}\n  annotations:\n    api-approved.kubernetes.io: https://example.com/42\n    \
         kubectl.kubernetes.io/last-applied-configuration: '{}'\n    example.com/about: |\n      Two\n      lines.\n  name: orders",
    );
    fs::write(folder.path().join("orders.yaml"), manifest).unwrap();
    let printed = done(folder.path(), &["export", "crd", "orders.yaml"]);
    let [read] = &crd::read("printed", printed.as_bytes()).unwrap().definitions[..] else { panic!("{printed}") };
    let found = |entries: &std::collections::BTreeMap<String, String>| {
        entries.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(found(&read.metadata.labels), ["team=ovens"]);
    let expected = ["api-approved.kubernetes.io=https://example.com/42", "example.com/about=Two\nlines.\n"];
    assert_eq!(found(&read.metadata.annotations), expected);
}

#[test]
fn versions_that_are_not_served_have_no_document_and_no_conversion_is_warned_of() {
    let folder = Folder::new("export");
    let old = "  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}\n  - name: v1\n";
    let manifest = fs::read_to_string(MANIFEST).unwrap().replace("  - name: v1\n", old);
    fs::write(folder.path().join("orders.yaml"), manifest).unwrap();
    let printed = done(folder.path(), &["export", "openapi", "orders.yaml"]);
    serde_json::from_str::<Value>(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    done(folder.path(), &["export", "openapi", "orders.yaml", "--out", "documents"]);
    assert_eq!(files(&folder.path().join("documents")).len(), 1);
    let output = crate::run(folder.path(), &["export", "crd", "orders.yaml"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !error.contains("conver"), "{error}");
}

#[test]
fn warnings_of_a_kind_are_counted_unless_all_are_asked_for() {
    let folder = Folder::new("export");
    let fields: Vec<String> =
        (0..40).map(|number| format!("f{number}: {{type: string, format: odd{number}}}, ")).collect();
    let fields = fields.concat();
    let manifest = fs::read_to_string(MANIFEST).unwrap();
    let extra = format!("          extra: {{type: object, properties: {{{fields}}}}}\n          status:\n");
    let manifest = manifest.replacen("          status:\n", &extra, 1);
    fs::write(folder.path().join("orders.yaml"), manifest).unwrap();
    let lines = |arguments: &[&str]| {
        let output = crate::run(folder.path(), arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{error}");
        error.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let few = lines(&["export", "crd", "orders.yaml"]);
    assert!(few.len() == 4 && few[3].contains("and 37 more like this (--all prints them): "), "{few:#?}");
    assert_eq!(lines(&["export", "crd", "orders.yaml", "--all"]).len(), 40);
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

#[test]
fn files_are_exported_without_a_program() {
    let folder = Folder::new("export");
    for (what, file, begin, next) in [
        (
            "crd",
            "orders.bakery.example.com.yaml",
            "---\napiVersion: apiextensions.k8s.io/v1\n",
            "kubectl apply --server-side",
        ),
        ("openapi", "bakery.example.com_v1.json", "{\n  \"components\"", "give openapi to"),
        (
            "json-schema",
            "bakery.example.com/order_v1.json",
            "{\n",
            "# yaml-language-server: $schema=json-schema/all.json",
        ),
        ("docs", "bakery.example.com.md", "# bakery.example.com\n", "publish the pages in docs"),
        ("rbac", "bakery.example.com.yaml", "---\napiVersion: rbac.authorization.k8s.io/v1\n", "kubectl apply -f rbac"),
    ] {
        let dry = done(folder.path(), &["export", what, MANIFEST, "--out", what, "--dry-run"]);
        assert!(dry.contains(&format!("would write {file}:")), "{what}: {dry}");
        assert!(!folder.path().join(what).exists(), "{what}: a dry run writes nothing");
        let out = done(folder.path(), &["export", what, MANIFEST, "--out", what]);
        assert!(out.contains(next), "{what}: {out}");
        let text = fs::read_to_string(folder.path().join(what).join(file)).unwrap();
        assert!(text.starts_with(begin), "{what}: {text}");
        assert_eq!(done(folder.path(), &["export", what, MANIFEST]), text, "{what}");
        let error = refused(folder.path(), &["export", what, MANIFEST, "--out", what]);
        assert!(error.contains("exists, and nothing was written; --overwrite replaces it"), "{what}: {error}");
    }
    let error = refused(folder.path(), &["export", "docs", "missing.yaml"]);
    assert!(error.contains("missing.yaml: No such file"), "{error}");
    let wrong = folder.path().join("wrong.yaml");
    fs::write(&wrong, fs::read_to_string(MANIFEST).unwrap().replace("plural: orders", "plural: Orders")).unwrap();
    for what in ["docs", "openapi"] {
        let error = refused(folder.path(), &["export", what, wrong.to_str().unwrap()]);
        assert!(error.contains("wrong.yaml:10: document 1, /spec/names/plural: "), "{error}");
    }
}

#[test]
fn a_program_and_its_files_are_exported_alike() {
    let folder = Folder::new("export");
    let program = bakery(&folder);
    for what in ["crd", "openapi", "json-schema", "rbac"] {
        let of_program = done(folder.path(), &["export", what, "--program", program.to_str().unwrap()]);
        assert_eq!(of_program, done(folder.path(), &["export", what, MANIFEST]), "{what}");
    }
}

/// A manifest that says who reads orders, and who writes them.
fn manifest_with_roles(folder: &Folder, read: &str, write: &str) -> String {
    let annotations = format!(
        "metadata:\n  annotations:\n    roles.kindsmith.dev/read: {read}\n    roles.kindsmith.dev/write: {write}\n  name: orders"
    );
    let path = folder.path().join("roles.yaml");
    fs::write(&path, fs::read_to_string(MANIFEST).unwrap().replace("metadata:\n  name: orders", &annotations)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_definition_says_which_roles_read_and_write() {
    let folder = Folder::new("export");
    let manifest = manifest_with_roles(&folder, "edit", "none");
    let program = serving(&folder, &manifest);
    for what in ["crd", "rbac"] {
        let of_program = done(folder.path(), &["export", what, "--program", program.to_str().unwrap()]);
        assert_eq!(of_program, done(folder.path(), &["export", what, &manifest]), "{what}");
    }
    let roles = done(folder.path(), &["export", "rbac", &manifest]);
    let names: Vec<_> = roles.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
    assert_eq!(names, ["bakery.example.com-edit", "bakery.example.com-admin"]);
    assert!(!roles.contains("create") && !roles.contains("patch"), "{roles}");

    done(folder.path(), &["generate", &manifest, "--out", "rust"]);
    let rust = files(&folder.path().join("rust")).into_values().collect::<String>();
    assert!(rust.contains("roles(read = edit, write = none)"), "{rust}");

    for (read, write, why) in [
        ("eidt", "admin", "no role is named \"eidt\"; the roles are view, edit, admin and none"),
        ("admin", "edit", "a role that writes objects could not read them"),
    ] {
        let error = refused(folder.path(), &["export", "rbac", &manifest_with_roles(&folder, read, write)]);
        assert!(
            error.contains("roles.yaml:") && error.contains("/metadata/annotations: ") && error.contains(why),
            "{error}"
        );
    }
}

#[test]
fn a_program_that_serves_or_takes_too_long_is_ended() {
    let folder = Folder::new("export");
    for (command, expected) in [
        ("echo Listening on 127.0.0.1:8080; exec sleep 600", "serves in place of exporting its kinds, and was ended"),
        ("exec sleep 600", "exported nothing within 1 s (KINDSMITH_EXPORT_SECONDS says another limit), and was ended"),
    ] {
        let program = program(&folder, command);
        let start = std::time::Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_kindsmith"))
            .args(["export", "docs", "--program", program.to_str().unwrap()])
            .env("KINDSMITH_EXPORT_SECONDS", "1")
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(expected), "{error}");
        assert!(output.status.code() == Some(2) && start.elapsed().as_secs() < 60, "{error}");
    }
}
