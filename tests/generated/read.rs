//! The kinds of the files, as the front ends read them.
use std::{
    env, fs,
    io::{Write, stderr},
};

use kindsmith::kind::{Custom, Kind, crd, openapi};

/// Says on standard error if the build found no corpus to generate from, and tests only read our own file.
pub(super) fn say_what_is_missing() {
    if !generated::HAS_CORPUS {
        assert_ne!(env::var("CI").as_deref(), Ok("true"), "in CI the corpus must be there");
        writeln!(stderr(), "NOT RUN: the corpus of definitions is missing").expect("standard error");
    }
}

/// The kinds of the files.
pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let texts: Vec<_> = generated::FILES.iter().map(|file| (file, fs::read(file).expect("a file"))).collect();
    let (documents, manifests): (Vec<_>, Vec<_>) = texts.iter().partition(|(_, text)| openapi::is_document(text));
    for (file, text) in manifests {
        let manifest = crd::read(file, text).expect("a manifest");
        let definitions = manifest.definitions.iter().map(|defined| &defined.definition);
        kinds.extend(definitions.flat_map(|definition| definition.clone().with_immutable().kinds(&Custom)));
    }
    let sources: Vec<_> = documents.iter().map(|(file, text)| openapi::Source::new(file, text)).collect();
    let mut described = openapi::read(&sources).expect("documents");
    for resource in &mut described.resources {
        resource.definition = resource.definition.clone().with_immutable();
    }
    kinds.extend(described.resources.iter().flat_map(openapi::Resource::kinds));
    kinds
}
