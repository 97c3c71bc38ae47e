//! Edits of several files of a crate.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{edit::SourceFile, project::Project};

/// Files of a crate with the lines that a command adds to them.
pub(crate) struct Edits<'p> {
    project: &'p Project,
    files: BTreeMap<PathBuf, (String, String)>,
}

impl<'p> Edits<'p> {
    /// No edits yet.
    pub(crate) fn new(project: &'p Project) -> Self {
        Self { project, files: BTreeMap::new() }
    }

    /// Edits a file, with the edits made before.
    pub(crate) fn edit<T>(
        &mut self,
        file: &Path,
        edit: impl FnOnce(&mut SourceFile<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let (before, now) = if let Some(texts) = self.files.remove(file) {
            texts
        } else {
            let text = self.project.read(file)?;
            (text.clone(), text)
        };
        let name = file.display().to_string();
        let mut source = SourceFile::new(&name, &now);
        let result = edit(&mut source)?;
        self.files.insert(file.to_owned(), (before, source.into_text()));
        Ok(result)
    }

    /// The files that changed, each with its text before and after.
    pub(crate) fn changed(self) -> impl Iterator<Item = (PathBuf, String, String)> {
        let files = self.files.into_iter().map(|(file, (before, after))| (file, before, after));
        files.filter(|(_, before, after)| before != after)
    }
}
