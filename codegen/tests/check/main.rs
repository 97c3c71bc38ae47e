//! Tests of `kindsmith check`: the table of changes through the command, in a repository of git; what it prints, and how it fails.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod options;
mod revisions;
mod rows;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use kindsmith_tests::Folder;
use serde_json::Value;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsmith"));
    command.current_dir(folder).arg("check").args(arguments).output().unwrap()
}

/// The exit code, and what was printed to standard output and to standard error.
fn checked(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = run(folder, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]).args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn put(folder: &Path, files: &rows::Files) {
    fs::create_dir_all(folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// A repository with the definitions of a folder `crds` before and after a change: the first are committed.
fn repository(row: &rows::Row) -> Folder {
    let folder = Folder::new("check");
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    put(&folder.path().join("crds"), &row.old);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message=Define books"]);
    put(&folder.path().join("crds"), &row.new);
    folder
}

fn row(change: &str) -> rows::Row {
    rows::all().into_iter().find(|row| row.change == change).unwrap()
}

#[test]
fn each_change_of_the_table_is_found_against_a_revision() {
    let folder = Folder::new("check");
    let rows = rows::all();
    git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    for (number, row) in rows.iter().enumerate() {
        put(&folder.path().join(number.to_string()), &row.old);
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message=Before"]);
    for (number, row) in rows.iter().enumerate() {
        let below = folder.path().join(number.to_string());
        fs::remove_dir_all(&below).unwrap();
        put(&below, &row.new);
    }
    let mut wrong = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let number = number.to_string();
        let (code, printed, error) = checked(folder.path(), &[&number, "--against", "HEAD", "--format", "json"]);
        let document: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{}: {error}", row.change));
        let found = document["changes"].as_array().unwrap().iter().map(|change| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let place = &change["place"];
            let place = [&place["subject"], &place["version"], &place["path"]].map(text);
            [&[text(&change["level"]), text(&change["rule"])], &place[..]].concat().join(" ")
        });
        let mut found: Vec<String> = found.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let mut expected = row.finds.clone();
        found.sort();
        expected.sort();
        let is_breaking = expected.iter().any(|line| line.starts_with("breaking"));
        if found != expected || code != i32::from(is_breaking) {
            wrong.push(format!("{}: exit code {code}, found {found:#?}, expected {expected:#?}", row.change));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() >= 60, "{} rows", rows.len());
}
