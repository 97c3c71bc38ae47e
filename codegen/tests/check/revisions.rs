//! Tests of what can be compared: files, revisions and programs.

use std::{fs, os::unix::fs::PermissionsExt};

use kindsmith_tests::Folder;

use crate::{checked, git, put, repository, row};

fn is_found(printed: &str) -> bool {
    printed.contains("Book v1 .spec.field: removed; ")
}

#[test]
fn files_and_folders_are_compared_with_others_and_with_revisions() {
    let row = row("a field is removed");
    let folder = repository(&row);
    put(&folder.path().join("before"), &row.old);
    for arguments in [
        ["crds", "--against", "main"],
        ["crds", "--against", "HEAD"],
        ["crds/0.json", "--against", "main"],
        ["crds", "--against", "before"],
        ["crds/0.json", "--against", "before/0.json"],
        ["crds", "--against", "main:crds"],
        ["crds", "--against", "main:crds/0.json"],
        ["crds", "--against", "main:./crds"],
        ["./crds", "--against", "main"],
        ["before/../crds", "--against", "main"],
    ] {
        let (code, printed, error) = checked(folder.path(), &arguments);
        assert!(code == 1 && is_found(&printed), "{arguments:?}: {printed}{error}");
    }
    let crds = folder.path().join("crds");
    for arguments in [[".", "--against", "main"], ["0.json", "--against", "main"], [".", "--against", "main:crds"]] {
        let (code, printed, error) = checked(&crds, &arguments);
        assert!(code == 1 && is_found(&printed), "below: {arguments:?}: {printed}{error}");
    }
    let other = Folder::new("check");
    let (code, printed, error) = checked(other.path(), &[crds.to_str().unwrap(), "--against", "main"]);
    assert!(code == 1 && is_found(&printed), "from elsewhere: {printed}{error}");
    git(folder.path(), &["diff", "--quiet", "HEAD", "--", "before"]);
}

#[test]
fn files_of_a_revision_are_bounded_like_others() {
    let folder = repository(&row("a field is removed"));
    let large = folder.path().join("crds/large.yaml");
    fs::write(&large, format!("# {}\n", "x".repeat(2 << 20))).unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message=Large"]);
    fs::remove_file(&large).unwrap();
    for against in ["HEAD", "HEAD:crds", "HEAD:./crds"] {
        let arguments = ["crds", "--against", against, "--max-file-size", "1Mi"];
        let (code, _, error) = checked(folder.path(), &arguments);
        assert!(code == 2 && error.contains("large.yaml: it is larger than 1 MiB, the limit for a file"), "{error}");
        let (code, printed, _) = checked(folder.path(), &arguments[..3]);
        assert_eq!(code, 0, "{printed}");
    }
}

#[test]
fn a_folder_with_other_files_is_read_as_it_was() {
    let row = row("a field is removed");
    let folder = repository(&row);
    let crds = folder.path().join("crds");
    fs::create_dir(crds.join("deep")).unwrap();
    fs::rename(crds.join("0.json"), crds.join("deep/moved.json")).unwrap();
    fs::write(crds.join("notes.txt"), "not a definition").unwrap();
    git(folder.path(), &["add", "."]);
    let before = fs::read(folder.path().join(".git/index")).unwrap();
    let (code, printed, _) = checked(folder.path(), &["crds", "--against", "HEAD"]);
    assert_eq!(code, 1);
    assert!(printed.starts_with("breaking: crds/deep/moved.json: "), "{printed}");
    assert_eq!(fs::read(folder.path().join(".git/index")).unwrap(), before, "the index is not touched");
    assert!(!crds.join("0.json").exists(), "the work tree is not touched");
}

#[test]
fn definitions_that_were_not_there_yet_are_new() {
    let row = row("a field is removed");
    let folder = repository(&row);
    put(&folder.path().join("more"), &row.new);
    let (code, printed, error) = checked(folder.path(), &["more", "--against", "main", "--all"]);
    assert_eq!(code, 0);
    assert!(printed.contains("Book: added [kind-added]"), "{printed}");
    assert!(error.contains("note: there were no definitions at main, so all are new"), "{error}");
}

#[test]
fn what_cannot_be_compared_is_an_error_with_a_way_out() {
    let folder = repository(&row("a field is removed"));
    fs::write(
        folder.path().join("broken.yaml"),
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: 1\n",
    )
    .unwrap();
    fs::write(folder.path().join("empty.yaml"), "").unwrap();
    for (arguments, expected) in [
        (&["crds", "--against", "mian"][..], "git knows no such revision; in a shallow clone, fetch it first"),
        (&["crds", "--against", "main:crd"], "main:crd: there are no definitions at this path of the revision"),
        (&["crds", "--against", "broken.yaml"], "broken.yaml:3: document 1, /spec"),
        (&["broken.yaml", "--against", "crds"], "broken.yaml:3: document 1, /spec"),
        (&["empty.yaml", "--against", "empty.yaml"], "neither side defines a kind"),
        (&["nothing.yaml", "--against", "crds"], "nothing.yaml: No such file"),
        (&["--against", "main"], "name the exported definitions there, such as main:crds"),
        (&["crds"], "--against <REV|FILE|FOLDER>"),
        (&["--explain", "field-gone"], "there is no rule \"field-gone\"; `kindsmith check --rules` lists them"),
        (&["crds", "--against", "main", "--accept", "nothing.txt"], "nothing.txt: No such file"),
    ] {
        let (code, _, error) = checked(folder.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    let nowhere = Folder::new("check");
    put(&nowhere.path().join("crds"), &row("a field is removed").new);
    let (code, _, error) = checked(nowhere.path(), &["crds", "--against", "main"]);
    assert!(code == 2 && error.contains("not a git repository"), "{error}");
}

#[test]
fn a_program_is_compared_with_its_exported_definitions() {
    let folder = Folder::new("check");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/bakery.example.com/orders.yaml");
    let program = folder.path().join("program");
    let serve =
        format!("#!/bin/sh\nexec {} serve {manifest} --listen 127.0.0.1:0 --memory\n", env!("CARGO_BIN_EXE_kindsmith"));
    fs::write(&program, serve).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    fs::copy(manifest, folder.path().join("same.yaml")).unwrap();
    let with = ["--program", "./program", "--deny", "warnings", "--against"];
    let (code, printed, error) = checked(folder.path(), &[&with[..], &["same.yaml"]].concat());
    assert_eq!((code, &*printed), (0, "no breaking changes, no warnings, no compatible changes\n"), "{error}");
    let text = fs::read_to_string(manifest).unwrap();
    fs::write(folder.path().join("older.yaml"), text.replace("minItems: 1", "minItems: 0")).unwrap();
    let (code, printed, _) = checked(folder.path(), &[&with[..], &["older.yaml"]].concat());
    assert_eq!(code, 1);
    let expected =
        "breaking: the program's orders.bakery.example.com: Order v1 .spec.items: minItems was absent, is 1; ";
    assert!(printed.starts_with(expected), "{printed}");
}
