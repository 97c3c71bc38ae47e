//! The corpus's definitions, each of which is read without an error.
use std::{collections::BTreeMap, time::Instant};

use kindsmith::kind::{
    CellMeter, Custom,
    crd::{self, Manifest},
    model::Cell,
};

use super::{shared, shared_text};

fn corpus() -> Option<BTreeMap<String, Manifest>> {
    let files = std::fs::read_dir(shared("corpus/crd")?).expect("a folder that can be read");
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let text = std::fs::read(entry.path()).expect("a file that can be read");
        let manifest = crd::read(&name, &text).unwrap_or_else(|report| panic!("{report}"));
        (name, manifest)
    };
    Some(files.map(|entry| read(entry.expect("an entry"))).collect())
}

#[test]
fn every_definition_of_the_corpus_is_read() {
    let Some(corpus) = corpus() else { return };
    assert_eq!(corpus.len(), 5);
    for (name, manifest) in &corpus {
        assert!(!manifest.definitions.is_empty(), "{name}");
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for warning in &manifest.warnings.0 {
            *counts.entry(warning.message.split(": ").next().unwrap_or_default().to_owned()).or_default() += 1;
            assert!(warning.line > 1, "{warning}");
        }
        let kinds: Vec<_> = manifest.definitions.iter().flat_map(|defined| defined.definition.kinds(&Custom)).collect();
        println!("{name}: {kinds:?}; warnings: {counts:?}");
    }
}

#[test]
fn columns_with_filters_find_their_cells() {
    let Some(corpus) = corpus() else { return };
    let certificate = &corpus["certificates.cert-manager.io-crd.yaml"].definitions[0].definition.versions[0];
    let ready = certificate.columns.iter().find(|column| column.name == "Ready").expect("a column");
    let Cell::JsonPath(path) = &ready.cell else { panic!("a path with a filter") };
    let object = serde_json::json!({"status": {"conditions": [{"type": "Issuing", "status": "False"}, {"type": "Ready", "status": "True"}]}});
    assert_eq!(path.find(&object, &CellMeter::of(1_000)).collect::<Vec<_>>(), ["True"]);
    assert_eq!(certificate.selectable.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Half of the time that a thousand definitions may take is a millisecond each; in debug builds we ask for less.
#[test]
fn a_large_file_of_definitions_is_read_in_seconds() {
    let Some(text) = shared_text("corpus/crd/00-gateway.networking.k8s.io_crds.yaml") else { return };
    let started = Instant::now();
    let manifest = crd::read("gateway", text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(manifest.definitions.len(), 5);
    println!("{:?}", started.elapsed());
    assert!(started.elapsed().as_secs() < 60);
}
