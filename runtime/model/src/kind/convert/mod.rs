//! Conversion of objects between a version and the storage version.
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::schema::Document;

mod cover;
mod declared;
mod typed;
mod webhook;

pub use declared::{Change, DeclaredConversion, Version};
pub use typed::typed;
pub use webhook::{Answers, ByWebhook, Conversion, Question, Webhook, WebhookService};

/// Converts the objects of one version of a kind to the storage version and back.
///
/// A document is complete, without `apiVersion` and `kind`; the result is pruned to its version. Only labels and
/// annotations of the metadata may change.
pub trait Convert: Send + Sync {
    /// Converts an object of this version to the storage version.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    fn write(&self, document: Document) -> Result<Document, String>;

    /// Converts a stored object to this version.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    fn read(&self, document: Document) -> Result<Document, String>;

    /// [`write`](Self::write) with the answers of a webhook.
    #[doc(hidden)]
    fn write_with(&self, document: Document, _answers: &Answers) -> Result<Document, String> {
        self.write(document)
    }

    /// [`read`](Self::read) with the answers of a webhook.
    #[doc(hidden)]
    fn read_with(&self, document: Document, _answers: &Answers) -> Result<Document, String> {
        self.read(document)
    }

    /// True if an object that is stored in this version, and converted when it is read, gets the defaults of the storage version.
    /// Types in Rust need them.
    fn fills(&self) -> bool {
        true
    }

    /// True if only `apiVersion` changes, which definitions without a webhook say, too.
    #[doc(hidden)]
    fn is_unchanged(&self) -> bool {
        false
    }

    /// The place in this version of what an error of the storage version names, if the conversion moves it.
    fn place_of_stored(&self, _path: &str) -> Option<String> {
        None
    }

    /// The other server that the conversion waits for. Only the server's own conversions may.
    #[doc(hidden)]
    fn webhook(&self) -> Option<&Arc<Webhook>> {
        None
    }
}

/// Only `apiVersion` differs: declarations in both versions have the same name and meaning.
#[derive(Clone, Copy, Debug)]
pub struct Unchanged {
    /// False for the strategy `None` of definitions: like kube-apiserver's custom resources, a stored object has the defaults of
    /// the version in which it was stored, until it is written again.
    pub fills: bool,
}

impl Convert for Unchanged {
    fn write(&self, document: Document) -> Result<Document, String> {
        Ok(document)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        Ok(document)
    }

    fn fills(&self) -> bool {
        self.fills
    }

    fn is_unchanged(&self) -> bool {
        true
    }
}

/// The metadata that a conversion may change.
const CHANGEABLE: [&str; 2] = ["labels", "annotations"];

/// Runs a conversion of an object, which loses its type meta. Other changes of metadata than to labels and annotations
/// are undone.
///
/// # Errors
/// The conversion's error, its panic, or a result that is not an object.
pub(crate) fn run(
    mut document: Document,
    convert: impl FnOnce(Document) -> Result<Document, String>,
) -> Result<Document, String> {
    let fields = document.as_object_mut().ok_or("it is no object")?;
    fields.remove("apiVersion");
    fields.remove("kind");
    let mut metadata = fields.get("metadata").and_then(Document::as_object).cloned().unwrap_or_default();
    let converted = catch_unwind(AssertUnwindSafe(|| convert(document)));
    let mut converted = converted.unwrap_or_else(|panic| Err(format!("the conversion panicked: {}", said(&*panic))))?;
    let fields = converted.as_object_mut().ok_or("the conversion gave no object")?;
    fields.remove("apiVersion");
    fields.remove("kind");
    let mut given = fields.remove("metadata").filter(Document::is_object).ok_or("the conversion gave no metadata")?;
    for name in CHANGEABLE {
        metadata.remove(name);
        let texts = match given.get_mut(name).map(Document::take) {
            None | Some(Document::Null) => continue,
            Some(Document::Object(texts)) if texts.values().all(Document::is_string) => texts,
            Some(_) => return Err(format!("the conversion gave {name} that are no map of strings")),
        };
        if !texts.is_empty() {
            metadata.insert(name.to_owned(), texts.into());
        }
    }
    fields.insert("metadata".to_owned(), metadata.into());
    Ok(converted)
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_metadata_a_conversion_changes_labels_and_annotations_only() {
        let document = json!({
            "apiVersion": "g/v1", "kind": "K",
            "metadata": {"name": "a", "uid": "u", "labels": {"l": "1"}, "annotations": {"a": "1"}, "finalizers": ["f"]},
            "spec": {"old": 1},
        });
        let converted = run(document.clone(), |mut document| {
            assert_eq!((document.get("apiVersion"), document.get("kind")), (None, None));
            document["metadata"]["annotations"] = json!({"b": "2"});
            document["metadata"]["name"] = json!("other");
            document["metadata"]["added"] = json!(1);
            document["metadata"].as_object_mut().unwrap().remove("uid");
            document["metadata"]["labels"] = json!({});
            document["spec"] = json!({"new": document["spec"]["old"].take()});
            Ok(document)
        });
        let metadata = json!({"name": "a", "uid": "u", "annotations": {"b": "2"}, "finalizers": ["f"]});
        assert_eq!(converted, Ok(json!({"metadata": metadata, "spec": {"new": 1}})));
        let unnamed = run(document, |_| Ok(json!({"metadata": {}}))).unwrap();
        assert_eq!(unnamed["metadata"]["name"], "a", "names stay");
    }

    #[test]
    fn invalid_results_of_a_conversion_are_its_errors() {
        let errors =
            |convert: fn(Document) -> Result<Document, String>| run(json!({"metadata": {}}), convert).unwrap_err();
        assert_eq!(errors(|_| Err("no form".to_owned())), "no form");
        assert_eq!(errors(|_| panic!("at {}", 1)), "the conversion panicked: at 1");
        assert_eq!(errors(|_| Ok(json!([]))), "the conversion gave no object");
        assert_eq!(errors(|_| Ok(json!({"spec": {}}))), "the conversion gave no metadata");
        let labels = errors(|_| Ok(json!({"metadata": {"labels": {"a": 1}}})));
        assert_eq!(labels, "the conversion gave labels that are no map of strings");
    }
}
