//! Migration from client-side apply, which keeps its last configuration in an annotation, to server-side apply.
use serde_json::Map;

use super::{
    compare::{Comparison, compare},
    field_set::FieldSet,
    path_element::json,
    schema::Type,
    typed::checked_field_set_of,
};
use crate::{codec, schema::Document};

/// The field manager of client-side apply.
pub(super) const MANAGER: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The maximum size in bytes of all annotations of an object.
const MOST_BYTES: usize = 256 * 1024;

/// The last client-side configuration of an object, if it is valid, in a version.
pub(super) fn read(live: &Document, api_version: &str) -> Option<Document> {
    let text = live["metadata"]["annotations"][ANNOTATION].as_str()?;
    let applied = codec::decode(text.as_bytes(), &codec::Limits::default()).ok()?.document;
    (applied["apiVersion"] == *api_version).then_some(applied)
}

/// The fields of the client-side configuration that still have the same value.
pub(super) fn untouched<'a>(ty: Type<'a>, applied: &'a Document, live: &'a Document) -> Option<FieldSet<'a>> {
    let mut fields = checked_field_set_of(ty, applied).ok()?;
    let Comparison { set, removed, unidentified } = compare(ty, applied, live);
    fields.subtract(&set);
    fields.subtract(&removed);
    (!unidentified).then_some(fields)
}

/// True if an object has the annotation, so that it must be updated.
pub(super) fn is_kept(live: &Document) -> bool {
    live["metadata"]["annotations"][ANNOTATION].as_str().is_some_and(|text| !text.is_empty())
}

/// Updates the annotation of an object, if it has it, with the server-side configuration.
pub(super) fn renew(object: &mut Document, config: &Document) {
    if !is_kept(object) {
        return;
    }
    let Some(Document::Object(annotations)) = object.get_mut("metadata").and_then(|at| at.get_mut("annotations"))
    else {
        return;
    };
    annotations.insert(ANNOTATION.to_owned(), text_of(config).into());
    if size_of(annotations) > MOST_BYTES {
        annotations.remove(ANNOTATION);
    }
}

fn size_of(annotations: &Map<String, Document>) -> usize {
    annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum()
}

/// The configuration without the annotation, as kube-apiserver writes it.
fn text_of(config: &Document) -> String {
    let mut config = config.clone();
    if let Some(Document::Object(annotations)) = config.get_mut("metadata").and_then(|at| at.get_mut("annotations")) {
        annotations.remove(ANNOTATION);
    }
    let mut text = json(&config);
    text.push('\n');
    text
}
