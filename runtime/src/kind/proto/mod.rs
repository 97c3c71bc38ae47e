//! Protobuf definitions of kinds: one file for each group and version, in proto2 as kube-apiserver's are, and the files of
//! the API machinery that they import. What a compiler makes of them writes and reads the bytes that the server does, but for
//! entries of maps with an empty key or value: these Go writes whole, as does the server, and prost shorter; both read both.
//!
//! Kinds of which a field has no number have no messages, and are left out. Packages are named as kube-apiserver names
//! them: `k8s.io.api.coordination.v1` for what is compiled into it, `com.example.library.v1` for `library.example.com/v1`.
use std::{collections::BTreeMap, io, path::Path};

use super::Kind;
use crate::codec::protobuf;

mod render;
mod shared;

/// A file of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The path by which other files import it, such as `library.example.com/v1/generated.proto`.
    pub path: String,
    /// The definitions.
    pub text: String,
}

impl File {
    /// Writes the file below a directory, which is then an include path of compilers.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write_below(&self, directory: impl AsRef<Path>) -> io::Result<()> {
        let path = directory.as_ref().join(&self.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, &self.text)
    }
}

/// The files of kinds and all that they import, by path. The set compiles as it is.
///
/// ```
/// # use kindsmith::Resource;
/// let files = kindsmith::kind::proto::files(&[kindsmith::builtin::Lease::kind()]);
/// assert!(files.iter().any(|file| file.path == "k8s.io/api/coordination/v1/generated.proto"));
/// ```
pub fn files<'k>(kinds: impl IntoIterator<Item = &'k Kind>) -> Vec<File> {
    let mut packages: BTreeMap<Package, Vec<&Kind>> = BTreeMap::new();
    packages.entry(Package::core()).or_default();
    for kind in kinds.into_iter().filter(|kind| protobuf::Message::of_object(&kind.version.schema).is_some()) {
        packages.entry(Package::of(kind)).or_default().push(kind);
    }
    let generated = packages.into_iter().map(|(package, kinds)| render::file(&package, &kinds));
    let mut files: Vec<File> = generated.chain(shared::files()).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// A package and the file that has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    path: String,
}

impl Package {
    /// `k8s.io.api.core.v1`, which has what other packages refer to.
    fn core() -> Self {
        Self::compiled_in("core", "v1")
    }

    /// A package of what is compiled into kube-apiserver.
    fn compiled_in(group: &str, version: &str) -> Self {
        let path = format!("k8s.io/api/{group}/{version}/generated.proto");
        Self { name: format!("k8s.io.api.{group}.{version}"), path }
    }

    fn of(kind: &Kind) -> Self {
        let at = &kind.group_version;
        if let Some(group) = kind.policy().package(at) {
            return Self::compiled_in(group, &at.version);
        }
        // An identifier has no dashes and begins with a letter.
        let label = |label: &str| {
            let text = label.replace('-', "_");
            if text.starts_with(|first: char| first.is_ascii_digit()) { format!("_{text}") } else { text }
        };
        let reversed: Vec<String> = at.group.split('.').rev().map(label).collect();
        Self {
            name: format!("{}.{}", reversed.join("."), at.version),
            path: format!("{}/{}/generated.proto", at.group, at.version),
        }
    }
}
