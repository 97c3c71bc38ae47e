//! Tests of the generator: a manifest, a document and what is made of them, which is compiled here, and what callers may change.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

use std::{env, fs, path::Path};

use kindsmith::{
    Resource,
    kind::{Kind, crd, openapi},
};
use kindsmith_codegen::{Builder, GeneratedCode};

mod documents;
#[allow(unreachable_pub, reason = "it is generated for a crate that exports it")]
#[rustfmt::skip]
mod golden;

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/bakery.example.com/orders.yaml");
const DOCUMENTS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/marina.example.com/openapi.yaml"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/marina.example.com/overlay.yaml"),
];
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust/golden");

fn builder() -> Builder {
    Builder::new().file(MANIFEST)
}

/// The text of the version's file.
fn text(generated: &GeneratedCode) -> &str {
    &generated.files.iter().find(|file| file.path == Path::new("bakery/v1.rs")).unwrap().text
}

fn generated(builder: &Builder) -> String {
    text(&builder.generate().unwrap()).to_owned()
}

/// `KINDSMITH_BLESS=1` writes what is generated.
#[test]
fn the_generated_files_are_those_that_are_compiled_here() {
    let builder = DOCUMENTS.into_iter().fold(builder(), Builder::file);
    let generated =
        builder.command("KINDSMITH_BLESS=1 cargo test -p kindsmith-codegen --test rust").generate().unwrap();
    assert!(generated.warnings.is_empty(), "{:?}", generated.warnings);
    assert_eq!(generated.kinds, ["bakery::v1::Order", "marina::v1::Berth", "marina::v1::Booking"]);
    for file in &generated.files {
        let path = Path::new(GOLDEN).join(&file.path);
        if env::var_os("KINDSMITH_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &file.text).unwrap();
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(golden, file.text, "{} is out of date", path.display());
    }
    assert_eq!(generated.files.len(), 5);
}

#[test]
fn the_compiled_kind_is_the_resource_that_the_manifest_defines() {
    let manifest = crd::read("orders.yaml", &fs::read(MANIFEST).unwrap()).unwrap();
    let [defined] = &manifest.definitions[..] else { panic!("one definition") };
    let (kind, version) = (golden::bakery::v1::Order::kind(), &defined.definition.versions[0]);
    assert_eq!(*kind.shared, *defined.definition.shared);
    assert_eq!((&kind.version.columns, &kind.version.selectable), (&version.columns, &version.selectable));
    assert_eq!(kind.version.schema.properties["spec"].required, version.schema.properties["spec"].required);
}

#[test]
fn the_compiled_kinds_are_the_resources_that_the_document_describes() {
    let texts = DOCUMENTS.map(|path| fs::read(path).unwrap());
    let sources: Vec<_> = DOCUMENTS.iter().zip(&texts).map(|(name, text)| openapi::Source::new(name, text)).collect();
    let described = openapi::read(&sources).unwrap();
    let compiled = [golden::marina::v1::Berth::kind(), golden::marina::v1::Booking::kind()];
    assert_eq!(described.resources.len(), compiled.len());
    for (resource, kind) in described.resources.iter().zip(compiled) {
        let read = &resource.kinds()[0];
        assert_eq!(*kind.shared, *read.shared);
        let beside = |kind: &Kind| (kind.version.columns.clone(), kind.version.selectable.clone(), kind.version.status);
        assert_eq!(beside(&kind), beside(read));
        let spec = |kind: &Kind| {
            let spec = &kind.version.schema.properties["spec"];
            let names: Vec<_> = spec.properties.iter().map(|(name, property)| (name.clone(), property.kind)).collect();
            (names, spec.required.clone())
        };
        assert_eq!(spec(&kind), spec(read));
    }
}

#[test]
fn types_and_fields_are_renamed_in_rust_alone() {
    let text = generated(&builder().rename_type("OrderItem", "Line").rename_field("OrderSpec", "customer", "buyer"));
    assert!(text.contains("pub struct Line {") && !text.contains("OrderItem"), "{text}");
    assert!(text.contains("pub items: Vec<Line>"), "{text}");
    assert!(text.contains("#[serde(rename = \"customer\")]") && text.contains("pub buyer: String"), "{text}");
    assert!(text.contains("selectable(spec.buyer)"), "{text}");
    let text = generated(&builder().rename_type("OrderItem", "Line").rename_field("OrderItem", "name", "bread"));
    assert!(text.contains("list = map(key = bread)") && text.contains("pub bread: String"), "{text}");
}

#[test]
fn types_are_replaced_by_types_of_the_caller() {
    let text = generated(&builder().replace_type("OrderItem", "crate::Bread"));
    assert!(text.contains("pub items: Vec<crate::Bread>") && !text.contains("OrderItem"), "{text}");
}

#[test]
fn skipped_types_are_raw_json_and_skipped_kinds_are_left_out() {
    let text = generated(&builder().skip("OrderItem"));
    assert!(text.contains("pub items: Vec<kindsmith::RawJson>") && !text.contains("OrderItem"), "{text}");
    let error = builder().skip("Order").generate().unwrap_err();
    assert_eq!(error.to_string(), "the files define no kind");
}

#[test]
fn derives_attributes_and_features_are_added() {
    let changed = builder()
        .derive("*", "PartialEq")
        .derive("*", "PartialOrd")
        .derive("OrderItem", "Hash")
        .attribute("OrderItem", "#[must_use]")
        .attribute("OrderSpec.customer", "#[doc(alias = \"client\")]");
    let text = generated(&changed);
    for derive in ["PartialEq", "PartialOrd"] {
        assert_eq!(text.matches(derive).count(), text.matches("#[derive(").count(), "{text}");
    }
    assert_eq!((text.matches("Hash").count(), text.matches("#[must_use]").count()), (1, 1), "{text}");
    assert!(text.contains("#[doc(alias = \"client\")]"), "{text}");
    let generated = builder().features().generate().unwrap();
    let root = generated.files.iter().find(|file| file.path == Path::new("mod.rs")).unwrap();
    assert!(root.text.contains("#[cfg(feature = \"bakery\")]"), "{}", root.text);
}

#[test]
fn a_default_of_all_types_is_one_of_those_that_have_one() {
    let text = generated(&builder().derive("*", "Default"));
    let derives = |name: &str| {
        let before = &text[..text
            .find(&format!("pub struct {name} {{"))
            .or_else(|| text.find(&format!("pub enum {name} {{")))
            .unwrap()];
        before[before.rfind("#[derive(").unwrap()..].contains("Default")
    };
    // An enumeration has none, nor has what requires one.
    let found = ["Order", "OrderSpec", "OrderItem", "OrderCondition", "OrderConditionStatus"].map(derives);
    assert_eq!(found, [true, true, true, false, false]);
}

#[test]
fn an_option_that_is_not_rust_and_a_file_that_is_no_manifest_are_refused() {
    let error = builder().derive("OrderItem", "Clone)").generate().unwrap_err();
    assert!(error.to_string().contains("\"Clone)\" is not Rust"), "{error}");
    for wrong in [
        builder().rename_type("OrderItm", "Line"),
        builder().rename_field("OrderSpec", "custmer", "buyer"),
        builder().skip("Pastry"),
        builder().attribute("OrderSpec.custmer", "#[must_use]"),
    ] {
        let error = wrong.generate().unwrap_err().to_string();
        assert!(error.ends_with("which is not generated"), "{error}");
    }
    let error = Builder::new().file("missing.yaml").generate().unwrap_err();
    assert!(error.to_string().starts_with("missing.yaml: "), "{error}");
    let folder = kindsmith_tests::Folder::new("generated");
    let document = folder.path().join("api.json");
    fs::write(&document, r#"{"openapi": "3.0.0", "info": {"title": "Bakery", "version": "1"}, "paths": {}}"#).unwrap();
    let error = Builder::new().file(&document).generate().unwrap_err();
    assert_eq!(error.to_string(), "the files define no kind");
    let resource = r#"{"openapi": "3.0.0", "paths": {"/apis/example.com/v1/gears": {"get": {}}}}"#;
    fs::write(&document, resource).unwrap();
    let error = Builder::new().file(&document).generate().unwrap_err().to_string();
    let expected = "/paths/~1apis~1example.com~1v1~1gears/get: x-kubernetes-group-version-kind is missing";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn what_rust_does_not_say_is_a_warning() {
    let manifest = fs::read_to_string(MANIFEST).unwrap().replace(
        "            type: object\n            required: [customer, items]",
        "            type: object\n            x-kubernetes-preserve-unknown-fields: true\n            required: [customer, items]",
    );
    let folder = kindsmith_tests::Folder::new("generated");
    let file = folder.path().join("orders.yaml");
    fs::write(&file, manifest).unwrap();
    let generated = Builder::new().file(&file).generate().unwrap();
    let warnings: Vec<_> = generated.warnings.iter().map(ToString::to_string).collect();
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    let found = "Order, schema/properties/spec: fields that are not declared are kept, and not in the type: found \
                 x-kubernetes-preserve-unknown-fields beside properties";
    assert!(warning.contains(found), "{warning}");
    assert!(text(&generated).contains("keywords = {\"x-kubernetes-preserve-unknown-fields\":true}"));
}
