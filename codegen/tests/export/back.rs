//! Exports that are read again define the same: CustomResourceDefinitions, OpenAPI documents and Protobuf definitions, of the corpus
//! and of random kinds. JSON Schema has no reader here; `tests/models` compares its verdicts on objects with a server's.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kindsmith::kind::crd;
use kindsmith_codegen::{Kinds, ResourceDeclaration, proto::Drafts};
use kindsmith_tests::{Definitions, Folder, Random};
use serde_json::{Value, json};

use crate::{CORPUS, corpus, files, own_kinds};

/// The number of random definitions.
const DEFINITIONS: usize = 60;

/// Runs the command, and returns what it prints.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kindsmith")).current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with random definitions, which have labels and annotations.
fn random() -> (Folder, Vec<Value>) {
    let (folder, mut random) = (Folder::new("export-back"), Random::from_environment());
    let mut documents = Vec::new();
    for number in 0..DEFINITIONS {
        let mut document = Definitions(random.fork()).definition(number);
        document["metadata"]["labels"] = json!({"number": number.to_string(), "app.example.com/part": "a"});
        document["metadata"]["annotations"]["example.com/about"] = json!("Two lines,\nand a \"quote\".");
        fs::create_dir_all(folder.path().join("given")).unwrap();
        let text = document.to_string();
        fs::write(folder.path().join(format!("given/{number}.json")), text).unwrap();
        documents.push(document);
    }
    (folder, documents)
}

/// The manifests of the corpus by folder: a folder may define a kind twice, and is read file by file.
fn manifests() -> Vec<PathBuf> {
    if corpus().is_empty() {
        return Vec::new();
    }
    let mut found = files(&Path::new(CORPUS).join("crd"));
    found.extend(files(&Path::new(CORPUS).join("rules")));
    found
}

/// A definition that is written is read as the same. Definitions of the core group are refused.
fn assert_same(declaration: &ResourceDeclaration) {
    let (name, written) = (declaration.definition.shared.group_resource(), crd::write(&declaration.definition));
    if name.group.is_empty() {
        assert!(written.unwrap_err().contains("is in the core group"));
        return;
    }
    let written = written.unwrap().with_metadata(&declaration.metadata);
    assert_eq!(written.warnings, [""; 0], "{name}");
    let read = crd::define(&written.document).unwrap_or_else(|found| panic!("{name}: {:?}", found.errors));
    assert!(read.definition.with_immutable() == declaration.definition, "{name}: {:#}", written.document);
    assert_eq!(read.metadata, declaration.metadata, "{name}");
}

#[test]
fn definitions_are_read_as_they_were_written() {
    let (folder, _) = random();
    let random = Kinds::of_files(files(&folder.path().join("given"))).unwrap().kinds;
    assert!(random.len() == DEFINITIONS && random.iter().all(|declaration| declaration.metadata.labels.len() == 2));
    random.iter().chain(own_kinds().iter().filter(|declaration| declaration.is_manifest)).for_each(assert_same);
    for manifest in manifests() {
        Kinds::of_files([manifest]).unwrap().kinds.iter().for_each(assert_same);
    }
}

#[test]
fn printed_definitions_keep_labels_and_annotations() {
    let (folder, documents) = random();
    run(folder.path(), &["export", "crd", "given", "--out", "crds"]);
    for document in documents {
        let name = document["metadata"]["name"].as_str().unwrap();
        let text = fs::read(folder.path().join(format!("crds/{name}.yaml"))).unwrap();
        let [read] = &crd::read(name, &text).unwrap().definitions[..] else { panic!("{name}") };
        let given = crd::define(&document).unwrap();
        assert!((&read.definition, &read.metadata) == (&given.definition, &given.metadata), "{name}");
    }
}

/// Rules about properties that documents lack: columns, singular and short names, categories, versions that are not
/// served, the stored one, deprecation, the paths of a scale, and rules for names of objects. kube-apiserver's
/// documents lack them, too.
const UNSAID: [&str; 11] = [
    "category-",
    "column-",
    "scale-",
    "short-name-",
    "singular-",
    "storage-",
    "unserved-version-",
    "version-added",
    "version-deprecated",
    "version-deprecation",
    "version-undeprecated",
];

/// The findings of `kindsmith check` for a change, without properties that documents lack.
fn changes(folder: &Path, new: &str, old: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_kindsmith"))
        .current_dir(folder)
        .args(["check", new, "--against", old, "--all", "--format", "json"])
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let is_unsaid = |change: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (rule, path) = (text(&change["rule"]), text(&change["place"]["path"]));
        UNSAID.iter().any(|unsaid| rule.starts_with(unsaid)) || path.starts_with(".metadata")
    };
    let all = found["changes"].as_array().unwrap().iter().filter(|change| !is_unsaid(change));
    all.map(|change| format!("{} {} {}", change["rule"], change["place"], change["what"])).collect()
}

#[test]
fn openapi_documents_describe_what_definitions_define() {
    let (folder, _) = random();
    let folders = folder.path();
    let mut all = BTreeSet::new();
    run(folders, &["export", "openapi", "given", "--out", "documents"]);
    for (new, old) in [("documents", "given"), ("given", "documents")] {
        all.extend(changes(folders, new, old));
    }
    for manifest in manifests() {
        let name = manifest.file_stem().unwrap().to_str().unwrap().to_owned();
        let manifest = manifest.canonicalize().unwrap();
        run(folders, &["export", "openapi", manifest.to_str().unwrap(), "--out", &name]);
        for (new, old) in [(&*name, manifest.to_str().unwrap()), (manifest.to_str().unwrap(), &name)] {
            all.extend(changes(folders, new, old).into_iter().map(|change| format!("{name}: {change}")));
        }
    }
    assert!(all.is_empty(), "{} changes:\n{}", all.len(), all.into_iter().take(40).collect::<Vec<_>>().join("\n"));
}

#[test]
fn protobuf_definitions_are_read_as_they_were_written() {
    let (folder, _) = random();
    let kinds = Kinds::of_files(files(&folder.path().join("given"))).unwrap();
    let mut own = Kinds::default();
    own.kinds = own_kinds();
    let mut all = vec![Drafts::of_kinds(&kinds), Drafts::of_kinds(&own)];
    all.extend(manifests().into_iter().map(|manifest| Drafts::of_kinds(&Kinds::of_files([manifest]).unwrap())));
    let mut count = 0;
    for (number, drafts) in all.iter().enumerate() {
        let locked = drafts.lock(None).unwrap();
        let lock = folder.path().join(format!("lock-{number}"));
        for file in &locked {
            let path = lock.join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
            count += 1;
        }
        for again in drafts.lock(Some(&lock)).unwrap() {
            assert_eq!((again.before.as_ref(), &again.remarks), (Some(&again.text), &Vec::new()), "{}", again.path);
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn numbers_of_messages_are_read_beside_documents() {
    let (folder, _) = random();
    let folder = folder.path();
    run(folder, &["export", "openapi", "given", "--out", "documents"]);
    run(folder, &["export", "proto", "given", "--out", "lock"]);
    let is_of_group =
        |path: &&PathBuf| path.starts_with(folder.join("lock")) && path.to_string_lossy().contains(".random.");
    let locks: Vec<PathBuf> = protos(&folder.join("lock"));
    let locks: Vec<&str> = locks.iter().filter(is_of_group).map(|path| path.to_str().unwrap()).collect();
    run(folder, &[&["export", "proto", "documents", "--out", "again"][..], &locks].concat());
    let again = protos(&folder.join("again"));
    assert!(again.len() > DEFINITIONS / 2, "{} files", again.len());
    for path in again {
        let lock = folder.join("lock").join(path.strip_prefix(folder.join("again")).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), fs::read_to_string(lock).unwrap(), "{}", path.display());
    }
}

/// The Protobuf definitions below a folder.
fn protos(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { protos(&path) } else { vec![path] };
    paths.flat_map(below).collect()
}
