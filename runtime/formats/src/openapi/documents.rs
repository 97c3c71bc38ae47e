//! The sorts of documents: which one a file is, how it is decoded, and which resources it has.
use serde::{Deserialize, de::IgnoredAny};

use super::{
    Source, description,
    findings::{Findings, Location, shown},
    messages::Messages,
    overlay,
    paths::{self, PathResources},
};
use crate::{
    codec::{self, Limits, yaml},
    schema::Document,
};

/// The error for a file of another sort.
pub(super) const NO_DOCUMENT: &str = "found no document of a kind that is read; supported: OpenAPI 3 (with the member openapi), \
     APIDescription, APIGroupDiscoveryList, APIResourceList, Overlay, and Protobuf definitions (with syntax or package first)";
/// How large a document may be in memory.
const LIMITS: Limits = Limits { depth: 256, memory: 256 << 20 };

/// The kinds of documents that are read in place of OpenAPI documents and beside them.
const KINDS: [&str; 4] = [description::DESCRIPTION, overlay::OVERLAY, "APIGroupDiscoveryList", "APIResourceList"];

/// True if a file is an OpenAPI document, or one that is read beside it, and no manifest.
pub fn is_document(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        openapi: Option<IgnoredAny>,
        swagger: Option<IgnoredAny>,
        kind: Option<String>,
    }
    if Messages::is_one(text) {
        return true;
    }
    let is_known = |kind: &str| KINDS.contains(&kind);
    let is_json = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json {
        let head = serde_json::from_slice::<Head>(text).ok();
        return head
            .is_some_and(|head| head.openapi.or(head.swagger).is_some() || head.kind.as_deref().is_some_and(is_known));
    }
    let text = String::from_utf8_lossy(text);
    text.lines().any(|line| match line.split_once(':') {
        Some(("openapi" | "swagger", _)) => true,
        Some(("kind", kind)) => is_known(kind.trim().trim_matches(['"', '\''])),
        _ => false,
    })
}

/// Decodes a file. JSON, which is faster to decode, begins with a brace.
pub(super) fn decode(index: usize, source: &Source<'_>, findings: &mut Findings) -> Option<Document> {
    let is_json = source.text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let decoded = if is_json {
        codec::decode(source.text, &LIMITS).map_err(|error| (error.line.max(1), error.message))
    } else {
        yaml::decode(source.text, &LIMITS).map_err(|error| (error.line, format!("yaml: {}", error.reason)))
    };
    let location = Location::of(index);
    match decoded {
        Ok(decoded) => {
            decoded.faults.into_iter().for_each(|fault| findings.error(&location, fault));
            Some(decoded.document)
        }
        Err((line, why)) => {
            findings.error_at_line(&location, line, why);
            None
        }
    }
}

/// The resources of an OpenAPI document or an API description.
pub(super) fn resources_of<'d>(index: usize, document: &'d Document, findings: &mut Findings) -> PathResources<'d> {
    let location = Location::of(index);
    match (document.get("openapi"), document.get("swagger")) {
        (Some(Document::String(version)), _) if version.starts_with("3.") => {}
        (Some(other), _) => {
            findings.error(&location.key("openapi"), format!("found {}; supported: 3.0 and 3.1", shown(other)));
            return PathResources::default();
        }
        (None, Some(other)) => {
            let message = format!("found OpenAPI {}; supported: OpenAPI 3.0 and 3.1", shown(other));
            findings.error(&location.key("swagger"), message);
            return PathResources::default();
        }
        (None, None) if description::is_one(document) => return description::find(index, document, findings),
        (None, None) => {
            findings.error(&location, NO_DOCUMENT);
            return PathResources::default();
        }
    }
    let resources = paths::find(index, document, findings);
    if resources.is_empty() {
        findings.warning(&location.key("paths"), "no path is that of a resource: the document serves no kind");
    }
    resources
}
