//! What the program has of the API of Kubernetes, among the documents of a server: the API itself, and what documents of Kubernetes' own
//! kinds do not say.
use std::sync::{Arc, OnceLock};

use kindsmith_kubernetes::{API, File, files};

use super::definition_files::OWN;
use crate::{
    crd::Report,
    openapi::{self, Described, Source},
};

/// What a server takes of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Kubernetes {
    /// True if the API is served.
    pub is_served: bool,
    /// True if documents of Kubernetes' own kinds get what they do not say.
    pub completes: bool,
    /// True if the servers of this process that serve the API without further documents share what was read. Otherwise it is read for
    /// each, and what nothing needs any more is dropped.
    pub is_shared: bool,
}

/// What documents describe, or what is wrong with them.
type Reading = Result<Arc<Described>, Report>;

impl Kubernetes {
    /// Adds documents to those of the user. Returns what they describe if servers share it.
    pub(super) fn complete(self, documents: &mut Vec<(String, Vec<u8>)>) -> Option<Reading> {
        if self.is_served && self.completes && self.is_shared && documents.is_empty() {
            static SHARED: OnceLock<Reading> = OnceLock::new();
            let read = || {
                let own: Vec<_> = files().into_iter().map(named).collect();
                let sources: Vec<_> = own.iter().map(|(name, text)| Source::new(name, text)).collect();
                openapi::read(&sources).map(Arc::new)
            };
            return Some(SHARED.get_or_init(read).clone());
        }
        if self.is_served {
            documents.splice(..0, files().into_iter().filter(|file| file.name == API).map(named));
        }
        if self.completes {
            complete(documents);
        }
        None
    }
}

/// A document, with its name in messages.
fn named(File { name, text }: File) -> (String, Vec<u8>) {
    (format!("{OWN}{name}"), text.into_bytes())
}

/// Adds to documents of Kubernetes' own kinds what they do not say: our overlays, before those of the user, and the numbers of fields, unless
/// there are Protobuf definitions.
fn complete(documents: &mut Vec<(String, Vec<u8>)>) {
    let has = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|found| found == part);
    if !documents.iter().any(|(_, text)| has(text, b"io.k8s.api.")) {
        return;
    }
    let has_numbers = documents.iter().any(|(_, text)| has(text, b"package k8s.io.api."));
    let missing = files().into_iter().filter(|file| file.name != API && !(has_numbers && file.is_protobuf()));
    documents.splice(..0, missing.map(named));
}
