//! The cases as they are published.
use std::{fmt, fs, path::Path};

use serde_json::Value as Json;

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) section: String,
    pub(crate) name: String,
    pub(crate) expr: String,
    pub(crate) json: Json,
}

impl Case {
    /// True if the case has a flag.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.json[name].as_bool().unwrap_or_default()
    }

    /// The text of a field.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.json[name].as_str().unwrap_or_default()
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.file, self.section, self.name)
    }
}

/// All cases of a folder, in order.
pub(crate) fn read(folder: &Path) -> Vec<Case> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a file");
        let file: Json = serde_json::from_str(&text).expect("JSON");
        for section in list(&file["section"]) {
            for json in list(&section["test"]) {
                let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
                cases.push(Case {
                    file: path.file_stem().expect("a name").to_string_lossy().into_owned(),
                    section: text(&section["name"]),
                    name: text(&json["name"]),
                    expr: text(&json["expr"]),
                    json: json.clone(),
                });
            }
        }
    }
    cases
}

/// The elements of a field that may be missing.
pub(crate) fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}
