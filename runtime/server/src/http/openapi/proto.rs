//! The Protobuf definitions of the kinds: an index of the files at `/openapi/proto`, and each below it, by the path by
//! which the others import it. A compiler takes the set as it is.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::cached::Document;
use crate::{kind::Kind, proto};

/// The files of one generation of the registry.
pub(super) struct Files {
    /// The paths of all, as JSON.
    pub index: Document,
    /// By path.
    pub files: BTreeMap<String, Document>,
}

impl Files {
    /// The files of kinds, and all that they import.
    pub(super) fn of<'k>(kinds: impl IntoIterator<Item = &'k Kind>) -> Self {
        let files: BTreeMap<String, Document> =
            proto::files(kinds).into_iter().map(|file| (file.path, Document::new(file.text))).collect();
        let paths: Vec<&String> = files.keys().collect();
        Self { index: Document::new(json!({"paths": paths}).to_string()), files }
    }
}
