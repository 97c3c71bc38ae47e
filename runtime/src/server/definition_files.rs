//! Files and folders of definitions that a server serves, and reads again when they change.
//!
//! All files together are read, checked and then served: if one is broken, the log says where and what to do, and what was read
//! before is served on. The objects of a kind that is no longer defined stay in the store.
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

use super::{Error, Result, builder::Builder, files::Followed};
use crate::{
    builtin,
    kind::{
        DocumentHooks, Kind, crd,
        hook::{self, Hooks},
        openapi::{self, Resource, Source},
        policy::Custom,
    },
    meta::GroupResource,
    registry::Registry,
};

/// The ends of names of files that are read in folders.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// The files and folders of definitions.
#[derive(Clone, Default)]
pub(super) struct DefinitionFiles {
    /// As they were named.
    pub paths: Vec<PathBuf>,
    /// Hooks for kinds that come from documents.
    pub hooks: Vec<Attached>,
    /// Resources that the program declares; documents that describe them are not served.
    pub declared: BTreeSet<GroupResource>,
}

/// Hooks for a kind that comes from a document.
#[derive(Clone)]
pub(super) struct Attached {
    api_version: String,
    kind: String,
    hooks: Arc<dyn DocumentHooks>,
}

impl Attached {
    /// Adds the hooks to the kind that they are for. Returns false where it is not there.
    pub(super) fn attach(&self, kinds: &mut [Kind]) -> bool {
        let is_meant = |kind: &&mut Kind| kind.group_version.is(&self.api_version) && kind.names().kind == self.kind;
        let Some(kind) = kinds.iter_mut().find(is_meant) else { return false };
        kind.binding.add_hooks(self.hooks.clone());
        true
    }

    /// That its kind is missing.
    pub(super) fn missing(&self) -> String {
        format!("there is no kind {} in {} to add hooks to: serve a definition of it", self.kind, self.api_version)
    }
}

impl DefinitionFiles {
    /// All files, those of folders in the order of their names. What cannot be listed is left for reading to report.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for path in &self.paths {
            add(path, true, &mut files);
        }
        files
    }

    /// Reads all definitions.
    ///
    /// # Errors
    /// Everything that is wrong with the files, a line each with the file and the line in it.
    pub(super) fn read(&self) -> Result<Vec<Resource>> {
        let (mut resources, mut documents, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        let files = self.files();
        if files.is_empty() && !self.paths.is_empty() {
            let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            let paths = paths.join(", ");
            problems.push(format!("{paths}: no files of definitions; expected files that end in .yaml, .yml or .json"));
        }
        for path in files {
            let name = path.display().to_string();
            match fs::read(&path) {
                Ok(text) if is_openapi(&text) => documents.push((name, text)),
                Ok(text) => match crd::read(&name, &text) {
                    Ok(manifest) => {
                        manifest.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                        let definitions = manifest.definitions.into_iter().map(|defined| defined.definition);
                        resources.extend(definitions.map(|definition| Resource { definition, policy: &Custom }));
                    }
                    Err(report) => problems.push(report.to_string()),
                },
                Err(error) => problems.push(format!("{name}: {error}")),
            }
        }
        let sources: Vec<_> = documents.iter().map(|(name, text)| Source { name, text }).collect();
        match openapi::read(&sources) {
            Ok(described) => {
                described.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                resources.extend(described.resources.into_iter().filter(|resource| self.is_new(resource)));
            }
            Err(report) => problems.push(report.to_string()),
        }
        if problems.is_empty() { Ok(resources) } else { Err(Error::Kind(problems.join("\n"))) }
    }

    /// True if the program does not declare a resource.
    fn is_new(&self, resource: &Resource) -> bool {
        let name = resource.definition.shared.group_resource();
        let is_declared = self.declared.contains(&name);
        if is_declared {
            tracing::warn!("{name} of the documents is not served: it is built in, or declared by the program");
        }
        !is_declared
    }

    /// The kind of a resource in each of its versions, with its hooks.
    pub(super) fn kinds(&self, resource: &Resource) -> Vec<Kind> {
        let mut kinds = resource.kinds();
        for attached in &self.hooks {
            attached.attach(&mut kinds);
        }
        kinds
    }

    /// Follows the files, whose definitions a registry serves; `None` without files.
    pub(super) fn follow(&self, served: Vec<Resource>, registry: Arc<Registry>) -> Option<Followed> {
        if self.paths.is_empty() {
            return None;
        }
        let (of, files, mut served) = (self.clone(), self.clone(), served);
        let read = move || {
            let read = of.read()?;
            of.serve(&registry, &served, &read)?;
            served = read;
            Ok(())
        };
        Some(Followed::again("definitions", move || files.files(), read))
    }

    /// Serves what was read in place of what is served.
    fn serve(&self, registry: &Registry, served: &[Resource], read: &[Resource]) -> Result<()> {
        let name = |resource: &Resource| resource.definition.shared.group_resource();
        for old in served.iter().filter(|old| read.iter().all(|new| name(new) != name(old))) {
            tracing::info!(resource = %name(old), "no longer defined, and no longer served; its objects stay in the store");
            registry.remove(&old.definition.shared.group, &old.definition.shared.names.plural);
        }
        let mut problems = Vec::new();
        for new in read.iter().filter(|new| served.iter().all(|old| old.definition != new.definition)) {
            match registry.replace(self.kinds(new), None) {
                Ok(_) => tracing::info!(resource = %name(new), "served as it is defined now"),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Kind(problems.join("\n"))) }
    }
}

impl Builder {
    /// Adds [`Hooks`] to a kind that a manifest or a document defines, in one of its versions, such as `example.com/v1`. The type
    /// that its objects are decoded into need not have all of their fields: the others are kept.
    ///
    /// [`Builder::build`] returns an error if nothing defines the kind.
    pub fn hooks<T>(mut self, api_version: impl Into<String>, kind: impl Into<String>, hooks: impl Hooks<T>) -> Self
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let (api_version, kind, hooks) = (api_version.into(), kind.into(), hook::on_documents(hooks));
        self.definition_files.hooks.push(Attached { api_version, kind, hooks });
        self
    }

    /// Serves the kinds that files define, manifests of CustomResourceDefinitions and OpenAPI v3 documents; of folders, all files that end in `.yaml`, `.yml` or
    /// `.json`. Files are read again within a few seconds after a change, and at once after SIGHUP. If one is broken, the log says
    /// where, and what was read before is served on. The objects of a kind that is no longer defined stay in the store.
    pub fn definition_files(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.definition_files.paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Serves `CustomResourceDefinition` of `apiextensions.k8s.io/v1`, and the kinds that its objects define. Kinds that are declared
    /// otherwise keep their names: a definition that uses one of them is stored, and its conditions say why it is not served.
    ///
    /// Rules in CEL are kept and not enforced; the answer to a write of a definition with rules has a warning. Definitions that
    /// convert objects by webhook between several versions are refused.
    pub fn definitions(mut self) -> Self {
        self.core.definitions = true;
        self.model(builtin::definition_kind())
    }
}

/// True if a file is an OpenAPI document, and no manifest.
fn is_openapi(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        openapi: Option<IgnoredAny>,
        swagger: Option<IgnoredAny>,
    }
    let is_json = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json {
        return serde_json::from_slice::<Head>(text).is_ok_and(|head| head.openapi.or(head.swagger).is_some());
    }
    text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"openapi:") || line.starts_with(b"swagger:"))
}

/// Adds a file, or those of a folder and the folders in it. A file that was named may have any name.
fn add(path: &Path, is_named: bool, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        let known = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
        if is_named || known {
            files.push(path.to_owned());
        }
        return;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    entries.iter().filter(|path| !is_hidden(path)).for_each(|path| add(path, false, files));
}
