//! Protobuf definitions of kinds: one file per group and version, in proto2 like kube-apiserver's, and the imported
//! files of the API machinery. Compiled code reads and writes the server's bytes, with one exception: Go and the server
//! write map entries with an empty key or value completely, and prost omits the empty part; both read both.
//!
//! Kinds with an unnumbered field have no messages and are skipped. Packages are named like kube-apiserver's:
//! `k8s.io.api.coordination.v1` for compiled kinds, `com.example.library.v1` for `library.example.com/v1`.
use std::{collections::BTreeMap, io, path::Path};

use crate::{
    codec::protobuf,
    files::{Folder, RelativePath},
    kind::Kind,
    schema::At,
};

mod draft;
mod render;
mod shared;

pub use draft::{Drafts, drafts};
pub(super) use shared::type_of;

/// The head of the files of served kinds.
const HEAD: &str = "Generated from the kinds that the server has; the numbers are what counts on the wire.";

/// A file of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// The import path, such as `library.example.com/v1/generated.proto`.
    pub path: String,
    /// The definitions.
    pub text: String,
}

impl File {
    /// Writes the file below a directory, which compilers can use as an include path.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write_below(&self, directory: impl AsRef<Path>) -> io::Result<()> {
        let path = RelativePath::new(&self.path).map_err(io::Error::other)?;
        Folder::create(directory.as_ref())?.write(&path, self.text.as_bytes())
    }
}

/// The files of kinds and all imports, by path. The set is complete for compilers.
///
/// ```
/// # extern crate kindsmith_model as kindsmith;
/// # use kindsmith::{ApiType, ObjectMeta, Resource};
/// # #[derive(Resource, Clone, Debug)]
/// # #[resource(group = "library.example.com", version = "v1")]
/// # struct Shelf {
/// #     #[api(proto = 1)]
/// #     metadata: ObjectMeta,
/// #     #[api(proto = 2)]
/// #     spec: ShelfSpec,
/// # }
/// # #[derive(ApiType, Clone, Debug, serde::Serialize, serde::Deserialize)]
/// # struct ShelfSpec {
/// #     #[api(proto = 1)]
/// #     genre: String,
/// # }
/// let files = kindsmith_formats::proto::files(&[Shelf::kind()]);
/// assert!(files.iter().any(|file| file.path == "library.example.com/v1/generated.proto"));
/// ```
pub fn files<'k>(kinds: impl IntoIterator<Item = &'k Kind>) -> Vec<File> {
    let mut packages: BTreeMap<Package, Vec<&Kind>> = BTreeMap::new();
    packages.entry(Package::core()).or_default();
    let is_served = |kind: &&Kind| protobuf::Message::of_object(&kind.version.schema).is_some();
    for kind in kinds.into_iter().filter(is_served).filter(|kind| draft::is_expressible(kind)) {
        packages.entry(Package::of(kind)).or_default().push(kind);
    }
    let generated = packages.into_iter().map(|(package, kinds)| {
        let text = render::file(&package, &kinds, &[HEAD]).to_string();
        File { path: package.path, text }
    });
    let mut files: Vec<File> = generated.chain(shared::files()).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// A package and its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    path: String,
}

impl Package {
    /// `k8s.io.api.core.v1`, to which other packages refer.
    fn core() -> Self {
        Self::compiled_in("core", "v1")
    }

    /// A package of kube-apiserver's compiled kinds.
    fn compiled_in(group: &str, version: &str) -> Self {
        let path = format!("k8s.io/api/{group}/{version}/generated.proto");
        Self { name: format!("k8s.io.api.{group}.{version}"), path }
    }

    fn of(kind: &Kind) -> Self {
        let at = &kind.group_version;
        if let Some(group) = kind.policy().package(at) {
            return Self::compiled_in(group, &at.version);
        }
        Self {
            name: package_name(&at.group, &at.version),
            path: format!("{}/{}/generated.proto", at.group, at.version),
        }
    }
}

/// The name of the package of a group and version: `com.example.library.v1` for `library.example.com/v1`.
pub(super) fn package_name(group: &str, version: &str) -> String {
    // An identifier has no dashes and starts with a letter.
    let label = |label: &str| {
        let text = label.replace('-', "_");
        if text.starts_with(|first: char| first.is_ascii_digit()) { format!("_{text}") } else { text }
    };
    let steps = group.split('.').rev().filter(|step| !step.is_empty()).map(label);
    steps.chain([label(version)]).collect::<Vec<_>>().join(".")
}

/// The type of a value that has no message of its own, and its package, if it is in one; `None` for a struct.
pub(super) fn scalar(at: At<'_>) -> Option<(Option<&'static str>, &'static str)> {
    render::scalar(at).map(|(package, name)| (package.map(|home| home.name), name))
}
