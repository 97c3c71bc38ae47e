//! The API of Kubernetes 1.36 as data: names, types, defaults and verbs of its resources (`api.json`, an API description that
//! `kindsmith import` wrote), the numbers of their fields (`protobuf/`), and what documents do not say (`overlay.yaml`, `rules.yaml`). It has facts alone,
//! and none of the sentences of Kubernetes' documentation.
//!
//! Part of [kindsmith](https://docs.rs/kindsmith), whose feature `kubernetes` serves it.
use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// The version of Kubernetes.
pub const VERSION: &str = "1.36";
/// The name of the API description.
pub const API: &str = "api.json";
/// The name of the overlay.
pub const OVERLAY: &str = "overlay.yaml";

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path, such as `protobuf/k8s.io.api.apps.v1.proto`.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl File {
    /// True for Protobuf definitions.
    pub fn is_protobuf(&self) -> bool {
        self.name.starts_with("protobuf/")
    }
}

/// All files, in the order of their names.
pub fn files() -> Vec<File> {
    let mut all = String::new();
    let compressed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/files"));
    DeflateDecoder::new(compressed).read_to_string(&mut all).expect("the build wrote UTF-8, compressed");
    let (mut files, mut left) = (Vec::new(), all.as_str());
    while let Some((head, rest)) = left.split_once('\n') {
        let (length, name) = head.split_once(' ').expect("a length and a name");
        let (text, rest) = rest.split_at(length.parse().expect("a number"));
        files.push(File { name: name.to_owned(), text: text.to_owned() });
        left = rest;
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole() {
        let files = files();
        let of = |name: &str| files.iter().find(|file| file.name == name).expect(name);
        assert!(of(API).text.starts_with("{\"apiVersion\":\"kindsmith/v1\"") && of(API).text.ends_with("}}}\n"));
        assert!(of(OVERLAY).text.contains("kind: Overlay"));
        assert!(of("protobuf/k8s.io.api.apps.v1.proto").is_protobuf());
        assert!(files.iter().filter(|file| file.is_protobuf()).count() > 30);
    }
}
