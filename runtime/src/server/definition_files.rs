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

use super::{
    Error, Result,
    builder::Builder,
    files::{Followed, Stamp, stamps},
};
use crate::{
    builtin, codec,
    kind::{
        DocumentHooks, Kind, crd,
        hook::{self, Hooks},
        openapi::{self, Described, Resource, Source},
        policy::Custom,
    },
    meta::GroupResource,
    registry::{Registered, Registry},
    schema::Document,
};

/// The ends of names of files that are read in folders.
const EXTENSIONS: [&str; 4] = ["yaml", "yml", "json", "proto"];

/// The files and folders of definitions.
#[derive(Clone, Default)]
pub(super) struct DefinitionFiles {
    /// As they were named.
    pub paths: Vec<PathBuf>,
    /// OpenAPI documents, and those that are read beside them, as the program gave them.
    pub documents: Vec<Vec<u8>>,
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
        let Some(kind) = kinds.iter_mut().find(|kind| self.is_for(kind)) else { return false };
        kind.binding.add_hooks(self.hooks.clone());
        true
    }

    /// True for the kind that the hooks are for.
    pub(super) fn is_for(&self, kind: &Kind) -> bool {
        kind.group_version.is(&self.api_version) && kind.names().kind == self.kind
    }

    /// That its kind is missing.
    pub(super) fn missing(&self) -> String {
        format!("there is no kind {} in {} to add hooks to: serve a definition of it", self.kind, self.api_version)
    }
}

/// A resource that is served, and what was read of it.
type Served = (Arc<Registered>, Resource);

/// The resources that files define, and the files as of before they were read.
pub(super) struct Defined {
    pub resources: Vec<Resource>,
    seen: Vec<Stamp>,
}

impl DefinitionFiles {
    /// Reads all definitions at the start.
    ///
    /// # Errors
    /// Like [`DefinitionFiles::read`].
    pub(super) fn open(&self) -> Result<Defined> {
        let seen = stamps(&self.files());
        Ok(Defined { resources: self.read()?, seen })
    }

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
    /// Everything that is wrong with the files and documents, a line each with the file and the line in it.
    fn read(&self) -> Result<Vec<Resource>> {
        let (mut defined, mut problems) = (Vec::new(), Vec::new());
        let numbered = |(index, text): (usize, &Vec<u8>)| (format!("document {}", index + 1), text.clone());
        let mut documents: Vec<_> = self.documents.iter().enumerate().map(numbered).collect();
        let files = self.files();
        if files.is_empty() && !self.paths.is_empty() {
            let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            let paths = paths.join(", ");
            problems.push(format!(
                "{paths}: no files of definitions; expected files that end in .yaml, .yml, .json or .proto"
            ));
        }
        for path in files {
            let name = path.display().to_string();
            match fs::read(&path) {
                Ok(text) if is_of_openapi(&text) => documents.push((name, text)),
                Ok(text) => match crd::read(&name, &text) {
                    Ok(manifest) => {
                        manifest.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                        defined
                            .extend(manifest.definitions.into_iter().map(|defined| (name.clone(), defined.definition)));
                    }
                    Err(report) => problems.push(report.to_string()),
                },
                Err(error) => problems.push(format!("{name}: {error}")),
            }
        }
        let sources: Vec<_> = documents.iter().map(|(name, text)| Source { name, text }).collect();
        let described = openapi::read(&sources).unwrap_or_else(|report| {
            problems.push(report.to_string());
            Described::default()
        });
        described.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
        let mut resources: Vec<_> = described.resources.into_iter().filter(|resource| self.is_new(resource)).collect();
        for (file, mut definition) in defined {
            let name = definition.shared.group_resource();
            let is_known = |known: &Resource| known.definition.shared.group_resource() == name;
            if self.declared.contains(&name) || resources.iter().any(is_known) {
                problems.push(format!("{file}: {name} is declared elsewhere already"));
                continue;
            }
            for overlay in &described.overlays {
                overlay.apply(&mut definition);
            }
            resources.push(Resource { definition, policy: &Custom });
        }
        if problems.is_empty() { Ok(resources) } else { Err(Error::Kind(problems.join("\n"))) }
    }

    /// True if the program does not declare a resource that a document describes.
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
    pub(super) fn follow(&self, served: Defined, registry: Arc<Registry>) -> Option<Followed> {
        if self.paths.is_empty() {
            return None;
        }
        let (of, files) = (self.clone(), self.clone());
        let registered = |resource: &Resource| registry.resource(&resource.definition.shared.group_resource());
        let (seen, served) = (served.seen, served.resources);
        let served = served.into_iter().filter_map(|resource| Some((registered(&resource)?, resource)));
        let mut served: Vec<_> = served.collect();
        let read = move || {
            let read = of.read()?;
            of.serve(&registry, &mut served, read)
        };
        Some(Followed::again("definitions", seen, move || files.files(), read))
    }

    /// Serves what was read in place of what is served, one resource after the other. What cannot be served leaves what was
    /// served before.
    fn serve(&self, registry: &Registry, served: &mut Vec<Served>, read: Vec<Resource>) -> Result<()> {
        let name = |resource: &Resource| resource.definition.shared.group_resource();
        served.retain(|(registered, old)| {
            let stays = read.iter().any(|new| name(new) == name(old));
            if !stays {
                tracing::info!(resource = %name(old), "no longer defined, and no longer served; its objects stay in the store");
                registry.remove(registered);
            }
            stays
        });
        let mut problems = Vec::new();
        for new in read {
            let at = served.iter().position(|(_, old)| name(old) == name(&new));
            if at.is_some_and(|at| served[at].1.definition == new.definition) {
                continue;
            }
            match registry.replace(self.kinds(&new), None) {
                Ok(registered) => {
                    tracing::info!(resource = %name(&new), "served as it is defined now");
                    match at {
                        Some(at) => served[at] = (registered, new),
                        None => served.push((registered, new)),
                    }
                }
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

    /// Serves the kinds that an OpenAPI v3 document describes: its text, as JSON or YAML, or the document as a value. Versions
    /// of a kind may be in several documents. See [`openapi`].
    ///
    /// If a document describes a built-in kind, or one that the program declares, that kind is served instead, which is
    /// logged. [`Builder::build`] returns the errors of the documents. Warnings are logged.
    pub fn openapi(mut self, document: impl Serialize) -> Self {
        match codec::from_typed(&document) {
            Ok(Document::String(text)) => self.definition_files.documents.push(text.into_bytes()),
            Ok(document) => self.definition_files.documents.push(document.to_string().into_bytes()),
            Err(error) => self.refused.push(format!("no OpenAPI document: {error}")),
        }
        self
    }

    /// Serves the kinds that files define: manifests of CustomResourceDefinitions, and OpenAPI v3 documents with discovery
    /// documents, overlays and Protobuf definitions beside them. Of folders, all files are read that end in `.yaml`, `.yml`, `.json` or `.proto`. Files are
    /// read again within a few seconds after a change, and at once after SIGHUP. If one is broken, the log says where, and
    /// what was read before is served on. The objects of a kind that is no longer defined stay in the store.
    pub fn definition_files(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.definition_files.paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Serves `CustomResourceDefinition` of `apiextensions.k8s.io/v1`, and the kinds that its objects define. Kinds that are declared
    /// otherwise keep their names: a definition that uses one of them is stored, and its conditions say why it is not served.
    ///
    /// Rules in CEL are kept and not enforced; the answer to a write of a definition with rules has a warning.
    pub fn definitions(mut self) -> Self {
        self.core.definitions = true;
        self.model(builtin::definition_kind())
    }
}

/// True if a file is an OpenAPI document, or one that is read beside it, and no manifest.
fn is_of_openapi(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        openapi: Option<IgnoredAny>,
        swagger: Option<IgnoredAny>,
        kind: Option<String>,
    }
    if openapi::is_protobuf(text) {
        return true;
    }
    let is_beside = |kind: &str| openapi::BESIDE.contains(&kind);
    let is_json = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_json {
        let head = serde_json::from_slice::<Head>(text).ok();
        return head.is_some_and(|head| {
            head.openapi.or(head.swagger).is_some() || head.kind.as_deref().is_some_and(is_beside)
        });
    }
    let text = String::from_utf8_lossy(text);
    text.lines().any(|line| match line.split_once(':') {
        Some(("openapi" | "swagger", _)) => true,
        Some(("kind", kind)) => is_beside(kind.trim().trim_matches(['"', '\''])),
        _ => false,
    })
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
