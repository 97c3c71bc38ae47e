//! Tests of the exports: what they make of the schemas of this project and of the corpus.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

use std::{
    env, fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use kindsmith_codegen::{Kinds, ResourceDeclaration};

mod apiservice;
mod back;
mod docs;
mod json_schema;
mod rbac;

const SCHEMAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");

/// The files below a folder, in alphabetical order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "json") {
            found.push(path);
        }
    }
    found
}

/// The kinds of this project's schemas.
fn own_kinds() -> Vec<ResourceDeclaration> {
    let paths = ["bakery.example.com", "marina.example.com"].map(|folder| files(&Path::new(SCHEMAS).join(folder)));
    Kinds::of_files(paths.concat()).unwrap().kinds
}

/// The kinds of the corpus; none, which is said on standard error, where it is missing.
fn corpus() -> Vec<ResourceDeclaration> {
    if !Path::new(CORPUS).is_dir() {
        assert_ne!(env::var("CI").as_deref(), Ok("true"), "in CI the corpus must be there");
        writeln!(stderr(), "NOT RUN: the corpus of documents is missing").expect("standard error");
        return Vec::new();
    }
    let mut all = Vec::new();
    for manifest in files(&Path::new(CORPUS).join("crd")) {
        all.extend(Kinds::of_files([manifest]).unwrap().kinds);
    }
    let mut documents = files(&Path::new(CORPUS).join("kubernetes"));
    documents.push(Path::new(SCHEMAS).join("kubernetes/overlay.yaml"));
    all.extend(Kinds::of_files(documents).unwrap().kinds);
    all
}
