//! JSON Schema of kinds, for editors and for validators of manifests. It is draft-07, which yaml-language-server and its relatives read
//! completely.
//!
//! A schema accepts the objects that a server accepts in a strict request: unknown fields are refused, a field with a default may be
//! absent although it is required, and `null` counts as absent. What JSON Schema cannot say is left to the server:
//!
//! - keys of list items that occur twice, unless the whole items are equal,
//! - whole numbers beyond 64 bits, the format `cidr`, and texts that resemble points in time,
//! - rules in CEL, and fields that must not change,
//! - what the number of entries is, or what `oneOf` and its relatives say, after defaults were filled in and nulls were dropped.

use kindsmith::kind::{Definition, model::Version};
use serde_json::{Map, Value, json};

use super::{ExportFile, api_version, group_name};

mod format;
mod keywords;
mod object;
mod pattern;
mod writer;

/// The dialect of the documents.
const DIALECT: &str = "http://json-schema.org/draft-07/schema#";
/// The file that chooses a schema by `apiVersion` and `kind`.
pub const ALL: &str = "all.json";

/// The schema of a kind in one version, and what it does not say.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KindSchema {
    /// The schema of whole objects.
    pub document: Value,
    /// Parts of the kind that it leaves to the server although JSON Schema has something similar.
    pub warnings: Vec<String>,
}

/// Schemas as files, and warnings.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Schemas {
    /// A file for each kind and version, and [`ALL`].
    pub files: Vec<ExportFile>,
    /// What the schemas do not say.
    pub warnings: Vec<String>,
}

/// The schema of a kind in one of its versions.
pub fn of_version(definition: &Definition, version: &Version) -> KindSchema {
    let shared = &definition.shared;
    let (mut document, lost) = object::write(definition, version);
    document.insert("$schema".to_owned(), json!(DIALECT));
    let what = format!("{} {}", shared.group_kind(), version.name);
    let warnings = lost.into_iter().map(|lost| format!("{what}: {lost}")).collect();
    KindSchema { document: document.into(), warnings }
}

/// The path of a schema: `library.example.com/book_v1.json`, where validators such as kubeconform look for it.
pub fn path(definition: &Definition, version: &str) -> String {
    let shared = &definition.shared;
    format!("{}/{}_{version}.json", group_name(&shared.group), shared.names.kind.to_lowercase())
}

/// A file for each kind and served version, and one that chooses among them by `apiVersion` and `kind`.
pub fn files<'d>(definitions: impl IntoIterator<Item = &'d Definition>) -> Schemas {
    let mut schemas = Schemas::default();
    let mut choices = Vec::new();
    for definition in definitions {
        for version in definition.versions.iter().filter(|version| version.served) {
            let written = of_version(definition, version);
            let path = path(definition, &version.name);
            schemas.warnings.extend(written.warnings);
            let api_version = api_version(&definition.shared.group, &version.name);
            choices.push((api_version, definition.shared.names.kind.clone(), path.clone()));
            schemas.files.push(ExportFile::new(path, format!("{:#}\n", written.document)));
        }
    }
    schemas.files.push(ExportFile::new(ALL, format!("{:#}\n", chosen(&choices))));
    schemas
}

/// The schema that chooses.
fn chosen(choices: &[(String, String, String)]) -> Value {
    let sorted = |of: fn(&(String, String, String)) -> &String| {
        let mut all: Vec<&String> = choices.iter().map(of).collect();
        all.sort();
        all.dedup();
        json!({"type": "string", "enum": all})
    };
    let choice = |(api_version, kind, path): &(String, String, String)| {
        let is_kind = json!({"apiVersion": {"const": api_version}, "kind": {"const": kind}});
        json!({"if": {"required": ["apiVersion", "kind"], "properties": is_kind}, "then": {"$ref": path}})
    };
    let pair = |(api_version, kind, _): &(String, String, String)| json!({"properties": {"apiVersion": {"const": api_version}, "kind": {"const": kind}}});
    let mut document = Map::new();
    document.insert("$schema".to_owned(), json!(DIALECT));
    document.insert("type".to_owned(), json!("object"));
    document.insert("required".to_owned(), json!(["apiVersion", "kind"]));
    document.insert("properties".to_owned(), json!({"apiVersion": sorted(|of| &of.0), "kind": sorted(|of| &of.1)}));
    document.insert("anyOf".to_owned(), choices.iter().map(pair).collect());
    document.insert("allOf".to_owned(), choices.iter().map(choice).collect());
    document.into()
}
