//! Files and folders of definitions that a server serves, and reads again when they change.
//!
//! All files together are read, checked and then served: if one is broken, the log says where and what to do, and what was read
//! before is served on. The objects of a kind that is no longer defined stay in the store.
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Error, Result, builder::Builder, files::Followed};
use crate::{
    builtin,
    kind::{Definition, crd, policy::Custom},
    registry::Registry,
};

/// The ends of names of files that are read in folders.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// The files and folders of definitions.
#[derive(Clone, Default)]
pub(super) struct DefinitionFiles(pub Vec<PathBuf>);

impl DefinitionFiles {
    /// All files, those of folders in the order of their names. What cannot be listed is left for reading to report.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for path in &self.0 {
            add(path, true, &mut files);
        }
        files
    }

    /// Reads all definitions.
    ///
    /// # Errors
    /// Everything that is wrong with the files, a line each with the file and the line in it.
    pub fn read(&self) -> Result<Vec<Definition>> {
        let (mut definitions, mut problems) = (Vec::new(), Vec::new());
        let files = self.files();
        if files.is_empty() && !self.0.is_empty() {
            let paths: Vec<_> = self.0.iter().map(|path| path.display().to_string()).collect();
            let paths = paths.join(", ");
            problems.push(format!("{paths}: no files of definitions; expected files that end in .yaml, .yml or .json"));
        }
        for path in files {
            let name = path.display().to_string();
            match fs::read(&path) {
                Ok(text) => match crd::read(&name, &text) {
                    Ok(manifest) => {
                        manifest.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                        definitions.extend(manifest.definitions.into_iter().map(|defined| defined.definition));
                    }
                    Err(report) => problems.push(report.to_string()),
                },
                Err(error) => problems.push(format!("{name}: {error}")),
            }
        }
        if problems.is_empty() { Ok(definitions) } else { Err(Error::Kind(problems.join("\n"))) }
    }

    /// Follows the files, whose definitions a registry serves; `None` without files.
    pub fn follow(&self, served: Vec<Definition>, registry: Arc<Registry>) -> Option<Followed> {
        if self.0.is_empty() {
            return None;
        }
        let (of, files, mut served) = (self.clone(), self.clone(), served);
        let read = move || {
            let read = of.read()?;
            serve(&registry, &served, &read)?;
            served = read;
            Ok(())
        };
        Some(Followed::again("definitions", move || files.files(), read))
    }
}

impl Builder {
    /// Serves the kinds that files of CustomResourceDefinitions define; of folders, all files that end in `.yaml`, `.yml` or
    /// `.json`. Files are read again within a few seconds after a change, and at once after SIGHUP. If one is broken, the log says
    /// where, and what was read before is served on. The objects of a kind that is no longer defined stay in the store.
    pub fn definition_files(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.definition_files.0.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Serves `CustomResourceDefinition` of `apiextensions.k8s.io/v1`, and the kinds that its objects define. Kinds that are declared
    /// otherwise keep their names: a definition that uses one of them is stored, and its conditions say why it is not served.
    ///
    /// Rules in CEL are kept and not enforced; the answer to a write of a definition with rules has a warning. Definitions that
    /// convert objects by webhook between several versions are refused.
    pub fn definitions(self) -> Self {
        self.model(builtin::definition_kind())
    }
}

/// Serves what was read in place of what is served.
fn serve(registry: &Registry, served: &[Definition], read: &[Definition]) -> Result<()> {
    let resource = |definition: &Definition| definition.shared.group_resource();
    for old in served {
        if !read.iter().any(|new| resource(new) == resource(old)) {
            tracing::info!(resource = %resource(old), "no longer defined, and no longer served; its objects stay in the store");
            registry.remove(&old.shared.group, &old.shared.names.plural);
        }
    }
    let mut problems = Vec::new();
    for new in read.iter().filter(|new| !served.contains(new)) {
        match registry.replace(new.kinds(&Custom), None) {
            Ok(_) => tracing::info!(resource = %resource(new), "served as it is defined now"),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Kind(problems.join("\n"))) }
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
