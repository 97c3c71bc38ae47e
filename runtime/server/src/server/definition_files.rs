//! Files and folders of definitions that a server serves, and reads again when they change.
//!
//! At the start all files must be right. Later, if one is broken, the log says where and what to do, and what it defined before
//! is served on; other files are read again. The objects of a kind that is no longer defined stay in the store.

use std::{
    collections::BTreeSet,
    mem,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

#[cfg(feature = "kubernetes")]
use super::kubernetes::Kubernetes;
use super::{
    Error, Result,
    files::{FileWatcher, Stamp, stamps},
};
use crate::{
    builtin::autoscaling,
    crd::{self, Report},
    files::{self, Limits, Listing},
    kind::{Definition, DocumentHooks, Kind, endpoint, policy::Custom},
    meta::GroupResource,
    openapi::{self, Described, Resource, Source},
    registry::Registry,
    schema::Document,
};

/// The ends of names of files that are read in folders.
const EXTENSIONS: [&str; 4] = ["yaml", "yml", "json", "proto"];

/// The files and folders of definitions.
#[derive(Clone, Default)]
pub(super) struct DefinitionFiles {
    /// As they were named.
    pub paths: Vec<PathBuf>,
    /// How much of them is read.
    pub limits: Limits,
    /// OpenAPI documents, and documents that are read with them, as the program gave them, with names for messages.
    pub documents: Vec<(String, Vec<u8>)>,
    /// What the program has of the API of Kubernetes.
    #[cfg(feature = "kubernetes")]
    pub kubernetes: Kubernetes,
    /// Hooks for kinds that come from documents.
    pub hooks: Vec<KindHooks>,
    /// Resources that the program declares; documents that describe them are not served.
    pub declared: BTreeSet<GroupResource>,
    /// The warnings of the last reading.
    warned: Arc<Mutex<BTreeSet<String>>>,
}

/// Hooks for a kind that comes from a document.
#[derive(Clone)]
pub(super) struct KindHooks {
    api_version: String,
    kind: String,
    hooks: Arc<dyn DocumentHooks>,
}

impl KindHooks {
    pub(super) fn new(api_version: String, kind: String, hooks: Arc<dyn DocumentHooks>) -> Self {
        Self { api_version, kind, hooks }
    }

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

    /// The error that its kind is missing.
    pub(super) fn missing(&self) -> String {
        format!("there is no kind {} in {} to add hooks to: serve a definition of it", self.kind, self.api_version)
    }
}

/// A resource, and the path of its file. OpenAPI documents and the files beside them are read as one.
pub(super) struct DefinedResource {
    pub resource: Resource,
    file: PathBuf,
}

impl DefinedResource {
    fn name(&self) -> GroupResource {
        self.resource.definition.shared.group_resource()
    }
}

/// Adds to a kind that the program declares the subresources that documents say it has, and it has not. They have no answer.
pub(super) fn complete(kind: Kind, replaced: &[Definition]) -> Kind {
    let resource = kind.group_resource();
    let mut of_kind = replaced.iter().filter(|definition| definition.shared.group_resource() == resource);
    let versions = of_kind.next().map(|definition| &definition.versions[..]).unwrap_or_default();
    let Some(documented) = versions.iter().find(|version| version.name == kind.version.name).cloned() else {
        return kind;
    };
    let has = |name: &str| endpoint::of(&kind).iter().any(|endpoint| &*endpoint.subresource == name);
    let missing: Vec<_> = documented.subresources.iter().filter(|one| !has(&one.subresource)).cloned().collect();
    kind.with(|_, version, _| version.subresources.extend(missing))
}

/// The beginning of the names of files that are part of the program. Warnings about them are not logged.
pub(super) const OWN: &str = "<kindsmith>/";

/// The name that stands for the file of all OpenAPI documents.
const DOCUMENTS: &str = "the OpenAPI documents";

/// The outcome of reading the files.
#[derive(Default)]
struct LoadResult {
    resources: Vec<DefinedResource>,
    /// What documents say of resources that the program declares.
    replaced: Vec<Definition>,
    /// The objects of overlays.
    objects: Vec<Document>,
    /// The files, or folders, that cannot be used.
    broken: Vec<PathBuf>,
    /// The errors, a line each, with the file and the line in it.
    problems: Vec<String>,
    warnings: BTreeSet<String>,
}

impl LoadResult {
    fn broken(&mut self, file: PathBuf, problem: String) {
        self.broken.push(file);
        self.problems.push(problem);
    }
}

/// The resources that files define at the start, and the stamps of the files from before they were read.
pub(super) struct InitialDefinitions {
    pub resources: Vec<DefinedResource>,
    /// What documents say of resources that the program declares.
    pub replaced: Vec<Definition>,
    /// Objects to create if they are missing and their kinds are served.
    pub objects: Vec<Document>,
    stamps: Vec<Stamp>,
}

impl DefinitionFiles {
    /// Reads all definitions at the start.
    ///
    /// # Errors
    /// Everything that is wrong with the files and documents, a line each with the file and the line in it.
    pub(super) fn open(&self) -> Result<InitialDefinitions> {
        let (stamps, LoadResult { resources, replaced, objects, problems, .. }) =
            (stamps(&self.list().files), self.load());
        if problems.is_empty() {
            Ok(InitialDefinitions { resources, replaced, objects, stamps })
        } else {
            Err(Error::Kind(problems.join("\n")))
        }
    }

    /// All files, those of folders in the order of their names, without the hidden ones. A file that was named may have any name.
    fn list(&self) -> Listing {
        let mut all = Listing::default();
        for path in &self.paths {
            let mut listing = files::list(path, true, &is_known);
            all.files.append(&mut listing.files);
            all.problems.append(&mut listing.problems);
        }
        all
    }

    fn load(&self) -> LoadResult {
        let (mut result, mut manifests) = (LoadResult::default(), Vec::new());
        let mut documents = self.documents.clone();
        let Listing { files, problems } = self.list();
        for (path, problem) in problems {
            let problem = format!("{}: {problem}", path.display());
            result.broken(path, problem);
        }
        if files.is_empty() && !self.paths.is_empty() {
            let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
            result.warnings.insert(format!(
                "{}: no files of definitions yet; their names end in .yaml, .yml, .json or .proto",
                paths.join(", ")
            ));
        }
        let mut limits = self.limits;
        for path in files {
            let name = path.display().to_string();
            match files::read_next(&path, &mut limits) {
                Ok(text) if openapi::is_document(&text) => documents.push((name, text)),
                Ok(text) => match crd::read(&name, &text) {
                    Ok(manifest) => {
                        result.warnings.extend(manifest.warnings.0.iter().map(ToString::to_string));
                        let definitions =
                            manifest.definitions.into_iter().map(|parsed| (path.clone(), parsed.definition));
                        manifests.extend(definitions);
                    }
                    Err(report) => result.broken(path, report.to_string()),
                },
                Err(error) => result.broken(path, format!("{name}: {error}")),
            }
        }
        let described = self.describe(&mut documents).unwrap_or_else(|report| {
            result.broken(DOCUMENTS.into(), report.to_string());
            Arc::default()
        });
        let of_user = described.warnings.0.iter().filter(|entry| !entry.source.starts_with(OWN));
        result.warnings.extend(of_user.map(ToString::to_string));
        result.warnings.extend(described.lacks());
        result.objects = described.overlays.iter().flat_map(|overlay| overlay.objects().to_vec()).collect();
        // Shared ones are the program's own.
        let is_own = |index: &usize| documents.get(*index).is_none_or(|(name, _)| name.starts_with(OWN));
        self.take_described(described.resources.clone(), &is_own, &mut result);
        for (file, mut definition) in manifests {
            let name = definition.shared.group_resource();
            let other = result.resources.iter().find(|other| other.name() == name);
            let elsewhere = other.map(|other| other.file.display().to_string());
            let elsewhere = elsewhere.or_else(|| self.declared.contains(&name).then(|| "the program".to_owned()));
            if let Some(elsewhere) = elsewhere {
                result.problems.push(format!("{}: {name} is already declared by {elsewhere}", file.display()));
                continue;
            }
            match described.complete(&mut definition) {
                Ok(warnings) => result.warnings.extend(warnings.0.iter().map(ToString::to_string)),
                Err(report) => {
                    result.broken(file, report.to_string());
                    continue;
                }
            }
            result.resources.push(DefinedResource { resource: described.resource(definition, &Custom), file });
        }
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        result.warnings.difference(&warned).for_each(|warning| tracing::warn!("{warning}"));
        *warned = mem::take(&mut result.warnings);
        drop(warned);
        result
    }

    /// Reads documents, with what the program adds to them.
    #[cfg_attr(
        not(feature = "kubernetes"),
        allow(clippy::unused_self, clippy::ptr_arg, reason = "it adds the API of Kubernetes")
    )]
    fn describe(&self, documents: &mut Vec<(String, Vec<u8>)>) -> Result<Arc<Described>, Report> {
        #[cfg(feature = "kubernetes")]
        if let Some(shared) = self.kubernetes.complete(documents) {
            return shared;
        }
        let sources: Vec<_> = documents.iter().map(|(name, text)| Source::new(name, text)).collect();
        openapi::read(&sources).map(Arc::new)
    }

    /// Takes the resources of documents, except those that the program declares.
    fn take_described(&self, resources: Vec<Resource>, is_own: &dyn Fn(&usize) -> bool, result: &mut LoadResult) {
        for resource in resources {
            let name = resource.definition.shared.group_resource();
            if self.declared.contains(&name) {
                if resource.documents.iter().all(is_own) {
                    result.replaced.push(resource.definition);
                    continue;
                }
                let versions = resource.definition.versions.iter();
                let subresources: BTreeSet<_> =
                    versions.flat_map(|version| &version.subresources).map(|one| &*one.subresource).collect();
                let names: Vec<_> = subresources.into_iter().collect();
                let unanswered = match &names[..] {
                    [] => String::new(),
                    names => format!("; of its subresources, these have no answer: {}", names.join(", ")),
                };
                result.warnings.insert(format!(
                    "{name} of the documents is not served: it is built in, or declared by the program{unanswered}"
                ));
                result.replaced.push(resource.definition);
                continue;
            }
            result.resources.push(DefinedResource { resource, file: DOCUMENTS.into() });
        }
    }

    /// The kind of a resource in each of its versions, with its hooks.
    pub(super) fn kinds(&self, resource: &Resource) -> Vec<Kind> {
        let mut kinds = resource.kinds();
        autoscaling::convert(&mut kinds);
        for hooks in &self.hooks {
            hooks.attach(&mut kinds);
        }
        kinds
    }

    /// Follows the files, whose definitions a registry serves; `None` without files.
    pub(super) fn follow(&self, initial: InitialDefinitions, registry: Arc<Registry>) -> Option<FileWatcher> {
        if self.paths.is_empty() {
            return None;
        }
        let (of, files) = (self.clone(), self.clone());
        let InitialDefinitions { resources: mut served, stamps, .. } = initial;
        let (known, refused) = (registry.clone(), Arc::new(AtomicBool::new(false)));
        let is_refused = refused.clone();
        // A resource whose names are in use is tried again when other resources change.
        let state = move || if is_refused.load(Ordering::Relaxed) { known.resources().1 } else { 0 };
        let read = move || {
            let result = of.load();
            refused.store(false, Ordering::Relaxed);
            of.serve(&registry, &mut served, result, &refused)
        };
        Some(FileWatcher::again("definitions", stamps, move || files.list().files, read, state))
    }

    /// Serves what was read in place of what is served, one resource after the other. What cannot be read or served leaves
    /// what was served before.
    fn serve(
        &self,
        registry: &Registry,
        served: &mut Vec<DefinedResource>,
        result: LoadResult,
        refused: &AtomicBool,
    ) -> Result<()> {
        let LoadResult { resources, broken, mut problems, .. } = result;
        served.retain(|old| {
            let is_unknown = broken.iter().any(|path| old.file.starts_with(path));
            let stays = is_unknown || resources.iter().any(|new| new.name() == old.name());
            if !stays {
                tracing::info!(resource = %old.name(), "no longer defined, and no longer served; its objects stay in the store");
                if let Some(now) = registry.resource(&old.name()).filter(|now| now.definition_row.is_none()) {
                    registry.remove(&now);
                }
            }
            stays
        });
        for new in resources {
            let at = served.iter().position(|old| old.name() == new.name());
            if let Some(at) = at
                && served[at].resource.definition == new.resource.definition
            {
                served[at].file = new.file;
                continue;
            }
            match registry.replace(self.kinds(&new.resource), None) {
                Ok(_) => {
                    tracing::info!(resource = %new.name(), "served as it is defined now");
                    match at {
                        Some(at) => served[at] = new,
                        None => served.push(new),
                    }
                }
                Err(problem) => {
                    refused.store(true, Ordering::Relaxed);
                    problems.push(format!("{}: {problem}", new.file.display()));
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Kind(problems.join("\n"))) }
    }
}

/// True for the files of a folder that are read.
pub(super) fn is_known(path: &Path) -> bool {
    path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known))
}
