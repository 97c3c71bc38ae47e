//! Kinds as files declare them: what is generated, checked and exported.
use std::{fmt, path::Path};

use kindsmith::kind::{Definition, Policy, crd, openapi};
use kindsmith_formats::files::{self, Limits};

use crate::Error;

/// The kinds that files declare together.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Kinds {
    /// The kinds, those of manifests first.
    pub kinds: Vec<ResourceDeclaration>,
    /// Warnings about the files.
    pub warnings: crd::Report,
}

/// A resource in all of its versions, and where it is declared.
#[derive(Clone)]
#[non_exhaustive]
pub struct ResourceDeclaration {
    /// The file of each version.
    pub sources: Vec<String>,
    /// How it is served where kinds differ: like the kinds of Kubernetes, or like custom resources.
    pub policy: &'static dyn Policy,
    /// The group, names, versions and schemas.
    pub definition: Definition,
    /// The labels and annotations of its manifest.
    pub metadata: crd::Metadata,
    /// It is declared by a manifest, which states the storage version and the conversion. OpenAPI documents do not.
    pub is_manifest: bool,
}

impl fmt::Debug for ResourceDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResourceDeclaration({} in {:?})", self.definition.shared.group_resource(), self.sources)
    }
}

impl ResourceDeclaration {
    /// It is one of the kinds of Kubernetes itself.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        self.policy.omits_empty()
    }
}

impl Kinds {
    /// Reads files: manifests of CustomResourceDefinitions, OpenAPI documents, and what is read beside these
    /// ([`kindsmith::kind::openapi`]).
    ///
    /// # Errors
    /// A file that cannot be read, or everything that is wrong with the files.
    pub fn of_files(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self, Error> {
        Self::of_files_up_to(paths, Limits::default().file)
    }

    /// Reads files as [`of_files`](Self::of_files), up to a size in bytes, 16 MiB there. All files together may be sixteen times
    /// as large.
    ///
    /// # Errors
    /// As [`of_files`](Self::of_files).
    pub fn of_files_up_to(paths: impl IntoIterator<Item = impl AsRef<Path>>, bytes: u64) -> Result<Self, Error> {
        let mut limits = Limits::of_file(bytes);
        let mut read = |path: &Path| {
            let text = files::read_next(path, &mut limits).map_err(|error| Error::Io(path.to_owned(), error))?;
            Ok((path.display().to_string(), text))
        };
        Self::of_texts(&paths.into_iter().map(|path| read(path.as_ref())).collect::<Result<Vec<_>, _>>()?)
    }

    /// Reads files by their names and contents.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn of_texts(files: &[(String, Vec<u8>)]) -> Result<Self, Error> {
        let (documents, manifests): (Vec<_>, Vec<_>) = files.iter().partition(|(_, text)| openapi::is_document(text));
        let mut read = Self::default();
        for (name, text) in manifests {
            let manifest = crd::read(name, text).map_err(Error::Documents)?;
            read.warnings.0.extend(manifest.warnings.0);
            read.kinds.extend(manifest.definitions.into_iter().map(|defined| ResourceDeclaration {
                sources: vec![name.clone(); defined.definition.versions.len()],
                policy: &kindsmith::kind::Custom,
                definition: defined.definition,
                metadata: defined.metadata,
                is_manifest: true,
            }));
        }
        let sources: Vec<_> = documents.iter().map(|(name, text)| openapi::Source::new(name, text)).collect();
        let mut described = openapi::read(&sources).map_err(Error::Documents)?;
        read.warnings.0.append(&mut described.warnings.0);
        for definition in read.kinds.iter_mut().map(|declaration| &mut declaration.definition) {
            read.warnings.0.extend(described.complete(definition).map_err(Error::Documents)?.0);
        }
        read.kinds.extend(described.resources.into_iter().map(|resource| ResourceDeclaration {
            sources: resource.documents.iter().map(|index| sources[*index].name.to_owned()).collect(),
            policy: resource.policy,
            definition: resource.definition,
            metadata: crd::Metadata::default(),
            is_manifest: false,
        }));
        for declaration in &mut read.kinds {
            declaration.definition = declaration.definition.clone().with_immutable();
        }
        read.declared_once()
    }

    /// No resource is declared twice.
    fn declared_once(self) -> Result<Self, Error> {
        for (index, one) in self.kinds.iter().enumerate() {
            let name = one.definition.shared.group_resource();
            let mut others = self.kinds[..index].iter();
            if let Some(other) = others.find(|other| other.definition.shared.group_resource() == name) {
                let message = format!("{name} is defined in {} and in {}", other.sources[0], one.sources[0]);
                return Err(Error::Invalid(message));
            }
        }
        Ok(self)
    }
}
